#include "roles/master/job/plan.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "api/types_instance.h"
#include "api/types_job.h"
#include "domain/billing/money.h"
#include "roles/master/billing/prices.h"
#include "roles/master/http/gate.h"
#include "roles/master/instance/view.h"
#include "roles/master/job/admit.h"
#include "roles/master/job/expected.h"
#include "roles/master/job/preempt.h"
#include "roles/master/job/queues.h"
#include "roles/master/job/view.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

void show_places(const Desk& desk, const api::Call& call, const std::set<std::string>& hosts,
                 api::JobPlan& plan) {
    std::set<std::string> zones;
    for (const std::string& id : hosts) {
        const Host* host = desk.estate.hosts.find(id);
        if (!host) continue;
        zones.insert(host->zone);
        if (may(call, Permission::host_read, scope_of_provider(host->owner))) plan.hosts.push_back(id);
    }
    plan.zones.assign(zones.begin(), zones.end());
}

// Where its tasks are in the trial, and what these places cost.
void show_tasks(const Desk& desk, const api::Call& call, const std::vector<std::string>& tasks,
                api::JobPlan& plan) {
    std::set<std::string> hosts;
    std::int64_t micros = 0;
    bool priced = authorize_anywhere(call.caller.principal, Permission::price_read);
    for (const std::string& id : tasks) {
        const Instance& task = desk.estate.instances.at(id);
        const Host* host = desk.estate.hosts.find(task.host);
        if (!host) continue;
        hosts.insert(host->id);
        const api::Instance shown = view(desk, task);
        if (!priced || !shown.gpu) continue;
        const Price* price =
            price_now(desk, {shown.gpu->model, host->zone, text_of(trust_of(*host)), isolation_of(*host)});
        priced = price != nullptr;
        if (!priced) continue;
        micros += price->amount_micros * shown.gpu->count;
        plan.currency = price->currency;
    }
    if (priced && plan.currency)
        plan.price_per_hour = money_text(micros);
    else
        plan.currency.reset();
    show_places(desk, call, hosts, plan);
}

std::string_view name_of(Eviction why) {
    switch (why) {
        case Eviction::reclaim: return "reclaim";
        case Eviction::priority: return "priority";
        case Eviction::slice: return "slice";
    }
    broken("an eviction outside its enum", __FILE__, __LINE__);
}

void show_victims(const Desk& desk, const api::Call& call, const Job& job, const std::vector<Victim>& victims,
                  api::JobPlan& plan) {
    using Key = std::tuple<std::string, std::string, std::string, std::string_view>;
    std::map<Key, api::JobVictims> rows;
    std::map<Key, std::set<std::string>> names;
    for (const Victim& victim : victims) {
        const Job* other = desk.estate.jobs.find(JobQueues::job_of(victim.id));
        if (!other) continue;
        const bool named = may(call, Permission::job_read, scope_of(*other));
        Key key{named || other->tenant == job.tenant ? other->tenant : "", named ? other->project : "",
                named ? other->created_by : "", name_of(victim.why)};
        api::JobVictims& row = rows[key];
        ++row.elements;
        row.tasks += other->tasks_of_element();
        if (named) names[key].insert(other->name);
    }
    for (auto& [key, row] : rows) {
        row.tenant_id = std::get<0>(key);
        row.project = std::get<1>(key);
        row.created_by = std::get<2>(key);
        row.why = std::get<3>(key);
        row.jobs.assign(names[key].begin(), names[key].end());
        plan.victims.push_back(std::move(row));
    }
}

std::string victims_text(const std::vector<api::JobVictims>& victims) {
    std::vector<std::string> parts;
    for (const api::JobVictims& one : victims) {
        const std::string count = fmt::format("{} element{}", one.elements, one.elements == 1 ? "" : "s");
        if (!one.jobs.empty())
            parts.push_back(fmt::format("{} of {} ({})", count, fmt::join(one.jobs, ", "), one.created_by));
        else
            parts.push_back(count + (one.tenant_id.empty() ? " of other tenants" : " of other projects"));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string sentence_of(const Job& job, const api::JobPlan& plan, const std::string& why) {
    const std::string which =
        job.elements() == 1 ? "It" : fmt::format("The first of {} elements", job.elements());
    const std::string zones = fmt::format("{}", fmt::join(plan.zones, ", "));
    if (plan.starts_now) {
        std::string text = fmt::format("{} starts now in zone {}.", which, zones);
        if (plan.price_per_hour)
            text += fmt::format(" Its GPUs cost {} {} an hour.", *plan.price_per_hour, *plan.currency);
        return text;
    }
    if (!plan.victims.empty())
        return fmt::format("{} preempts {}, and starts in zone {} when they have ended.", which,
                           victims_text(plan.victims), zones);
    std::string text = fmt::format("{} waits: {}.", which, why);
    if (plan.position.value_or(0) > 0)
        text += fmt::format(" Elements of jobs before it: {}.", *plan.position);
    return text;
}

// Without a full stop: a sentence ends behind it.
std::string stripped(std::string text) {
    while (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace

api::JobPlan plan_of(Desk& desk, const api::Call& call, const Job& job) {
    api::JobPlan plan;
    const auto waits = [&](std::string reason, std::string why) {
        plan.reason = std::move(reason);
        plan.sentence = sentence_of(job, plan, why);
        return plan;
    };
    if (job.held) return waits("held", "it is held until it is released");
    if (dependencies_of(desk, job) == Dependencies::open)
        return waits("waits_for_job", "it begins after another job");
    const Result<> tried = try_element(
        desk, job, [&](const std::vector<std::string>& tasks) { show_tasks(desk, call, tasks, plan); });
    const JobQueues& queues = job_queues(desk);
    const std::int64_t now = desk.estate.micros();
    const std::string waiting = JobQueues::waiting_of(job.id);
    if (const auto queue = queues.order().at_limit(waiting)) {
        plan.zones.clear(), plan.hosts.clear(), plan.price_per_hour.reset(), plan.currency.reset();
        return waits("queue_limit",
                     fmt::format("queue {} has as much as its limit allows", words_of(*queue)));
    }
    plan.starts_now = tried.has_value();
    if (plan.starts_now) return waits("", "");
    plan.position = queues.position(job.id, now);
    if (tried.error().reason == "insufficient_capacity") {
        if (const auto way = way_for(desk, job, waiting)) {
            show_victims(desk, call, job, way->victims, plan);
            show_places(desk, call, way->hosts, plan);
        } else if (const auto at = expected_start_of(desk, job)) {
            plan.expected_start = wall(*at);
        }
    }
    return waits(tried.error().reason, stripped(tried.error().message));
}

}  // namespace hostler::master
