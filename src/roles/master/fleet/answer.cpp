#include "roles/master/fleet/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <map>
#include <set>

#include "api/types_host.h"
#include "core/base64.h"
#include "roles/master/changes/term_mark.h"
#include "roles/master/http/gate.h"

namespace hostler::master {

namespace {

using Values = std::vector<api::FleetValue>;

Error wrong(std::string field, std::string message) {
    Error error{Code::invalid, fmt::format("{}: {}", field, message), "invalid"};
    error.fields.push_back({std::move(field), std::move(message)});
    return error;
}

template <class E>
std::vector<std::string> words_of() {
    std::vector<std::string> words;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
        [&](auto enumerator) { words.emplace_back(enumerator.name); });
    return words;
}

Result<Values> values_of(std::string_view text) {
    Values values;
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string word{text.substr(0, comma)};
        text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
        api::FleetValue value{};
        if (!boost::describe::enum_from_string(word.c_str(), value))
            return std::unexpected(
                wrong("values",
                      fmt::format("'{}' is none of {}", word, fmt::join(words_of<api::FleetValue>(), ", "))));
        if (std::ranges::count(values, value) > 0)
            return std::unexpected(wrong("values", fmt::format("'{}' is there twice", word)));
        values.push_back(value);
    }
    return values;
}

bool is_sampled(api::FleetValue value) {
    switch (value) {
        case api::FleetValue::utilization:
        case api::FleetValue::temperature:
        case api::FleetValue::power: return true;
        case api::FleetValue::use:
        case api::FleetValue::state:
        case api::FleetValue::tenant:
        case api::FleetValue::model: return false;
    }
    return false;
}

// Of which change on; nullopt: everything is asked.
Result<std::optional<std::uint64_t>> since_of(const FleetMap& map, const api::GetFleet& request,
                                              std::uint64_t epoch) {
    if (!request.since) return std::nullopt;
    const auto mark = parse_term_mark(*request.since);
    if (!mark) return std::unexpected(wrong("since", "is no cursor of an answer"));
    if (mark->epoch != epoch || !map.remembers(mark->number)) return std::nullopt;
    return mark->number;
}

// Numbers of names, with those names alone that this answer has: others are not the caller's to see.
class NameColumn {
public:
    NameColumn(std::string name, const NameNumbers& all)
        : all_(all), own_(all.names().size(), NameNumbers::unknown) {
        column_.name = std::move(name);
    }
    void add(std::uint16_t number) {
        if (number != NameNumbers::unknown) {
            std::uint16_t& own = own_[number];
            if (own == NameNumbers::unknown) {
                own = static_cast<std::uint16_t>(column_.words.size());
                column_.words.push_back(all_.names()[number]);
            }
            number = own;
        }
        numbers_.push_back(number);
    }
    api::FleetColumn done() && {
        std::string bytes;
        column_.width = column_.words.size() <= byte_unknown ? 1 : 2;
        constexpr int byte_bits = 8;
        for (const std::uint16_t number : numbers_) {  // Unknown stays so in one byte, too.
            bytes += static_cast<char>(number);
            if (column_.width > 1) bytes += static_cast<char>(number >> byte_bits);
        }
        column_.data = base64(bytes);
        return std::move(column_);
    }

private:
    const NameNumbers& all_;
    std::vector<std::uint16_t> own_, numbers_;
    api::FleetColumn column_;
};

template <class E>
api::FleetColumn column_of_words(std::string name, std::string_view bytes) {
    return {.name = std::move(name), .words = words_of<E>(), .data = base64(bytes)};
}

using Page = std::vector<const FleetMap::Place*>;

std::string joined(const Page& page, auto part) {
    std::string bytes;
    for (const auto* place : page) bytes += part(place->second);
    return bytes;
}

api::FleetColumn names(std::string name, const NameNumbers& all, const Page& page, auto part) {
    NameColumn column{std::move(name), all};
    for (const auto* place : page)
        for (const std::uint16_t number : part(place->second.facts)) column.add(number);
    return std::move(column).done();
}

api::FleetColumn column_of(api::FleetValue value, const FleetMap& map, const Page& page) {
    const auto sampled = [&](std::string name, std::string unit, auto part, int step = 1) {
        return api::FleetColumn{
            .name = std::move(name),
            .step = step,
            .unit = std::move(unit),
            .data = base64(joined(page, [&](const FleetBlock& block) { return block.samples.*part; }))};
    };
    switch (value) {
        case api::FleetValue::use:
            return column_of_words<api::FleetUse>(
                "use", joined(page, [](const FleetBlock& block) { return block.facts.use; }));
        case api::FleetValue::state:
            return column_of_words<api::GpuState>(
                "state", joined(page, [](const FleetBlock& block) { return block.facts.health; }));
        case api::FleetValue::utilization:
            return sampled("utilization", "percent", &FleetBlock::Samples::utilization);
        case api::FleetValue::temperature:
            return sampled("temperature", "celsius", &FleetBlock::Samples::temperature);
        case api::FleetValue::power:
            return sampled("power", "watts", &FleetBlock::Samples::power, power_step_w);
        case api::FleetValue::tenant:
            return names("tenant", map.tenants(), page, [](const auto& facts) { return facts.tenants; });
        case api::FleetValue::model:
            return names("model", map.models(), page, [](const auto& facts) { return facts.models; });
    }
    return {};
}

