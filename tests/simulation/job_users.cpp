#include "job_users.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "roles/master/job/jobs.h"
#include "roles/master/job/queues.h"

namespace hostler::simulation {

namespace {

std::string text_in(const std::string& body, const char* name) {
    boost::system::error_code wrong;
    const auto json = boost::json::parse(body, wrong);
    if (wrong || !json.is_object()) return {};
    const auto* value = json.as_object().if_contains(name);
    return value && value->is_string() ? std::string{value->as_string()} : std::string{};
}

Duration up_to(sim::Dice& dice, Duration most) {
    return Duration{static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(most.count())))};
}

}  // namespace

JobUsers::JobUsers(Cloud& cloud) : cloud_(cloud), dice_(cloud.dice.fork("job users")) {
    for (const char* tenant : tenants)
        for (const char* name : {"ann", "bob"}) {
            const std::string full = fmt::format("{}-{}", name, std::string_view{tenant}.substr(0, 4));
            users_.push_back({.tenant = tenant, .name = full, .dice = dice_.fork(full)});
        }
}

void JobUsers::start() {
    cloud_.on_rewind.push_back([this](const Rewind& lost) { forget(lost); });
    cloud_.clients.start("operator of queues", watch_over(operate()));
    for (JobUser& user : users_) cloud_.clients.start("job user", watch_over(live(user)));
}

Task<> JobUsers::watch_over(Task<> task) {
    ++busy_;
    auto ended = co_await std::move(task);
    --busy_;
    co_return ended;
}

Task<JobUsers::Answer> JobUsers::ask(std::string key, std::string method, std::string target,
                                     std::string body, std::string idempotency) {
    bool unsure = false;
    while (true) {
        const Instant asked = cloud_.world.timers.now();
        const auto answer = co_await cloud_.call(key, method, target, body, idempotency);
        if (!answer && answer.error().code == Code::cancelled) co_return std::unexpected(answer.error());
        const bool old = cloud_.rewound_since(asked) ||
                         (answer && (method == "GET" || answer->status >= 300) && cloud_.may_be_old(asked));
        if (answer && answer->status < 500 && answer->status != 429 && !old)
            co_return Answer{answer->status, answer->body, unsure};
        unsure = true;
        CO_TRY(co_await sleep(cloud_.world.timers, 2s));
    }
}

// A shape, a key for each user, guarantees; then now and then a limit or a weight.
Task<> JobUsers::operate() {
    const std::string root{Cloud::operator_key};
    (void)CO_TRY(co_await ask(
        root, "POST", "/v1/specs",
        fmt::format(R"({{"name":"{}","cpu":"4","memory":"16Gi","gpuType":"H100 SXM5 80GB","gpuNum":1}})",
                    spec)));
    for (JobUser& user : users_) {
        const Answer key =
            CO_TRY(co_await ask(root, "POST", "/v1/api-keys",
                                fmt::format(R"({{"name":"{}","tenantID":"{}"}})", user.name, user.tenant)));
        user.secret = text_in(key.body, "secret");
        cloud_.callers[user.secret] = user.name;
    }
    for (std::size_t i = 0; i < tenants.size(); ++i)
        (void)CO_TRY(co_await ask(
            root, "PUT", "/v1/queues",
            fmt::format(R"({{"tenantID":"{}","guaranteed":{{"gpus":{}}}}})", tenants[i], guaranteed[i])));
    ready_ = true;
    const std::string of = fmt::format(R"("tenantID":"{}","project":"default")", tenants[1]);
    while (!calm_) {
        CO_TRY(co_await sleep(cloud_.world.timers, up_to(dice_, 40s)));
        (void)CO_TRY(co_await ask(root, "PUT", "/v1/queues",
                                  fmt::format(R"({{{},"weight":{},"most":{{"gpus":{}}}}})", of,
                                              1 + dice_.below(3), 2 + dice_.below(6))));
        CO_TRY(co_await sleep(cloud_.world.timers, up_to(dice_, 20s)));
        (void)CO_TRY(co_await ask(root, "DELETE", "/v1/queues", "{" + of + "}"));
    }
    co_return Result<>{};
}

Task<> JobUsers::live(JobUser& user) {
    while (!ready_) CO_TRY(co_await sleep(cloud_.world.timers, 1s));
    while (!calm_) {
        CO_TRY(co_await sleep(cloud_.world.timers, up_to(user.dice, 10s)));
        if (!calm_) CO_TRY(co_await act(user));
    }
    for (const auto& [name, wanted] : user.jobs)
        if (wanted.may_be_held) CO_TRY(co_await hold(user, name, false));
    co_return Result<>{};
}

