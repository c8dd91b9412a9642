#include "domain/alert/plan.h"

#include <gtest/gtest.h>

namespace hostler::alert {
namespace {

constexpr std::int64_t second = 1'000'000;

struct Town {
    Town() {
        on_call.id = on_call.name = "on-call";
        on_call.group_wait_s = 30;
        on_call.group_interval_s = 300;
        on_call.repeat_s = 3600;
    }
    Alert& fires(const std::string& id, std::int64_t at, const std::string& name = "hot") {
        Alert& alert = alerts[id];
        alert = {.id = id, .rule = name, .severity = Severity::warning};
        alert.labels = {{"alertname", name}, {"gpu", id}};
        alert.fired_at = at * second;
        return alert;
    }
    Board board() const {
        Board all;
        for (const auto& [id, alert] : alerts) all.alerts.push_back(&alert);
        all.receivers[on_call.id] = &on_call;
        for (const Receiver& one : others) all.receivers[one.id] = &one;
        for (const Silence& one : silences) all.silences.push_back(&one);
        for (const Delivery& one : under_way) all.under_way.push_back(&one);
        return all;
    }
    // What is told at this second, and has arrived at once: "receiver group: a b !c", "!" of what is over.
    std::vector<std::string> told(std::int64_t at) {
        std::vector<std::string> said;
        for (const Delivery& made : plan(board(), at * second)) {
            std::string text = made.receiver + " " + made.group + ":";
            for (const Line& line : made.lines) {
                text += (line.resolved ? " !" : " ") + line.alert;
                note(alerts.at(line.alert), made, line);
            }
            said.push_back(text);
        }
        return said;
    }
    using Said = std::vector<std::string>;

    Receiver on_call;
    std::vector<Receiver> others;
    std::map<std::string, Alert> alerts;
    std::vector<Silence> silences;
    std::vector<Delivery> under_way;
};
using Said = Town::Said;

TEST(Plan, AGroupWaitsChangesAndRepeats) {
    Town town;
    town.fires("a", 100);
    EXPECT_EQ(town.told(129), Said{});
    town.fires("b", 125);
    town.fires("c", 125, "full");
    EXPECT_EQ(town.told(130), Said{"on-call alertname=hot: a b"}) << "b is in time, the other group is not";
    EXPECT_EQ(town.told(155), Said{"on-call alertname=full: c"});
    town.fires("d", 200);
    EXPECT_EQ(town.told(429), Said{}) << "the group was told a moment ago";
    EXPECT_EQ(town.told(430), Said{"on-call alertname=hot: d a b"});
    EXPECT_EQ(town.told(430 + 3599), Said{"on-call alertname=full: c"});
    EXPECT_EQ(town.told(430 + 3600), Said{"on-call alertname=hot: a b d"}) << "it goes on";
}

TEST(Plan, ThatItIsOverIsToldOnceToThoseWhoWereTold) {
    Town town;
    Alert& a = town.fires("a", 0);
    ASSERT_EQ(town.told(30).size(), 1u);
    EXPECT_FALSE(is_settled(a, town.board(), 40 * second));
    a.resolved_at = 40 * second;
    EXPECT_FALSE(is_settled(a, town.board(), 40 * second));
    EXPECT_EQ(town.told(330), Said{"on-call alertname=hot: !a"});
    EXPECT_TRUE(is_settled(a, town.board(), 331 * second));
    EXPECT_EQ(town.told(9999), Said{});

    Alert& brief = town.fires("b", 10'000, "brief");
    brief.resolved_at = 10'010 * second;
    EXPECT_EQ(town.told(10'030), Said{}) << "nobody knew of it";
    EXPECT_TRUE(is_settled(brief, town.board(), 10'010 * second));

    town.on_call.tell_resolved = false;
    Alert& c = town.fires("c", 20'000, "other");
    ASSERT_EQ(town.told(20'030).size(), 1u);
    c.resolved_at = 20'040 * second;
    EXPECT_EQ(town.told(30'000), Said{});
    EXPECT_TRUE(is_settled(c, town.board(), 20'040 * second));
}

TEST(Plan, SilenceKeepsQuietAndWhatStillFiresThenIsTold) {
    Town town;
    Alert& a = town.fires("a", 0);
    town.fires("b", 0);
    town.silences.push_back({.id = "si-1", .matchers = {"gpu=a"}, .until = 500 * second});
    EXPECT_EQ(town.told(30), Said{"on-call alertname=hot: b"});
    EXPECT_EQ(town.told(499), Said{});
    EXPECT_EQ(town.told(500), Said{"on-call alertname=hot: a b"});
    town.silences.push_back({.id = "si-2", .matchers = {"gpu=a"}, .until = 9000 * second});
    a.resolved_at = 510 * second;
    EXPECT_EQ(town.told(900), Said{}) << "nor that it is over";
    EXPECT_TRUE(is_settled(a, town.board(), 900 * second));
    Town other;
    other.fires("a", 0);
    other.silences.push_back({.id = "si-3", .tenant = "acme", .matchers = {"gpu=a"}, .until = 500 * second});
    EXPECT_EQ(other.told(30).size(), 1u) << "a tenant's silence is not the operator's";
}

TEST(Plan, EachIsToldWhatConcernsIt) {
    Town town;
    Receiver acme{.id = "acme/mail", .name = "mail", .tenant = "acme"};
    Receiver calm{.id = "calm", .name = "calm"};
    calm.least = Severity::critical;
    Receiver nj{.id = "nj", .name = "nj"};
    nj.where = {"zone=nj"};
    town.others = {acme, calm, nj};
    town.fires("mine", 0, "one").tenant = "acme";
    Alert& own = town.fires("own", 0, "two");
    own.tenant = "acme", own.own = true;
    town.fires("theirs", 0, "three").tenant = "other";
    town.fires("bad", 0, "four").severity = Severity::critical;
    town.fires("east", 0, "five").labels["zone"] = "nj";
    EXPECT_EQ(town.told(60), (Said{"acme/mail alertname=one: mine", "acme/mail alertname=two: own",
                                   "calm alertname=four: bad", "nj alertname=five: east",
                                   "on-call alertname=five: east", "on-call alertname=four: bad",
                                   "on-call alertname=one: mine", "on-call alertname=three: theirs"}));
}

TEST(Plan, OneMessageOfAGroupIsUnderWayAndOnlySoMany) {
    Town town;
    town.fires("a", 0);
    town.under_way.push_back({.id = "an-1", .receiver = "on-call", .group = "alertname=hot"});
    EXPECT_EQ(town.told(100), Said{});
    town.fires("b", 0, "full");
    EXPECT_EQ(town.told(100), Said{"on-call alertname=full: b"});
    for (std::size_t i = 1; i < deliveries_max; ++i)
        town.under_way.push_back({.id = "an", .receiver = "on-call", .group = "g" + std::to_string(i)});
    town.fires("c", 0, "third");
    EXPECT_EQ(town.told(200), Said{}) << "nothing is made that has no room; nor is it forgotten";
    town.under_way.pop_back();
    EXPECT_EQ(town.told(200), Said{"on-call alertname=third: c"});
}

TEST(Plan, AStormComesInMessagesOfSoManyLines) {
    Town town;
    for (std::size_t i = 0; i < lines_max + 5; ++i) town.fires(std::to_string(1000 + i), 0);
    const auto first = plan(town.board(), 60 * second);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].lines.size(), lines_max);
    (void)town.told(60);
    const auto rest = plan(town.board(), 360 * second);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].lines[0].alert, std::to_string(1000 + lines_max))
        << "those that were not told come first";
}

}  // namespace
}  // namespace hostler::alert
