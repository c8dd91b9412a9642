// A disk under SQLite that lives in memory, knows what was synced, and fails in every way a disk can.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/sim/dice.h"
#include "core/timers.h"

struct sqlite3_file;
struct sqlite3_vfs;

namespace hostler::sim {

// One file's bytes, and what was done to them since its last sync.
struct Inode {
    struct Change {
        std::uint64_t at = 0;
        std::string bytes{};
        bool truncate = false;  // To `at`.
    };
    std::string live;
    std::string durable;
    std::vector<Change> unsynced;
    std::map<const void*, int> locks;  // By handle: SQLite's levels.
};
using InodePtr = std::shared_ptr<Inode>;

struct VfsFaults {
    double fail_call = 0;  // Chance that a call fails with an I/O error.
    Duration sync_time{};  // What a sync costs,
    Duration call_time{};  // and any other call.
    double slow_sync = 0;  // Chance that a sync takes 100 times as long.
};

// Registers itself with SQLite under name() while it lives; connections must be closed before it goes. Sector
// size (512 or 4096 bytes) and whether a torn write may spoil its neighbours follow from the seed.
class SimVfs {
public:
    explicit SimVfs(std::uint64_t seed);
    ~SimVfs();
    SimVfs(const SimVfs&) = delete;
    SimVfs& operator=(const SimVfs&) = delete;

    const std::string& name() const { return name_; }

    // Power cut: of what was not synced some is kept, in pieces of 512 bytes; files may be missing or back.
    // Every file that is open fails from now on; what is opened later sees what was left.
    void crash();
    void close_all() { ++incarnation_; }  // A process ended: its files fail, and their content stays.
    // The n-th call from now (1: the next) fails; with crash_on_call(), the power goes there.
    void fail_call(std::uint64_t n) { fail_at_ = calls_ + n; }
    void crash_on_call(std::uint64_t n) { crash_at_ = calls_ + n; }
    void forget_calls() { fail_at_ = crash_at_ = 0; }
    std::uint64_t calls() const { return calls_; }
    std::uint64_t syncs() const { return syncs_; }
    std::uint64_t written() const { return written_; }  // Bytes.
    bool crashed_on_call() const { return crash_at_ != 0 && calls_ >= crash_at_; }

    std::uint64_t capacity = UINT64_MAX;  // Bytes of all files together; beyond it the disk is full.
    VfsFaults faults;
    std::uint64_t used() const;
    // Simulated time that calls took since this was last asked.
    Duration take_time() { return std::exchange(time_, Duration{}); }
    // Damages what is stored: for tests of what a store says about it.
    void scribble(const std::string& path, std::uint64_t at, std::string_view bytes);
    bool exists(const std::string& path) const { return names_.contains(path); }

private:
    struct Handle;
    struct Calls;
    int enter(const Handle* handle, int error, Duration time);
    InodePtr survivor(const Inode& inode);
    void tear(std::string& content, const Inode::Change& change);
    int write(Inode& inode, std::string_view bytes, std::uint64_t at);

    Dice dice_;
    std::string name_;
    std::unique_ptr<sqlite3_vfs> vfs_;
    int sector_ = 512;
    bool powersafe_ = true;
    std::map<std::string, InodePtr> names_;
    std::map<std::string, InodePtr> durable_names_;
    std::uint64_t incarnation_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t syncs_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t fail_at_ = 0;
    std::uint64_t crash_at_ = 0;
    Duration time_{};
};

}  // namespace hostler::sim
