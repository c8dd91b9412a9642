#include "domain/alert/replay.h"

#include <gtest/gtest.h>

#include <limits>

namespace hostler::alert {
namespace {

using namespace std::chrono_literals;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Rule rule() {
    Rule made;
    made.threshold = 80;
    made.for_s = 120;
    made.clear_s = 120;
    return made;
}
std::size_t fires(const Rule& of, std::vector<double> values) {
    return firings(of, {.labels = {{"gpu", "a"}}, .values = std::move(values)}, 60s);
}

TEST(Replay, AFiringBeginsWhenTheBreachHasLasted) {
    EXPECT_EQ(fires(rule(), {}), 0u);
    EXPECT_EQ(fires(rule(), {70, 81, 81, 70, 70}), 0u) << "not for long enough";
    EXPECT_EQ(fires(rule(), {70, 81, 81, 81, 81, 81}), 1u);
    EXPECT_EQ(fires(rule(), {81, 81, 81, 70, 70, 70, 81, 81, 81}), 2u);
    EXPECT_EQ(fires(rule(), {81, 81, 81, 70, 81, 70, 81, 81, 81}), 1u) << "it did not ease for long enough";
    Rule at_once = rule();
    at_once.for_s = at_once.clear_s = 0;
    EXPECT_EQ(fires(at_once, {81, 70, 81, 70, 81}), 3u);
}

TEST(Replay, WhereThereAreNoSamplesTheRuleSaysWhatHolds) {
    const std::vector<double> gap{81, 81, 81, none, none, none, 81, 81, 81};
    Rule one = rule();
    EXPECT_EQ(fires(one, gap), 2u) << "it eased";
    one.missing = Missing::keep;
    EXPECT_EQ(fires(one, gap), 1u);
    one.missing = Missing::fire;
    EXPECT_EQ(fires(one, {70, none, none, none, none}), 1u);
}

TEST(Replay, StepsAreAsFineAsTheBoundAllows) {
    EXPECT_EQ(replay_step(rule(), 168h, 8, 1'000'000), 60'000);
    EXPECT_EQ(replay_step(rule(), 168h, 0, 1'000'000), 60'000);
    EXPECT_EQ(replay_step(rule(), 168h, 1'000, 1'000'000), 604'800);
    EXPECT_EQ(replay_step(rule(), 168h, 10'000'000, 1'000'000), 604'800'000) << "one step";
    Rule slow = rule();
    slow.window_s = 3600;
    EXPECT_EQ(replay_step(slow, 168h, 8, 1'000'000), 3'600'000);
}

}  // namespace
}  // namespace hostler::alert
