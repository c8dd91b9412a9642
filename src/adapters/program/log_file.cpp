#include "adapters/program/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hostler::program {

namespace {

constexpr std::size_t window_min = 64 << 10, window_growth = 8;

std::string newer(const std::string& folder) { return folder + "/log"; }
std::string older(const std::string& folder) { return folder + "/log.old"; }
std::string lost(const std::string& folder) { return folder + "/log.lost"; }  // Something was thrown away.

// A file of a log, held open: its name may become that of another one.
class Part {
public:
    explicit Part(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
        if (fd_ >= 0 && ::fstat(fd_, &status_) != 0) status_ = {};
    }
    ~Part() {
        if (fd_ >= 0) ::close(fd_);
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    bool open() const { return fd_ >= 0; }
    bool is(const Part& other) const {
        return open() && other.open() && status_.st_ino == other.status_.st_ino;
    }
    std::size_t size() const { return open() ? static_cast<std::size_t>(status_.st_size) : 0; }

    // Its last `wanted` bytes.
    std::string last(std::size_t wanted) const {
        std::string bytes(std::min(wanted, size()), '\0');
        std::size_t at = 0;
        while (at < bytes.size()) {
            const auto got = ::pread(fd_, bytes.data() + at, bytes.size() - at,
                                     static_cast<off_t>(size() - bytes.size() + at));
            if (got <= 0) break;
            at += static_cast<std::size_t>(got);
        }
        bytes.resize(at);
        return bytes;
    }

private:
    int fd_;
    struct stat status_{};
};

// What lies in the last `window` bytes, from the first whole piece on.
struct Window {
    std::string bytes;
    bool whole = false;
};

Window read_window(const Part& old, const Part& now, bool all_kept, std::size_t window) {
    const std::size_t of_old = std::min(window - std::min(window, now.size()), old.size());
    Window read{old.last(of_old), false};
    read.bytes += now.last(window);
    read.whole = all_kept && of_old == old.size() && window >= now.size();
    if (!read.whole && window < now.size() + old.size()) {
        const auto end = read.bytes.find('\n');
        read.bytes.erase(0, end == read.bytes.npos ? read.bytes.size() : end + 1);
    }
    return read;
}

}  // namespace

LogWriter::LogWriter(std::string folder, std::int64_t bytes_max)
    : folder_(std::move(folder)), bytes_max_(bytes_max) {
    open();
}

LogWriter::~LogWriter() {
    if (file_ >= 0) ::close(file_);
}

void LogWriter::open() {
    file_ = ::open(newer(folder_).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat status{};
    size_ = file_ >= 0 && ::fstat(file_, &status) == 0 ? status.st_size : 0;
}

void LogWriter::rotate() {
    if (::access(older(folder_).c_str(), F_OK) == 0) {
        const int mark = ::open(lost(folder_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (mark >= 0) ::close(mark);
    }
    // A name that cannot be changed must not let the file grow.
    if (::rename(newer(folder_).c_str(), older(folder_).c_str()) != 0) (void)!::ftruncate(file_, 0);
    if (file_ >= 0) ::close(file_);
    open();
}

void LogWriter::write(std::string_view bytes, WallTime now) {
    last_ = std::max(last_, now);  // A clock that is set back does not change the order.
    encoded_.clear();
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const auto piece = bytes.substr(0, end == bytes.npos ? end : end + 1);
        append_piece(encoded_, {last_, piece});
        bytes.remove_prefix(piece.size());
    }
    if (size_ >= bytes_max_) rotate();  // Not before: so many bytes are to be left then.
    std::string_view rest = encoded_;
    while (file_ >= 0 && !rest.empty()) {
        const auto written = ::write(file_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(written));
        size_ += written;
    }
    // Of a piece that was cut off nothing is to be read.
    if (file_ >= 0 && !rest.empty() && rest.size() < encoded_.size()) {
        size_ -= static_cast<std::int64_t>(encoded_.size() - rest.size());
        (void)!::ftruncate(file_, size_);
    }
}

Result<LogPart> read_log(const std::string& folder, const LogsWanted& wanted) {
    constexpr int tries_max = 10;
    for (int tries = 0;; ++tries) {
        const Part now{newer(folder)}, old{older(folder)}, again{newer(folder)};
        const bool kept = ::access(lost(folder).c_str(), F_OK) != 0;
        // Between the two names the files may have changed.
        if ((now.is(old) || (now.open() && !now.is(again))) && tries < tries_max) continue;
        if (!now.open() && !old.open()) return fail(Code::not_found, fmt::format("{} has no log", folder));
        const std::size_t all = now.size() + old.size();
        for (std::size_t window = window_min;; window *= window_growth) {
            const Window read = read_window(old, now, kept, window);
            const auto pieces = log_pieces(read.bytes);
            if (window >= all || log_suffices(pieces, wanted)) return log_part(pieces, read.whole, wanted);
        }
    }
}

}  // namespace hostler::program
