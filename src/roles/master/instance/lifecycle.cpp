#include "roles/master/instance/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/types_instance.h"
#include "roles/master/command/commands.h"
#include "roles/master/container/containers.h"
#include "roles/master/container/memory.h"
#include "roles/master/container/shell_words.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/failover.h"
#include "roles/master/instance/layers.h"
#include "roles/master/instance/stop_start.h"
#include "roles/master/network/subnets.h"
#include "roles/master/policy/policies.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/state/host_blocks.h"
#include "roles/master/state/near.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"
#include "roles/master/template/templates.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

std::vector<InstancePort> ports_of(const Desk& desk, const api::Template& from,
                                   std::vector<FieldError>& wrong) {
    std::vector<InstancePort> ports;
    std::set<int> seen;
    for (std::size_t i = 0; i < from.ports.size(); ++i) {
        const api::Port& port = from.ports[i];
        const std::string path = fmt::format("template.ports[{}]", i);
        if (port.protocol != api::Protocol::TCP) wrong.push_back({path + ".protocol", "only TCP is served"});
        if (!seen.insert(port.port).second) wrong.push_back({path + ".port", "is given twice"});
        ports.push_back({.port = port.port,
                         .is_public = port.is_public,
                         .is_probe = port.is_probe,
                         .base_url = port.base_url});
    }
    return ports;
}

Result<InstanceSpec> spec_of(const Desk& desk, const api::CreateInstance& request, std::string& zone,
                             std::string& host, StopSchedule& schedule) {
    std::vector<FieldError> wrong;
    InstanceSpec spec;
    spec.image = request.image;
    spec.template_name = request.template_name;
    spec.zone = request.zone.value_or("");
    if (const InstanceTemplate* from = find_template(desk.settings.templates, request.template_name)) {
        spec.jupyter_port = from->jupyter_port;
        spec.jupyter_path = from->jupyter_path;
    }
    const Spec* shape = desk.estate.specs.find(request.spec_name);
    if (!shape) wrong.push_back({"specName", no_such_in(desk.estate.specs, "spec", request.spec_name)});
    if (request.zone && !desk.estate.zones.find(*request.zone))
        wrong.push_back({"zone", no_such_in(desk.estate.zones, "zone", *request.zone)});
    if (auto words = shell_words(request.template_.cmd))
        spec.command = std::move(*words);
    else
        wrong.push_back({"template.cmd", words.error().message});
    read_container(desk, {request.entrypoint, request.shm_size, request.stop_grace_seconds, request.no_init},
                   shape ? shape->memory_bytes : 0, spec, wrong);
    check_command(spec, "template.cmd", wrong);
    std::set<std::string> names;
    for (std::size_t i = 0; i < request.template_.envs.size(); ++i) {
        const auto& env = request.template_.envs[i];
        if (!names.insert(env.name).second)
            wrong.push_back({fmt::format("template.envs[{}].name", i), "is given twice"});
        spec.environment.push_back({env.name, env.value});
    }
    spec.secrets = secrets_of(desk, request, wrong);
    spec.ports = ports_of(desk, request.template_, wrong);
    spec.volumes = mounts_of(desk, request, zone, host, wrong);
    spec.loss_policy = request.loss_policy == api::LossPolicy::move ? LossPolicy::move : LossPolicy::stay;
    if (spec.loss_policy == LossPolicy::move && !spec.volumes.empty())
        wrong.push_back({"lossPolicy",
                         "move is not for instances with volumes: they lie on one host, and have no other "
                         "writer until that host has confirmed that the instance has stopped"});
    read_schedule(desk, request.inactivity_timeout_seconds, request.max_run_seconds, request.stop_at,
                  schedule, wrong);
    if (request.placement) {
        spec.placement = wishes_of(desk, *request.placement, "placement.", wrong);
        const auto& zones = spec.placement->terms.zones;
        if (!zone.empty() && !zones.empty() && std::ranges::count(zones, zone) == 0)
            wrong.push_back({"placement.zones", fmt::format("its volumes are in zone {}", zone)});
    }
    TRY(all_right(std::move(wrong)));
    TRY(give_own_ports(desk, spec.ports));
    return spec;
}

