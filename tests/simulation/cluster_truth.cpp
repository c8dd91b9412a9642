#include "cluster_truth.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/cluster/quorum.h"

namespace hostler::simulation {

namespace {

constexpr const char* kubelet = "/usr/bin/kubelet";

using Words = std::vector<std::string>;

// Each command is told of which cluster and which node it is.
Words words(std::string program, std::initializer_list<const char*> more = {}) {
    Words made{std::move(program), "{{cluster.id}}", "{{node.name}}"};
    made.insert(made.end(), more.begin(), more.end());
    return made;
}

DriverStep step(std::string name, StepPhase phase, StepPlace place = StepPlace::node,
                std::vector<NodeRole> roles = {}) {
    return {.name = name,
            .help = "A step of the simulation.",
            .phase = phase,
            .roles = std::move(roles),
            .place = place,
            .run = words("sim-" + name),
            .deadline_s = 20,
            .tries = 3};
}

sim::SimCommand fails(std::string why) { return {.exit_code = 1, .complaint = std::move(why)}; }

}  // namespace

// In the order of kubeadm: a kubelet first, then a control plane, whose members are an etcd.
Driver ClusterTruth::driver() {
    using enum StepPhase;
    using enum StepPlace;
    Driver made{
        .name = driver_name,
        .title = "Clusters of the simulation",
        .versions = {"v2", "v1"},
        .values = {{"podSubnet", "10.0.0.0/8"}},
        .steps = {step("install", prepare), step("kubelet", prepare), step("init", create),
                  step("token", StepPhase::join, control), step("join", StepPhase::join),
                  step("hosts", refresh), step("label", settle, control), step("probe", settle, control),
                  step("drain", drain, control), step("forget-member", leave, control, {NodeRole::control}),
                  step("forget-node", leave, control), step("reset", clean), step("remove", clean),
                  step("save", save), step("restore", restore), step("erase", erase, control)},
        .leftovers = {.processes = {"kubelet"},
                      .mounts = {"/var/lib/kubelet/*"},
                      .interfaces = {"cni*"},
                      .tables = {"KUBE-*"},
                      .files = {"/etc/kubernetes/*"},
                      .cgroups = {"kubepods*"}}};
    const auto of = [&](std::string_view name) -> DriverStep& {
        return *std::ranges::find(made.steps, name, &DriverStep::name);
    };
    of("install").run = words("sim-install", {"{{node.address}}", "{{version}}"});
    of("install").files = {{"/etc/kubernetes/hosts", "{{cluster.addresses}}"}};
    of("kubelet").run.clear();
    of("kubelet").start = words(kubelet);
    of("init").outputs = {"ca"};
    of("init").undo = words("sim-undo");
    of("token").outputs = {"join-token"};
    of("join").run = words("sim-join", {"{{control.address}}", "{{join-token}}", "{{podSubnet}}"});
    of("join").done = words("sim-is-joined");
    of("join").undo = words("sim-undo");
    of("hosts").files = {{"/etc/kubernetes/hosts", "{{cluster.addresses}}"}};
    of("save").run = words("sim-save", {"{{save.file}}"});
    of("save").outputs = {"save.bytes"};
    of("restore").run = words("sim-restore", {"{{save.file}}"});
    of("restore").outputs = {"ca"};
    of("restore").undo = words("sim-undo");
    of("erase").run = {"sim-erase", "{{cluster.id}}", "{{save.id}}", "{{save.file}}"};
    of("probe").outputs = {"nodes"};
    of("probe").tries = 1;
    return made;
}

void ClusterTruth::stand_on(sim::Machine& machine) {
    machine.node_host.know(driver());
    machine.node_host.plays = [this, &machine](const Words& words) { return play({machine.name, words}); };
    machine.pod_host.kubelet_runs = [this, &machine] { return node_on(machine.name).has_value(); };
}

std::string ClusterTruth::some_secret() { return fmt::format("{}{:016x}", secret, dice_.next()); }

const ClusterTruth::Store* ClusterTruth::member_store(const std::string& machine) const {
    const auto here = data_.find(machine);
    if (here == data_.end()) return nullptr;
    for (const Store& store : stores_)
        if (const auto member = store.members.find(here->second.second);
            store.cluster == here->second.first && member != store.members.end() && member->second == machine)
            return &store;
    return nullptr;
}

ClusterTruth::Store* ClusterTruth::store_at(const std::string& machine) {
    return const_cast<Store*>(member_store(machine));
}

bool ClusterTruth::lives(const Member& member) const {
    const auto at = world_.machines().find(member.machine);
    const auto here = data_.find(member.machine);
    if (at == world_.machines().end() || here == data_.end() ||
        here->second != std::pair{member.cluster, member.node} || !world_.network.powered(member.machine))
        return false;
    return std::ranges::any_of(at->second->node_host.programs, [&](const auto& program) {
        return program.second == Words{kubelet, member.cluster, member.node};
    });
}

std::optional<ClusterTruth::Member> ClusterTruth::node_on(const std::string& machine) const {
    const auto here = data_.find(machine);
    if (here == data_.end()) return std::nullopt;
    Member node{here->second.first, here->second.second, machine};
    if (!lives(node)) return std::nullopt;
    return node;
}

// A majority of the members that reach each other from there.
bool ClusterTruth::answers_at(const std::string& machine) const {
    const Store* store = member_store(machine);
    if (!store) return false;
    const auto& [cluster, own] = data_.at(machine);
    if (!lives({cluster, own, machine})) return false;
    const auto there = std::ranges::count_if(store->members, [&](const auto& one) {
        return lives({cluster, one.first, one.second}) &&
               (one.second == machine ||
                (world_.network.reaches(machine, one.second) && world_.network.reaches(one.second, machine)));
    });
    return there >= majority(static_cast<int>(store->members.size()));
}

sim::SimCommand ClusterTruth::play(const Call& call) {
    const std::string& program = call.words[0];
    if (program == "sim-install") {
        addresses_[call.words[3]] = call.machine;
        return {};
    }
    if (program == "sim-init") return create(call);
    if (program == "sim-restore")
        return saves_.contains(call.words[3]) ? create(call) : fails("there is no such save");
    if (program == "sim-erase") {
        saves_.erase(call.words[3]);
        return {};
    }
    if (program == "sim-join") return join(call);
    if (program == "sim-is-joined") {
        const auto here = data_.find(call.machine);
        const bool is = here != data_.end() && here->second == std::pair{call.cluster(), call.node()};
        return is ? sim::SimCommand{} : fails("it has not joined");
    }
    if (program == "sim-undo" || program == "sim-reset") wipe(call.machine);
    if (program == "sim-undo" || program == "sim-reset" || program == "sim-remove" || program == "sim-hosts")
        return {};
    return with_api(call);
}

// The data of its member is gone, with all pods; the others still count it. With the last one the store is
// gone.
void ClusterTruth::wipe(const std::string& machine) {
    data_.erase(machine);
    world_.machine(machine).pod_host.pods.clear();
    std::erase_if(stores_, [&](const Store& store) {
        return std::ranges::none_of(store.members, [&](const auto& one) {
            const auto here = data_.find(one.second);
            return here != data_.end() && here->second == std::pair{store.cluster, one.first};
        });
    });
}

sim::SimCommand ClusterTruth::create(const Call& call) {
    if (data_.contains(call.machine)) return fails("this host is a node already");
    data_[call.machine] = {call.cluster(), call.node()};
    stores_.push_back(
        {.cluster = call.cluster(), .members = {{call.node(), call.machine}}, .nodes = {call.node()}});
    return {.output = fmt::format("ca={}\n", some_secret())};
}

sim::SimCommand ClusterTruth::join(const Call& call) {
    const auto address = addresses_.find(call.words[3]);
    if (address == addresses_.end()) return fails("nobody has that address");
    const std::string& through = address->second;
    const bool reached = through == call.machine || (world_.network.reaches(call.machine, through) &&
                                                     world_.network.reaches(through, call.machine));
    Store* store = store_at(through);
    if (!reached || !store || !answers_at(through)) return fails("the API does not answer");
    if (store->cluster != call.cluster() || !store->tokens.contains(call.words[4]))
        return fails("the token is of another cluster");
    if (data_.contains(call.machine)) return fails("this host is a node already");
    const bool control = call.node()[call.node().rfind('-') + 1] == 'c';
    const auto healthy = std::ranges::count_if(
        store->members, [&](const auto& one) { return lives({store->cluster, one.first, one.second}); });
    if (control && std::cmp_not_equal(healthy, store->members.size()))
        return fails("a member does not answer");
    store->nodes.insert(call.node());
    if (control) store->members[call.node()] = call.machine;
    data_[call.machine] = {call.cluster(), call.node()};
    ++joined;
    return {};
}

sim::SimCommand ClusterTruth::with_api(const Call& call) {
    const std::string& program = call.words[0];
    Store* store = store_at(call.machine);
    if (!store || store->cluster != call.cluster() || !answers_at(call.machine)) {
        ++asked_in_vain;
        return fails("the API does not answer");
    }
    if (program == "sim-token") {
        const std::string token = some_secret();
        store->tokens.insert(token);
        return {.output = fmt::format("join-token={}\n", token)};
    }
    if (program == "sim-save") {
        saves_.insert(call.words[3]);
        ++saved;
        return {.output = "save.bytes=7\n"};
    }
    if (program == "sim-probe") return {.output = fmt::format("nodes={}\n", seen_by(*store))};
    if (program == "sim-forget-member") return forget_member(call);
    if (program == "sim-forget-node") store->nodes.erase(call.node());
    if (program == "sim-label" && !store->nodes.contains(call.node())) return fails("there is no such node");
    return {};
}

std::string ClusterTruth::seen_by(const Store& store) const {
    std::set<std::string> names = store.nodes;
    for (const auto& [name, machine] : store.members) names.insert(name);
    std::string text;
    for (const std::string& name : names) {
        const auto member = store.members.find(name);
        bool healthy = false;
        for (const auto& [machine, of] : data_)
            healthy =
                healthy || (of == std::pair{store.cluster, name} && lives({store.cluster, name, machine}));
        text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : " ", name,
                            member != store.members.end() ? "member" : "",
                            member != store.members.end() && healthy ? "," : "", healthy ? "healthy" : "");
    }
    return text;
}

