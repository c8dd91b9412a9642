// What histories in tests/contract do not pin down by hand: the edges of steps, of eras, of quantiles.
#include "domain/series/evaluate.h"

#include <gmock/gmock.h>

namespace hostler::series {

using ::testing::ElementsAre;

namespace {

std::vector<Point> samples(std::vector<std::pair<Millis, double>> of, Kind kind = Kind::gauge) {
    std::vector<Millis> times;
    std::vector<Cell> cells;
    for (const auto& [time, value] : of) {
        times.push_back(time);
        cells.push_back(real_cell(value));
    }
    return points_of(times, cells, {.name = "m", .kind = kind, .form = Form::real});
}

std::vector<double> answer(const Query& query, std::span<const Era> eras, std::span<const Point> points) {
    Evaluation evaluation{query};
    EXPECT_TRUE(evaluation.add("gpu/1", eras, points));
    const auto lines = std::move(evaluation).finish();
    return lines.empty() ? std::vector<double>{} : lines[0].values;
}

}  // namespace

TEST(Evaluation, AStepHasItsFirstMomentAndNotItsLast) {
    const Era era{.from = 0, .labels = {}};
    const Query query{
        .metric = "m", .from = 100, .to = 350, .step = 100, .over = Over::count, .across = Across::sum};
    // The last step ends where the query does.
    EXPECT_THAT(
        answer(query, {&era, 1}, samples({{99, 1}, {100, 1}, {199, 1}, {200, 1}, {349, 1}, {350, 1}})),
        ElementsAre(2, 1, 1));
}

TEST(Evaluation, BeforeItsFirstLabelsADeviceHasTheFirst) {
    const Era eras[] = {{.from = 50, .labels = {{"t", "a"}}}, {.from = 100, .labels = {{"t", "b"}}}};
    Query query{.metric = "m",
                .where = {{.label = "t", .values = {"a"}}},
                .from = 0,
                .to = 200,
                .step = 200,
                .over = Over::sum};
    const auto points = samples({{0, 1}, {99, 2}, {100, 4}, {150, 8}});
    EXPECT_THAT(answer(query, eras, points), ElementsAre(3));
    query.where[0].values = {"b"};
    EXPECT_THAT(answer(query, eras, points), ElementsAre(12));
    query.where[0].values = {"c"};
    EXPECT_TRUE(answer(query, eras, points).empty());
}

TEST(Evaluation, ADeviceThatComesBackToItsLabelsIsOneLine) {
    const Era eras[] = {{.from = 0, .labels = {{"t", "a"}}},
                        {.from = 10, .labels = {{"t", "b"}}},
                        {.from = 20, .labels = {{"t", "a"}}}};
    const Query query{.metric = "m",
                      .where = {{.label = "t", .values = {"a"}}},
                      .from = 0,
                      .to = 100,
                      .step = 100,
                      .over = Over::sum};
    EXPECT_THAT(answer(query, eras, samples({{5, 1}, {15, 2}, {25, 4}})), ElementsAre(5));
}

TEST(Evaluation, ErasComeInOrderAndTheLastWordHolds) {
    EXPECT_THAT(in_order({{.from = 5, .labels = {{"t", "b"}}},
                          {.from = 0, .labels = {{"t", "a"}}},
                          {.from = 5, .labels = {{"t", "c"}}},
                          {.from = 9, .labels = {{"t", "c"}}}}),
                ElementsAre(Era{0, {{"t", "a"}}}, Era{5, {{"t", "c"}}}));
    EXPECT_THAT(in_order({{.from = 5, .labels = {{"t", "b"}}},
                          {.from = 5, .labels = {{"t", "a"}}},
                          {.from = 0, .labels = {{"t", "a"}}}}),
                ElementsAre(Era{0, {{"t", "a"}}}));
}

TEST(Evaluation, AGapOfMoreThanFiveMinutesSaysNothingOfACounter) {
    const auto points = samples({{0, 10}, {gap_max, 20}, {2 * gap_max + 1, 90}}, Kind::counter);
    EXPECT_EQ(points[1].increase, 10);
    EXPECT_EQ(points[1].span, gap_max);
    EXPECT_EQ(points[2].span, 0);
}

TEST(Evaluation, AnAnswerThatWouldBeTooLargeIsRefused) {
    const Era era{.from = 0, .labels = {}};
    Query query{.metric = "m", .from = 0, .to = 10, .step = 1, .over = Over::sum};
    Evaluation evaluation{query, 30};
    for (const std::string device : {"gpu/1", "gpu/2", "gpu/3"})
        EXPECT_TRUE(evaluation.add(device, {&era, 1}, samples({{1, 1}})));
    const auto added = evaluation.add("gpu/4", {&era, 1}, samples({{1, 1}}));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, Code::exhausted);
}

TEST(Query, ItsTimesAndItsStepAreBounded) {
    const Era era{.from = -far, .labels = {}};
    const Query longest{.metric = "m", .from = -far, .to = far, .step = far};
    EXPECT_TRUE(check(longest));
    EXPECT_THAT(answer(longest, {&era, 1}, samples({{-far, 1}, {far - 1, 3}})), ElementsAre(1, 3));
    for (const auto& [from, to, step] : std::vector<std::tuple<Millis, Millis, Millis>>{
             {-far - 1, far, far}, {-far, far + 1, far}, {-far, far, far + 1}}) {
        const auto checked = check({.metric = "m", .from = from, .to = to, .step = step});
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code, Code::invalid);
    }
}

TEST(Query, AQuantileLiesBetweenTheNearest) {
    std::vector<double> values{40, 10, 20, 30};
    EXPECT_EQ(quantile(values, 0), 10);
    EXPECT_EQ(quantile(values, 1), 40);
    EXPECT_EQ(quantile(values, 0.5), 25);
    EXPECT_NEAR(quantile(values, 0.9), 37, 1e-9);
}

TEST(Query, TheHighestComeFirstAndThoseWithoutAnyLast) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<Line> lines{{{{"g", "2"}}, {1, 3}},
                            {{{"g", "1"}}, {none, none}},
                            {{{"g", "3"}}, {none, 5}},
                            {{{"g", "0"}}, {2, 2}}};
    auto top = lines;
    order(top, 3);
    ASSERT_EQ(top.size(), 3U);
    EXPECT_EQ(top[0].labels["g"], "3");
    EXPECT_EQ(top[1].labels["g"], "0");  // As high as "2".
    EXPECT_EQ(top[2].labels["g"], "2");
    order(lines, 0);
    EXPECT_EQ(lines[0].labels["g"], "0");
}

}  // namespace hostler::series
