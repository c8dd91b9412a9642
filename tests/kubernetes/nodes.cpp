#include "nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "images.h"
#include "parts.h"

namespace hostler::kube {

namespace fs = std::filesystem;

namespace {

constexpr int address_first = 11;  // Of nodes, in their /24.

Result<> done(const Words& words, Seconds within = Seconds{60}) {
    const Ran ran = run(words, within);
    if (ran.code == 0) return {};
    return fail(Code::unavailable,
                fmt::format("`{}` ends with {}: {}", fmt::join(words, " "), ran.code, ran.err));
}

std::string network_of(pid_t process) {
    std::error_code gone;
    return fs::read_symlink(fmt::format("/proc/{}/ns/net", process), gone);
}

// The process joins the groups and becomes the words that follow.
Words within_groups(const std::vector<std::string>& groups, const Words& words) {
    Words all{"sh", "-c",
              R"(for group in $0; do echo $$ >"$group/cgroup.procs" || exit 125; done; exec "$@")",
              fmt::format("{}", fmt::join(groups, " "))};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

}  // namespace

Result<std::unique_ptr<Nodes>> Nodes::start(const std::vector<std::string>& names, Seconds ready_within,
                                            NodeImages kept) {
    std::unique_ptr<Nodes> nodes{new Nodes};
    TRY(nodes->lay_network());
    const std::string images = nodes->archive();
    TRY(write_images(images, nodes->folder_.in("images")));
    std::string hosts;
    int last = address_first;
    for (const std::string& name : names) {
        nodes->nodes_.push_back(Node{*nodes, name, fmt::format("{}.{}", nodes->network_, last++)});
        hosts += fmt::format("{} {}\n", nodes->nodes_.back().address(), name);
    }
    write_file(nodes->folder_.in("hosts"), hosts);
    const std::string pause = TRY(pause_image());
    for (Node& node : nodes->nodes_) TRY(node.boot(pause, kept == NodeImages::imported ? images : ""));
    for (Node& node : nodes->nodes_) TRY(node.ready(ready_within));
    if (kept == NodeImages::imported) fs::remove(images);
    return nodes;
}

// The first processes go first, and with them all that nodes run: no other order frees mounts and groups.
Nodes::~Nodes() {
    for (Node& node : nodes_) node.machine_.kill();
    switch_.kill();
}

// A pair of interfaces leads from this machine to the switch; it goes with the switch's namespace.
Result<> Nodes::lay_network() {
    switch_ = TRY(Child::start({"unshare", "--net", "sleep", "infinity"}, folder_.in("switch.log")));
    if (!eventually(Seconds{10}, [this] { return network_of(switch_.pid()) != network_of(::getpid()); }))
        return fail(Code::unavailable, "no network namespace: " + switch_.tail());
    TRY(switch_run({"ip", "link", "add", "switch", "type", "bridge"}));
    TRY(switch_run({"ip", "link", "set", "switch", "up"}));
    const std::string taken = run({"ip", "-4", "route", "show", "table", "all"}).out,
                      own = "hk" + folder_.suffix();
    constexpr int networks = 250;
    for (int i = 0; i < networks; ++i) {  // One that this machine does not know.
        network_ = fmt::format("10.213.{}", 1 + (::getpid() + i) % networks);
        if (!taken.contains(network_ + ".")) break;
    }
    TRY(done({"ip", "link", "add", own, "type", "veth", "peer", "name", "outside", "netns",
              std::to_string(switch_.pid())}));
    TRY(switch_run({"ip", "link", "set", "outside", "master", "switch", "up"}));
    TRY(done({"ip", "address", "add", outside() + "/24", "dev", own}));
    return done({"ip", "link", "set", own, "up"});
}

Result<> Nodes::switch_run(Words words) {
    words.insert(words.begin(), {"nsenter", "--net", "--target", std::to_string(switch_.pid()), "--"});
    return done(words);
}

Result<> Nodes::lay_pod_network(const std::string& range) {
    for (std::size_t i = 0; i < size(); ++i) {
        Node& node = nodes_[i];
        node.write("/etc/cni/net.d/10-test.conflist",
                   fmt::format(R"({{"cniVersion": "1.0.0", "name": "test", "plugins": [
    {{"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
     "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{}.{}.0/24"}}]], "routes": [{{"dst": "0.0.0.0/0"}}]}}}},
    {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]}}
)",
                               range, i));
        for (std::size_t other = 0; other < size(); ++other) {
            if (other == i) continue;
            const Ran ran = node.run({"ip", "route", "replace", fmt::format("{}.{}.0/24", range, other),
                                      "via", nodes_[other].address()});
            if (ran.code != 0) return fail(Code::unavailable, ran.err);
        }
    }
    return {};
}

