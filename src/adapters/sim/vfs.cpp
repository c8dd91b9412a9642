#include "adapters/sim/vfs.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace hostler::sim {

namespace {

constexpr std::uint64_t piece = 512;  // What a disk writes whole or not at all.

void put_bytes(std::string& content, std::string_view bytes, std::uint64_t at) {
    if (content.size() < at + bytes.size()) content.resize(at + bytes.size());
    content.replace(at, bytes.size(), bytes);
}

void apply(std::string& content, const Inode::Change& change) {
    if (change.truncate)
        content.resize(change.at);
    else
        put_bytes(content, change.bytes, change.at);
}

}  // namespace

struct SimVfs::Handle {
    sqlite3_file base;  // First: SQLite sees only this.
    SimVfs* disk;
    InodePtr inode;
    std::uint64_t incarnation;
    bool sync_folder;  // With the first sync of a log or journal its folder is synced, and all names in it.
};

// What SQLite calls.
struct SimVfs::Calls {
    static Handle& of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
    static SimVfs& disk(sqlite3_vfs* vfs) { return *static_cast<SimVfs*>(vfs->pAppData); }

    static int close(sqlite3_file* file) {
        of(file).inode->locks.erase(file);
        of(file).~Handle();
        return SQLITE_OK;
    }
    static int read(sqlite3_file* file, void* into, int size, sqlite3_int64 at) {
        Handle& handle = of(file);
        if (const int code = handle.disk->enter(&handle, SQLITE_IOERR_READ, handle.disk->faults.call_time))
            return code;
        const std::string& live = handle.inode->live;
        const auto from = std::min<std::size_t>(static_cast<std::size_t>(at), live.size());
        const auto some = std::min<std::size_t>(static_cast<std::size_t>(size), live.size() - from);
        std::memcpy(into, live.data() + from, some);
        std::memset(static_cast<char*>(into) + some, 0, static_cast<std::size_t>(size) - some);
        return some == static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
    }
    static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
        Handle& handle = of(file);
        SimVfs& disk = *handle.disk;
        const std::string_view bytes{static_cast<const char*>(from), static_cast<std::size_t>(size)};
        // The power goes in the middle of it: what comes back has some of its pieces, or none.
        if (handle.incarnation == disk.incarnation_ && disk.calls_ + 1 == disk.crash_at_)
            disk.write(*handle.inode, bytes, static_cast<std::uint64_t>(at));
        if (const int code = disk.enter(&handle, SQLITE_IOERR_WRITE, disk.faults.call_time)) {
            if (handle.incarnation == disk.incarnation_)  // Some of it may have been written all the same.
                disk.write(*handle.inode, bytes.substr(0, disk.dice_.below(bytes.size() + 1)),
                           static_cast<std::uint64_t>(at));
            return code;
        }
        return disk.write(*handle.inode, bytes, static_cast<std::uint64_t>(at));
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        Handle& handle = of(file);
        if (const int code =
                handle.disk->enter(&handle, SQLITE_IOERR_TRUNCATE, handle.disk->faults.call_time))
            return code;
        if (static_cast<std::size_t>(size) >= handle.inode->live.size()) return SQLITE_OK;
        handle.inode->unsynced.push_back({static_cast<std::uint64_t>(size), {}, true});
        handle.inode->live.resize(static_cast<std::size_t>(size));
        return SQLITE_OK;
    }
    static int sync(sqlite3_file* file, int) {
        Handle& handle = of(file);
        SimVfs& disk = *handle.disk;
        const Duration time = disk.faults.sync_time * (disk.dice_.chance(disk.faults.slow_sync) ? 100 : 1);
        if (const int code = disk.enter(&handle, SQLITE_IOERR_FSYNC, time)) return code;
        ++disk.syncs_;
        handle.inode->durable = handle.inode->live;
        handle.inode->unsynced.clear();
        if (std::exchange(handle.sync_folder, false)) disk.durable_names_ = disk.names_;
        return SQLITE_OK;
    }
    static int size(sqlite3_file* file, sqlite3_int64* into) {
        *into = static_cast<sqlite3_int64>(of(file).inode->live.size());
        return SQLITE_OK;
    }
    static int lock(sqlite3_file* file, int level) {
        auto& locks = of(file).inode->locks;
        const int refused_at = level == SQLITE_LOCK_SHARED      ? SQLITE_LOCK_PENDING
                               : level == SQLITE_LOCK_EXCLUSIVE ? SQLITE_LOCK_SHARED
                                                                : SQLITE_LOCK_RESERVED;
        for (const auto& [other, held] : locks)
            if (other != file && held >= refused_at) return SQLITE_BUSY;
        locks[file] = std::max(locks[file], level);
        return SQLITE_OK;
    }
    static int unlock(sqlite3_file* file, int level) {
        auto& locks = of(file).inode->locks;
        locks[file] = std::min(locks[file], level);
        return SQLITE_OK;
    }
    static int reserved(sqlite3_file* file, int* into) {
        *into = 0;
        for (const auto& [other, held] : of(file).inode->locks)
            if (held >= SQLITE_LOCK_RESERVED) *into = 1;
        return SQLITE_OK;
    }
    static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
    static int sector(sqlite3_file* file) { return of(file).disk->sector_; }
    static int character(sqlite3_file* file) {
        return of(file).disk->powersafe_ ? SQLITE_IOCAP_POWERSAFE_OVERWRITE : 0;
    }

    static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
        static constexpr sqlite3_io_methods methods = {
            .iVersion = 1,
            .xClose = close,
            .xRead = read,
            .xWrite = write,
            .xTruncate = truncate,
            .xSync = sync,
            .xFileSize = size,
            .xLock = lock,
            .xUnlock = unlock,
            .xCheckReservedLock = reserved,
            .xFileControl = control,
            .xSectorSize = sector,
            .xDeviceCharacteristics = character,
        };
        SimVfs& disk = SimVfs::Calls::disk(vfs);
        file->pMethods = nullptr;
        if (const int code = disk.enter(nullptr, SQLITE_CANTOPEN, disk.faults.call_time)) return code;
        InodePtr inode;
        if (path == nullptr) {
            inode = std::make_shared<Inode>();
        } else {
            const auto found = disk.names_.find(path);
            if (found == disk.names_.end() && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
            inode =
                found == disk.names_.end() ? disk.names_[path] = std::make_shared<Inode>() : found->second;
        }
        new (file)
            Handle{{&methods},
                   &disk,
                   std::move(inode),
                   disk.incarnation_,
                   (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0};
        if (out_flags) *out_flags = flags;
        return SQLITE_OK;
    }
    static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
        SimVfs& disk = SimVfs::Calls::disk(vfs);
        if (const int code = disk.enter(nullptr, SQLITE_IOERR_DELETE, disk.faults.call_time)) return code;
        if (disk.names_.erase(path) == 0) return SQLITE_IOERR_DELETE_NOENT;
        if (sync_folder) disk.durable_names_.erase(path);
        return SQLITE_OK;
    }
    static int access(sqlite3_vfs* vfs, const char* path, int, int* into) {
        *into = disk(vfs).names_.contains(path) ? 1 : 0;
        return SQLITE_OK;
    }
    static int full_path(sqlite3_vfs*, const char* path, int size, char* into) {
        sqlite3_snprintf(size, into, "%s", path);
        return SQLITE_OK;
    }
    static int random(sqlite3_vfs* vfs, int size, char* into) {
        for (int i = 0; i < size; ++i) into[i] = static_cast<char>(disk(vfs).dice_.next());
        return size;
    }
    static int sleep(sqlite3_vfs* vfs, int micros) {
        disk(vfs).time_ += std::chrono::microseconds{micros};
        return micros;
    }
    static int time(sqlite3_vfs*, double* into) {
        *into = 2461041.5;  // 2026-01-01, as a Julian day; nothing of ours asks SQLite for the time.
        return SQLITE_OK;
    }
    static int last_error(sqlite3_vfs*, int, char*) { return 0; }
};

