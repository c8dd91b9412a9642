#include "walk.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <sstream>

namespace hostler::kube {

namespace {

using Clock = std::chrono::steady_clock;

Result<Words> filled_words(const Words& words, const StepValues& values) {
    Words all;
    for (const std::string& word : words) all.push_back(TRY(filled(word, values)));
    return all;
}

std::string last_lines(const std::string& text) {
    constexpr std::size_t kept = 1500;
    return text.substr(text.size() > kept ? text.size() - kept : 0);
}

Result<std::string> ran(Node& node, const Words& words, const StepValues& values, Seconds within) {
    const Words full = TRY(filled_words(words, values));
    const Ran ran = node.run(full, within);
    if (ran.code == 0) return ran.out;
    return fail(Code::conflict, fmt::format("{} ends with {}: {}{}", words[0], ran.code, last_lines(ran.out),
                                            last_lines(ran.err)));
}

Result<StepValues> outputs_of(const DriverStep& step, const std::string& said) {
    StepValues values;
    std::istringstream lines{said};
    for (std::string line; std::getline(lines, line);)
        for (const std::string& name : step.outputs)
            if (line.starts_with(name + "=")) values[name] = line.substr(name.size() + 1);
    for (const std::string& name : step.outputs)
        if (!values.contains(name)) return fail(Code::conflict, step.name + " says no " + name);
    return values;
}

}  // namespace

Result<StepValues> perform(Node& node, const DriverStep& step, const StepValues& values, bool again) {
    const Seconds within{step.deadline_s};
    const Words done = TRY(filled_words(step.done, values));
    if (!done.empty() && node.run(done, within).code == 0) return StepValues{};
    if (again && !step.undo.empty()) TRY(ran(node, step.undo, values, within));
    for (const StepFile& file : step.files) {
        const std::string path = TRY(filled(file.path, values));
        const Ran written =
            node.run({"sh", "-c",
                      R"(umask 077; mkdir -p "${0%/*}" && cat >"$0.part" && chmod "$1" "$0.part" )"
                      R"(&& mv "$0.part" "$0")",
                      path, fmt::format("{:o}", file.mode)},
                     Seconds{20}, TRY(filled(file.text, values)));
        if (written.code != 0) return fail(Code::exhausted, path + ": " + written.err);
    }
    std::string said;
    if (!step.run.empty()) said = TRY(ran(node, step.run, values, within));
    if (!done.empty()) TRY(ran(node, step.done, values, within));
    return outputs_of(step, said);
}

Walk::Walk(Nodes& nodes, const Driver& driver, const StepValues& values)
    : driver_(driver), nodes_(nodes), own_(driver.values) {
    for (const auto& [name, value] : values) own_[name] = value;
    view.pools = {{"gpu", 1}};
}

NodeView& Walk::node(const std::string& id) { return *std::ranges::find(view.nodes, id, &NodeView::id); }

Node* Walk::host_of(const std::string& id) {
    const auto at = places_.find(id);
    return at == places_.end() ? nullptr : at->second.host;
}

Node* Walk::control() {
    for (const NodeView& one : view.nodes)
        if (one.role == NodeRole::control && one.phase == NodePhase::ready && one.wanted)
            return places_[one.id].host;
    return nullptr;
}

std::string Walk::addresses() {
    std::string lines;
    for (const NodeView& one : view.nodes)
        if (one.role == NodeRole::control && one.phase == NodePhase::ready && one.wanted)
            lines += fmt::format("{}{} kc-test.hostler.internal", lines.empty() ? "" : "\n",
                                 places_[one.id].host->address());
    return lines;
}

StepValues Walk::values_of(const std::string& id, const std::string& folder) {
    StepValues values = own_;
    for (const auto& [name, value] : outputs) values[name] = value;
    const Place& place = places_[id];
    Node* control_host = control();
    for (const auto& [name, value] :
         StepValues{{"version", driver_.versions.front()},
                    {"cluster.id", "kc-test"},
                    {"cluster.name", "test"},
                    {"cluster.endpoint", "kc-test.hostler.internal"},
                    {"cluster.addresses", addresses()},
                    {"node.name", place.name},
                    {"node.address", place.host->address()},
                    {"control.address", control_host ? control_host->address() : ""},
                    {"agent.folder", folder},
                    {"save.file", save_file}})
        values[name] = value;
    return values;
}

void Walk::see() {
    // Steps of other phases change nothing of what is seen.
    if (view.made && std::exchange(changed_, false)) sight_ = look();
    Sight& sight = sight_;
    view.made = view.made || std::ranges::any_of(view.nodes, [](const NodeView& one) {
                    return one.role == NodeRole::control && one.phase == NodePhase::ready;
                });
    view.api_answers = view.made && sight.api_answers;
    const std::string now = addresses();
    for (NodeView& one : view.nodes) {
        const Place& place = places_[one.id];
        one.knows_addresses = place.told == now;
        const bool there = one.phase == NodePhase::ready;
        if (one.role == NodeRole::control) {
            one.member = sight.members.contains(place.name) || (sight.members.empty() && there);
            one.healthy = sight.members.empty() ? there : one.member && sight.members[place.name];
        } else {
            one.healthy = there && (sight.ready.empty() || sight.ready[place.name]);
        }
        one.restores = !save_file.empty();
        one.busy = std::ranges::any_of(running_, [&](const Running& r) { return r.node == one.id; });
    }
}

void Walk::claim(const ClusterAction& action) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        Node* host = &nodes_[i];
        if (std::ranges::any_of(places_, [&](const auto& one) { return one.second.host == host; })) continue;
        const std::string id = fmt::format("kn-{}", ++number_);
        view.nodes.push_back({.id = id, .role = action.role, .pool = action.pool, .number = number_});
        places_[id] = {.host = host, .name = host->name(), .folder = "/var/lib/hostler/" + id};
        return;
    }
    problem_ = "there are too few hosts";
}

void Walk::move(const std::string& id, NodeEvent event) {
    NodeView& one = node(id);
    one.phase = *next(node_life, one.phase, event);
    one.step = 0;
    one.exhausted = false;
    places_[id].failures = 0;
    note(fmt::format("{} is {}", places_[id].name, boost::describe::enum_to_string(one.phase, "?")));
    if (one.phase != NodePhase::left) return;
    places_.erase(id);
    std::erase_if(view.nodes, [&](const NodeView& it) { return it.id == id; });
}

void Walk::apply(const ClusterAction& action) {
    switch (action.act) {
        case ClusterAct::claim: return claim(action);
        case ClusterAct::drop: node(action.node).wanted = false; return;
        case ClusterAct::step: return begin(action);
        case ClusterAct::skip: ++node(action.node).step; return;
        case ClusterAct::move: return move(action.node, action.node_event);
        case ClusterAct::turn: view.phase = *next(cluster_life, view.phase, action.cluster_event); return;
    }
}

// A program lives as long as the thread that starts it: not in the step's own.
Result<> Walk::start(Place& place, const DriverStep& step, const StepValues& values) {
    TRY(perform(*place.host, step, values, false));
    const Words words = TRY(filled_words(step.start, values));
    place.programs[step.name] = TRY(place.host->start(words, step.name));
    return {};
}

void Walk::begin(const ClusterAction& action) {
    Place& place = places_[action.node];
    Node* host = place.host;
    if (action.step->place == StepPlace::control) {
        host = control();
        if (!host) return void(problem_ = "no control plane for " + action.step->name);
    }
    const bool elsewhere = host != place.host;
    const std::string folder = elsewhere ? place.folder + "-control" : place.folder;
    const StepValues values = values_of(action.node, folder);
    Running running{action.node, action.step, values.at("cluster.addresses"), Clock::now(), {}};
    if (!action.step->start.empty()) {
        std::promise<Result<StepValues>> at_once;
        auto started = start(place, *action.step, values);
        at_once.set_value(started ? Result<StepValues>{} : std::unexpected(started.error()));
        running.end = at_once.get_future();
    } else {
        const bool again = place.failures > 0;
        running.end = std::async(std::launch::async, [host, step = action.step, values, again] {
            return perform(*host, *step, values, again);
        });
    }
    running_.push_back(std::move(running));
}

void Walk::passed(const Running& running, const StepValues& values) {
    NodeView& one = node(running.node);
    Place& place = places_[running.node];
    for (const auto& [name, value] : values) outputs[name] = value;
    place.failures = 0;
    ++one.step;
    const bool comes = one.phase == NodePhase::preparing || one.phase == NodePhase::joining;
    if (comes && running.step->place == StepPlace::node) place.told = running.addresses;
    if (one.phase == NodePhase::ready && one.step == steps_of(driver_, StepPhase::refresh, one.role).size()) {
        place.told = running.addresses;
        one.step = 0;
    }
}

void Walk::failed(const Running& running, const Error& error) {
    Place& place = places_[running.node];
    note(fmt::format("{} of {} failed: {}", running.step->name, place.name, error.message));
    if (++place.failures < running.step->tries) return;
    problem_ = fmt::format("{} of {} fails: {}", running.step->name, place.name, error.message);
}

// Whether a step has ended.
bool Walk::finish() {
    const auto at = std::ranges::find_if(running_, [](const Running& one) {
        return one.end.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
    });
    if (at == running_.end()) return false;
    Running running = std::move(*at);
    running_.erase(at);
    const auto end = running.end.get();
    note(fmt::format("{} of {}: {:.1f} s", running.step->name, places_[running.node].name,
                     std::chrono::duration<double>(Clock::now() - running.since).count()));
    const StepPhase phase = running.step->phase;
    changed_ = changed_ || phase == StepPhase::join || phase == StepPhase::leave;
    end ? passed(running, *end) : failed(running, end.error());
    return true;
}

void Walk::note(const std::string& line) {
    const auto now = std::chrono::time_point_cast<Seconds>(std::chrono::system_clock::now());
    log += fmt::format("  {:%T} {}\n", now, line);
    write_file(nodes_.folder().in("walk.log"), log);
}

std::string Walk::go(Seconds within) {
    const auto end = Clock::now() + within;
    problem_.clear();
    while (problem_.empty() && Clock::now() < end) {
        see();
        const ClusterPlan next = plan(view, driver_);
        for (const ClusterAction& action : next.actions)
            if (problem_.empty()) apply(action);
        if (!next.actions.empty()) continue;
        if (running_.empty()) {
            if (next.blocked.empty()) return "";
            pause_briefly();
            changed_ = true;
            continue;
        }
        while (Clock::now() < end && !finish()) pause_briefly();
    }
    for (const Running& one : running_) one.end.wait();
    running_.clear();
    return problem_.empty() ? "it does not come to rest" : problem_;
}

std::string Walk::step(const DriverStep& step, Node& host) {
    const auto at = std::ranges::find(places_, &host, [](const auto& one) { return one.second.host; });
    if (at == places_.end()) return host.name() + " is no node";
    const auto done = perform(host, step, values_of(at->first, at->second.folder), false);
    return done ? "" : done.error().message;
}

std::vector<std::string> left_on(Node& node, const Leftovers& what) {
    constexpr const char* names = R"(case $0 in
process) ps -e -o comm= ;;
mount) awk '{ print $2 }' /proc/self/mounts ;;
interface) ls /sys/class/net ;;
table) nft list tables | sed 's/^table //'; { iptables-save; ip6tables-save; } 2>/dev/null | sed -n 's/^:\([^ ]*\).*/\1/p' ;;
file) for file in $1; do [ ! -e "$file" ] || echo "$file"; done ;;
cgroup) find /sys/fs/cgroup -type d -printf '%f\n' ;;
image) ctr -n k8s.io images ls -q ;;
set) ipset list -n ;;
esac)";
    std::vector<std::string> found;
    const auto look = [&](const char* kind, const std::vector<std::string>& patterns) {
        const Ran seen =
            node.run({"sh", "-c", names, kind, fmt::format("{}", fmt::join(patterns, " "))}, Seconds{60});
        if (seen.code != 0) found.push_back(fmt::format("{} cannot be looked for: {}", kind, seen.err));
        std::istringstream lines{seen.out};
        for (std::string name; std::getline(lines, name);)
            if (std::ranges::any_of(patterns, [&](const std::string& pattern) {
                    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
                }))
                found.push_back(fmt::format("{} {}", kind, name));
    };
    look("process", what.processes), look("mount", what.mounts), look("interface", what.interfaces);
    look("table", what.tables), look("file", what.files), look("cgroup", what.cgroups),
        look("image", what.images), look("set", {"*"});
    return found;
}

Ran plant_leftovers(Node& node, const std::string& archive) {
    constexpr const char* script = R"(set -e
mkdir -p /root/planted; cp /bin/sleep /root/planted/kubelet
setsid /root/planted/kubelet 600 >/dev/null 2>&1 </dev/null &
mkdir -p /var/lib/kubelet/pods/x /etc/kubernetes /var/lib/etcd
mount -t tmpfs tmpfs /var/lib/kubelet/pods/x
ip link add veth0 type veth peer name veth1
nft add table ip kube-proxy
iptables -N KUBE-PLANTED
iptables -A FORWARD -j KUBE-PLANTED
ipset create KUBE-SRC-PLANTED hash:ip
ipset create inet6:KUBE-DST-PLANTED hash:ip family inet6
iptables -A KUBE-PLANTED -m set --match-set KUBE-SRC-PLANTED src -j ACCEPT
groups=/sys/fs/cgroup
[ ! -d $groups/memory ] || groups=$groups/memory
mkdir -p $groups/kubepods/burstable
ctr -n k8s.io images import "$0" >/dev/null)";
    return node.run({"sh", "-c", script, archive}, Seconds{120});
}

}  // namespace hostler::kube
