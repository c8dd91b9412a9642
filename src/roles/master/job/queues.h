// The order in which jobs are admitted, kept beside the estate.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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
    // Waiting elements that have an exact position in lists of jobs.
    static constexpr std::size_t line_shown_max = 500;

    JobQueues();
    // Sees all that was changed since it was called last. true: something was.
    bool follow(const Desk& desk);
    const Order& order() const { return order_; }

    // Elements in the order that have to make room, and end.
    const std::set<std::string>& leaving() const { return leaving_; }

    // Jobs in a phase that is not final.
    std::int64_t jobs_in(JobPhase phase) const {
        const auto at = phases_.find(phase);
        return at == phases_.end() ? 0 : at->second;
    }

    // Why a job was not admitted when it was its turn last; nullptr: it was not asked, or has a place.
    const Error* refused(const std::string& job) const;
    void note_refused(const std::string& job, Error why);
    // Its kind found room: what was noted of it when it found none is over.
    void note_admitted(const std::string& job);
    // Of its element: equal for jobs that ask the same of hosts. 0: it does not wait.
    std::uint32_t kind_of(const std::string& job) const;

    // Its place in the order, from 0; nullopt: it does not wait.
    std::optional<std::int64_t> position(const std::string& job, std::int64_t now) const;

    // The same for lists, which ask for many: exact, of the first line_shown_max elements alone.
    std::optional<std::int64_t> place_in_line(const std::string& job, std::int64_t now) const;

    // Elements in the order in which a round that has room for all admits them, `most` at most.
    std::vector<Waiting> line(std::size_t most, std::int64_t now) const;
    // The id in the order of the next element of a job that waits.
    static std::string waiting_of(const std::string& job);
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
        std::optional<JobPhase> phase;     // Not final.
        int waiting = 0;                   // Entries in the order,
        int priority = 0;                  // all of this priority
        std::uint32_t kind = 0;            // and of this kind,
        std::vector<std::string> running;  // and there; sorted.
    };
    std::map<std::string, Known> known_;
    void note_phase(Known& known, std::optional<JobPhase> phase);
    std::map<JobPhase, std::int64_t> phases_;  // How many of the known jobs are in each.
    std::set<std::string> leaving_;
    std::map<std::string, Error> refused_;  // Of those that were asked themselves, by job.
    struct Line {
        std::int64_t at = 0;
        std::map<std::string, std::int64_t> places;  // By job: of its first element.
    };
    mutable std::optional<Line> line_;  // Until something changes.
    struct Kind {
        std::string asks;
        std::size_t jobs = 0;
        std::optional<Error> refused{};  // It found no room.
    };
    std::map<std::uint32_t, Kind> kinds_;
    std::map<std::string, std::uint32_t> kind_by_asks_;
    std::uint32_t last_kind_ = 0;
    std::uint32_t join_kind(const Job& job);
    void leave_kind(std::uint32_t kind);
};

JobQueues& job_queues(const Desk& desk);

QueuePath path_of(const Job& job);
// "acme/lab/user/u-3hq8wz"
std::string words_of(const QueuePath& path);

// Whether the jobs that it comes after have ended as it wants; `never`: they cannot any more.
enum class Dependencies { met, open, never };
Dependencies dependencies_of(const Desk& desk, const Job& job);

}  // namespace hostler::master
