// Instances that stop by themselves: not while they are used, surely after, and back with all that is theirs.
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;

class Idle : public Shared {};

TEST_F(Idle, IsStoppedWhenNobodyUsesItAndComesBackAsItWas) {
    const Page volume =
        cloud.api("POST", "/v1/volumes", {{"name", "rested"}, {"size", "300Mi"}, {"tenantID", "acme"}});
    ASSERT_EQ(volume.status, 201) << volume.body;
    json::object wanted = cloud.body_of({.id = "idle-1", .storage = "rested", .mount = "/data"});
    wanted["inactivityTimeoutSeconds"] = 8;
    ASSERT_EQ(cloud.api("POST", "/gpu-instances", wanted).status, 200);
    const Page running = cloud.wait_for("idle-1", "running");
    const std::string url = running.at("/urls/0/url");
    Page put;
    ASSERT_TRUE(cloud.until([&] {  // Its gateway hears of it a moment after the API says so.
        put = cloud.web.fetch("PUT", url + "files/x", {}, "what is kept");
        return put.status == 201;
    })) << put.body;

    // Used for twice its time.
    int answered = 0;
    const bool refused = cloud.until(
        [&] {
            if (cloud.web.fetch("GET", url + "files/x").body != "what is kept") return true;
            ++answered;
            return false;
        },
        16s);
    EXPECT_FALSE(refused) << "it was stopped while it was used, after " << answered << " answers";
    EXPECT_EQ(cloud.instance("idle-1").at("/state"), "running");

    const Page stopped = cloud.wait_for("idle-1", "stopped", 90s);
    EXPECT_EQ(stopped.at("/resumable"), "true");
    EXPECT_EQ(stopped.at("/reason"), "unused");
    EXPECT_EQ(stopped.at("/message"), "it was unused for 8s");
    EXPECT_TRUE(cloud.containers(running.at("/id")).empty());
    EXPECT_THAT(cloud.cli({"instance", "events", "idle-1"}).out, HasSubstr("stops_soon"));
    Page page;
    const http::Headers key{{"Authorization", "Bearer " + cloud.key}};
    EXPECT_TRUE(cloud.until([&] {
        page = cloud.web.fetch("GET", url, key);
        return page.header("X-Hostler-Notice") == "resting";
    })) << page.body;
    EXPECT_EQ(page.status, 503);
    EXPECT_THAT(page.body, HasSubstr("hostler instance start idle-1"));
    EXPECT_THAT(page.body, HasSubstr("it was unused for 8s"));

    EXPECT_EQ(cloud.cli({"instance", "update", "idle-1", "--inactivity-timeout", "off"}).code, 0);
    for (const char* verb : {"start", "restart"}) {
        const Ran done = cloud.cli({"instance", verb, "idle-1", "--wait"});
        EXPECT_EQ(done.code, 0) << done.err;
        const Page now = cloud.instance("idle-1");
        EXPECT_EQ(now.at("/state"), "running");
        EXPECT_EQ(now.at("/urls/0/url"), url);
        EXPECT_EQ(now.at("/stopsAt"), "");
        EXPECT_TRUE(cloud.until([&] {
            return cloud.web.fetch("GET", url + "files/x").body == "what is kept";
        })) << verb;
    }
    cloud.end("idle-1");
    EXPECT_EQ(cloud.api("DELETE", "/v1/volumes/rested?tenantID=acme").status, 202);
}

}  // namespace
}  // namespace hostler::cloud
