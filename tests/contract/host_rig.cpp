#include "host_rig.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "adapters/docker/image.h"
#include "adapters/docker/listing.h"
#include "adapters/docker/namespaces.h"
#include "adapters/docker/network.h"
#include "adapters/docker/process.h"
#include "adapters/net/net.h"

namespace hostler::contract {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr const char* folder_prefix = "hostler-contract-";
constexpr const char* demo_image = "localhost/hostler-demo";

template <class Rig>
std::shared_ptr<Rig>& the_one() {
    static std::shared_ptr<Rig> rig;
    return rig;
}

// Podman as the service in `folder` sees it, for what its API may not live to do.
std::string podman(const std::string& folder, const std::string& arguments) {
    return shell(
        fmt::format("CONTAINERS_CONF={0}/containers.conf CONTAINERS_STORAGE_CONF={0}/storage.conf "
                    "podman {1} 2>/dev/null",
                    folder, arguments));
}

std::string device_folder(const std::string& folder) {
    return "/dev/" + fs::path{folder}.filename().string();
}

void clean(const std::string& folder) {
    if (fs::exists(folder + "/storage.conf")) {
        podman(folder, "rm --all --force --time 0");
        std::istringstream names{podman(folder, "network ls --format '{{.Name}}'")};
        for (std::string name; names >> name;) {
            if (name == "podman") continue;
            podman(folder, "network rm --force " + name);
            (void)docker::Wall{{}}.take_down(docker::bridge_name(name));
        }
        docker::release_podman(folder);
    }
    docker::testing::Dockerd::clean(folder + "/dockerd", folder);
    std::error_code ignored;
    fs::remove_all(device_folder(folder), ignored);
    fs::remove_all(folder, ignored);
}

// A folder belongs to whoever holds the lock on its file "owner", and to nobody once that process has ended.
void clean_leftovers() {
    for (const auto& entry : fs::directory_iterator("/tmp")) {
        if (!entry.path().filename().string().starts_with(folder_prefix)) continue;
        const int owner = ::open((entry.path() / "owner").c_str(), O_RDWR | O_CLOEXEC);
        if (owner < 0) continue;
        if (::flock(owner, LOCK_EX | LOCK_NB) == 0) clean(entry.path().string());
        ::close(owner);
    }
}

// Locked before it has its name. The descriptor is kept until the process ends.
void own(const std::string& folder) {
    const int owner = ::open((folder + "/owner.new").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::flock(owner, LOCK_EX), 0);
    fs::rename(folder + "/owner.new", folder + "/owner");
}

std::string new_folder() {
    clean_leftovers();
    auto path = fmt::format("/tmp/{}XXXXXX", folder_prefix);
    HOSTLER_ASSERT(::mkdtemp(path.data()) != nullptr);
    own(path);
    return path;
}

}  // namespace

std::string shell(const std::string& command) {
    const auto outcome = docker::run_process({"sh", "-c", command}, {}, 60s);
    return outcome && outcome->exit_code == 0 ? outcome->output : std::string{};
}

// ── What both have

void HostRig::connect() {
    timers_ = net::make_timers(loop_);
    net_ = net::make_net(loop_);
    worker_ = make_worker(loop_, "engine");
    wait_until_ready();
    layer_worker_ = make_worker(loop_, "layers");
    auto layers = disk::open_layers(*layer_worker_, {.folder = folder_ + "/layers"});
    HOSTLER_ASSERT(layers);
    layers_ = std::move(*layers);
    engine_ = std::make_unique<docker::DockerEngine>(*net_, *timers_, *worker_, engine_settings());
    processes_ = std::make_unique<docker::DockerProcesses>(*net_, *timers_, *worker_,
                                                           docker::ProcessSettings{.socket = socket_});
    network_ = network_with({});
    client_ = std::make_unique<http::Client>(*net_, *timers_, http::ClientLimits{.idle_max = 0});
    if (const auto facts = run(engine_->describe())) {
        if (facts->user_namespaces == UserNamespaces::shared) ids_ = facts->shared_ids;
        if (facts->user_namespaces == UserNamespaces::chosen) ids_ = {0x70000000, 0x70000000};
    }
    std::ifstream program{HOSTLER_DEMO, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>(program), {}};
    const auto imported = run(engine_->import_image(docker::rootfs_of_program("/demo", bytes), demo_image,
                                                    {.command = {"/demo"}, .ports = {8080}}));
    if (!imported) ADD_FAILURE() << imported.error().message;
}

std::unique_ptr<docker::DockerNetwork> HostRig::network_with(docker::WallSettings wall) {
    return std::make_unique<docker::DockerNetwork>(
        *net_, *timers_, *worker_,
        docker::NetworkSettings{.socket = socket_, .owner = "contract", .wall = std::move(wall)});
}

