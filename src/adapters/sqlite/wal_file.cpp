#include "adapters/sqlite/wal_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/log.h"

namespace hostler::sqlite {

namespace {

// A file through SQLite's file system, which a simulated disk is one of.
class File {
public:
    // nullptr: there is none.
    static Result<std::unique_ptr<File>> open(std::string path, const std::string& vfs_name, int kind) {
        auto* vfs = sqlite3_vfs_find(vfs_name.empty() ? nullptr : vfs_name.c_str());
        HOSTLER_ASSERT(vfs != nullptr);
        int there = 0;
        vfs->xAccess(vfs, path.c_str(), SQLITE_ACCESS_EXISTS, &there);
        if (there == 0) return nullptr;
        std::unique_ptr<File> made{new File{std::move(path), static_cast<std::size_t>(vfs->szOsFile)}};
        const int code =
            vfs->xOpen(vfs, made->path_.c_str(), made->raw(), SQLITE_OPEN_READWRITE | kind, nullptr);
        if (code != SQLITE_OK) return made->wrong("cannot be opened", code);
        made->open_ = true;
        return made;
    }
    ~File() {
        if (open_) raw()->pMethods->xClose(raw());
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    Result<FileBytes> bytes() {
        sqlite3_int64 size = 0;
        if (const int code = raw()->pMethods->xFileSize(raw(), &size)) return wrong("cannot be read", code);
        const int device = raw()->pMethods->xDeviceCharacteristics(raw());
        return FileBytes{static_cast<std::uint64_t>(size),
                         [this, size](std::uint64_t at, std::size_t count) {
                             return read(at, count, static_cast<std::uint64_t>(size));
                         },
                         (device & SQLITE_IOCAP_POWERSAFE_OVERWRITE) == 0};
    }
    Result<> write(const Wal::Changed& byte) {
        int code = raw()->pMethods->xWrite(raw(), &byte.was, 1, static_cast<sqlite3_int64>(byte.at));
        if (code == SQLITE_OK) code = raw()->pMethods->xSync(raw(), SQLITE_SYNC_NORMAL);
        return code == SQLITE_OK ? Result<>{} : wrong("cannot be written", code);
    }
    Result<> cut(std::uint64_t size) {
        int code = raw()->pMethods->xTruncate(raw(), static_cast<sqlite3_int64>(size));
        if (code == SQLITE_OK) code = raw()->pMethods->xSync(raw(), SQLITE_SYNC_NORMAL);
        return code == SQLITE_OK ? Result<>{} : wrong("cannot be cut", code);
    }

private:
    File(std::string path, std::size_t bytes)
        : path_(std::move(path)), room_(bytes / sizeof(std::max_align_t) + 1) {}
    sqlite3_file* raw() { return reinterpret_cast<sqlite3_file*>(room_.data()); }
    Result<std::string> read(std::uint64_t at, std::size_t count, std::uint64_t size) {
        std::string bytes(std::min<std::uint64_t>(count, size - std::min(size, at)), '\0');
        const int code = bytes.empty()
                             ? SQLITE_OK
                             : raw()->pMethods->xRead(raw(), bytes.data(), static_cast<int>(bytes.size()),
                                                      static_cast<sqlite3_int64>(at));
        if (code != SQLITE_OK) return wrong("cannot be read", code);
        return bytes;
    }
    std::unexpected<Error> wrong(std::string_view what, int code) const {
        return fail(Code::unavailable, fmt::format("{} {}: {}", path_, what, sqlite3_errstr(code)));
    }

    std::string path_;
    std::vector<std::max_align_t> room_;
    bool open_ = false;
};

// Whether another process has the store, whose log may change while it is looked at.
bool in_use(const std::string& path, const std::string& vfs) {
    constexpr off_t locks_at = 0x40000000, locks = 512;  // Of SQLite, in every file of its.
    if (!vfs.empty()) return false;
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = locks_at;
    lock.l_len = locks;
    const bool held = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    ::close(fd);
    return held;
}

Result<Wal> look(const std::string& path, const std::string& vfs) {
    const auto log = TRY(File::open(wal_of(path), vfs, SQLITE_OPEN_WAL));
    const auto store = TRY(File::open(path, vfs, SQLITE_OPEN_MAIN_DB));
    if (!log || !store) return Wal{};
    return look_at_wal(TRY(log->bytes()), TRY(store->bytes()));
}

Result<> put_right(const std::string& path, const std::string& vfs, const Wal::Changed& byte) {
    const auto log = TRY(File::open(wal_of(path), vfs, SQLITE_OPEN_WAL));
    if (!log) return {};
    TRY(log->write(byte));
    log_warn(
        "the disk has changed byte {} of {} from {:02x} to {:02x}; the checksums behind it prove it, and it "
        "is {:02x} again: nothing is lost. Check that disk",
        byte.at, wal_of(path), static_cast<std::uint8_t>(byte.was), static_cast<std::uint8_t>(byte.is),
        static_cast<std::uint8_t>(byte.was));
    return {};
}

std::string what_is_wrong(const std::string& path, const Wal& wal) {
    const std::string begin = fmt::format("the store {} is damaged: its log {} was changed from byte {} on",
                                          path, wal_of(path), wal.bad_at);
    switch (wal.behind) {
        case Wal::Behind::in_the_store:
            return fmt::format(
                "{}, and {} has everything that was in it. `hostler store cut {}` takes the log "
                "away, and nothing is lost",
                begin, path, path);
        case Wal::Behind::half_copied:
            return fmt::format("{}, while it was being copied into {}; put a backup in their place", begin,
                               path);
        case Wal::Behind::only_here: break;
    }
    return fmt::format(
        "{}, with {} commits before that and {} behind it, which would be lost. Restore a recent backup if "
        "there is one, or continue without them: `hostler store cut {}`",
        begin, wal.whole_commits, wal.lost_commits, path);
}

}  // namespace

std::string wal_of(const std::string& path) { return path + "-wal"; }

Result<> guard_wal(const std::string& path, const std::string& vfs) {
    Wal wal = TRY(look(path, vfs));
    if (wal.state == Wal::State::whole || in_use(path, vfs)) return {};
    if (wal.changed) {
        TRY(put_right(path, vfs, *wal.changed));
        wal = TRY(look(path, vfs));
    }
    if (wal.state == Wal::State::damaged)
        return fail(Code::unavailable, what_is_wrong(path, wal), "store_damaged");
    if (wal.state == Wal::State::unfinished)
        log_warn(
            "the last commit in {} is incomplete from byte {} on, and is dropped. After a power cut or a "
            "killed master, that commit was never acknowledged; otherwise the disk has changed it",
            wal_of(path), wal.bad_at);
    return {};
}

Result<Wal> look_for_cut(const std::string& path, const std::string& vfs) {
    if (in_use(path, vfs))
        return fail(Code::conflict,
                    fmt::format("the store {} is in use by another master; stop that one first", path),
                    "store_in_use");
    const Wal wal = TRY(look(path, vfs));
    if (wal.state != Wal::State::damaged || wal.changed)
        return fail(
            Code::conflict,
            fmt::format("there is nothing to cut: {} is intact, or the next start repairs it", wal_of(path)),
            "nothing_damaged");
    if (wal.behind == Wal::Behind::half_copied)
        return fail(Code::unavailable, what_is_wrong(path, wal), "store_damaged");
    return wal;
}

Result<Wal> cut_wal(const std::string& path, const std::string& vfs) {
    const Wal wal = TRY(look_for_cut(path, vfs));
    const auto log = TRY(File::open(wal_of(path), vfs, SQLITE_OPEN_WAL));
    HOSTLER_ASSERT(log != nullptr);
    const bool nothing = wal.behind == Wal::Behind::in_the_store || wal.whole_commits == 0;
    TRY(log->cut(nothing ? 0 : wal.whole_bytes));
    return wal;
}

}  // namespace hostler::sqlite
