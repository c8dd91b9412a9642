// What tenants were told, compared with what is.
#include <fmt/format.h>

#include <algorithm>

#include "roles/master/instance/lifecycle.h"
#include "tenants.h"

namespace hostler::simulation {

void Tenants::check(const master::Term& term) const {
    const auto& desk = term.look();
    for (const auto& [tenant_name, tenant] : all) {
        for (const auto& [name, wanted] : tenant.instances) {
            const Instance* instance = master::find_instance(desk, tenant_name, name);
            if (wanted.start == Wish::acknowledged && !instance &&
                !cloud.store_ledger.has_ended(tenant_name, name))
                cloud.found.report(Invariant::durable,
                                   fmt::format("instance {} was acknowledged and is gone", name));
            if (wanted.stop_acknowledged && instance && !is_final(instance->phase) &&
                instance->phase != InstancePhase::stopping)
                cloud.found.report(Invariant::durable, fmt::format("instance {} was stopped, and is {}", name,
                                                                   state_of(instance->phase)));
            if (wanted.start == Wish::refused && instance)
                cloud.found.report(Invariant::durable,
                                   fmt::format("instance {} was refused, and is there", name));
        }
        for (const auto& [name, wanted] : tenant.volumes) {
            if (wanted.create != Wish::acknowledged || wanted.delete_asked) continue;
            const bool there = std::ranges::any_of(desk.estate.volumes.all(), [&](const auto& row) {
                return row.second.name == name && row.second.size_bytes >= wanted.size_bytes();
            });
            if (!there)
                cloud.found.report(Invariant::durable,
                                   fmt::format("volume {} of {} bytes was acknowledged and is gone, or less",
                                               name, wanted.size_bytes()));
        }
    }
    const int slots = static_cast<int>(desk.estate.slots.all().size());
    if (slots < stock_acknowledged - stock_asked_min || slots > stock_acknowledged + stock_asked_max)
        cloud.found.report(Invariant::durable, fmt::format("{} slots are there, {} were acknowledged", slots,
                                                           stock_acknowledged));
}

void Tenants::check_idle(const master::Term& term) const {
    for (const auto& [tenant_name, tenant] : all) {
        for (const auto& [name, wanted] : tenant.instances) {
            const Instance* instance = master::find_instance(term.look(), tenant_name, name);
            if (!instance || has_place(instance->phase) || is_final(instance->phase)) continue;
            if (instance->reason != "unused" || wanted.used == Instant{}) continue;
            const auto unused = cloud.world.timers.now() - wanted.used;
            if (unused < std::chrono::seconds{wanted.unused_s})
                cloud.found.report(
                    Invariant::idle,
                    fmt::format("{} was opened {} ms ago and is stopped, for nobody has used it for {} s",
                                name, std::chrono::duration_cast<std::chrono::milliseconds>(unused).count(),
                                wanted.unused_s));
        }
    }
}

std::string Tenants::unsettled(const master::Term& term) const {
    for (const auto& [tenant_name, tenant] : all) {
        for (const auto& [name, wanted] : tenant.instances) {
            const Instance* instance = master::find_instance(term.look(), tenant_name, name);
            if (!instance || cloud.spared(Invariant::settled).contains(instance->id)) continue;
            if (wanted.unused_s > 0 && has_place(instance->phase))
                return fmt::format("nobody uses {}, and it is {}", name, state_of(instance->phase));
            if (wanted.stop_acknowledged && !is_final(instance->phase))
                return fmt::format("{} was stopped and is {}", name, state_of(instance->phase));
            if (is_final(instance->phase) && !wanted.stop_asked && instance->phase == InstancePhase::stopped)
                return fmt::format("{} is stopped, and nobody has asked for it: {}", name, instance->message);
        }
    }
    return {};
}

}  // namespace hostler::simulation
