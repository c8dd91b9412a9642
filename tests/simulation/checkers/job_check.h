// What must hold of jobs and of their tasks. It looks at rows and at containers, and asks nothing of the code
// that acts on jobs.
#pragma once

#include "adapters/sim/world.h"
#include "domain/job/job.h"
#include "findings.h"
#include "roles/master/leader/term.h"

namespace hostler::simulation {

// Of a job that is submitted under an idempotency key, that key.
inline constexpr const char* key_label = "once";

class JobCheck {
public:
    // After each step in which something was committed. What is compared with the last look is so only
    // within an epoch: what was not durable is undone by the next leader.
    void look(const master::Desk& desk, std::uint64_t epoch, Findings& found);
    // After each step in which something happened at an engine.
    void look_at(const std::vector<const sim::Machine*>& hosts, Findings& found) const;
    // Once a second. `quiet`: nothing is broken since so long.
    void look_at_ends(const master::Desk& desk, Duration quiet, Findings& found);

    static constexpr Duration end_within = std::chrono::seconds{45};  // Grace, and commands that go astray.

private:
    struct Task {
        std::string job;
        std::int64_t position = 0;
        std::int64_t attempt = 1;
        std::size_t rank = 0;
    };
    void look_at_tasks(const master::Desk& desk, Findings& found);
    void look_at_lives(const master::Desk& desk, bool same_epoch, Findings& found);

    std::uint64_t epoch_ = 0;
    std::map<std::string, JobPhase> phases_;  // By job.
    std::map<std::string, Task> tasks_;       // By instance: all there ever were.
    std::map<std::string, int> ending_s_;     // By instance of a job that is over: quiet seconds.
};

}  // namespace hostler::simulation
