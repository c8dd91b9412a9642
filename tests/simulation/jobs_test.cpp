// Jobs, gangs and preemption while the storm is over them; then each checker of them finds the mistake that
// it is there for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/types_host.h"
#include "job_users.h"
#include "mistakes.h"
#include "roles/master/drain/drain.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/job/follow.h"
#include "roles/master/job/preempt.h"
#include "roles/master/job/queues.h"
#include "roles/master/testing/job_rig.h"
#include "seeds.h"

namespace hostler::simulation {
namespace {

Case with_jobs(Case which) {
    which.jobs = true;
    which.hosts = 3;
    which.tenants = 1;
    which.storm = 200s;
    which.calm_max = 20min;
    return which;
}

struct JobsDone {
    int jobs = 0, cancelled = 0, sent_again = 0, evictions = 0;
};

JobsDone expect_jobs_settle(
    const Case& like, std::uint64_t default_count,
    const std::function<Mistakes(std::uint64_t)>& with = [](auto) { return Mistakes{}; }) {
    const Seeds range = seeds(default_count);
    JobsDone sum;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        Case which = with_jobs(like);
        which.seed = seed;
        const StormReport report = ride(which, with(seed));
        EXPECT_FALSE(report.found.any())
            << report.found.text() << "To see it again: ./dev sim --case " << text_of(which);
        if (report.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : report.story) fmt::print("{}\n", line);
        sum.jobs += report.jobs;
        sum.cancelled += report.cancelled;
        sum.sent_again += report.sent_again;
        sum.evictions += report.evictions;
    }
    fmt::print("{} seeds: {} jobs, {} cancelled, {} sent again, {} elements made room\n",
               range.last - range.first + 1, sum.jobs, sum.cancelled, sum.sent_again, sum.evictions);
    return sum;
}

TEST(Jobs, InTheCalmAllEnd) {
    const JobsDone sum = expect_jobs_settle({.weather = Weather::calm}, 1);
    EXPECT_GT(sum.jobs, 0);
    EXPECT_GT(sum.evictions, 0) << "no job had to make room: nothing was tried";
}

TEST(Jobs, DeathsLoseNoJob) { expect_jobs_settle({.weather = Weather::deaths}, 1); }

TEST(Jobs, EverythingSettles) { expect_jobs_settle({}, 1); }

TEST(Jobs, SeveralMastersAgreeOnThem) { expect_jobs_settle({.masters = 3}, 1); }

// An operator drains hosts and lets them go a while later.
Mistakes drained_now_and_then(std::uint64_t seed) {
    constexpr int drains_of_a_storm = 4;  // The calm has to come.
    Mistakes none;
    auto dice = std::make_shared<sim::Dice>(sim::Dice{seed}.fork("drains"));
    none.each_second = [dice, begun = 0](Cloud&, master::Term& term) mutable {
        master::Desk& desk = term.desk("operator");
        for (const auto& [host, drain] : std::map{desk.estate.drains.all().as_map()})
            if (drain.empty_at != 0 || dice->chance(0.05)) (void)master::undrain_host(desk, host);
        if (begun < drains_of_a_storm && dice->chance(0.03))
            for (const auto& [host, row] : std::map{desk.estate.hosts.all().as_map()})
                if (dice->chance(0.3) && begun < drains_of_a_storm &&
                    master::drain_host(desk, host,
                                       {.host = host, .notice_seconds = dice->chance(0.5) ? 0 : 10}))
                    ++begun;
        term.commit_then(nullptr);
    };
    return none;
}

TEST(Jobs, HostsAreDrainedUnderThem) {
    expect_jobs_settle({.weather = Weather::deaths}, 1, drained_now_and_then);
}

// A rule that is wrong for jobs; true: it has been applied. It is applied a few times at most.
using WrongJob = std::function<bool(master::Desk&, const Job&)>;

// Rides until the checker says so. 0: it never does.
std::uint64_t seed_that_finds(Invariant invariant, const std::string& saying, const WrongJob& wrong,
                              Duration calm_max = 1s) {
    constexpr std::uint64_t tries = 4;
    constexpr int times_max = 1000;
    for (std::uint64_t seed = 1; seed <= tries; ++seed) {
        auto times = std::make_shared<int>(0);
        Mistakes mistakes;
        mistakes.only = invariant;
        mistakes.each_second = [times, wrong](Cloud&, master::Term& term) {
            master::Desk& desk = term.desk("mistake");
            std::vector<Job> jobs;
            for (const auto& [id, job] : desk.estate.jobs.all()) jobs.push_back(job);
            for (const Job& job : jobs)
                if (*times < times_max && wrong(desk, job)) ++*times;
            term.commit_then(nullptr);
        };
        Case which = with_jobs({.seed = seed, .weather = Weather::calm});
        which.calm_max = calm_max;
        const StormReport report = ride(which, std::move(mistakes));
        for (const Finding& finding : report.found.all())
            if (finding.invariant == invariant && finding.text.contains(saying)) {
                fmt::print("found by seed {}: {}\n", seed, finding.text.substr(0, 160));
                return seed;
            }
    }
    return 0;
}

TEST(JobMistakes, AGangOfWhichOneTaskHasNoPlace) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        if (!job.spec.gang || job.runs.empty()) return false;
        const Instance* task = desk.estate.instances.find(job.runs[0].instances.back());
        if (!task || task->claim.empty() || is_final(task->phase)) return false;
        desk.estate.release(task->claim);
        desk.estate.instances.edit(std::string{task->id}).claim.clear();
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::gang, "1 of 2 tasks", wrong), 0u);
}

