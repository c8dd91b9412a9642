#include "roles/master/alert/trial.h"

#include <set>

#include "api/types_alert.h"
#include "domain/alert/defaults.h"
#include "domain/alert/replay.h"
#include "roles/master/series/parts.h"
#include "roles/master/series/series.h"

namespace hostler::master {

namespace {

constexpr std::size_t points_at_once = 20'000;  // Between two turns of the loop: a few milliseconds.

struct Trials {
    std::set<std::string> callers;  // Of those under way.
};

// As long as it lives, its caller has one.
class UnderWay {
public:
    UnderWay(TermPtr term, std::string who) : term_(std::move(term)), who_(std::move(who)) {
        mine_ = trials().callers.insert(who_).second;
    }
    ~UnderWay() {
        if (mine_) trials().callers.erase(who_);
    }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
    bool is_first() const { return mine_; }

private:
    Trials& trials() {
        return term_->part<Trials>([] { return std::make_shared<Trials>(); });
    }
    TermPtr term_;
    std::string who_;
    bool mine_ = false;
};

api::WouldFire unknown(std::string why) { return {.message = std::move(why)}; }

Task<api::WouldFire> count(TermPtr term, alert::Rule rule, std::vector<series::Line> lines,
                           series::Millis step) {
    api::WouldFire told{.times = 0, .label_sets = 0, .step_seconds = static_cast<int>(step / 1000)};
    std::size_t points = 0, turn = 0;
    for (const series::Line& line : lines) {
        points += line.values.size();
        if (points > 2 * trial_points_max) {
            told.message = "there is more than is counted";
            break;
        }
        const auto times = static_cast<int>(alert::firings(rule, line, std::chrono::milliseconds{step}));
        *told.times += times;
        *told.label_sets += times > 0 ? 1 : 0;
        turn += line.values.size();
        if (turn < points_at_once) continue;
        turn = 0;
        CO_TRY(co_await sleep(term->ports().timers, Duration{0}));
    }
    co_return told;
}

}  // namespace

Task<api::WouldFire> would_fire(TermPtr term, std::string who, alert::Rule rule) {
    if (alert::is_live(rule.metric)) co_return unknown("the metric is of the moment: no samples are stored");
    const UnderWay mine{term, std::move(who)};
    if (!mine.is_first()) co_return unknown("another trial of this caller is under way");
    const auto stats = co_await term->ports().series.stats();
    CO_TRY(co_await check_cancelled());
    if (!stats) co_return unknown(stats.error().message);
    const series::Millis step = alert::replay_step(rule, trial_back, stats->devices, trial_points_max);
    series::Query query = alert::query_of(rule, series_millis(term->ports().timers.wall()));
    query.from = query.to - std::chrono::milliseconds{trial_back}.count();
    query.step = step;
    auto lines = co_await queries_of(*term).ask(rule.tenant, std::move(query));
    CO_TRY(co_await check_cancelled());
    if (!lines) co_return unknown(lines.error().message);
    co_return co_await count(term, std::move(rule), std::move(*lines), step);
}

}  // namespace hostler::master
