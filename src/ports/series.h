// What was measured: the samples of GPUs and hosts over time, and what is asked of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/timers.h"
#include "domain/series/query.h"

namespace hostler {

using DeviceNumber = std::uint32_t;  // While this process lives.

// Rows of samples: of each its device's columns, in their order, one row behind the other.
struct SampleBatch {
    struct Row {
        DeviceNumber device = 0;
        series::Millis time = 0;
    };
    std::vector<Row> rows;
    std::vector<series::Cell> cells;
};

struct SeriesPolicy {
    Duration raw = std::chrono::hours{24 * 15};        // Samples as they came are kept for so long;
    Duration minute = std::chrono::hours{24 * 90};     // then a point a minute (min, max, sum, count, last);
    Duration hour = std::chrono::hours{24 * 365 * 2};  // then one an hour.
};

// What goes to a receiver elsewhere, too, and is not there yet.
struct SeriesForwarding {
    std::optional<series::Millis> oldest{};  // Of what waits; nullopt: nothing does.
    std::uint64_t bytes = 0;                 // On disk; beyond the bound the oldest samples are given up.
    std::uint64_t bytes_max = 0;
};

struct SeriesStats {
    std::uint64_t rows = 0;          // Taken since the start,
    std::uint64_t rows_late = 0;     // and those that came too late to be kept.
    std::uint64_t devices = 0;       // Known.
    std::uint64_t memory_bytes = 0;  // Of rows that are in no segment yet.
    std::uint64_t disk_bytes = 0;
    std::uint64_t written_bytes = 0;   // Since the start: logs, segments.
    std::uint64_t blocks_damaged = 0;  // Left out of answers, or set aside when it was opened.
    std::uint64_t volume_bytes = 0;    // Size of the file system that holds them; 0: not known.
    std::uint64_t volume_free_bytes = 0;
    std::optional<SeriesForwarding> forwarding;  // nullopt: samples go nowhere else.
};

// A row is one moment of one device. A second row of the same device and time is the same report again: the
// first stays, the second is taken and not stored. Rows may come in any order, unless their time has been
// down-sampled: those are counted, taken and not stored. Times are given by the master's clock; who collects
// bounds them.
class SeriesStore {
public:
    virtual ~SeriesStore() = default;
    // Makes a device known, or gives it other labels for rows from `from` on. The same id with other columns
    // is another number; a query sees one device. It is durable with its first row. Errors: invalid (no id,
    // no columns, more than `columns_max`, two of one name), exhausted (`devices_max`).
    virtual Task<DeviceNumber> describe(series::Device device, series::Millis from) = 0;
    // Durable when it returns; many share one sync. Errors: invalid (a number that nobody gave, a wrong
    // number of cells: none of its rows is stored), exhausted (the disk is full: nothing is stored, and what
    // was stays), unavailable (unknown whether it was stored). After an error the same batch may be given
    // again.
    virtual Task<> append(SampleBatch batch) = 0;
    // Errors: invalid, exhausted (an answer too large; the message says what helps), unavailable.
    virtual Task<std::vector<series::Line>> query(series::Query query) = 0;
    // Down-samples and takes out what `policy` says, as of `now`. To be called now and then. Errors:
    // exhausted, unavailable; what was there before is there still.
    virtual Task<> keep(SeriesPolicy policy, WallTime now) = 0;
    virtual Task<> flush() = 0;  // All rows so far are in segments, the log is empty. Errors: as append().
    virtual Task<SeriesStats> stats() = 0;

    static constexpr std::size_t columns_max = 256;
    static constexpr std::size_t devices_max = 1'000'000;
    static constexpr std::size_t batch_cells_max = 4 << 20;
};

}  // namespace hostler
