#include "cli/unpack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hostler::cli {

namespace {

constexpr std::size_t hole_bytes = 4096;
constexpr std::uint32_t modes_taken = 0777;  // Who runs as another is not for an archive to say.

std::vector<std::string> steps_of(std::string_view path) {
    std::vector<std::string> steps;
    while (!path.empty()) {
        const auto step = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), step.size() + 1));
        if (!step.empty() && step != ".") steps.emplace_back(step);
    }
    return steps;
}

// Whether a link at `at` (below the root) stays within the root.
bool stays_within(const std::string& at, const std::string& to) {
    if (to.starts_with('/')) return false;
    auto depth = static_cast<long>(steps_of(at).size()) - 2;  // Below the root's own name.
    for (const auto& step : steps_of(to)) {
        depth += step == ".." ? -1 : 1;
        if (depth < 0) return false;
    }
    return true;
}

std::unexpected<Error> refused(const std::string& name, std::string_view why) {
    return fail(Code::invalid, fmt::format("the archive from the instance is refused: '{}' {}", name, why),
                "path_escapes");
}

std::unexpected<Error> failed(const std::string& path) {
    return fail(Code::invalid, fmt::format("cannot write {}: {}", path, std::strerror(errno)), "not_written");
}

}  // namespace

std::uint64_t spare_bytes(int file) {
    struct statvfs disk{};
    if (::fstatvfs(file, &disk) != 0) return 0;
    const auto bytes = [&](fsblkcnt_t blocks) { return std::uint64_t{blocks} * disk.f_frsize; };
    const std::uint64_t kept = std::min(copy_keep_free_max, bytes(disk.f_blocks) / 20);
    return bytes(disk.f_bavail) - std::min(bytes(disk.f_bavail), kept);
}

