#include "adapters/docker/inside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace hostler::docker {

namespace {

constexpr std::size_t log_bytes_max = 32 << 20;

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
        return fail(Code::unavailable, fmt::format("what the container has at {} is not the host's {}",
                                                   node.path, node.host_path));
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
    if (!file || std::rename(fresh.c_str(), path.c_str()) != 0)
        return fail(Code::unavailable, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    return {};
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

std::set<std::string> out_of_memory(const std::string& kernel_log, std::span<const std::string> ids) {
    std::set<std::string> found;
    const int fd = ::open(kernel_log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return found;
    char record[8192];  // The kernel gives one whole record a read.
    for (std::size_t bytes = 0; bytes < log_bytes_max;) {
        const auto size = ::read(fd, record, sizeof record);
        if (size < 0 && (errno == EPIPE || errno == EINTR))
            continue;  // Overwritten meanwhile: the next that is there.
        if (size <= 0) break;
        bytes += static_cast<std::size_t>(size);
        const std::string_view line{record, static_cast<std::size_t>(size)};
        if (line.find("oom-kill:") == std::string_view::npos) continue;
        for (const auto& id : ids)
            if (line.find(id) != std::string_view::npos) found.insert(id);
    }
    ::close(fd);
    return found;
}

}  // namespace hostler::docker
