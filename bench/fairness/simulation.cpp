#include "bench/fairness/simulation.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "domain/order/round.h"
#include "domain/order/victims.h"

namespace hostler::bench {

namespace {

struct Job {
    const TraceJob* trace = nullptr;
    std::int64_t done_us = 0;    // Work.
    std::int64_t ran_us = 0;     // With resuming, of the runs before this one.
    std::int64_t resume_us = 0;  // Still to pass before it works.
    std::int64_t started_us = -1;
    bool runs() const { return started_us >= 0; }
};

class Cluster;

class Policy {
public:
    virtual ~Policy() = default;
    virtual void arrived(std::size_t) {}
    virtual void ended(std::size_t) {}
    virtual void decide(Cluster&) = 0;
};

class Cluster {
public:
    Cluster(const JobTrace& trace, const World& world) : world_(world), free_(world.gpus) {
        for (const TraceJob& job : trace.jobs) jobs_.push_back({&job});
        result_.jct_us.resize(jobs_.size());
    }

    Run run(Policy& policy) {
        std::size_t arrived = 0;
        for (std::size_t left = jobs_.size(); left > 0;) {
            for (; arrived < jobs_.size() && jobs_[arrived].trace->arrival_us <= now_; ++arrived) {
                waiting_.push_back(arrived);
                policy.arrived(arrived);
            }
            policy.decide(*this);
            std::int64_t next = std::numeric_limits<std::int64_t>::max();
            if (arrived < jobs_.size()) next = jobs_[arrived].trace->arrival_us;
            if (!waiting_.empty()) next = std::min(next, (now_ / world_.round_us + 1) * world_.round_us);
            for (const std::size_t at : running_) next = std::min(next, now_ + to_go(jobs_[at]));
            advance(next);
            for (const std::size_t at : std::vector{running_}) {
                if (to_go(jobs_[at]) > 0) continue;
                stop(at);
                result_.jct_us[at] = now_ - jobs_[at].trace->arrival_us;
                policy.ended(at);
                --left;
            }
        }
        return result_;
    }

    void start(std::size_t at) {
        Job& job = jobs_[at];
        free_ -= job.trace->gpus;
        std::erase(waiting_, at);
        running_.push_back(at);
        job.started_us = now_;
        job.resume_us = job.ran_us > 0 ? world_.resume_us : 0;
    }
    void preempt(std::size_t at) {
        stop(at);
        waiting_.push_back(at);
        ++result_.preemptions;
    }

    std::int64_t now() const { return now_; }
    int free() const { return free_; }
    int gpus() const { return world_.gpus; }
    const Job& job(std::size_t at) const { return jobs_[at]; }
    std::int64_t ran_us(std::size_t at) const {
        return jobs_[at].ran_us + (jobs_[at].runs() ? now_ - jobs_[at].started_us : 0);
    }
    const std::vector<std::size_t>& waiting() const { return waiting_; }
    const std::vector<std::size_t>& running() const { return running_; }

private:
    static std::int64_t to_go(const Job& job) {
        return job.resume_us + job.trace->exclusive_us - job.done_us;
    }

    void advance(std::int64_t to) {
        for (const std::size_t at : running_) {
            Job& job = jobs_[at];
            const std::int64_t resumed = std::min(job.resume_us, to - now_);
            job.resume_us -= resumed;
            job.done_us += to - now_ - resumed;
        }
        now_ = to;
    }
    void stop(std::size_t at) {
        Job& job = jobs_[at];
        job.ran_us += now_ - job.started_us;
        job.started_us = -1;
        free_ += job.trace->gpus;
        std::erase(running_, at);
    }

