#include "roles/master/report/watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/codec.h"
#include "api/types_report.h"
#include "roles/master/leader/term.h"
#include "roles/master/report/maker.h"
#include "roles/master/report/schedules.h"
#include "roles/master/state/views.h"

namespace hostler::master {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration look_every = seconds{10};
constexpr Duration making_max = minutes{10};  // Of one report.

// What failed rests: a minute, twice as long each time, an hour at most. By schedule or report.
struct Rests {
    struct Rest {
        int failed = 0;
        Instant until{};
    };
    bool over(const std::string& id, Instant now) const {
        const auto at = all.find(id);
        return at == all.end() || at->second.until <= now;
    }
    void begin(const std::string& id, Instant now) {
        Rest& rest = all[id];
        const Duration length = std::min<Duration>(minutes{1} * (1 << std::min(rest.failed, 6)), minutes{60});
        ++rest.failed;
        rest.until = now + length;
    }
    std::map<std::string, Rest> all;
};

Task<report::Report> make(Term& term, DueReport due) {
    const report::Schedule& schedule = term.look().estate.report_schedules.at(due.schedule);
    const api::Caller owner = schedule.tenant.empty() ? api::Caller::of_operator("master")
                                                      : api::Caller::of_tenant("master", schedule.tenant);
    api::AskReport request{.by = schedule.by, .where = schedule.where};
    request.from = wall(due.period.from);
    request.to = wall(due.period.to);
    request.top = report::kept_lines_max;
    auto plan =
        CO_TRY(report_plan(term.look(), owner, request, report::Depth::all, term.ports().timers.wall()));
    SeriesStore& store = term.ports().series;
    co_return co_await make_report(
        term.ports().timers, [&store](series::Query query) { return store.query(std::move(query)); },
        std::move(plan), making_max);
}

Task<> make_due(Term& term, Rests& rests) {
    Timers& timers = term.ports().timers;
    std::vector<std::string> ids;
    for (const auto& [id, row] : term.look().estate.report_schedules.all()) ids.push_back(id);
    for (const std::string& id : ids) {
        const auto due = due_report(term.desk("master"), id);
        if (!due || !rests.over(id, timers.now())) continue;
        const auto made = co_await make(term, *due);
        CO_TRY(co_await check_cancelled());
        Desk& desk = term.desk("master");
        if (made) {
            rests.all.erase(id);
            keep_report(desk, *due, api::encode(*made));
        } else {
            rests.begin(id, timers.now());
            note_no_report(desk, *due, made.error().message);
        }
        CO_TRY(co_await term.commit());
    }
    co_return Result<>{};
}

Mail letter_of(const alert::Receiver& receiver, const report::Kept& kept, const report::Report& report,
               const std::string& public_url) {
    const std::string title = fmt::format("GPU report {}", kept.name);
    return {.server = receiver.url,
            .safety = receiver.plain ? MailSafety::plain : MailSafety::encrypted,
            .user = receiver.user,
            .password = receiver.secret,
            .from = receiver.from,
            .to = receiver.to,
            .subject = fmt::format("{}, {} to {}", title, rfc3339(report.from).substr(0, 10),
                                   rfc3339(report.to).substr(0, 10)),
            .text = fmt::format("{}\nAll of it: hostler report download {} ({}/v1/kept-reports/{})\n",
                                report::summary(report), kept.id, public_url, kept.id),
            .html = report::page(report, title),
            .id = kept.id,
            .date = wall(kept.made_at),
            .reach = receiver.tenant.empty() ? Reach::anywhere : Reach::outside};
}

Task<> send(Term& term, report::Kept kept) {
    const auto* receiver =
        term.look().estate.alert_receivers.find(alert::receiver_id(kept.tenant, kept.receiver));
    if (!receiver || receiver->kind != alert::ReceiverKind::email)
        co_return fail(Code::not_found,
                       fmt::format("there is no alert receiver {} of type email", kept.receiver));
    const auto report = CO_TRY(api::decode_stored<report::Report>(kept.report));
    co_return co_await term.ports().outgoing.mail(
        letter_of(*receiver, kept, report, term.settings().public_url));
}

Task<> send_all(Term& term, Rests& rests) {
    Timers& timers = term.ports().timers;
    std::vector<report::Kept> waiting;
    for (const auto& [id, row] : term.look().estate.reports.all())
        if (!row.receiver.empty() && row.sent_at == 0 && rests.over(id, timers.now())) waiting.push_back(row);
    for (const report::Kept& kept : waiting) {
        const auto sent = co_await send(term, kept);
        CO_TRY(co_await check_cancelled());
        Desk& desk = term.desk("master");
        if (sent) {
            rests.all.erase(kept.id);
            note_report_sent(desk, kept.id);
        } else {
            rests.begin(kept.id, timers.now());
            note_report_not_sent(desk, kept.id, sent.error().message);
        }
        CO_TRY(co_await term.commit());
    }
    co_return Result<>{};
}

Task<> watch(Term& term) {
    Rests rests;
    while (!term.ended()) {
        CO_TRY(co_await sleep(term.ports().timers, look_every));
        CO_TRY(co_await make_due(term, rests));
        CO_TRY(co_await send_all(term, rests));
        std::erase_if(rests.all, [&](const auto& row) {
            const Estate& estate = term.look().estate;
            return !estate.report_schedules.find(row.first) && !estate.reports.find(row.first);
        });
    }
    co_return Result<>{};
}

}  // namespace

void start_reports(Term& term) { term.tasks().start("reports", watch(term)); }

}  // namespace hostler::master
