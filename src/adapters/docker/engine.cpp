#include "adapters/docker/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>

#include "adapters/docker/inside.h"
#include "adapters/docker/listing.h"
#include "adapters/docker/memory_kills.h"
#include "adapters/docker/namespaces.h"
#include "adapters/docker/opens.h"
#include "adapters/docker/prepare.h"
#include "core/log.h"
#include "core/percent.h"

namespace hostler::docker {

namespace {

using namespace std::chrono_literals;

constexpr Duration stop_margin = 20s;  // For the engine, beyond the grace that it gives.
constexpr Duration remove_time = 60s;
constexpr Duration removal_poll = 100ms;
constexpr Duration end_time = 10s;  // Of a process that has ended: for the engine to say so.
constexpr Duration end_poll = 20ms;
constexpr Duration creation_time = 5s;               // Of one that another call makes: for it to be seen.
constexpr std::string_view half_made = "half_made";  // The reason of an error: another is to be made.
constexpr std::size_t known_max = 4096;
constexpr std::size_t init_words_max = 4096;                 // Of a container whose program never began.
constexpr const char* namespace_file = "network-namespace";  // Names that of its start.

bool is_name(std::string_view name) {
    if (name.empty() || name.size() > 128) return false;
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return is_plain(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-' || c == '_' || c == '.'; });
}

// An engine that was killed while it made a container may have lost the network that it had begun to make.
Result<> has_address(const ContainerSpec& spec, const Inspected& there) {
    if (there.pid == 0 || spec.address.empty() || std::ranges::count(there.addresses, spec.address) > 0)
        return {};
    return fail(Code::unavailable,
                fmt::format("container {} runs without its address {}", spec.name, spec.address),
                std::string{half_made});
}

// As an init ends that cannot begin the program: it may not be executed, or is not there.
bool is_no_program(int exit_code) { return exit_code == 126 || exit_code == 127; }

// Of what is laid for a container, or noted of it.
std::string own_folder(const std::string& state, std::string_view container) {
    return fmt::format("{}/containers/{}", state, container);
}

}  // namespace

DockerEngine::DockerEngine(Net& net, Timers& timers, Worker& worker, EngineSettings settings)
    : timers_(timers), worker_(worker), settings_(std::move(settings)), api_(net, timers, settings_.socket) {}

Task<Traits> DockerEngine::traits() {
    if (traits_) co_return *traits_;
    co_return co_await ask_traits();
}

// One question at a time, and its answer is for all callers: podman runs programs of the package manager for
// each, and goes on when its client has left. Many at once keep a machine busy until none is answered in
// time.
Task<Traits> DockerEngine::ask_traits() {
    const std::uint64_t seen = told_;
    while (asking_) {
        CO_TRY(co_await asked_.wait());
        if (told_ != seen) co_return said_;
    }
    asking_ = true;
    struct Asking {
        DockerEngine& engine;
        ~Asking() {
            engine.asking_ = false;
            engine.asked_.notify_all();
        }
    } const asking{*this};
    const auto version = co_await api_.call("GET", "/version", settings_.call_time);
    CO_TRY(co_await check_cancelled());
    const auto info = version ? co_await api_.call("GET", "/info", settings_.call_time) : version;
    CO_TRY(co_await check_cancelled());
    said_ = info ? parse_traits(version->body, info->body) : std::unexpected(info.error());
    if (said_) traits_ = *said_;
    ++told_;
    co_return said_;
}

Task<EngineFacts> DockerEngine::describe() {
    const auto now = CO_TRY(co_await ask_traits());  // Whoever asks wants to know what is there now.
    auto told = facts(now);
    told.disk_unlimited = CO_TRY(co_await disk_unlimited());
    co_return told;
}

// What its resolv.conf says: its network's own resolver, whatever the host asks.
Task<std::string> DockerEngine::resolver(const ContainerSpec& spec) {
    if (spec.network.empty()) co_return std::string{};
    const auto engine = CO_TRY(co_await traits());
    if (engine.dialect == Dialect::docker) co_return std::string{"nameserver 127.0.0.11\noptions ndots:0\n"};
    std::string gateway = spec.gateway;
    if (gateway.empty()) {
        const auto answer = CO_TRY(co_await api_.call(
            "GET", fmt::format("/networks/{}", percent_encode(spec.network)), settings_.call_time));
        if (!answer.success())  // Its start tells what is wrong.
            co_return std::string{};
        gateway = CO_TRY(parse_network(answer.body)).gateway;
    }
    co_return gateway.empty() ? std::string{} : fmt::format("search dns.podman\nnameserver {}\n", gateway);
}

EngineFacts DockerEngine::facts(const Traits& traits) const {
    const bool podman = traits.dialect == Dialect::podman;
    EngineFacts facts{.name = fmt::format("{} {}", podman ? "podman" : "docker", traits.version),
                      .cgroup_version = traits.cgroup_version};
    if (podman && settings_.user_namespaces && kernel_maps_layers())
        facts.user_namespaces = UserNamespaces::chosen;
    if (!podman && traits.shared_ids.mapped()) {
        facts.user_namespaces = UserNamespaces::shared;
        facts.shared_ids = traits.shared_ids;
    }
    return facts;
}

Task<std::optional<Inspected>> DockerEngine::inspect(std::string name) {
    const auto engine = CO_TRY(co_await traits());
    co_return co_await inspect_container(api_, std::move(name), settings_.call_time, engine.root);
}

Task<Container> DockerEngine::launch(ContainerSpec spec) {
    if (!is_name(spec.name))
        co_return fail(Code::invalid, fmt::format("'{}' is no name for a container", spec.name));
    std::string user;
    if (!spec.secret_files.empty()) user = image_user(CO_TRY(co_await image_facts(spec.image)));
    std::vector<GpuFacts> gpus;
    if (!spec.cdi_devices.empty() && settings_.gpus) gpus = settings_.gpus();
    auto prepared = co_await run_on<CdiEdits>(
        worker_, [settings = settings_, spec, resolver = CO_TRY(co_await resolver(spec)), user, gpus] {
            return prepare(settings, spec, resolver, user, gpus);
        });
    if (!prepared) {  // What runs already has what it needs.
        if (const auto there = CO_TRY(co_await inspect(spec.name)))
            if (auto adopted = CO_TRY(co_await adopt(spec, *there))) co_return std::move(*adopted);
        co_return std::unexpected(std::move(prepared).error());
    }
    const CdiEdits edits = std::move(*prepared);
    for (const auto& warning : edits.warnings) log_warn("container {}: {}", spec.name, warning);
    auto made = co_await make(spec, edits);
    // It has been removed; another has another id.
    if (!made && (is_half_made(made.error().message) || made.error().reason == half_made))
        made = co_await make(spec, edits);
    if (!made && made.error().code != Code::cancelled && made.error().reason != name_taken)
        CO_TRY(co_await remove_its_files(spec.name));
    co_return made;
}

Task<Container> DockerEngine::make(const ContainerSpec& spec, const CdiEdits& edits) {
    const auto created = CO_TRY(co_await create(spec, edits));
    if (created.container.state != ContainerState::created) co_return created.container;
    const auto limited = co_await make_disk(spec, created.id);
    if (!limited) {
        if (limited.error().code != Code::cancelled)
            (void)co_await remove_container(spec.name, spec.layer_end);
        co_return std::unexpected(limited.error());
    }
    co_return co_await start(spec, edits, created.id, *limited);
}

// What is there under the name of `spec`: given back if it is this container, nullopt if it was never started
// (then it goes on from there). Errors: conflict, another has the name; unavailable, it was half made and has
// been removed.
Task<std::optional<Container>> DockerEngine::adopt(const ContainerSpec& spec, const Inspected& there) {
    // The image may add labels of its own; what we asked for must be there word by word.
    for (const auto& [label, value] : spec.labels) {
        const auto found = there.container.labels.find(label);
        if (found == there.container.labels.end() || found->second != value)
            co_return fail(Code::conflict,
                           fmt::format("container {} exists with another {}", spec.name, label),
                           std::string{name_taken});
    }
    for (const auto& [label, value] : there.container.labels)
        if (label.starts_with("hostler.") && !spec.labels.contains(label))
            co_return fail(Code::conflict, fmt::format("container {} exists with label {}", spec.name, label),
                           std::string{name_taken});
    if (there.container.state == ContainerState::created) co_return std::nullopt;
    CO_TRY(co_await note_log(there));
    if (auto whole = has_address(spec, there); !whole) {
        CO_TRY(co_await remove_container(spec.name, spec.layer_end));
        co_return std::unexpected(std::move(whole).error());
    }
    co_return there.container;
}

// Of a container that has just been made; none where the answer is not what we know.
static std::optional<std::string> created_id(std::string_view body) {
    boost::system::error_code error;
    const auto value = boost::json::parse(body, error);
    const auto* object = error ? nullptr : value.if_object();
    const auto* id = object ? object->if_contains("Id") : nullptr;
    if (!id || !id->is_string()) return std::nullopt;
    return std::string{id->get_string()};
}

// One whose name is taken, which another call may be making at this moment. An engine that was killed while
// it made one has only its storage left, which takes the name and is nowhere to be seen. It is removed.
// Errors: unavailable, half_made.
Task<Inspected> DockerEngine::find_taken(const ContainerSpec& spec) {
    const auto end = timers_.now() + creation_time;
    while (true) {
        if (auto there = CO_TRY(co_await inspect(spec.name))) co_return std::move(*there);
        if (timers_.now() > end) break;
        CO_TRY(co_await sleep(timers_, removal_poll));
    }
    CO_TRY(co_await remove_container(spec.name, spec.layer_end));
    co_return fail(Code::unavailable, fmt::format("container {} was half made by the engine", spec.name),
                   std::string{half_made});
}

// Errors: as of adopt() and find_taken(), when something has the name.
Task<Inspected> DockerEngine::create(const ContainerSpec& spec, const CdiEdits& edits) {
    const auto engine = CO_TRY(co_await traits());
    std::string library_path;
    if (!edits.library_folders.empty())
        library_path = image_library_path(CO_TRY(co_await image_facts(spec.image)));
    auto body = CO_TRY(create_body(spec, edits, engine, confinement(settings_), library_path));
    const auto answer = CO_TRY(
        co_await api_.call("POST", create_path(spec, engine.dialect), settings_.start_time, std::move(body)));
    const auto what = fmt::format("container {} cannot be created", spec.name);
    if (!answer.success() && says_no_image(error_text(answer.body)))
        co_return fail(Code::not_found, fmt::format("image {} is not on this host", spec.image),
                       std::string{image_missing});
    if (!answer.success())
        if (auto fault = image_fault(spec.image, error_text(answer.body)))
            co_return std::unexpected(std::move(*fault));
    if (!answer.success() && !is_name_taken(answer.status, answer.body))
        co_return std::unexpected(engine_error(answer.status, answer.body, what));
    if (answer.success())
        if (auto id = created_id(answer.body)) {
            Inspected fresh{.id = std::move(*id)};
            fresh.container.state = ContainerState::created;
            co_return fresh;
        }
    // Ours, or one that a launch before left without starting it, or one made by another launch at this
    // moment.
    auto there = CO_TRY(co_await find_taken(spec));
    CO_TRY(co_await adopt(spec, there));
    co_return there;
}

Task<Container> DockerEngine::start(const ContainerSpec& spec, const CdiEdits& edits, std::string id,
                                    std::uint64_t disk_bytes) {
    auto started = co_await start_and_look(spec, id, edits, disk_bytes);
    if (!started) {
        if (started.error().code == Code::cancelled) co_return std::unexpected(started.error());
        const auto removed = co_await remove_container(spec.name, spec.layer_end);
        if (!removed) log_warn("container {} could not be removed: {}", spec.name, removed.error().message);
    }
    co_return started;
}

// Blocks. An engine's word that it started the container says nothing of this.
static Result<> check_gpus(std::string_view name, std::int64_t pid, std::span<const CdiNode> nodes) {
    auto seen = check_devices(pid, nodes);
    if (seen) seen = check_opens(pid, nodes);
    if (seen || seen.error().code == Code::not_found) return {};  // It has ended by itself.
    return fail(seen.error().code, fmt::format("container {}: {}", name, seen.error().message),
                std::string{Engine::gpu_unreachable});
}

// The container as it is once it has been started.
Task<Container> DockerEngine::start_and_look(const ContainerSpec& spec, std::string id, const CdiEdits& edits,
                                             std::uint64_t disk_bytes) {
    const std::string& name = spec.name;
    if (!edits.nodes.empty() && CO_TRY(co_await traits()).dialect == Dialect::podman)
        CO_TRY(
            co_await run_on<void>(worker_, [folder = settings_.rules_folder, name, id, nodes = edits.nodes] {
                return keep_rules(folder, name, id, nodes);
            }));
    const auto answer =
        CO_TRY(co_await api_.call("POST", container_path(id, "/start"), settings_.start_time));
    if (!answer.success() && answer.status != 304) {
        if (says_no_init(answer.body))
            co_return fail(
                Code::not_found,
                fmt::format("container {}: its host has no docker-init to run its program below", name),
                std::string{init_missing});
        if (auto fault = image_fault(spec.image, error_text(answer.body)))
            co_return std::unexpected(std::move(*fault));
        auto error = engine_error(answer.status, answer.body, fmt::format("container {} cannot start", name));
        if (error.code == Code::not_found) error.code = Code::unavailable;  // Somebody removed it meanwhile.
        if (is_address_taken(error.message))
            error = {Code::conflict, std::move(error.message), std::string{address_taken}};
        co_return std::unexpected(std::move(error));
    }
    auto there = CO_TRY(co_await inspect(id));
    if (there) CO_TRY(co_await note_log(*there));
    if (there && there->pid != 0 && !spec.no_init) {
        const bool begun = CO_TRY(co_await run_on<bool>(
            worker_, [pid = there->pid]() -> Result<bool> { return program_begins(pid); }));
        // The engine hears of an end later than the kernel does.
        const auto end = timers_.now() + end_time;
        while (!begun && there && there->pid != 0 && timers_.now() < end) {
            CO_TRY(co_await sleep(timers_, end_poll));
            there = CO_TRY(co_await inspect(id));
        }
    }
    if (!there) co_return fail(Code::unavailable, fmt::format("container {} has gone again", name));
    if (there->pid == 0 && !spec.no_init && is_no_program(there->container.exit_code)) {
        const auto said = CO_TRY(co_await logs(id, {.bytes_max = init_words_max}));
        if (auto fault = init_fault(spec.image, text_of(log_pieces(said.pieces))))
            co_return std::unexpected(std::move(*fault));
    }
    // One that has ended by itself needs nothing any more.
    if (there->pid == 0) co_return there->container;
    CO_TRY(co_await run_on<void>(
        worker_, [folder = own_folder(settings_.state_folder, name), path = there->network_namespace] {
            return keep_file(folder, namespace_file, path);
        }));
    CO_TRY(has_address(spec, *there));
    if (disk_bytes > 0) {
        const auto ends = co_await run_on<void>(
            worker_, [pid = there->pid, disk_bytes] { return check_disk(pid, disk_bytes); });
        if (!ends && ends.error().code != Code::not_found)
            co_return fail(ends.error().code, fmt::format("container {}: {}", name, ends.error().message),
                           ends.error().reason);
    }
    if (edits.nodes.empty()) co_return there->container;
    CO_TRY(co_await run_on<void>(
        worker_, [name, pid = there->pid, nodes = edits.nodes] { return check_gpus(name, pid, nodes); }));
    co_return there->container;
}

// No engine says whether it had to kill: the time and the exit code do.
Task<StopEnd> DockerEngine::stop(std::string name, Duration grace) {
    constexpr int killed = 137;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::max(grace, Duration{0}));
    const auto path = target(container_path(name, "/stop"), {{"t", std::to_string(seconds.count())}});
    const Instant asked = timers_.now();
    const auto answer = CO_TRY(co_await api_.call("POST", path, seconds + stop_margin));
    if (answer.status == 304 || answer.status == 404) co_return StopEnd::ended;
    if (!answer.success())
        co_return std::unexpected(call_error(answer, fmt::format("container {} does not stop", name)));
    if (timers_.now() - asked < seconds) co_return StopEnd::ended;
    const auto there = CO_TRY(co_await inspect(std::move(name)));
    co_return there && there->container.exit_code == killed ? StopEnd::killed : StopEnd::ended;
}

Task<> DockerEngine::remove(std::string name, LayerEnd layer) {
    CO_TRY(co_await remove_container(name, layer));
    co_return co_await remove_its_files(std::move(name));
}

Task<> DockerEngine::remove_its_files(std::string name) {
    return run_on<void>(worker_,
                        [folder = settings_.state_folder, secrets = settings_.secret_folder,
                         rules = settings_.rules_folder, name]() -> Result<> {
                            if (!is_name(name)) return {};
                            remove_files(folder, name);
                            remove_secrets(secrets, name);
                            remove_rules(rules, name);
                            return {};
                        });
}

Task<> DockerEngine::remove_container(std::string name, LayerEnd layer) {
    const auto path = target(container_path(name), {{"force", "true"}, {"v", "true"}});
    const auto end = timers_.now() + remove_time;
    std::string network_namespace;
    if (settings_.layers && is_name(name)) {
        // An engine cannot remove a folder that something is mounted on.
        const auto there = co_await inspect(name);
        if (!there || (*there && (*there)->pid != 0)) CO_TRY(co_await stop(name, Duration{0}));
        CO_TRY(co_await settings_.layers->release(name, layer));
        if (there && *there) {
            network_namespace = (*there)->network_namespace;
            CO_TRY(co_await run_on<void>(worker_, [volumes = (*there)->volumes]() -> Result<> {
                unlay_volumes(volumes);
                return {};
            }));
        }
    }
    while (true) {
        const auto answer = CO_TRY(co_await api_.call("DELETE", path, remove_time));
        if (answer.success() || answer.status == 404)
            co_return co_await remove_left_namespaces(std::move(name), std::move(network_namespace));
        // Another removal is on its way; it is waited for, since the name must be free afterwards. So is
        // podman's cleaning up after a container that has just ended, which holds its mounts.
        if (!is_being_removed(answer.status, answer.body) || timers_.now() > end)
            co_return std::unexpected(
                call_error(answer, fmt::format("container {} cannot be removed", name)));
        CO_TRY(co_await sleep(timers_, removal_poll));
    }
}

// Removes network namespaces that podman leaves after a removal: the last one seen, and that of the start.
Task<> DockerEngine::remove_left_namespaces(std::string name, std::string last) {
    if (!is_name(name)) co_return Result<>{};
    co_return co_await run_on<void>(
        worker_, [folder = own_folder(settings_.state_folder, name), name, last]() -> Result<> {
            std::string first;
            std::getline(std::ifstream{folder + "/" + namespace_file}, first);
            for (const auto& path : {first, last})
                if (const auto left = remove_namespace(path); !left)
                    log_warn("container {}: {}", name, left.error().message);
                else if (*left)
                    log_warn("container {}: its network namespace {} was left behind, and is removed", name,
                             path);
            return {};
        });
}

Task<std::vector<Container>> DockerEngine::list(std::string label, std::string value) {
    auto seen = CO_TRY(co_await list_containers(api_, fmt::format("{}={}", label, value), settings_.call_time,
                                                unlisted_told_));
    CO_TRY(co_await note_out_of_memory(seen));
    std::vector<Container> all;
    std::vector<Inspected> running;
    for (const auto& there : seen)
        if (there.container.state == ContainerState::running && !there.container.name.empty())
            running.push_back(there);
    CO_TRY(co_await note_logs(std::move(running)));
    for (auto& there : seen) all.push_back(std::move(there.container));
    std::ranges::sort(all, {}, &Container::name);
    co_return all;
}

Task<> DockerEngine::follow(std::string label, std::string value, std::function<void(EngineNews)> tell) {
    const boost::json::value filters{{"type", boost::json::array{"container"}},
                                     {"label", boost::json::array{fmt::format("{}={}", label, value)}}};
    const auto path = target("/events", {{"filters", boost::json::serialize(filters)}});
    co_return co_await api_.follow(
        path, settings_.call_time, settings_.news_time, [&tell] { tell(EngineNews::follows); },
        [&tell](std::string_view event) {
            if (changes_a_container(event)) tell(EngineNews::changed);
        });
}

Task<> DockerEngine::answers() {
    const auto answer = CO_TRY(co_await api_.call("GET", "/_ping", settings_.call_time));
    if (!answer.success()) co_return std::unexpected(call_error(answer, "the container engine is not well"));
    co_return Result<>{};
}

// Podman does not say that the kernel killed a container for its memory (measured on 4.3), the kernel does.
Task<> DockerEngine::note_out_of_memory(std::vector<Inspected>& seen) {
    constexpr int killed = 137;
    std::vector<std::string> ids;
    for (const auto& there : seen)
        if (there.container.exit_code == killed && !there.container.oom_killed &&
            !oom_known_.contains(there.id))
            ids.push_back(there.id);
    if (!ids.empty()) {
        using Names = std::map<std::string, std::string>;
        const auto found =
            CO_TRY(co_await run_on<Names>(worker_, [log = settings_.kernel_log, ids]() -> Result<Names> {
                return killed_for_memory(log, ids);
            }));
        if (oom_known_.size() + ids.size() > known_max) oom_known_.clear();
        for (const auto& id : ids) oom_known_[id] = found.contains(id);
    }
    for (auto& there : seen)
        if (const auto known = oom_known_.find(there.id); known != oom_known_.end())
            there.container.oom_killed = there.container.oom_killed || known->second;
    co_return Result<>{};
}

}  // namespace hostler::docker
