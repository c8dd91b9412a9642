#include "roles/master/job/round.h"

#include <tuple>

#include "domain/order/round.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/preempt.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/reserve.h"

namespace hostler::master {

namespace {

// Elements that ask the same: where one finds no room, the others find none.
using Alike = std::tuple<std::string, std::string, std::int64_t, std::string>;
Alike alike(const Job& job) {
    return {job.tenant + "/" + job.project, job.spec.spec_name, job.tasks_of_element(), job.spec.task};
}

// A round that is under way: it is one walk over the order, in several pieces.
struct Going {
    static constexpr bool follows_estate = true;
    const Order* order = nullptr;
    std::optional<Round> round;
    std::set<Alike> without_room;
    bool admitted = false;
    std::string oldest;      // Job that found no room, of those the one that has waited longest,
    std::int64_t since = 0;  // since then.
};

// The next element of the job finds no room: others may have to make some.
void refused(Desk& desk, const Job& job, const std::string& waiting, const Error& why) {
    job_queues(desk).note_refused(job.id, why);
    if (why.reason != "insufficient_capacity" || makes_way(desk, job.id)) return;
    if (const auto way = way_for(desk, job, waiting)) make_way(desk, job.id, *way);
}

}  // namespace

bool admit_jobs(Desk& desk, RoundBounds bounds) {
    forget_ways(desk);
    const Order& order = job_queues(desk).order();
    Going& going = desk.live.part<Going>();
    if (!going.round || going.order != &order) {
        going = {.order = &order};
        going.round.emplace(order.round(desk.estate.micros()));
    }
    while (const auto turn = going.round->next()) {
        const std::string id = JobQueues::job_of(turn->id);
        const Job* job = desk.estate.jobs.find(id);
        if (!job) continue;
        const Alike asks = alike(*job);
        if (going.without_room.contains(asks)) continue;
        if (const auto admitted = admit_next(desk, id); !admitted) {
            if (admitted.error().code != Code::not_found) {
                going.without_room.insert(asks);
                const bool older = going.oldest.empty() || job->waits_since < going.since;
                if (older && admitted.error().reason == "insufficient_capacity") {
                    going.oldest = id;
                    going.since = job->waits_since;
                }
                refused(desk, *job, turn->id, admitted.error());
            }
            if (--bounds.refusals == 0) return true;
            continue;
        }
        going.round->admit();
        going.admitted = true;
        if (--bounds.admissions == 0) return true;
    }
    const bool again = going.admitted;  // Of an array more may have their turn now.
    reserve_room(desk, desk.estate.jobs.find(going.oldest));
    going = {};
    return again;
}

}  // namespace hostler::master