// What an earlier run of it did is no word about this one. (0: its host does not say which run it saw.)
bool is_of_earlier_run(const Desk& desk, const Instance& instance) {
    const auto host = desk.live.hosts.find(instance.host);
    if (host == desk.live.hosts.end()) return false;
    const auto workload = host->second.workloads.find(instance.id);
    return workload != host->second.workloads.end() && workload->second.generation != 0 &&
           workload->second.generation < instance.run_generation;
}

void end(Desk& desk, Instance& instance) {
    if (instance.ended_at == 0) instance.ended_at = desk.estate.micros();
    // From here on nobody pays for it, and yet nobody else gets it before the host says that nothing runs.
    if (!instance.claim.empty())
        desk.estate.pass_on(instance.claim, ClaimUse::leaving,
                            {instance.tenant, instance.project, instance.id, instance.created_by});
}

// Nothing of it is on its host.
void note_absence(Desk& desk, const Instance& instance) {
    const std::string id = instance.id;
    if (instance.phase == InstancePhase::halting)  // Why it rests was said when it was halted.
        note(desk, id, InstanceEvent::absent, std::string{instance.reason}, std::string{instance.message});
    else if (instance.phase == InstancePhase::stopping)
        note(desk, id, InstanceEvent::absent, "stopped", "it was asked to stop");
    else
        note(desk, id, InstanceEvent::absent, "disappeared", "its container is no longer on the host");
}

}  // namespace

namespace {

enum class PortsOfEnded { left_alone, used };

// The lowest that no instance has and that is not one of these; 0: none.
int free_port(const Desk& desk, const std::set<int>& taken, PortsOfEnded of_ended) {
    const auto& by = desk.estate.instances.by();
    auto port = static_cast<std::uint64_t>(desk.settings.own_port_min);
    while (port <= static_cast<std::uint64_t>(desk.settings.own_port_max)) {
        const std::uint64_t before = port;
        port = by.port.lowest_free(static_cast<std::uint32_t>(port));
        if (of_ended == PortsOfEnded::left_alone)
            port = by.ended_port.lowest_free(static_cast<std::uint32_t>(port));
        if (taken.contains(static_cast<int>(port))) ++port;
        if (port == before) return static_cast<int>(port);
    }
    return 0;
}

}  // namespace

Result<> give_own_ports(const Desk& desk, std::vector<InstancePort>& ports) {
    const bool wanted = std::ranges::any_of(desk.estate.gateways.all(),
                                            [](const auto& row) { return row.second.domain.empty(); });
    if (!wanted) return {};
    // Ports of what has ended are left alone while there are others: its page says that it has.
    std::set<int> taken;
    for (InstancePort& port : ports) {
        if (const int free = free_port(desk, taken, PortsOfEnded::left_alone); free != 0)
            port.own_port = free;
        else if (port.own_port == 0)
            port.own_port = free_port(desk, taken, PortsOfEnded::used);
        if (port.own_port == 0)
            return fail(Code::conflict, "all gateway ports for instances are in use", "no_gateway_port");
        taken.insert(port.own_port);
    }
    return {};
}

Result<> keep_own_ports(const Desk& desk, const std::string& id, std::vector<InstancePort>& ports) {
    for (InstancePort& port : ports)
        if (std::ranges::any_of(desk.estate.instances.by().port.of(static_cast<std::uint32_t>(port.own_port)),
                                [&](const Instance* other) { return other->id != id; }))
            port.own_port = 0;
    std::vector<InstancePort> given = ports;
    TRY(give_own_ports(desk, given));
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].own_port == 0) ports[i].own_port = given[i].own_port;
    return {};
}

const Instance* find_instance(const Desk& desk, const std::string& tenant, const std::string& caller_id) {
    return desk.estate.instances.by().name.first({tenant, caller_id});
}

Error name_is_taken(const std::string& caller_id) {
    Error error{Code::conflict,
                fmt::format("instance {} has ended and was not deleted: it still has its name", caller_id),
                "instance_exists"};
    error.help = fmt::format(
        "Delete it (`hostler instance delete {0}`), or let it begin once more "
        "(`hostler instance retry {0}`).",
        caller_id);
    return error;
}

