#include "bin/up.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "adapters/disk/layers.h"
#include "adapters/disk/leases.h"
#include "adapters/disk/volumes.h"
#include "adapters/docker/api.h"
#include "adapters/docker/engine.h"
#include "adapters/docker/image.h"
#include "adapters/docker/namespaces.h"
#include "adapters/docker/podman.h"
#include "bin/operator_key.h"
#include "core/log.h"
#include "core/version.h"
#include "core/worker.h"
#include "domain/network/reach.h"

namespace hostler::bin {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* demo_image = "localhost/hostler-demo:latest";

bool machine_has_gpu() {
    return fs::exists("/proc/driver/nvidia/version") || fs::exists("/dev/kfd") ||
           fs::exists("/dev/nvidiactl");
}

// Whoever asked sudo for us is to use the cloud: `path` becomes theirs, and stays closed to others.
void hand_over(const fs::path& path) {
    const char* user = std::getenv("SUDO_UID");   // NOLINT(concurrency-mt-unsafe): nobody sets them.
    const char* group = std::getenv("SUDO_GID");  // NOLINT(concurrency-mt-unsafe)
    if (::geteuid() != 0 || !user || !group) return;
    if (::lchown(path.c_str(), static_cast<uid_t>(std::atol(user)), static_cast<gid_t>(std::atol(group))) !=
        0)
        log_warn("{} cannot be given to the user who asked sudo: {}", path.string(), std::strerror(errno));
}

// Of all hosts' containers, as each_store().
void each_layers(const fs::path& hosts, const std::function<void(disk::LayerStore&)>& act) {
    std::error_code none;
    for (const auto& host : fs::directory_iterator{hosts, none}) {
        if (!fs::exists(host.path() / "layers", none)) continue;
        if (auto store = disk::LayerStore::open({.folder = host.path() / "layers"})) act(*store);
    }
}

// Of all hosts' volumes, whose folders are below `hosts`.
void each_store(const fs::path& hosts, const std::function<void(disk::VolumeStore&)>& act) {
    std::error_code none;
    for (const auto& host : fs::directory_iterator{hosts, none}) {
        if (!fs::exists(host.path() / "volumes", none)) continue;
        if (auto store = disk::VolumeStore::open({.folder = host.path() / "volumes"}, disk::loop_images()))
            act(*store);
    }
}

// For containers that go on before their hosts' agents are there.
void mount_volumes(const fs::path& hosts) {
    each_store(hosts, [](disk::VolumeStore& store) {
        const auto ids = store.list();
        for (const std::string& id : ids ? *ids : std::vector<std::string>{})
            if (const auto attached = store.attach(id, {}); !attached)
                log_warn("volume {}: {}", id, attached.error().message);
            else if (!attached->note.empty())
                log_warn("volume {}: {}", id, attached->note);
    });
    each_layers(hosts, [](disk::LayerStore& store) { store.mount(); });
}

void unmount_volumes(const fs::path& hosts) {
    each_store(hosts, [](disk::VolumeStore& store) {
        if (const auto released = store.release(); !released) log_warn("{}", released.error().message);
    });
    each_layers(hosts, [](disk::LayerStore& store) {
        if (const auto unmounted = store.unmount(); !unmounted) log_warn("{}", unmounted.error().message);
    });
}

// Two clouds on one machine are not to undo each other's walls: each has a table of its own, and keeps it.
Result<std::string> firewall_table(const fs::path& kept, Random& random) {
    std::string table = read_file(kept);
    if (table.empty()) {
        table = fmt::format("hostler_{:08x}", static_cast<std::uint32_t>(random_number(random)));
        TRY(write_file(kept, table));
    }
    TRY(docker::check_table_name(table));
    return table;
}

}  // namespace

Up::Up(Process& process, UpSettings settings)
    : process_(process),
      settings_(std::move(settings)),
      programs_(program_folder()),
      engine_keeper_(process, settings_.data / "logs"),
      supervisor_(process, settings_.data / "logs"),
      client_(*process.net, *process.timers),
      tls_files_(settings_.data) {}

