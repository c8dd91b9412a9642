// People who submit jobs and remember what they were told, and the operator who says how queues share.
#pragma once

#include "cloud.h"
#include "tenants.h"

namespace hostler::simulation {

struct WantedJob {
    std::string body;
    std::string id;  // As it was answered; empty: it was not, or not surely.
    Wish submit = Wish::asked;
    Instant told{};
    bool cancel_asked = false;
    bool cancel_acknowledged = false;
    Instant cancel_told{};
    bool may_be_held = false;
};

struct JobUser {
    std::string tenant, name, secret;
    sim::Dice dice{0};
    int made = 0;
    std::map<std::string, WantedJob> jobs;  // By name, which is the idempotency key, too.
};

class JobUsers {
public:
    explicit JobUsers(Cloud& cloud);
    void start();
    // Nothing new from here on; what is held is released, limits of queues are taken away.
    void stop() { calm_ = true; }
    bool done() const { return busy_ == 0; }
    // Compares what was acknowledged with what is.
    void check(const master::Term& term) const;
    std::string unsettled(const master::Term& term) const;  // Only in the calm.

    int submitted = 0, cancelled = 0, sent_again = 0;
    int jobs_max = 7;  // Of each user.

    static constexpr const char* spec = "job-1";
    // The first is guaranteed some GPUs, the second borrows most of what it has.
    static constexpr std::array<const char*, 2> tenants = {"green-team", "gold-team"};
    static constexpr std::array<int, 2> guaranteed = {4, 1};

private:
    struct Answer {
        int status = 0;
        std::string body;
        bool unsure = false;  // An earlier try may have been done.
    };
    Task<> watch_over(Task<> task);
    Task<Answer> ask(std::string key, std::string method, std::string target, std::string body = {},
                     std::string idempotency = {});
    Task<> operate();
    Task<> live(JobUser& user);
    Task<> act(JobUser& user);
    Task<> submit(JobUser& user);
    Task<> send(JobUser& user, std::string name);
    Task<> cancel(JobUser& user, std::string name);
    Task<> hold(JobUser& user, std::string name, bool on);
    Task<> update(JobUser& user, std::string name);
    Task<> look(JobUser& user, std::string name);
    std::string new_job(JobUser& user, const std::string& name);
    void forget(const Rewind& lost);

    Cloud& cloud_;
    sim::Dice dice_;
    std::vector<JobUser> users_;
    bool ready_ = false, calm_ = false;
    int busy_ = 0;
};

}  // namespace hostler::simulation
