#include <algorithm>

#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_series.h"
#include "api/series_words.h"
#include "core/safe_text.h"
#include "domain/inventory/catalogue.h"

HOSTLER_JSON(hostler::api::QuerySeries)
HOSTLER_JSON(hostler::api::SeriesAnswer)
HOSTLER_JSON(hostler::api::List<hostler::api::SeriesMetric>)

namespace hostler::api {

void Rules<QuerySeries>::check(const QuerySeries& request, Wrong& wrong) {
    const MetricFacts* metric = find_metric(request.metric);
    if (!metric)
        wrong.push_back({"metric", fmt::format("there is no metric '{}': hostler metrics list names them",
                                               request.metric)});
    if (const auto where = parse_query(request.where, series_labels, "where"); !where) {
        wrong.insert(wrong.end(), where.error().fields.begin(), where.error().fields.end());
    } else {
        for (const QueryTerm& term : *where)
            if (term.comparison != Comparison::equal && term.comparison != Comparison::differs)
                wrong.push_back({"where", fmt::format("at {}: labels are compared with = and !=", term.at)});
    }
    if (request.from && request.since)
        wrong.push_back({"since", "stands instead of from; give one of the two"});
    if (request.from && request.to && *request.from >= *request.to)
        wrong.push_back({"to", "must lie after from"});
    const auto over = over_of(request.over);
    if (!over) wrong.push_back({"over", over.error().message});
    const bool rises = over && (over->over == series::Over::rate || over->over == series::Over::increase);
    if (over && metric && !request.over.empty() && rises && metric->kind != series::Kind::counter)
        wrong.push_back(
            {"over", fmt::format("{} is no counter: there is no {} of it", metric->name, request.over)});
    if (const auto across = across_of(request.across); !across)
        wrong.push_back({"across", across.error().message});
    const auto by = labels_of(request.by);
    if (!by)
        wrong.push_back({"by", by.error().message});
    else if (!by->empty() && request.across == "none")
        wrong.push_back({"by", "groups need an across that is not none"});
}

std::string csv_of(const SeriesAnswer& answer) {
    std::set<std::string> labels;
    for (const SeriesLine& line : answer.lines)
        for (const auto& [label, value] : line.labels) labels.insert(label);
    std::string csv = "time," + answer.metric;
    for (const std::string& label : labels) csv += "," + csv_field(label);
    csv += '\n';
    for (const SeriesLine& line : answer.lines) {
        std::string rest;
        for (const std::string& label : labels) {
            rest += ',';
            if (const auto at = line.labels.find(label); at != line.labels.end())
                rest += csv_field(at->second);
        }
        rest += '\n';
        for (std::size_t i = 0; i < line.values.size(); ++i) {
            if (!line.values[i]) continue;
            std::string time =
                rfc3339(answer.from + std::chrono::seconds{answer.step} * static_cast<std::int64_t>(i));
            csv += time.erase(19, 7);  // Steps begin at whole seconds.
            csv += ',';
            detail::write_number(csv, *line.values[i]);
            csv += rest;
        }
    }
    return csv;
}

}  // namespace hostler::api

namespace hostler::api {

ApiArea series_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &list_series_metrics,
        &query_series,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"metrics", "Metrics of GPUs and hosts, over time."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