std::vector<api::FleetColumn> host_columns_of(const FleetMap& map, const Page& page) {
    NameColumn zones{"zone", map.zones()};
    std::string states, gpus;
    for (const auto* place : page) {
        const FleetBlock::Facts& facts = place->second.facts;
        zones.add(facts.zone);
        states += static_cast<char>(facts.state);
        gpus += static_cast<char>(facts.gpus.size());
    }
    return {std::move(zones).done(),
            column_of_words<api::HostState>("state", states),
            {.name = "gpus", .data = base64(gpus)}};
}

// What of the fleet is meant, and is the caller's to see. Owners are few: each is asked for once.
class View {
public:
    View(const FleetMap& map, const api::Call& call, const api::GetFleet& request)
        : call_(call), zone_(request.zone ? std::optional{map.zones().find(*request.zone)} : std::nullopt) {}
    bool has(const std::string& owner, std::uint16_t zone) {
        if (zone_ && (zone != *zone_ || zone == NameNumbers::unknown)) return false;
        return may_see(owner);
    }
    bool may_see(const std::string& owner) {
        const auto [at, fresh] = may_.try_emplace(owner, false);
        if (fresh) at->second = may(call_, scope_of_provider(owner));
        return at->second;
    }

private:
    const api::Call& call_;
    std::optional<std::uint16_t> zone_;
    std::map<std::string, bool, std::less<>> may_;
};

void sort(Page& page) {
    std::ranges::sort(page, {}, [](const auto* place) -> const std::string& { return place->first; });
}

// Walks the hosts of the providers that the caller may see: hosts of others cost nothing.
Page hosts(const FleetMap& map, View& view, const std::string& behind, std::size_t most) {
    Page page;
    for (const std::string& owner : map.owners()) {
        if (!view.may_see(owner)) continue;
        const auto wanted = [&](const FleetBlock& block) { return view.has(owner, block.facts.zone); };
        const Page own = map.hosts_of(owner, behind, wanted, most);
        page.insert(page.end(), own.begin(), own.end());
    }
    sort(page);
    return page;
}

Page changed_hosts(const FleetMap& map, View& view, std::uint64_t since, bool samples,
                   const std::string& behind) {
    Page page;
    for (const std::string& owner : map.owners()) {
        if (!view.may_see(owner)) continue;
        for (const auto* place : map.changed_since(owner, since, samples))
            if (place->first > behind && view.has(owner, place->second.facts.zone)) page.push_back(place);
    }
    sort(page);
    return page;
}

// Hosts that the caller could see and can see no longer.
std::vector<std::string> gone_hosts(const FleetMap& map, View& view, std::uint64_t since) {
    std::set<std::string> gone;
    for (FleetMap::Gone& one : map.gone_since(since)) {
        if (!view.has(one.owner, one.zone)) continue;
        const auto now = map.blocks().find(one.host);
        if (now != map.blocks().end() && view.has(now->second.facts.owner, now->second.facts.zone)) continue;
        gone.insert(std::move(one.host));
    }
    return {gone.begin(), gone.end()};
}

}  // namespace

Result<api::Fleet> fleet_answer(const FleetMap& map, const api::Call& call, const api::GetFleet& request,
                                std::uint64_t epoch, WallTime now) {
    const Values values = TRY(values_of(request.values));
    if (std::ranges::count(values, api::FleetValue::tenant) > 0 &&
        !may(call, Permission::tenant_read, Scope::cloud()))
        return api::permission_missing(Permission::tenant_read);
    const auto since = TRY(since_of(map, request, epoch));
    api::Fleet fleet{.at = now, .cursor = TermMark{epoch, map.number()}.text(), .whole = !since};
    View view{map, call, request};
    const std::string behind = request.after.value_or("");
    const auto limit = static_cast<std::size_t>(request.limit);
    const bool samples = std::ranges::any_of(values, is_sampled);
    Page page =
        since ? changed_hosts(map, view, *since, samples, behind) : hosts(map, view, behind, limit + 1);
    if (page.size() > limit) {
        page.resize(limit);
        fleet.next = page.back()->first;
    }
    if (since) fleet.removed = gone_hosts(map, view, *since);
    for (const auto* place : page) {
        fleet.hosts.push_back(place->first);
        fleet.names.push_back(place->second.facts.name);
    }
    fleet.host_columns = host_columns_of(map, page);
    for (const api::FleetValue value : values) fleet.columns.push_back(column_of(value, map, page));
    return fleet;
}

}  // namespace hostler::master
