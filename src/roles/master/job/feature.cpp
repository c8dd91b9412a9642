#include "roles/master/state/feature.h"
#include "core/signal.h"
#include "roles/master/job/counts.h"
#include "roles/master/job/follow.h"
#include "roles/master/job/jobs.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/round.h"
#include "roles/master/job/settings.h"
#include "roles/master/leader/term.h"
#include "roles/master/state/jobs_stalled.h"

namespace hostler::master {

void add_jobs(Api& service);
void add_queues(Api& service);

namespace {

constexpr ApiPart job_api[] = {add_jobs, add_queues};

constexpr std::size_t jobs_at_once = 64;

// What tells the task of a term that there is work.
struct Wake {
    bool due = false;
    Signal changed;
    void up() {
        due = true;
        changed.notify_all();
    }
};
Wake& wake(Term& term) {
    return term.part<Wake>([] { return std::make_shared<Wake>(); });
}

// What a piece of work came to.
struct Piece {
    bool more = false;  // There is more to do.
    bool fruitless = true;
    Duration took{};
};

Piece work_on_jobs(Term& term) {
    if (term.read_only()) return {};
    Desk& desk = term.desk("master");
    JobCounts& counts = desk.live.part<JobCounts>();
    const std::uint64_t admitted = counts.admitted;
    const Instant began = term.ports().timers.now();
    bool more = follow_jobs(desk, term.ports().timers.now(), jobs_at_once);
    if (job_queues(desk).order().waiting_count() > 0)
        more = admit_jobs(desk) || more;
    else
        desk.live.part<JobsStalled>() = {};
    more = archive_jobs(desk) || more;
    const Duration took = term.ports().timers.now() - began;
    counts.worked += took;
    term.commit_then(nullptr);
    return {.more = more, .fruitless = counts.admitted == admitted, .took = took};
}

// In pieces that leave the estate's thread to others. Each submission wakes it: while no job finds room, it
// takes a fifth of the thread.
Task<> run_jobs(Term& term) {
    constexpr Duration pause_of_many = std::chrono::milliseconds{5},
                       pause_max = std::chrono::milliseconds{250};
    constexpr int fruitless_pause = 4;  // Times what it took.
    while (!term.ended()) {
        const Piece piece = work_on_jobs(term);
        Duration pause = piece.more ? pause_of_many : Duration{};
        if (piece.fruitless) pause = std::max(pause, std::min(piece.took * fruitless_pause, pause_max));
        if (pause > Duration{}) CO_TRY(co_await sleep(term.ports().timers, pause));
        if (piece.more) continue;
        while (!wake(term).due) CO_TRY(co_await wake(term).changed.wait());
        wake(term).due = false;
    }
    co_return Result<>{};
}

// Time limits and retries come due by themselves; what was used is written down now and then.
Task<> tick(Term& term) {
    constexpr int seconds_between_stores = 60;
    for (int second = 1; !term.ended(); ++second) {
        CO_TRY(co_await sleep(term.ports().timers, std::chrono::seconds{1}));
        if (second % seconds_between_stores == 0 && !term.read_only()) {
            store_use(term.desk("master"), jobs_at_once);
            term.commit_then(nullptr);
        }
        wake(term).up();
    }
    co_return Result<>{};
}

void look_at(Term& term, std::span<const Touched> touched) {
    for (const Touched& one : touched) {
        const bool is_job = one.kind == Kind<Job>::name;
        const Instance* instance =
            one.kind == Kind<Instance>::name ? term.look().estate.instances.find(one.id) : nullptr;
        if (is_job || (instance && instance->owner)) return wake(term).up();
    }
}

}  // namespace

extern const Feature job_feature{
    .name = "job",
    .api = job_api,
    .start =
        [](Term& term) {
            term.tasks().start("jobs", run_jobs(term));
            term.tasks().start("job clock", tick(term));
        },
    .published = look_at,
};

}  // namespace hostler::master
