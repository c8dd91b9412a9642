#include "adapters/program/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "adapters/program/holder.h"
#include "adapters/program/inside.h"
#include "adapters/program/log_file.h"
#include "core/kernel_files.h"
#include "core/log.h"
#include "core/names.h"
#include "core/spawn.h"

namespace hostler::program {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t names_max = 65536, record_bytes_max = 4 << 20;
constexpr int kill_rounds_max = 100;
constexpr int killed_code = 137;
constexpr std::chrono::milliseconds reply_margin{10'000};

std::string random_id() {
    std::array<std::uint8_t, 32> bytes{};
    HOSTLER_ASSERT(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    std::string text;
    for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::optional<Record> record_in(const std::string& folder) {
    const auto text = read_bytes(folder + "/record", record_bytes_max);
    auto record = text ? parse_record(*text) : Result<Record>{fail(Code::not_found, "")};
    if (!record) return std::nullopt;
    return std::move(*record);
}

std::optional<Ending> ending_in(const std::string& folder) {
    const auto text = read_bytes(folder + "/result", record_bytes_max);
    if (!text) return std::nullopt;
    auto ending = parse_ending(*text);
    if (!ending) return Ending{.exit_code = killed_code, .error = "how it ended cannot be read"};
    return std::move(*ending);
}

// The devices that every program has, and those that it claims.
std::vector<GroupDevice> devices_of(const Plan& plan) {
    std::vector<GroupDevice> devices{{.major = 1, .minor = 3}, {.major = 1, .minor = 5},
                                     {.major = 1, .minor = 7}, {.major = 1, .minor = 8},
                                     {.major = 1, .minor = 9}, {.major = 5, .minor = 0},
                                     {.major = 5, .minor = 2}, {.major = 136, .minor = -1}};
    for (const auto& node : plan.nodes)
        devices.push_back({.block = node.block, .major = node.major, .minor = node.minor});
    return devices;
}

Result<PlanNode> find_node(const DeviceNode& wanted) {
    if (!wanted.path.starts_with("/dev/") || wanted.path.contains("/../") || wanted.path.ends_with('/'))
        return fail(Code::invalid,
                    fmt::format("a device of a program is to be in /dev, and not at {}", wanted.path));
    struct stat status{};
    if (::stat(wanted.host_path.c_str(), &status) != 0)
        return fail(Code::not_found, fmt::format("device {} is not on this host", wanted.host_path));
    if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode))
        return fail(Code::invalid, fmt::format("{} is no device", wanted.host_path));
    return PlanNode{.path = wanted.path,
                    .block = S_ISBLK(status.st_mode),
                    .major = ::major(status.st_rdev),
                    .minor = ::minor(status.st_rdev)};
}

// Until the writer ends, or has said "ok".
std::string read_reply(int fd, std::chrono::milliseconds within) {
    const auto until = std::chrono::steady_clock::now() + within;
    std::string text;
    while (text != "ok") {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        pollfd end{.fd = fd, .events = POLLIN};
        if (left <= 0 || ::poll(&end, 1, static_cast<int>(left)) == 0) break;
        char piece[4096];
        const auto size = ::read(fd, piece, sizeof piece);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        text.append(piece, static_cast<std::size_t>(size));
    }
    return text;
}

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int operator*() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_;
};

}  // namespace

Result<Limits> Programs::limits() {
    if (::geteuid() != 0)
        return fail(Code::unavailable, "programs without containers need an agent that is root");
    const auto hierarchies = find_hierarchies();
    TRY(plan_groups(hierarchies, settings_.group_parent, "x", {}, {}));
    Limits limits{.cgroup_version = version_of(hierarchies)};
    const bool first = std::ranges::any_of(
        hierarchies, [](const Hierarchy& one) { return one.controllers.contains("devices"); });
    limits.devices = first              ? DeviceLimit::groups_1
                     : unfiltered_told_ ? DeviceLimit::mounts_only
                                        : DeviceLimit::filter_2;
    return limits;
}

