#include "roles/master/instance/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "roles/master/http/api.h"
#include "roles/master/http/lookup.h"
#include "roles/master/state/retention.h"

namespace hostler::master {

namespace {

// Errors: those of the store, but for not_found.
Task<std::optional<Object>> look_up(Store& store, std::string_view kind, std::string id) {
    auto found = co_await store.find(std::string{kind}, std::move(id));
    if (found) co_return std::move(*found);
    if (found.error().code == Code::not_found) co_return std::nullopt;
    co_return std::unexpected(std::move(found).error());
}

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::max();

std::int64_t before(const Desk& desk, std::chrono::seconds time) {
    return desk.estate.micros() - std::chrono::microseconds{time}.count();
}

// Repairable instances that ended before `seen`, without the newest `repairable_tenant_max` of each tenant.
std::vector<const Instance*> too_many_to_repair(const Desk& desk, std::int64_t seen) {
    const auto& repairable = desk.estate.instances.by().repairable;
    if (repairable.entries() <= desk.settings.repairable_tenant_max) return {};
    std::vector<const Instance*> beyond;
    std::map<std::string_view, std::size_t> kept;
    for (const Instance* instance : repairable.between(never, seen) | std::views::reverse)
        if (++kept[instance->tenant] > desk.settings.repairable_tenant_max) beyond.push_back(instance);
    return beyond;
}

// Up to `most` ended instances that hold nothing on a host and can no longer be repaired, in the order in
// which they ended.
std::vector<std::string> ended_instances(const Desk& desk, std::size_t most) {
    const auto& by = desk.estate.instances.by();
    using Ended = std::set<std::pair<std::int64_t, std::string>>;
    const auto add = [](Ended& to, const std::vector<const Instance*>& instances) {
        for (const Instance* instance : instances) to.emplace(instance->ended_at, instance->id);
    };
    Ended over;
    const std::int64_t seen = before(desk, desk.settings.ended_in_memory);
    add(over, by.ended.between(never, seen, most));
    add(over, by.repairable.between(never, std::min(seen, before(desk, desk.settings.ended_kept)), most));
    add(over, too_many_to_repair(desk, seen));
    if (over.size() < most) {  // Room for those that exceed `ended_in_memory_max`.
        const std::size_t stay = by.ended.entries() + by.repairable.entries() - over.size();
        const std::size_t beyond =
            std::min(stay - std::min(stay, desk.settings.ended_in_memory_max), most - over.size());
        Ended oldest;
        for (const auto* index : {&by.ended, &by.repairable})
            if (beyond > 0) add(oldest, index->between(never, ever, over.size() + beyond));
        const std::size_t wanted = over.size() + beyond;
        for (auto at = oldest.begin(); over.size() < wanted; ++at) over.insert(*at);
    }
    std::vector<std::string> ids;
    for (const auto& [at, id] : over | std::views::take(most)) ids.push_back(id);
    return ids;
}

}  // namespace

void keep_name(Desk& desk, UsedName name) {
    const std::string id = name.id;
    desk.live.archiving.insert(id);
    desk.estate.used_names.add(std::move(name));
    desk.estate.used_names.retire(id);
}

bool archive_instances(Desk& desk) {
    constexpr std::size_t at_once = 64;  // A few milliseconds of the estate's thread.
    const auto over = ended_instances(desk, at_once + 1);
    for (const std::string& id : over | std::views::take(at_once)) {
        const Instance& instance = desk.estate.instances.at(id);
        // An instance whose name was reused is found by its id. A caller cannot delete an instance with an
        // owner, so its name becomes free here.
        if (!instance.name_passed_on)
            keep_name(desk, {.id = UsedName::id_of(instance.tenant, instance.caller_id),
                             .instance = instance.id,
                             .free = instance.deleted || instance.owner.has_value()});
        retire(desk, desk.estate.instances, id);
    }
    return over.size() > at_once;
}

Result<Instance> instance_of(const Object& object) {
    Instance instance = TRY(decode_body<Instance>(object.body));
    instance.meta = {object.generation, object.created, object.version};
    return instance;
}

bool is_answered_for(const Desk& desk, const Instance& ended) {
    const std::int64_t kept = std::chrono::microseconds{desk.settings.ended_kept}.count();
    return ended.ended_at + kept > desk.estate.micros();
}

std::unexpected<Error> archived(const Instance& instance) {
    Error error{Code::conflict, fmt::format("instance {} has ended", instance.caller_id), "not_running"};
    error.help =
        fmt::format("Delete it (`hostler instance delete {}`) and create another one.", instance.caller_id);
    return std::unexpected(std::move(error));
}

Task<std::optional<UsedName>> used_name(TermPtr term, std::string tenant, std::string caller_id) {
    const auto object = CO_TRY(
        co_await look_up(term->ports().store, Kind<UsedName>::name, UsedName::id_of(tenant, caller_id)));
    if (!object) co_return std::nullopt;
    UsedName name{.id = object->id};
    if (!object->body.empty()) name = CO_TRY(decode_body<UsedName>(object->body));
    name.free = object->phase == Kind<UsedName>::phase({.free = true});
    co_return name;
}

Task<std::optional<Instance>> archived_instance(TermPtr term, api::Call call, std::string name,
                                                std::optional<std::string> tenant) {
    const std::string meant = CO_TRY(tenant_meant(call, tenant));
    CO_TRY(co_await term->settled());  // It may have left memory a moment ago.
    Store& store = term->ports().store;
    std::string id = name;
    if (!meant.empty())
        if (const auto used = CO_TRY(co_await used_name(term, meant, name))) id = used->instance;
    const auto object = CO_TRY(co_await look_up(store, Kind<Instance>::name, id));
    // One whose record was pruned has no body.
    if (!object || object->live || object->body.empty()) co_return std::nullopt;
    Instance instance = CO_TRY(instance_of(*object));
    if (!meant.empty() && instance.tenant != meant) co_return std::nullopt;
    if (!may(call, sight_of(call.permission), scope_of(instance))) co_return std::nullopt;
    CO_TRY(check_new(call, scope_of(instance)));
    if (!is_answered_for(term->desk("master"), instance)) co_return std::nullopt;
    co_return instance;
}

Task<Instance> instance_anywhere(TermPtr term, api::Call call, std::string name,
                                 std::optional<std::string> tenant) {
    const auto here = instance_named(term->look(), call, name, tenant);
    if (here) co_return Instance{**here};
    if (here.error().code != Code::not_found) co_return std::unexpected(here.error());
    auto ended = CO_TRY(
        co_await archived_instance(std::move(term), std::move(call), std::move(name), std::move(tenant)));
    if (!ended) co_return std::unexpected(here.error());
    co_return std::move(*ended);
}

}  // namespace hostler::master
