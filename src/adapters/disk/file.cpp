#include "adapters/disk/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace hostler::disk {

namespace {

// A folder below `at`, itself and not what it links to, on the same file system.
Descriptor open_folder(int at, const char* name) {
    open_how how{};
    how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
    return Descriptor{static_cast<int>(::syscall(SYS_openat2, at, name, &how, sizeof how))};
}

// At most this many at a time: a tenant may have made millions.
constexpr std::size_t names_max = 10'000;

Result<std::vector<std::string>> names_in(int folder, std::string_view which) {
    Descriptor own{::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!own.open()) return disk_error("read", which);
    DIR* dir = ::fdopendir(*own);
    if (!dir) return disk_error("read", which);
    own.release();
    std::vector<std::string> names;
    while (const dirent* entry = names.size() < names_max ? ::readdir(dir) : nullptr)
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
            names.emplace_back(entry->d_name);
    ::closedir(dir);
    return names;
}

// Unlinks what is no full folder; false for what is one.
Result<bool> unlink_entry(int folder, const std::string& name, std::string_view which) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return true;
    if (errno != EISDIR && errno != EPERM) return disk_error("remove a file in", which);
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    if (errno == ENOTEMPTY || errno == EEXIST) return false;
    return disk_error("remove a folder in", which);
}

}  // namespace

Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}

std::unexpected<Error> disk_error(std::string_view what, std::string_view which) {
    const int error = errno;
    const Code code = error == ENOSPC || error == EDQUOT ? Code::exhausted
                      : error == ENOENT                  ? Code::not_found
                                                         : Code::unavailable;
    return fail(code, fmt::format("cannot {} {}: {}", what, which, std::strerror(error)),
                code == Code::exhausted ? "disk_full" : "");
}

Result<Descriptor> make_folder(const std::string& folder) {
    const auto absolute = std::filesystem::absolute(folder).lexically_normal();
    Descriptor at{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    for (const auto& part : absolute.relative_path()) {
        if (part.empty()) continue;
        if (::mkdirat(*at, part.c_str(), 0700) == 0) {
            if (::fsync(*at) != 0) return disk_error("make", folder);
        } else if (errno != EEXIST) {
            return disk_error("make", folder);
        }
        at = Descriptor{::openat(*at, part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (!at.open()) return disk_error("open", folder);
    }
    return at;
}

Result<> write_whole(int fd, std::string_view bytes, std::string_view which) {
    while (!bytes.empty()) {
        const auto size = ::write(fd, bytes.data(), bytes.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return disk_error("write", which);
        bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return {};
}

Result<std::string> read_whole(int fd, std::string_view which) {
    std::string text;
    char piece[64 * 1024];
    while (true) {
        const auto size = ::read(fd, piece, sizeof piece);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return disk_error("read", which);
        if (size == 0) return text;
        text.append(piece, static_cast<std::size_t>(size));
    }
}

// A folder in a folder is moved up to `at` and emptied there in its turn, so that depth costs nothing.
Result<> empty_folder(int at, std::string_view which) {
    std::size_t moved = 0;
    while (true) {
        const auto names = TRY(names_in(at, which));
        if (names.empty()) return {};
        for (const auto& name : names) {
            if (TRY(unlink_entry(at, name, which))) continue;
            const auto folder = open_folder(at, name.c_str());
            if (!folder.open()) return disk_error("open a folder in", which);
            for (const auto& inner : TRY(names_in(*folder, which))) {
                if (TRY(unlink_entry(*folder, inner, which))) continue;
                // Its name may be taken at the top, by what is there or by what was moved: try the next.
                while (::renameat2(*folder, inner.c_str(), at, fmt::format("moved-{}", ++moved).c_str(),
                                   RENAME_NOREPLACE) != 0)
                    if (errno != EEXIST) return disk_error("move a folder in", which);
            }
            TRY(unlink_entry(at, name, which));
        }
    }
}

}  // namespace hostler::disk
