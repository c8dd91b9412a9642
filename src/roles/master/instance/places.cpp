#include "roles/master/instance/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/instance/failover.h"
#include "roles/master/policy/policies.h"
#include "roles/master/quota/amounts.h"
#include "roles/master/quota/enforce.h"
#include "roles/master/scheduler/capacity.h"
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
        return may_run_at(desk, instance, id) &&
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

}  // namespace hostler::master
