// What is measured, what is made of it, and what somebody should look at.
#pragma once

#include "api/operation.h"
#include "api/types_alert.h"
#include "api/types_common.h"
#include "api/types_key.h"
#include "api/types_report.h"
#include "api/types_report_schedule.h"
#include "api/types_series.h"
#include "api/types_usage.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<ListGpuUsage, List<GpuUsage>> list_gpu_usage{{
    .name = "listGpuUsage", .path = "/v1/gpu-usage", .permission = "gpu.usage",
    .help = "Show current GPU usage: with a tenant's key of its instances, with an operator's of all GPUs.",
    .list = true, .noun = "gpu", .verb = "usage",
    .columns = "hostName index model state instanceID utilizationPercent memoryUsedBytes powerWatts "
               "temperatureCelsius tenantID sampledAt id"}};

inline constexpr Typed<ListHostUsage, List<HostUsage>> list_host_usage{{
    .name = "listHostUsage", .path = "/v1/host-usage", .permission = "host.read",
    .scope = Scope::operator_only, .help = "Show current host usage.", .list = true, .noun = "host",
    .verb = "usage",
    .columns = "id name state gpus gpusUsed cpuPercent load memoryUsedBytes memoryTotalBytes sampledAt zone"}};

inline constexpr Typed<Empty, List<SeriesMetric>> list_series_metrics{{
    .name = "listSeriesMetrics", .path = "/v1/series/metrics", .permission = "gpu.usage",
    .help = "List the metrics of GPUs and hosts.", .list = true, .noun = "metrics", .verb = "list",
    .columns = "name unit kind help"}};
inline constexpr Typed<QuerySeries, SeriesAnswer> query_series{{
    .name = "querySeries", .path = "/v1/series", .permission = "gpu.usage",
    .help = "Query a metric over time: with a tenant's key of its instances' devices, with an operator's of all.",
    .noun = "metrics", .verb = "query", .argument = "metric",
    .example = "metrics query gpu_utilization --where 'zone=lon' --by tenant --since 24h --step 5m"}};

inline constexpr Typed<AskReport, report::Report> report_usage{{
    .name = "reportUsage", .path = "/v1/reports/usage", .permission = "gpu.usage",
    .help = "Report how long GPUs were claimed and how busy they were: with a tenant's key for its instances, with "
            "an operator's for all.",
    .noun = "report", .verb = "usage", .example = "report usage --by tenant,class --since 7d"}};
inline constexpr Typed<AskReport, report::Report> report_waste{{
    .name = "reportWaste", .path = "/v1/reports/waste", .permission = "gpu.usage",
    .help = "Report claimed and idle GPU time.", .noun = "report", .verb = "waste",
    .example = "report waste --by instance --since 7d --top 20"}};
inline constexpr Typed<AskReport, report::Report> report_bottlenecks{{
    .name = "reportBottlenecks", .path = "/v1/reports/bottlenecks", .permission = "gpu.usage",
    .help = "Report bottlenecks, with the evidence and advice.", .noun = "report",
    .verb = "bottlenecks", .example = "report bottlenecks --by instance --where tenant=acme"}};
inline constexpr Typed<AskReport, report::Report> report_all{{
    .name = "reportAll", .path = "/v1/reports/all", .permission = "gpu.usage",
    .help = "Report usage, idle time and bottlenecks at once.", .noun = "report", .verb = "all",
    .example = "report all --by tenant --since 30d -o html > report.html"}};
inline constexpr Typed<ListKeptReports, List<KeptReport>> list_kept_reports{{
    .name = "listKeptReports", .path = "/v1/kept-reports", .permission = "gpu.usage",
    .help = "List the reports made by schedules.", .list = true, .noun = "report", .verb = "list",
    .columns = "id schedule from to madeAt sentAt tenantID", .example = "report list --schedule weekly"}};
inline constexpr Typed<NameKeptReport, report::Report> get_kept_report{{
    .name = "getKeptReport", .path = "/v1/kept-reports/{report}", .permission = "gpu.usage",
    .help = "Show a report made by a schedule.", .noun = "report", .verb = "get"}};
