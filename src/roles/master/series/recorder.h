// Brings what hosts measured into the series store, and says when it is durable there. The estate never waits
// for it: while the store is slow or full reports go without their answer, and hosts keep them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/signal.h"
#include "ports/series.h"
#include "roles/master/series/series.h"

namespace hostler::master {

// What one report measured, all at one moment.
struct Measurement {
    series::Millis time = 0;
    std::vector<SeriesDevicePtr> devices;  // One row of each.
    std::vector<series::Cell> cells;       // Of each row columns_of(), one behind the other.
};

// How often the pods of GPUs change, and when they are looked at.
struct PodChanges {
    std::map<std::string, Rate>& of;
    Instant now;
};

// Of GPUs that the host has; what it says of others is not kept. `devices`: of the host's report before, and
// afterwards of this one. `pods`: null for a report that comes again, whose pods were noted when it came
// first.
Measurement measured(const Desk& desk, const std::string& host, series::Millis time,
                     const std::map<std::string, GpuSample>& gpus, const std::optional<HostSample>& sample,
                     std::vector<SeriesDevicePtr>& devices, std::optional<PodChanges> pods);

// Adds a row for each of `disks` that note_disks() has let pass. The series never forget a device, while
// volumes and instances come and go: a host has `disk_series_host_max` rows for each kind, which are used
// again, and `rows` says whose each is from which moment on. What gets no row is left out, and so is what a
// report that comes again tells of something that has none.
enum class ReportIs;
void add_disks(const Desk& desk, const std::string& host, const DiskUses& disks, ReportIs which,
               std::map<std::string, DiskRow>& rows, Measurement& into);

// When it was, by our clock. `time` is by the host's, in microseconds (0: not known), `age` how long before
// it came. A clock that is a little off is believed, so that the same report has the same time whenever it
// comes.
series::Millis measured_at(std::int64_t time, std::optional<std::int64_t> age, WallTime now);
inline constexpr std::chrono::seconds clock_error_max{2};

class Recorder {
public:
    Recorder(Timers& timers, SeriesStore& store) : timers_(timers), store_(store) {}

    // `then` is called once this, and all that was taken of this host before, is durable; never after
    // forget(). false: there is no room; nothing of this host is taken from then on, until readmit().
    bool take(const std::string& host, Measurement what, std::move_only_function<void()> then);
    bool turned_away(const std::string& host) const;
    void readmit(const std::string& host);
    // What waits longest has waited for so long that the store must be slow, full or broken.
    bool behind() const;
    static constexpr std::chrono::seconds behind_after{2};
    // Returns when no more of this host waits than should, or when the store is behind: then nobody waits.
    Task<> let_pass(std::string host);

    Task<> run();   // Until it is cancelled.
    void forget();  // What waits is not stored, and nobody is told.

    struct Count {
        std::size_t cells_waiting = 0;
        std::uint64_t rows = 0;  // Stored.
        std::uint64_t rows_refused =
            0;  // Of devices beyond `devices_host_max`, or that the store has no room for.
        std::uint64_t turned_away = 0;  // Reports.
        std::uint64_t failures = 0;     // Of the store.
    };
    const Count& count() const { return count_; }

    static constexpr std::size_t cells_max = 8 << 20;        // 64 MiB that wait to be stored.
    static constexpr std::size_t round_cells_max = 1 << 20;  // As many are stored at once.
    // From the beginning of one round to that of the next: a fleet's reports share few syncs of the disk.
    static constexpr std::chrono::milliseconds round_least{100};
    static constexpr std::size_t reports_host_max = 32;   // Waiting, before a host is heard more slowly.
    static constexpr std::size_t devices_host_max = 512;  // Of a host, in a term.

private:
    struct Waiting {
        std::string host;
        Measurement what;
        std::move_only_function<void()> then;
        Instant since;
        series::Millis noticed = 0;  // By our clock.
    };
    struct Of {                   // A host.
        std::size_t reports = 0;  // That wait.
        bool turned_away = false;
        std::size_t devices = 0;
    };
    struct Known {
        DeviceNumber number = 0;
        SeriesDevicePtr device;  // As it was told last.
    };

    void next_round();
    Task<> store_round();
    std::optional<DeviceNumber> number_of(const SeriesDevicePtr& device);
    Task<std::optional<DeviceNumber>> describe(const Waiting& report, SeriesDevicePtr device);

    Timers& timers_;
    SeriesStore& store_;
    std::deque<Waiting> waiting_, round_;
    std::map<std::string, Of> hosts_;
    Instant round_due_{};                 // The next one begins no sooner.
    std::map<std::string, Known> known_;  // Devices, as the store knows them, by id.
    Signal changed_;                      // Something waits, or waits no longer.
    Count count_;
};

}  // namespace hostler::master
