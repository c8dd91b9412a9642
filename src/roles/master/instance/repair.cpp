#include "roles/master/instance/repair.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_instance.h"
#include "roles/master/container/containers.h"
#include "roles/master/container/shell_words.h"
#include "roles/master/policy/policies.h"
#include "roles/master/run/own_ports.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/state/refuse.h"

namespace hostler::master {

namespace {

std::unexpected<Error> cannot_be_repaired(const Instance& instance) {
    if (instance.adopted)
        return refuse(
            fmt::format("instance {} was adopted as it ran: its command and variables are not known",
                        instance.caller_id),
            "instance_adopted",
            fmt::format("Delete it (`hostler instance delete {}`) and create another one.",
                        instance.caller_id));
    return refuse(fmt::format("instance {} was deleted", instance.caller_id), "instance_ended",
                  "Create another one; its name is free.");
}

// A port that stays keeps the gateway's port that is its own.
std::vector<InstancePort> changed_ports(const std::vector<InstancePort>& before,
                                        const std::vector<api::Port>& wanted,
                                        std::vector<FieldError>& wrong) {
    std::vector<InstancePort> ports;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const api::Port& port = wanted[i];
        if (port.protocol != api::Protocol::TCP)
            wrong.push_back({fmt::format("ports[{}].protocol", i), "only TCP is served"});
        const auto was = std::ranges::find(before, port.port, &InstancePort::port);
        ports.push_back({.port = port.port,
                         .is_public = port.is_public,
                         .is_probe = port.is_probe,
                         .base_url = port.base_url,
                         .own_port = was == before.end() ? 0 : was->own_port});
    }
    return ports;
}

void set_variables(std::vector<InstanceVariable>& into, const std::vector<api::Env>& wanted) {
    for (const api::Env& env : wanted) {
        const auto there = std::ranges::find(into, env.name, &InstanceVariable::name);
        if (there == into.end())
            into.push_back({env.name, env.value});
        else
            there->value = env.value;
    }
}

Result<> may_be_changed(const Instance& instance) {
    switch (instance.phase) {
        case InstancePhase::stopped:
        case InstancePhase::failed:
            if (!is_repairable(instance)) return cannot_be_repaired(instance);
            return {};
        case InstancePhase::resting: return {};
        case InstancePhase::stopping: return cannot_be_repaired(instance);
        case InstancePhase::halting:
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::running:
        case InstancePhase::lost: break;
    }
    return refuse(
        fmt::format("instance {} is not stopped: its program cannot be changed now", instance.caller_id),
        "still_runs", fmt::format("Stop it first: `hostler instance stop {} --wait`.", instance.caller_id));
}

}  // namespace

Result<> change_container(Desk& desk, const std::string& id, const api::UpdateInstance& request) {
    const bool runs_else = request.image || request.cmd || request.envs || request.ports ||
                           request.entrypoint || request.shm_size || request.no_init;
    if (!runs_else && !request.stop_grace_seconds) return {};
    const Instance& now = desk.estate.instances.at(id);
    if (runs_else) TRY(may_be_changed(now));
    InstanceSpec wanted = now.spec;
    Error wrong{Code::invalid, "one field of the request is wrong", "invalid"};
    std::vector<std::string> what;
    if (request.image) {
        wanted.image = *request.image;
        what.push_back("image " + *request.image);
    }
    if (request.cmd) {
        if (auto words = shell_words(*request.cmd))
            wanted.command = std::move(*words);
        else
            wrong.fields.push_back({"cmd", words.error().message});
        what.push_back("its command");
    }
    if (request.envs) {
        set_variables(wanted.environment, *request.envs);
        for (const api::Env& env : *request.envs) what.push_back("variable " + env.name);
    }
    if (request.ports) {
        wanted.ports = changed_ports(now.spec.ports, *request.ports, wrong.fields);
        what.push_back("its ports");
    }
    read_container(desk, {request.entrypoint, request.shm_size, request.stop_grace_seconds, request.no_init},
                   memory_of(desk, now), wanted, wrong.fields);
    if (request.cmd || request.entrypoint) check_command(wanted, "cmd", wrong.fields);
    if (request.entrypoint) what.emplace_back("its entry point");
    if (request.shm_size) what.emplace_back("the size of /dev/shm");
    if (request.no_init) what.emplace_back(wanted.no_init ? "no init" : "an init");
    if (!wrong.fields.empty()) return std::unexpected(std::move(wrong));
    if (wanted == now.spec) return {};
    TRY(admit_container(desk, now, wanted));
    if (!runs_else) {  // It counts from now on.
        desk.estate.instances.edit(id).spec = std::move(wanted);
        return {};
    }
    if (request.ports) TRY(keep_own_ports(desk, id, wanted.ports));
    Instance& changed = desk.estate.instances.edit(id);
    changed.spec = std::move(wanted);
    std::string said = "Its next start has something new:";
    for (const std::string& one : what) said += (&one == &what.front() ? " " : ", ") + one;
    desk.estate.event("instance", id, changed.tenant, "container_changed", said + ".");
    return {};
}

Result<> retry_instance(Desk& desk, const std::string& id) {
    const Instance& now = desk.estate.instances.at(id);
    switch (now.phase) {
        case InstancePhase::stopped:
        case InstancePhase::failed: break;
        case InstancePhase::resting:
            return refuse(fmt::format("instance {} did not fail: it was stopped", now.caller_id),
                          "not_running",
                          fmt::format("Start it: `hostler instance start {}`.", now.caller_id));
        case InstancePhase::halting:
        case InstancePhase::stopping:
        case InstancePhase::placed:
        case InstancePhase::pulling:
        case InstancePhase::starting:
        case InstancePhase::probing:
        case InstancePhase::running:
        case InstancePhase::lost: return wake_instance(desk, id);
    }
    if (!is_repairable(now)) return cannot_be_repaired(now);
    if (!now.claim.empty() || !now.left.empty())
        return refuse(fmt::format("host {} has not said yet that nothing of instance {} runs there", now.host,
                                  now.caller_id),
                      "instance_stopping", "Try again in a moment.");
    return begin_once_more(desk, id);
}

}  // namespace hostler::master
