#include "adapters/docker/inside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace hostler::docker {

namespace {

Result<> check_node(int root, std::string_view pid_root, const CdiNode& node) {
    struct stat host{};
    if (::stat(node.host_path.c_str(), &host) != 0)
        return fail(Code::unavailable,
                    fmt::format("device {} is not on this host: {}", node.host_path, std::strerror(errno)));
    // The container's links are its own: none may lead out of its root.
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT;
    const int fd = static_cast<int>(::syscall(SYS_openat2, root, node.path.c_str(), &how, sizeof how));
    if (fd < 0)
        return fail(Code::unavailable,
                    fmt::format("the engine started the container without device {} ({}: {})", node.path,
                                pid_root, std::strerror(errno)));
    struct stat inside{};
    const bool seen = ::fstat(fd, &inside) == 0;
    ::close(fd);
    if (!seen || (inside.st_mode & S_IFMT) != (host.st_mode & S_IFMT) || inside.st_rdev != host.st_rdev)
        return fail(Code::unavailable, fmt::format("the container's device at {} is not the host's {}",
                                                   node.path, node.host_path));
    return {};
}

// Who is to read a container's secrets, as the host counts users.
Result<IdRange> owner_of(const ContainerSpec& spec, std::string_view user) {
    const auto unknown = [&] {
        return fail(
            Code::invalid,
            fmt::format("image {} runs as user '{}', and only the image knows the number of that user: files "
                        "of secrets are for root, or for a user by number; give it secrets as variables",
                        spec.image, user),
            "secret_user_unknown");
    };
    const auto number = [](std::string_view text, std::uint32_t& into) {
        if (text.empty() || text == "root") return true;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, into);
        return read.ec == std::errc{} && read.ptr == end && into < IdRange::size;
    };
    IdRange owner{};
    std::uint32_t uid = 0, gid = 0;
    const auto colon = user.find(':');
    if (!number(user.substr(0, colon), uid)) return unknown();
    if (colon != user.npos && !number(user.substr(colon + 1), gid))
        gid = 0;  // It has no rights there anyway.
    owner.first_user = spec.ids.first_user + uid;
    owner.first_group = spec.ids.first_group + gid;
    return owner;
}

// That what is written there comes on no disk, and nobody else has made the folder.
Result<> check_memory_folder(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return fail(Code::unavailable,
                    fmt::format("cannot make {} for secrets: {}", folder, std::strerror(errno)));
    struct stat status{};
    if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
        (status.st_mode & 0077) != 0)
        return fail(Code::unavailable,
                    fmt::format("{} is to be a folder of ours alone, for secrets", folder));
    struct statfs disk{};
    const bool known = ::statfs(folder.c_str(), &disk) == 0;
    if (!known || (disk.f_type != TMPFS_MAGIC && disk.f_type != RAMFS_MAGIC))
        return fail(Code::unavailable,
                    fmt::format("{} is not in memory, and secrets are written to no disk", folder));
    return {};
}

}  // namespace

Result<> find_device(CdiNode& node, const std::string& folder) {
    struct stat host{};
    if (::stat(node.host_path.c_str(), &host) != 0)
        return fail(Code::not_found,
                    fmt::format("CDI asks for device {}, which is not on this host", node.host_path));
    if (!S_ISCHR(host.st_mode) && !S_ISBLK(host.st_mode))
        return fail(Code::invalid, fmt::format("CDI asks for {} as a device, which is none", node.host_path));
    node.kind = S_ISBLK(host.st_mode) ? 'b' : 'c';
    node.major = ::major(host.st_rdev);
    node.minor = ::minor(host.st_rdev);
    node.source = node.host_path;
    constexpr mode_t all = 0666;
    if ((host.st_mode & all) == all) return {};
    const auto failed = [&](std::string_view what) {
        return fail(Code::unavailable, fmt::format("device {} cannot be opened to containers: {}: {}",
                                                   node.host_path, what, std::strerror(errno)));
    };
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed(folder);
    node.source = fmt::format("{}/{}{}-{}", folder, node.kind, node.major, node.minor);
    if (::mknod(node.source.c_str(), (host.st_mode & S_IFMT) | all, host.st_rdev) != 0 && errno != EEXIST)
        return failed(node.source);
    if (::chmod(node.source.c_str(), all) != 0) return failed(node.source);  // Whatever the umask took.
    return {};
}

Result<> keep_file(const std::string& folder, std::string_view name, std::string_view text) {
    const std::string path = fmt::format("{}/{}", folder, name),
                      fresh = fmt::format("{}.{}", path, ::getpid());
    if (std::ifstream old{path, std::ios::binary};
        old && std::ranges::equal(std::string{std::istreambuf_iterator<char>{old}, {}}, text))
        return {};
    std::error_code wrong;
    std::filesystem::create_directories(folder, wrong);
    std::ofstream file{fresh, std::ios::binary | std::ios::trunc};
    file << text;
    file.close();
    if (file && std::rename(fresh.c_str(), path.c_str()) == 0) return {};
    const int error = wrong ? wrong.value() : errno;
    std::filesystem::remove(fresh, wrong);
    const bool full = error == ENOSPC || error == EDQUOT;
    return fail(full ? Code::exhausted : Code::unavailable,
                fmt::format("cannot write {}: {}", path, std::strerror(error)), full ? "disk_full" : "");
}

