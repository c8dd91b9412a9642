#include "roles/master/benchmark/network_speed.h"

#include <gtest/gtest.h>

#include "api/types_host.h"
#include "roles/master/benchmark/qualification.h"
#include "roles/master/host/view.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/host_rig.h"

namespace hostler::master {
namespace {

struct SpeedRig : testing::DeskRig {
    std::string measuring_host(const std::string& name) {
        const std::string id = host(name);
        live.hosts[id].measures_speed = true;
        return id;
    }
    std::optional<std::string> next() { return host_to_measure(desk, access); }
    void measured(const std::string& id, std::int64_t down_kbit_s = 940'000) {
        note_speed(desk, id, access,
                   SpeedFigures{.round_trip_us = 1'900, .down_kbit_s = down_kbit_s, .up_kbit_s = 930'000});
    }
    const std::string access = "access-nj";
};

TEST(SpeedRules, AHostIsMeasuredWhenItComesAndOnTheSchedule) {
    SpeedRig rig;
    EXPECT_FALSE(rig.next());
    const auto a = rig.measuring_host("a");
    EXPECT_EQ(rig.next(), a);
    rig.measured(a);
    EXPECT_FALSE(rig.next());
    const auto shown = view(rig.desk, rig.estate.hosts.at(a));
    ASSERT_EQ(shown.network.size(), 1u);
    EXPECT_EQ(shown.network[0].access_point, "access-nj");
    EXPECT_EQ(shown.network[0].round_trip_ms, 1.9);
    EXPECT_EQ(shown.network[0].down_mbit_s, 940.0);
    EXPECT_TRUE(shown.network[0].measured_at);
    rig.pass(8 * 3600);
    rig.report(a);
    EXPECT_FALSE(rig.next());
    rig.pass(8 * 3600);
    rig.report(a);
    EXPECT_EQ(rig.next(), a);
}

TEST(SpeedRules, WhoWaitsLongestIsNext) {
    SpeedRig rig;
    const auto a = rig.measuring_host("a"), b = rig.measuring_host("b");
    rig.measured(a);
    EXPECT_EQ(rig.next(), b);
    rig.measured(b);
    EXPECT_FALSE(rig.next());
    ASSERT_FALSE(ask_measuring(rig.desk, b)) << "its GPUs are not measured by such an agent";
    want_speeds(rig.desk, b);
    EXPECT_EQ(rig.next(), b) << "an operator wants it";
    rig.measured(b);
    EXPECT_FALSE(rig.next());
}

TEST(SpeedRules, OneThatCouldNotBeMeasuredRestsAndKeepsItsFigures) {
    SpeedRig rig;
    const auto a = rig.measuring_host("a");
    rig.measured(a);
    want_speeds(rig.desk, a);
    note_speed(rig.desk, a, rig.access, fail(Code::conflict, "the host's link is in use", "link_busy"));
    EXPECT_FALSE(rig.next());
    const auto shown = view(rig.desk, rig.estate.hosts.at(a)).network.at(0);
    EXPECT_EQ(shown.problem, "the host's link is in use");
    EXPECT_EQ(shown.down_mbit_s, 940.0);
    rig.pass(601);
    rig.report(a);
    EXPECT_EQ(rig.next(), a);
    rig.measured(a);
    EXPECT_EQ(view(rig.desk, rig.estate.hosts.at(a)).network.at(0).problem, "");
}

TEST(SpeedRules, OnlyWhoIsThereAndCanIsAsked) {
    SpeedRig rig;
    const auto a = rig.measuring_host("a");
    EXPECT_FALSE(host_to_measure(rig.desk, "access-lon")) << "it is not connected there";
    rig.live.hosts[a].measures_speed = false;
    EXPECT_FALSE(rig.next());
    rig.live.hosts[a].measures_speed = true;
    rig.disconnect(a);
    EXPECT_FALSE(rig.next());
    const auto b = rig.measuring_host("b");
    rig.settings.network_every = {};
    EXPECT_FALSE(rig.next());
}

TEST(SpeedRules, WhatWasMeasuredTowardsAnAccessPointThatIsNoMoreGoes) {
    SpeedRig rig;
    const auto a = rig.measuring_host("a");
    rig.estate.access_points.add({.name = "access-lon"});
    note_speed(rig.desk, a, "access-old", SpeedFigures{.down_kbit_s = 1});
    note_speed(rig.desk, a, "access-lon", SpeedFigures{.down_kbit_s = 2});
    rig.measured(a);
    const auto& known = rig.estate.hosts.at(a).network;
    EXPECT_FALSE(speed_to(known, "access-old"));
    EXPECT_TRUE(speed_to(known, "access-lon"));
    EXPECT_TRUE(speed_to(known, "access-nj"));
}

// As an access point hears of it.
struct SpeedLink : ::testing::Test, testing::HostRig {
    wire::Link& measuring_access() {
        wire::Link& link = connect("access/nj-1");
        uplink::Frame said;
        said.mutable_access_hello()->set_zone("nj");
        said.mutable_access_hello()->set_measures_speed(true);
        send(link, said);
        HOSTLER_ASSERT(HostRig::next(link).has_access_welcome());
        return link;
    }
};

TEST_F(SpeedLink, AnAccessPointIsAskedForOneHostAfterTheOther) {
    wire::Link& link = measuring_access();
    up(link, 1, "h-a");
    hello(link, 1);
    desk().live.hosts["h-a"].measures_speed = true;
    desk().live.hosts["h-a"].complete = true;
    timers.advance(std::chrono::seconds{3});
    uplink::Frame asked;
    for (int i = 0; i < 20 && !asked.has_speed_request(); ++i) asked = HostRig::next(link);
    ASSERT_TRUE(asked.has_speed_request());
    EXPECT_EQ(asked.speed_request().host(), "h-a");
    EXPECT_EQ(asked.speed_request().busy_kbit_s(), 8'000u);
    uplink::Frame answer;
    answer.set_answer_to(asked.call());
    answer.mutable_speed_answer()->set_round_trip_us(2'000);
    answer.mutable_speed_answer()->set_down_kbit_s(100'000);
    answer.mutable_speed_answer()->set_up_kbit_s(50'000);
    send(link, answer);
    const auto* way = speed_to(term().look().estate.hosts.at("h-a").network, "nj-1");
    ASSERT_TRUE(way);
    EXPECT_EQ(way->figures.down_kbit_s, 100'000);
    EXPECT_EQ(way->figures.up_kbit_s, 50'000);
    EXPECT_GT(way->measured_at, 0);
}

}  // namespace
}  // namespace hostler::master
