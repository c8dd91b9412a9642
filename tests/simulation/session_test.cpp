// A tenant types into a terminal and speaks through a forwarded port, by the shipped command line's sessions,
// while gateways, access points and masters die: every byte arrives, once and in order. And share links, by
// their clock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/session.h"
#include "cloud.h"
#include "core/percent.h"
#include "seeds.h"
#include "sessions.h"

namespace hostler::simulation {

namespace {

TEST(Sessions, WhatIsTypedArrivesOnceAndInOrderWhoeverDies) {
    const Seeds range = seeds(6);
    int broke = 0;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        SessionRide ride{seed};
        ASSERT_TRUE(ride.begin()) << replay_command(seed) << " " << ride.cloud.unsettled();
        for (int round = 0; round < 5 && !ride.cloud.found.any(); ++round) ride.round();
        ride.finish();
        EXPECT_FALSE(ride.cloud.found.any()) << ride.cloud.found.text() << replay_command(seed);
        broke += ride.dialled_again();
    }
    EXPECT_GT(broke, 0) << "no connection broke: nothing was tried";
    fmt::print("{} connections were dialled again\n", broke);
}

TEST(Sessions, AShareLinkOpensUntilItsTimeAndNotAMomentLonger) {
    SessionRide ride{1};
    ASSERT_TRUE(ride.begin());
    Cloud& cloud = ride.cloud;
    const auto shared = cloud.world.ask(cloud.call(
        cloud.keys.at("red-team"), "POST", "/v1/instances/box/shares", R"({"port":8080,"forSeconds":600})"));
    ASSERT_TRUE(shared && shared->status == 201) << (shared ? shared->body : shared.error().message);
    const Instant end = cloud.world.timers.now() + 600s;
    const std::string secret{boost::json::parse(shared->body).at("secret").as_string()};
    const auto get = [&](const std::string& target, const std::string& cookie) {
        http::Client client{cloud.world.net, cloud.world.timers, {.idle_max = 0}};
        http::Request request{.target = target};
        request.headers.set("Host", fmt::format("8080-{}.localhost", ride.instance()));
        if (!cookie.empty()) request.headers.set("Cookie", cookie);
        const auto answer = cloud.world.ask(client.fetch({.address = "gw:8443"}, request));
        return answer ? *answer : http::Response{.status = 0};
    };
    const auto redeem = [&] {
        const auto let_in = get("/.hostler/session?code=" + percent_encode(secret) + "&to=/", "");
        const std::string cookie{let_in.headers.find("Set-Cookie").value_or("")};
        return cookie.substr(0, cookie.find(';'));
    };
    const std::string cookie = redeem();
    ASSERT_FALSE(cookie.empty());
    EXPECT_EQ(get("/", "").status, 401);
    EXPECT_EQ(get("/", cookie).status, 200);
    cloud.world.run(end - cloud.world.timers.now() - 40s);  // Clocks of the simulation differ by up to 30 s.
    EXPECT_EQ(get("/", cookie).status, 200);
    cloud.world.run(end - cloud.world.timers.now() + 50s);  // And a verdict is kept for 15 s.
    EXPECT_EQ(get("/", cookie).status, 401);
    EXPECT_EQ(redeem(), "");
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

}  // namespace

}  // namespace hostler::simulation