inline constexpr Typed<DownloadReport, ReportDocument> download_report{{
    .name = "downloadReport", .path = "/v1/kept-reports/{report}/document", .permission = "gpu.usage",
    .help = "Write out a report made by a schedule, as a page or a table.", .noun = "report", .verb = "download",
    .example = "report download rp-7k2m9x4q1z --format csv --section waste > waste.csv"}};

inline constexpr Typed<CreateReportSchedule, ReportSchedule> create_report_schedule{{
    .name = "createReportSchedule", .method = Method::post, .path = "/v1/report-schedules",
    .permission = "report.write", .help = "Schedule a report of each day, week or month.", .status = 201,
    .noun = "report schedule", .verb = "create", .argument = "name",
    .example = "report schedule create weekly --by tenant --every week --at 06:00 --to finance"}};
inline constexpr Typed<ListReportSchedules, List<ReportSchedule>> list_report_schedules{{
    .name = "listReportSchedules", .path = "/v1/report-schedules", .permission = "gpu.usage",
    .help = "List report schedules.", .list = true, .noun = "report schedule", .verb = "list",
    .columns = "name every at by where to nextAt kept keep lastError tenantID"}};
inline constexpr Typed<NameReportSchedule, ReportSchedule> get_report_schedule{{
    .name = "getReportSchedule", .path = "/v1/report-schedules/{schedule}", .permission = "gpu.usage",
    .help = "Show a report schedule.", .noun = "report schedule", .verb = "get"}};
inline constexpr Typed<NameReportSchedule, Empty> delete_report_schedule{{
    .name = "deleteReportSchedule", .method = Method::delete_, .path = "/v1/report-schedules/{schedule}",
    .permission = "report.write", .help = "Delete a report schedule and its reports.",
    .noun = "report schedule", .verb = "delete", .confirm = "Its reports are gone with it."}};

inline constexpr Typed<ListAlerts, List<Alert>> list_alerts{{
    .name = "listAlerts", .path = "/v1/alerts", .permission = "alert.read",
    .help = "List alerts: with a tenant's key those of the tenant, with an operator's all.",
    .list = true, .noun = "alert", .verb = "list",
    .columns = "severity rule summary state firedAt isSilenced tenantID value id", .example = "alert list --severity warning"}};
inline constexpr Typed<NameAlert, Alert> get_alert{{
    .name = "getAlert", .path = "/v1/alerts/{alert}", .permission = "alert.read",
    .help = "Show an alert and its runbook.", .noun = "alert", .verb = "get"}};

inline constexpr Typed<CreateAlertRule, AlertRule> create_alert_rule{{
    .name = "createAlertRule", .method = Method::post, .path = "/v1/alert-rules", .permission = "alert.write",
    .help = "Create an alert rule.", .status = 201, .noun = "alert rule", .verb = "create", .argument = "name",
    .example = "alert rule create too-hot --metric temperature_celsius --over avg --window 5m --threshold 85 --for 5m"}};
inline constexpr Typed<ReplaceAlertRule, AlertRule> replace_alert_rule{{
    .name = "replaceAlertRule", .method = Method::put, .path = "/v1/alert-rules/{alertRule}",
    .permission = "alert.write", .help = "Replace an alert rule, also a default one.",
    .noun = "alert rule", .verb = "replace",
    .example = "alert rule replace gpu-idle-held --metric utilisation_percent --threshold 1 --disabled"}};
inline constexpr Typed<ListAlertRules, List<AlertRule>> list_alert_rules{{
    .name = "listAlertRules", .path = "/v1/alert-rules", .permission = "alert.read", .help = "List alert rules.",
    .list = true, .noun = "alert rule", .verb = "list",
    .columns = "name severity metric comparison threshold firing pending disabled isDefault tenantID error"}};
inline constexpr Typed<NameAlertRule, AlertRule> get_alert_rule{{
    .name = "getAlertRule", .path = "/v1/alert-rules/{alertRule}", .permission = "alert.read",
    .help = "Show an alert rule.", .noun = "alert rule", .verb = "get"}};