Unpacker::Unpacker(std::string folder, std::string root, std::string as,
                   std::function<void(std::string)> told)
    : folder_(std::move(folder)), root_(std::move(root)), as_(std::move(as)), told_(std::move(told)) {
    base_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

Unpacker::~Unpacker() {
    if (file_ >= 0) ::close(file_);
    if (base_ >= 0) ::close(base_);
}

TarReader::Sink Unpacker::sink() {
    return {.begin = [this](const TarEntry& entry) { return begin(entry); },
            .bytes = [this](std::string_view piece) { return bytes(piece); },
            .end = [this] { return end(); }};
}

// "root/a/b" → "as/a/b". Errors: invalid: all that could lead elsewhere.
Result<std::string> Unpacker::own_path(const std::string& name) const {
    if (name.empty() || name.starts_with('/') || name.find('\0') != std::string::npos)
        return refused(name, "is no path below the one that was asked for");
    const auto steps = steps_of(name);
    for (const auto& step : steps)
        if (step == "..") return refused(name, "leads out of the one that was asked for");
    // Of "/" and "." the archive begins with what is in them.
    const bool below_root = !steps.empty() && steps.front() == root_;
    std::string path = as_;
    for (std::size_t i = below_root ? 1 : 0; i < steps.size(); ++i) path += "/" + steps[i];
    return path;
}

Result<int> Unpacker::parent(const std::string& path, std::string& last) {
    const auto steps = steps_of(path);
    if (steps.empty()) return refused(path, "is no name");
    last = steps.back();
    int at = ::dup(base_);
    for (std::size_t i = 0; at >= 0 && i + 1 < steps.size(); ++i) {
        // No link is followed on the way, whoever made it.
        int next = ::openat(at, steps[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0 && errno == ENOENT && ::mkdirat(at, steps[i].c_str(), 0755) == 0)
            next = ::openat(at, steps[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int why = errno;
        ::close(at);
        errno = why;
        at = next;
        if (next < 0 && (why == ELOOP || why == ENOTDIR))
            return refused(path, "leads through a link or a file");
    }
    if (at < 0) return failed(folder_ + "/" + path);
    return at;
}

Result<> Unpacker::begin(const TarEntry& entry) {
    entry_ = entry;
    if (base_ < 0) return failed(folder_);
    const std::string path = TRY(own_path(entry.name));
    if (entry.kind == TarEntry::Kind::other) {
        told_(fmt::format("{} is a device, a pipe or a socket, and is left out", path));
        return {};
    }
    if (entry.kind == TarEntry::Kind::link && !stays_within(path, entry.link)) {
        told_(fmt::format("{} is a link that leads out, to {}, and is left out", path, entry.link));
        return {};
    }
    std::string name;
    const int folder = TRY(parent(path, name));
    Result<> done;
    switch (entry.kind) {
        case TarEntry::Kind::folder:
            if (::mkdirat(folder, name.c_str(), 0755) != 0 && errno != EEXIST) done = failed(path);
            folders_.emplace_back(path, entry.mode & modes_taken);
            break;
        case TarEntry::Kind::link:
            ::unlinkat(folder, name.c_str(), 0);
            if (::symlinkat(entry.link.c_str(), folder, name.c_str()) != 0) done = failed(path);
            break;
        case TarEntry::Kind::hard_link: {
            std::string to;
            const auto target = own_path(entry.link);
            const auto other = target ? parent(*target, to) : Result<int>{std::unexpected(target.error())};
            if (!other) {
                ::close(folder);
                return std::unexpected(other.error());
            }
            ::unlinkat(folder, name.c_str(), 0);
            if (::linkat(*other, to.c_str(), folder, name.c_str(), 0) != 0) done = failed(path);
            ::close(*other);
            break;
        }
        case TarEntry::Kind::file:
            // A new file in place of what is there, and never through it.
            ::unlinkat(folder, name.c_str(), 0);
            file_ =
                ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
            if (file_ < 0) done = failed(path);
            at_ = 0;
            ++files_;
            break;
        case TarEntry::Kind::other: break;
    }
    ::close(folder);
    return done;
}

// What is all zeros is not written: a file that is sparse there is sparse here.
Result<> Unpacker::bytes(std::string_view piece) {
    if (file_ < 0) return {};
    while (!piece.empty()) {
        std::size_t run = 0;
        std::size_t zeros = 0;  // Behind it.
        while (run < piece.size()) {
            const std::size_t block = hole_bytes - (at_ + run) % hole_bytes;
            const auto next = piece.substr(run, block);
            zeros = next.find_first_not_of('\0') == next.npos ? next.size() : 0;
            if (zeros > 0) break;
            run += next.size();
        }
        TRY(write(piece.substr(0, run)));
        at_ += zeros;
        piece.remove_prefix(run + zeros);
    }
    return {};
}

Result<> Unpacker::write(std::string_view run) {
    written_ += run.size();
    if (written_ - looked_ >= copy_look_bytes) {
        looked_ = written_;
        if (spare(file_) == 0)
            return fail(
                Code::exhausted,
                fmt::format("{} is not whole: {} bytes were written, and the disk of {} is nearly full",
                            entry_.name, written_ - run.size(), folder_),
                "disk_full");
    }
    while (!run.empty()) {
        const auto size = ::pwrite(file_, run.data(), run.size(), static_cast<off_t>(at_));
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return failed(entry_.name);
        at_ += static_cast<std::uint64_t>(size);
        run.remove_prefix(static_cast<std::size_t>(size));
    }
    return {};
}

Result<> Unpacker::end() {
    if (file_ < 0) return {};
    // Its last block may be a hole.
    if (::ftruncate(file_, static_cast<off_t>(at_)) != 0) return failed(entry_.name);
    ::fchmod(file_, entry_.mode & modes_taken);
    const timespec times[2] = {{entry_.time, 0}, {entry_.time, 0}};
    ::futimens(file_, times);
    const bool closed = ::close(file_) == 0;
    file_ = -1;
    return closed ? Result<>{} : failed(entry_.name);
}

Result<> Unpacker::finish() {
    for (auto one = folders_.rbegin(); one != folders_.rend(); ++one) {
        std::string name;
        const int folder = TRY(parent(one->first, name));
        const int at = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ::close(folder);
        if (at < 0) continue;
        ::fchmod(at, one->second);
        ::close(at);
    }
    return {};
}

}  // namespace hostler::cli
