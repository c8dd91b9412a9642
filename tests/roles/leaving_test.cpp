// Gateway and access point end in order: what runs may end, and nobody new comes in.
#include "rig.h"

namespace hostler::rig {
namespace {

class LeavingTest : public ::testing::Test {
protected:
    LeavingTest() {
        agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.add_route("open", "h-1", true);
        agent_->sink_max = 0;
    }
    ~LeavingTest() override { (void)cloud_.go(tasks_.close()); }
    // An upload that the instance takes in only when it is told to.
    void begin_upload() {
        const int before = agent_->tunnels;
        tasks_.start("upload", [](LeavingTest& test) -> Task<> {
            auto request = test.cloud_.request("open", "/sink");
            request.method = "POST";
            request.body = std::string(100'000, 'x');
            auto answer = co_await test.cloud_.client.fetch({test.cloud_.gateway->address()},
                                                            std::move(request), {.total = 60s});
            test.uploaded_ = answer ? answer->status : -1;
            co_return Result<>{};
        }(*this));
        ASSERT_TRUE(cloud_.eventually([&] { return agent_->tunnels == before + 1; }));
    }
    void let_upload_end() {
        agent_->sink_max = UINT64_MAX;
        agent_->sink_changed.notify_all();
    }
    template <class Role>
    void leave(Role& role, Duration patience) {
        tasks_.start("leave", [](Role& of, Duration time, bool& left) -> Task<> {
            auto ended = co_await of.leave(time);
            left = true;
            co_return ended;
        }(role, patience, left_));
    }
    bool refuses(const std::string& address) {
        return cloud_.eventually([&] { return !cloud_.go(cloud_.net->dial(address, 5s)); });
    }

    Cloud cloud_;
    std::unique_ptr<Agent> agent_;
    int uploaded_ = 0;
    bool left_ = false;
    TaskGroup tasks_{cloud_.loop};
};

TEST_F(LeavingTest, AGatewayLetsRequestsEndAndTakesNoNewOnes) {
    auto reply = cloud_.go(
        cloud_.client.start({cloud_.gateway->address()}, {.request = cloud_.request("open", "/events")}));
    ASSERT_TRUE(reply);
    begin_upload();
    leave(*cloud_.gateway, 1h);
    ASSERT_TRUE(refuses(cloud_.gateway->address()));
    EXPECT_FALSE(left_);
    let_upload_end();
    ASSERT_TRUE(cloud_.eventually([&] { return uploaded_ != 0; }));
    EXPECT_EQ(uploaded_, 200);
    EXPECT_FALSE(left_) << "one more runs";
    (*reply) = nullptr;
    EXPECT_TRUE(cloud_.eventually([&] { return left_; }));
}

TEST_F(LeavingTest, AGatewaysPatienceEnds) {
    begin_upload();
    leave(*cloud_.gateway, 100ms);
    EXPECT_TRUE(cloud_.eventually([&] { return left_ && uploaded_ == -1; }));
}

TEST_F(LeavingTest, AGatewayThatLeavesIsNotReady) {
    http::Request request{.target = "/healthz"};
    request.headers.set("Host", "localhost:" + cloud_.port());
    auto raw = cloud_.go(cloud_.net->dial(cloud_.gateway->address(), 5s));
    ASSERT_TRUE(raw);
    // A request that has begun when the gateway leaves is answered still.
    ASSERT_TRUE(cloud_.go(write_all(**raw, "GET /healthz HTTP/1.1\r\n")));
    ASSERT_EQ(cloud_.fetch(std::move(request)).status, 200);
    leave(*cloud_.gateway, 1h);
    ASSERT_TRUE(refuses(cloud_.gateway->address()));
    ASSERT_TRUE(cloud_.go(write_all(**raw, "Host: localhost:" + cloud_.port() + "\r\n\r\n")));
    std::string answer(12, '\0');
    ASSERT_TRUE(cloud_.go(read_exactly(**raw, answer)));
    EXPECT_EQ(answer, "HTTP/1.1 503");
    raw->reset();
    EXPECT_TRUE(cloud_.eventually([&] { return left_; }));
}

TEST_F(LeavingTest, AnAccessPointSendsItsAgentsAwayAndLetsTunnelsEnd) {
    begin_upload();
    leave(*cloud_.access, 1h);
    ASSERT_TRUE(cloud_.eventually([&] {
        return std::ranges::any_of(agent_->received, [](const auto& frame) { return frame.has_goodbye(); });
    }));
    EXPECT_TRUE(refuses(cloud_.access->addresses().uplink));
    EXPECT_TRUE(refuses(cloud_.access->addresses().control));
    EXPECT_EQ(uploaded_, 0);
    let_upload_end();
    ASSERT_TRUE(cloud_.eventually([&] { return uploaded_ != 0; }));
    EXPECT_EQ(uploaded_, 200);
    EXPECT_FALSE(left_) << "the tunnel is kept for the next request";
    cloud_.kill_gateway();
    EXPECT_TRUE(cloud_.eventually([&] { return left_; }));
}

TEST_F(LeavingTest, AnAccessPointsPatienceEnds) {
    begin_upload();
    leave(*cloud_.access, 100ms);
    EXPECT_TRUE(cloud_.eventually([&] { return left_; }));
    EXPECT_EQ(uploaded_, 0) << "what is open is cut when it ends, not before";
}

}  // namespace
}  // namespace hostler::rig
