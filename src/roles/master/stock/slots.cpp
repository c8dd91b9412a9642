#include "roles/master/stock/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/types_spec.h"
#include "api/types_stock.h"
#include "core/counted.h"
#include "core/quantity.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/reservations.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/state/near.h"
#include "roles/master/stock/images.h"
#include "roles/master/stock/specs.h"

namespace hostler::master {

namespace {

// The spec that the request describes, from the store or new. Errors name every wrong field.
Result<Spec> spec_of(const Desk& desk, const api::CreateStocks& request) {
    const Spec* known = desk.estate.specs.find(request.spec_name);
    if (known) {
        std::vector<FieldError> fields;
        const auto differs = [&](const char* field, const auto& given, const std::string& is, bool same) {
            if (given && !same) fields.push_back({field, fmt::format("is {} in this spec", is)});
        };
        const auto milli = [](const std::optional<std::string>& text) {
            return text ? parse_quantity(*text).value_or(Quantity{-1}) : Quantity{-1};
        };
        differs("cpu", request.cpu, known->cpu, milli(request.cpu).milli == known->cpu_milli);
        differs("memory", request.memory, known->memory,
                milli(request.memory).units() == known->memory_bytes);
        differs("gpuType", request.gpu_type, known->gpu_type, request.gpu_type == known->gpu_type);
        differs("gpuNum", request.gpu_num, std::to_string(known->gpu_count),
                request.gpu_num == known->gpu_count);
        if (fields.empty()) return *known;
        Error error{Code::conflict, fmt::format("spec {} exists with other values", request.spec_name),
                    "spec_differs"};
        error.fields = std::move(fields);
        error.help = "Use another specName, or leave the values out.";
        return std::unexpected(std::move(error));
    }
    Error missing{Code::invalid, fmt::format("there is no spec {} yet; say what it is", request.spec_name),
                  "invalid"};
    if (!request.cpu) missing.fields.push_back({"cpu", "is required for a new spec"});
    if (!request.memory) missing.fields.push_back({"memory", "is required for a new spec"});
    if (!request.gpu_type) missing.fields.push_back({"gpuType", "is required for a new spec"});
    if (!request.gpu_num) missing.fields.push_back({"gpuNum", "is required for a new spec"});
    if (!missing.fields.empty()) return std::unexpected(std::move(missing));
    return new_spec(desk, {.name = request.spec_name,
                           .cpu = *request.cpu,
                           .memory = *request.memory,
                           .gpu_type = *request.gpu_type,
                           .gpu_num = *request.gpu_num});
}

Result<> check_zone(const Desk& desk, const std::optional<std::string>& zone) {
    if (!zone || desk.estate.zones.find(*zone)) return {};
    Error error{Code::invalid, no_such_in(desk.estate.zones, "zone", *zone), "invalid"};
    error.fields.push_back({"zone", "no such zone"});
    return std::unexpected(std::move(error));
}

std::string zone_of(const Desk& desk, const Slot& slot) {
    return slot.claim.empty() ? slot.zone : desk.estate.claims.at(slot.claim).zone;
}

// Two who count the same slots at one moment would both add what is missing.
Result<> check_wanted(const Desk& desk, const std::string& spec, const std::optional<std::string>& zone,
                      const std::optional<int>& expected) {
    if (!expected) return {};
    const auto wanted = std::ranges::count_if(desk.estate.slots.by().spec.of(spec), [&](const Slot* slot) {
        return !zone || zone_of(desk, *slot) == *zone;
    });
    if (wanted == *expected) return {};
    Error error{Code::conflict,
                fmt::format("{} of {} {} wanted now, not {}", counted(wanted, "slot"), spec,
                            wanted == 1 ? "is" : "are", *expected),
                "stock_changed"};
    error.help = "Read the stock again, and decide again.";
    return std::unexpected(std::move(error));
}

Decision place_slot(const Desk& desk, const Spec& spec, const std::string& zone) {
    // Room that others make for a job is not for stock.
    const auto& kept = desk.live.part<Reservations>().owner_of;
    const auto may = [&kept](const std::string& host) { return !kept.contains(host); };
    return room(desk).place_spread(desk, demand_of(spec, zone), slots_per_zone(desk, spec.name),
                                   kept.empty() ? Room::May{} : may);
}

}  // namespace

Result<> create_stock(Desk& desk, const api::CreateStocks& request) {
    TRY(check_zone(desk, request.zone));
    const Spec spec = TRY(spec_of(desk, request));
    TRY(check_wanted(desk, spec.name, request.zone, request.if_wanted));
    const Demand demand = demand_of(spec, request.zone.value_or(""));

    // Where they all go is found out before anything is changed.
    Room& hosts = room(desk);
    auto per_zone = slots_per_zone(desk, spec.name);
    std::vector<Placement> placements;
    for (int i = 0; i < request.number; ++i) {
        Decision decision = hosts.place_spread(desk, demand, per_zone);
        if (!decision.placement) {
            Error error = refusal(*decision.denial, fmt::format("{} of {} {}. ", placements.size(),
                                                                counted(request.number, "slot"),
                                                                request.number == 1 ? "fits" : "fit"));
            const auto rest = static_cast<std::size_t>(request.number) - placements.size();
            if (rest > 1)
                error.help =
                    fmt::format("{}Room for {} more is needed; for the first of them: {}",
                                placements.empty() ? "" : fmt::format("Ask for {}. ", placements.size()),
                                rest, error.help);
            return std::unexpected(std::move(error));
        }
        hosts.pretend(demand, *decision.placement);
        ++per_zone[decision.placement->zone];
        placements.push_back(std::move(*decision.placement));
    }

    if (!desk.estate.specs.find(spec.name)) add_spec(desk, spec);
    for (const Placement& placement : placements) {
        Slot slot{.id = new_id(desk.random, "s"), .spec = spec.name, .zone = request.zone.value_or("")};
        slot.claim = claim(desk, demand, placement, ClaimUse::stock, {.holder = slot.id}).id;
        slot.phase = SlotPhase::idle;
        desk.estate.slots.add(std::move(slot));
    }
    desk.estate.event(
        "stock", spec.name, "", "stock_added",
        fmt::format("{} {} added.", counted(request.number, "slot"), request.number == 1 ? "was" : "were"));
    return {};
}

Result<> delete_stock(Desk& desk, const api::DeleteStocks& request) {
    TRY(check_zone(desk, request.zone));
    TRY(spec_named(desk, request.spec_name));
    TRY(check_wanted(desk, request.spec_name, request.zone, request.if_wanted));
    std::vector<const Slot*> free;
    int used = 0;
    for (const Slot* slot : desk.estate.slots.by().spec.of(request.spec_name)) {
        if (request.zone && zone_of(desk, *slot) != *request.zone) continue;
        slot->phase == SlotPhase::used ? void(++used) : free.push_back(slot);
    }
    if (static_cast<int>(free.size()) < request.number) {
        Error error{Code::conflict,
                    fmt::format("{} of {} {} idle and {} in use; {} cannot be taken away",
                                counted(free.size(), "slot"), request.spec_name,
                                free.size() == 1 ? "is" : "are", used, request.number),
                    "not_idle"};
        error.help = "Stop instances first, or ask for fewer.";
        return std::unexpected(std::move(error));
    }
    std::ranges::sort(free, [](const Slot* a, const Slot* b) {
        return std::tuple(a->phase != SlotPhase::pending, a->meta.created, a->id) <
               std::tuple(b->phase != SlotPhase::pending, b->meta.created, b->id);
    });
    std::vector<std::string> leaving;
    leaving.reserve(static_cast<std::size_t>(request.number));
    for (int i = 0; i < request.number; ++i) leaving.push_back(free[static_cast<std::size_t>(i)]->id);
    for (const std::string& id : leaving) {
        const std::string held = desk.estate.slots.at(id).claim;
        if (!held.empty()) desk.estate.release(held);
        desk.estate.slots.erase(id);
    }
    desk.estate.event(
        "stock", request.spec_name, "", "stock_removed",
        fmt::format("{} {} removed.", counted(request.number, "slot"), request.number == 1 ? "was" : "were"));
    return {};
}

// Idle on a host that is lost or removed (unreachable ones come back soon, cordoned keep theirs), or with a
// GPU that has failed.
static bool serves_nobody(const Desk& desk, const Slot& slot) {
    if (slot.phase != SlotPhase::idle) return false;
    const Claim& held = desk.estate.claims.at(slot.claim);
    const Host* host = desk.estate.hosts.find(held.host);
    return !host || host->phase == HostPhase::lost || host->phase == HostPhase::retired || !fit(desk, held);
}

namespace {

struct SlotLooks {
    static constexpr bool follows_estate = true;
    Follower<Slot> slots;
    Follower<Host> hosts;
};

}  // namespace

void fill_stock(Desk& desk) {
    std::set<std::string> ids;
    for (const Slot* slot : desk.estate.slots.by().phase.of(SlotPhase::pending)) ids.insert(slot->id);
    // That they serve somebody is looked at again when they or their hosts have changed.
    auto& looks = desk.live.part<SlotLooks>();
    std::set<std::string> changed = looks.slots.changed(desk.estate.slots);
    for (const std::string& host : looks.hosts.changed(desk.estate.hosts))
        for (const Claim* claim : desk.estate.claims.by().host.of(host))
            if (claim->use == ClaimUse::stock) changed.insert(claim->holder);
    for (const std::string& id : changed)
        if (const Slot* slot = desk.estate.slots.find(id); slot && serves_nobody(desk, *slot)) ids.insert(id);
    std::map<std::pair<std::string, std::string>, std::string> full;  // Why no more of a spec fit a zone.
    for (const std::string& id : ids) {
        if (!desk.estate.slots.at(id).claim.empty()) {
            displace(desk, id);
            full.clear();
        }
        const Slot& slot = desk.estate.slots.at(id);
        const Spec& spec = desk.estate.specs.at(slot.spec);
        auto why = full.find({slot.spec, slot.zone});
        if (why == full.end()) {
            const Decision decision = place_slot(desk, spec, slot.zone);
            if (decision.placement) {
                const Claim& held = claim(desk, demand_of(spec, slot.zone), *decision.placement,
                                          ClaimUse::stock, {.holder = id});
                Slot& placed = desk.estate.slots.edit(id);
                placed.claim = held.id;
                placed.phase = SlotPhase::idle;
                placed.message.clear();
                placed.gave_way.clear();
                desk.estate.event("stock", spec.name, "", "slot_placed",
                                  fmt::format("Slot {} was placed on {}.", id, held.host));
                continue;
            }
            why = full.emplace(std::pair{slot.spec, slot.zone}, decision.denial->sentence).first;
        }
        std::string message = why_it_waits(slot, why->second);
        if (message != slot.message) desk.estate.slots.edit(id).message = std::move(message);
    }
}

void displace(Desk& desk, const std::string& id) {
    Slot& slot = desk.estate.slots.edit(id);
    desk.estate.release(slot.claim);
    slot.claim.clear();
    slot.phase = SlotPhase::pending;
}

std::string why_it_waits(const Slot& slot, const std::string& no_room) {
    if (slot.gave_way.empty()) return no_room;
    return fmt::format("Its place was given up for instance {}.{}{}", slot.gave_way,
                       no_room.empty() ? "" : " ", no_room);
}

const Slot* idle_slot(const Desk& desk, const std::string& spec, const Demand& demand,
                      const std::string& image, const Room::May& may) {
    Room& rooms = room(desk);
    const auto has_room_for_volumes = [&](const std::string& host) {
        if (demand.volume_bytes <= 0) return true;
        const auto there = rooms.hosts().find(host);
        return there != rooms.hosts().end() && there->second.free.volumes_refused.empty() &&
               there->second.free.volume_bytes >= demand.volume_bytes;
    };
    const Slot* best = nullptr;
    std::tuple<int, bool, std::uint64_t, std::string_view> least;
    for (const Slot* idle : desk.estate.slots.by().idle_spec.of(spec)) {
        const Slot& slot = *idle;
        const Claim& held = desk.estate.claims.at(slot.claim);
        if ((!demand.zone.empty() && held.zone != demand.zone) ||
            (!demand.host.empty() && held.host != demand.host))
            continue;
        const Host* on = desk.estate.hosts.find(held.host);
        if (!on || !unavailable(desk, *on).empty() || (may && !may(held.host)) ||
            !has_room_for_volumes(held.host) || !fit(desk, held) ||
            !rooms.suits(demand, held.host, held.gpus))
            continue;
        const bool has = !image.empty() && has_image(desk, held.host, image);
        const std::tuple rank{rooms.crowd(demand, held.host), !has, slot.meta.created,
                              std::string_view{slot.id}};
        if (best && least <= rank) continue;
        best = &slot;
        least = rank;
    }
    return best;
}

void refill(Desk& desk, const std::string& id) {
    Slot& slot = desk.estate.slots.edit(id);
    slot.instance.clear();
    const Claim& held = desk.estate.claims.at(slot.claim);
    const Host* host = desk.estate.hosts.find(held.host);
    if (host && unavailable(desk, *host).empty() && !used_by_foreign(desk, held) && fit(desk, held)) {
        slot.phase = SlotPhase::idle;
        desk.estate.pass_on(slot.claim, ClaimUse::stock, {.holder = id});
        return;
    }
    displace(desk, id);
}

}  // namespace hostler::master
