// What hosts and gateways are told.
#include <fmt/format.h>

#include <algorithm>

#include "proto/uplink.pb.h"
#include "roles/master/benchmark/qualification.h"
#include "roles/master/cluster/saves.h"
#include "roles/master/container/containers.h"
#include "roles/master/policy/policies.h"
#include "roles/master/run/layers.h"
#include "roles/master/run/left.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/share/shares.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/uplink/messages.h"
#include "roles/master/zone/access_points.h"

namespace hostler::master {

namespace {

void write_network(const Desk& desk, const Subnet& subnet, uplink::EnsureNetwork& into) {
    into.set_network(subnet.id);
    into.set_subnet(desk.pool.subnet(subnet.index));
    into.set_gateway(desk.pool.address(subnet.index, 1));
}

// Of one that is not known any more as well.
std::int64_t grace_ms(const Desk& desk, const Instance* instance) {
    return std::chrono::milliseconds{instance ? stop_grace_of(desk, *instance) : desk.settings.stop_grace}
        .count();
}

bool write_start(const Desk& desk, const Instance& instance, uplink::StartWorkload& into) {
    const Claim* claim = desk.estate.claims.find(instance.claim);
    const Subnet* subnet = desk.estate.subnets.find(instance.subnet);
    if (!claim || !subnet) return false;
    into.set_instance(instance.id);
    into.set_tenant(instance.tenant);
    into.set_project(instance.project);
    into.set_name(instance.caller_id);
    into.set_image(instance.spec.image);
    for (const std::string& word : instance.spec.command) into.add_command(word);
    into.set_replaces_entrypoint(instance.spec.replaces_entrypoint);
    for (const std::string& word : instance.spec.entrypoint) into.add_entrypoint(word);
    into.set_no_init(instance.spec.no_init);
    into.set_program(instance.spec.program);
    into.set_shm_bytes(shm_bytes_of(desk, instance));
    for (const InstanceVariable& variable : instance.spec.environment) {
        auto& added = *into.add_environment();
        added.set_name(variable.name);
        added.set_value(variable.value);
    }
    into.set_cpu_milli(claim->cpu_milli);
    into.set_memory_bytes(claim->memory_bytes);
    into.set_pids_max(desk.settings.pids_max);
    into.set_disk_bytes(desk.settings.instance_disk_bytes);
    into.set_disk_limit_required(desk.settings.require_disk_limit);
    into.set_keep_layer(keeps_its_layer(instance));
    for (const std::string& gpu : claim->gpus) into.add_gpus(gpu);
    if (!instance.spec.program) {
        write_network(desk, *subnet, *into.mutable_network());
        into.set_address(instance.address);
    }
    for (const InstancePort& port : instance.spec.ports) {
        auto& added = *into.add_ports();
        added.set_port(static_cast<std::uint32_t>(port.port));
        added.set_protocol(port.protocol);
        added.set_probe(port.is_probe);
        if (port.is_probe) added.set_probe_path(port.base_url);
    }
    for (const InstanceVolume& volume : instance.spec.volumes) {
        auto& added = *into.add_mounts();
        added.set_volume(volume.volume);
        added.set_path(volume.path);
        added.set_read_only(volume.read_only);
    }
    into.set_stop_grace_ms(grace_ms(desk, &instance));
    into.set_jupyter_port(static_cast<std::uint32_t>(instance.spec.jupyter_port));
    into.set_jupyter_path(instance.spec.jupyter_path);
    into.set_ready_deadline_ms(std::chrono::milliseconds{desk.settings.ready_deadline}.count());
    if (instance.spec.loss_policy == LossPolicy::move) {
        const auto live = desk.live.hosts.find(instance.host);
        if (live == desk.live.hosts.end() || !live->second.keeps_leases) return false;
        // From what it has said itself: a copy of this that comes late is of no use.
        auto& lease = *into.mutable_lease();
        lease.set_boot_id(live->second.boot_id);
        lease.set_stamp_us(live->second.stamp_us);
        lease.set_length_ms(static_cast<std::uint64_t>(instance.lease_ms));
    }
    return true;
}

// Whoever may not have them gets no start: an older agent would write them down, and give its containers
// none.
bool write_secrets(const Desk& desk, const Instance& instance, uplink::StartWorkload& into) {
    if (!needs_secrets(desk, instance)) return true;
    const auto live = desk.live.hosts.find(instance.host);
    const auto given = given_secrets(desk, instance);
    if (!given || live == desk.live.hosts.end() || !live->second.takes_secrets) return false;
    into.set_has_secrets(true);
    for (const GivenSecret& one : *given) {
        auto& added = *into.add_secrets();
        added.set_variable(one.variable);
        added.set_path(one.path);
        added.set_value(one.value->value);
    }
    const Secret* login = login_for(desk, instance);
    const SecretValue* password = login ? find_value(*login, Secret::password) : nullptr;
    if (!password) return true;
    into.mutable_login()->set_server(login->server);
    into.mutable_login()->set_username(login->username);
    into.mutable_login()->set_password(password->value);
    return true;
}

// Of a run that is past nothing is told.
bool write_node_command(const Desk& desk, const HostCommand& command, uplink::Command& into) {
    const ClusterNode* node = desk.estate.cluster_nodes.find(command.subject);
    const ClusterSave* save = desk.estate.cluster_saves.find(command.subject);
    if ((!node || node->run != command.subject_generation) &&
        (!save || save->run != command.subject_generation))
        return false;
    const auto told = node ? told_of(desk, *node) : told_of(desk, *save);
    if (!told) return false;
    if (command.verb == Verb::node_clean) {
        into.mutable_node_clean()->set_driver(told->driver);
        into.mutable_node_clean()->set_driver_digest(told->digest);
        return true;
    }
    auto& step = *into.mutable_node_step();
    step.set_cluster(told->cluster);
    step.set_driver(told->driver);
    step.set_driver_digest(told->digest);
    step.set_name(told->name);
    for (const auto& [name, value] : told->values) (*step.mutable_values())[name] = value;
    step.set_again(told->again);
    return true;
}

}  // namespace

bool write_command(const Desk& desk, std::uint64_t epoch, const HostCommand& command, uplink::Command& into) {
    into.set_id(command.id);
    into.set_epoch(epoch);
    into.set_subject(command.subject);
    into.set_generation(command.subject_generation);
    into.set_expires(command.expires_at);
    switch (command.verb) {
        case Verb::start_workload: {
            const Instance* instance = desk.estate.instances.find(command.subject);
            return instance && instance->meta.generation == command.subject_generation &&
                   write_start(desk, *instance, *into.mutable_start_workload()) &&
                   write_secrets(desk, *instance, *into.mutable_start_workload());
        }
        case Verb::stop_workload: {
            const Instance* instance = desk.estate.instances.find(command.subject);
            auto& stop = *into.mutable_stop_workload();
            stop.set_instance(command.subject);
            stop.set_grace_ms(grace_ms(desk, instance));
            stop.set_keep_layer(instance && keeps_its_layer(*instance) && instance->host == command.host);
            return true;
        }
        case Verb::stop_left:
            into.set_subject(left_instance(command.subject));
            into.mutable_stop_workload()->set_instance(into.subject());
            into.mutable_stop_workload()->set_grace_ms(
                grace_ms(desk, desk.estate.instances.find(into.subject())));
            return true;
        case Verb::stop_unused: {
            const Instance* instance = desk.estate.instances.find(command.subject);
            // Its owner may have changed his mind.
            if (!instance || instance->schedule.inactivity_s == 0 ||
                instance->schedule.kept_until > desk.estate.micros())
                return false;
            auto& stop = *into.mutable_stop_workload();
            stop.set_instance(command.subject);
            stop.set_grace_ms(grace_ms(desk, instance));
            stop.set_keep_layer(may_keep_layer(desk, *instance));
            stop.set_if_unused_ms(static_cast<std::uint64_t>(instance->schedule.inactivity_s) * 1000);
            return true;
        }
        case Verb::create_volume: {
            const Volume* volume = desk.estate.volumes.find(command.subject);
            if (!volume) return false;
            into.mutable_create_volume()->set_volume(volume->id);
            into.mutable_create_volume()->set_size_bytes(
                static_cast<std::uint64_t>(std::max(volume->size_bytes, volume->wanted_bytes)));
            return true;
        }
        case Verb::delete_volume: into.mutable_delete_volume()->set_volume(command.subject); return true;
        case Verb::pull_image: into.mutable_pull_image()->set_image(command.image); return true;
        case Verb::test_gpu: into.mutable_test_gpu()->set_gpu(command.subject); return true;
        case Verb::measure_host: {
            const Host* host = desk.estate.hosts.find(command.subject);
            if (!host) return false;
            into.mutable_measure_host()->set_gpus(host->facts.unmeasurable.empty());
            return true;
        }
        case Verb::prove_gpus: {
            const GpuChallenge challenge = challenge_of(desk, command.id);
            auto& asked = *into.mutable_prove_gpus();
            asked.set_seed(challenge.seed);
            asked.set_rounds(challenge.rounds);
            asked.set_steps(challenge.steps);
            asked.set_walkers(challenge.walkers);
            return true;
        }
        case Verb::node_step:
        case Verb::node_clean: return write_node_command(desk, command, into);
        case Verb::remove_network: into.mutable_remove_network()->set_network(command.subject); return true;
    }
    return false;
}

void write_routes(const Desk& desk, const Instance& instance, uplink::Routes& routes) {
    const bool may_be_public = allows_public_ports(policies_of(desk, instance.tenant)) &&
                               !is_disabled(desk, instance.tenant, instance.project);
    for (const InstancePort& port : instance.spec.ports) {
        auto& route = *routes.add_routes();
        route.set_name(route_name(instance, port.port));
        route.set_own_port(static_cast<std::uint32_t>(port.own_port));
        route.set_tenant(instance.tenant);
        route.set_project(instance.project);
        route.set_instance(instance.id);
        route.set_generation(instance.run_generation);
        route.set_port(static_cast<std::uint32_t>(port.port));
        route.set_open_to_all(port.is_public && may_be_public);
        const bool rests = instance.phase == InstancePhase::resting;
        route.set_state(rests ? "resting" : std::string{state_of(instance.phase)});
        route.set_detail(instance.message);
        if (rests)
            route.set_detail(fmt::format("Why: {}.\nStart it again: hostler instance start {}",
                                         instance.message, instance.caller_id));
        route.set_host(instance.host);
        write_ways(desk, instance.host, route);
        route.set_shown_as(instance.caller_id);
    }
}

}  // namespace hostler::master
