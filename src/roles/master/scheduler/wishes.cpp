#include "roles/master/scheduler/wishes.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/handlers.h"
#include "api/types_placement.h"
#include "core/quantity.h"
#include "domain/billing/money.h"
#include "domain/inventory/model.h"
#include "roles/master/billing/prices.h"
#include "roles/master/state/near.h"

namespace hostler::master {

namespace {

constexpr std::string_view no_prices = "no price list is set";

// "48" is 48 GiB.
std::int64_t bytes_of(const std::string& text) {
    const bool bare = text.find_first_not_of("0123456789") == std::string::npos;
    return parse_quantity(bare ? text + "Gi" : text).value_or(Quantity{}).units();
}

std::string shown_bytes(std::int64_t bytes) {
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    return bytes % gib == 0 ? fmt::format("{}Gi", bytes / gib) : std::to_string(bytes);
}

std::optional<Spot> spot_of(const Desk& desk, const std::string& place, std::string& why) {
    if (place.contains(',')) {
        if (const auto spot = parse_spot(place)) return *spot;
        why = "must be degrees north and east";
        return std::nullopt;
    }
    const Zone* zone = desk.estate.zones.find(place);
    if (zone && zone->spot) return zone->spot;
    why = zone ? fmt::format("it is not known where zone {} is", place)
               : no_such_in(desk.estate.zones, "zone", place);
    return std::nullopt;
}

// By ids.
std::vector<std::string> hosts_of(const Desk& desk, const std::vector<std::string>& names,
                                  std::string_view path, std::vector<FieldError>& wrong) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t before = ids.size();
        std::set<std::string> named;
        for (const Host* host : desk.estate.hosts.by().name.of(names[i])) named.insert(host->id);
        const Host* host = desk.estate.hosts.find(names[i]);
        if (host && host->phase != HostPhase::retired) named.insert(host->id);
        ids.insert(ids.end(), named.begin(), named.end());
        if (ids.size() == before)
            wrong.push_back(
                {fmt::format("{}hosts[{}]", path, i), fmt::format("there is no host {}", names[i])});
    }
    return ids;
}

}  // namespace

Wishes wishes_of(const Desk& desk, const api::Placement& asked, std::string_view path,
                 std::vector<FieldError>& wrong) {
    const auto no = [&](std::string_view field, std::string what) {
        wrong.push_back({fmt::format("{}{}", path, field), std::move(what)});
    };
    Wishes wishes;
    Terms& terms = wishes.terms;
    terms.zones = asked.zones;
    for (std::size_t i = 0; i < asked.zones.size(); ++i)
        if (!desk.estate.zones.find(asked.zones[i]))
            no(fmt::format("zones[{}]", i), no_such_in(desk.estate.zones, "zone", asked.zones[i]));
    terms.racks = asked.racks;
    terms.hosts = hosts_of(desk, asked.hosts, path, wrong);
    if (asked.near) {
        std::string why;
        if (const auto spot = spot_of(desk, *asked.near, why))
            terms.near = Nearness{*spot, asked.within_km.value_or(api::within_km_default)};
        else
            no("near", why);
    }
    terms.model = asked.model.value_or("");
    if (asked.gpu_class) {
        const GpuModel* model = find_gpu_model(*asked.gpu_class);
        terms.gpu_class = model ? std::string{model->family} : *asked.gpu_class;
    }
    terms.vendor = named_alike<GpuVendor>(asked.vendor);
    if (asked.gpu_memory) terms.gpu_memory_bytes = bytes_of(*asked.gpu_memory);
    terms.tier = named_alike<GpuTier>(asked.tier).value_or(GpuTier::unrated);
    terms.isolation = named_alike<Isolation>(asked.isolation);
    terms.trust = named_alike<Trust>(asked.trust).value_or(Trust::community);
    terms.labels = asked.labels;
    if (asked.max_price) {
        terms.price_micros = parse_money(*asked.max_price).value_or(0);
        if (!is_priced(desk)) no("maxPrice", std::string{no_prices});
    }
    wishes.group = asked.group.value_or("");
    wishes.apart = area_of(asked.apart);
    wishes.spread = area_of(asked.spread);
    wishes.pack = area_of(asked.pack);
    wishes.link = named_alike<Link>(asked.link).value_or(Link::any);
    wishes.link_wanted = named_alike<Link>(asked.link_wanted).value_or(Link::any);
    return wishes;
}

