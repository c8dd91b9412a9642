#include "roles/master/alert/watch.h"

#include "domain/alert/defaults.h"
#include "roles/master/alert/alerts.h"
#include "roles/master/alert/sender.h"
#include "roles/master/leader/term.h"
#include "roles/master/series/series.h"

namespace hostler::master {

namespace {

using std::chrono::seconds;

constexpr Duration series_silent_after = seconds{60};

struct Watch {
    Term& term;
    AlertAnswers answers{};  // Not looked at yet.
    std::optional<SeriesStats> stats{};
    std::optional<Instant> asked_at{};  // A question that has no answer yet.
};
using WatchPtr = std::shared_ptr<Watch>;

// How the series are, and rules over them, one after the other, off the estate: what looks at the rest does
// not wait for it.
Task<> ask(WatchPtr watch) {
    Term& term = watch->term;
    const Ports& ports = term.ports();
    while (!term.ended()) {
        watch->asked_at = ports.timers.now();
        if (auto stats = co_await ports.series.stats()) watch->stats = *stats;
        CO_TRY(co_await check_cancelled());
        watch->asked_at.reset();
        for (const alert::Rule& rule : alert_rules(term.look())) {
            if (!rule.enabled || alert::is_live(rule.metric)) continue;
            watch->asked_at = ports.timers.now();
            auto lines =
                co_await ports.series.query(alert::query_of(rule, series_millis(ports.timers.wall())));
            CO_TRY(co_await check_cancelled());
            watch->asked_at.reset();
            AlertAnswer answer{.generation = rule.meta.generation, .samples = {}};
            if (!lines) answer.samples = std::unexpected(lines.error());
            if (lines)
                for (series::Line& line : *lines)
                    if (!line.values.empty())
                        answer.samples->push_back({std::move(line.labels), line.values.back()});
            watch->answers.insert_or_assign(rule.id, std::move(answer));
        }
        CO_TRY(co_await sleep(ports.timers, term.settings().alert_interval));
    }
    co_return Result<>{};
}

AlertFacts facts_of(const Watch& watch) {
    const Ports& ports = watch.term.ports();
    AlertFacts facts{.authority_days_left = {},
                     .commits_waiting = static_cast<double>(watch.term.commits_waiting())};
    for (const AuthorityFacts& one : ports.authority.all()) {
        const auto left = std::chrono::floor<std::chrono::days>(one.not_after - ports.timers.wall());
        if (one.not_after != WallTime{})
            facts.authority_days_left[one.fingerprint] = static_cast<double>(left.count());
    }
    facts.series = watch.stats;
    facts.series_silent = watch.asked_at && ports.timers.now() - *watch.asked_at > series_silent_after;
    return facts;
}

Task<> deliver(Term& term, alert::Delivery delivery) {
    Desk& before = term.desk("master");
    const alert::Receiver* found = before.estate.alert_receivers.find(delivery.receiver);
    delivery = audible(before, std::move(delivery));
    if (!found || delivery.lines.empty()) {
        drop_delivery(before, delivery.id);
        term.commit_then(nullptr);
        co_return Result<>{};
    }
    const std::string id = delivery.id;
    const auto sent = co_await send_notice(term.ports(), *found, std::move(delivery),
                                           term.settings().public_url + "/v1/alerts");
    CO_TRY(co_await check_cancelled());
    Desk& desk = term.desk("master");
    if (sent)
        note_delivered(desk, id);
    else
        note_not_delivered(desk, id, sent.error().message, term.ports().timers.now());
    term.commit_then(nullptr);
    co_return Result<>{};
}

Task<> look(WatchPtr watch) {
    Term& term = watch->term;
    Timers& timers = term.ports().timers;
    // Hosts come back to a new leader first: their silence so far says nothing.
    Instant due = timers.now() + term.settings().alert_interval + term.settings().report_interval;
    while (!term.ended()) {
        if (timers.now() >= due) {
            due = timers.now() + term.settings().alert_interval;
            Desk& desk = term.desk("master");
            look_at_alerts(desk, facts_of(*watch), std::exchange(watch->answers, {}), timers.now());
            plan_alert_notices(desk);
            term.commit_then(nullptr);
        }
        auto begun = begin_deliveries(term.desk("master"), timers.now());
        if (!begun.empty()) CO_TRY(co_await term.commit());  // Written down before anybody is told.
        for (alert::Delivery& one : begun) term.tasks().start("notice", deliver(term, std::move(one)));
        CO_TRY(co_await sleep(timers, seconds{1}));
    }
    co_return Result<>{};
}

}  // namespace

void start_alerts(Term& term) {
    const auto watch = std::make_shared<Watch>(term);
    term.tasks().start("alert questions", ask(watch));
    term.tasks().start("alerts", look(watch));
}

}  // namespace hostler::master
