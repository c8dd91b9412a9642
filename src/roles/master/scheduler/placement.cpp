#include "roles/master/scheduler/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_host.h"
#include "api/types_zone.h"
#include "core/quantity.h"
#include "domain/billing/money.h"
#include "domain/inventory/model.h"
#include "roles/master/billing/prices.h"
#include "roles/master/http/api.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/reclaim.h"
#include "roles/master/state/near.h"
#include "roles/master/stock/slots.h"

namespace hostler::master {

namespace {

constexpr std::string_view no_prices = "no price list is set";

template <class To, class From>
std::optional<To> named_alike(const std::optional<From>& from) {
    To to{};
    if (!from || !boost::describe::enum_from_string(text_of(*from).c_str(), to)) return std::nullopt;
    return to;
}

template <class From>
Area area_of(const std::optional<From>& from) {
    return named_alike<Area>(from).value_or(Area::none);
}

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
    if (caller.is_operator || asked.hosts.empty()) return {};
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

Result<> update_host(Desk& desk, const std::string& id, const api::UpdateHost& request) {
    const Host& now = desk.estate.hosts.at(id);
    Labels labels = with_changes(now.labels, request.labels);
    if (labels.size() > labels_max)
        return all_right({{"labels", fmt::format("a host has at most {}", labels_max)}});
    const std::string rack = request.rack.value_or(now.rack);
    const auto trust = request.trust ? named_alike<Trust>(request.trust) : now.trust;
    if (rack == now.rack && labels == now.labels && trust == now.trust) return {};
    Host& host = desk.estate.hosts.edit(id);
    host.rack = rack;
    host.labels = std::move(labels);
    if (host.trust != trust) desk.live.hosts[id].judged = false;
    host.trust = trust;
    desk.estate.event("host", id, "", "described", "Its rack, labels or trust were changed.");
    return {};
}

void update_zone(Desk& desk, const std::string& name, const api::UpdateZone& request) {
    Zone& zone = desk.estate.zones.edit(name);
    if (request.location) zone.place = *request.location;
    if (request.coordinates) zone.spot = parse_spot(*request.coordinates).value_or(Spot{});
    desk.estate.event("zone", name, "", "described", "Where it is was changed.");
}

namespace {

struct Asked {
    std::vector<Demand> demands;
    std::vector<std::string> images;  // Of each.
    Gang gang;
    bool whole = true;  // Only whole GPUs.
};

// One task as often as it is asked for.
void add_task(const Desk& desk, const std::string& tenant, const api::PlacementTask& task,
              const std::string& path, Asked& into, std::vector<FieldError>& wrong) {
    Demand demand;
    if (task.spec_name) {
        if (const Spec* spec = desk.estate.specs.find(*task.spec_name))
            demand = demand_of(*spec, "");
        else
            wrong.push_back({path + "specName", no_such_in(desk.estate.specs, "spec", *task.spec_name)});
    }
    if (task.gpus) demand.gpu_count = *task.gpus;
    if (task.gpu_milli || task.profile) demand.gpu_count = 1;
    const auto amount = [](const std::string& text) { return parse_quantity(text).value_or(Quantity{}); };
    if (task.cpu) demand.cpu_milli = amount(*task.cpu).milli;
    if (task.memory) demand.memory_bytes = amount(*task.memory).units();
    if (task.disk) demand.volume_bytes = amount(*task.disk).units();
    if (task.placement) demand.wishes = wishes_of(desk, *task.placement, path + "placement.", wrong);
    if (!demand.wishes.group.empty()) demand.kind = group_key(tenant, demand.wishes.group);
    Need need;
    need.shape.gpu_milli = task.gpu_milli.value_or(demand.gpu_count > 0 ? gpu_whole : 0);
    need.shape.disk_bytes = demand.volume_bytes;
    if (task.gpu_milli) need.shape.owner = 1;  // All of them are one tenant's.
    if (task.profile) {
        need.shape.profile = mig_profile_number(*task.profile);
        if (need.shape.profile == 0)
            wrong.push_back({path + "profile", fmt::format("no GPU has slices {}", *task.profile)});
    }
    into.whole = into.whole && !task.gpu_milli && !task.profile;
    for (int i = 0; i < task.count; ++i) {
        into.demands.push_back(demand);
        into.images.push_back(task.image.value_or(""));
        into.gang.tasks.push_back(need);
    }
}

api::PlacementDenial shown_as(const Denial& denial) {
    api::PlacementDenial shown{
        .never = denial.never, .sentence = denial.sentence, .would_help = denial.would_help};
    for (const Reason& reason : denial.reasons)
        shown.reasons.push_back({std::string{token_of(reason.obstacle)}, reason.hosts});
    for (const std::size_t task : denial.fitting) shown.fitting.push_back(static_cast<int>(task));
    return shown;
}

// An idle slot of its spec would be taken: nothing but the spec says how large it is.
const Slot* slot_for(const Desk& desk, const api::PlacementTask& task, const Asked& asked) {
    if (!task.spec_name || task.gpus || task.cpu || task.memory) return nullptr;
    return idle_slot(desk, *task.spec_name, asked.demands[0], asked.images[0], nullptr);
}

std::vector<api::StockGivingWay> giving_way(const Desk& desk, const std::vector<std::string>& claims) {
    std::map<std::string, api::StockGivingWay> by_spec;
    for (const std::string& id : claims) {
        const Claim& held = desk.estate.claims.at(id);
        const std::string& spec = desk.estate.slots.at(held.holder).spec;
        api::StockGivingWay& shown = by_spec[spec];
        shown.spec_name = spec;
        ++shown.slots;
        shown.gpus += static_cast<int>(held.gpus.size());
    }
    std::vector<api::StockGivingWay> all;
    for (auto& [spec, shown] : by_spec) all.push_back(std::move(shown));
    return all;
}

// A single task of whole GPUs goes where an instance would.
void place_one(const Desk& desk, const api::PlacementTask& task, const Asked& asked,
               api::PlacementAnswer& answer) {
    if (const Slot* slot = slot_for(desk, task, asked)) {
        const Claim& held = desk.estate.claims.at(slot->claim);
        answer.places.push_back({.host = held.host, .zone = held.zone, .gpus = held.gpus});
        answer.from_stock = true;
        return;
    }
    const Decision decision = room(desk).place(desk, asked.demands[0], asked.images[0], nullptr,
                                               [&desk] { return idle_stock(desk); });
    if (!decision.placement) {
        answer.denial = shown_as(*decision.denial);
        return;
    }
    answer.places.push_back({.host = decision.placement->host,
                             .zone = decision.placement->zone,
                             .gpus = decision.placement->gpus});
    answer.gives_way = giving_way(desk, decision.reclaimed);
}

}  // namespace

Result<api::PlacementAnswer> explain_placement(const Desk& desk, const api::Call& call,
                                               const api::ExplainPlacement& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    std::vector<api::PlacementTask> tasks = request.tasks;
    if (tasks.empty())
        tasks.push_back({.spec_name = request.spec_name,
                         .gpus = request.gpus,
                         .gpu_milli = request.gpu_milli,
                         .profile = request.profile,
                         .cpu = request.cpu,
                         .memory = request.memory,
                         .disk = request.disk,
                         .image = request.image,
                         .placement = request.placement});
    Asked asked;
    std::vector<FieldError> wrong;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i].placement) TRY(may_ask(call.caller, *tasks[i].placement));
        add_task(desk, tenant, tasks[i], request.tasks.empty() ? "" : fmt::format("tasks[{}].", i), asked,
                 wrong);
    }
    TRY(all_right(std::move(wrong)));
    asked.gang.together = area_of(request.together);
    asked.gang.wanted_together = area_of(request.together_wanted);

    api::PlacementAnswer answer;
    if (asked.demands.size() == 1 && asked.whole) {
        place_one(desk, tasks[0], asked, answer);
    } else {
        const Plan plan = room(desk).plan(asked.demands, asked.gang, [&desk] { return idle_stock(desk); });
        answer.gives_way = giving_way(desk, plan.reclaimed);
        for (const Place& place : plan.places) {
            api::PlannedTask& shown = answer.places.emplace_back();
            shown.task = static_cast<int>(answer.places.size()) - 1;
            shown.host = place.host;
            shown.zone = place.zone;
            shown.gpus = place.gpus;
            if (place.slice >= 0) shown.slice = place.slice;
        }
        if (plan.denial) answer.denial = shown_as(*plan.denial);
    }
    answer.fits = !answer.places.empty();
    return answer;
}

}  // namespace hostler::master
