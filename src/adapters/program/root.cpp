#include "adapters/program/root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/kernel_files.h"

namespace hostler::program {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t names_max = 4096;
constexpr std::size_t names_file_bytes_max = 1 << 20;
constexpr std::uint64_t foreign = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

std::unexpected<Error> failed(std::string_view what, std::string_view which) {
    return fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, which, std::strerror(errno)));
}

bool is_folder(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string parent_of(const std::string& path) {
    const auto end = path.rfind('/');
    return end == 0 ? "/" : path.substr(0, end);
}

// A copy of the tree of mounts at `path`, attached nowhere, with these attributes everywhere in it.
Result<int> detached(const std::string& path, std::uint64_t attributes) {
    const int tree = ::open_tree(AT_FDCWD, path.c_str(),
                                 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
    if (tree < 0) return failed("take", path);
    mount_attr attr{.attr_set = attributes, .propagation = MS_PRIVATE};
    if (::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) == 0) return tree;
    auto error = failed("set attributes of", path);
    ::close(tree);
    return error;
}

Result<> attach(int tree, const std::string& at) {
    const bool moved = ::move_mount(tree, "", AT_FDCWD, at.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0;
    auto error = failed("mount at", at);
    ::close(tree);
    if (moved) return {};
    return error;
}

Result<> write_new(const std::string& path, std::string_view text, mode_t mode) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return failed("make", path);
    const bool written =
        ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fchmod(fd, mode) == 0;
    auto error = failed("write", path);
    ::close(fd);
    if (written) return {};
    return error;
}

Result<> make_node(const std::string& path, bool block, unsigned major, unsigned minor) {
    const mode_t kind = block ? S_IFBLK : S_IFCHR;
    if (::mknod(path.c_str(), kind | 0666, ::makedev(major, minor)) == 0 && ::chmod(path.c_str(), 0666) == 0)
        return {};
    return failed("make device", path);
}

bool is_below(std::string_view path, std::string_view folder) {
    return path == folder || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

// Of a tree that is not attached yet. Not every file system can show other owners; there they are as on disk.
void show_owners(int tree, int owners) {
    mount_attr attr{.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = static_cast<std::uint64_t>(owners)};
    (void)::mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr);
}

// One entry of a mirrored folder.
Result<> mirror_entry(const std::string& from, const std::string& to) {
    struct stat status{};
    if (::lstat(from.c_str(), &status) != 0) return {};  // It has gone.
    if (S_ISLNK(status.st_mode)) {
        std::error_code wrong;
        const auto target = fs::read_symlink(from, wrong);
        if (!wrong && ::symlink(target.c_str(), to.c_str()) == 0) return {};
        return failed("make link", to);
    }
    if (S_ISDIR(status.st_mode)) {
        if (::mkdir(to.c_str(), 0755) != 0) return failed("make", to);
    } else {
        TRY(write_new(to, "", 0644));
    }
    if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return {};
    return failed("mount at", to);
}

}  // namespace

Result<> Root::clone_sources() {
    for (const auto& mount : plan_.mounts) {
        struct stat status{};
        if (::lstat(mount.source.c_str(), &status) != 0)
            return fail(Code::not_found, fmt::format("{}, which is to be mounted at {}, is not on this host",
                                                     mount.source, mount.target));
        if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode) && !S_ISSOCK(status.st_mode))
            return fail(Code::invalid,
                        fmt::format("{}, which is to be mounted at {}, is neither a folder nor a "
                                    "file",
                                    mount.source, mount.target));
        // As ports/engine.h says it of a new folder.
        if (S_ISDIR(status.st_mode) && (status.st_mode & 07777) == 0) {
            const bool owned = plan_.mount_owner != 0;
            if (owned && ::chown(mount.source.c_str(), plan_.mount_owner, plan_.mount_owner) != 0)
                return failed("change the owner of", mount.source);
            if (::chmod(mount.source.c_str(), owned ? 0755 : 0777) != 0)
                return failed("change the mode of", mount.source);
        }
        sources_.push_back(TRY(detached(mount.source, foreign | (mount.read_only ? MOUNT_ATTR_RDONLY : 0))));
        if (owners_ >= 0) show_owners(sources_.back(), owners_);
        source_is_file_.push_back(!S_ISDIR(status.st_mode));
    }
    return {};
}

