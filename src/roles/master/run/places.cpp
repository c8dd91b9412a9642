#include "roles/master/run/places.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/network/subnets.h"
#include "roles/master/policy/policies.h"
#include "roles/master/quota/amounts.h"
#include "roles/master/quota/enforce.h"
#include "roles/master/run/layers.h"
#include "roles/master/run/left.h"
#include "roles/master/run/reserved.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

// A place that was found and not taken yet.
struct Found {
    const Slot* slot = nullptr;
    Decision decision;
    Claim claim;  // As it would be.
};

Found find(Desk& desk, const Instance& instance, const Demand& demand, const Room::May& may) {
    Found found;
    found.slot = idle_slot(desk, instance.spec_name, demand, instance.spec.image, may);
    if (found.slot) {
        found.claim = desk.estate.claims.at(found.slot->claim);
        return found;
    }
    found.decision =
        room(desk).place(desk, demand, instance.spec.image, may, [&desk] { return idle_stock(desk); });
    found.claim.cpu_milli = demand.cpu_milli;
    found.claim.memory_bytes = demand.memory_bytes;
    if (!found.decision.placement) return found;
    found.claim.host = found.decision.placement->host;
    found.claim.gpus = found.decision.placement->gpus;
    return found;
}

void take(Desk& desk, Instance& instance, const Demand& demand, const Found& found) {
    const ClaimOf of{instance.tenant, instance.project, instance.id, instance.created_by};
    if (!found.slot) {
        give_way(desk, found.decision.reclaimed, instance);
        instance.claim = claim(desk, demand, *found.decision.placement, ClaimUse::instance, of).id;
        return;
    }
    instance.slot = found.slot->id;
    instance.claim = found.slot->claim;
    Slot& used = desk.estate.slots.edit(instance.slot);
    used.phase = SlotPhase::used;
    used.instance = instance.id;
    // First, so that the ledger tells it.
    desk.estate.claims.edit(instance.claim).group = demand.wishes.group;
    desk.estate.pass_on(instance.claim, ClaimUse::instance, of);
}

}  // namespace

Result<> give_place(Desk& desk, Instance& instance, const std::string& zone, const std::string& host,
                    WantedBy by) {
    const Spec& spec = desk.estate.specs.at(instance.spec_name);
    Demand demand = demand_of(desk, spec, instance);
    demand.zone = zone;
    demand.host = host;
    demand.volume_bytes = bytes_to_make(desk, instance);
    const QuotaAsker asker = asker_of(instance);
    if (by == WantedBy::caller)
        TRY(check_quotas(desk, asker, still_asked(desk, instance.id, amounts_of(demand))));
    std::optional<Error> refused;
    std::set<std::string> full;  // GPU classes whose quota is used up; other classes may fit.
    const auto may = [&](const std::string& id) {
        return may_run_at(desk, instance, id) && !is_kept_from(desk, instance, id) &&
               std::ranges::none_of(full, [&](const std::string& one) { return has_gpus_of(desk, id, one); });
    };
    for (;;) {
        const Found found = find(desk, instance, demand, may);
        if (!found.slot && !found.decision.placement) {
            if (refused) break;
            Error error =
                refusal(*found.decision.denial, fmt::format("There is no stock of {} to take. ", spec.name));
            error.message += narrowing_sentence(desk, instance.tenant);
            return std::unexpected(std::move(error));
        }
        Amounts amounts = amounts_of(desk, found.claim);
        amounts["instances"] = 1;
        std::optional<QuotaDenial> denied;
        if (by == WantedBy::caller)
            denied = quota_denial(desk, asker, still_asked(desk, instance.id, std::move(amounts)));
        if (!denied) {
            take(desk, instance, demand, found);
            return {};
        }
        if (!refused) refused = std::move(denied->error);
        if (!denied->resource.starts_with(gpu_class_prefix) || !full.insert(denied->resource).second) break;
    }
    note_refused(desk, asker);
    return std::unexpected(std::move(*refused));
}

std::optional<Error> quota_against_start(const Desk& desk, const Instance& instance) {
    const Spec* spec = desk.estate.specs.find(instance.spec_name);
    if (!spec) return std::nullopt;
    const Amounts asked = still_asked(desk, instance.id, amounts_of(demand_of(desk, *spec, instance)));
    auto denied = quota_denial(desk, asker_of(instance), asked);
    if (!denied) return std::nullopt;
    return std::move(denied->error);
}

Result<> settle(Desk& desk, Instance& instance, const std::string& zone, const std::string& host,
                WantedBy by) {
    TRY(check_secrets(desk, instance));
    TRY(check_attachable(desk, instance));
    TRY(give_place(desk, instance, zone, host, by));
    return move_in(desk, instance);
}

// On its host, unless somebody stands there. An idle slot has an address in advance, and any other will do.
static void take_address(Desk& desk, const std::string& claim, int place) {
    const int other = desk.estate.claims.at(claim).address_index;
    if (other == place) return;
    for (const Claim* there : claims_on(desk, desk.estate.claims.at(claim).host)) {
        if (there->address_index != place) continue;
        if (there->use != ClaimUse::stock) return;
        const std::string slot = there->id;
        desk.estate.readdress(slot, other);
        break;
    }
    desk.estate.readdress(claim, place);
}

Result<> move_in(Desk& desk, Instance& instance) {
    const Claim& held = desk.estate.claims.at(instance.claim);
    instance.host = held.host;
    instance.zone = held.zone;
    if (instance.spec.loss_policy == LossPolicy::move) instance.lease_ms = desk.settings.move_lease.count();
    const auto before = desk.pool.place_of(instance.address);  // Of its last run, if there was one.
    auto in = subnet_for(desk, {instance.tenant, instance.project, instance.host},
                         before ? std::optional{before->index} : std::nullopt);
    if (!in) {
        // Nothing has been committed: the place is given back before anyone hears of it.
        if (!instance.slot.empty())
            refill(desk, instance.slot);
        else
            desk.estate.release(instance.claim);
        fill_stock(desk);
        return std::unexpected(std::move(in).error());
    }
    instance.subnet = (*in)->id;
    if (before && before->index == (*in)->index) take_address(desk, instance.claim, before->place);
    instance.address = desk.pool.address((*in)->index, desk.estate.claims.at(instance.claim).address_index);
    instance.reason = "placed";
    instance.message = fmt::format("placed on host {}", instance.host);
    leave_layer(desk, instance);
    bind_volumes(desk, instance);
    desk.estate.event(
        "instance", instance.id, instance.tenant, "placed",
        fmt::format("Instance {}{} was placed on host {} {}.", instance.caller_id,
                    instance.owner ? fmt::format(" of {} {}", instance.owner->kind, instance.owner->id) : "",
                    instance.host, instance.slot.empty() ? "directly" : "from stock"));
    return {};
}

void let_go(Desk& desk, const std::string& id) {
    Instance& instance = desk.estate.instances.edit(id);
    if (!instance.slot.empty())
        refill(desk, instance.slot);
    else if (!instance.claim.empty())
        desk.estate.release(instance.claim);
    instance.claim.clear();
    instance.slot.clear();
    const std::string subnet = std::exchange(instance.subnet, {});
    leave_subnet(desk, subnet);
    fill_stock(desk);
}

}  // namespace hostler::master