std::string Node::folder() const { return all_.folder_.in(name_); }

Result<> Node::boot(const std::string& pause, const std::string& images) {
    fs::create_directories(folder());
    groups_ = TRY(make_groups(fmt::format("{}/{}", all_.folder_.name(), name_)));
    machine_ = TRY(Child::start(within_groups(groups_, {"unshare",
                                                        "--mount",
                                                        "--net",
                                                        "--uts",
                                                        "--ipc",
                                                        "--pid",
                                                        "--cgroup",
                                                        "--fork",
                                                        "--kill-child=KILL",
                                                        "--propagation",
                                                        "private",
                                                        "--mount-proc",
                                                        HOSTLER_SOURCE "/tests/kubernetes/node.sh",
                                                        folder(),
                                                        name_,
                                                        address_,
                                                        all_.outside(),
                                                        pause,
                                                        images,
                                                        fs::canonical(parts())}),
                                folder() + "/node.log"));
    return wire_up();
}

Result<> Node::wire_up() {
    const auto born = [this] {
        first_ = machine_.runs() ? child_of(machine_.pid()) : 0;
        return !machine_.runs() || (first_ != 0 && network_of(first_) != network_of(::getpid()));
    };
    if (!eventually(Seconds{30}, born) || !machine_.runs())
        return fail(Code::unavailable, fmt::format("no namespaces for {}: {}", name_, machine_.tail()));
    TRY(all_.switch_run({"ip", "link", "add", name_, "type", "veth", "peer", "name", "eth0", "netns",
                         std::to_string(first_)}));
    return all_.switch_run({"ip", "link", "set", name_, "master", "switch", "up"});
}

Result<> Node::ready(Seconds within) {
    const bool is_ready =
        eventually(within, [this] { return !machine_.runs() || fs::exists(folder() + "/ready"); });
    if (is_ready && machine_.runs()) return {};
    return fail(
        Code::unavailable,
        fmt::format("{} {}:\n{}{}{}", name_, is_ready ? "has ended" : "is not ready in time", machine_.tail(),
                    read_file(folder() + "/containerd.log"), read_file(folder() + "/import.log")));
}

// In the node's groups, too: they are what its group namespace shows as the root.
Words Node::inside(Words words) const {
    words.insert(words.begin(),
                 {"nsenter", "--target", std::to_string(first_), "--mount", "--net", "--uts", "--ipc",
                  "--pid", "--cgroup", "--wd=/", "--", "setpriv", "--pdeathsig", "KILL"});
    std::vector<std::string> groups = groups_;
    for (std::string& group : groups)  // On version 2 the root has no processes.
        if (fs::exists(group + "/init")) group += "/init";
    return within_groups(groups, words);
}

Ran Node::run(Words words, Seconds within, const std::string& input, const Environment& environment) {
    return kube::run(inside(std::move(words)), within, input, environment);
}

Result<Child> Node::start(Words words, const std::string& log, const Environment& environment) {
    Child child =
        TRY(Child::start(inside(std::move(words)), fmt::format("{}/{}.log", folder(), log), environment));
    child.enters();
    return child;
}

Result<> Node::start_kubelet() {
    kubelet_ = TRY(start({HOSTLER_SOURCE "/tests/kubernetes/kubelet.sh"}, "kubelet"));
    return {};
}

void Node::stop_kubelet() { kubelet_.kill(); }

void Node::write(const std::string& path, const std::string& text) {
    run({"sh", "-c", R"sh(mkdir -p "$(dirname "$0")" && cat >"$0")sh", path}, Seconds{10}, text);
}

}  // namespace hostler::kube
