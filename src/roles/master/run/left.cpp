#include "roles/master/run/left.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "roles/master/host/view.h"
#include "roles/master/network/subnets.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

namespace {

bool left_there(const Instance& instance, const std::string& host) {
    return std::ranges::count(instance.left, host, &LeftPlace::host) > 0;
}

// By id; what each held there is held on. The host is not removed.
std::set<std::string> left_on(const Desk& desk, const std::string& host) {
    std::set<std::string> ids;
    for (const Claim* claim : claims_on(desk, host)) {
        const Instance* instance = desk.estate.instances.find(claim->holder);
        if (instance && left_there(*instance, host)) ids.insert(instance->id);
    }
    return ids;
}

}  // namespace

bool may_run_at(const Desk& desk, const Instance& instance, const std::string& host) {
    const auto live = desk.live.hosts.find(host);
    const bool takes_secrets = live != desk.live.hosts.end() && live->second.takes_secrets;
    if (!takes_secrets && needs_secrets(desk, instance)) return false;
    if (instance.spec.loss_policy == LossPolicy::stay) return true;
    return live != desk.live.hosts.end() && live->second.keeps_leases && !left_there(instance, host);
}

void reconcile_left(Desk& desk, const std::string& host) {
    const auto live = desk.live.hosts.find(host);
    if (live == desk.live.hosts.end() || !live->second.connected || !live->second.complete) return;
    for (const std::string& id : left_on(desk, host)) {
        const std::string subject = left_subject(id, host);
        if (commanded(desk, subject) || resting(desk, subject)) continue;
        std::uint64_t generation = desk.estate.instances.at(id).meta.generation;
        // After the backup that the store was restored from it may have been begun there again.
        if (const auto seen = live->second.workloads.find(id); seen != live->second.workloads.end())
            generation = std::max(generation, seen->second.generation + 1);
        command(desk, host, Verb::stop_left, subject, generation);
    }
}

void note_left(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const std::string id = left_instance(command.subject);
    const Instance* instance = desk.estate.instances.find(id);
    if (!answer.done || !instance) return;
    const auto left = std::ranges::find(instance->left, command.host, &LeftPlace::host);
    if (left == instance->left.end()) return;
    const LeftPlace place = *left;
    std::erase(desk.estate.instances.edit(id).left, place);
    desk.estate.release(place.claim);
    leave_subnet(desk, place.subnet);
    desk.live.hosts[command.host].workloads.erase(id);
    desk.estate.event(
        "instance", id, instance->tenant, "left_place_free",
        fmt::format("Host {} confirms that nothing of it runs there: its resources there are free.",
                    host_name(desk, command.host)));
}

void forget_left(Desk& desk, const std::string& host) {
    std::vector<std::string> ids;
    for (const Instance* instance : desk.estate.instances.by().left_host.of(host))
        ids.push_back(instance->id);
    for (const std::string& id : ids)
        std::erase_if(desk.estate.instances.edit(id).left,
                      [&](const LeftPlace& place) { return place.host == host; });
}

std::string left_subject(const std::string& instance, const std::string& host) {
    return instance + "@" + host;
}

std::string left_instance(const std::string& subject) { return subject.substr(0, subject.find('@')); }

}  // namespace hostler::master
