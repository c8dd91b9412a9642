#include "roles/master/cluster/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "domain/cluster/quorum.h"
#include "roles/master/cluster/nodes.h"
#include "roles/master/cluster/steps.h"

namespace hostler::master {

namespace {

struct Probes {
    struct One {
        std::int64_t next = 0;
        int failures = 0;      // In a row.
        std::size_t turn = 0;  // Which host is asked.
    };
    std::map<std::string, One> by_cluster;
};

bool is_member(const ClusterNode& node) {
    return node.role == NodeRole::control &&
           (node.phase == NodePhase::ready || node.phase == NodePhase::draining ||
            node.phase == NodePhase::leaving);
}

std::vector<const ClusterNode*> askable(const Desk& desk, const std::string& cluster) {
    auto nodes = nodes_of(desk, cluster);
    std::erase_if(nodes, [&](const ClusterNode* node) {
        return node->role != NodeRole::control || node->phase != NodePhase::ready ||
               !answers(desk, node->host);
    });
    return nodes;
}

void see_api(Desk& desk, const std::string& id, bool answers_now, const std::string& why) {
    const Cluster& before = desk.estate.clusters.at(id);
    if (before.api_answers == answers_now) return;
    Cluster& cluster = desk.estate.clusters.edit(id);
    cluster.api_answers = answers_now;
    cluster.api_seen_at = desk.estate.micros();
    tell(desk, cluster, answers_now ? "api_answers" : "api_silent",
         answers_now ? fmt::format("The API of cluster {} answers.", cluster.name)
                     : fmt::format("The API of cluster {} does not answer: {}.", cluster.name, why));
}

std::map<std::string, std::string, std::less<>> by_name(const CommandAnswer& answer) {
    std::map<std::string, std::string, std::less<>> nodes;
    const auto output = answer.outputs.find(probe_output);
    if (output == answer.outputs.end()) return nodes;
    std::istringstream words{output->second};
    for (std::string word; words >> word;)
        if (const auto colon = word.find(':'); colon != word.npos)
            nodes.emplace(word.substr(0, colon), word.substr(colon + 1));
    return nodes;
}

void see_node(Desk& desk, const ClusterNode& node, bool member, bool healthy) {
    if (node.member == member && node.healthy == healthy) return;
    ClusterNode& row = desk.estate.cluster_nodes.edit(node.id);
    row.member = member;
    row.healthy = healthy;
}

}  // namespace

const DriverStep* probe_of(const Driver& driver) {
    const DriverStep* step = step_named(driver, probe_step);
    const bool is_probe = step && step->phase == StepPhase::settle && step->place == StepPlace::control;
    return is_probe ? step : nullptr;
}

void probe(Desk& desk, const std::string& id, const Driver& driver) {
    const DriverStep* step = probe_of(driver);
    if (!step || !desk.estate.clusters.at(id).made) return;
    const auto nodes = askable(desk, id);
    if (nodes.empty()) return see_api(desk, id, false, "no host of its control plane answers");
    Probes::One& probe = desk.live.part<Probes>().by_cluster[id];
    const std::int64_t now = desk.estate.micros();
    if (now < probe.next) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const ClusterNode& node = *nodes[(probe.turn + i) % nodes.size()];
        if (!node.doing.empty() || node.checking) continue;
        probe.turn += i;
        probe.next = now + probe_every_us;
        return start_probe(desk, node.id, *step);
    }
}

void probe_soon(Desk& desk, const std::string& id) { desk.live.part<Probes>().by_cluster[id].next = 0; }

std::int64_t next_probe(const Desk& desk, const std::string& id, const Driver& driver) {
    if (!probe_of(driver) || askable(desk, id).empty()) return 0;
    const auto& all = desk.live.part<Probes>().by_cluster;
    const auto at = all.find(id);
    return at == all.end() ? desk.estate.micros() : at->second.next;
}

void note_probe(Desk& desk, const std::string& id, const CommandAnswer& answer, std::int64_t asked_at) {
    if (!desk.estate.clusters.find(id)) return;
    Probes::One& probe = desk.live.part<Probes>().by_cluster[id];
    if (!answer.done) {
        ++probe.failures, ++probe.turn;
        // Each host may say that its own part does not answer, before the API as a whole counts as silent.
        if (std::cmp_greater_equal(probe.failures, std::max<std::size_t>(2, askable(desk, id).size())))
            see_api(desk, id, false, answer.message.empty() ? answer.reason : answer.message);
        return;
    }
    probe.failures = 0;
    see_api(desk, id, true, "");
    const auto nodes = by_name(answer);
    for (const ClusterNode* node : nodes_of(desk, id)) {
        if (node->phase_since > asked_at) continue;
        const auto at = nodes.find(node->name);
        const std::string_view said = at == nodes.end() ? std::string_view{} : at->second;
        see_node(desk, *node, node->role == NodeRole::control && said.contains("member"),
                 said.contains("healthy"));
    }
}

void note_hosts(Desk& desk, const std::string& id, const Driver& driver) {
    if (probe_of(driver) || !desk.estate.clusters.at(id).made) return;
    Quorum quorum;
    for (const ClusterNode* node : nodes_of(desk, id)) {
        const bool member = is_member(*node), alive = answers(desk, node->host);
        if (member) ++quorum.members, quorum.healthy += alive ? 1 : 0;
        see_node(desk, *node, member, alive && (member || node->phase == NodePhase::ready));
    }
    see_api(desk, id, quorum.holds(), "most hosts of its control plane do not answer");
}

}  // namespace hostler::master
