#include "cluster_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "estate_check.h"

namespace hostler::simulation {

namespace {

using master::Desk;

// The last of the steps by which a member of the control plane goes.
constexpr std::string_view forgets_member = "forget-member";

// A step by which the membership changes is under way.
bool changes_members(const ClusterNode& node) {
    if (node.role != NodeRole::control || node.doing.empty()) return false;
    return (node.phase == NodePhase::joining && node.wanted) ||
           (node.phase == NodePhase::leaving && node.member && node.doing == forgets_member);
}

bool ends(const Cluster& cluster) {
    return cluster.phase == ClusterPhase::deleting || cluster.phase == ClusterPhase::deleted ||
           cluster.phase == ClusterPhase::failed;
}

std::string what_is_left(const sim::NodeHost& host) {
    for (const auto& [id, one] : host.running) {
        const DriverStep* step = step_named(host.drivers.at(0), one.of.second);
        if (step && step->place == StepPlace::node) return "command " + one.words[0];
    }
    for (const auto& [step, words] : host.programs) return "program " + words[0];
    for (const Leftover& one : host.left) return one.kind + " " + one.name;
    for (const auto& [path, file] : host.files) return "file " + path;
    return {};
}

}  // namespace

void ClusterCheck::look_at(const std::vector<const sim::Machine*>& hosts, Findings& found) const {
    for (const sim::Machine* host : hosts) {
        if (host->node_host.running.size() < 2) continue;
        std::map<std::string, std::string> at_work;
        for (const auto& [id, one] : host->node_host.running) {
            const auto [at, first] = at_work.emplace(one.of.first, one.words[0]);
            if (!first)
                found.report(Invariant::node_step,
                             fmt::format("{} and {} of node {} run at a time on {}", at->second, one.words[0],
                                         one.of.first, host->name));
        }
    }
}

void ClusterCheck::look(const Desk& desk, const std::vector<const sim::Machine*>& hosts, std::uint64_t epoch,
                        const std::set<std::string>& spared, Findings& found) {
    const bool same_epoch = epoch == std::exchange(epoch_, epoch);
    seen_max = std::max(seen_max, desk.estate.cluster_nodes.all().size());
    look_at_hosts(desk, found);
    look_at_clean(desk, hosts, spared, found);
    look_at_members(desk, same_epoch, found);
}

// A host is one node, with one claim, and nothing else has a place there.
void ClusterCheck::look_at_hosts(const Desk& desk, Findings& found) const {
    std::map<std::string, const ClusterNode*> nodes;
    for (const auto& [id, node] : desk.estate.cluster_nodes.all()) {
        const auto [at, first] = nodes.emplace(node.host, &node);
        if (!first)
            found.report(Invariant::node_host,
                         fmt::format("host {} is node {} of {} and node {} of {}", node.host,
                                     at->second->name, at->second->cluster, node.name, node.cluster));
        const Host* host = desk.estate.hosts.find(node.host);
        const Claim* claim = desk.estate.claims.find(node.claim);
        if (host && host->phase != HostPhase::retired && (!claim || claim->holder != id))
            found.report(Invariant::node_host, fmt::format("node {} is {} and has no claim", node.name,
                                                           master::text_of(node.phase)));
    }
    for (const auto& [id, claim] : desk.estate.claims.all()) {
        const auto node = nodes.find(claim.host);
        if (node != nodes.end() && node->second->claim != id)
            found.report(Invariant::node_host, fmt::format("{} has a claim on host {}, which is node {}",
                                                           claim.holder, claim.host, node->second->name));
    }
}

// Whatever is not known as a node has nothing of a cluster, and a node has no containers of ours.
void ClusterCheck::look_at_clean(const Desk& desk, const std::vector<const sim::Machine*>& hosts,
                                 const std::set<std::string>& spared, Findings& found) const {
    std::map<std::string, std::string> ids;  // Hosts, by machine.
    for (const auto& [id, host] : desk.estate.hosts.all()) ids[host.facts.hostname] = id;
    for (const sim::Machine* machine : hosts) {
        const auto id = ids.find(machine->name);
        if (id == ids.end()) continue;
        const auto nodes = desk.estate.cluster_nodes.by().host.of(id->second);
        if (nodes.empty()) {
            const std::string left = what_is_left(machine->node_host);
            const bool lost = std::ranges::any_of(machine->node_host.programs, [&](const auto& program) {
                return spared.contains(program.first.first);
            });
            if (!left.empty() && !lost)
                found.report(Invariant::clean_host, fmt::format("host {} ({}) is no node and has {}",
                                                                id->second, machine->name, left));
            continue;
        }
        for (const auto& container : machine->engine.standing())
            if (container.state == ContainerState::running &&
                !spared.contains(instance_of(container.spec.name)))
                found.report(Invariant::node_host,
                             fmt::format("{} runs on {}, which is node {}", container.spec.name,
                                         machine->name, nodes.front()->name));
    }
}

void ClusterCheck::look_at_members(const Desk& desk, bool same_epoch, Findings& found) {
    std::map<std::string, std::string> changing;  // Nodes, by cluster.
    std::map<std::string, std::uint64_t> runs;
    for (const auto& [id, node] : desk.estate.cluster_nodes.all()) {
        const Cluster* cluster = desk.estate.clusters.find(node.cluster);
        runs[id] = node.run;
        if (!cluster || ends(*cluster)) continue;
        if (changes_members(node)) {
            const auto [at, first] = changing.emplace(node.cluster, node.name);
            if (!first)
                found.report(Invariant::quorum, fmt::format("{} and {} change the members of {} at a time",
                                                            at->second, node.name, cluster->name));
        }
        const auto before = runs_.find(id);
        const bool begins = same_epoch && (before == runs_.end() || before->second != node.run);
        if (begins && node.doing == forgets_member && truth_.is_member(cluster->id, node.name) &&
            !truth_.may_lose(cluster->id, node.name, belief_max))
            found.report(Invariant::quorum,
                         fmt::format("{} is to go from {}, and most of the others do not answer", node.name,
                                     cluster->name));
    }
    runs_ = std::move(runs);
}

void ClusterCheck::look_at_log(std::string_view line, Findings& found) {
    if (line.contains(ClusterTruth::secret))
        found.report(Invariant::output, fmt::format("an output is logged: {}", line.substr(0, 200)));
}

void ClusterCheck::look_at_commit(const Changes& changes, Findings& found) {
    const auto look = [&](std::string_view where, std::string_view text) {
        if (text.contains(ClusterTruth::secret))
            found.report(Invariant::output, fmt::format("an output stands in {}: {}", where, text));
    };
    for (const Object& object : changes.put) look(object.kind, object.body);
    for (const EventRecord& event : changes.events) look("an event", event.message);
    for (const AuditLine& line : changes.audit)
        look("the audit", line.before), look("the audit", line.after), look("the audit", line.subject);
}

}  // namespace hostler::simulation
