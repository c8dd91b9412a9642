// The order in which jobs are admitted, kept beside the estate.
#pragma once

#include <map>
#include <set>
#include <string>

#include "domain/job/job.h"
#include "domain/order/order.h"
#include "domain/order/round.h"
#include "domain/order/settings.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Never stored: each term builds it from the estate, and then follows what changes.
class JobQueues {
public:
    static constexpr bool follows_estate = true;
    // Elements of a job that wait for their turn side by side.
    static constexpr int side_by_side = 8;

    JobQueues();
    // Sees all that was changed since it was called last. true: something was.
    bool follow(const Desk& desk);
    const Order& order() const { return order_; }

    // Elements in the order that have to make room, and end.
    const std::set<std::string>& leaving() const { return leaving_; }

    // Why a job was not admitted when it was its turn last; nullptr: it was not asked, or has a place.
    const Error* refused(const std::string& job) const;
    void note_refused(const std::string& job, Error why);

    // Its place in the order, from 0; nullopt: it does not wait.
    std::optional<std::int64_t> position(const std::string& job, std::int64_t now) const;

    static std::string job_of(const std::string& waiting);  // Of an id in the order.

private:
    void follow_capacity(const Desk& desk);
    void follow_settings(const Desk& desk);
    void follow_job(const Desk& desk, const std::string& id);

    Follower<Job> jobs_;
    Follower<Host> hosts_;
    Follower<QueueSettings> settings_;
    bool began_ = false;  // What was used before this term is known.
    Order order_;
    Amount capacity_;
    std::map<std::string, Amount> capacity_of_;  // By host.
    struct Known {
        int waiting = 0;                // Entries in the order,
        int priority = 0;               // all of this priority,
        std::set<std::string> running;  // and there.
    };
    std::map<std::string, Known> known_;
    std::set<std::string> leaving_;
    std::map<std::string, Error> refused_;
};

JobQueues& job_queues(const Desk& desk);

QueuePath path_of(const Job& job);

// Whether the jobs that it comes after have ended as it wants; `never`: they cannot any more.
enum class Dependencies { met, open, never };
Dependencies dependencies_of(const Desk& desk, const Job& job);

}  // namespace hostler::master