// Silence is taken for death: the next attempt begins while the last one runs.
TEST(JobMistakes, AnElementThatIsTriedAgainTooEarly) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        if (job.runs.empty() || job.runs[0].started_at == 0 || is_final(job.phase)) return false;
        Job& row = desk.estate.jobs.edit(job.id);
        const JobRun run = row.runs[0];
        row.runs.erase(row.runs.begin());
        row.ends.push_back({.position = run.position, .attempt = run.attempt, .reason = "host_lost"});
        row.again.insert(row.again.begin(), {.position = run.position, .attempt = run.attempt + 1});
        if (row.runs.empty()) row.phase = JobPhase::pending;
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::task_once, "runs twice", wrong), 0u);
    EXPECT_NE(seed_that_finds(Invariant::task_once, "does not know it", wrong), 0u);
}

TEST(JobMistakes, ATaskThatOutlivesItsCancelledJob) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        if (job.phase != JobPhase::running) return false;
        Job& row = desk.estate.jobs.edit(job.id);
        row.phase = JobPhase::cancelled;
        row.ended_at = desk.estate.micros();
        row.runs.clear(), row.again.clear();
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::job_over, "is cancelled, and its task", wrong), 0u);
}

TEST(JobMistakes, RetriesThatAreNotCounted) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        bool any = false;
        if (is_final(job.phase)) return any;
        for (JobRun& run : desk.estate.jobs.edit(job.id).runs) any |= std::exchange(run.failures, -9) != -9;
        return any;
    };
    EXPECT_NE(seed_that_finds(Invariant::job_life, "failed", wrong), 0u);
}

TEST(JobMistakes, AJobThatRisesFromTheDead) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        if (job.phase != JobPhase::failed) return false;
        desk.estate.jobs.edit(job.id).phase = JobPhase::pending;
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::job_life, "was failed and is pending", wrong), 0u);
}

TEST(JobMistakes, AJobThatNeverHasItsTurn) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        if (is_final(job.phase) || job.held) return false;
        desk.estate.jobs.edit(job.id).held = true;
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::settled, "elements that wait", wrong, 3min), 0u);
}

TEST(JobMistakes, AKeyThatIsForgotten) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        Job twice = job;
        if (job.phase != JobPhase::pending || job.created_at + 5'000'000 < desk.estate.micros()) return false;
        twice.id = new_id(desk.random, "j");
        desk.estate.jobs.add(std::move(twice));
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::job_key, "under the key", wrong), 0u);
}

TEST(JobMistakes, AnElementThatMakesRoomWithinItsGuarantee) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        if (job.runs.empty() || is_final(job.phase) || !job.runs[0].ending.empty()) return false;
        for (const auto& [id, other] : desk.estate.jobs.all()) {
            if (other.phase != JobPhase::pending || other.tenant == job.tenant) continue;
            const Instance* task = desk.estate.instances.find(job.runs[0].instances[0]);
            if (!task) return false;
            const std::string element = fmt::format("{}/{}", job.id, job.runs[0].position);
            master::make_way(desk, std::string{id}, {{{element, Eviction::reclaim}}, {task->host}});
            return true;
        }
        return false;
    };
    EXPECT_NE(seed_that_finds(Invariant::evicted, "that are guaranteed to it", wrong), 0u);
}

// Its priority rises above that of the job that it had to make room for. That takes minutes, so only the
// checker itself is shown it.
struct InTurn : master::testing::JobRig {};
TEST_F(InTurn, JobsThatEvictEachOther) {
    host("a", "nj", 1);
    Findings found;
    QueueCheck check;
    std::array<std::string, 2> jobs{submit(wanted("a")), submit(wanted("b"))};
    for (std::int64_t turn = 0; turn < 3; ++turn) {
        go_on();
        all_run(jobs[0]);
        pass(100);
        EXPECT_FALSE(found.any()) << found.text();
        check.look(desk, 1, found);
        estate.jobs.edit(jobs[1]).priority = turn + 1;
        go_on();
        check.look(desk, 1, found);
        all_gone();
        std::swap(jobs[0], jobs[1]);
    }
    EXPECT_EQ(check.evictions, 3);
    EXPECT_TRUE(found.text().contains("in turn")) << found.text();
}

