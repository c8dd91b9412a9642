#include "cloud_on_nodes.h"

#include <fmt/format.h>
#include <signal.h>

#include <filesystem>

#include "driver_file.h"
#include "images.h"
#include "parts.h"

namespace hostler::kube {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

constexpr const char* agent_data = "/var/lib/hostler-agent";

json::value parsed(const std::string& text) {
    boost::system::error_code error;
    return json::parse(text, error);
}

// What follows `option` in a command that is shown to people.
std::string option_of(const std::string& command, const std::string& option) {
    const auto at = command.find(option + " ");
    if (at == std::string::npos) return {};
    const auto begin = at + option.size() + 1;
    return command.substr(begin, command.find(' ', begin) - begin);
}

std::string end_of(const std::string& text) {
    constexpr std::size_t kept = 3000;
    return text.substr(text.size() > kept ? text.size() - kept : 0);
}

}  // namespace

std::string text_at(const json::value& from, std::string_view name) {
    if (!from.is_object()) return {};
    const json::value* at = from.get_object().if_contains(name);
    return at && at->is_string() ? std::string{at->get_string()} : std::string{};
}

std::string CloudOnNodes::saves() const { return nodes_.folder().in("saves"); }

std::string CloudOnNodes::in(const std::string& below) const { return nodes_.folder().in("cloud/" + below); }

Result<std::unique_ptr<CloudOnNodes>> CloudOnNodes::start(Nodes& nodes, HostsWanted wanted) {
    std::unique_ptr<CloudOnNodes> cloud{new CloudOnNodes{nodes, std::move(wanted)}};
    fs::create_directories(cloud->in(""));
    write_file(cloud->in("cli.toml"), "");
    fs::create_directories(cloud->saves());
    fs::permissions(cloud->saves(), fs::perms::owner_all);
    TRY(cloud->begin_up());
    for (std::size_t i = 0; i < nodes.size(); ++i) TRY(cloud->join(nodes[i]));
    const bool all = eventually(Seconds{120}, [&] {
        const json::value hosts = cloud->told({"host", "list", "--state", "ready"});
        return hosts.is_array() && hosts.get_array().size() == nodes.size() + 1;
    });
    if (!all)
        return fail(Code::unavailable, "the hosts do not report:\n" +
                                           cloud->cli({"host", "list", "-o", "json"}).out + cloud->logs());
    return cloud;
}

CloudOnNodes::~CloudOnNodes() {
    for (Child& agent : agents_) agent.kill();
    for (Child& engine : engines_) engine.kill();
    up_.stop(SIGINT, Seconds{60});
}

Result<> CloudOnNodes::begin_up() {
    const std::string ready = in("ready.json");
    Words words{
        HOSTLER, "up",    "--data",   in("data"), "--listen",   nodes_.outside() + ":0",    "--ready-file",
        ready,   "--tls", "--engine", "sim",      "--simulate", "hosts=1,gpus=2,model=H100"};
    if (!wanted_.drivers.empty()) words.insert(words.end(), {"--drivers", wanted_.drivers});
    up_ = TRY(Child::start(std::move(words), in("up.log")));
    if (!eventually(Seconds{120}, [&] { return !up_.runs() || fs::exists(ready); }) || !fs::exists(ready))
        return fail(Code::unavailable, "hostler up does not get ready: " + up_.tail());
    const json::value told = parsed(read_file(ready));
    api_ = text_at(told, "api"), key_ = text_at(told, "token"), ca_ = text_at(told, "ca");
    return {};
}

// As the host of `up` has them, with other UUIDs and serial numbers: no GPU is in two hosts.
Result<Words> CloudOnNodes::simulated_gpus(const std::string& folder) {
    std::error_code none;
    for (const auto& host : fs::directory_iterator{in("data/hosts"), none}) {
        const std::string from = host.path().string();
        fs::create_directories(folder + "/cdi");
        for (const char* file : {"/nvml.state", "/cdi/simulated.json"}) {
            std::string text = read_file(from + file);
            for (const std::string_view prefix : {"GPU-", "serial = "})
                for (auto at = text.find(prefix); at != text.npos; at = text.find(prefix, at + 1))
                    text.replace(at + prefix.size(), 4, fmt::format("{:04}", 1000 + agents_.size()));
            write_file(folder + file, text);
        }
        return Words{"--nvml-lib", fs::path{HOSTLER}.parent_path() / "simulated/libnvidia-ml.so.1",
                     "--cdi-dir", folder + "/cdi"};
    }
    return fail(Code::unavailable, "hostler up has made no simulated host in " + in("data/hosts"));
}

Result<> CloudOnNodes::join(Node& node) {
    const json::value made = told({"host", "token", "create", "--zone", "nj"});
    const std::string access = option_of(text_at(made, "command"), "--access");
    if (access.empty())
        return fail(Code::unavailable, fmt::format("no token for a host: {}\n{}", problem_, logs()));
    // The node's own folders lie on overlays, which can hold no others.
    engines_.push_back(
        TRY(node.start({"podman", "--root", node.folder() + "/podman", "--runroot", "/run/podman", "system",
                        "service", "--time", "0", "unix:///run/podman.sock"},
                       "engine")));
    Words words{"sh",
                "-c",
                R"(while :; do "$@"; sleep 0.2; done)",
                "agent",
                HOSTLER_AGENT,
                "run",
                "--data",
                agent_data,
                "--access",
                access,
                "--engine",
                "docker:/run/podman.sock",
                "--clusters",
                "--cluster-saves",
                saves(),
                "--no-user-namespaces"};  // No new /proc is mounted in one where files cover parts of /proc.
    Environment environment{{"HOSTLER_TOKEN", text_at(made, "token")}};
    if (!wanted_.drivers.empty()) words.insert(words.end(), {"--drivers", wanted_.drivers});
    if (wanted_.with_gpus.contains(node.name())) {
        const std::string folder = node.folder() + "/gpus";
        const Words more = TRY(simulated_gpus(folder));
        words.insert(words.end(), more.begin(), more.end());
        environment["HOSTLER_SIMULATED_NVML"] = folder + "/nvml.state";
    }
    agents_.push_back(TRY(node.start(std::move(words), "agent", environment)));
    return {};
}

