#include "adapters/sqlite/commit_log.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <optional>

#include "sql/checksum.h"
#include "sql/pieces.h"

namespace hostler::sqlite {

namespace {

constexpr std::string_view magic = "HSTLOG1\n";
constexpr std::size_t head_bytes = magic.size() + 16;  // The magic, the length, the checksum.

std::string frame_of(std::string_view payload) {
    std::string frame{magic};
    sql::put_number(frame, payload.size());
    sql::put_number(frame, sql::checksum({payload}));
    frame += payload;
    return frame;
}

// The payload of a whole frame at the front.
std::optional<std::string_view> payload_at(std::string_view bytes) {
    if (bytes.size() < head_bytes || !bytes.starts_with(magic)) return std::nullopt;
    std::string_view numbers = bytes.substr(magic.size(), 16);
    const std::uint64_t size = *sql::take_number(numbers), sum = *sql::take_number(numbers);
    if (size > bytes.size() - head_bytes) return std::nullopt;
    const std::string_view payload = bytes.substr(head_bytes, size);
    if (sql::checksum({payload}) != sum) return std::nullopt;
    return payload;
}

// SQLite's own file system takes pieces below 128 KiB only.
constexpr std::size_t piece_bytes = 65536;

int write_at(sqlite3_file* file, std::string_view bytes, std::uint64_t at) {
    int code = SQLITE_OK;
    for (std::size_t done = 0; code == SQLITE_OK && done < bytes.size(); done += piece_bytes) {
        const std::string_view piece = bytes.substr(done, piece_bytes);
        code = file->pMethods->xWrite(file, piece.data(), static_cast<int>(piece.size()),
                                      static_cast<sqlite3_int64>(at + done));
    }
    return code;
}

int read_all(sqlite3_file* file, std::string& into) {
    int code = SQLITE_OK;
    for (std::size_t done = 0; code == SQLITE_OK && done < into.size(); done += piece_bytes)
        code = file->pMethods->xRead(file, into.data() + done,
                                     static_cast<int>(std::min(piece_bytes, into.size() - done)),
                                     static_cast<sqlite3_int64>(done));
    return code;
}

sqlite3_vfs* vfs_named(const std::string& name) {
    auto* vfs = sqlite3_vfs_find(name.empty() ? nullptr : name.c_str());
    HOSTLER_ASSERT(vfs != nullptr);
    return vfs;
}

}  // namespace

CommitLog::CommitLog(std::string path, std::string vfs) : path_(std::move(path)), vfs_(std::move(vfs)) {}

CommitLog::~CommitLog() { close(); }

void CommitLog::close() {
    if (file_) file_->pMethods->xClose(file_);
    file_ = nullptr;
}

Result<> CommitLog::open() {
    close();
    auto* vfs = vfs_named(vfs_);
    room_.assign(static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) + 1, {});
    auto* file = reinterpret_cast<sqlite3_file*>(room_.data());
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_JOURNAL;
    if (const int code = vfs->xOpen(vfs, path_.c_str(), file, flags, nullptr); code != SQLITE_OK)
        return error(code, "cannot be opened");
    file_ = file;
    sqlite3_int64 size = 0;
    if (const int code = file_->pMethods->xFileSize(file_, &size); code != SQLITE_OK)
        return error(code, "cannot be read");
    size_ = static_cast<std::uint64_t>(size);
    return {};
}

Result<CommitLog::Content> CommitLog::read() {
    std::string bytes(size_, '\0');
    if (const int code = read_all(file_, bytes); code != SQLITE_OK) return error(code, "cannot be read");
    Content content;
    std::string_view rest = bytes;
    while (const auto payload = payload_at(rest)) {
        content.frames.emplace_back(*payload);
        rest.remove_prefix(head_bytes + payload->size());
    }
    content.end = size_ - rest.size();
    while (!rest.empty()) {
        const auto at = rest.find(magic, 1);
        if (at == std::string_view::npos) break;
        rest.remove_prefix(at);
        while (const auto payload = payload_at(rest)) {
            content.beyond.emplace_back(*payload);
            rest.remove_prefix(head_bytes + payload->size());
        }
    }
    return content;
}

Result<> CommitLog::append(std::string_view payload) {
    const std::string frame = frame_of(payload);
    int code = write_at(file_, frame, size_);
    const bool full = (code & 0xff) == SQLITE_FULL;
    if (code == SQLITE_OK) code = file_->pMethods->xSync(file_, SQLITE_SYNC_NORMAL);
    if (code == SQLITE_OK) {
        size_ += frame.size();
        return {};
    }
    const auto wrong = error(code, "cannot be written");
    if (!full) return fail(Code::unavailable, wrong.error().message);
    // What was written of it must not come back to life after a power cut.
    code = file_->pMethods->xTruncate(file_, static_cast<sqlite3_int64>(size_));
    if (code == SQLITE_OK) code = file_->pMethods->xSync(file_, SQLITE_SYNC_NORMAL);
    if (code == SQLITE_OK) return wrong;
    return fail(Code::unavailable,
                fmt::format("{}, and it is unknown what was written", wrong.error().message));
}

Result<> CommitLog::clear() {
    const int code = file_->pMethods->xTruncate(file_, 0);
    if (code != SQLITE_OK) return error(code, "cannot be emptied");
    size_ = 0;
    return {};
}

std::unexpected<Error> CommitLog::error(int code, std::string_view what) const {
    if ((code & 0xff) == SQLITE_FULL)
        return fail(Code::exhausted,
                    fmt::format("the disk of the store's log {} is full; make room on it", path_),
                    "disk_full");
    return fail(Code::unavailable, fmt::format("the store's log {} {}: {} (SQLite code {})", path_, what,
                                               sqlite3_errstr(code), code));
}

}  // namespace hostler::sqlite