api::Placement shown_as(const Wishes& wishes) {
    const Terms& terms = wishes.terms;
    const auto text = [](const std::string& from) {
        return from.empty() ? std::nullopt : std::optional{from};
    };
    api::Placement shown;
    shown.zones = terms.zones;
    shown.racks = terms.racks;
    shown.hosts = terms.hosts;
    if (terms.near) {
        shown.near = to_string(terms.near->spot);
        shown.within_km = terms.near->km;
    }
    shown.model = text(terms.model);
    shown.gpu_class = text(terms.gpu_class);
    shown.vendor = named_alike<api::Vendor>(terms.vendor);
    if (terms.gpu_memory_bytes > 0) shown.gpu_memory = shown_bytes(terms.gpu_memory_bytes);
    if (terms.tier != GpuTier::unrated) shown.tier = named_alike<api::Tier>(std::optional{terms.tier});
    shown.isolation = named_alike<api::Isolation>(terms.isolation);
    if (terms.trust != Trust::community) shown.trust = api::Trust::trusted;
    shown.labels = terms.labels;
    if (terms.price_micros) shown.max_price = money_text(*terms.price_micros);
    shown.group = text(wishes.group);
    shown.apart = named_alike<api::Area>(std::optional{wishes.apart});
    shown.spread = named_alike<api::Area>(std::optional{wishes.spread});
    shown.pack = named_alike<api::Area>(std::optional{wishes.pack});
    shown.link = named_alike<api::Link>(std::optional{wishes.link});
    shown.link_wanted = named_alike<api::Link>(std::optional{wishes.link_wanted});
    return shown;
}

api::Placement filled_with(api::Placement asked, const api::Placement& otherwise) {
    const auto fill = [](auto& into, const auto& from) {
        if (!into) into = from;
    };
    if (asked.zones.empty()) asked.zones = otherwise.zones;
    if (asked.racks.empty()) asked.racks = otherwise.racks;
    if (asked.hosts.empty()) asked.hosts = otherwise.hosts;
    if (!asked.near) {
        asked.near = otherwise.near;
        asked.within_km = otherwise.within_km;
    }
    fill(asked.model, otherwise.model), fill(asked.gpu_class, otherwise.gpu_class);
    fill(asked.vendor, otherwise.vendor), fill(asked.gpu_memory, otherwise.gpu_memory);
    fill(asked.tier, otherwise.tier);
    fill(asked.isolation, otherwise.isolation), fill(asked.trust, otherwise.trust);
    asked.labels.insert(otherwise.labels.begin(), otherwise.labels.end());
    fill(asked.max_price, otherwise.max_price);
    fill(asked.link, otherwise.link), fill(asked.link_wanted, otherwise.link_wanted);
    return asked;
}

Result<> may_ask(const api::Caller& caller, const api::Placement& asked) {
    if (asked.hosts.empty() || authorize(caller.principal, Permission::host_read, Scope::cloud())) return {};
    Error error{Code::forbidden, "hosts are named by operators only", "operator_only"};
    error.help = "Ask for a zone, or for what the host is like.";
    return std::unexpected(std::move(error));
}

Result<> all_right(std::vector<FieldError> wrong) {
    if (wrong.empty()) return {};
    const bool only_prices =
        std::ranges::all_of(wrong, [](const auto& one) { return one.message == no_prices; });
    Error error{Code::invalid, "", "invalid"};
    error.message = wrong.size() == 1 ? "one field of the request is wrong"
                                      : fmt::format("{} fields of the request are wrong", wrong.size());
    if (only_prices) {
        error.message = no_prices;
        error.reason = "no_price_list";
        error.help = "Leave the price out.";
    }
    error.fields = std::move(wrong);
    return std::unexpected(std::move(error));
}

}  // namespace hostler::master
