#include "roles/master/cluster/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <tuple>

#include "core/utf8.h"
#include "roles/master/cluster/probe.h"

namespace hostler::master {

namespace {

namespace json = boost::json;

// Only the agent knows them.
constexpr std::string_view agents_folder = "agent.folder";
constexpr std::string_view agents_save[] = {"save.file", "saves.folder"};  // By the id of the save.

StepValues secrets_of(const Cluster& cluster) {
    StepValues values;
    if (cluster.secrets.empty()) return values;
    boost::system::error_code error;
    const json::value read = json::parse(cluster.secrets, error);
    if (error || !read.is_object()) return values;
    for (const auto& [name, value] : read.get_object())
        if (value.is_string()) values.emplace(name, value.get_string());
    return values;
}

void keep_secrets(Desk& desk, const std::string& cluster, const DriverStep& step,
                  const std::map<std::string, std::string>& outputs) {
    StepValues values = secrets_of(desk.estate.clusters.at(cluster));
    const StepValues before = values;
    for (const std::string& name : step.outputs)
        if (const auto at = outputs.find(name); at != outputs.end()) values[name] = at->second;
    if (values == before) return;
    json::object object;
    for (const auto& [name, value] : values) object[name] = value;
    desk.estate.clusters.edit(cluster).secrets = json::serialize(object);
}

// The address of the control plane that the node is to use: another node's, if there is one.
std::string control_address(const Desk& desk, const ClusterNode& node) {
    std::string address;
    for (const ClusterNode* one : nodes_of(desk, node.cluster)) {
        if (one->role != NodeRole::control || one->phase != NodePhase::ready) continue;
        if (one->host == node.step_host && one->id != node.id) return one->address;
        if (address.empty() || (one->id != node.id && answers(desk, one->host))) address = one->address;
    }
    return address.empty() ? node.address : address;
}

// Where a step of place `control` runs: not on the node's own host unless that is the only one; rather where
// the member answers and stays.
std::string control_host(const Desk& desk, const ClusterNode& node) {
    const ClusterNode* best = nullptr;
    const auto rank = [&](const ClusterNode* one) {
        return std::tuple(one->id != node.id, one->healthy, one->wanted);
    };
    for (const ClusterNode* one : nodes_of(desk, node.cluster)) {
        const bool joined = one->phase == NodePhase::ready || one->phase == NodePhase::draining ||
                            one->phase == NodePhase::leaving;
        if (one->role != NodeRole::control || !joined || !answers(desk, one->host)) continue;
        if (!best || rank(one) > rank(best)) best = one;
    }
    return best ? best->host : "";
}

StepValues all_values(const Desk& desk, const Cluster& cluster, const Driver& driver,
                      const ClusterNode& node) {
    StepValues values = secrets_of(cluster);
    for (const auto& [name, value] : driver.values) values[name] = value;
    for (const auto& [name, value] : cluster.values) values[name] = value;
    values["version"] = cluster.version;
    values["cluster.id"] = cluster.id;
    values["cluster.name"] = cluster.name;
    values["cluster.endpoint"] = endpoint_of(cluster);
    values["cluster.addresses"] = node.telling;
    if (!cluster.restores.empty()) values["save.id"] = cluster.restores;
    values["node.name"] = node.name;
    values["node.address"] = node.address;
    values["control.address"] = control_address(desk, node);
    return values;
}

std::set<std::string> names_asked(const DriverStep& step) {
    std::set<std::string> names;
    const auto look = [&](const std::string& text) {
        if (const auto found = names_in(text)) names.insert(found->begin(), found->end());
    };
    for (const StepFile& file : step.files) look(file.path), look(file.text);
    for (const auto* words : {&step.run, &step.start, &step.done, &step.undo})
        for (const std::string& word : *words) look(word);
    names.erase(std::string{agents_folder});
    for (const std::string_view name : agents_save)
        if (names.erase(std::string{name}) > 0) names.insert("save.id");
    return names;
}

void begin_line(ClusterNode& node, const std::string& step, std::int64_t now) {
    if (node.timeline.size() >= ClusterStepRecord::kept_max) node.timeline.erase(node.timeline.begin());
    node.timeline.push_back({.step = step, .attempt = node.attempt + 1, .began_at = now});
}

void end_line(ClusterNode& node, const std::string& problem, std::int64_t now) {
    if (node.timeline.empty() || node.timeline.back().ended_at != 0) return;
    node.timeline.back().ended_at = now;
    node.timeline.back().problem = problem;
}

void fail_try(Desk& desk, const std::string& id, std::string reason, std::string message) {
    message = brief_problem(std::move(message));
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    const std::int64_t now = desk.estate.micros();
    end_line(node, message.empty() ? reason : message, now);
    node.doing.clear(), node.checking = false;
    ++node.attempt;
    const Cluster* cluster = desk.estate.clusters.find(node.cluster);
    const Driver* driver = cluster ? driver_named(desk, cluster->driver) : nullptr;
    const bool over = driver && is_exhausted(*driver, node);
    node.not_before = now + (over ? step_pause_max_us : pause_after(node.attempt));
    node.reason = reason.empty() ? "step_failed" : std::move(reason);
    node.message = std::move(message);
    if (over)
        tell(desk, *cluster, "step_failed",
             fmt::format("Node {}: a step failed {} times: {}", node.name, node.attempt, node.message));
}

void finish_step(Desk& desk, const std::string& id, const Driver& driver) {
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    end_line(node, "", desk.estate.micros());
    node.doing.clear();
    ++node.step;
    node.attempt = node.not_before = 0;
    node.reason.clear(), node.message.clear();
    if (node.phase != NodePhase::ready || std::cmp_less(node.step, steps_due(driver, node).size())) return;
    node.step = 0;
    if (node.settled)
        node.addresses = node.telling;
    else
        node.settled = true;
}

// The row that a command's answer is about; nullptr: it is about something that is past.
const ClusterNode* node_meant(const Desk& desk, const HostCommand& command) {
    const ClusterNode* node = desk.estate.cluster_nodes.find(command.subject);
    return node && node->run == command.subject_generation ? node : nullptr;
}

void soil(Desk& desk, const std::string& id, std::string reason, std::string message,
          std::vector<std::string> leftovers) {
    move_node(desk, id, NodeEvent::soil);
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    node.leftovers = std::move(leftovers);
    node.not_before = desk.estate.micros() + step_pause_max_us;
    node.reason = std::move(reason);
    node.message = std::move(message);
}

void check_failed(Desk& desk, const std::string& id, std::string reason, std::string message) {
    fail_try(desk, id, std::move(reason), std::move(message));
    const ClusterNode& node = desk.estate.cluster_nodes.at(id);
    if (node.attempt >= clean_checks_max)
        soil(desk, id, std::string{node.reason}, std::string{node.message}, node.leftovers);
}

}  // namespace

std::vector<const DriverStep*> steps_due(const Driver& driver, const ClusterNode& node) {
    if (node.phase == NodePhase::ready && !node.settled) {
        auto steps = steps_of(driver, StepPhase::settle, node.role);
        std::erase_if(steps, [](const DriverStep* step) { return step->name == probe_step; });
        return steps;
    }
    const auto phase = steps_now({.phase = node.phase, .restores = node.restores});
    return phase ? steps_of(driver, *phase, node.role) : std::vector<const DriverStep*>{};
}

bool is_exhausted(const Driver& driver, const ClusterNode& node) {
    const auto steps = steps_due(driver, node);
    return std::cmp_less(node.step, steps.size()) &&
           node.attempt >= steps[static_cast<std::size_t>(node.step)]->tries;
}

Result<StepTold> told_of(const Desk& desk, const ClusterNode& node) {
    const Cluster* cluster = desk.estate.clusters.find(node.cluster);
    const Driver* driver = cluster ? driver_named(desk, cluster->driver) : nullptr;
    if (!driver)
        return fail(Code::not_found, "this master does not have the driver of the cluster", "driver_missing");
    StepTold told{.cluster = cluster->id,
                  .driver = driver->name,
                  .digest = digest_of(desk, *driver),
                  .name = node.doing,
                  .again = node.attempt > 0};
    if (node.checking) return told;
    const DriverStep* step = step_named(*driver, node.doing);
    if (!step)
        return fail(Code::not_found, fmt::format("driver {} has no step {}", driver->name, node.doing));
    told.values = TRY(values_for(*step, all_values(desk, *cluster, *driver, node)));
    return told;
}

Result<StepValues> values_for(const DriverStep& step, const StepValues& all) {
    StepValues values;
    for (const std::string& name : names_asked(step)) {
        const auto at = all.find(name);
        if (at == all.end()) return fail(Code::invalid, fmt::format("no value of {}", name), "value_missing");
        values.emplace(name, at->second);
    }
    return values;
}

std::string digest_of(const Desk& desk, const Driver& driver) {
    const auto at = desk.settings.driver_digests.find(driver.name);
    return at == desk.settings.driver_digests.end() ? "" : at->second;
}

std::int64_t pause_after(std::int64_t attempt) {
    std::int64_t pause = step_pause_us;
    for (std::int64_t i = 1; i < attempt && pause < step_pause_max_us; ++i) pause *= 2;
    return std::min(pause, step_pause_max_us);
}

std::string brief_problem(std::string message) {
    message.resize(std::min(message.size(), problem_bytes_max));
    while (!is_utf8(message)) message.pop_back();
    return message;
}

void start_step(Desk& desk, const std::string& id, const DriverStep& step) {
    const ClusterNode& before = desk.estate.cluster_nodes.at(id);
    const std::string host = step.place == StepPlace::node ? before.host : control_host(desk, before);
    if (host.empty()) return;  // The next look at the cluster tells that its API is silent.
    const std::string addresses = addresses_of(desk, desk.estate.clusters.at(before.cluster));
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    node.doing = step.name;
    node.step_host = host;
    // All steps of a phase tell the same addresses.
    if (node.step == 0 || node.phase != NodePhase::ready) node.telling = addresses;
    ++node.run;
    begin_line(node, step.name, desk.estate.micros());
    if (const auto told = told_of(desk, node); !told)
        return fail_try(desk, id, told.error().reason, told.error().message);
    command(desk, host, Verb::node_step, id, node.run);
}

void start_probe(Desk& desk, const std::string& id, const DriverStep& step) {
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    node.doing = step.name;
    node.step_host = node.host;
    ++node.run;
    const std::string of = node.cluster;
    if (const auto told = told_of(desk, node); !told) {
        node.doing.clear();
        return note_probe(desk, of, {.reason = told.error().reason, .message = told.error().message});
    }
    command(desk, node.host, Verb::node_step, id, node.run, "", true);
}

void start_check(Desk& desk, const std::string& id) {
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    node.checking = true;
    node.step_host = node.host;
    ++node.run;
    begin_line(node, "clean-check", desk.estate.micros());
    command(desk, node.host, Verb::node_clean, id, node.run);
}

void skip_step(Desk& desk, const std::string& id) {
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    ++node.step;
    node.attempt = node.not_before = 0;
    begin_line(node, "skipped", desk.estate.micros());
    end_line(node, node.message, desk.estate.micros());
    node.reason.clear(), node.message.clear();
}

void abandon(Desk& desk, const std::string& id, const std::string& why) {
    close_commands(desk, id, desk.estate.cluster_nodes.at(id).run + 1);
    ClusterNode& node = desk.estate.cluster_nodes.edit(id);
    if (node.doing != probe_step) end_line(node, why, desk.estate.micros());
    node.doing.clear();
    node.checking = false;
}

void step_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const ClusterNode* node = node_meant(desk, command);
    if (!node || node->doing.empty()) return;
    const std::string id = node->id, of = node->cluster;
    if (node->doing == probe_step) {
        desk.estate.cluster_nodes.edit(id).doing.clear();
        return note_probe(desk, of, answer, command.created_at);
    }
    if (refused_unread(answer)) {
        abandon(desk, id, answer.message);
        desk.estate.cluster_nodes.edit(id).not_before = desk.estate.micros() + step_pause_us;
        return;
    }
    if (!answer.done) return fail_try(desk, id, answer.reason, answer.message);
    const Cluster* cluster = desk.estate.clusters.find(of);
    const Driver* driver = cluster ? driver_named(desk, cluster->driver) : nullptr;
    if (!driver) return abandon(desk, id, "this master does not have the driver of the cluster");
    if (const DriverStep* step = step_named(*driver, node->doing))
        keep_secrets(desk, of, *step, answer.outputs);
    finish_step(desk, id, *driver);
    probe_soon(desk, of);
}

