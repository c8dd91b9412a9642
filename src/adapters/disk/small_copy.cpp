#include "adapters/disk/small_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "adapters/disk/file.h"

namespace hostler::disk {

namespace {

constexpr std::size_t entries_max = 64;
constexpr int depth_max = 4;
constexpr off_t file_bytes_max = 64 * 1024;

class SmallCopy {
public:
    Result<bool> folder(int from, int into, const std::string& path, int depth) {
        const auto names = TRY(names_in(from, path));
        for (const auto& name : names) {
            const auto there = path + "/" + name;
            const Descriptor entry{
                ::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
            if (!entry.open() && (errno == ELOOP || errno == ENXIO)) return false;  // A link, a socket.
            struct stat status{};
            if (!entry.open() || ::fstat(*entry, &status) != 0) return disk_error("read", there);
            const bool is_folder = S_ISDIR(status.st_mode);
            if (++entries_ > entries_max || (!is_folder && !S_ISREG(status.st_mode)) ||
                (is_folder && depth == depth_max) || (!is_folder && status.st_size > file_bytes_max))
                return false;
            if (is_folder && ::mkdirat(into, name.c_str(), 0700) != 0) return disk_error("copy", there);
            const Descriptor made{::openat(into, name.c_str(),
                                           is_folder ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                                                     : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                           0600)};
            if (!made.open()) return disk_error("copy", there);
            if (is_folder && !TRY(folder(*entry, *made, there, depth + 1))) return false;
            if (!is_folder) TRY(text(*entry, *made, there));
            if (!TRY(attributes(*entry, *made, there))) return false;
        }
        return true;
    }

    static Result<bool> attributes(int from, int into, const std::string& path) {
        if (::flistxattr(from, nullptr, 0) > 0) return false;
        struct stat status{};
        if (::fstat(from, &status) != 0) return disk_error("read", path);
        const timespec times[2] = {status.st_atim, status.st_mtim};
        // The owner first: a change of it takes bits of the mode away.
        if (::fchown(into, status.st_uid, status.st_gid) != 0 ||
            ::fchmod(into, status.st_mode & 07777) != 0 || ::futimens(into, times) != 0)
            return disk_error("copy", path);
        return true;
    }

private:
    static Result<std::vector<std::string>> names_in(int folder, const std::string& path) {
        const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const std::unique_ptr<DIR, decltype([](DIR* open) { ::closedir(open); })> open{
            own < 0 ? nullptr : ::fdopendir(own)};
        if (!open) return disk_error("read", path);
        std::vector<std::string> names;
        // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread has this stream.
        while (const dirent* entry = ::readdir(open.get()))
            if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
        return names;
    }

    static Result<> text(int from, int into, const std::string& path) {
        char piece[4096];
        while (true) {
            const auto size = ::read(from, piece, sizeof piece);
            if (size == 0) return {};
            if (size < 0 || ::write(into, piece, static_cast<std::size_t>(size)) != size)
                return disk_error("copy", path);
        }
    }

    std::size_t entries_ = 0;
};

}  // namespace

Result<bool> copy_small(const std::string& from, const std::string& into) {
    constexpr int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const Descriptor source{::open(from.c_str(), how)}, target{::open(into.c_str(), how)};
    if (!source.open()) return disk_error("read", from);
    if (!target.open()) return disk_error("open", into);
    SmallCopy copy;
    if (!TRY(copy.folder(*source, *target, from, 0))) return false;
    return SmallCopy::attributes(*source, *target, from);
}

}  // namespace hostler::disk