Task<> Up::run() {
    const int lock = ::open((settings_.data / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0)
        co_return fail(Code::conflict,
                       fmt::format("another 'hostler up' uses {}; end it, or choose another --data",
                                   settings_.data.string()));
    auto ended = co_await start();
    if (ended) {
        TaskGroup beside{process_.loop};
        if (!settings_.prepare.empty() && engine_ != "sim")
            beside.start("preparing images", prepare_images());
        if (settings_.tls) beside.start("certificate", renew_tls());
        Signal forever;
        ended = co_await forever.wait();
        (void)co_await beside.close();
        log_info("stopping; the data stays in {}", settings_.data.string());
    }
    co_await stop();
    ::close(lock);
    co_return ended;
}

// What watches over leases: agents leave it behind on purpose.
Task<> Up::end_supervisors() {
    constexpr Duration grace = seconds{8}, most = 2 * grace, look = milliseconds{20};
    std::error_code none;
    for (const auto& host : fs::directory_iterator{settings_.data / "hosts", none}) {
        const std::string leases = host.path() / "leases";
        for (Duration waited{}; const int pid = disk::supervisor_of(leases); waited += look) {
            if (waited >= most) {
                log_warn("{}: its supervisor is still there; it ends when all leases have run out", leases);
                break;
            }
            if (pid > 1) ::kill(pid, waited < grace ? SIGTERM : SIGKILL);
            Signal looked;
            const Deadline pause{*process_.timers, look, [&] { looked.notify_all(); }};
            co_await looked.wait_even_if_cancelled();  // As it is when `up` is ended.
        }
    }
    co_return Result<>{};
}

// Only the data remains: no process, no network, no mount.
Task<> Up::stop() {
    co_await supervisor_.stop(seconds{8});
    co_await end_supervisors();
    if (containers_)
        if (auto stopped = co_await containers_->stop(host_ids_); !stopped)
            log_warn("containers run on: {}", stopped.error().message);
    co_await engine_keeper_.stop(seconds{8});
    docker::release_podman(settings_.data / "engine");
    if (engine_ != "sim") unmount_volumes(settings_.data / "hosts");
    co_return Result<>{};
}

Task<> Up::start() {
    operator_key_ = CO_TRY(read_operator_key(settings_.data / "master"));
    if (operator_key_.empty()) operator_key_ = new_secret(*process_.random, "hk");
    CO_TRY(co_await start_engine());
    if (engine_ != "sim") {
        table_ = CO_TRY(firewall_table(settings_.data / "firewall-table", *process_.random));
        auto reach = CO_TRY(parse_tenant_reach(settings_.tenant_reach));
        containers_ =
            std::make_unique<Containers>(process_, engine_.substr(std::string_view{"docker:"}.size()),
                                         settings_.data / "stopped-containers.json",
                                         docker::WallSettings{.table = table_, .reach = std::move(reach)});
        mount_volumes(settings_.data / "hosts");
        CO_TRY(co_await containers_->go_on());
    }
    CO_TRY(co_await start_roles());
    CO_TRY(co_await start_hosts());
    CO_TRY(co_await import_demo_image());
    CO_TRY(co_await wait_until_hosts_report());
    const std::vector<std::string> apis = api_urls();
    std::string config = fmt::format("api = \"{}\"\nkey = \"{}\"\n", fmt::join(apis, ","), operator_key_);
    if (settings_.tls) config += fmt::format("ca = \"{}\"\n", tls_files_.authority.string());
    CO_TRY(write_file(settings_.data / "config.toml", config));
    hand_over(settings_.data);
    if (settings_.tls) hand_over(tls_files_.authority);
    hand_over(settings_.data / "config.toml");
    if (!settings_.ready_file.empty()) {
        json::array names;
        for (const ZonePlan& zone : zones) names.emplace_back(zone.name);
        json::object ready{{"api", apis.front()},
                           {"masters", json::array(apis.begin(), apis.end())},
                           {"gateway", gateway_["url"]},
                           {"token", operator_key_},
                           {"zones", names},
                           {"demoImage", demo_image}};
        if (settings_.tls) ready["ca"] = tls_files_.authority.string();
        const std::string path = settings_.ready_file;
        CO_TRY(write_file(path, json::serialize(ready)));
        hand_over(path);
    }
    std::string demo_url;
    if (settings_.demo) {
        CO_TRY(co_await start_demo());
        demo_url = CO_TRY(co_await wait_for_demo("hello"));
    }
    const auto link = CO_TRY(co_await call("POST", "/v1/console-links", json::object{}));
    greet(demo_url, link.at("url").as_string().c_str());
    co_return Result<>{};
}

// ── The container engine

Task<> Up::start_engine() {
    if (settings_.engine != "auto") {
        engine_ = settings_.engine;
        if (engine_ != "sim" && !engine_.starts_with("docker:"))
            co_return fail(Code::invalid,
                           fmt::format("--engine {}: must be auto, sim or docker:SOCKET", engine_));
        co_return Result<>{};
    }
    auto sockets = docker::usual_sockets();
    // An operator's podman that gives containers no GPU is none that was chosen.
    if (!docker::hook_installed())
        std::erase_if(sockets, [](const std::string& socket) {
            std::error_code ignored;
            return fs::weakly_canonical(socket, ignored).string().contains("podman");
        });
    const auto running = co_await docker::find_engine_socket(*process_.net, *process_.timers, sockets);
    if (running) {
        engine_ = "docker:" + *running;
        co_return Result<>{};
    }
    const docker::PodmanService podman = CO_TRY(docker::prepare_podman(
        fs::absolute(settings_.data / "engine"), {.hook = {.agent = (programs_ / "hostler-agent").string()},
                                                  .iptables = (programs_ / "hostler-iptables").string()}));
    CO_TRY(docker::share_mounts(docker::namespaces_folder));
    ChildSpec child{.name = "engine", .command = podman.command};
    child.before_start = [scratch = podman.scratch] { docker::clear_scratch(scratch); };
    for (const auto& [name, value] : podman.environment) child.environment[name] = value;
    engine_keeper_.keep(std::move(child));
    CO_TRY(co_await docker::wait_for_engine(*process_.net, *process_.timers, podman.socket, seconds{20}));
    engine_ = "docker:" + podman.socket;
    co_return Result<>{};
}

Task<> Up::import_demo_image() {
    if (engine_ == "sim") co_return Result<>{};
    const auto worker = make_worker(process_.loop, "engine");
    docker::DockerEngine engine{*process_.net,
                                *process_.timers,
                                *worker,
                                {.socket = engine_.substr(std::string_view{"docker:"}.size())}};
    const std::string program = read_file(programs_ / "hostler-demo");
    if (program.empty())
        co_return fail(Code::not_found, fmt::format("{} is missing; build it with ./dev build",
                                                    (programs_ / "hostler-demo").string()));
    const fs::path stamp = settings_.data / "demo-image";
    const std::string made_of = fmt::format("{} {}", engine_, std::hash<std::string>{}(program));
    if (read_file(stamp) == made_of)
        if (const auto there = co_await engine.has_image(demo_image); there && *there) co_return Result<>{};
    // An engine that ends meanwhile is started again.
    constexpr int tries_max = 5;
    for (int tries = 1;; ++tries) {
        const auto imported =
            co_await engine.import_image(docker::rootfs_of_program("/demo", program), demo_image,
                                         {.command = {"/demo"}, .environment = {}, .ports = {8080}});
        if (imported) co_return write_file(stamp, made_of);
        if (imported.error().code != Code::unavailable || tries == tries_max) co_return imported;
        CO_TRY(co_await sleep(*process_.timers, milliseconds{500}));
    }
}

// ── Hosts

Result<std::vector<Up::HostPlan>> Up::plan_hosts() {
    std::vector<HostPlan> plans;
    simulated_ = settings_.simulate.has_value() || !machine_has_gpu();
    if (!simulated_) {
        plans.push_back({"this-host", zones[0].name, {}, {}});
        return plans;
    }
    const SimulatedEstate estate = settings_.simulate.value_or(SimulatedEstate{});
    for (int i = 0; i < estate.hosts; ++i) {
        const ZonePlan& zone = zones[static_cast<std::size_t>(i) % std::size(zones)];
        HostPlan plan{
            fmt::format("{}-{}", zone.name, i / static_cast<int>(std::size(zones)) + 1), zone.name, {}, {}};
        SimulatedFiles files =
            TRY(make_simulated_host(estate, plan.name, fs::absolute(settings_.data / "hosts" / plan.name),
                                    programs_ / "simulated/libnvidia-ml.so.1"));
        plan.arguments = std::move(files.arguments);
        plan.environment["HOSTLER_SIMULATED_NVML"] = files.state;
        open_to_all_ = files.open_to_all;
        plans.push_back(std::move(plan));
    }
    return plans;
}

// Agents of one machine share its users, so each has other ones.
void Up::add_programs(std::vector<std::string>& command, std::uint32_t host) const {
    constexpr std::uint32_t first = 1'800'000'000, each = 4096;
    command.insert(command.end(),
                   {"--programs", "--program-users", fmt::format("{}:{}", first + host * each, each),
                    "--program-hide", settings_.data.string()});
    if (!settings_.program_network.empty())
        command.insert(command.end(), {"--program-network", settings_.program_network});
}

Task<> Up::start_hosts() {
    const auto plans = CO_TRY(plan_hosts());
    if (simulated_) log_warn("this machine's GPUs are simulated: nothing computes on them");
    if (open_to_all_)
        log_warn(
            "no device of this machine can stand for a simulated GPU (as /dev/fuse or /dev/cpu/0/cpuid), so "
            "/dev/null does: every container opens it, whether it was given the GPU or not");
    const json::value known = CO_TRY(co_await call("GET", "/v1/hosts?limit=1000"));
    std::uint32_t number = 0;
    for (const HostPlan& plan : plans) {
        const fs::path folder = settings_.data / "hosts" / plan.name;
        CO_TRY(make_own_folder(folder.parent_path()));
        CO_TRY(make_own_folder(folder));
        std::string access = access_[plan.zone]["uplink"];
        for (const auto& [zone, addresses] : access_)
            if (zone != plan.zone) access += "," + addresses.at("uplink");
        ChildSpec child{.name = "host-" + plan.name,
                        .command = {programs_ / "hostler-agent", "run", "--data", folder, "--access", access,
                                    "--engine", engine_},
                        .environment = plan.environment};
        child.command.insert(child.command.end(), plan.arguments.begin(), plan.arguments.end());
        if (!table_.empty()) child.command.insert(child.command.end(), {"--firewall-table", table_});
        if (!settings_.tenant_reach.empty())
            child.command.insert(
                child.command.end(),
                {"--tenant-reach", fmt::format("{}", fmt::join(settings_.tenant_reach, ","))});
        if (!settings_.registries.empty())
            child.command.insert(child.command.end(),
                                 {"--registries", fmt::format("{}", fmt::join(settings_.registries, ","))});
        if (settings_.registries_only) child.command.emplace_back("--registries-only");
        if (settings_.no_user_namespaces) child.command.emplace_back("--no-user-namespaces");
        if (settings_.programs) add_programs(child.command, number++);
        if (settings_.clusters) child.command.emplace_back("--clusters");
        if (!settings_.cluster_saves.empty())
            child.command.insert(child.command.end(), {"--cluster-saves", settings_.cluster_saves});
        if (!settings_.drivers.empty())
            child.command.insert(child.command.end(), {"--drivers", settings_.drivers});
        // One that has joined before needs no token, and one that lost its folder needs a new one.
        if (!fs::exists(folder / "joined") || known.at("items").as_array().empty()) {
            const json::value token =
                CO_TRY(co_await call("POST", "/v1/host-tokens", json::object{{"zone", plan.zone}}));
            child.environment["HOSTLER_TOKEN"] = token.at("token").as_string().c_str();
        }
        supervisor_.keep(std::move(child));
    }
    co_return Result<>{};
}

Task<> Up::wait_until_hosts_report() {
    const auto plans = CO_TRY(plan_hosts());
    for (Duration waited{}; waited < seconds{60}; waited += milliseconds{50}) {
        const json::value hosts = CO_TRY(co_await call("GET", "/v1/hosts?state=ready&limit=1000"));
        std::size_t ready = 0;
        for (const json::value& host : hosts.at("items").as_array()) {
            const bool ours = !simulated_ || std::ranges::any_of(plans, [&](const HostPlan& plan) {
                return plan.name == host.at("name").as_string().c_str();
            });
            ready += ours && !host.at("accessPoint").as_string().empty() ? 1 : 0;
        }
        if (ready >= plans.size()) {
            for (const json::value& host : hosts.at("items").as_array())
                host_ids_.emplace_back(host.at("id").as_string());
            for (const HostPlan& plan : plans)
                CO_TRY(write_file(settings_.data / "hosts" / plan.name / "joined", ""));
            co_return Result<>{};
        }
        CO_TRY(co_await sleep(*process_.timers, milliseconds{50}));
    }
    co_return fail(Code::timeout, fmt::format("the hosts did not report within a minute; see {}/host-*.log",
                                              supervisor_.log_folder().string()));
}

// ── The API

Task<json::value> Up::call(std::string method, std::string path, json::value body) {
    http::Request request{.method = std::move(method), .target = path};
    request.headers.set("Authorization", "Bearer " + operator_key_);
    if (!body.is_null()) {
        request.headers.set("Content-Type", "application/json");
        request.body = json::serialize(body);
    }
    // Masters start and stop: what is asked here may be asked again.
    for (int tries = 1;; ++tries) {
        const std::string& api = masters_[static_cast<std::size_t>(tries) % masters_.size()]["api"];
        auto response = co_await client_.fetch(api_endpoint(api), request, {.total = seconds{15}});
        const bool later = response ? response->status == 503 : may_retry(response.error().code);
        if (later && tries < 20) {
            CO_TRY(co_await sleep(*process_.timers, milliseconds{100}));
            continue;
        }
        if (!response) co_return std::unexpected(response.error());
        boost::system::error_code error;
        json::value answer = json::parse(response->body, error);
        if (response->status < 300 && !error) co_return answer;
        const std::string detail = !error && answer.is_object() && answer.get_object().contains("detail")
                                       ? answer.at("detail").as_string().c_str()
                                       : response->body;
        co_return fail(response->status == 409 ? Code::conflict : Code::unavailable,
                       fmt::format("{}: {}", path, detail));
    }
}

// ── The demo

Task<> Up::start_demo() {
    const SimulatedEstate estate = settings_.simulate.value_or(SimulatedEstate{});
    std::string model = estate.model;
    if (!simulated_) {
        const json::value gpus = CO_TRY(co_await call("GET", "/v1/gpus?limit=1"));
        if (gpus.at("items").as_array().empty())
            co_return fail(Code::not_found,
                           "no GPU was found on this machine; try --simulate hosts=2,gpus=8");
        model = gpus.at("items").at(0).at("model").as_string().c_str();
    }
    CO_TRY(co_await call("POST", "/stocks",
                         json::object{{"number", 2},
                                      {"operationID", "up-demo-stock"},
                                      {"specName", "demo"},
                                      {"cpu", "1"},
                                      {"memory", "512Mi"},
                                      {"gpuType", model},
                                      {"gpuNum", 1}}));
    const json::object port{
        {"port", 8080}, {"protocol", "TCP"}, {"isPublic", true}, {"isProbe", true}, {"baseUrl", ""}};
    const auto started = co_await call("POST", "/gpu-instances",
                                       json::object{{"instanceID", "hello"},
                                                    {"tenantID", "demo"},
                                                    {"tenantName", "Demo"},
                                                    {"image", demo_image},
                                                    {"storageID", ""},
                                                    {"specName", "demo"},
                                                    {"template", json::object{{"ports", json::array{port}},
                                                                              {"envs", json::array{}},
                                                                              {"cmd", ""},
                                                                              {"volumes", json::array{}}}}});
    // Stopped by hand the last time: its name is used up, and nobody wants it back.
    if (!started && started.error().code != Code::conflict) co_return std::unexpected(started.error());
    co_return Result<>{};
}

Task<std::string> Up::wait_for_demo(std::string name) {
    for (Duration waited{}; waited < seconds{60}; waited += milliseconds{50}) {
        const auto instance = co_await call("GET", fmt::format("/v1/instances/{}?tenantID=demo", name));
        if (!instance) co_return std::string{};
        const std::string state = instance->at("state").as_string().c_str();
        if (state == "running") co_return std::string{instance->at("urls").at(0).at("url").as_string()};
        if (state == "stopped") co_return std::string{};
        if (state == "failed")
            co_return fail(Code::internal, fmt::format("the demo instance failed: {}",
                                                       instance->at("message").as_string().c_str()));
        CO_TRY(co_await sleep(*process_.timers, milliseconds{50}));
    }
    co_return fail(
        Code::timeout,
        "the demo instance did not get ready within a minute; see: hostler instance explain hello");
}

void Up::greet(const std::string& demo_url, const std::string& console_url) const {
    const std::string hostler = programs_ / "hostler";
    fmt::print("\n  Hostler is up{}.\n\n", simulated_ ? ", with simulated GPUs" : "");
    fmt::print("    API        {}\n    Gateway    {}\n    Data       {}\n    Logs       {}\n",
               fmt::join(api_urls(), "\n               "), gateway_.at("url"),
               fs::absolute(settings_.data).string(), supervisor_.log_folder().string());
    if (settings_.tls)
        fmt::print("    Authority  {} (curl --cacert; browsers import it)\n", tls_files_.authority.string());
    fmt::print(
        "\n  The console, signed in as the operator (works once, within 10 minutes; another: hostler console "
        "link)"
        "\n\n    {}\n",
        console_url);
    if (!demo_url.empty()) fmt::print("\n  An instance answers at\n\n    {}\n", demo_url);
    fmt::print(
        "\n  Try in another terminal:\n\n    export HOSTLER_CONFIG={}\n    {} host list\n    {} gpu list\n   "
        " {} stock list\n    {} instance list\n",
        fs::absolute(settings_.data / "config.toml").string(), hostler, hostler, hostler, hostler);
    fmt::print(
        "    {} instance create mine --tenant-id demo --spec-name demo --image {} --port 8080,public,probe "
        "--wait\n",
        hostler, demo_image);
    fmt::print("\n  Ctrl-C stops everything and leaves the data.\n\n");
    std::fflush(stdout);
}

}  // namespace hostler::bin
