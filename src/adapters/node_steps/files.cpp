#include "adapters/node_steps/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/kernel_files.h"

namespace hostler::node_steps {

namespace {

std::unexpected<Error> cannot(std::string_view what, const std::string& path, int error) {
    if (error == ENOSPC || error == EDQUOT)
        return fail(Code::exhausted, fmt::format("cannot write {}: the disk is full", path), "disk_full");
    return fail(error == EISDIR ? Code::conflict : Code::unavailable,
                fmt::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

// Also of a file that was there with this text.
bool is_same(const std::string& path, std::string_view text, unsigned mode) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || (facts.st_mode & 07777) != mode)
        return false;
    return std::cmp_equal(facts.st_size, text.size()) && read_bytes(path, text.size() + 1) == text;
}

int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const auto size = ::write(file, text.data(), text.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return size < 0 ? errno : EIO;
        text.remove_prefix(static_cast<std::size_t>(size));
    }
    return 0;
}

int sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int error = ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    return error;
}

}  // namespace

Result<bool> write_whole(const std::string& path, std::string_view text, unsigned mode) {
    static std::atomic<unsigned> last{0};
    const std::filesystem::path file{path};
    const std::string folder = file.parent_path().string();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return cannot("make the folder", folder, error.value());
    const bool same = is_same(path, text, mode);
    // Beside it, so that the rename is one step; a name that no other step uses at this moment.
    const std::string fresh =
        fmt::format("{}/.{}.hostler-{}-{}", folder, file.filename().string(), ::getpid(), last.fetch_add(1));
    ::unlink(fresh.c_str());
    const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return cannot("write", path, errno);
    int wrong = write_all(fd, text);
    if (wrong == 0 && ::fchmod(fd, mode) != 0) wrong = errno;
    if (wrong == 0 && ::fsync(fd) != 0) wrong = errno;
    ::close(fd);
    if (wrong == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) wrong = errno;
    if (wrong == 0) wrong = sync_folder(folder);
    if (wrong == 0) return !same;
    ::unlink(fresh.c_str());
    return cannot("write", path, wrong);
}

}  // namespace hostler::node_steps
