#include "cloud.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "adapters/docker/api.h"
#include "adapters/docker/bodies.h"
#include "adapters/docker/process.h"

namespace hostler::cloud {

namespace fs = std::filesystem;

namespace {

// Ours, or another build's.
std::string hostler_program() {
    const char* other = std::getenv("HOSTLER_UNDER_TEST");  // NOLINT(concurrency-mt-unsafe): one thread.
    return other ? other : HOSTLER;
}

std::unique_ptr<Cloud>& shared_cloud() {
    static std::unique_ptr<Cloud> cloud;
    return cloud;
}

class EndOfShared : public ::testing::Environment {
    void TearDown() override { shared_cloud().reset(); }
};
[[maybe_unused]] const auto* const end_of_shared = ::testing::AddGlobalTestEnvironment(new EndOfShared);

}  // namespace

std::string pattern(std::size_t size, unsigned seed) {
    std::string bytes(size, '\0');
    std::uint32_t state = seed * 2654435761u + 1;
    for (char& byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<char>(state >> 24);
    }
    return bytes;
}

Cloud::Cloud(std::vector<std::string> more_arguments, SmallDisks small_disks, HostEngine engine)
    : more_arguments_(std::move(more_arguments)), small_disks_(std::move(small_disks)) {
    clean_leftovers();
    std::string path = fmt::format("/tmp/{}XXXXXX", folder_prefix);
    if (!::mkdtemp(path.data())) ADD_FAILURE() << "no folder under /tmp";
    folder = path, data = path + "/d";
    owner_ = ::open((folder + "/owner.new").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ::flock(owner_, LOCK_EX);
    fs::rename(folder + "/owner.new", folder + "/owner");
    // Runs at the same time have processes of their own, and so have the clouds of one process.
    static unsigned count = 0;
    const auto process = static_cast<unsigned>(::getpid());
    pool_ = fmt::format("10.{}.{}.0/20", 128 + process % 64, (process / 64 + count++) % 16 * 16);
    engine_socket = data + "/engine/podman.sock";
    if (engine == HostEngine::dockerd) {
        dockerd_ = std::make_unique<docker::testing::Dockerd>(folder + "/dockerd", folder);
        within_ = std::make_unique<docker::testing::Within>(dockerd_->network());
        engine_socket = dockerd_->socket();
        more_arguments_.insert(more_arguments_.end(), {"--engine", "docker:" + engine_socket});
        EXPECT_TRUE(web.go(docker::wait_for_engine(*web.net, *web.timers, engine_socket, 20s)))
            << read_file(dockerd_->log());
    }
    for (const auto& [disk, size] : small_disks_) {
        fs::create_directories(data + "/" + disk);
        const std::string options = "mode=0700,size=" + size;
        if (::mount("tmpfs", (data + "/" + disk).c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) !=
            0)
            throw std::runtime_error{"no small disk can be mounted"};
    }
    if (auto listener = web.go(
            [](Net& net) -> Task<ListenerPtr> { co_return co_await net.listen("127.0.0.1:0"); }(*web.net)))
        registry_listener = std::move(*listener);
    std::ofstream{folder + "/cli.toml"};  // Nobody's own settings.
    std::ofstream{folder + "/registries.conf"}
        << fmt::format("[[registry]]\nlocation = \"{}\"\ninsecure = true\n", registry_listener->address());
    start();
}

Cloud::~Cloud() {
    if (up_ != 0) stop();
    if (::testing::Test::HasFailure())
        fmt::print(stderr, "{}\n", shell(fmt::format("tail -n 25 {}/logs/*.log {}/up.log", data, folder)));
    within_.reset();
    dockerd_.reset();
    clean(folder);
    ::close(owner_);
}

Cloud& Cloud::shared() {
    auto& cloud = shared_cloud();
    if (!cloud) {
        cloud = std::make_unique<Cloud>(std::vector<std::string>{"--ready-deadline", "5", "--programs"});
        cloud->make_stock(4);
    }
    return *cloud;
}

void Shared::SetUpTestSuite() { Cloud::shared(); }

// ── `hostler up`

void Cloud::start(const std::function<void()>& meanwhile) {
    const std::string ready = folder + "/ready.json";
    fs::remove(ready);
    std::vector<std::string> words{hostler_program(),
                                   "up",
                                   "--data",
                                   data,
                                   "--listen",
                                   api_url.empty() ? "127.0.0.1:0" : Url{api_url}.authority,
                                   "--ready-file",
                                   ready,
                                   "--network-pool",
                                   pool_,
                                   "--report-interval",
                                   "0.2",
                                   "--simulate",
                                   "hosts=2,gpus=8,model=H100 SXM5 80GB"};
    if (registry_at_.empty() && registry_listener) registry_at_ = registry_listener->address();
    // The second is one that nobody listens at.
    if (!registry_at_.empty()) words.insert(words.end(), {"--registries", registry_at_ + ",127.0.0.1:9"});
    words.insert(words.end(), more_arguments_.begin(), more_arguments_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = folder + "/up.log";
    const pid_t parent = ::getpid();
    up_ = ::fork();
    if (up_ == 0) {
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(1);
        ::signal(SIGINT, SIG_IGN);  // As a script leaves it to what it starts in the background.
        const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(out, 1), ::dup2(out, 2);
        ::setenv("CONTAINERS_REGISTRIES_CONF", (folder + "/registries.conf").c_str(), 1);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    const bool written = until(
                             [&] {
                                 if (meanwhile) meanwhile();
                                 return fs::exists(ready) || ::waitpid(up_, nullptr, WNOHANG) == up_;
                             },
                             60s) &&
                         fs::exists(ready);
    if (!written) throw std::runtime_error{"hostler up did not get ready: " + read_file(log)};
    boost::system::error_code error;
    const json::value told = json::parse(read_file(ready), error);
    api_url = at(told, "/api"), gateway_url = at(told, "/gateway"), key = at(told, "/token"),
    image = at(told, "/demoImage"), ca = at(told, "/ca");
    if (!ca.empty()) web.believe(read_file(ca));
}

void Cloud::stop() {
    ::kill(up_, SIGINT);
    int status = 0;
    const bool ended = until([&] { return ::waitpid(up_, &status, WNOHANG) == up_; }, 60s);
    if (!ended) {
        ::kill(up_, SIGKILL);
        ::waitpid(up_, nullptr, 0);
    }
    up_ = 0;
    EXPECT_TRUE(ended) << "hostler up did not end after Ctrl-C";
    EXPECT_EQ(status, 0);
}

pid_t Cloud::find(const std::string& role) const {
    if (role == "up") return up_;
    const std::string needle = role == "engine"            ? "unix://" + data + "/engine/podman.sock"
                               : role.starts_with("host-") ? data + "/hosts/" + role.substr(5)
                                                           : data + "/" + role;
    for (const pid_t pid : processes()) {
        const std::string words = '\0' + read_file(fmt::format("/proc/{}/cmdline", pid));
        if (words.find('\0' + needle + '\0') == std::string::npos) continue;
        if (role == "engine" || words.find(std::string{"\0--data\0", 8} + needle + '\0') != std::string::npos)
            return pid;
    }
    return 0;
}

pid_t Cloud::kill9(const std::string& role) {
    const pid_t pid = find(role);
    EXPECT_NE(pid, 0) << role << " does not run";
    if (pid == 0) return 0;
    ::kill(pid, SIGKILL);
    if (role == "up") ::waitpid(pid, nullptr, 0), up_ = 0;
    EXPECT_TRUE(until([&] { return !alive(pid); }));
    return pid;
}

void Cloud::wait_for_another(const std::string& role, pid_t than) {
    EXPECT_TRUE(until([&] {
        const pid_t now = find(role);
        return now != 0 && now != than;
    })) << role
        << " was not started again";
}

// ── The API

Page Cloud::raw(const std::string& method, const std::string& path, http::Headers headers, std::string body) {
    return web.fetch(method, api_url + path, std::move(headers), std::move(body));
}

Page Cloud::api(const std::string& method, const std::string& path, const json::value& body,
                const std::string& with) {
    http::Headers headers{{"Authorization", "Bearer " + (with.empty() ? key : with)}};
    if (!body.is_null()) headers.set("Content-Type", "application/json");
    return raw(method, path, std::move(headers), body.is_null() ? "" : json::serialize(body));
}

Ran Cloud::cli(std::vector<std::string> words, const std::string& with) {
    words.insert(words.begin(), hostler_program());
    return run_program(std::move(words), {{"HOSTLER_API", api_url},
                                          {"HOSTLER_KEY", with.empty() ? key : with},
                                          {"HOSTLER_CA", ca},
                                          {"HOSTLER_CONFIG", folder + "/cli.toml"}});
}

Ran Cloud::program(std::vector<std::string> outer, std::vector<std::string> words,
                   std::chrono::milliseconds within) {
    outer.push_back(hostler_program());
    std::ranges::move(words, std::back_inserter(outer));
    return run_program(std::move(outer),
                       {{"HOSTLER_API", api_url},
                        {"HOSTLER_KEY", key},
                        {"HOSTLER_CA", ca},
                        {"HOSTLER_CONFIG", folder + "/cli.toml"}},
                       within);
}

const Tenant& Cloud::tenant(const std::string& id) {
    const auto known = tenants_.find(id);
    if (known != tenants_.end()) return known->second;
    const Page made = api("POST", "/v1/api-keys", {{"name", "test"}, {"tenantID", id}});
    EXPECT_EQ(made.status / 100, 2) << made.body;
    return tenants_[id] = {id, made.at("/secret")};
}

json::object Cloud::body_of(const Wish& wish) const {
    json::array envs, volumes;
    for (const auto& [name, value] : wish.env) envs.push_back({{"name", name}, {"value", value}});
    if (!wish.mount.empty())
        volumes.push_back({{"name", wish.storage}, {"mountPath", wish.mount}, {"readOnly", wish.read_only}});
    const json::object port{{"port", 8080},
                            {"protocol", "TCP"},
                            {"isPublic", wish.open_to_all},
                            {"isProbe", wish.probe},
                            {"baseUrl", ""}};
    return {{"instanceID", wish.id},
            {"tenantID", wish.tenant},
            {"tenantName", "Tenant"},
            {"image", wish.image.empty() ? image : wish.image},
            {"storageID", wish.storage},
            {"specName", wish.spec},
            {"template",
             json::object{
                 {"ports", json::array{port}}, {"envs", envs}, {"cmd", wish.cmd}, {"volumes", volumes}}}};
}

Page Cloud::begin(const Wish& wish) { return api("POST", "/gpu-instances", body_of(wish)); }

Page Cloud::instance(const std::string& id, const std::string& tenant) {
    return api("GET", fmt::format("/v1/instances/{}?tenantID={}", id, tenant));
}

Page Cloud::wait_for(const std::string& id, const std::string& state, Duration within,
                     const std::string& tenant) {
    Page now;
    EXPECT_TRUE(until(
        [&] {
            now = instance(id, tenant);
            return now.at("/state") == state;
        },
        within))
        << id << " is not " << state << ": " << now.body;
    return now;
}

std::string Cloud::run(const Wish& wish) {
    const Page begun = begin(wish);
    EXPECT_EQ(begun.status, 200) << begun.body;
    if (begun.status != 200) return {};
    const std::string url = wait_for(wish.id, "running", 30s, wish.tenant).at("/urls/0/url");
    // The gateway hears of it a moment after the API tells it: until then it knows no such name, or one that
    // starts.
    EXPECT_TRUE(until(
        [&] {
            const int status = web.fetch("GET", url).status;
            return status != 503 && status != 404;
        },
        5s))
        << url;
    return url.empty() ? url : url.substr(0, url.size() - 1);
}

void Cloud::end(const std::string& id, const std::string& tenant) {
    const std::string own = instance(id, tenant).at("/id");
    const Page ended = api("DELETE", fmt::format("/gpu-instances/{}?tenantID={}", id, tenant));
    EXPECT_EQ(ended.status, 200) << ended.body;
    if (ended.status != 200) return;
    wait_for(id, "stopped", 30s, tenant);
    EXPECT_TRUE(until([&] { return containers(own).empty(); })) << id << "'s container is still there";
}

std::vector<int> Cloud::free_gpus() {
    const Page hosts = api("GET", "/v1/hosts?limit=100");
    std::vector<int> free;
    for (const json::value& host : hosts.json().at("items").as_array())
        free.push_back(std::stoi(at(host, "/gpusFree")));
    return free;
}

int Cloud::gpus_free() {
    const std::vector<int> free = free_gpus();
    return std::accumulate(free.begin(), free.end(), 0);
}

std::string Cloud::whole_stock(const std::string& spec) {
    Page now;
    EXPECT_TRUE(until([&] {
        now = stock(spec);
        return now.at("/idle") == now.at("/wanted");
    })) << now.body;
    return now.at("/idle");
}

void Cloud::make_stock(int number, const std::string& spec, const std::string& memory) {
    const Page made = api("POST", "/stocks",
                          {{"number", number},
                           {"operationID", "stock-" + spec},
                           {"specName", spec},
                           {"cpu", "1"},
                           {"memory", memory},
                           {"gpuType", "H100 SXM5 80GB"},
                           {"gpuNum", 1}});
    EXPECT_EQ(made.status, 200) << made.body;
}

// ── The machine

std::vector<std::string> Cloud::containers(const std::string& instance) {
    const std::string label = instance.empty() ? "hostler.instance" : "hostler.instance=" + instance;
    const json::value filters{{"label", json::array{label}}};
    const Page list = web.unix_socket(
        "GET", engine_socket,
        docker::target("/containers/json", {{"all", "true"}, {"filters", json::serialize(filters)}}));
    const json::value all = list.json();
    if (!all.is_array()) return {"the engine does not answer: " + list.body};
    std::vector<std::string> names;
    for (const json::value& item : all.get_array()) names.push_back(at(item, "/Names/0"));
    return names;
}

std::vector<std::string> Cloud::networks() {
    const auto list = docker::parse_networks(web.unix_socket("GET", engine_socket, "/networks").body);
    if (!list) return {"the engine does not answer"};
    std::vector<std::string> ids;
    for (const auto& network : *list)
        if (!network.id.empty()) ids.push_back(network.id);
    return ids;
}

std::vector<std::string> Cloud::bridges() {
    const std::string listing =
        shell(fmt::format("nft list set inet $(cat {}/firewall-table) bridges 2>/dev/null", data));
    std::vector<std::string> known;
    for (const std::string& network : networks())
        if (listing.find(docker::bridge_name(network)) != std::string::npos) known.push_back(network);
    return known;
}

std::vector<std::string> Cloud::mounts() const { return mounts_of(folder); }

std::vector<pid_t> Cloud::processes() const { return processes_of(folder + "/"); }

void Cloud::fill(const std::string& disk) const {
    const std::string path = data + "/" + disk + "/filler";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0) << path;
    const std::string zeros(64 << 10, '\0');
    for (std::size_t step = zeros.size(); step > 0; step /= 2)
        while (::write(file, zeros.data(), step) > 0) {
        }
    ::close(file);
}

void Cloud::make_room(const std::string& disk) const { fs::remove(data + "/" + disk + "/filler"); }

bool Cloud::until(const std::function<bool()>& so, Duration within) {
    constexpr int loaded = 4;
    const auto end = std::chrono::steady_clock::now() + loaded * within;
    while (!so()) {
        if (std::chrono::steady_clock::now() > end) return false;
        (void)web.go(sleep(*web.timers, 30ms));
    }
    return true;
}

}  // namespace hostler::cloud