// What waits is not in the order.
bool forget_to_order(master::Desk& desk, const Job& job) {
    auto& order = const_cast<Order&>(master::job_queues(desk).order());
    for (int i = 0; i < master::JobQueues::side_by_side; ++i) order.withdraw(fmt::format("{}#{}", job.id, i));
    return true;
}

TEST(JobMistakes, AGuaranteeThatIsForgotten) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        return job.tenant == JobUsers::tenants[0] && forget_to_order(desk, job);
    };
    EXPECT_NE(seed_that_finds(Invariant::guaranteed, "asks for more", wrong, 2min), 0u);
}

TEST(JobMistakes, AShareThatIsNotGivenBack) {
    const auto wrong = [](master::Desk& desk, const Job& job) {
        if (job.runs.empty() || job.phase != JobPhase::running) return false;
        auto& order = const_cast<Order&>(master::job_queues(desk).order());
        order.end(fmt::format("{}/{}", job.id, job.runs[0].position), desk.estate.micros());
        return true;
    };
    EXPECT_NE(seed_that_finds(Invariant::shares, "are counted with", wrong), 0u);
}

// One gang that needs a whole host, behind a stream of small jobs, which have time limits or not.
class Stream {
public:
    Stream(std::uint64_t seed, bool limits, Mistakes mistakes = {})
        : limits_(limits), cloud_{seed, std::move(mistakes), 1, 4} {
        // Room is kept for it when that is free first by time limits, or in ten minutes; and what runs there
        // ends.
        cloud_.queues.starved_after = limits ? 150s : 12min;
    }

    // Whether the gang has run to its end, with what was found.
    std::pair<bool, Findings> ride(Duration time) {
        if (!cloud_.begin({"small-team", "gang-team"})) return {false, cloud_.found};
        post(std::string{Cloud::operator_key}, "/v1/specs",
             R"({"name":"job-1","cpu":"4","memory":"16Gi","gpuType":"H100 SXM5 80GB","gpuNum":1})");
        constexpr int gang_after = 6;
        int made = 0;
        const Instant began = cloud_.world.timers.now(), until = began + time;
        while (cloud_.world.timers.now() < until && !cloud_.found.any() && !gang_ended()) {
            if (made == gang_after) submit("gang-team", "gang", R"("tasks":4,"gang":true,"cmd":"work 5 0")");
            submit("small-team", fmt::format("small-{}", made),
                   fmt::format(R"("cmd":"work {} 0","timeLimitSeconds":{})", 30 + cloud_.dice.below(30),
                               limits_ ? 60 : 0));
            ++made;
            cloud_.world.run(8s);
        }
        const bool ended = gang_ended();
        if (cloud_.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : cloud_.world.story) fmt::print("{}\n", line);
        fmt::print("{} small jobs in {} s; the gang {}\n", made, (cloud_.world.timers.now() - began) / 1s,
                   ended ? "has run" : "waits");
        cloud_.end();
        return {ended, cloud_.found};
    }

private:
    void post(const std::string& key, const std::string& target, const std::string& body) {
        (void)cloud_.world.ask(cloud_.call(key, "POST", target, body));
    }
    void submit(const std::string& tenant, const std::string& name, const std::string& more) {
        post(cloud_.keys.at(tenant), "/v1/jobs",
             fmt::format(R"({{"name":"{}","image":"registry.example/app:1","specName":"job-1",{}}})", name,
                         more));
    }
    bool gang_ended() {
        const auto term = cloud_.term();
        return term && std::ranges::any_of(term->look().estate.jobs.all(), [](const auto& row) {
                   return row.second.name == "gang" && row.second.phase == JobPhase::succeeded;
               });
    }
    bool limits_;
    Cloud cloud_;
};

TEST(Jobs, NoGangStarvesBehindSmallJobs) {
    for (const bool limits : {true, false}) {
        const auto [ended, found] = Stream{1, limits}.ride(14min);
        EXPECT_FALSE(found.any()) << found.text();
        EXPECT_TRUE(ended);
    }
}

TEST(JobMistakes, AGangWhoseWaitIsForgotten) {
    Mistakes mistakes;
    mistakes.only = Invariant::starved;
    mistakes.each_second = [](Cloud&, master::Term& term) {
        master::Desk& desk = term.desk("mistake");
        for (const auto& [id, job] : std::map{desk.estate.jobs.all().as_map()})
            if (job.spec.gang && job.phase == JobPhase::pending)
                desk.estate.jobs.edit(id).waits_since = desk.estate.micros();
        term.commit_then(nullptr);
    };
    EXPECT_TRUE(Stream(1, true, std::move(mistakes)).ride(14min).second.has(Invariant::starved));
}

}  // namespace
}  // namespace hostler::simulation
