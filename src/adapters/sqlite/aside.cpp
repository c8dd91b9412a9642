#include "adapters/sqlite/aside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "adapters/sqlite/settle.h"

namespace hostler::sqlite {

namespace {

constexpr int pages_at_once = 256;  // A mebibyte: commits wait no longer than for that.
constexpr std::uintmax_t room_kept = std::uintmax_t{64} << 20;

std::unexpected<Error> no_room(const std::string& path, std::uint64_t bytes) {
    return fail(Code::exhausted,
                fmt::format("a backup needs {} MB next to the store for {}; make room there",
                            bytes / 1'000'000 + 1, path),
                "disk_full");
}

}  // namespace

Result<std::shared_ptr<CopyAside>> CopyAside::begin(Database& of, const std::string& path,
                                                    const std::string& vfs) {
    std::shared_ptr<CopyAside> made{new CopyAside{path + "-backup", vfs}};
    std::uint64_t pages = 0;
    std::uint64_t& page = made->page_bytes_;
    TRY(of.run("PRAGMA page_count", {}, [&](const sql::Row& row) { pages = row.number(0); }));
    TRY(of.run("PRAGMA page_size", {}, [&](const sql::Row& row) { page = row.number(0); }));
    made->remove();
    if (vfs.empty()) {
        std::error_code wrong;
        const auto room = std::filesystem::space(std::filesystem::absolute(path).parent_path(), wrong);
        if (!wrong && room.available < pages * page + room_kept)
            return no_room(made->path_, pages * page + room_kept);
        const int file = ::open(made->path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0)
            return fail(Code::unavailable, fmt::format("{} cannot be made for a backup", made->path_));
        ::close(file);
    }
    made->copy_ = TRY(Database::open(made->path_, vfs));
    // It is made anew after a crash: nothing of it needs to survive one.
    TRY(made->copy_->script(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; "
        "PRAGMA temp_store = MEMORY"));
    made->backup_ = sqlite3_backup_init(made->copy_->raw(), "main", of.raw(), "main");
    if (!made->backup_)
        return fail(Code::unavailable,
                    fmt::format("no backup can be begun: {}", sqlite3_errmsg(made->copy_->raw())));
    return made;
}

Result<bool> CopyAside::prepare() {
    if (whole_) return false;
    if (!backup_)
        return fail(Code::unavailable,
                    "the store was reopened while the backup was prepared; start the backup again");
    const int code = sqlite3_backup_step(backup_, pages_at_once);
    if (code == SQLITE_OK) return true;
    const auto bytes = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup_)) * page_bytes_;
    abandon();
    if ((code & 0xff) == SQLITE_FULL) return no_room(path_, bytes);
    if (code != SQLITE_DONE)
        return fail(Code::unavailable, fmt::format("the backup failed: {}", sqlite3_errstr(code)));
    // Its header still says that it has a log, as the store has.
    TRY(copy_->script("PRAGMA journal_mode = MEMORY"));
    TRY(settle(*copy_));
    whole_ = true;
    return false;
}

void CopyAside::abandon() {
    if (backup_) sqlite3_backup_finish(std::exchange(backup_, nullptr));
}

CopyAside::~CopyAside() {
    abandon();
    copy_.reset();
    remove();
}

void CopyAside::remove() const {
    auto* vfs = sqlite3_vfs_find(vfs_.empty() ? nullptr : vfs_.c_str());
    for (const char* suffix : {"", "-journal", "-wal"}) vfs->xDelete(vfs, (path_ + suffix).c_str(), 0);
}

}  // namespace hostler::sqlite
