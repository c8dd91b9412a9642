// What can go wrong with an instance ends in a named state with a sentence, and frees what it held.
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Failure : public Shared {
protected:
    // Fails, and what it held is free again; the instance as it is then shown.
    Page fails(const Wish& wish) {
        const std::string idle = cloud.whole_stock(wish.spec);
        const Page begun = cloud.begin(wish);
        EXPECT_EQ(begun.status, 200) << begun.body;
        const Page failed = cloud.wait_for(wish.id, "failed");
        EXPECT_FALSE(failed.at("/message").empty());
        EXPECT_TRUE(cloud.until([&] { return cloud.containers(failed.at("/id")).empty(); }))
            << "its container is still there";
        EXPECT_TRUE(cloud.until([&] { return cloud.stock(wish.spec).at("/idle") == idle; }))
            << cloud.stock(wish.spec).body;
        EXPECT_EQ(cloud.api("GET", "/gpu-instances/" + wish.id + "?tenantID=acme").at("/state"), "failed");
        EXPECT_FALSE(
            cloud.api("GET", "/v1/instances/" + wish.id + "/explain?tenantID=acme").at("/sentence").empty());
        return failed;
    }
};

TEST_F(Failure, AContainerThatExitsKeepsItsCodeAndItsLogs) {
    const Page failed = fails({.id = "exits", .env = {{"EXIT_CODE", "42"}}});
    EXPECT_EQ(failed.at("/exitCode"), "42") << failed.body;
    EXPECT_EQ(failed.at("/reason"), "exited");
    EXPECT_THAT(cloud.api("GET", "/v1/instances/exits/logs?tenantID=acme").at("/text"),
                HasSubstr("leaving with EXIT_CODE 42"));
}

TEST_F(Failure, OneThatExitsWhileItRuns) {
    const std::string url = cloud.run({.id = "exits-later"});
    const std::string id = cloud.instance("exits-later").at("/id");
    EXPECT_EQ(cloud.web.fetch("GET", url + "/exit?code=7").status, 200);
    const Page failed = cloud.wait_for("exits-later", "failed");
    EXPECT_EQ(failed.at("/exitCode"), "7") << failed.body;
    EXPECT_THAT(failed.at("/message"), HasSubstr("7"));
    EXPECT_TRUE(cloud.until([&] { return cloud.containers(id).empty(); }));
    EXPECT_THAT(cloud.api("GET", "/v1/instances/exits-later/logs?tenantID=acme").at("/text"),
                HasSubstr("listening on port 8080"));
}

TEST_F(Failure, AProbeThatNeverPasses) {
    const Page failed = fails({.id = "never-ready", .env = {{"NEVER_READY", "1"}}});
    EXPECT_EQ(failed.at("/reason"), "not_ready") << failed.body;
    EXPECT_THAT(failed.at("/message"), HasSubstr("8080"));
    EXPECT_THAT(cloud.api("GET", "/v1/instances/never-ready/logs?tenantID=acme").at("/text"),
                HasSubstr("NEVER_READY"));
}

// On 127.0.0.1 a program reaches itself, and nobody else it.
TEST_F(Failure, AProgramThatListensOnTheLoopbackOnly) {
    const std::string words = "listens on 127.0.0.1 only; let it listen on 0.0.0.0";
    const Page failed = fails({.id = "to-itself", .env = {{"LISTEN", "127.0.0.1"}}});
    EXPECT_EQ(failed.at("/reason"), "not_ready") << failed.body;
    EXPECT_THAT(failed.at("/message"), HasSubstr("port 8080: its program " + words));
    EXPECT_THAT(cloud.api("GET", "/v1/instances/to-itself/explain?tenantID=acme").at("/sentence"),
                HasSubstr(words));
    const std::string url = cloud.run({.id = "unasked", .probe = false, .env = {{"LISTEN", "::1"}}});
    // Until it listens, nothing does.
    Page silent;
    EXPECT_TRUE(cloud.until([&] {
        silent = cloud.web.fetch("GET", url + "/");
        return silent.body.contains("only");
    })) << silent.body;
    EXPECT_EQ(silent.status, 502);
    EXPECT_THAT(silent.body,
                HasSubstr("On port 8080 its program listens on ::1 only; let it listen on 0.0.0.0."));
    cloud.end("unasked");
}

TEST_F(Failure, ACommandThatIsNotInTheImage) {
    const Page failed = fails({.id = "no-command", .cmd = "/bin/nothing --here"});
    EXPECT_THAT(failed.at("/message"), HasSubstr("/bin/nothing"));
}

TEST_F(Failure, OneThatUsesMoreMemoryThanItsSpec) {
    const std::string url = cloud.run({.id = "greedy"});
    const std::string id = cloud.instance("greedy").at("/id");
    (void)cloud.web.fetch("GET", url + "/alloc?mib=600", {}, "", 20s);
    const Page failed = cloud.wait_for("greedy", "failed");
    EXPECT_EQ(failed.at("/reason"), "out_of_memory") << failed.body;
    EXPECT_THAT(failed.at("/message"), HasSubstr("memory"));
    EXPECT_TRUE(cloud.until([&] { return cloud.containers(id).empty(); }));
}

TEST_F(Failure, AChildThatUsesMoreMemoryIsTold) {
    const std::string url = cloud.run({.id = "parent"});
    EXPECT_EQ(cloud.web.fetch("GET", url + "/alloc?mib=600&child=loader").body, "begun\n");
    const std::string words = "memory was used up, and the kernel killed its process loader";
    Page events;
    EXPECT_TRUE(cloud.until(
        [&] {
            events = cloud.api("GET", "/v1/instances/parent/events?tenantID=acme");
            return events.body.contains(words);
        },
        30s))
        << events.body;
    EXPECT_THAT(events.body, HasSubstr("process_out_of_memory"));
    EXPECT_EQ(cloud.instance("parent").at("/state"), "running") << "its program lives on";
    const Page why = cloud.api("GET", "/v1/instances/parent/explain?tenantID=acme");
    EXPECT_THAT(why.at("/sentence"), HasSubstr(words));
    EXPECT_THAT(why.at("/wouldHelp"), HasSubstr("Let loader use less memory"));
    cloud.end("parent");
}

TEST_F(Failure, AnEngineThatIsKilledComesBackAndFindsEverything) {
    const std::string url = cloud.run({.id = "stays"});
    const Page before = cloud.instance("stays");
    const auto containers = cloud.containers(before.at("/id"));
    const pid_t was = cloud.kill9("engine");
    // The data path does not need it.
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    cloud.wait_for_another("engine", was);
    // Its hosts take nothing until they have seen the new one.
    EXPECT_TRUE(cloud.until([&] { return cloud.begin({.id = "after-engine"}).status == 200; }));
    const std::string next = cloud.run({.id = "after-engine"});
    EXPECT_EQ(cloud.web.fetch("GET", next + "/healthz").body, "ok\n");
    EXPECT_EQ(cloud.instance("stays").at("/state"), "running");
    EXPECT_EQ(cloud.containers(before.at("/id")), containers);
    EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    cloud.end("stays");
    cloud.end("after-engine");
}

}  // namespace
}  // namespace hostler::cloud
