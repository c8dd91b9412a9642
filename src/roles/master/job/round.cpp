#include "roles/master/job/round.h"

#include <utility>

#include "domain/order/round.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/counts.h"
#include "roles/master/job/preempt.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/reserve.h"
#include "roles/master/policy/policies.h"
#include "roles/master/run/reserved.h"
#include "roles/master/state/jobs_stalled.h"

namespace hostler::master {

namespace {

constexpr int cost_of_a_way = 16;  // To look for victims, in refusals.

// Where one of a kind finds no room, the others find none. Rules of a tenant narrow where its jobs may go.
using Asks = std::pair<std::uint32_t, std::string>;

// A round that is under way: it is one walk over the order, in several pieces.
struct Going {
    static constexpr bool follows_estate = true;
    const Order* order = nullptr;
    std::optional<Round> round;
    std::set<Asks> without_room;
    std::map<std::string, bool> has_rules;  // By tenant.
    std::set<std::string> asked;            // Of the jobs that room is kept for.
    bool admitted = false, offered = false;
    std::string oldest;      // Job that found no room, of those the one that has waited longest,
    std::int64_t since = 0;  // since then.
};

Asks asks_of(const Desk& desk, Going& going, const Waiting& turn) {
    const std::string& tenant = turn.path.tenant;
    const auto [known, fresh] = going.has_rules.try_emplace(tenant);
    if (fresh) known->second = policies_of(desk, tenant).tenant != nullptr;
    return {turn.kind, known->second ? tenant : std::string{}};
}

std::set<std::string> room_is_kept_for(const Desk& desk) {
    std::set<std::string> jobs = jobs_with_ways(desk);
    const auto& kept = desk.live.part<Reservations>().of_the_oldest;
    if (kept) jobs.insert(kept->job);
    return jobs;
}

bool is_about_room(const Error& why) { return why.reason == "insufficient_capacity"; }

// Why it was refused holds for all that this queue has of its kind.
bool is_of_the_queue(const Error& why) {
    return is_about_room(why) || why.reason == "quota_exceeded" || why.reason == "project_disabled" ||
           why.reason == "tenant_disabled";
}

// The next element of a job finds no room: others may have to make some. What that cost, in refusals. Most
// queues get no further than here in a round, so it looks for nothing among all jobs.
int without_room(Desk& desk, Going& going, const std::string& id, const Waiting& turn) {
    if (going.oldest.empty() || turn.since < going.since) {
        going.oldest = id;
        going.since = turn.since;
    }
    if (makes_way(desk, id) || !may_preempt(desk, turn)) return 0;
    if (const Job* job = desk.estate.jobs.find(id))
        if (const auto way = way_for(desk, *job, turn.id)) make_way(desk, id, *way);
    return cost_of_a_way;
}

// The job was refused. What that cost.
int refused(Desk& desk, Going& going, const std::string& id, const Waiting& turn, const Error& why) {
    if (why.code == Code::not_found) return 1;  // Its next element waits to be tried again.
    job_queues(desk).note_refused(id, why);
    if (is_of_the_queue(why)) going.round->refuse_kind();
    if (!is_about_room(why)) return 1;
    going.without_room.insert(asks_of(desk, going, turn));
    return 1 + without_room(desk, going, id, turn);
}

// Jobs that room is kept for, and that were not offered since others of their kind found none.
bool admit_kept(Desk& desk, const std::set<std::string>& asked) {
    bool admitted = false;
    const JobQueues& queues = job_queues(desk);
    for (const std::string& id : room_is_kept_for(desk)) {
        const std::string waiting = JobQueues::waiting_of(id);
        if (asked.contains(id) || !queues.order().waiting(waiting) || queues.order().at_limit(waiting))
            continue;
        if (!admit_next(desk, id)) continue;
        ++desk.live.part<JobCounts>().admitted;
        admitted = true;
    }
    return admitted;
}

void note_stalled(const Desk& desk, bool stalled) {
    std::int64_t& since = desk.live.part<JobsStalled>().since;
    if (!stalled)
        since = 0;
    else if (since == 0)
        since = desk.estate.micros();
}

}  // namespace

bool admit_jobs(Desk& desk, RoundBounds bounds) {
    forget_ways(desk);
    const Order& order = job_queues(desk).order();
    Going& going = desk.live.part<Going>();
    ++desk.live.part<RoundCount>().pieces;
    if (!going.round || going.order != &order) {
        going = {.order = &order};
        going.round.emplace(order.round(desk.estate.micros()));
    }
    const std::set<std::string> kept = room_is_kept_for(desk);
    while (const auto turn = going.round->next()) {
        const std::string id = JobQueues::job_of(turn->id);
        going.offered = true;
        const bool is_kept = kept.contains(id);
        if (is_kept) going.asked.insert(id);
        if (!is_kept && going.without_room.contains(asks_of(desk, going, *turn))) {
            going.round->refuse_kind();
            bounds.refusals -= without_room(desk, going, id, *turn);
            if (--bounds.looks <= 0 || bounds.refusals <= 0) return true;
            continue;
        }
        if (const auto admitted = admit_next(desk, id); !admitted) {
            bounds.refusals -= refused(desk, going, id, *turn, admitted.error());
            if (bounds.refusals <= 0) return true;
            continue;
        }
        job_queues(desk).note_admitted(id);
        going.round->admit();
        ++desk.live.part<JobCounts>().admitted;
        going.admitted = true;
        if (--bounds.admissions == 0) return true;
    }
    const bool again =
        admit_kept(desk, going.asked) || going.admitted;  // Of an array more may have their turn.
    reserve_room(desk, desk.estate.jobs.find(going.oldest));
    note_stalled(desk, going.offered && !again);
    going = {};
    ++desk.live.part<RoundCount>().rounds;
    return again;
}

}  // namespace hostler::master
