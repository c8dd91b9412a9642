#include "roles/master/series/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api/series_words.h"
#include "api/types_series.h"
#include "domain/inventory/catalogue.h"
#include "domain/inventory/model.h"
#include "roles/master/series/series.h"

namespace hostler::master {

namespace {

using series::Across;
using series::Millis;
using series::Over;

Error wrong(std::string field, std::string message) {
    Error error{Code::invalid, "the query is wrong", "invalid"};
    error.fields.push_back({std::move(field), std::move(message)});
    return error;
}

// What a word of a model stands for: the store compares whole labels.
std::vector<std::string> models_with(const Desk& desk, const api::QueryTerm& term) {
    const bool classes = api::series_labels[term.field].name == "class";
    std::set<std::string> known;
    for (const GpuModel& model : gpu_models()) known.emplace(classes ? model.family : model.name);
    for (const auto& [id, host] : desk.estate.hosts.all())
        for (const GpuFacts& gpu : host.facts.gpus)
            if (!classes) known.insert(gpu.model);
    api::QueryTerm equal = term;
    equal.comparison = api::Comparison::equal;
    std::vector<std::string> found;
    for (const std::string& name : known)
        if (api::matches(equal, api::QueryKind::words, name)) found.push_back(name);
    return found.empty() ? term.texts : found;
}

series::Match match_of(const Desk& desk, const api::QueryTerm& term) {
    const api::QueryField& field = api::series_labels[term.field];
    return {.label = std::string{field.name},
            .values = field.kind == api::QueryKind::words ? models_with(desk, term) : term.texts,
            .differs = term.comparison == api::Comparison::differs};
}

// The shortest of the usual ones with no more than some 200 steps.
Millis usual_step(Millis span) {
    constexpr int steps = 200;
    static constexpr int seconds[] = {10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21'600, 86'400};
    for (const int step : seconds)
        if (Millis{step} * 1000 * steps >= span) return Millis{step} * 1000;
    return 7 * 86'400'000LL;
}

template <class Enum>
std::string word(Enum value, double quantile, std::initializer_list<const char*> words) {
    const std::string name = words.begin()[static_cast<int>(value)];
    return name == "quantile" ? fmt::format("quantile={}", quantile) : name;
}

}  // namespace

Result<std::vector<series::Match>> series_where(const Desk& desk, std::string_view where,
                                                const api::Caller& caller) {
    std::vector<series::Match> made;
    for (const api::QueryTerm& term : TRY(api::parse_query(where, api::series_labels, "where")))
        made.push_back(match_of(desk, term));
    if (authorize(caller.principal, Permission::gpu_usage, Scope::cloud())) return made;
    // Of one tenant at a time: its own, where nothing else is named.
    made.push_back({.label = "tenant", .values = {caller.tenant}, .differs = false});
    if (authorize(caller.principal, Permission::gpu_usage, Scope::of_tenant(caller.tenant))) return made;
    series::Match projects{.label = "project", .values = {}, .differs = false};
    for (const Held& held : caller.principal.held)
        if (held.scope.kind == ScopeKind::project && held.scope.tenant == caller.tenant &&
            held.permissions.has(Permission::gpu_usage))
            projects.values.push_back(held.scope.project);
    made.push_back(std::move(projects));
    return made;
}

series::Match series_match(const Desk& desk, std::string_view label, std::string value) {
    const auto field = std::ranges::find(api::series_labels, label, &api::QueryField::name);
    HOSTLER_ASSERT(field != api::series_labels.end());
    api::QueryTerm term{.field = static_cast<std::size_t>(field - api::series_labels.begin())};
    term.texts.push_back(std::move(value));
    return match_of(desk, term);
}

Result<series::Query> series_query(const Desk& desk, const api::Call& call, const api::QuerySeries& request,
                                   WallTime now) {
    const MetricFacts* metric = find_metric(request.metric);
    if (!metric) return std::unexpected(wrong("metric", "there is no such metric"));
    const bool counter = metric->kind == series::Kind::counter;
    const auto over = TRY(api::over_of(request.over));
    const auto across = TRY(api::across_of(request.across));
    series::Query query{.metric = metric->name};
    query.over = request.over.empty() && counter ? Over::rate : over.over;
    query.over_quantile = over.quantile;
    query.by = TRY(api::labels_of(request.by));
    query.across = across.across;
    query.across_quantile = across.quantile;
    if (request.across.empty() && !query.by.empty()) query.across = counter ? Across::sum : Across::avg;
    query.top = static_cast<std::size_t>(request.top);
    query.where = TRY(series_where(desk, request.where, call.caller));

    const Millis to = series_millis(request.to.value_or(now));
    const Millis from =
        request.from ? series_millis(*request.from) : to - request.since.value_or(3600) * 1000;
    if (from >= to || from < 0) return std::unexpected(wrong("from", "must lie before the end"));
    query.step = request.step ? *request.step * 1000 : usual_step(to - from);
    // Steps begin at round times.
    query.from = from / query.step * query.step;
    query.to = to;
    if ((query.to - query.from) / query.step >= static_cast<Millis>(series::steps_max))
        return std::unexpected(wrong(
            "step", fmt::format("that would be more than {} steps: ask for longer ones", series::steps_max)));
    return query;
}

Result<api::SeriesAnswer> series_answer(const api::QuerySeries& request, const series::Query& query,
                                        std::vector<series::Line> lines) {
    const MetricFacts* metric = find_metric(request.metric);
    std::size_t values = 0;
    for (const series::Line& line : lines) values += line.values.size();
    if (values > series_values_max) {
        Error error{Code::exhausted,
                    fmt::format("the answer has {} values, more than {}", values, series_values_max),
                    "answer_too_large"};
        error.help = "Ask for a longer step, for groups (by), or only for the highest (top).";
        return std::unexpected(std::move(error));
    }
    const auto wall = [](Millis millis) { return WallTime{std::chrono::milliseconds{millis}}; };
    api::SeriesAnswer answer{
        .metric = query.metric,
        .unit = std::string{metric->unit},
        .over = word(query.over, query.over_quantile,
                     {"last", "avg", "min", "max", "sum", "count", "quantile", "increase", "rate"}),
        .across = word(query.across, query.across_quantile,
                       {"none", "sum", "avg", "min", "max", "count", "quantile"}),
        .from = wall(query.from),
        .to = wall(query.to),
        .step = query.step / 1000};
    if (query.over == Over::rate) answer.unit += answer.unit.empty() ? "1/s" : "/s";
    if (query.over == Over::count || query.across == Across::count) answer.unit.clear();
    for (series::Line& line : lines) {
        api::SeriesLine shown{.labels = std::move(line.labels)};
        shown.values.reserve(line.values.size());
        for (const double value : line.values)
            shown.values.push_back(std::isfinite(value) ? std::optional{value} : std::nullopt);
        answer.lines.push_back(std::move(shown));
    }
    return answer;
}

std::vector<api::SeriesMetric> series_metrics() {
    std::vector<api::SeriesMetric> all;
    for (const Measured of : all_measured)
        for (const MetricFacts& metric : metrics_of(of))
            all.push_back({.name = metric.name,
                           .of = boost::describe::enum_to_string(of, ""),
                           .kind = metric.kind == series::Kind::counter ? "counter" : "gauge",
                           .unit = std::string{metric.unit},
                           .help = std::string{metric.help}});
    return all;
}

}  // namespace hostler::master
