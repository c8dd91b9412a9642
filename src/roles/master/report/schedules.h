// Schedules of reports, and the reports that were made.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct CreateReportSchedule;
struct KeptReport;
struct ReportSchedule;
}  // namespace hostler::api

namespace hostler::master {

api::ReportSchedule view(const Desk& desk, const report::Schedule& schedule);
api::KeptReport view(const report::Kept& kept);

// Its first report is of the period that it is in. Errors: conflict (report_schedule_exists), invalid (no
// such receiver, or not by e-mail), exhausted (too_many_report_schedules).
Result<const report::Schedule*> add_report_schedule(Desk& desk, const api::CreateReportSchedule& request,
                                                    const std::string& tenant);
// What it has made goes with it.
void delete_report_schedule(Desk& desk, const std::string& id);

struct DueReport {
    std::string schedule;
    report::Period period;
};
std::optional<DueReport> due_report(const Desk& desk, const std::string& schedule);

// The report of a period, in the same commit with the mark that the period has one. Nothing is done when it
// is due no longer: the schedule is gone, or somebody has made it.
void keep_report(Desk& desk, const DueReport& due, std::string report);
// After a day the period is given up.
void note_no_report(Desk& desk, const DueReport& due, const std::string& why);

void note_report_sent(Desk& desk, const std::string& report);
// After a day it is given up; who has it not finds it among those that are kept.
void note_report_not_sent(Desk& desk, const std::string& report, const std::string& why);

}  // namespace hostler::master