Result<> Programs::make_state_folder() const {
    const auto folder = settings_.state_folder + "/programs";
    std::error_code wrong;
    fs::create_directories(folder, wrong);
    struct stat status{};
    for (const auto& path : {settings_.state_folder, folder})
        if (::chmod(path.c_str(), 0700) != 0 || ::lstat(path.c_str(), &status) != 0 ||
            !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
            return fail(Code::unavailable,
                        fmt::format("{} is to be a folder of ours alone, for programs", path));
    return {};
}

// Under the lock of all: users of programs that were not removed are not given to others while there are
// unused ones, and those of running programs never.
Result<std::uint32_t> Programs::free_user() const {
    std::set<std::uint32_t> known, running;
    for (const auto& name : list_folder(settings_.state_folder + "/programs", names_max)) {
        const auto folder = folder_of(name);
        const auto record = record_in(folder);
        if (!record) continue;
        known.insert(record->user);
        if (!ending_in(folder)) running.insert(record->user);
    }
    for (const auto* taken : {&known, &running})
        for (std::uint32_t i = 0; i < settings_.ids.count; ++i)
            if (!taken->contains(settings_.ids.first + i)) return settings_.ids.first + i;
    return fail(Code::exhausted,
                fmt::format("all {} users for programs of this host are in use", settings_.ids.count),
                "program_users");
}

Result<Programs::Prepared> Programs::prepare(const ContainerSpec& spec, const ResolveDevices& devices) const {
    if (settings_.ids.first == 0 || settings_.ids.count == 0 || settings_.holder.empty())
        return fail(Code::unavailable, "programs without containers are not set up on this host");
    DeviceEdits edits;
    if (!spec.cdi_devices.empty()) {
        if (!devices)
            return fail(Code::not_found,
                        fmt::format("device {} is not known on this host", spec.cdi_devices.front()));
        edits = TRY(devices(spec.cdi_devices));
    }
    Prepared prepared{.plan = make_plan(spec, settings_, edits)};
    for (const auto& node : edits.nodes) prepared.plan.nodes.push_back(TRY(find_node(node)));
    prepared.devices = devices_of(prepared.plan);
    const auto hierarchies = find_hierarchies();
    prepared.record = {.name = spec.name, .id = random_id(), .labels = spec.labels};
    // One more: our own first process.
    const GroupLimits limits{.cpu_milli = spec.cpu_milli,
                             .memory_bytes = spec.memory_bytes,
                             .pids_max = prepared.plan.processes_max + 1};
    prepared.groups =
        TRY(plan_groups(hierarchies, settings_.group_parent, prepared.record.id, limits, prepared.devices));
    for (const auto& group : prepared.groups) prepared.plan.groups.push_back(group.folder);
    prepared.record.groups = prepared.plan.groups;
    for (const auto& group : plan_holder_groups(hierarchies, settings_.group_parent))
        prepared.plan.holder_groups.push_back(group.folder);
    return prepared;
}

// Its folder with its user and its lock, so that it is not taken for a left one.
Result<Lock> Programs::claim_folder(Prepared& prepared) const {
    const auto& folder = prepared.plan.folder;
    clear(folder);  // Made by half.
    prepared.plan.user = prepared.record.user = TRY(free_user());
    if (::mkdir(folder.c_str(), 0700) != 0)
        return fail(errno == ENOSPC ? Code::exhausted : Code::unavailable,
                    fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
    auto alive = Lock::take(folder + "/alive", Lock::Wait::no);
    if (!alive) return fail(Code::unavailable, fmt::format("cannot lock {}", folder));
    TRY(write_record(folder, "record", to_text(prepared.record)));
    return std::move(*alive);
}

Result<> Programs::make_program_groups(const Prepared& prepared) {
    std::string unfiltered;
    TRY(make_groups(prepared.groups, prepared.devices, unfiltered));
    std::string ignored;
    (void)make_groups(plan_holder_groups(find_hierarchies(), settings_.group_parent), {}, ignored);
    if (!unfiltered.empty() && !std::exchange(unfiltered_told_, true))
        log_warn("devices are kept from programs by mounts alone: {}", unfiltered);
    return {};
}

// Starts the process that holds it, and returns once the program runs.
Result<> Programs::hold(const Prepared& prepared, Lock alive) const {
    const auto& folder = prepared.plan.folder;
    const auto text = to_text(prepared.plan);
    const Descriptor plan{::memfd_create("plan", MFD_CLOEXEC)};
    int ends[2] = {-1, -1};
    if (*plan < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
        return fail(Code::unavailable, fmt::format("cannot start a program: {}", std::strerror(errno)));
    const Descriptor reply{ends[0]};
    Descriptor replies{ends[1]};
    const Descriptor input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const Descriptor output{
        ::open((folder + "/holder.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
    if (::write(*plan, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::lseek(*plan, 0, SEEK_SET) != 0 || *input < 0 || *output < 0)
        return fail(Code::unavailable, fmt::format("cannot start a program: {}", std::strerror(errno)));
    // Far from the numbers that they get there, none of which then is one of ours yet to be copied.
    constexpr int far = 20;
    const Descriptor far_plan{::fcntl(*plan, F_DUPFD_CLOEXEC, far)},
        far_alive{::fcntl(alive.fd(), F_DUPFD_CLOEXEC, far)};
    Descriptor far_replies{::fcntl(*replies, F_DUPFD_CLOEXEC, far)};
    const Descriptor far_output{::fcntl(*output, F_DUPFD_CLOEXEC, far)};
    const pid_t child = TRY(spawn(settings_.holder, {.streams = {{*input, 0},
                                                                 {*far_output, 1},
                                                                 {*far_output, 2},
                                                                 {*far_plan, plan_end},
                                                                 {*far_replies, reply_end},
                                                                 {*far_alive, alive_end}},
                                                     .own_group = true,
                                                     .environment = std::vector<std::string>{}}));
    replies.close(), far_replies.close();
    const int left = wait_end(child);
    const auto answer = read_reply(*reply, settings_.start_time + reply_margin);
    if (answer == "ok") return {};
    if (answer.empty())
        return fail(Code::unavailable,
                    fmt::format("the holder of program {} ended with {} before the program ran",
                                prepared.plan.name, left));
    return std::unexpected(parse_report(answer));
}

Result<Container> Programs::start(const ContainerSpec& spec, const ResolveDevices& devices) {
    TRY(check_spec(spec));
    TRY(limits());
    TRY(make_state_folder());
    const auto folder = folder_of(spec.name);
    auto all = Lock::take(settings_.state_folder + "/lock", Lock::Wait::yes);
    if (!all) return fail(Code::unavailable, fmt::format("cannot lock {}", settings_.state_folder));
    if (const auto there = look(spec.name)) {
        if (there->labels == spec.labels) return *there;
        return fail(Code::conflict,
                    fmt::format("program {} exists, with other labels: remove it first", spec.name),
                    std::string{Engine::name_taken});
    }
    Prepared prepared = TRY(prepare(spec, devices));
    auto alive = claim_folder(prepared);
    if (!alive) {
        clear(folder);
        return std::unexpected(alive.error());
    }
    auto made = make_program_groups(prepared);
    all.reset();
    // From here on a failure is the holder's to clean up after, and then ours.
    auto held = made;
    if (made)
        held = hold(prepared, std::move(*alive));
    else
        alive = fail(Code::cancelled, "");  // Its lock is let go.
    if (!held) {
        (void)kill_groups(prepared.record.groups, kill_rounds_max);
        remove_groups(prepared.record.groups);
        (void)remove(spec.name);
        return std::unexpected(held.error());
    }
    if (auto there = look(spec.name)) return *there;
    return fail(Code::unavailable, fmt::format("program {} was removed while it started", spec.name));
}

// What an ended holder left without a result: it was killed, or the machine ended.
Ending Programs::settle(const Record& record, const std::string& folder) {
    (void)kill_groups(record.groups, kill_rounds_max);
    remove_groups(record.groups);
    Ending ending{.exit_code = killed_code,
                  .error =
                      "the process that held the program was killed, or the machine ended: the program "
                      "was ended with it"};
    if (auto kept = write_ending(folder, ending); !kept)
        log_warn("the end of program {} is not kept: {}", record.name, kept.error().message);
    ::rmdir((folder + "/root").c_str());
    return ending;
}

// nullopt: it never ran, and whoever started it is gone.
std::optional<Container> Programs::container_of(const Record& record, const std::string& folder) {
    Container container{
        .name = record.name, .labels = record.labels, .state = ContainerState::running, .id = record.id};
    auto ending = ending_in(folder);
    if (!ending) {
        // It may have ended since.
        if (const auto alive = Lock::take(folder + "/alive", Lock::Wait::no)) {
            ending = ending_in(folder);
            if (!ending && !exists(folder + "/running")) {
                (void)kill_groups(record.groups, kill_rounds_max);
                remove_groups(record.groups);
                clear(folder);
                return std::nullopt;
            }
            if (!ending) ending = settle(record, folder);
        } else {
            ending = ending_in(folder);
        }
    }
    if (!ending) {
        if (!exists(folder + "/running")) container.state = ContainerState::created;
        return container;
    }
    container.state = ContainerState::exited;
    container.exit_code = ending->exit_code;
    container.oom_killed = ending->oom_killed;
    container.error = ending->error;
    return container;
}

std::optional<Container> Programs::look(const std::string& name) {
    if (!is_plain_name(name)) return std::nullopt;
    const auto folder = folder_of(name);
    if (!exists(folder + "/record")) {
        clear_half_made(folder);
        return std::nullopt;
    }
    const auto record = record_in(folder);
    if (!record)
        return Container{.state = ContainerState::exited,
                         .error = fmt::format("{}/record cannot be read", folder),
                         .id = name};
    return container_of(*record, folder);
}

bool Programs::has(const std::string& name) const { return is_plain_name(name) && exists(folder_of(name)); }

std::vector<Container> Programs::all() {
    std::vector<Container> all;
    for (const auto& name : list_folder(settings_.state_folder + "/programs", names_max))
        if (auto container = look(name)) all.push_back(std::move(*container));
    return all;
}

void Programs::ask_to_stop(const std::string& name, std::int64_t grace_ms) {
    const auto path = folder_of(name) + "/control";
    const Descriptor control{::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)};
    const auto request = stop_request(grace_ms);
    if (*control >= 0) (void)!::write(*control, request.data(), request.size());
}

std::optional<Ending> Programs::ending(const std::string& name) {
    const auto there = look(name);
    if (!there) return Ending{};  // Removed meanwhile.
    if (there->state != ContainerState::exited) return std::nullopt;
    return ending_in(folder_of(name)).value_or(Ending{});
}

Result<> Programs::remove(const std::string& name) {
    if (!is_plain_name(name)) return {};
    const auto folder = folder_of(name);
    if (!exists(folder)) return {};
    // Its holder has told how it ended, and takes a moment to end.
    constexpr int tries_max = 500;
    std::optional<Lock> alive;
    for (int i = 0; i < tries_max && !alive; ++i) {
        alive = Lock::take(folder + "/alive", Lock::Wait::no);
        if (!alive) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (!alive && exists(folder + "/alive"))
        return fail(Code::conflict, fmt::format("program {} runs, and cannot be removed", name));
    const auto all = Lock::take(settings_.state_folder + "/lock", Lock::Wait::yes);
    if (const auto record = record_in(folder)) {
        (void)kill_groups(record->groups, kill_rounds_max);
        remove_groups(record->groups);
    }
    clear(folder);
    if (exists(folder)) return fail(Code::unavailable, fmt::format("{} cannot be removed", folder));
    // The last one takes the groups above with it.
    for (const auto& group : plan_holder_groups(find_hierarchies(), settings_.group_parent))
        ::rmdir(group.folder.c_str());
    for (const auto& hierarchy : find_hierarchies())
        ::rmdir(fmt::format("{}/{}", hierarchy.path, settings_.group_parent).c_str());
    return {};
}

// Whoever made or removed it was killed meanwhile. Both hold the lock of all until there is a record, or no
// folder.
void Programs::clear_half_made(const std::string& folder) const {
    if (!exists(folder)) return;
    const auto all = Lock::take(settings_.state_folder + "/lock", Lock::Wait::no);
    if (all && !exists(folder + "/record")) clear(folder);
}

void Programs::clear(const std::string& folder) const {
    std::error_code ignored;
    // First what makes it a program.
    fs::remove(folder + "/record", ignored);
    fs::remove_all(folder, ignored);
}

Result<LogPart> Programs::log(const std::string& name, const LogsWanted& wanted) {
    const auto folder = folder_of(name);
    if (!exists(folder + "/record"))
        return fail(Code::not_found, fmt::format("program {} does not exist", name));
    return read_log(folder, wanted);
}

}  // namespace hostler::program
