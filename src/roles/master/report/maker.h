// Makes reports: asks the series what domain/report wants to know, stretch by stretch.
#pragma once

#include <functional>

#include "api/handlers.h"
#include "domain/report/build.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct AskReport;
}  // namespace hostler::api

namespace hostler::master {

struct ReportPlan {
    report::Question question;
    std::vector<series::Match> where;
    std::size_t gpus = 0;  // About so many are looked at.
    std::size_t top = 0;
};

// A tenant's key asks of what its own instances held, whatever else it says. Errors: invalid.
Result<ReportPlan> report_plan(const Desk& desk, const api::Caller& caller, const api::AskReport& request,
                               report::Depth depth, WallTime now);

using AskSeries = std::function<Task<std::vector<series::Line>>(series::Query)>;

// Gives way to others between its pieces. Errors: those of `ask`, exhausted (report_too_large), timeout.
Task<report::Report> make_report(Timers& timers, AskSeries ask, ReportPlan plan, Duration deadline);

inline constexpr std::chrono::seconds report_answer_max{15};  // That somebody waits for.
inline constexpr int reports_under_way_max = 2;               // At once.

}  // namespace hostler::master
