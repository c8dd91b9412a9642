#include "adapters/sqlite/reserve.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <vector>

namespace hostler::sqlite {

namespace {

// Written, not sparse: a hole would reserve nothing.
int write_file(sqlite3_vfs* vfs, const std::string& path, std::size_t bytes) {
    std::vector<std::max_align_t> room(static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) +
                                       1);
    auto* file = reinterpret_cast<sqlite3_file*>(room.data());
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_JOURNAL;
    int code = vfs->xOpen(vfs, path.c_str(), file, flags, nullptr);
    if (code != SQLITE_OK) return code;
    constexpr std::size_t step = 65536;
    static const std::vector<char> zeros(step);
    sqlite3_int64 size = 0;
    code = file->pMethods->xFileSize(file, &size);
    for (auto at = static_cast<std::size_t>(size); code == SQLITE_OK && at < bytes;) {
        const std::size_t part = std::min(step, bytes - at);
        code = file->pMethods->xWrite(file, zeros.data(), static_cast<int>(part),
                                      static_cast<sqlite3_int64>(at));
        at += part;
    }
    if (code == SQLITE_OK && static_cast<std::size_t>(size) < bytes)
        code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    file->pMethods->xClose(file);
    return code;
}

}  // namespace

Result<> Reserve::take() {
    if (held_) return {};
    auto* vfs = sqlite3_vfs_find(vfs_.empty() ? nullptr : vfs_.c_str());
    HOSTLER_ASSERT(vfs != nullptr);
    const int code = write_file(vfs, path_, bytes_);
    if (code == SQLITE_OK) {
        held_ = true;
        return {};
    }
    release();  // What was written of it would only make the disk fuller.
    const bool full = (code & 0xff) == SQLITE_FULL;
    return fail(full ? Code::exhausted : Code::unavailable,
                fmt::format("{} bytes cannot be kept back at {}: {}", bytes_, path_, sqlite3_errstr(code)));
}

void Reserve::release() {
    auto* vfs = sqlite3_vfs_find(vfs_.empty() ? nullptr : vfs_.c_str());
    vfs->xDelete(vfs, path_.c_str(), 1);
    held_ = false;
}

}  // namespace hostler::sqlite
