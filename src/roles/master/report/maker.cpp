#include "roles/master/report/maker.h"

#include <algorithm>

#include "api/types_report.h"
#include "roles/master/billing/prices.h"
#include "roles/master/series/query.h"
#include "roles/master/series/series.h"
#include "roles/master/state/kinds.h"

namespace hostler::master {

namespace {

using report::Ask;
using report::Builder;
using report::Question;
using series::Millis;

constexpr Duration breath = std::chrono::milliseconds{1};

Error wrong_field(std::string field, std::string message) {
    Error error{Code::invalid, "the request is wrong", "invalid"};
    error.fields.push_back({std::move(field), std::move(message)});
    return error;
}

std::vector<std::string> labels_meant(bool everywhere, const std::string& by) {
    auto labels = api::report_labels_of(by).value_or(std::vector<std::string>{});
    if (labels.empty()) labels.emplace_back(everywhere ? "tenant" : "instance");
    const auto named = [&](std::string_view label) { return std::ranges::count(labels, label) > 0; };
    // Two tenants' instances or clusters may have one name.
    if (everywhere && (named("instance") || named("workload") || named("cluster")) && !named("tenant"))
        labels.insert(labels.begin(), "tenant");
    return labels;
}

report::PriceList prices_of(const Desk& desk, Millis from, Millis to) {
    report::PriceList list;
    for (const auto& [id, price] : desk.estate.prices.all())
        if (price.from < to * 1000 && (price.until == 0 || price.until > from * 1000))
            list.prices.emplace(id, price);
    if (list.prices.empty()) return list;
    for (const auto& [id, host] : desk.estate.hosts.all())
        list.hosts.emplace(id, report::HostTerms{text_of(trust_of(host)), isolation_of(host)});
    return list;
}

std::set<std::string> held_by_instances(const Desk& desk) {
    std::set<std::string> held;
    for (const auto& [id, instance] : desk.estate.instances.all()) {
        const Claim* claim = has_place(instance.phase) ? desk.estate.claims.find(instance.claim) : nullptr;
        if (!claim) continue;
        for (const std::string& gpu : claim->gpus)
            held.insert(report::held_name(claim->host, gpu, instance.tenant, instance.caller_id));
    }
    return held;
}

// How a stretch goes: what is asked, and how far it has come.
struct Making {
    Timers& timers;
    AskSeries ask;
    ReportPlan plan;
    Instant until;
    Builder builder;

    Result<> in_time() const {
        if (timers.now() < until) return {};
        Error error{Code::timeout, "the report was not ready in time", "report_too_slow"};
        error.help = "Ask for a shorter time, for part of it (where), or let a schedule make it.";
        return std::unexpected(std::move(error));
    }

    series::Query query_of(const Ask& one, Millis from, Millis to) const {
        series::Query query{.metric = std::string{one.metric}, .from = from, .to = to};
        query.step = plan.question.step;
        query.over = one.over;
        if (one.of == Measured::gpu) {
            query.where = plan.where;
            return query;
        }
        // Only those that count: a host has no tenant.
        query.where.push_back({.label = "host", .values = builder.hosts(), .differs = false});
        return query;
    }

    Task<> stretch(Millis from, Millis to) {
        builder.begin(from, to);
        for (const Ask& one : report::asks_of(plan.question.depth)) {
            CO_TRY(in_time());
            if (one.of == Measured::host && builder.hosts().empty()) continue;
            auto lines = CO_TRY(co_await ask(query_of(one, from, to)));
            CO_TRY(builder.take(one, std::move(lines)));
        }
        while (CO_TRY(builder.work())) {
            CO_TRY(in_time());
            CO_TRY(co_await sleep(timers, breath));
        }
        co_return Result<>{};
    }
};

}  // namespace

Result<ReportPlan> report_plan(const Desk& desk, const api::Caller& caller, const api::AskReport& request,
                               report::Depth depth, WallTime now) {
    const bool everywhere = authorize(caller.principal, Permission::gpu_usage, Scope::cloud());
    ReportPlan plan;
    Question& question = plan.question;
    question.to = series_millis(request.to.value_or(now));
    const Millis from =
        request.from ? series_millis(*request.from) : question.to - request.since.value_or(86'400) * 1000;
    if (from >= question.to || from < 0)
        return std::unexpected(wrong_field("from", "must lie before the end"));
    if (question.to - from > report::span_max_s * 1000)
        return std::unexpected(wrong_field("from", "must lie within 366 days of the end"));
    question.step = request.step ? *request.step * 1000 : report::usual_step(question.to - from);
    question.from = from / question.step * question.step;
    question.interval = std::chrono::milliseconds{desk.settings.report_interval}.count();
    question.by = labels_meant(everywhere, request.by);
    question.depth = depth;
    question.prices = prices_of(desk, question.from, question.to);
    plan.where = TRY(series_where(desk, request.where, caller));
    if (request.zone) plan.where.push_back(series_match(desk, "zone", *request.zone));
    if (request.gpu_class) plan.where.push_back(series_match(desk, "class", *request.gpu_class));
    plan.top = static_cast<std::size_t>(request.top);
    for (const auto& [id, host] : desk.estate.hosts.all()) plan.gpus += host.facts.gpus.size();
    if (question.to >= series_millis(now) - question.interval) question.held = held_by_instances(desk);
    if (everywhere) return plan;
    question.hosts_gpus.emplace();
    for (const auto& [id, host] : desk.estate.hosts.all())
        question.hosts_gpus->emplace(id, static_cast<int>(host.facts.gpus.size()));
    return plan;
}

Task<report::Report> make_report(Timers& timers, AskSeries ask, ReportPlan plan, Duration deadline) {
    const Question question = plan.question;
    const std::size_t top = plan.top;
    // Twice as many lines as GPUs, for those that change hands.
    const std::size_t steps =
        std::clamp<std::size_t>(report::cells_max / (2 * (plan.gpus + 1)), 1, series::steps_max);
    Making making{.timers = timers,
                  .ask = std::move(ask),
                  .plan = std::move(plan),
                  .until = timers.now() + deadline,
                  .builder = Builder{question}};
    auto length = static_cast<Millis>(steps) * question.step;
    for (Millis from = question.from; from < question.to;) {
        const Millis to = std::min(question.to, from + length);
        const auto done = co_await making.stretch(from, to);
        // More changed hands than was thought: less at once.
        const bool smaller =
            !done && done.error().reason == report::stretch_too_large && length > question.step;
        if (!done && !smaller) co_return std::unexpected(done.error());
        if (smaller)
            length = std::max(question.step, length / 4 / question.step * question.step);
        else
            from = to;
    }
    co_return std::move(making.builder).finish(top);
}

}  // namespace hostler::master
