// Questions to the series store, a bounded number at once.
#pragma once

#include <map>
#include <string>

#include "core/task_group.h"
#include "ports/series.h"

namespace hostler::master {

class Queries {
public:
    Queries(Timers& timers, SeriesStore& store, TaskGroup& tasks)
        : timers_(timers), store_(store), tasks_(tasks) {}

    // `who`: a tenant; empty: operators. One that nobody waits for any more goes on until it is answered, and
    // counts so long. Errors: exhausted (too_many_queries, and as the store's), timeout; the store's.
    Task<std::vector<series::Line>> ask(std::string who, series::Query query);

    std::size_t under_way() const { return under_way_; }
    std::uint64_t refused() const { return refused_; }

    static constexpr std::size_t all_max = 8;
    static constexpr std::size_t one_max = 2;  // Of one tenant, or of operators.
    static constexpr std::chrono::seconds answer_max{30};

private:
    struct Answer;
    Task<> perform(std::string who, series::Query query, std::shared_ptr<Answer> into);

    Timers& timers_;
    SeriesStore& store_;
    TaskGroup& tasks_;
    std::map<std::string, std::size_t> whose_;
    std::size_t under_way_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace hostler::master
