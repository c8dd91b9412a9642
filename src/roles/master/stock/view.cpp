#include "roles/master/stock/view.h"

#include <fmt/format.h>

#include "api/types_spec.h"
#include "api/types_stock.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/views.h"
#include "roles/master/stock/images.h"

namespace hostler::master {

api::Spec view(const Spec& spec) {
    return {.name = spec.name,
            .cpu = spec.cpu,
            .memory = spec.memory,
            .gpu_type = spec.gpu_type,
            .gpu_num = spec.gpu_count,
            .created_at = wall(spec.created_at)};
}

api::Stock view_stock(const Desk& desk, const Spec& spec) {
    api::Stock shown{.spec_name = spec.name};
    shown.reclaim = spec.reclaim == Reclaim::idle ? api::Reclaim::idle : api::Reclaim::never;
    shown.keep = spec.keep;
    std::map<std::string, api::StockInZone> zones;
    for (const Slot* wanted : desk.estate.slots.by().spec.of(spec.name)) {
        const Slot& slot = *wanted;
        const Claim* claim = desk.estate.claims.find(slot.claim);
        const std::string zone = claim ? claim->zone : slot.zone;
        const Host* host = claim ? desk.estate.hosts.find(claim->host) : nullptr;
        api::StockInZone& in = zones[zone];
        in.zone = zone;
        const auto count = [&](int& a, int& b) { ++a, ++b; };
        count(shown.wanted, in.wanted);
        switch (slot.phase) {
            case SlotPhase::used: count(shown.in_use, in.in_use); break;
            case SlotPhase::pending:
                count(shown.missing, in.missing);
                shown.reason = slot.gave_way.empty() ? "insufficient_capacity" : "gave_way";
                shown.message = slot.message;
                break;
            case SlotPhase::idle:
                host&& unavailable(desk, *host).empty() ? count(shown.idle, in.idle)
                                                        : count(shown.preparing, in.preparing);
                break;
        }
    }
    for (auto& [name, zone] : zones) shown.zones.push_back(std::move(zone));
    int hosts = 0, present = 0;
    for (PreparedImage& one : prepared_images(desk, spec.name)) {
        hosts += one.hosts;
        present += one.present;
        shown.images.push_back({.image = std::move(one.image),
                                .template_ = std::move(one.template_name),
                                .hosts = one.hosts,
                                .present = one.present,
                                .pulling = one.pulling,
                                .failed = one.failed,
                                .reason = std::move(one.reason),
                                .message = std::move(one.message)});
    }
    if (!shown.images.empty()) shown.images_present = fmt::format("{} of {}", present, hosts);
    return shown;
}

}  // namespace hostler::master
