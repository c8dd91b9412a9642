#include "domain/alert/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace hostler::alert {
namespace {

using std::chrono::seconds;

constexpr Instant begin{std::chrono::hours{1}};
const Labels gpu{{"gpu", "GPU-1"}};

Rule rule_for(std::int64_t for_s, std::int64_t clear_s, Missing missing = Missing::resolve) {
    Rule rule{.id = "hot", .name = "hot"};
    rule.metric = "temperature_celsius";
    rule.threshold = 80;
    rule.for_s = for_s;
    rule.clear_s = clear_s;
    rule.missing = missing;
    return rule;
}

struct OneGpu {
    Rule rule;
    RuleState state{};
    Instant now = begin;

    Phase at(int seconds_later, std::optional<double> value) {
        now = begin + seconds{seconds_later};
        std::vector<Sample> samples;
        if (value) samples.push_back({gpu, *value});
        step(rule, state, now, samples);
        const auto found = state.watched.find(gpu);
        return found == state.watched.end() ? Phase::inactive : found->second.phase;
    }
};

TEST(Evaluate, ABreachHasToLast) {
    OneGpu one{rule_for(60, 0)};
    EXPECT_EQ(one.at(0, 81), Phase::pending);
    EXPECT_EQ(one.at(59, 81), Phase::pending);
    EXPECT_EQ(one.at(60, 80), Phase::inactive) << "the threshold itself is not above it";
    EXPECT_EQ(one.at(70, 81), Phase::pending) << "and it begins anew";
    EXPECT_EQ(one.at(129, 81), Phase::pending);
    EXPECT_EQ(one.at(130, 81), Phase::firing);
}

TEST(Evaluate, FlappingIsOneFiring) {
    OneGpu one{rule_for(0, 60)};
    EXPECT_EQ(one.at(0, 81), Phase::firing) << "with nothing to wait for it fires at once";
    for (int t = 10; t < 300; t += 20) {
        EXPECT_EQ(one.at(t, 79), Phase::clearing);
        EXPECT_EQ(one.at(t + 10, 81), Phase::firing);
    }
    EXPECT_EQ(one.at(400, 79), Phase::clearing);
    EXPECT_EQ(one.at(459, 79), Phase::clearing);
    EXPECT_EQ(one.at(460, 79), Phase::inactive);
    EXPECT_TRUE(one.state.watched.empty()) << "what does nothing is not kept";
}

TEST(Evaluate, MissingSamplesAreWhatTheRuleSays) {
    OneGpu resolve{rule_for(0, 0, Missing::resolve)};
    EXPECT_EQ(resolve.at(0, 81), Phase::firing);
    EXPECT_EQ(resolve.at(10, {}), Phase::inactive);

    OneGpu keep{rule_for(0, 0, Missing::keep)};
    EXPECT_EQ(keep.at(0, 81), Phase::firing);
    EXPECT_EQ(keep.at(missing_max_s - 1, {}), Phase::firing);
    EXPECT_EQ(keep.at(missing_max_s, {}), Phase::inactive) << "not for ever";

    OneGpu fire{rule_for(10, 0, Missing::fire)};
    EXPECT_EQ(fire.at(0, 20), Phase::inactive);
    EXPECT_EQ(fire.at(10, {}), Phase::pending) << "it is silent, and was there";
    EXPECT_EQ(fire.at(20, {}), Phase::firing);
    EXPECT_EQ(fire.at(30, 20), Phase::inactive);
    EXPECT_EQ(OneGpu{rule_for(0, 0, Missing::fire)}.at(0, {}), Phase::inactive)
        << "who never spoke is not silent";
    EXPECT_EQ(OneGpu{rule_for(0, 0)}.at(0, std::numeric_limits<double>::quiet_NaN()), Phase::inactive);
}

TEST(Evaluate, WhatIsBeyondTheBoundIsLeftOutAndCounted) {
    const Rule rule = rule_for(0, 0);
    RuleState state;
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < 3 * alerts_rule_max; ++i)
        samples.push_back({{{"gpu", std::to_string(i)}}, i % 3 == 0 ? 20.0 : 99.0});
    step(rule, state, begin, samples);
    EXPECT_EQ(state.watched.size(), alerts_rule_max) << "what does not breach takes no room";
    EXPECT_EQ(state.left_out, alerts_rule_max);
    step(rule, state, begin + seconds{1}, {});
    EXPECT_EQ(state.left_out, 0u);
}

// The same from all that was ever seen: it fires once the last looks, back to one that is old enough, all
// breach; and ends once the last ones, back to one that is old enough, all do not.
bool fires(const std::vector<std::pair<std::int64_t, bool>>& looks, std::int64_t for_s,
           std::int64_t clear_s) {
    bool firing = false;
    for (std::size_t end = 0; end < looks.size(); ++end) {
        const bool state = looks[end].second;
        if (state == firing) continue;
        std::size_t first = end;
        while (first > 0 && looks[first - 1].second == state) --first;
        if (looks[end].first - looks[first].first >= (firing ? clear_s : for_s)) firing = state;
    }
    return firing;
}

TEST(Evaluate, EqualsTheWholeHistory) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 dice{seed};
        const auto below = [&](int n) { return static_cast<int>(dice() % static_cast<unsigned>(n)); };
        const Rule rule = rule_for(below(4) * 10, below(4) * 10, static_cast<Missing>(below(3)));
        RuleState state;
        std::map<Labels, std::vector<std::pair<std::int64_t, bool>>> history;
        std::int64_t time = 0;
        for (int look = 0; look < 60; ++look) {
            time += 1 + below(20);
            std::vector<Sample> samples;
            for (const char* name : {"a", "b", "c"}) {
                const Labels labels{{"gpu", name}};
                const bool breach = below(3) > 0;
                if (below(4) > 0) {
                    samples.push_back({labels, breach ? 90.0 : 70.0});
                    history[labels].emplace_back(time, breach);
                } else if (history.contains(labels) && rule.missing != Missing::keep) {
                    history[labels].emplace_back(time, rule.missing == Missing::fire);
                }
            }
            step(rule, state, begin + seconds{time}, samples);
            for (const auto& [labels, looks] : history) {
                const auto found = state.watched.find(labels);
                const bool told = found != state.watched.end() && is_told(found->second.phase);
                ASSERT_EQ(told, fires(looks, rule.for_s, rule.clear_s))
                    << "seed " << seed << ", look " << look << ", " << labels.at("gpu");
            }
        }
    }
}

}  // namespace
}  // namespace hostler::alert