inline constexpr Typed<NameAlertRule, Empty> delete_alert_rule{{
    .name = "deleteAlertRule", .method = Method::delete_, .path = "/v1/alert-rules/{alertRule}",
    .permission = "alert.write",
    .help = "Delete an alert rule. A replaced default rule returns to its default.", .noun = "alert rule",
    .verb = "delete"}};

inline constexpr Typed<CreateAlertSilence, AlertSilence> create_alert_silence{{
    .name = "createAlertSilence", .method = Method::post, .path = "/v1/silences", .permission = "alert.write",
    .help = "Silence the notifications of some alerts for a while.", .status = 201, .noun = "alert silence",
    .verb = "create",
    .example = "alert silence create --matcher alertname=gpu-hot --for 2h --comment 'cooling is being serviced'"}};
inline constexpr Typed<ListAlertSilences, List<AlertSilence>> list_alert_silences{{
    .name = "listAlertSilences", .path = "/v1/silences", .permission = "alert.read", .help = "List silences.",
    .list = true, .noun = "alert silence", .verb = "list",
    .columns = "id matchers comment expiresAt madeBy tenantID createdAt"}};
inline constexpr Typed<NameAlertSilence, Empty> delete_alert_silence{{
    .name = "deleteAlertSilence", .method = Method::delete_, .path = "/v1/silences/{silence}",
    .permission = "alert.write", .help = "End a silence at once.", .noun = "alert silence", .verb = "delete"}};

inline constexpr Typed<CreateAlertReceiver, AlertReceiver> create_alert_receiver{{
    .name = "createAlertReceiver", .method = Method::post, .path = "/v1/alert-receivers",
    .permission = "alert.write", .help = "Create a receiver of alert notifications.", .status = 201,
    .noun = "alert receiver", .verb = "create", .argument = "name",
    .example = "alert receiver create on-call --type webhook --url https://hooks.example.com/alerts --severity warning"}};
inline constexpr Typed<ReplaceAlertReceiver, AlertReceiver> replace_alert_receiver{{
    .name = "replaceAlertReceiver", .method = Method::put, .path = "/v1/alert-receivers/{receiver}",
    .permission = "alert.write", .help = "Replace the settings of an alert receiver.", .noun = "alert receiver",
    .verb = "replace"}};
inline constexpr Typed<ListAlertReceivers, List<AlertReceiver>> list_alert_receivers{{
    .name = "listAlertReceivers", .path = "/v1/alert-receivers", .permission = "alert.read",
    .help = "List alert receivers and the state of their deliveries.", .list = true, .noun = "alert receiver",
    .verb = "list", .columns = "name type url severity waiting delivered failed lastError deliveredAt tenantID"}};
inline constexpr Typed<NameAlertReceiver, AlertReceiver> get_alert_receiver{{
    .name = "getAlertReceiver", .path = "/v1/alert-receivers/{receiver}", .permission = "alert.read",
    .help = "Show an alert receiver. Its secret is never shown.", .noun = "alert receiver", .verb = "get"}};
inline constexpr Typed<NameAlertReceiver, Empty> delete_alert_receiver{{
    .name = "deleteAlertReceiver", .method = Method::delete_, .path = "/v1/alert-receivers/{receiver}",
    .permission = "alert.write", .help = "Delete an alert receiver.", .noun = "alert receiver",
    .verb = "delete"}};
inline constexpr Typed<NameAlertReceiver, TestedAlertReceiver> test_alert_receiver{{
    .name = "testAlertReceiver", .method = Method::post, .path = "/v1/alert-receivers/{receiver}/test",
    .permission = "alert.write", .help = "Send a test message to an alert receiver.",
    .noun = "alert receiver", .verb = "test", .example = "alert receiver test on-call"}};

inline constexpr Typed<ListEvents, List<Event>> list_events{{
    .name = "listEvents", .path = "/v1/events", .permission = "event.read", .help = "List events.",
    .list = true, .noun = "event", .verb = "list", .columns = "time kind id actor reason message",
    .example = "event list --kind host"}};

}  // namespace hostler::api::ops
