#include "roles/master/state/indexes.h"

#include "domain/instance/life.h"
#include "domain/inventory/admission.h"

namespace hostler::master {

namespace {

using Texts = std::vector<std::string>;

template <class Key>
std::vector<Key> one(Key key) {
    std::vector<Key> keys;
    keys.push_back(std::move(key));
    return keys;
}

template <class Key>
std::vector<Key> one_if(bool there, Key key) {
    return there ? one(std::move(key)) : std::vector<Key>{};
}

Texts unless_empty(const std::string& key) { return one_if(!key.empty(), key); }

template <class Key>
std::vector<Key> once_each(std::vector<Key> keys) {
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    return keys;
}

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
    if (!instance.claim.empty()) return one(InstanceWork::reconcile);
    return one_if(instance.left.empty(), InstanceWork::archive);
}

std::vector<VolumeWork> work_of(const Volume& volume) {
    return one_if(volume.phase == VolumePhase::creating || volume.phase == VolumePhase::deleting ||
                      volume.wanted_bytes > 0,
                  VolumeWork::act);
}

std::vector<SubnetWork> work_of(const Subnet& subnet) {
    std::vector<SubnetWork> work = one_if(subnet.leaving && !subnet.unusable, SubnetWork::remove);
    if (subnet.foreign) work.push_back(SubnetWork::see_if_still_foreign);
    return work;
}

bool is_there(const Host& host) { return host.phase != HostPhase::retired; }

Texts gpus_of(const Host& host) {
    Texts gpus;
    if (!is_there(host)) return gpus;
    for (const GpuFacts& gpu : host.facts.gpus) gpus.push_back(gpu.uuid);
    return once_each(std::move(gpus));
}

std::vector<std::int64_t> prove_at(const Host& host) {
    const bool can = is_there(host) && host.facts.measures && host.facts.unmeasurable.empty() &&
                     std::ranges::any_of(host.facts.gpus,
                                         [&](const GpuFacts& gpu) { return can_prove(host.admission, gpu); });
    return one_if(can, host.admission.prove_next);
}

}  // namespace

std::int64_t whole_disk(const Host& host) {
    if (host.phase == HostPhase::retired || !host.facts.volumes_refused.empty()) return 0;
    return std::max(host.facts.volume_bytes, host.facts.disk_bytes - volume_kept_free(host.facts.disk_bytes));
}

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
      may_be_unused([](const Instance& row) {
          return one_if(row.schedule.inactivity_s > 0 && row.phase == InstancePhase::running, true);
      }),
      work([](const Instance& row) { return work_of(row); }) {}

Indexes<Claim>::Indexes()
    : host([](const Claim& row) { return one(row.host); }),
      holder([](const Claim& row) { return unless_empty(row.holder); }),
      use([](const Claim& row) {
          return one_if(row.use != ClaimUse::instance && row.use != ClaimUse::stock, row.use);
      }),
      foreign_subnet([](const Claim& row) {
          return row.use == ClaimUse::foreign ? unless_empty(row.subnet) : Texts{};
      }) {}

Indexes<HostCommand>::Indexes()
    : subject([](const HostCommand& row) { return one(row.subject); }),
      host([](const HostCommand& row) { return one(row.host); }),
      verb([](const HostCommand& row) { return one(row.verb); }),
      expires_at([](const HostCommand& row) { return one(row.expires_at); }) {}

Indexes<Subnet>::Indexes()
    : place([](const Subnet& row) { return one(OfTenant{row.tenant, row.host}); }),
      host([](const Subnet& row) { return one(row.host); }),
      network([](const Subnet& row) { return one(row.network); }),
      number([](const Subnet& row) { return one(row.index); }),
      work([](const Subnet& row) { return work_of(row); }) {}

Indexes<Network>::Indexes()
    : tenant([](const Network& row) { return one(row.tenant); }),
      name([](const Network& row) { return one(row.name); }) {}

Indexes<Volume>::Indexes()
    : host([](const Volume& row) { return unless_empty(row.host); }),
      tenant([](const Volume& row) { return one(row.tenant); }),
      name([](const Volume& row) { return one(row.name); }),
      tenant_name([](const Volume& row) { return one(OfTenant{row.tenant, row.name}); }),
      work([](const Volume& row) { return work_of(row); }) {}

Indexes<Slot>::Indexes()
    : spec([](const Slot& row) { return one(row.spec); }),
      idle_spec([](const Slot& row) { return one_if(row.phase == SlotPhase::idle, row.spec); }),
      phase([](const Slot& row) { return one_if(row.phase != SlotPhase::used, row.phase); }) {}

Indexes<Host>::Indexes()
    : name([](const Host& row) { return one_if(is_there(row), row.facts.hostname); }),
      gpu(gpus_of),
      zone([](const Host& row) { return one_if(is_there(row), row.zone); }),
      disk([](const Host& row) {
          const std::int64_t bytes = whole_disk(row);
          return std::vector<std::pair<std::string, std::int64_t>>{{"", bytes}, {row.zone, bytes}};
      }),
      prove_at(master::prove_at),
      work([](const Host& row) {
          return one_if(is_there(row) && measuring_due(row.facts, row.admission), HostWork::measure);
      }) {}

Indexes<HostToken>::Indexes()
    : hash([](const HostToken& row) { return one(row.hash); }),
      expires_at([](const HostToken& row) { return one(row.expires_at); }) {}

Indexes<ApiKey>::Indexes() : hash([](const ApiKey& row) { return one(row.hash); }) {}

Indexes<SignIn>::Indexes() : expires_at([](const SignIn& row) { return one(row.expires_at); }) {}

Indexes<Share>::Indexes()
    : instance([](const Share& row) { return one(row.instance); }),
      hash([](const Share& row) { return one(row.hash); }),
      expires_at([](const Share& row) { return one(row.expires_at); }) {}

Indexes<Secret>::Indexes()
    : tenant([](const Secret& row) { return one(row.tenant); }),
      name([](const Secret& row) { return one(row.name); }) {}

Indexes<Answer>::Indexes() : expires_at([](const Answer& row) { return one(row.expires_at); }) {}

Indexes<LongOperation>::Indexes()
    : running_on(
          [](const LongOperation& row) { return one_if(row.phase == OperationPhase::running, row.subject); }),
      work([](const LongOperation& row) {
          return one_if(row.phase == OperationPhase::running, OperationWork::wait);
      }),
      ended_at([](const LongOperation& row) {
          return one_if(row.phase != OperationPhase::running, row.ended_at);
      }) {}

}  // namespace hostler::master
