#include "domain/alert/defaults.h"

#include <gtest/gtest.h>

#include <set>

#include "domain/alert/evaluate.h"
#include "domain/inventory/metrics.h"

namespace hostler::alert {
namespace {

using std::chrono::seconds;

bool is_measured(std::string_view metric) {
    for (const auto& names : {metric_names<GpuSample>(), metric_names<HostSample>()})
        if (std::ranges::count(names, metric) > 0) return true;
    return false;
}

// A value on the far side of the threshold, or on this one.
double value_of(const Rule& rule, bool breach) {
    for (const double value : {rule.threshold - 1, rule.threshold + 1})
        if (breaches(rule.comparison, value, rule.threshold) == breach) return value;
    return rule.threshold;
}

TEST(DefaultRules, EachFiresWhenItIsTimeAndClears) {
    for (const DefaultRule& row : default_rules()) {
        SCOPED_TRACE(row.name);
        const Rule rule = rule_of(row);
        RuleState state;
        Instant now{std::chrono::hours{1}};
        const auto look = [&](bool breach, std::int64_t later) {
            now += seconds{later};
            const std::vector<Sample> all{{{{"device", "d"}, {"tenant", "acme"}}, value_of(rule, breach)}};
            step(rule, state, now, select(rule, all));
            return !state.watched.empty() && is_told(state.watched.begin()->second.phase);
        };
        EXPECT_FALSE(look(false, 0));
        EXPECT_EQ(look(true, 0), rule.for_s == 0);
        if (rule.for_s > 0) {
            EXPECT_FALSE(look(true, rule.for_s - 1));
            EXPECT_TRUE(look(true, 1));
        }
        EXPECT_TRUE(look(false, 1));
        EXPECT_TRUE(look(false, rule.clear_s - 1));
        EXPECT_FALSE(look(false, 1));
    }
}

TEST(DefaultRules, AreNamedOnceAndSayWhatToDo) {
    std::set<std::string_view> names;
    for (const DefaultRule& row : default_rules()) {
        SCOPED_TRACE(row.name);
        EXPECT_TRUE(names.insert(row.name).second);
        EXPECT_TRUE(is_live(row.metric) || is_measured(row.metric));
        EXPECT_TRUE(row.where.empty() || parse_match(row.where));
        EXPECT_GT(row.clear_s, 0) << "what comes and goes would be told each time";
        for (const std::string_view text : {row.help, row.summary, row.runbook}) EXPECT_FALSE(text.empty());
        if (row.scope == Scope::operators) continue;
        if (!is_live(row.metric)) continue;
        const auto metric = std::ranges::find(live_metrics(), row.metric, &LiveMetric::name);
        EXPECT_NE(metric->labels.find("tenant"), std::string_view::npos) << "whom would it tell?";
    }
}

TEST(DefaultRules, ThePageHasEachAndItsEnds) {
    const auto page = with_tables("a\n<!-- alerts: rules -->\n<!-- /alerts -->\nb");
    ASSERT_TRUE(page);
    for (const DefaultRule& row : default_rules())
        EXPECT_TRUE(page->contains("| `" + std::string{row.name} + "` ("));
    EXPECT_EQ(with_tables(*page), *page) << "written again it is the same";
    EXPECT_FALSE(with_tables("<!-- alerts: moods -->\n<!-- /alerts -->"));
    EXPECT_FALSE(with_tables("<!-- alerts: rules -->\n"));
}

}  // namespace
}  // namespace hostler::alert