Ran CloudOnNodes::cli(Words words, Seconds within) {
    words.insert(words.begin(), HOSTLER);
    return run(std::move(words), within, {}, environment());
}

Ran CloudOnNodes::create_cluster(const std::string& name, Words words) {
    words.insert(words.begin(), {"cluster", "create", name, "--tenant-id", "acme"});
    for (const char* value :
         {"imagePullPolicy=Never", "ignoreChecks=SystemVerification", "failSwapOn=false",
          "failCgroupV1=false", "kubeletOomScore=0", "diskFreeMib=100", "diskKeptFree=1%"})
        words.insert(words.end(), {"--value", value});
    words.insert(words.end(), {"--value", "imageArchive=" + nodes_.archive()});
    return cli(std::move(words));
}

std::string CloudOnNodes::run_plain_instance(Node& node) {
    const Ran loaded =
        node.run({"podman", "--root", node.folder() + "/podman", "--runroot", "/run/podman", "pull",
                  "--quiet", fmt::format("docker-archive:{}:{}", nodes_.archive(), hello_image)},
                 Seconds{120});
    if (loaded.code != 0) return "no image: " + loaded.err;
    const std::string name = "plain-" + node.name();
    cli({"spec", "create", "small", "--cpu", "1", "--memory", "256Mi", "--gpu-type", "H100", "--gpu-num",
         "1"});
    const Ran made = cli({"instance", "create", name, "--tenant-id", "acme", "--spec", "small", "--host",
                          node.name(), "--image", hello_image});
    if (made.code != 0) return "not created: " + made.err;
    json::value now;
    const bool runs = eventually(Seconds{120}, [&] {
        now = told({"instance", "get", name, "--tenant-id", "acme"});
        return text_at(now, "state") == "running" || text_at(now, "state") == "failed";
    });
    const std::string state = text_at(now, "state");
    cli({"instance", "delete", name, "--tenant-id", "acme", "--yes"});
    return runs && state == "running" ? "" : json::serialize(now);
}

Environment CloudOnNodes::environment() const {
    return {{"HOSTLER_API", api_},
            {"HOSTLER_KEY", key_},
            {"HOSTLER_CA", ca_},
            {"HOSTLER_CONFIG", in("cli.toml")}};
}

json::value CloudOnNodes::told(Words words) {
    words.insert(words.end(), {"-o", "json"});
    const Ran ran = cli(std::move(words));
    problem_ = ran.err;
    return ran.code == 0 ? parsed(ran.out) : json::value{};
}

void CloudOnNodes::kill_access(const std::string& zone) {
    run({"pkill", "-KILL", "-f", fmt::format("^[^ ]*hostler access .*{}/access-{}", in("data"), zone)});
}

void CloudOnNodes::kill_master() { run({"pkill", "-KILL", "-f", "^[^ ]*hostler master .*" + in("data")}); }

void CloudOnNodes::kill_agent(Node& node) {
    node.run({"pkill", "-KILL", "-f", fmt::format("^{} run --data", HOSTLER_AGENT)});
}

std::string CloudOnNodes::logs() const {
    std::string all = "── up ──\n" + end_of(read_file(in("up.log")));
    std::error_code none;
    for (const auto& file : fs::directory_iterator{in("data/logs"), none})
        all += fmt::format("── {} ──\n{}\n", file.path().filename().string(), end_of(read_file(file.path())));
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (const char* log : {"agent", "engine", "containerd"})
            all += fmt::format("── {} of {} ──\n{}\n", log, nodes_[i].name(),
                               end_of(read_file(fmt::format("{}/{}.log", nodes_[i].folder(), log))));
    return all;
}

void OnNodes::SetUp() {
    HOSTLER_NEEDS_KUBERNETES(Needs::nodes);
    auto nodes = Nodes::start(names_, Seconds{180}, NodeImages::archive);
    ASSERT_TRUE(nodes) << nodes.error().message;
    nodes_ = std::move(*nodes);
    auto cloud = CloudOnNodes::start(*nodes_, {.with_gpus = with_gpus_, .drivers = more_drivers()});
    ASSERT_TRUE(cloud) << cloud.error().message;
    cloud_ = std::move(*cloud);
    auto driver = read_driver(HOSTLER_SOURCE "/drivers/kubeadm");
    ASSERT_TRUE(driver) << driver.error().message;
    driver_ = std::move(*driver);
    succeeds(cloud_->cli({"tenant", "create", "acme"}));
}

void OnNodes::TearDown() {
    if (cloud_ && HasFailure()) fmt::print("{}\n", cloud_->logs());
    cloud_ = nullptr;
    const std::string name = nodes_ ? nodes_->folder().name() : "";
    nodes_ = nullptr;
    if (!name.empty()) EXPECT_EQ(left_of(name), std::vector<std::string>{});
}

Ran OnNodes::kubectl(Node& at, Words words, const std::string& input, Seconds within) {
    words.insert(words.begin(), {"kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"});
    return at.run(std::move(words), within, input);
}

}  // namespace hostler::kube
