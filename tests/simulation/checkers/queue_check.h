// What must hold of queues: who has to make room for whom, who gets it in time, and what each one holds. All
// of it is counted from rows, slowly.
#pragma once

#include <set>

#include "core/timers.h"
#include "domain/job/job.h"
#include "findings.h"
#include "roles/master/leader/term.h"

namespace hostler::simulation {

class QueueCheck {
public:
    // After each step in which something was committed: an element that has to make room since the last look
    // borrowed its room, or is of a lower priority than the job of the same user that wants it.
    void look(const master::Desk& desk, std::uint64_t epoch, Findings& found);
    // Once a second. `quiet`: nothing is broken since so long.
    void look_at_waits(const master::Desk& desk, Duration quiet, Findings& found);
    void look_at_shares(const master::Desk& desk, Findings& found) const;

    // Grace of the tasks that end, and what commands and hosts need beside.
    static constexpr Duration guaranteed_within = std::chrono::seconds{35};
    // No room is kept for a gang in the first ten minutes. The rest is for what runs there until it ends.
    Duration starved_after = std::chrono::minutes{14};

    int evictions = 0;  // Seen so far.

private:
    struct Element {
        std::string job;
        std::int64_t position = 0, attempt = 0;
        auto operator<=>(const Element&) const = default;
    };
    struct Wait {
        int seconds = 0;
        std::int64_t held = 0;  // When it began.
    };
    using Held = std::map<std::string, std::int64_t>;  // GPUs of a tenant's jobs that stay.
    static Held held_by_tenants(const master::Desk& desk, const std::set<Element>& but);
    void judge(const master::Desk& desk, const Element& victim, const Held& kept, Findings& found);
    // The smallest job that waits; empty: none.
    static std::string could_have_more(const master::Desk& desk, const std::string& tenant,
                                       std::int64_t guaranteed, const Held& kept);
    void look_at_gangs(const master::Desk& desk, Findings& found);

    std::uint64_t epoch_ = 0;
    std::set<Element> there_, leaving_;  // With a place; of these those that have to make room.
    Held steady_;                        // By what had a place at the last look, too, and stays.
    std::map<std::pair<std::string, std::string>, int> evicted_by_;  // Victim and who wants its room.
    std::map<std::string, Wait> waits_;                              // By tenant,
    std::map<std::string, int> gangs_;                               // by job.
};

}  // namespace hostler::simulation
