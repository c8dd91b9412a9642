// The SeriesStore port as plainly as it can be said: all rows in a map, a query looks at each. For tests.
#pragma once

#include <map>
#include <set>

#include "ports/series.h"

namespace hostler::series {

// What restarts leave. Of a policy only the end is played: what is older than `hour` goes.
struct MemoryRows {
    struct Kept {
        Device facts;
        std::vector<Era> eras;
        std::map<Millis, std::vector<Cell>> rows;
    };
    std::vector<Kept> devices;
};

class MemoryStore final : public SeriesStore {
public:
    explicit MemoryStore(MemoryRows& kept) : kept_(kept) {}
    Task<DeviceNumber> describe(Device device, Millis from) override;
    Task<> append(SampleBatch batch) override;
    Task<std::vector<Line>> query(Query query) override;
    Task<> keep(SeriesPolicy policy, WallTime now) override;
    Task<> flush() override { co_return Result<>{}; }
    Task<SeriesStats> stats() override;

private:
    MemoryRows& kept_;
    SeriesStats stats_;
};

}  // namespace hostler::series
