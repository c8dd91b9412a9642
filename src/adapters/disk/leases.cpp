#include "adapters/disk/leases.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "adapters/disk/file.h"
#include "core/names.h"

namespace hostler::disk {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view granted_file = "granted", watched_file = "watched", lock_file = "lock";

std::string path_of(const std::string& folder, std::string_view file) {
    return fmt::format("{}/{}", folder, file);
}

// Whole or not at all, also after a power cut.
Result<> replace(const std::string& folder, std::string_view file, std::string_view text) {
    const std::string path = path_of(folder, file), fresh = path + ".new";
    const Descriptor made{::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!made.open()) return disk_error("write", fresh);
    TRY(write_whole(*made, text, fresh));
    if (::fsync(*made) < 0) return disk_error("sync", fresh);
    if (::rename(fresh.c_str(), path.c_str()) < 0) return disk_error("rename", fresh);
    const Descriptor in{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!in.open() || ::fsync(*in) < 0) return disk_error("sync", folder);
    return {};
}

Result<std::string> read(const std::string& folder, std::string_view file) {
    const std::string path = path_of(folder, file);
    const Descriptor there{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!there.open() && errno == ENOENT) return std::string{};
    if (!there.open()) return disk_error("read", path);
    return read_whole(*there, path);
}

// Asking for it does not take it.
struct flock lock_of(short type) {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

// A line of words with one space between them; the last has the rest.
std::vector<std::string> words(std::string_view line, std::size_t count) {
    std::vector<std::string> made;
    while (made.size() + 1 < count) {
        const auto end = std::min(line.find(' '), line.size());
        made.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    made.emplace_back(line);
    return made;
}

template <class Number>
bool number(const std::string& text, Number& into) {
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), into);
    return wrong == std::errc{} && end == text.data() + text.size();
}

template <class Read>
Result<> each_line(const std::string& text, std::string_view file, Read read_line) {
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        if (!read_line(std::string_view{text}.substr(at, end - at)))
            return fail(Code::unavailable, fmt::format("the leases in '{}' cannot be read", file));
        at = end + 1;
    }
    return {};
}

Result<std::vector<RunLease>> read_granted(const std::string& folder) {
    std::vector<RunLease> all;
    const std::string text = TRY(read(folder, granted_file));
    TRY(each_line(text, granted_file, [&](std::string_view line) {
        const auto parts = words(line, 5);
        RunLease lease{.instance = parts[0], .boot = parts[4]};
        all.push_back(std::move(lease));
        return number(parts[1], all.back().generation) && number(parts[2], all.back().until_us) &&
               number(parts[3], all.back().length_us);
    }));
    return all;
}

Result<std::vector<WatchedLease>> read_watched(const std::string& folder) {
    std::vector<WatchedLease> all;
    const std::string text = TRY(read(folder, watched_file));
    TRY(each_line(text, watched_file, [&](std::string_view line) {
        const auto parts = words(line, 3);
        all.push_back({.instance = parts[0], .saw = parts[2]});
        return number(parts[1], all.back().generation);
    }));
    return all;
}

std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

class Folder final : public LeaseBook {
public:
    Folder(Worker& worker, std::string folder, StartSupervisor start)
        : worker_(worker), folder_(std::move(folder)), start_(std::move(start)) {}

    Task<std::vector<RunLease>> granted() override {
        co_return co_await run_on<std::vector<RunLease>>(worker_,
                                                         [folder = folder_] { return read_granted(folder); });
    }
    Task<> grant(std::vector<RunLease> all) override {
        std::string text;
        for (const RunLease& lease : all) {
            if (!is_plain_name(lease.instance) || lease.boot.find('\n') != std::string::npos)
                co_return fail(Code::invalid, fmt::format("'{}' is no instance's name", lease.instance));
            text += fmt::format("{} {} {} {} {}\n", lease.instance, lease.generation, lease.until_us,
                                lease.length_us, lease.boot);
        }
        co_return co_await run_on<void>(worker_, [folder = folder_, text = std::move(text)] {
            return replace(folder, granted_file, text);
        });
    }
    Task<std::vector<WatchedLease>> watched() override {
        co_return co_await run_on<std::vector<WatchedLease>>(
            worker_, [folder = folder_] { return read_watched(folder); });
    }
    Task<> watch(std::vector<WatchedLease> all) override {
        std::string text;
        for (const WatchedLease& one : all)
            text += fmt::format("{} {} {}\n", one.instance, one.generation, one_line(one.saw));
        co_return co_await run_on<void>(worker_, [folder = folder_, text = std::move(text)] {
            return replace(folder, watched_file, text);
        });
    }
    Task<> supervise(std::string boot) override {
        co_return co_await run_on<void>(worker_, [this, boot = std::move(boot)]() -> Result<> {
            if (supervisor_of(folder_) != 0) return {};
            return start_(boot);
        });
    }

private:
    Worker& worker_;
    const std::string folder_;
    const StartSupervisor start_;
};

}  // namespace

Result<std::unique_ptr<LeaseBook>> open_leases(Worker& worker, std::string folder, StartSupervisor start) {
    TRY(make_folder(folder));
    return std::make_unique<Folder>(worker, std::move(folder), std::move(start));
}

Result<SupervisorLock> SupervisorLock::take(const std::string& folder) {
    const std::string path = path_of(folder, lock_file);
    SupervisorLock lock{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (lock.fd_ < 0) return disk_error("open", path);
    struct flock whole = lock_of(F_WRLCK);
    if (::fcntl(lock.fd_, F_OFD_SETLK, &whole) < 0)
        return fail(Code::conflict, "another supervisor watches over these leases");
    if (::ftruncate(lock.fd_, 0) < 0) return disk_error("write", path);
    TRY(write_whole(lock.fd_, fmt::format("{}\n", ::getpid()), path));
    return lock;
}

SupervisorLock::~SupervisorLock() {
    if (fd_ >= 0) ::close(fd_);
}

int supervisor_of(const std::string& folder) {
    const std::string path = path_of(folder, lock_file);
    const Descriptor there{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    struct flock held = lock_of(F_RDLCK);
    if (!there.open() || ::fcntl(*there, F_OFD_GETLK, &held) < 0 || held.l_type == F_UNLCK) return 0;
    int pid = 0;
    const auto text = read_whole(*there, path);
    if (text) std::from_chars(text->data(), text->data() + text->size(), pid);
    return pid > 0 ? pid : 1;  // It has the lock, and writes who it is at this moment.
}

}  // namespace hostler::disk