// The host's, in our copy of them: the host is to be able to unmount what the program does not see.
void Root::drop_hidden() {
    constexpr std::size_t mounts_bytes_max = 16 << 20;
    std::vector<std::string> points;
    std::istringstream lines{read_bytes("/proc/self/mountinfo", mounts_bytes_max).value_or("")};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string word;
        for (int i = 0; i < 5; ++i) words >> word;
        for (const auto& hidden : plan_.hidden)
            if (is_below(word, hidden)) {
                points.push_back(word);
                break;
            }
    }
    for (auto point = points.rbegin(); point != points.rend(); ++point)
        (void)::umount2(point->c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

Result<> Root::mount_memory(const std::string& at, const std::string& options, bool writable) {
    if (::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
        return failed("mount memory at", at);
    if (!writable) ours_.push_back(at);
    return {};
}

Result<> Root::clone_tree(const std::string& path, const std::string& to) {
    if (::mkdir(to.c_str(), 0755) != 0) return failed("make", to);
    return attach(TRY(detached(path, foreign | MOUNT_ATTR_RDONLY)), to);
}

Result<> Root::mirror_host(const std::string& at) {
    constexpr std::string_view own[] = {"proc", "dev", "tmp"};
    for (const auto& name : list_folder("/", names_max)) {
        const std::string path = "/" + name, to = at + path;
        struct stat status{};
        if (::lstat(path.c_str(), &status) != 0) continue;
        if (S_ISLNK(status.st_mode)) {
            TRY(mirror_entry(path, to));
        } else if (S_ISDIR(status.st_mode)) {
            const bool hidden = std::ranges::find(plan_.hidden, path) != plan_.hidden.end();
            if (hidden || std::ranges::find(own, name) != std::end(own)) {
                if (::mkdir(to.c_str(), 0755) != 0) return failed("make", to);
            } else {
                TRY(clone_tree(path, to));
            }
        }
    }
    for (const auto* needed : {"/proc", "/dev", "/tmp", "/run", own_folder})
        if (::mkdir((at + needed).c_str(), 0755) != 0 && errno != EEXIST) return failed("make", needed);
    if (::chmod((at + own_folder).c_str(), 0700) != 0) return failed("close", own_folder);
    return {};
}

Result<> Root::enter() {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return failed("keep mounts apart from", "the host's");
    hierarchies_ = find_hierarchies();
    resolver_ = read_bytes("/etc/resolv.conf", names_file_bytes_max).value_or("");
    TRY(clone_sources());
    drop_hidden();
    const std::string at = plan_.folder + "/root";
    if (::mkdir(at.c_str(), 0755) != 0 && errno != EEXIST) return failed("make", at);
    if (::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m,nr_inodes=16k") != 0)
        return failed("mount memory at", at);
    TRY(mirror_host(at));
    // The old root comes to lie on the new one, and is taken off.
    if (::chdir(at.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
        ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0)
        return failed("make a new root of", at);
    ours_.emplace_back("/");
    return {};
}

Result<> Root::furnish() {
    TRY(show_kernel());
    TRY(hide());
    TRY(lay_scratch());
    TRY(lay_devices());
    show_groups();
    TRY(lay_names());
    TRY(lay_mounts());
    return lay_secrets();
}

// Its processes, and where it has a network to itself, the devices of that network.
Result<> Root::show_kernel() {
    constexpr unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (::mount("proc", "/proc", "proc", flags, nullptr) != 0) return failed("mount", "/proc");
    if (!plan_.share_network && ::mount("sysfs", "/sys", "sysfs", flags | MS_RDONLY, nullptr) != 0)
        return failed("mount", "/sys");
    return {};
}

Result<> Root::hide() {
    auto paths = plan_.hidden;
    std::ranges::sort(paths);  // A folder within a hidden one is gone when its turn comes.
    for (const auto& path : paths) {
        const auto real = real_path(path);
        if (real.empty() || real == "/" || !is_folder(real)) continue;
        const bool in_root = real == path && std::ranges::count(path, '/') == 1;
        if (!in_root) TRY(mount_memory(real, "mode=755,size=1m,nr_inodes=4k", false));
    }
    return {};
}

// /tmp and /var/tmp share what they may take.
Result<> Root::lay_scratch() {
    const std::string at = fmt::format("{}/scratch", own_folder);
    if (::mkdir(at.c_str(), 0755) != 0) return failed("make", at);
    TRY(mount_memory(at, fmt::format("mode=755,size={}", plan_.scratch_bytes), true));
    for (const auto& [name, target] :
         {std::pair{"/tmp", std::string{"/tmp"}}, std::pair{"/var-tmp", TRY(make_folder("/var/tmp"))}}) {
        const auto part = at + name;
        if (::mkdir(part.c_str(), 01777) != 0 || ::chmod(part.c_str(), 01777) != 0)
            return failed("make", part);
        if (::mount(part.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0)
            return failed("mount at", target);
    }
    // Its own root is not for the program to see, only the two folders.
    if (::umount2(at.c_str(), MNT_DETACH) != 0) return failed("unmount", at);
    return {};
}

Result<> Root::lay_devices() {
    if (::mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=1m,nr_inodes=1k") != 0)
        return failed("mount memory at", "/dev");
    ours_.emplace_back("/dev");
    struct {
        const char* path;
        unsigned minor;
    } const usual[] = {
        {"/dev/null", 3}, {"/dev/zero", 5}, {"/dev/full", 7}, {"/dev/random", 8}, {"/dev/urandom", 9}};
    for (const auto& [path, minor] : usual) TRY(make_node(path, false, 1, minor));
    TRY(make_node("/dev/tty", false, 5, 0));
    for (const auto& [path, target] :
         {std::pair{"/dev/fd", "/proc/self/fd"}, std::pair{"/dev/stdin", "/proc/self/fd/0"},
          std::pair{"/dev/stdout", "/proc/self/fd/1"}, std::pair{"/dev/stderr", "/proc/self/fd/2"},
          std::pair{"/dev/ptmx", "pts/ptmx"}})
        if (::symlink(target, path) != 0) return failed("make link", path);
    for (const auto* path : {"/dev/pts", "/dev/shm"})
        if (::mkdir(path, 0755) != 0) return failed("make", path);
    if (::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                "newinstance,ptmxmode=0666,mode=0620") != 0)
        return failed("mount", "/dev/pts");
    TRY(mount_memory("/dev/shm", fmt::format("mode=1777,size={}", plan_.shm_bytes), true));
    for (const auto& node : plan_.nodes) {
        for (auto at = node.path.find('/', 5); at != node.path.npos; at = node.path.find('/', at + 1))
            if (::mkdir(node.path.substr(0, at).c_str(), 0755) != 0 && errno != EEXIST)
                return failed("make", node.path);
        TRY(make_node(node.path, node.block, node.major, node.minor));
    }
    return {};
}

// Programs see their own control groups, and no other's. Where the kernel does not show them, they see none.
void Root::show_groups() {
    constexpr const char* at = "/sys/fs/cgroup";
    if (!is_folder(at)) return;
    constexpr unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;
    if (version_of(hierarchies_) == 2 && ::mount("cgroup2", at, "cgroup2", flags, nullptr) == 0) return;
    if (!mount_memory(at, "mode=755,size=1m", false)) return;
    for (const auto& hierarchy : hierarchies_) {
        if (hierarchy.unified || hierarchy.of_systemd) continue;
        const auto options = fmt::format("{}", fmt::join(hierarchy.controllers, ","));
        const auto path = fmt::format("{}/{}", at, options);
        if (::mkdir(path.c_str(), 0755) == 0)
            (void)::mount("cgroup", path.c_str(), "cgroup", flags, options.c_str());
    }
}

// Its own host name is to be an address, and names are looked up as on the host.
Result<> Root::lay_names() {
    const auto hosts = fmt::format("{}/hosts", own_folder);
    auto text = read_bytes("/etc/hosts", names_file_bytes_max).value_or("127.0.0.1\tlocalhost\n");
    if (!text.ends_with('\n')) text += '\n';
    TRY(write_new(hosts, text + fmt::format("127.0.0.1\t{}\n", plan_.hostname), 0644));
    if (::access("/etc/hosts", F_OK) == 0 &&
        ::mount(hosts.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0)
        return failed("mount at", "/etc/hosts");
    // Often a link into /run.
    std::error_code wrong;
    const auto link = fs::read_symlink("/etc/resolv.conf", wrong);
    if (wrong || resolver_.empty() || ::access("/etc/resolv.conf", F_OK) == 0) return {};
    const auto path = fs::path{"/etc"} / link;
    const auto folder = TRY(make_folder(path.lexically_normal().parent_path()));
    return write_new(fmt::format("{}/{}", folder, path.filename().string()), resolver_, 0644);
}

Result<> Root::lay_mounts() {
    for (std::size_t i = 0; i < plan_.mounts.size(); ++i) {
        const auto& target = plan_.mounts[i].target;
        if (source_is_file_[i])
            TRY(make_file(target));
        else
            TRY(make_folder(target));
        TRY(attach(std::exchange(sources_[i], -1), target));
    }
    return {};
}

Result<> Root::lay_secrets() {
    if (plan_.secrets.empty()) return {};
    const auto at = fmt::format("{}/secrets", own_folder);
    if (::mkdir(at.c_str(), 0700) != 0) return failed("make", at);
    TRY(mount_memory(at, "mode=700,size=8m,nr_inodes=1k", false));
    for (std::size_t i = 0; i < plan_.secrets.size(); ++i) {
        const auto& [path, text] = plan_.secrets[i];
        const auto file = fmt::format("{}/{}", at, i);
        TRY(write_new(file, text, 0400));
        if (::chown(file.c_str(), plan_.user, plan_.user) != 0) return failed("give away", path);
        TRY(make_file(path));
        if (::mount(file.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0)
            return failed("mount at", path);
        ours_.push_back(path);
    }
    return {};
}

Result<> Root::close() {
    // Those below others first: a path leads through what lies over it.
    for (auto at = ours_.rbegin(); at != ours_.rend(); ++at) {
        mount_attr attr{.attr_set = MOUNT_ATTR_RDONLY};
        if (::mount_setattr(AT_FDCWD, at->c_str(), 0, &attr, sizeof attr) != 0) return failed("close", *at);
    }
    return {};
}

Result<std::string> Root::make_folder(const std::string& path) {
    if (is_folder(path)) return real_path(path);
    struct stat status{};
    if (::lstat(path.c_str(), &status) == 0)
        return fail(Code::invalid, fmt::format("{}, where a folder is to be mounted, is a file", path));
    const auto parent = TRY(make_folder(parent_of(path)));
    const auto made = (parent == "/" ? "" : parent) + path.substr(path.rfind('/'));
    if (::mkdir(made.c_str(), 0755) != 0 && errno == EROFS) {
        TRY(mirror(parent));
        (void)::mkdir(made.c_str(), 0755);
    }
    if (!is_folder(made)) return failed("make", made);
    return made;
}

Result<> Root::make_file(const std::string& path) {
    if (is_folder(path))
        return fail(Code::invalid, fmt::format("{}, where a file is to be mounted, is a folder", path));
    if (::access(path.c_str(), F_OK) == 0) return {};
    const auto parent = TRY(make_folder(parent_of(path)));
    const auto made = parent + path.substr(path.rfind('/'));
    if (auto written = write_new(made, "", 0644); written || errno != EROFS) return written;
    TRY(mirror(parent));
    return write_new(made, "", 0644);
}

// Memory in place of a folder of the host, with all that the folder has, so that more can be made in it.
Result<> Root::mirror(const std::string& folder) {
    const auto aside = fmt::format("{}/aside", own_folder);
    if (::mkdir(aside.c_str(), 0700) != 0 && errno != EEXIST) return failed("make", aside);
    if (::mount(folder.c_str(), aside.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
        return failed("mount at", aside);
    TRY(mount_memory(folder, "mode=755,size=4m,nr_inodes=8k", false));
    const auto names = list_folder(aside, names_max + 1);
    if (names.size() > names_max)
        return fail(Code::invalid, fmt::format("{} has more than {} entries: nothing can be mounted in it",
                                               folder, names_max));
    for (const auto& name : names) TRY(mirror_entry(aside + "/" + name, folder + "/" + name));
    if (::umount2(aside.c_str(), MNT_DETACH) != 0) return failed("unmount", aside);
    return {};
}

namespace {

// Lines of uid_map: "on disk, seen, how many". Every number but the two stands for itself.
std::string owner_map(std::uint32_t owner, std::uint32_t user) {
    std::string map = fmt::format("{} {} 1\n", owner, user);
    std::uint32_t from = 0;
    for (const auto skipped : {std::min(owner, user), std::max(owner, user), UINT32_MAX}) {
        if (skipped > from) map += fmt::format("{0} {0} {1}\n", from, skipped - from);
        from = skipped + 1;
    }
    return map;
}

bool write_map(pid_t process, const char* name, std::string_view map) {
    const auto path = fmt::format("/proc/{}/{}", process, name);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && ::write(fd, map.data(), map.size()) == static_cast<ssize_t>(map.size());
    if (fd >= 0) ::close(fd);
    return written;
}

}  // namespace

Result<int> owner_namespace(std::uint32_t owner, std::uint32_t user) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make", "a pipe");
    // The namespace needs a process until its descriptor is open.
    const auto child = static_cast<pid_t>(::syscall(
        SYS_clone, static_cast<unsigned long>(CLONE_NEWUSER | SIGCHLD), nullptr, nullptr, nullptr, 0));
    if (child == 0) {
        char byte = 0;
        ::close(ends[1]);
        (void)!::read(ends[0], &byte, 1);
        ::_exit(0);
    }
    const auto map = owner_map(owner, user);
    int fd = -1;
    if (child > 0 && write_map(child, "uid_map", map) && write_map(child, "gid_map", map))
        fd = ::open(fmt::format("/proc/{}/ns/user", child).c_str(), O_RDONLY | O_CLOEXEC);
    auto error = failed("map owners of", "mounts");
    ::close(ends[0]), ::close(ends[1]);
    while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (fd >= 0) return fd;
    return error;
}

}  // namespace hostler::program