void check_answered(Desk& desk, const HostCommand& command, const CommandAnswer& answer) {
    const ClusterNode* node = node_meant(desk, command);
    if (!node || !node->checking) return;
    const std::string id = node->id;
    if (!answer.done) return check_failed(desk, id, answer.reason, answer.message);
    ClusterNode& row = desk.estate.cluster_nodes.edit(id);
    row.checking = false;
    end_line(row, answer.leftovers.empty() ? "" : fmt::format("{} left", answer.leftovers.size()),
             desk.estate.micros());
    if (answer.leftovers.empty()) return end_node(desk, id);
    soil(desk, id, "host_unclean", fmt::format("its host still has {} parts of it", answer.leftovers.size()),
         answer.leftovers);
}

void step_expired(Desk& desk, const std::string& id) {
    const ClusterNode* node = desk.estate.cluster_nodes.find(id);
    if (!node || node->doing.empty()) return;
    const std::string of = node->cluster;
    if (node->doing != probe_step) return fail_try(desk, id, "step_late", "the host did not answer in time");
    desk.estate.cluster_nodes.edit(id).doing.clear();
    note_probe(desk, of, {.message = "the host did not answer in time"});
}

void check_expired(Desk& desk, const std::string& id) {
    const ClusterNode* node = desk.estate.cluster_nodes.find(id);
    if (node && node->checking) check_failed(desk, id, "step_late", "the host did not answer in time");
}

}  // namespace hostler::master
