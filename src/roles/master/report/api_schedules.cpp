// Schedules of reports, and what they have made.
#include <fmt/format.h>

#include "api/codec.h"
#include "api/operations_report.h"
#include "roles/master/http/api.h"
#include "roles/master/report/schedules.h"

namespace hostler::master {

namespace {

Result<const report::Schedule*> schedule_named(const Desk& desk, const api::Call& call,
                                               const api::NameReportSchedule& request) {
    const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
    if (const auto* row = desk.estate.report_schedules.find(report::schedule_id(tenant, request.schedule)))
        return row;
    return fail(Code::not_found, fmt::format("there is no report schedule {}", request.schedule),
                "report_schedule_not_found");
}

Result<const report::Kept*> report_named(const Desk& desk, const api::Call& call, const std::string& id) {
    const report::Kept* row = desk.estate.reports.find(id);
    Error absent{Code::not_found, fmt::format("there is no report {}", id), "report_not_found"};
    if (!row) return std::unexpected(std::move(absent));
    TRY(check(call, scope_of(*row), std::move(absent)));
    return row;
}

struct Written {
    std::string_view end;
    std::string_view content_type;
    std::string text;
};

Written written(const report::Kept& kept, const report::Report& report, const api::DownloadReport& request) {
    switch (request.format) {
        case api::ReportFormat::json: return {"json", "application/json", kept.report};
        case api::ReportFormat::csv:
            return {"csv", "text/csv; charset=utf-8", report::csv(report, request.section)};
        case api::ReportFormat::html:
            return {"html", "text/html; charset=utf-8", report::page(report, "GPU report " + kept.name)};
    }
    broken("a format outside its enum", __FILE__, __LINE__);
}

Result<api::ReportDocument> download(const Desk& desk, const api::Call& call,
                                     const api::DownloadReport& request) {
    const report::Kept* kept = TRY(report_named(desk, call, request.report));
    Written file = written(*kept, TRY(api::decode_stored<report::Report>(kept->report)), request);
    const std::string day = rfc3339(view(*kept).from).substr(0, 10);
    return api::ReportDocument{.name = fmt::format("{}-{}.{}", kept->name, day, file.end),
                               .content_type = std::string{file.content_type},
                               .text = std::move(file.text)};
}

}  // namespace

Subject subject_of(const Desk& desk, const api::Call& call, const api::NameReportSchedule& request) {
    const auto found = schedule_named(desk, call, request);
    return found ? Subject{"report_schedule/" + (*found)->id, (*found)->tenant,
                           api::encode(view(desk, **found))}
                 : Subject{};
}
Subject subject_of(const Desk& desk, const api::Call& call, const api::CreateReportSchedule& request) {
    return subject_of(desk, call, api::NameReportSchedule{request.name, request.tenant_id});
}

void add_report_schedules(Api& service) {
    namespace ops = api::ops;
    service.write<ops::create_report_schedule>(
        [](Desk& desk, const api::Call& call,
           const api::CreateReportSchedule& request) -> Result<api::ReportSchedule> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            TRY(check_new(call, scope_of_tenant(tenant)));
            return view(desk, *TRY(add_report_schedule(desk, request, tenant)));
        });
    service.write<ops::delete_report_schedule>(
        [](Desk& desk, const api::Call& call, const api::NameReportSchedule& request) -> Result<api::Empty> {
            const std::string id = TRY(schedule_named(desk, call, request))->id;
            delete_report_schedule(desk, id);
            return api::Empty{};
        });
    service.read<ops::get_report_schedule>(
        [](const Desk& desk, const api::Call& call,
           const api::NameReportSchedule& request) -> Result<api::ReportSchedule> {
            return view(desk, *TRY(schedule_named(desk, call, request)));
        });
    service.read<ops::list_report_schedules>(
        [](const Desk& desk, const api::Call& call,
           const api::ListReportSchedules& request) -> Result<api::List<api::ReportSchedule>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::ReportSchedule>(desk.estate.report_schedules,
                                                [&](const report::Schedule& row) {
                                                    return (tenant.empty() || row.tenant == tenant) &&
                                                           may(call, scope_of(row));
                                                })
                .page(call, [&](const report::Schedule& row) { return view(desk, row); });
        });
    service.read<ops::list_kept_reports>(
        [](const Desk& desk, const api::Call& call,
           const api::ListKeptReports& request) -> Result<api::List<api::KeptReport>> {
            const std::string tenant = TRY(tenant_meant(call, request.tenant_id));
            return rows_of<api::KeptReport>(desk.estate.reports,
                                            [&](const report::Kept& row) {
                                                return (tenant.empty() || row.tenant == tenant) &&
                                                       may(call, scope_of(row)) &&
                                                       (!request.schedule || row.name == *request.schedule);
                                            })
                .page(call, [](const report::Kept& row) { return view(row); });
        });
    service.read<ops::get_kept_report>([](const Desk& desk, const api::Call& call,
                                          const api::NameKeptReport& request) -> Result<report::Report> {
        return api::decode_stored<report::Report>(TRY(report_named(desk, call, request.report))->report);
    });
    service.read<ops::download_report>(download);
}

}  // namespace hostler::master
