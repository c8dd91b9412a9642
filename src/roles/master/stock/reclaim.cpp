#include "roles/master/stock/reclaim.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_stock.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/stock/slots.h"
#include "roles/master/stock/specs.h"

namespace hostler::master {

Result<> update_stock(Desk& desk, const api::UpdateStock& request) {
    const Spec* now = TRY(spec_named(desk, request.spec));
    Reclaim reclaim = now->reclaim;
    if (request.reclaim) reclaim = *request.reclaim == api::Reclaim::idle ? Reclaim::idle : Reclaim::never;
    const int keep = request.keep.value_or(now->keep);
    if (reclaim == now->reclaim && keep == now->keep) return {};
    Spec& spec = desk.estate.specs.edit(request.spec);
    spec.reclaim = reclaim;
    spec.keep = keep;
    desk.estate.event("stock", request.spec, "", "policy_changed",
                      reclaim == Reclaim::never
                          ? "Its idle slots are not given up."
                          : fmt::format("Its idle slots are given up, but for {}.", keep));
    return {};
}

IdleStock idle_stock(const Desk& desk) {
    std::map<std::string, std::vector<const Slot*>> by_host;
    std::map<std::string, int> ready;
    for (const Slot* idle : desk.estate.slots.by().phase.of(SlotPhase::idle)) {
        const Slot& slot = *idle;
        const Claim& held = desk.estate.claims.at(slot.claim);
        const Host* host = desk.estate.hosts.find(held.host);
        if (!host || !unavailable(desk, *host).empty() || !fit(desk, held) || used_by_foreign(desk, held))
            continue;
        by_host[held.host].push_back(&slot);
        ++ready[slot.spec];
    }
    IdleStock stock;
    for (const auto& [name, number] : ready) {
        const Spec& spec = desk.estate.specs.at(name);
        stock.may_go[name] = spec.reclaim == Reclaim::never ? 0 : std::max(number - spec.keep, 0);
    }
    for (auto& [id, slots] : by_host) {
        // The oldest stay.
        std::ranges::sort(slots, std::greater{},
                          [](const Slot* slot) { return std::pair{slot->meta.created, slot->id}; });
        const Host& host = desk.estate.hosts.at(id);
        for (const Slot* slot : slots) {
            const Claim& held = desk.estate.claims.at(slot->claim);
            Spare spare{.id = held.id,
                        .kind = slot->spec,
                        .cpu_milli = held.cpu_milli,
                        .memory_bytes = held.memory_bytes};
            for (const GpuFacts& gpu : host.facts.gpus)
                if (std::ranges::count(held.gpus, gpu.uuid) > 0)
                    spare.gpus.push_back({gpu.uuid, gpu.model, gpu.memory_bytes, gpu.numa_node});
            stock.by_host[id].push_back(std::move(spare));
        }
    }
    return stock;
}

void give_way(Desk& desk, const std::vector<std::string>& claims, const Instance& to) {
    give_way(desk, claims, to.id, fmt::format("instance {} ({}) of {}", to.caller_id, to.id, to.tenant));
}

void give_way(Desk& desk, const std::vector<std::string>& claims, const std::string& to,
              const std::string& words) {
    for (const std::string& claim : claims) {
        const Claim held = desk.estate.claims.at(claim);
        displace(desk, held.holder);
        Slot& slot = desk.estate.slots.edit(held.holder);
        slot.gave_way = to;
        slot.message = why_it_waits(slot, "");
        desk.estate.event("stock", slot.spec, "", "slot_gave_way",
                          fmt::format("Slot {} on {} was reclaimed for {}.", slot.id, held.host, words));
    }
}

}  // namespace hostler::master