Result<Started> create_instance(Desk& desk, const api::CreateInstance& request, const std::string& digest,
                                const std::optional<Owner>& owner, const std::string& created_by) {
    HOSTLER_ASSERT(!owner || (!owner->kind.empty() && !owner->kind.contains('/') && !owner->id.empty()));
    const Instance* before = find_instance(desk, request.tenant_id, request.instance_id);
    std::string passes_name_on;
    if (before && is_final(before->phase)) {
        if (!before->deleted) {
            Error taken = name_is_taken(request.instance_id);
            if (before->owner) taken.help = "Choose another instanceID.";
            return std::unexpected(std::move(taken));
        }
        passes_name_on = before->id;
    } else if (before) {
        const bool same_labels = !request.labels || *request.labels == before->labels;
        const bool same_owner = before->owner == owner;
        if (before->request_digest == digest && same_labels && same_owner) return Started::before;
        Error error{Code::conflict,
                    fmt::format("instance {} exists and was asked for differently", request.instance_id),
                    "instance_exists"};
        error.help = "Choose another instanceID.";
        return std::unexpected(std::move(error));
    }
    if (desk.live.archiving.contains(UsedName::id_of(request.tenant_id, request.instance_id)))
        return std::unexpected(name_is_taken(request.instance_id));
    const std::string project = project_meant(request);
    TRY(check_project(desk, request.tenant_id, project));
    std::string zone = request.zone.value_or(""), host;
    StopSchedule schedule;
    Instance instance{.id = new_id(desk.random, "i"),
                      .caller_id = request.instance_id,
                      .tenant = request.tenant_id,
                      .project = project,
                      .tenant_name = request.tenant_name,
                      .spec_name = request.spec_name,
                      .spec = TRY(spec_of(desk, request, zone, host, schedule)),
                      .request_digest = digest};
    instance.schedule = schedule;
    instance.labels = request.labels.value_or(Labels{});
    instance.owner = owner;
    instance.created_by = created_by;
    TRY(admit(desk, instance, zone, PortFields::of_creation));
    TRY(settle(desk, instance, zone, host, WantedBy::caller));
    ensure_project(desk, instance.tenant, project, instance.tenant_name);
    instance.created_at = desk.estate.micros();
    const std::string id = instance.id;
    if (!passes_name_on.empty()) desk.estate.instances.edit(passes_name_on).name_passed_on = true;
    if (!desk.estate.in_trial())
        desk.live.part<Room>().learn(demand_of(desk, desk.estate.specs.at(instance.spec_name), instance));
    desk.estate.instances.add(std::move(instance));
    reconcile_instance(desk, id);
    return Started::now;
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

void delete_instance(Desk& desk, const std::string& id, const std::string& why) {
    const Instance& now = desk.estate.instances.at(id);
    if (!std::exchange(desk.estate.instances.edit(id).deleted, true) && is_final(now.phase))
        desk.estate.event("instance", id, now.tenant, "deleted", "Its owner deleted it: its name is free.");
    if (is_final(now.phase) || now.phase == InstancePhase::stopping) return;
    ++desk.estate.instances.edit(id).meta.generation;
    close_commands(desk, id, now.meta.generation);
    const bool waits_for_a_lost_host =
        now.phase == InstancePhase::halting && desk.estate.hosts.at(now.host).phase == HostPhase::lost;
    note(desk, id, InstanceEvent::stop, "stop_asked", why);
    if (waits_for_a_lost_host) note(desk, id, InstanceEvent::lose_host, "stop_asked", why);
    reconcile_instance(desk, id);
}

void keep_run(Desk& desk, Instance& instance, const std::string& reason) {
    const bool kept = !instance.runs.empty() && instance.runs.back().generation == instance.run_generation;
    if (kept || instance.started_at == 0) return;
    if (instance.runs.size() >= InstanceRun::kept_max) instance.runs.erase(instance.runs.begin());
    instance.runs.push_back({.generation = instance.run_generation,
                             .host = instance.host,
                             .started_at = instance.started_at,
                             .ready_at = instance.ready_at,
                             .ended_at = instance.ended_at != 0 ? instance.ended_at : desk.estate.micros(),
                             .reason = reason,
                             .exit_code = instance.exit_code});
}

void note(Desk& desk, const std::string& id, InstanceEvent event, std::string reason, std::string message) {
    const InstancePhase from = desk.estate.instances.at(id).phase;
    const auto to = next(instance_life, from, event);
    if (!to) return;
    Instance& instance = desk.estate.instances.edit(id);
    instance.phase = *to;
    instance.reason = reason;
    instance.message = message;
    if (*to == InstancePhase::running && instance.ready_at == 0) instance.ready_at = desk.estate.micros();
    if (*to == InstancePhase::running && instance.ran_since == 0) instance.ran_since = desk.estate.micros();
    // What was never seen probing has been running at once.
    if ((*to == InstancePhase::probing || *to == InstancePhase::running) && instance.started_at == 0)
        instance.started_at = desk.estate.micros();
    if (*to == InstancePhase::resting) instance.ended_at = desk.estate.micros();
    if (!has_place(*to)) keep_run(desk, instance, reason);
    if (is_final(*to)) end(desk, instance);
    desk.estate.event("instance", id, instance.tenant, std::move(reason), std::move(message));
}

bool ended_well(const Instance& instance, int exit_code) {
    const bool answered =
        instance.ready_at != 0 || std::ranges::none_of(instance.spec.ports, &InstancePort::is_probe);
    return exit_code == 0 && answered;
}

void note_completed(Desk& desk, const std::string& id) {
    note(desk, id, InstanceEvent::finish, std::string{completed}, "its program ended, with exit code 0");
}

static void take_next_step(Desk& desk, const std::string& id) {
    const Instance* instance = desk.estate.instances.find(id);
    if (!instance || instance->claim.empty() || awaits_word(desk, instance->host)) return;
    note_memory_kills(desk, id);
    Seen seen = desk.live.seen(instance->host, id);
    if (is_restartable(instance->phase) && is_of_earlier_run(desk, *instance)) {
        // Its host was lost before it could begin it anew.
        if (instance->phase == InstancePhase::lost && seen != Seen::unknown && !commanded(desk, id))
            note(desk, id, InstanceEvent::restart, "host_back", "its host is back and starts it again");
        seen = Seen::unknown;
    }
    // Its host may have obeyed a stop whose answer never came.
    if (instance->unused_stop_sent && is_restartable(instance->phase) && !commanded(desk, id) &&
        (seen == Seen::absent || seen == Seen::ended)) {
        (void)halt_instance(desk, id, "unused", reason_of(StopRule::inactivity, instance->schedule));
        return;
    }
    // It ran well until it was stopped for want of our word.
    if (seen == Seen::ended && is_restartable(instance->phase) && !commanded(desk, id) &&
        desk.live.hosts.at(instance->host).workloads.at(id).lease_ended) {
        if (may_run_elsewhere(desk, *instance)) return;
        begin_anew(desk, id);
        reconcile_instance(desk, id);
        return;
    }
    InstanceAction action = plan(instance->phase, seen, commanded(desk, id));
    const auto host = desk.live.hosts.find(instance->host);
    const bool host_speaks = host != desk.live.hosts.end() && host->second.connected && host->second.complete;
    if (action == InstanceAction::none && is_final(instance->phase) && only_its_answer_counts(*instance) &&
        host_speaks && !commanded(desk, id))
        action = InstanceAction::stop;
    if ((action == InstanceAction::start || action == InstanceAction::stop) && resting(desk, id)) return;
    switch (action) {
        case InstanceAction::none: return;
        case InstanceAction::start:
            if (!volumes_ready(desk, *instance) || !may_run_at(desk, *instance, instance->host) ||
                may_run_elsewhere(desk, *instance))
                return;
            for (const InstanceVolume& mount : instance->spec.volumes)
                if (const auto free = check_foreign_writers(desk, mount); !free) {
                    if (instance->message != free.error().message)
                        desk.estate.instances.edit(id).message = free.error().message;
                    return;
                }
            command(desk, instance->host, Verb::start_workload, id, instance->meta.generation);
            return;
        case InstanceAction::stop:
            command(desk, instance->host, Verb::stop_workload, id, instance->meta.generation);
            return;
        case InstanceAction::note_alive: {
            const bool ready = desk.live.hosts.at(instance->host).workloads.at(id).ready;
            note(desk, id, ready ? InstanceEvent::ready : InstanceEvent::probe, "host_back",
                 "its host is back, and it runs on");
            return;
        }
        case InstanceAction::note_end: {
            const SeenWorkload& workload = desk.live.hosts.at(instance->host).workloads.at(id);
            desk.estate.instances.edit(id).exit_code = workload.exit_code;
            if (!workload.oom_killed && ended_well(*instance, workload.exit_code))
                note_completed(desk, id);
            else
                note(desk, id, InstanceEvent::fail, workload.oom_killed ? "out_of_memory" : "exited",
                     workload.oom_killed
                         ? "it was killed because it used more memory than its spec has"
                         : fmt::format("its container exited with code {}", workload.exit_code));
            reconcile_instance(desk, id);
            return;
        }
        case InstanceAction::note_absent:
            note_absence(desk, *instance);
            if (!has_place(desk.estate.instances.at(id).phase)) let_go(desk, id);
            return;
    }
}

namespace {

struct Unsettled {
    static constexpr bool follows_estate = true;
    Follower<Instance> changed;
    std::set<std::string> ids;  // What their hosts say of them is not what is written down.
};

}  // namespace

// Nothing is to be done about what its host says of it; another word of its host is looked at when it comes.
// (What it does on its way somewhere its row says: InstanceWork.)
static bool is_settled(const Desk& desk, const Instance& instance) {
    if (instance.claim.empty()) return true;
    const Seen seen = desk.live.seen(instance.host, instance.id);
    if (instance.phase == InstancePhase::lost) return seen == Seen::unknown;
    if (instance.phase != InstancePhase::running) return true;
    return (seen == Seen::unknown || seen == Seen::alive) && !has_untold_kills(desk, instance);
}

void reconcile_instance(Desk& desk, const std::string& instance) {
    const std::string id = instance;
    take_next_step(desk, id);
    const Instance* now = desk.estate.instances.find(id);
    if (now && !is_settled(desk, *now))
        desk.live.part<Unsettled>().ids.insert(id);
    else
        desk.live.part<Unsettled>().ids.erase(id);
}

std::set<std::string> instances_to_reconcile(Desk& desk) {
    const auto& by = desk.estate.instances.by();
    std::set<std::string> ids = desk.live.part<Unsettled>().changed.changed(desk.estate.instances);
    // Whoever waited for an answer about one.
    for (const std::string& subject : desk.estate.commands.by().subject.take_touched())
        ids.insert(left_instance(subject));
    ids.insert(desk.live.part<Unsettled>().ids.begin(), desk.live.part<Unsettled>().ids.end());
    for (const InstanceWork work : {InstanceWork::reconcile, InstanceWork::go_on})
        for (const Instance* instance : by.work.of(work)) ids.insert(instance->id);
    std::erase_if(ids, [&](const std::string& id) { return !desk.estate.instances.find(id); });
    return ids;
}

// Whether it may be started once more with something else.
static bool may_begin_again(const Instance& instance) {
    constexpr std::uint64_t tries_max = 16;
    return next(instance_life, instance.phase, InstanceEvent::fail) && instance.run_generation < tries_max;
}

static void begin_again(Desk& desk, Instance& instance, std::string reason, std::string message) {
    instance.run_generation = ++instance.meta.generation;
    desk.live.rest_until.erase(instance.id);
    instance.phase = InstancePhase::placed;
    instance.reason = std::move(reason);
    instance.message = std::move(message);
    desk.estate.event("instance", instance.id, instance.tenant, instance.reason, instance.message);
}

bool move_to_another_subnet(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    if (!may_begin_again(now) || !desk.estate.subnets.find(now.subnet)) return false;
    desk.estate.subnets.edit(now.subnet).unusable = true;
    const auto other = subnet_for(desk, {now.tenant, now.project, now.host});
    if (!other) return false;
    Instance& instance = desk.estate.instances.edit(id);
    instance.subnet = (*other)->id;
    instance.address =
        desk.pool.address((*other)->index, desk.estate.claims.at(instance.claim).address_index);
    begin_again(desk, instance, "subnet_in_use",
                "its host uses these addresses for something else; it gets others");
    return true;
}

bool move_to_another_address(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    const Subnet* subnet = desk.estate.subnets.find(now.subnet);
    if (!may_begin_again(now) || !subnet) return false;
    const auto other = free_address(desk, now.host, desk.estate.claims.at(now.claim).address_index + 1);
    if (!other) return false;
    Instance& instance = desk.estate.instances.edit(id);
    desk.estate.readdress(instance.claim, *other);
    instance.address = desk.pool.address(subnet->index, *other);
    begin_again(desk, instance, "address_taken",
                "something else on its host has its address; it gets another");
    return true;
}

bool begin_without_layer(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    if (now.layer_host.empty() || !next(instance_life, now.phase, InstanceEvent::fail)) return false;
    Instance& instance = desk.estate.instances.edit(id);
    instance.layer_host.clear();
    begin_again(desk, instance, "layer_lost",
                "its files outside its volumes are no longer on its host; it starts without them");
    return true;
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
