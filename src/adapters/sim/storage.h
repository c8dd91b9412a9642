// What a simulated machine keeps over the death of its process: a journal, volumes, networks, logs.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "adapters/sim/dice.h"
#include "core/signal.h"
#include "core/timers.h"
#include "ports/journal.h"
#include "ports/logs.h"
#include "ports/network.h"
#include "ports/volumes.h"

namespace hostler::sim {

struct StorageFaults {
    // A change takes up to so long on each side of taking effect.
    Duration time = std::chrono::milliseconds{1};
    double fail = 0;  // Chance of an I/O error: made or not made.
    bool fail_next = false;
    bool full = false;
};

// What a machine's disk holds; whoever writes stands in between and may die there.
struct Disk {
    explicit Disk(Dice with) : dice(with) {}
    Dice dice;
    StorageFaults faults;
    std::map<std::string, std::string> journal;
    std::map<std::string, std::uint64_t> volumes;  // Id and size.
    // How full a volume of an id and a size is. Without it a volume has nothing but its own file system.
    std::function<DiskUse(const std::string&, std::uint64_t)> use;
    std::map<std::string, NetworkSpec> networks;
    struct KeptLog {
        std::string text;
        std::uint64_t number = 0;  // Rises with each that is kept.
    };
    std::map<std::string, KeptLog> logs;
    std::uint64_t last_log = 0;
    std::size_t logs_max = 256;
    std::uint64_t volume_bytes_max = std::uint64_t{6} << 40;  // Of all volumes.
    std::string volumes_refused;                              // Why there can be none; empty: there can.
    std::set<std::string> networks_in_use;                    // Kept by the engine.
};

// Takes effect in the middle of the time that it takes: a process that dies meanwhile leaves it made or not
// made.
Task<> change(Disk& disk, Timers& timers, std::function<void()> effect, bool grows);

class SimJournal final : public Journal {
public:
    SimJournal(Disk& disk, Timers& timers) : disk_(disk), timers_(timers), seen_(disk.journal) {}
    const std::map<std::string, std::string>& all() const override { return seen_; }
    Task<> put_all(std::vector<Entry> entries) override;
    Task<> erase(std::string key) override;

private:
    Task<> put_each(const std::vector<Entry>& entries);

    // The changes that are under way, one after the other.
    struct Line {
        std::set<std::uint64_t> waiting;
        std::uint64_t last = 0;
        Signal moved;
    };
    static Task<> in_turn(std::shared_ptr<Line> line, Task<> task);

    Disk& disk_;
    Timers& timers_;
    std::map<std::string, std::string> seen_;
    std::shared_ptr<Line> line_ = std::make_shared<Line>();
};

class SimVolumes final : public HostVolumes {
public:
    SimVolumes(Disk& disk, Timers& timers) : disk_(disk), timers_(timers) {}
    Task<> create(std::string id, std::uint64_t size_bytes) override;
    Task<Attached> attach(std::string id, IdRange ids) override;
    Task<> remove(std::string id) override;
    Task<std::vector<std::string>> list() override;
    Task<Room> room() override;
    Task<std::map<std::string, DiskUse>> uses() override;

private:
    Disk& disk_;
    Timers& timers_;
};

class SimNetworks final : public HostNetwork {
public:
    SimNetworks(Disk& disk, Timers& timers) : disk_(disk), timers_(timers) {}
    Task<> ensure(NetworkSpec spec) override;
    Task<> remove(std::string id) override;
    Task<std::vector<std::string>> list() override;

private:
    Disk& disk_;
    Timers& timers_;
};

class SimLogStore final : public LogStore {
public:
    SimLogStore(Disk& disk, Timers& timers) : disk_(disk), timers_(timers) {}
    Task<> keep(std::string instance, std::string text) override;
    Task<std::string> read(std::string instance, std::size_t bytes_max) override;

private:
    Disk& disk_;
    Timers& timers_;
};

}  // namespace hostler::sim
