// Answers queries from a view of the store, on a thread beside the one that writes.
#pragma once

#include <set>

#include "adapters/series/keeper.h"

namespace hostler::series {

// One thread.
class QueryReader {
public:
    // Errors: exhausted, unavailable.
    Result<std::vector<Line>> answer(const Query& query, const View& view);
    std::uint64_t damaged() const { return damaged_; }  // Blocks that were left out of answers.
    using Index = std::shared_ptr<const SegmentIndex>;
    Result<Index> index_of(const Segment& segment);

private:
    struct Source {
        const Segment* segment = nullptr;
        const SegmentIndex* index = nullptr;
        const SegmentIndex::IndexDevice* device = nullptr;
        std::size_t column = 0;
    };
    struct Asked {
        std::vector<Source> sources;
        std::vector<const View::Device*> heads;
    };
    using AskedDevices = std::map<std::string, Asked>;

    Result<> read(const Query& query, const Asked& asked, std::vector<Point>& points);
    Result<> read_source(const Query& query, const Source& source, std::map<Column, Rows>& raw,
                         std::vector<Point>& points);

    std::vector<std::pair<std::uint64_t, Index>> kept_;  // The last ones used, newest last.
    std::uint64_t damaged_ = 0;
    std::set<std::pair<std::uint64_t, std::uint64_t>> told_;  // Segment and place of those that were logged.
};

}  // namespace hostler::series