void HostRig::wait_until_ready() {
    const auto ready = run(docker::wait_for_engine(*net_, *timers_, socket_, 20s));
    if (!ready) ADD_FAILURE() << ready.error().message << shell("tail -n 20 " + folder_ + "/*/dockerd.log");
}

docker::EngineSettings HostRig::engine_settings() const {
    return {.socket = socket_,
            .cdi_folders = {folder_ + "/cdi"},
            .state_folder = folder_ + "/state",
            .device_folder = device_folder(folder_),
            .rules_folder = folder_ + "/rules",
            .layers = layers_.get()};
}

docker::Inspected HostRig::look_at(const std::string& container) {
    docker::Api api{*net_, *timers_, socket_};
    const auto seen = run(docker::inspect_container(api, container, 10s));
    return seen && *seen ? **seen : docker::Inspected{};
}

pid_t HostRig::process_of(const std::string& container) { return static_cast<pid_t>(look_at(container).pid); }

std::string HostRig::shell_of_engine(const std::string& command) const {
    return shell(fmt::format("nsenter --mount --target {} sh -c '{}'", service(), command));
}

std::string HostRig::busybox_image() {
    const std::string image = "localhost/hostler-contract-box:1";
    if (run(engine_->has_image(image)).value_or(false)) return image;
    std::ifstream program{"/bin/busybox", std::ios::binary};
    EXPECT_TRUE(program) << "busybox-static is needed";
    const std::string bytes{std::istreambuf_iterator<char>(program), {}};
    const auto made = run(engine_->import_image(
        docker::rootfs_of_program("/busybox", bytes), image,
        {.command = {"/busybox", "sh", "-c",
                     "trap 'exit 0' TERM; while :; do /busybox sleep 1 & wait; done"}}));
    EXPECT_TRUE(made) << made.error().message;
    return image;
}

void HostRig::import_folder(const std::string& folder, const std::string& image,
                            const std::vector<std::string>& changes) {
    const std::string archive = folder + ".tar";
    ASSERT_EQ(shell(fmt::format("tar -C {} --numeric-owner -cf {} . && echo made", folder, archive)),
              "made\n");
    docker::Query query{{"fromSrc", "-"}, {"repo", image}};
    for (const auto& change : changes) query.emplace_back("changes", change);
    docker::Api api{*net_, *timers_, socket_};
    const auto answer = run(api.stream("POST", docker::target("/images/create", query), 60s, 60s,
                                       [](std::string_view) {}, {.bytes = {}, .file = archive}));
    ASSERT_TRUE(answer && answer->success()) << (answer ? answer->body : answer.error().message);
    ASSERT_TRUE(run(engine_->has_image(image)).value_or(false));
}

std::string HostRig::layers_mounted() const {
    return shell(fmt::format("grep -c '^overlay {}/' /proc/{}/mounts; true", folder_, service()));
}

// ── Podman

namespace {

// nullptr where podman cannot be had.
std::shared_ptr<PodmanRig> make_podman(std::function<bool()> enter) {
    if (::geteuid() != 0) return nullptr;
    const auto path = new_folder();
    auto service = docker::prepare_podman(
        path, {.hook = {.agent = HOSTLER_AGENT, .rules = path + "/rules"}, .iptables = HOSTLER_IPTABLES});
    // Any other failure is one, and no reason to skip.
    HOSTLER_ASSERT(service || service.error().code == Code::not_found);
    if (!service) {
        fs::remove_all(path);
        return nullptr;
    }
    return std::make_shared<PodmanRig>(std::move(*service), path, std::move(enter));
}

}  // namespace

std::shared_ptr<PodmanRig> PodmanRig::shared() {
    auto& rig = the_one<PodmanRig>();
    if (!rig) rig = make_podman([] { return docker::share_mounts(docker::namespaces_folder).has_value(); });
    return rig;
}

std::shared_ptr<PodmanRig> PodmanRig::unshared(bool as_found) {
    auto rig = make_podman([as_found] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return false;
        while (::umount2(docker::namespaces_folder, MNT_DETACH) == 0) {
        }
        return as_found || docker::share_mounts(docker::namespaces_folder).has_value();
    });
    if (!rig) return rig;
    const auto inside = rig->run(run_on<void>(*rig->worker_, [pid = rig->pid_]() -> Result<> {
        const int space = ::open(fmt::format("/proc/{}/ns/mnt", pid).c_str(), O_RDONLY | O_CLOEXEC);
        const bool entered = ::unshare(CLONE_FS) == 0 && ::setns(space, CLONE_NEWNS) == 0;
        ::close(space);
        return entered ? Result<>{} : Result<>{fail(Code::unavailable, std::strerror(errno))};
    }));
    EXPECT_TRUE(inside) << inside.error().message;
    return rig;
}