Task<> JobUsers::act(JobUser& user) {
    std::string some;
    if (!user.jobs.empty())
        some = std::next(user.jobs.begin(), static_cast<std::ptrdiff_t>(user.dice.below(user.jobs.size())))
                   ->first;
    const auto what = user.dice.below(10);
    if (some.empty() || what < 5) {
        if (user.made < jobs_max) CO_TRY(co_await submit(user));
        co_return Result<>{};
    }
    switch (what) {
        case 5: CO_TRY(co_await cancel(user, some)); break;
        case 6: CO_TRY(co_await hold(user, some, user.dice.chance(0.5))); break;
        case 7: CO_TRY(co_await update(user, some)); break;
        default: CO_TRY(co_await look(user, some)); break;
    }
    co_return Result<>{};
}

std::string JobUsers::new_job(JobUser& user, const std::string& name) {
    sim::Dice& dice = user.dice;
    const auto below = [&](std::uint64_t most) { return static_cast<int>(dice.below(most)); };
    const int code = dice.chance(0.2) ? 7 : 0;
    const int works_s = dice.chance(0.5) ? 2 + below(25) : 70 + below(60);
    constexpr std::array<const char*, 8> programs = {"app:1", "app:1", "app:1",      "app:1",
                                                     "app:1", "app:1", "stubborn:1", "refused:1"};
    std::string more;
    switch (below(5)) {
        case 0: more += fmt::format(R"(,"tasks":{})", 1 + below(3)); break;
        case 1:
        case 2: more += R"(,"tasks":2,"gang":true)"; break;
        case 3: more += fmt::format(R"(,"array":"0-{}%{}")", below(5), 1 + below(2)); break;
        default: break;
    }
    if (dice.chance(0.3)) more += fmt::format(R"(,"timeLimitSeconds":{})", 5 + below(100));
    if (dice.chance(0.4)) more += fmt::format(R"(,"retries":{})", 1 + below(2));
    if (dice.chance(0.3)) more += fmt::format(R"(,"priority":{})", 1 + below(3));
    constexpr std::array<const char*, 3> ways = {"succeeded", "failed", "ended"};
    if (!user.jobs.empty() && dice.chance(0.2))
        more += fmt::format(R"(,"after":[{{"job":"{}","when":"{}"}}])", user.jobs.rbegin()->first,
                            ways[dice.below(ways.size())]);
    const bool holds = dice.chance(0.1);
    if (holds) more += R"(,"hold":true)";
    user.jobs[name].may_be_held = holds;
    return fmt::format(R"({{"name":"{}","image":"registry.example/{}","cmd":"work {} {}","specName":"{}",)"
                       R"("labels":{{"{}":"{}"}},"stopGraceSeconds":{}{}}})",
                       name, programs[dice.below(programs.size())], works_s, code, spec, key_label, name,
                       2 + below(5), more);
}

Task<> JobUsers::submit(JobUser& user) {
    const std::string name = fmt::format("{}-{}", user.name, ++user.made);
    std::string body = new_job(user, name);
    user.jobs[name].body = std::move(body);
    ++submitted;
    const bool together = user.dice.chance(0.15), afterwards = user.dice.chance(0.2);
    if (together) ++sent_again, cloud_.clients.start("job user", watch_over(send(user, name)));
    CO_TRY(co_await send(user, name));
    if (!afterwards) co_return Result<>{};
    CO_TRY(co_await sleep(cloud_.world.timers, up_to(user.dice, 40s)));
    ++sent_again;
    co_return co_await send(user, name);
}

// Whoever sends it again under the same key is told of the same job.
Task<> JobUsers::send(JobUser& user, std::string name) {
    const Instant asked = cloud_.world.timers.now();
    const Answer answer = CO_TRY(co_await ask(user.secret, "POST", "/v1/jobs", user.jobs[name].body, name));
    WantedJob& wanted = user.jobs[name];
    if (answer.status == 201) {
        const std::string id = text_in(answer.body, "id");
        if (!wanted.id.empty() && wanted.id != id && !cloud_.rewound_since(asked))
            cloud_.found.report(Invariant::job_key,
                                fmt::format("{} is {} and, when it is sent again, {}", name, wanted.id, id));
        wanted.id = id;
        wanted.submit = Wish::acknowledged;
        wanted.told = cloud_.world.timers.now();
    } else if (wanted.submit == Wish::asked && !answer.unsure && answer.status != 409) {
        wanted.submit = Wish::refused;
        wanted.told = cloud_.world.timers.now();
    }
    co_return Result<>{};
}

