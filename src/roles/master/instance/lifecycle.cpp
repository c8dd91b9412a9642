#include "roles/master/instance/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/types_instance.h"
#include "roles/master/command/commands.h"
#include "roles/master/container/containers.h"
#include "roles/master/container/shell_words.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/policy/policies.h"
#include "roles/master/run/own_ports.h"
#include "roles/master/run/places.h"
#include "roles/master/run/reconcile.h"
#include "roles/master/run/runs.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/state/near.h"
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

}  // namespace

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
                                const std::optional<Owner>& owner, const std::string& created_by,
                                Begins begins, RunsAs runs_as) {
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
    instance.spec.program = runs_as == RunsAs::program;
    TRY(admit(desk, instance, zone, PortFields::of_creation));
    TRY(settle(desk, instance, zone, host, WantedBy::caller));
    ensure_project(desk, instance.tenant, project, instance.tenant_name);
    instance.created_at = desk.estate.micros();
    const std::string id = instance.id;
    if (!passes_name_on.empty()) desk.estate.instances.edit(passes_name_on).name_passed_on = true;
    if (!desk.estate.in_trial())
        desk.live.part<Room>().learn(demand_of(desk, desk.estate.specs.at(instance.spec_name), instance));
    desk.estate.instances.add(std::move(instance));
    if (begins == Begins::now) reconcile_instance(desk, id);
    return Started::now;
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

}  // namespace hostler::master