Result<std::vector<CdiMount>> lay_files(const std::string& folder, const ContainerSpec& spec,
                                        std::string_view resolver) {
    const std::string own = fmt::format("{}/containers/{}", folder, spec.name);
    std::string hosts = "127.0.0.1\tlocalhost\n::1\tlocalhost\n";
    if (!spec.hostname.empty())
        hosts += fmt::format("{}\t{}\n", spec.address.empty() ? "127.0.0.1" : spec.address, spec.hostname);
    struct {
        const char* name;
        const char* path;
        std::string text;
    } const files[] = {{"hosts", "/etc/hosts", std::move(hosts)},
                       {"hostname", "/etc/hostname", spec.hostname + "\n"},
                       {"resolv.conf", "/etc/resolv.conf", std::string{resolver}},
                       {"containerenv", "/run/.containerenv", ""}};
    std::vector<CdiMount> mounts;
    for (const auto& [name, path, text] : files) {
        if (std::ranges::find(spec.mounts, path, &MountSpec::target) != spec.mounts.end()) continue;
        TRY(keep_file(own, name, text));
        constexpr auto to_read = std::filesystem::perms{0444};
        std::error_code wrong;
        std::filesystem::permissions(own + "/" + name, to_read, wrong);
        mounts.push_back({own + "/" + name, path, {"ro", "nosuid", "nodev", "noexec"}});
    }
    return mounts;
}

void remove_files(const std::string& folder, const std::string& name) {
    std::error_code ignored;
    std::filesystem::remove_all(fmt::format("{}/containers/{}", folder, name), ignored);
}

Result<std::vector<CdiMount>> lay_secrets(const std::string& folder, const ContainerSpec& spec,
                                          std::string_view user) {
    if (spec.secret_files.empty()) return std::vector<CdiMount>{};
    const auto owner = TRY(owner_of(spec, user));
    TRY(check_memory_folder(folder));
    remove_secrets(folder, spec.name);
    const std::string own = fmt::format("{}/{}", folder, spec.name);
    const auto failed = [&](const std::string& path) {
        const int error = errno;
        remove_secrets(folder, spec.name);
        return fail(error == ENOSPC ? Code::exhausted : Code::unavailable,
                    fmt::format("cannot write the secret at {}: {}", path, std::strerror(error)));
    };
    if (::mkdir(own.c_str(), 0700) != 0) return failed(own);
    std::vector<CdiMount> mounts;
    for (const SecretFileSpec& file : spec.secret_files) {
        const std::string path = fmt::format("{}/{}", own, mounts.size());
        const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
        if (fd < 0) return failed(file.path);
        bool whole = ::fchmod(fd, 0400) == 0;  // Whatever the umask took.
        for (std::size_t at = 0; whole && at < file.text.size();) {
            const auto size = ::write(fd, file.text.data() + at, file.text.size() - at);
            if (size < 0 && errno == EINTR) continue;
            whole = size > 0;
            at += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
        }
        whole = whole && ::fchown(fd, owner.first_user, owner.first_group) == 0;
        if (!whole) {
            const int error = errno;
            ::close(fd);
            errno = error;
            return failed(file.path);
        }
        ::close(fd);
        mounts.push_back({path, file.path, {"ro", "nosuid", "nodev", "noexec"}});
    }
    return mounts;
}

void remove_secrets(const std::string& folder, const std::string& name) {
    std::error_code ignored;
    std::filesystem::remove_all(fmt::format("{}/{}", folder, name), ignored);
}

Result<> check_disk(std::int64_t pid, std::uint64_t bytes) {
    const auto path = fmt::format("/proc/{}/root", pid);
    struct statvfs disk{};
    if (::statvfs(path.c_str(), &disk) != 0)
        return fail(errno == ENOENT || errno == ESRCH ? Code::not_found : Code::unavailable,
                    fmt::format("cannot measure the disk of the container: {}", std::strerror(errno)));
    const auto seen = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
    if (seen <= bytes) return {};
    return fail(Code::unavailable, fmt::format("its disk has {} bytes, and {} was its limit", seen, bytes),
                "disk_unlimited");
}

Result<> check_devices(std::int64_t pid, std::span<const CdiNode> nodes) {
    if (nodes.empty()) return {};
    const auto path = fmt::format("/proc/{}/root", pid);
    const int root = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) {
        if (errno == ENOENT || errno == ESRCH)
            return fail(Code::not_found, "the container's process has ended");
        return fail(Code::unavailable, fmt::format("cannot look for devices in the container: {}: {}", path,
                                                   std::strerror(errno)));
    }
    Result<> result;
    for (const auto& node : nodes)
        if (result) result = check_node(root, path, node);
    ::close(root);
    return result;
}

// Until the program is begun, what the init has forked runs the init's own file. The init's is looked at
// after its child's: `pid` itself may have been the engine's runtime a moment before.
bool program_begins(std::int64_t pid) {
    constexpr std::chrono::milliseconds patience{1000}, look{1};
    const auto program_of = [](std::int64_t of) {
        std::error_code error;
        return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", of), error).string();
    };
    for (auto left = patience / look; left > 0; --left) {
        std::ifstream children{fmt::format("/proc/{0}/task/{0}/children", pid)};
        if (!children) return std::filesystem::exists(fmt::format("/proc/{}", pid));  // A kernel without it.
        std::int64_t child = 0;
        const std::string program = children >> child ? program_of(child) : "";
        const std::string init = program_of(pid);
        if (init.empty()) return false;  // It has ended.
        if (!program.empty() && program != init) return true;
        std::this_thread::sleep_for(look);
    }
    return true;
}

}  // namespace hostler::docker