    World world_;
    std::vector<Job> jobs_;
    std::vector<std::size_t> waiting_, running_;
    std::int64_t now_ = 0;
    int free_ = 0;
    Run result_;
};

class Fifo : public Policy {
public:
    void decide(Cluster& cluster) override {
        while (!cluster.waiting().empty() &&
               cluster.job(cluster.waiting().front()).trace->gpus <= cluster.free())
            cluster.start(cluster.waiting().front());
    }
};

class Las : public Policy {
public:
    explicit Las(std::int64_t round_us) : round_us_(round_us) {}
    void decide(Cluster& cluster) override {
        std::vector<std::size_t> all = cluster.waiting();
        if (cluster.now() % round_us_ == 0)
            all.insert(all.end(), cluster.running().begin(), cluster.running().end());
        std::ranges::sort(all, {}, [&](std::size_t at) {
            return std::pair(cluster.ran_us(at) * cluster.job(at).trace->gpus, at);
        });
        std::vector<std::size_t> chosen;
        int free = cluster.gpus();
        for (const std::size_t at : cluster.running())
            if (std::ranges::find(all, at) == all.end()) free -= cluster.job(at).trace->gpus;
        for (const std::size_t at : all)
            if (const int gpus = cluster.job(at).trace->gpus; gpus <= free) {
                free -= gpus;
                chosen.push_back(at);
            }
        for (const std::size_t at : all)
            if (cluster.job(at).runs() && std::ranges::find(chosen, at) == chosen.end()) cluster.preempt(at);
        for (const std::size_t at : chosen)
            if (!cluster.job(at).runs()) cluster.start(at);
    }

private:
    std::int64_t round_us_;
};

// Each job is of another user, all of one project.
class Ordered : public Policy {
public:
    Ordered(const JobTrace& trace, const World& world, const OrderSettings& settings) : trace_(trace) {
        HOSTLER_ASSERT(order_.set_capacity({world.gpus * 1'000, 0, 0}));
        HOSTLER_ASSERT(order_.set_half_life(settings.half_life_s, 0));
        rules_.slicing = settings.slicing;
        for (std::size_t at = 0; at < trace.jobs.size(); ++at) numbers_[trace.jobs[at].id] = at;
    }
    void arrived(std::size_t at) override { wait(at, 0); }
    void ended(std::size_t at) override { ended_.push_back(at); }

    void decide(Cluster& cluster) override {
        for (const std::size_t at : ended_) order_.end(trace_.jobs[at].id, cluster.now());
        ended_.clear();
        Round round = order_.round(cluster.now());
        while (const auto job = round.next())
            if (make_room(cluster, *job)) {
                start(cluster, *job);
                round.admit();
            }
    }

private:
    QueuePath path(std::size_t at) const { return {"tenant", "project", "user-" + trace_.jobs[at].id}; }
    static Amount size(const TraceJob& job) { return {job.gpus * 1'000, 0, 0}; }

    void wait(std::size_t at, std::int64_t ran_us) {
        const TraceJob& job = trace_.jobs[at];
        HOSTLER_ASSERT(order_.wait({job.id, path(at), 0, job.arrival_us, size(job), ran_us}));
    }
    void start(Cluster& cluster, const Waiting& job) {
        const std::size_t at = numbers_.at(job.id);
        HOSTLER_ASSERT(
            order_.start({job.id, job.path, 0, job.size, cluster.now(), true, job.since, job.ran}));
        cluster.start(at);
    }
    bool make_room(Cluster& cluster, const Waiting& job) {
        const auto needed = job.size.gpu_milli / 1'000;
        const Enough enough = [&](const std::vector<Victim>& gone) {
            std::int64_t free = cluster.free();
            for (const Victim& victim : gone) free += trace_.jobs[numbers_.at(victim.id)].gpus;
            return free >= needed;
        };
        const auto gone = victims(order_, job.id, rules_, cluster.now(), enough);
        if (!gone) return false;
        for (const Victim& victim : *gone) {
            const std::size_t at = numbers_.at(victim.id);
            cluster.preempt(at);
            order_.end(victim.id, cluster.now());
            wait(at, cluster.ran_us(at));
        }
        return true;
    }

    const JobTrace& trace_;
    Order order_;
    EvictionRules rules_;
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::size_t> ended_;
};

}  // namespace

Run run_order(const JobTrace& trace, const World& world, const OrderSettings& settings) {
    Ordered policy{trace, world, settings};
    return Cluster{trace, world}.run(policy);
}

Run run_fifo(const JobTrace& trace, const World& world) {
    Fifo policy;
    return Cluster{trace, world}.run(policy);
}

Run run_las(const JobTrace& trace, const World& world) {
    Las policy{world.round_us};
    return Cluster{trace, world}.run(policy);
}

}  // namespace hostler::bench
