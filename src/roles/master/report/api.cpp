#include "roles/master/http/api.h"
#include "api/operations_report.h"
#include "roles/master/report/maker.h"
#include "roles/master/series/parts.h"

namespace hostler::master {

namespace {

enum class Sections { usage, waste, bottlenecks, all };

void leave_only(Sections sections, report::Report& report) {
    if (sections == Sections::all) return;
    if (sections != Sections::usage) report.usage.clear();
    if (sections != Sections::waste) report.waste.clear();
    if (sections != Sections::bottlenecks) report.bottlenecks.clear();
}

// Counts one that is under way, as long as it lives.
class UnderWay {
public:
    explicit UnderWay(int& count) : count_(count) { ++count_; }
    ~UnderWay() { --count_; }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

private:
    int& count_;
};

Task<report::Report> answer_report(TermPtr term, int& under_way, api::Call call, api::AskReport request,
                                   Sections sections) {
    if (under_way >= reports_under_way_max) {
        Error error{Code::exhausted, "too many reports are being made", "too_many_reports"};
        error.help = "Ask again in a moment.";
        co_return std::unexpected(std::move(error));
    }
    const UnderWay counted{under_way};
    const bool deep = sections == Sections::bottlenecks || sections == Sections::all;
    auto plan =
        CO_TRY(report_plan(term->look(), call.caller, request,
                           deep ? report::Depth::all : report::Depth::usage, term->ports().timers.wall()));
    const std::string who = call.caller.tenant;
    auto report = CO_TRY(co_await make_report(
        term->ports().timers,
        [term, who](series::Query query) { return queries_of(*term).ask(who, std::move(query)); },
        std::move(plan), report_answer_max));
    leave_only(sections, report);
    co_return report;
}

}  // namespace

void add_reports(Api& service) {
    namespace ops = api::ops;
    const auto under_way = std::make_shared<int>(0);
    const auto answers = [&service, under_way](Sections sections) {
        return [&service, under_way, sections](api::Call call,
                                               api::AskReport request) -> Task<report::Report> {
            const TermPtr term = CO_TRY(service.leader());
            co_return co_await answer_report(term, *under_way, std::move(call), std::move(request), sections);
        };
    };
    service.handlers().on<ops::report_usage>(answers(Sections::usage));
    service.handlers().on<ops::report_waste>(answers(Sections::waste));
    service.handlers().on<ops::report_bottlenecks>(answers(Sections::bottlenecks));
    service.handlers().on<ops::report_all>(answers(Sections::all));
}

}  // namespace hostler::master