SimVfs::SimVfs(std::uint64_t seed)
    : dice_(seed),
      name_(fmt::format("hostler-sim-{}", fmt::ptr(this))),
      vfs_(std::make_unique<sqlite3_vfs>()) {
    sector_ = dice_.chance(0.5) ? 512 : 4096;
    powersafe_ = dice_.chance(0.5);
    *vfs_ = sqlite3_vfs{
        .iVersion = 1,
        .szOsFile = sizeof(Handle),
        .mxPathname = 512,
        .zName = name_.c_str(),
        .pAppData = this,
        .xOpen = Calls::open,
        .xDelete = Calls::remove,
        .xAccess = Calls::access,
        .xFullPathname = Calls::full_path,
        .xRandomness = Calls::random,
        .xSleep = Calls::sleep,
        .xCurrentTime = Calls::time,
        .xGetLastError = Calls::last_error,
    };
    HOSTLER_ASSERT(sqlite3_vfs_register(vfs_.get(), 0) == SQLITE_OK);
}

SimVfs::~SimVfs() { sqlite3_vfs_unregister(vfs_.get()); }

std::uint64_t SimVfs::used() const {
    std::uint64_t sum = 0;
    for (const auto& [path, inode] : names_) sum += inode->live.size();
    return sum;
}

int SimVfs::enter(const Handle* handle, int error, Duration time) {
    if (handle && handle->incarnation != incarnation_) return error;
    ++calls_;
    time_ += time;
    if (calls_ == crash_at_) {
        crash();
        return error;
    }
    if (calls_ == fail_at_ || (faults.fail_call > 0 && dice_.chance(faults.fail_call))) return error;
    return SQLITE_OK;
}

