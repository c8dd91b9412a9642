#include <algorithm>

#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_report.h"
#include "api/series_words.h"
#include "api/types_series.h"

HOSTLER_JSON(hostler::report::UsageLine)
HOSTLER_JSON(hostler::report::Cost)
HOSTLER_JSON(hostler::report::WasteLine)
HOSTLER_JSON(hostler::report::Evidence)
HOSTLER_JSON(hostler::report::Finding)
HOSTLER_JSON(hostler::report::Slice)
HOSTLER_JSON(hostler::report::Report)
HOSTLER_JSON(hostler::api::AskReport)
HOSTLER_JSON(hostler::api::CreateReportSchedule)
HOSTLER_JSON(hostler::api::ReportSchedule)
HOSTLER_JSON(hostler::api::NameReportSchedule)
HOSTLER_JSON(hostler::api::ListReportSchedules)
HOSTLER_JSON(hostler::api::List<hostler::api::ReportSchedule>)
HOSTLER_JSON(hostler::api::KeptReport)
HOSTLER_JSON(hostler::api::ListKeptReports)
HOSTLER_JSON(hostler::api::List<hostler::api::KeptReport>)
HOSTLER_JSON(hostler::api::NameKeptReport)
HOSTLER_JSON(hostler::api::DownloadReport)
HOSTLER_JSON(hostler::api::ReportDocument)

namespace hostler::api {

Result<std::vector<std::string>> report_labels_of(std::string_view by) {
    static const std::vector<std::string_view> more{"instance", "day", "hour"};
    std::vector<std::string> labels;
    while (!by.empty()) {
        const auto comma = by.find(',');
        const std::string_view label = by.substr(0, comma);
        by.remove_prefix(comma == by.npos ? by.size() : comma + 1);
        if (std::ranges::find(series_labels, label, &QueryField::name) == series_labels.end() &&
            std::ranges::count(more, label) == 0)
            return unknown_label(label, more);
        if (std::ranges::count(labels, label) > 0)
            return fail(Code::invalid, fmt::format("'{}' stands there twice", label));
        labels.emplace_back(label);
    }
    return labels;
}

report::Section report_section(std::string_view kind) {
    return kind == "waste"         ? report::Section::waste
           : kind == "bottlenecks" ? report::Section::bottlenecks
                                   : report::Section::usage;
}

std::string_view report_title(std::string_view kind) {
    return kind == "usage"         ? "GPU usage"
           : kind == "waste"       ? "GPUs claimed and idle"
           : kind == "bottlenecks" ? "Bottlenecks of GPUs"
                                   : "GPU report";
}

namespace {

void check_report(const std::string& by, const std::string& where, Wrong& wrong) {
    if (const auto labels = report_labels_of(by); !labels) wrong.push_back({"by", labels.error().message});
    const auto terms = parse_query(where, series_labels, "where");
    if (!terms) wrong.insert(wrong.end(), terms.error().fields.begin(), terms.error().fields.end());
    if (terms)
        for (const QueryTerm& term : *terms)
            if (term.comparison != Comparison::equal && term.comparison != Comparison::differs)
                wrong.push_back({"where", fmt::format("at {}: labels are compared with = and !=", term.at)});
}

}  // namespace

void Rules<AskReport>::check(const AskReport& request, Wrong& wrong) {
    check_report(request.by, request.where, wrong);
    if (request.from && request.since)
        wrong.push_back({"since", "stands instead of from; give one of the two"});
    if (request.from && request.to && *request.from >= *request.to)
        wrong.push_back({"to", "must lie after from"});
    if (request.from && request.to && *request.to - *request.from > std::chrono::seconds{report::span_max_s})
        wrong.push_back({"to", "must lie within 366 days of from"});
}

void Rules<CreateReportSchedule>::check(const CreateReportSchedule& request, Wrong& wrong) {
    check_report(request.by, request.where, wrong);
    if (!report::minute_of(request.at)) wrong.push_back({"at", "must be a time of day, as 06:30"});
}

}  // namespace hostler::api

namespace hostler::api {

ApiArea report_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &report_usage,
        &report_waste,
        &report_bottlenecks,
        &report_all,
        &list_kept_reports,
        &get_kept_report,
        &download_report,
        &create_report_schedule,
        &list_report_schedules,
        &get_report_schedule,
        &delete_report_schedule,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"report", "GPU usage over time: utilization, idle time and bottlenecks."},
        {"report schedule", "Scheduled reports."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