Task<> JobUsers::cancel(JobUser& user, std::string name) {
    WantedJob& wanted = user.jobs.at(name);
    if (wanted.id.empty()) co_return Result<>{};
    wanted.cancel_asked = true;
    const Answer answer =
        CO_TRY(co_await ask(user.secret, "POST", fmt::format("/v1/jobs/{}/cancel", wanted.id)));
    if (answer.status != 200) co_return Result<>{};
    ++cancelled;
    wanted.cancel_acknowledged = true;
    wanted.cancel_told = cloud_.world.timers.now();
    co_return Result<>{};
}

Task<> JobUsers::hold(JobUser& user, std::string name, bool on) {
    WantedJob& wanted = user.jobs.at(name);
    if (on) wanted.may_be_held = true;
    const std::string which = wanted.id.empty() ? name : wanted.id;
    const Answer answer = CO_TRY(
        co_await ask(user.secret, "POST", fmt::format("/v1/jobs/{}/{}", which, on ? "hold" : "release")));
    if (!on && answer.status < 300) wanted.may_be_held = false;
    co_return Result<>{};
}

Task<> JobUsers::update(JobUser& user, std::string name) {
    const WantedJob& wanted = user.jobs.at(name);
    if (wanted.id.empty()) co_return Result<>{};
    const std::string body = user.dice.chance(0.5)
                                 ? fmt::format(R"({{"priority":{}}})", user.dice.below(4))
                                 : fmt::format(R"({{"timeLimitSeconds":{}}})", 5 + user.dice.below(100));
    (void)CO_TRY(co_await ask(user.secret, "PATCH", "/v1/jobs/" + wanted.id, body));
    co_return Result<>{};
}

Task<> JobUsers::look(JobUser& user, std::string name) {
    const WantedJob& wanted = user.jobs.at(name);
    if (wanted.id.empty()) co_return Result<>{};
    constexpr std::array<const char*, 4> targets = {"", "/explain", "/events", "/logs?tail=10"};
    const std::string target =
        fmt::format("/v1/jobs/{}{}", wanted.id, targets[user.dice.below(targets.size())]);
    const Answer answer = CO_TRY(co_await ask(user.secret, "GET", target));
    if (answer.status == 404 && wanted.submit == Wish::acknowledged && !target.ends_with("10"))
        cloud_.found.report(Invariant::durable,
                            fmt::format("job {} was acknowledged, and {} is 404", name, target));
    (void)CO_TRY(co_await ask(user.secret, "GET", user.dice.chance(0.5) ? "/v1/jobs" : "/v1/queues"));
    co_return Result<>{};
}

void JobUsers::forget(const Rewind& lost) {
    for (JobUser& user : users_)
        for (auto& [name, wanted] : user.jobs) {
            if (wanted.told >= lost.since) wanted.submit = Wish::asked, wanted.id.clear();
            if (wanted.cancel_told >= lost.since) wanted.cancel_acknowledged = false;
        }
}

void JobUsers::check(const master::Term& term) const {
    const auto report = [&](const std::string& text) { cloud_.found.report(Invariant::durable, text); };
    for (const JobUser& user : users_)
        for (const auto& [name, wanted] : user.jobs) {
            const Job* job = wanted.id.empty() ? master::find_job(term.look(), user.tenant, "default", name)
                                               : term.look().estate.jobs.find(wanted.id);
            if (wanted.submit == Wish::acknowledged && (!job || job->name != name))
                report(fmt::format("job {} ({}) was acknowledged and is gone", name, wanted.id));
            if (wanted.submit == Wish::refused && job)
                report(fmt::format("job {} was refused, and is there", name));
            if (!job) continue;
            if (wanted.cancel_acknowledged && !is_final(job->phase))
                report(fmt::format("job {} was cancelled, and is {}", name, master::text_of(job->phase)));
            if (!wanted.cancel_asked && job->phase == JobPhase::cancelled)
                report(fmt::format("job {} is cancelled, and that was not asked for", name));
        }
}

std::string JobUsers::unsettled(const master::Term& term) const {
    for (const auto& [id, job] : term.look().estate.jobs.all()) {
        if (is_final(job.phase)) continue;
        const Error* why = master::job_queues(term.look()).refused(id);
        return fmt::format("job {} ({}) is {} with {} elements that wait: {}; {}", job.name, id,
                           master::text_of(job.phase), job.elements() - job.next + std::ssize(job.again),
                           job.message, why ? why->message : "it was not refused");
    }
    return {};
}

}  // namespace hostler::simulation
