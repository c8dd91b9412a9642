// What every store of series promises (ports/series.h).
#pragma once

#include "ports/series.h"
#include "rig.h"

namespace hostler::contract {

class SeriesRig : public Rig {
public:
    virtual SeriesStore& store() = 0;  // Empty at first.
    virtual void restart() = 0;        // Its process ends and comes again.
};

class SeriesContract : public Contract<SeriesRig> {
protected:
    SeriesStore& store() { return rig_->store(); }
    // A GPU with a gauge, a counter and a double.
    Result<DeviceNumber> describe(std::string id, series::Labels labels, series::Millis from = 0);
    Result<> append(DeviceNumber device, series::Millis time, std::vector<series::Cell> cells);
    // The values of its only line; none if there is none.
    std::vector<double> values(series::Query query);
    std::vector<series::Line> lines(series::Query query);
};

// Histories with everything in them, and queries about them, from a seed.
struct SeriesStory {
    std::vector<series::Device> devices;
    struct Step {
        std::size_t device = 0;
        std::optional<series::Labels> labels{};  // It has others from `time` on.
        series::Millis time = 0;
        std::vector<series::Cell> cells{};  // A row.
        enum class Then { nothing, flush, restart } then = Then::nothing;
    };
    std::vector<Step> steps;
    std::vector<series::Query> queries;
};
SeriesStory series_story(std::uint64_t seed);
// What a store answers to the story's queries after its steps.
std::vector<std::vector<series::Line>> tell(SeriesRig& rig, const SeriesStory& story);

}  // namespace hostler::contract
