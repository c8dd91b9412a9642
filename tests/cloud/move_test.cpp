// An instance that may move, and its host: an agent that is killed, and one that says nothing any more.
#include <signal.h>

#include "cloud.h"

namespace hostler::cloud {
namespace {

TEST(Move, WhatASilentAgentLeftIsStoppedByItsSupervisorAndBeginsElsewhere) {
    Cloud cloud{{"--unreachable-after", "3", "--lost-after", "5", "--move-lease", "12"}};
    cloud.make_stock(2);
    const std::string url = cloud.run({.id = "mover-1", .moves = true});
    const Page before = cloud.instance("mover-1");
    const std::string host = before.at("/host");
    const std::string role = "host-" + cloud.api("GET", "/v1/hosts/" + host).at("/name");

    // With kill -9 nothing but the agent ends, and the next one goes on with what runs.
    const pid_t first = cloud.kill9(role);
    cloud.wait_for_another(role, first);
    ASSERT_TRUE(cloud.until([&] { return cloud.web.fetch("GET", url + "/healthz").body == "ok\n"; }, 60s));

    // One that stands still renews nothing, and can stop nothing: its supervisor does.
    pid_t silent = 0;
    ASSERT_TRUE(cloud.until([&] { return (silent = cloud.find(role)) != 0; }, 60s));
    ::kill(silent, SIGSTOP);
    EXPECT_TRUE(cloud.until(
        [&] {
            const Page now = cloud.instance("mover-1");
            return now.at("/state") == "running" && now.at("/host") != host;
        },
        120s))
        << cloud.instance("mover-1").body;
    const Page moved = cloud.instance("mover-1");
    EXPECT_EQ(moved.at("/id"), before.at("/id"));
    EXPECT_EQ(cloud.containers(moved.at("/id")).size(), 1u) << "one stopped before the other began";
    EXPECT_TRUE(cloud.until([&] { return cloud.web.fetch("GET", url + "/healthz").body == "ok\n"; }, 60s));

    // What it held there is free once its host has said so.
    ::kill(silent, SIGCONT);
    cloud.end("mover-1");
    EXPECT_TRUE(cloud.until([&] { return cloud.gpus_free() == 12; }, 60s));
}

}  // namespace
}  // namespace hostler::cloud
