// Reports of GPU usage, and their schedules.
#pragma once

#include "api/operation.h"
#include "api/types_report_schedule.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<AskReport, report::Report> report_usage{{
    .name = "reportUsage", .path = "/v1/reports/usage", .permission = Permission::gpu_usage,
    .help = "Report how long GPUs were claimed and how busy they were: with a tenant's key for its instances, with "
            "an operator's for all.",
    .noun = "report", .verb = "usage", .example = "report usage --by tenant,class --since 7d"}};
inline constexpr Typed<AskReport, report::Report> report_waste{{
    .name = "reportWaste", .path = "/v1/reports/waste", .permission = Permission::gpu_usage,
    .help = "Report claimed and idle GPU time.", .noun = "report", .verb = "waste",
    .example = "report waste --by instance --since 7d --top 20"}};
inline constexpr Typed<AskReport, report::Report> report_bottlenecks{{
    .name = "reportBottlenecks", .path = "/v1/reports/bottlenecks", .permission = Permission::gpu_usage,
    .help = "Report bottlenecks, with the evidence and advice.", .noun = "report",
    .verb = "bottlenecks", .example = "report bottlenecks --by instance --where tenant=acme"}};
inline constexpr Typed<AskReport, report::Report> report_all{{
    .name = "reportAll", .path = "/v1/reports/all", .permission = Permission::gpu_usage,
    .help = "Report usage, idle time and bottlenecks at once.", .noun = "report", .verb = "all",
    .example = "report all --by tenant --since 30d -o html > report.html"}};
inline constexpr Typed<ListKeptReports, List<KeptReport>> list_kept_reports{{
    .name = "listKeptReports", .path = "/v1/kept-reports", .permission = Permission::gpu_usage,
    .help = "List the reports made by schedules.", .list = true, .noun = "report", .verb = "list",
    .columns = "id schedule from to madeAt sentAt tenantID", .example = "report list --schedule weekly"}};
inline constexpr Typed<NameKeptReport, report::Report> get_kept_report{{
    .name = "getKeptReport", .path = "/v1/kept-reports/{report}", .permission = Permission::gpu_usage,
    .help = "Show a report made by a schedule.", .noun = "report", .verb = "get"}};
inline constexpr Typed<DownloadReport, ReportDocument> download_report{{
    .name = "downloadReport", .path = "/v1/kept-reports/{report}/document", .permission = Permission::gpu_usage,
    .help = "Write out a report made by a schedule, as a page or a table.", .noun = "report", .verb = "download",
    .example = "report download rp-7k2m9x4q1z --format csv --section waste > waste.csv"}};

inline constexpr Typed<CreateReportSchedule, ReportSchedule> create_report_schedule{{
    .name = "createReportSchedule", .method = Method::post, .path = "/v1/report-schedules",
    .permission = Permission::report_write, .help = "Schedule a report of each day, week or month.", .status = 201,
    .noun = "report schedule", .verb = "create", .argument = "name",
    .example = "report schedule create weekly --by tenant --every week --at 06:00 --to finance"}};
inline constexpr Typed<ListReportSchedules, List<ReportSchedule>> list_report_schedules{{
    .name = "listReportSchedules", .path = "/v1/report-schedules", .permission = Permission::gpu_usage,
    .help = "List report schedules.", .list = true, .noun = "report schedule", .verb = "list",
    .columns = "name every at by where to nextAt kept keep lastError tenantID"}};
inline constexpr Typed<NameReportSchedule, ReportSchedule> get_report_schedule{{
    .name = "getReportSchedule", .path = "/v1/report-schedules/{schedule}", .permission = Permission::gpu_usage,
    .help = "Show a report schedule.", .noun = "report schedule", .verb = "get"}};
inline constexpr Typed<NameReportSchedule, Empty> delete_report_schedule{{
    .name = "deleteReportSchedule", .method = Method::delete_, .path = "/v1/report-schedules/{schedule}",
    .permission = Permission::report_write, .help = "Delete a report schedule and its reports.",
    .noun = "report schedule", .verb = "delete", .confirm = "Its reports are gone with it."}};

}  // namespace hostler::api::ops