// As etcd, it refuses what would leave it without a majority.
sim::SimCommand ClusterTruth::forget_member(const Call& call) {
    Store& store = *store_at(call.machine);
    if (!store.members.contains(call.node())) return {};
    if (!may_lose(call.cluster(), call.node(), {})) return fails("too few members would be left");
    store.members.erase(call.node());
    ++forgotten;
    return {};
}

std::vector<ClusterTruth::Member> ClusterTruth::members() const {
    std::vector<Member> all;
    for (const Store& store : stores_)
        for (const auto& [name, machine] : store.members) all.push_back({store.cluster, name, machine});
    return all;
}

bool ClusterTruth::is_member(const std::string& cluster, const std::string& node) const {
    return std::ranges::any_of(members(),
                               [&](const Member& one) { return one.cluster == cluster && one.node == node; });
}

bool ClusterTruth::answers(const std::string& cluster) const {
    return std::ranges::any_of(
        data_, [&](const auto& here) { return here.second.first == cluster && answers_at(here.first); });
}

bool ClusterTruth::may_lose(const std::string& cluster, const std::string& node, Duration moment) const {
    for (const Store& store : stores_) {
        if (store.cluster != cluster || !store.members.contains(node)) continue;
        int left = 0, live = 0;
        for (const auto& [name, machine] : store.members) {
            if (name == node) continue;
            ++left;
            const Member one{cluster, name, machine};
            const auto dead = dead_since_.find(one);
            const bool lately = dead == dead_since_.end() || world_.timers.now() - dead->second < moment;
            if (lives(one) || (moment > Duration{} && lately)) ++live;
        }
        if (left == 0 || live < majority(left)) return false;
    }
    return true;
}

void ClusterTruth::look() {
    if (stores_.empty()) return;
    std::map<Member, Instant> dead;
    for (const Member& one : members()) {
        if (lives(one)) continue;
        const auto before = dead_since_.find(one);
        dead[one] = before == dead_since_.end() ? world_.timers.now() : before->second;
    }
    dead_since_ = std::move(dead);
}

}  // namespace hostler::simulation