int SimVfs::write(Inode& inode, std::string_view bytes, std::uint64_t at) {
    const std::uint64_t end = at + bytes.size();
    const std::uint64_t growth = end > inode.live.size() ? end - inode.live.size() : 0;
    const std::uint64_t taken = used();
    const std::uint64_t free = capacity > taken ? capacity - taken : 0;
    const bool full = growth > free;
    if (full) bytes = bytes.substr(0, bytes.size() - std::min<std::uint64_t>(bytes.size(), growth - free));
    written_ += bytes.size();
    if (!bytes.empty()) {
        put_bytes(inode.live, bytes, at);
        inode.unsynced.push_back({at, std::string{bytes}});
    }
    return full ? SQLITE_FULL : SQLITE_OK;
}

void SimVfs::crash() {
    ++incarnation_;
    std::map<std::string, InodePtr> left;
    for (const auto& [path, inode] : names_) {
        const auto durable = durable_names_.find(path);
        const bool certain = durable != durable_names_.end() && durable->second == inode;
        if (certain || dice_.chance(0.5))
            left[path] = survivor(*inode);
        else if (durable != durable_names_.end())
            left[path] = survivor(*durable->second);
    }
    for (const auto& [path, inode] : durable_names_)  // Removed, but the folder was not synced since.
        if (!names_.contains(path) && dice_.chance(0.5)) left[path] = survivor(*inode);
    names_ = left;
    durable_names_ = std::move(left);
}

InodePtr SimVfs::survivor(const Inode& inode) {
    auto left = std::make_shared<Inode>();
    std::string content = inode.durable;
    const auto count = inode.unsynced.size();
    switch (dice_.below(4)) {
        case 0: break;                        // Nothing of it,
        case 1: content = inode.live; break;  // all of it,
        case 2: {                             // its beginning with the last write torn,
            const std::size_t kept = dice_.below(count + 1);
            for (std::size_t i = 0; i < kept; ++i) apply(content, inode.unsynced[i]);
            if (kept < count) tear(content, inode.unsynced[kept]);
            break;
        }
        case 3:  // or any pieces.
            for (const auto& change : inode.unsynced) tear(content, change);
            break;
    }
    left->durable = left->live = std::move(content);
    return left;
}

void SimVfs::tear(std::string& content, const Inode::Change& change) {
    if (change.truncate) {
        if (dice_.chance(0.5) && content.size() > change.at) content.resize(change.at);
        return;
    }
    const std::uint64_t end = change.at + change.bytes.size();
    for (std::uint64_t at = change.at; at < end;) {
        const std::uint64_t next = std::min(end, at / piece * piece + piece);
        if (dice_.chance(0.5)) {
            put_bytes(content, std::string_view{change.bytes}.substr(at - change.at, next - at), at);
        } else if (!powersafe_ && dice_.chance(0.1)) {  // The sector was being written when the power went.
            const auto sector = static_cast<std::uint64_t>(sector_);
            const std::uint64_t begin = at / sector * sector;
            for (std::uint64_t i = begin; i < std::min<std::uint64_t>(begin + sector, content.size()); ++i)
                content[i] = static_cast<char>(dice_.next());
        }
        at = next;
    }
}

void SimVfs::scribble(const std::string& path, std::uint64_t at, std::string_view bytes) {
    Inode& inode = *names_.at(path);
    put_bytes(inode.live, bytes, at);
    put_bytes(inode.durable, bytes, at);
}

}  // namespace hostler::sim
