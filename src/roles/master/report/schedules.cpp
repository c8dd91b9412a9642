#include "roles/master/report/schedules.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types_report_schedule.h"
#include "roles/master/state/views.h"
#include "roles/master/tenancy/tenancy.h"

namespace hostler::master {

namespace {

std::vector<const report::Kept*> kept_of(const Desk& desk, const std::string& schedule) {
    std::vector<const report::Kept*> rows;
    for (const auto& [id, row] : desk.estate.reports.all())
        if (row.schedule == schedule) rows.push_back(&row);
    std::ranges::sort(rows, {}, &report::Kept::to);
    return rows;
}

Result<> check_receiver(const Desk& desk, const std::string& tenant, const std::string& name) {
    const auto wrong = [](std::string message) {
        Error error{Code::invalid, "one field of the request is wrong", "invalid"};
        error.fields.push_back({"to", std::move(message)});
        return std::unexpected(std::move(error));
    };
    if (name.empty()) return {};
    const auto* receiver = desk.estate.alert_receivers.find(alert::receiver_id(tenant, name));
    if (!receiver) return wrong(fmt::format("there is no alert receiver {}", name));
    if (receiver->kind != alert::ReceiverKind::email)
        return wrong(fmt::format("alert receiver {} is not of type email", name));
    return {};
}

std::string day(std::int64_t time) { return rfc3339(wall(time)).substr(0, 16); }

}  // namespace

api::ReportSchedule view(const Desk& desk, const report::Schedule& schedule) {
    api::ReportSchedule shown{.name = schedule.name,
                              .tenant_id = schedule.tenant,
                              .by = schedule.by,
                              .where = schedule.where,
                              .every = schedule.every,
                              .at = report::minute_text(schedule.at_minute),
                              .keep = static_cast<int>(schedule.keep),
                              .to = schedule.receiver};
    shown.kept = static_cast<int>(kept_of(desk, schedule.id).size());
    shown.next_at = wall(report::boundary_after(schedule, schedule.done_until));
    if (!schedule.error.empty()) shown.last_error = schedule.error;
    return shown;
}

api::KeptReport view(const report::Kept& kept) {
    return {.id = kept.id,
            .schedule = kept.name,
            .tenant_id = kept.tenant,
            .from = wall(kept.from),
            .to = wall(kept.to),
            .made_at = wall(kept.made_at),
            .sent_at = wall_if(kept.sent_at)};
}

Result<const report::Schedule*> add_report_schedule(Desk& desk, const api::CreateReportSchedule& request,
                                                    const std::string& tenant) {
    auto& table = desk.estate.report_schedules;
    report::Schedule made{.id = report::schedule_id(tenant, request.name),
                          .name = request.name,
                          .tenant = tenant,
                          .by = request.by,
                          .where = request.where,
                          .every = request.every,
                          .at_minute = report::minute_of(request.at).value_or(0),
                          .keep = request.keep,
                          .receiver = request.to.value_or(""),
                          .created_at = desk.estate.micros()};
    if (table.find(made.id))
        return fail(Code::conflict, fmt::format("there is a report schedule {} already", made.name),
                    "report_schedule_exists");
    TRY(check_receiver(desk, tenant, made.receiver));
    if (!tenant.empty()) TRY(check_tenant(desk, tenant));
    const auto own =
        std::ranges::count_if(table.all(), [&](const auto& row) { return row.second.tenant == tenant; });
    if (table.all().size() >= report::schedules_max ||
        static_cast<std::size_t>(own) >= report::schedules_tenant_max)
        return fail(Code::exhausted,
                    fmt::format("there are {} report schedules of this tenant and {} of all: {} and {} are "
                                "the most",
                                own, table.all().size(), report::schedules_tenant_max, report::schedules_max),
                    "too_many_report_schedules");
    made.done_until = report::boundary_before(made, made.created_at);
    if (!tenant.empty()) ensure_tenant(desk, tenant);
    desk.estate.event("report_schedule", made.id, tenant, "created",
                      fmt::format("A report is made of each {}.", text_of(made.every)));
    return &table.add(std::move(made));
}

void delete_report_schedule(Desk& desk, const std::string& id) {
    const report::Schedule& row = desk.estate.report_schedules.at(id);
    desk.estate.event("report_schedule", id, row.tenant, "deleted", "No more reports are made.");
    std::vector<std::string> ids;
    for (const report::Kept* kept : kept_of(desk, id)) ids.push_back(kept->id);
    for (const std::string& one : ids) desk.estate.reports.erase(one);
    desk.estate.report_schedules.erase(std::string{id});
}

std::optional<DueReport> due_report(const Desk& desk, const std::string& id) {
    const report::Schedule* schedule = desk.estate.report_schedules.find(id);
    if (!schedule) return std::nullopt;
    const auto period = report::due(*schedule, desk.estate.micros());
    return period ? std::optional{DueReport{id, *period}} : std::nullopt;
}

void keep_report(Desk& desk, const DueReport& due, std::string report) {
    const auto still = due_report(desk, due.schedule);
    if (!still || still->period != due.period) return;
    report::Schedule& schedule = desk.estate.report_schedules.edit(due.schedule);
    schedule.done_until = due.period.to;
    schedule.error.clear();
    const report::Kept& kept = desk.estate.reports.add({.id = new_id(desk.random, "rp"),
                                                        .schedule = schedule.id,
                                                        .name = schedule.name,
                                                        .tenant = schedule.tenant,
                                                        .from = due.period.from,
                                                        .to = due.period.to,
                                                        .made_at = desk.estate.micros(),
                                                        .report = std::move(report),
                                                        .receiver = schedule.receiver});
    desk.estate.event(
        "report", kept.id, kept.tenant, "made",
        fmt::format("The report {} from {} to {} UTC is ready.", kept.name, day(kept.from), day(kept.to)));
    auto rows = kept_of(desk, schedule.id);
    std::vector<std::string> over;
    for (std::size_t i = 0; i + static_cast<std::size_t>(schedule.keep) < rows.size(); ++i)
        over.push_back(rows[i]->id);
    for (const std::string& id : over) desk.estate.reports.erase(id);
}

void note_no_report(Desk& desk, const DueReport& due, const std::string& why) {
    const auto still = due_report(desk, due.schedule);
    if (!still || still->period != due.period) return;
    const bool over = desk.estate.micros() - due.period.to > report::give_up_s * 1'000'000;
    if (!over && desk.estate.report_schedules.at(due.schedule).error == why) return;
    report::Schedule& schedule = desk.estate.report_schedules.edit(due.schedule);
    schedule.error = why;
    if (!over) return;
    schedule.done_until = due.period.to;
    desk.estate.event("report_schedule", schedule.id, schedule.tenant, "given_up",
                      fmt::format("The report {} from {} to {} UTC could not be made within a day: {}",
                                  schedule.name, day(due.period.from), day(due.period.to), why));
}

void note_report_sent(Desk& desk, const std::string& id) {
    if (desk.estate.reports.find(id)) desk.estate.reports.edit(id).sent_at = desk.estate.micros();
}

void note_report_not_sent(Desk& desk, const std::string& id, const std::string& why) {
    const report::Kept* kept = desk.estate.reports.find(id);
    if (!kept || desk.estate.micros() - kept->made_at < report::give_up_s * 1'000'000) return;
    desk.estate.event("report", id, kept->tenant, "not_sent",
                      fmt::format("The report did not arrive at {} within a day: {}", kept->receiver, why));
    desk.estate.reports.edit(id).receiver.clear();
}

}  // namespace hostler::master
