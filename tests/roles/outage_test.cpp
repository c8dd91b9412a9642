// A gateway while no master answers, and one that starts then: over real sockets and TLS.
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;

const http::Header mine{"Authorization", "Bearer hk_mine"};
const http::Header other{"Authorization", "Bearer hk_other"};

class OutageTest : public ::testing::Test {
protected:
    OutageTest() {
        agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.master.keys = {{"hk_mine", "t-a"}, {"hk_other", "t-a"}};
        cloud_.master.valid_s = 0;  // Masters are asked each time.
        cloud_.add_route("open", "h-1", true);
        cloud_.add_route("closed", "h-1", false);
    }
    int status(const std::string& name, http::Headers headers = {}) {
        auto request = cloud_.request(name, "/");
        for (const auto& header : headers) request.headers.add(header.name, header.value);
        return cloud_.fetch(std::move(request)).status;
    }
    bool written(const std::string& prefix) {
        return cloud_.eventually([&] {
            const auto& all = cloud_.gateway_journal.all();
            const auto at = all.lower_bound(prefix);
            return at != all.end() && at->first.starts_with(prefix);
        });
    }
    bool forgotten() {
        return cloud_.eventually([&] {
            const auto& all = cloud_.gateway_journal.all();
            const auto at = all.lower_bound("trust/");
            return at == all.end() || !at->first.starts_with("trust/");
        });
    }
    void lose_master() {
        ASSERT_TRUE(written("routes-whole"));
        at_ = cloud_.master.address;
        cloud_.master.vanish();
        ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    }
    void restart_gateway() {
        cloud_.kill_gateway();
        cloud_.begin_gateway();
    }

    Cloud cloud_;
    std::unique_ptr<Agent> agent_;
    std::string at_;
};

TEST_F(OutageTest, AGatewayThatStartsWithoutAMasterServesWhatItKnew) {
    ASSERT_EQ(status("closed", {mine}), 200);
    ASSERT_TRUE(written("trust/") && written("routes-whole"));
    for (const auto& [key, value] : cloud_.gateway_journal.all())
        EXPECT_EQ((key + value).find("hk_"), std::string::npos) << "no key lies on its disk: " << key;
    lose_master();
    restart_gateway();
    EXPECT_EQ(status("open"), 200);
    EXPECT_EQ(status("closed", {mine}), 200);
    EXPECT_EQ(status("closed", {other}), 503) << "it has never seen this one";
    EXPECT_EQ(status("nowhere"), 503) << "it may have begun since";
    auto page = cloud_.request("closed", "/");
    page.headers.add("Accept", "text/html");
    EXPECT_THAT(std::string{cloud_.fetch(std::move(page)).headers.find("Location").value_or("")},
                HasSubstr("http://console.example/sign-in"));
    for (int i = 0; i < 200; ++i) ASSERT_EQ(status("closed", {mine}), 200) << "however often it is asked";
    cloud_.master.routes.erase("open");
    cloud_.master.serve(at_);
    ASSERT_TRUE(cloud_.eventually([&] { return cloud_.gateway->linked(); }));
    EXPECT_EQ(status("nowhere"), 404);
    EXPECT_EQ(status("open"), 404) << "what masters say counts again";
    EXPECT_EQ(status("closed", {other}), 200);
}

TEST_F(OutageTest, WhatWasRevokedBeforeIsNotBelieved) {
    ASSERT_EQ(status("closed", {mine}), 200);
    ASSERT_TRUE(written("trust/"));
    cloud_.master.end_key("hk_mine");
    ASSERT_TRUE(forgotten());
    lose_master();
    EXPECT_EQ(status("closed", {mine}), 503);
    restart_gateway();
    EXPECT_EQ(status("closed", {mine}), 503);
}

TEST_F(OutageTest, WhatEndedInAnOutageIsHeardOfAtItsEnd) {
    ASSERT_EQ(status("closed", {mine}), 200);
    ASSERT_TRUE(written("trust/"));
    lose_master();
    cloud_.master.keys.erase("hk_mine");
    restart_gateway();
    EXPECT_EQ(status("closed", {mine}), 200);
    cloud_.master.serve(at_);
    ASSERT_TRUE(forgotten()) << "though nobody has shown it to the new master";
    lose_master();
    EXPECT_EQ(status("closed", {mine}), 503);
}

TEST_F(OutageTest, ARefusalIsTheLastWordToo) {
    ASSERT_EQ(status("closed", {mine}), 200);
    ASSERT_TRUE(written("trust/"));
    cloud_.master.keys.erase("hk_mine");
    ASSERT_TRUE(cloud_.eventually([&] { return status("closed", {mine}) == 401; }));
    ASSERT_TRUE(forgotten());
    lose_master();
    EXPECT_TRUE(cloud_.eventually([&] { return status("closed", {mine}) == 503; }))
        << "once the refusal itself is too old";
}

TEST_F(OutageTest, AKeysOwnEndCountsWithoutAMaster) {
    cloud_.master.ends_s["hk_mine"] = 1;
    ASSERT_EQ(status("closed", {mine}), 200);
    lose_master();
    EXPECT_TRUE(cloud_.eventually([&] { return status("closed", {mine}) == 503; }));
}

}  // namespace
}  // namespace hostler::rig
