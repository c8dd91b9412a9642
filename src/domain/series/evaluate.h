// Answers a query from points that are handed in device by device.
#pragma once

#include <span>

#include "domain/series/query.h"

namespace hostler::series {

// Holds a number a step for each group (for each device with Across::none), and one a device and step where a
// quantile across devices is asked.
class Evaluation {
public:
    // A query that check() takes, and the most cells that it may hold.
    explicit Evaluation(Query query, std::size_t most = cells_max);

    // All that one device measured, in order of time, and the labels that it had, in_order(); before the
    // first it has those of the first. Errors: exhausted (more than `most`).
    Result<> add(const std::string& device, std::span<const Era> eras, std::span<const Point> points);
    std::vector<Line> finish() &&;

    const Query& query() const { return query_; }

private:
    struct Sum {
        double value = 0;
        double count = 0;
    };
    struct Group {
        std::vector<Sum> steps;                   // Of devices.
        std::vector<std::vector<double>> values;  // The same for a quantile.
    };

    void fold(std::span<const Point> points);
    Labels name_of(const std::string& device, const Labels& labels) const;
    Result<> add(Labels name, std::span<const Point> points);
    Result<> hold(std::size_t more_cells);
    void gather(Group& group);
    double result(Group& group, std::size_t step) const;

    Query query_;
    std::size_t most_;
    std::size_t steps_ = 0;
    std::size_t cells_ = 0;
    std::map<Labels, Group> groups_;
    std::vector<Line> lines_;     // Of devices, with Across::none.
    std::vector<double> device_;  // The one being added, a value a step.
};

}  // namespace hostler::series