void PodmanRig::drop() { the_one<PodmanRig>().reset(); }

PodmanRig::PodmanRig(docker::PodmanService service, std::string folder, std::function<bool()> enter)
    : HostRig(std::move(folder), service.socket), service_(std::move(service)), enter_(std::move(enter)) {
    // As dockerd has it by itself: registries of tests speak plain HTTP.
    const std::string registries = folder_ + "/registries.conf";
    std::ofstream{registries} << "[[registry]]\nlocation = \"127.0.0.1\"\ninsecure = true\n";
    service_.environment.emplace_back("CONTAINERS_REGISTRIES_CONF", registries);
    start_service();
    connect();
}

PodmanRig::~PodmanRig() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    clean(folder_);
}

void PodmanRig::start_service() {
    const auto parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent || !enter_()) ::_exit(1);
        for (const auto& [name, value] : service_.environment) ::setenv(name.c_str(), value.c_str(), 1);
        std::vector<char*> arguments;
        for (auto& argument : service_.command) arguments.push_back(argument.data());
        arguments.push_back(nullptr);
        if (!::freopen((folder_ + "/service.log").c_str(), "a", stderr)) ::_exit(1);
        // conmon leaves a file `oom` where its podman stands.
        if (::chdir(folder_.c_str()) != 0) ::_exit(127);
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
}

void PodmanRig::crash() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    start_service();
    wait_until_ready();
}

// ── Docker

std::shared_ptr<DockerRig> DockerRig::shared() {
    auto& rig = the_one<DockerRig>();
    if (rig) return rig;
    if (::geteuid() != 0 || shell("command -v dockerd containerd").empty()) return nullptr;
    rig = std::make_shared<DockerRig>(new_folder());
    return rig;
}

void DockerRig::drop() { the_one<DockerRig>().reset(); }

DockerRig::DockerRig(std::string folder)
    : HostRig(folder, folder + "/dockerd/docker.sock"), daemon_(folder + "/dockerd", folder) {
    // Threads are made in here too, as the one that sets the firewall.
    const docker::testing::Within inside{daemon_.network()};
    connect();
}

DockerRig::~DockerRig() { clean(folder_); }

void DockerRig::crash() {
    daemon_.crash();
    wait_until_ready();
}

// ── Asking

void HostRig::drive(std::function<bool()> done) {
    loop_.restart();
    while (!done() && loop_.run_one() > 0) {
    }
    HOSTLER_ASSERT(done());
}

ContainerSpec HostRig::server(std::string name) {
    return {.name = name,
            .labels = {{label, name}},
            .image = demo_image,
            .memory_bytes = 64 << 20,
            .pids_max = 64,
            .ids = ids_};
}

ContainerSpec HostRig::finisher(std::string name, int code) {
    auto spec = server(std::move(name));
    spec.environment["EXIT_CODE"] = std::to_string(code);
    return spec;
}

ContainerSpec HostRig::stubborn(std::string name) {
    auto spec = server(std::move(name));
    spec.environment["IGNORE_SIGTERM"] = "1";
    return spec;
}

namespace {

constexpr unsigned places = 64 * 16;  // 10.64.0.0/20, 10.65.0.0/20, …, each for sixteen networks.

std::string prefix_of(unsigned place, unsigned number) {
    return fmt::format("10.{}.{}.", 64 + place % 64, place / 64 % 16 * 16 + number);
}

bool is_free(unsigned place, const std::string& addresses) {
    for (unsigned number = 0; number < 16; ++number)
        if (addresses.contains(" " + prefix_of(place, number))) return false;
    return true;
}

}  // namespace

std::string HostRig::subnet(int number) {
    // Runs at the same time have processes of their own; bridges that something has left here stay alone.
    static const unsigned place = [] {
        const std::string addresses = shell("ip -4 -o address");
        const auto first = static_cast<unsigned>(::getpid()) % places;
        unsigned at = first;
        while (!is_free(at, addresses) && (at = (at + 1) % places) != first) {
        }
        return at;
    }();
    return prefix_of(place, static_cast<unsigned>(number)) + "0/24";
}

std::string HostRig::get(std::string address, std::string path, Duration time) {
    const auto end = timers_->now() + time;
    while (timers_->now() < end) {
        http::Request request{.target = path};
        request.headers.set("Host", address);
        const auto response = run(client_->fetch({address + ":8080"}, std::move(request),
                                                 {.connect = 2s, .head = time, .idle = time}));
        if (response) return response->body;
        if (!run(sleep(*timers_, 20ms))) break;
    }
    return {};
}

}  // namespace hostler::contract
