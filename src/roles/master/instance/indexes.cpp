#include "roles/master/instance/indexes.h"

#include "domain/instance/life.h"
#include "domain/inventory/drain.h"
#include "roles/master/state/index_keys.h"

namespace hostler::master {

namespace {

Texts subnets_of(const Instance& instance) {
    Texts subnets = unless_empty(instance.subnet);
    for (const LeftPlace& place : instance.left)
        if (!place.subnet.empty()) subnets.push_back(place.subnet);
    return once_each(std::move(subnets));
}

Texts left_hosts_of(const Instance& instance) {
    Texts hosts;
    for (const LeftPlace& place : instance.left) hosts.push_back(place.host);
    return once_each(std::move(hosts));
}

Texts volumes_of(const Instance& instance) {
    Texts volumes;
    for (const InstanceVolume& mount : instance.spec.volumes) volumes.push_back(mount.volume);
    return once_each(std::move(volumes));
}

std::vector<OfTenant> owner_of(const Instance& instance) {
    if (!instance.owner) return {};
    const std::string &kind = instance.owner->kind, path = instance.owner->path();
    return {{"", kind}, {"", path}, {instance.tenant, kind}, {instance.tenant, path}};
}

std::vector<std::uint32_t> ports_of(const Instance& instance) {
    std::vector<std::uint32_t> ports;
    for (const InstancePort& port : instance.spec.ports)
        if (port.own_port > 0) ports.push_back(static_cast<std::uint32_t>(port.own_port));
    return once_each(std::move(ports));
}

// See follow_schedules().
std::vector<std::int64_t> stops_at(const Instance& instance) {
    constexpr std::int64_t second = 1'000'000;
    const StopSchedule& schedule = instance.schedule;
    if (!next(instance_life, instance.phase, InstanceEvent::halt)) return {};
    std::optional<std::int64_t> first;
    const auto consider = [&](std::int64_t at) { first = std::min(first.value_or(at), at); };
    if (instance.told_of_stop != 0) consider(0);  // That may be taken back.
    if (schedule.max_run_s > 0 && instance.phase == InstancePhase::running && instance.ran_since > 0)
        consider(std::max(instance.ran_since + schedule.max_run_s * second, schedule.kept_until));
    if (schedule.stop_at > 0) consider(std::max(schedule.stop_at, schedule.kept_until));
    return first ? one(*first) : std::vector<std::int64_t>{};
}

std::vector<InstanceWork> work_of(const Instance& instance) {
    switch (instance.phase) {
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::halting:
        case InstancePhase::stopping: return one(InstanceWork::reconcile);
        case InstancePhase::running: return {};
        case InstancePhase::lost:
            return one_if(instance.spec.loss_policy == LossPolicy::move && !instance.claim.empty(),
                          InstanceWork::move);
        case InstancePhase::resting:
            return one_if(instance.reason == drained && instance.spec.loss_policy == LossPolicy::move &&
                              instance.spec.volumes.empty(),
                          InstanceWork::go_on);
        case InstancePhase::stopped:
        case InstancePhase::failed: break;
    }
    return one_if(!instance.claim.empty(), InstanceWork::reconcile);
}

bool holds_nothing(const Instance& instance) {
    return is_final(instance.phase) && instance.claim.empty() && instance.left.empty();
}

}  // namespace

Indexes<Instance>::Indexes()
    : host([](const Instance& row) { return unless_empty(row.host); }),
      left_host(left_hosts_of),
      layer_host([](const Instance& row) { return unless_empty(row.layer_host); }),
      subnet(subnets_of),
      resting([](const Instance& row) {
          return one_if(row.phase == InstancePhase::resting, OfTenant{row.tenant, row.host});
      }),
      name([](const Instance& row) {
          return one_if(!row.name_passed_on, OfTenant{row.tenant, row.caller_id});
      }),
      shown_name([](const Instance& row) { return one(row.name_passed_on ? row.id : row.caller_id); }),
      tenant([](const Instance& row) { return one(row.tenant); }),
      spec([](const Instance& row) { return one(row.spec_name); }),
      volume(volumes_of),
      owner(owner_of),
      port([](const Instance& row) {
          return is_final(row.phase) ? std::vector<std::uint32_t>{} : ports_of(row);
      }),
      ended_port([](const Instance& row) {
          return is_final(row.phase) ? ports_of(row) : std::vector<std::uint32_t>{};
      }),
      stops_at(master::stops_at),
      work([](const Instance& row) { return work_of(row); }),
      ended([](const Instance& row) {
          return one_if(holds_nothing(row) && !is_repairable(row), row.ended_at);
      }),
      repairable([](const Instance& row) {
          return one_if(holds_nothing(row) && is_repairable(row), row.ended_at);
      }) {}

}  // namespace hostler::master
