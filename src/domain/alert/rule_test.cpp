#include "domain/alert/rule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hostler::alert {
namespace {

TEST(Match, IsWrittenAsPeopleWriteIt) {
    const auto some = parse_match("zone=lon|nj");
    ASSERT_TRUE(some);
    EXPECT_EQ(some->label, "zone");
    EXPECT_EQ(some->values, (std::vector<std::string>{"lon", "nj"}));
    EXPECT_FALSE(some->differs);
    EXPECT_TRUE(parse_match("tenant!=")->differs);
    EXPECT_EQ(parse_match("a=b=c")->values, (std::vector<std::string>{"b=c"}));
    for (const char* wrong : {"", "zone", "=lon", "!=lon", "zo ne=lon"})
        EXPECT_FALSE(parse_match(wrong)) << wrong;
}

TEST(Match, AllOfThemAreMeantAndAnAbsentLabelIsEmpty) {
    const Labels labels{{"zone", "lon"}, {"gpu", "GPU-1"}};
    EXPECT_TRUE(matches({}, labels));
    EXPECT_TRUE(matches({"zone=lon|nj", "gpu!=GPU-2", "tenant="}, labels));
    EXPECT_FALSE(matches({"zone=lon", "tenant!="}, labels));
    EXPECT_FALSE(matches({"zone"}, labels)) << "nothing is meant by what cannot be read";
}

TEST(Rule, ATenantsIsAskedOfItsOwnAlone) {
    Rule rule{.name = "hot", .tenant = "acme"};
    rule.where = {"tenant=other", "zone=lon"};
    rule.metric = "m";
    const std::vector<Sample> samples{{{{"tenant", "other"}, {"zone", "lon"}}, 1},
                                      {{{"tenant", "acme"}, {"zone", "lon"}}, 2},
                                      {{{"zone", "lon"}}, 3}};
    EXPECT_TRUE(select(rule, samples).empty()) << "whatever it says itself";
    rule.where = {"zone=lon"};
    ASSERT_EQ(select(rule, samples).size(), 1u);
    EXPECT_EQ(select(rule, samples)[0].value, 2);
    const auto query = query_of(rule, 120'000);
    EXPECT_EQ(query.where.back().label, "tenant");
    EXPECT_EQ(query.where.back().values, (std::vector<std::string>{"acme"}));
    EXPECT_EQ(query.from, 60'000);
    EXPECT_EQ(query.to, 120'000);
    EXPECT_TRUE(series::check(query));
}

TEST(Rule, GroupsAreOfLabels) {
    Rule rule{.name = "power"};
    rule.by = {"zone"};
    const std::vector<Sample> samples{
        {{{"zone", "lon"}, {"gpu", "1"}}, 1}, {{{"zone", "lon"}, {"gpu", "2"}}, 5}, {{{"zone", "nj"}}, 3}};
    const auto value = [&](Across across, std::size_t group) {
        rule.across = across;
        return select(rule, samples).at(group).value;
    };
    EXPECT_EQ(value(Across::sum, 0), 6);
    EXPECT_EQ(value(Across::avg, 0), 3);
    EXPECT_EQ(value(Across::min, 0), 1);
    EXPECT_EQ(value(Across::max, 0), 5);
    EXPECT_EQ(value(Across::count, 0), 2);
    EXPECT_EQ(value(Across::sum, 1), 3);
    EXPECT_EQ(select(rule, samples)[0].labels, (Labels{{"zone", "lon"}}));
}

TEST(Rule, AFingerprintTellsLabelSetsApart) {
    const std::string one = fingerprint("r", {{"a", "bc"}});
    EXPECT_EQ(one.size(), 16u);
    EXPECT_EQ(one, fingerprint("r", {{"a", "bc"}}));
    EXPECT_NE(one, fingerprint("r", {{"ab", "c"}}));
    EXPECT_NE(one, fingerprint("s", {{"a", "bc"}}));
    EXPECT_NE(one, fingerprint("r", {{"a", "bc"}, {"d", ""}}));
}

TEST(Rule, PlaceholdersAreFilledIn) {
    Rule rule{.name = "hot"};
    rule.threshold = 80;
    const Labels labels{{"gpu", "GPU-1"}};
    EXPECT_EQ(fill("{rule}: {gpu} at {value} > {threshold}{nothing}", rule, labels, 91.5),
              "hot: GPU-1 at 91.5 > 80");
    EXPECT_EQ(fill("{value", rule, labels, 1), "{value");
    EXPECT_EQ(fill("{value}", rule, labels, std::nan("")), "nothing");
}

}  // namespace
}  // namespace hostler::alert
