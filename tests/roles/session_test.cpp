// A session of the shipped command line through the shipped gateway and access point, over real sockets and
// TLS, while the gateway is killed and comes back.
#include "cli/session.h"
#include "rig.h"

namespace hostler::rig {
namespace {

class SessionTest : public ::testing::Test {
protected:
    SessionTest() {
        agent_ = std::make_unique<Agent>(cloud_, "h-1", cloud_.access->addresses().uplink);
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.master.keys = {{"hk_mine", "t-a"}};
        cloud_.add_route("box", "h-1", false);
        agent_->origin = [this](StreamPtr stream) -> Task<> {
            (void)co_await host_.carry(std::move(stream));
            co_return Result<>{};
        };
        tasks_.start("host", echo());
        tasks_.start("listening", listen());
    }
    ~SessionTest() override {
        session_.finish();
        host_.close();
        (void)cloud_.go(tasks_.close());
    }
    // What a command in the container would do that gives back its input.
    Task<> echo() {
        while (true) {
            auto message = CO_TRY(co_await host_.receive());
            CO_TRY(co_await host_.send(http::Channel::output, std::move(message.bytes)));
        }
    }
    Task<> listen() {
        while (true) {
            const auto message = co_await session_.receive();
            if (!message) error_ = message.error().message;
            if (!message) co_return Result<>{};
            got_ += message->bytes;
        }
    }
    Task<> type(int lines) {
        for (int i = 0; i < lines; ++i) {
            std::string line = fmt::format("line {} of what is typed\n", ++typed_lines_);
            typed_ += line;
            CO_TRY(co_await session_.talk().send(http::Channel::input, std::move(line)));
            if (i % 50 == 0) CO_TRY(co_await sleep(*cloud_.timers, 1ms));
        }
        co_return Result<>{};
    }

    Cloud cloud_;
    std::unique_ptr<Agent> agent_;
    std::function<std::uint32_t()> dice_ = [this] {
        std::array<std::uint8_t, 4> bytes{};
        cloud_.random->fill(bytes);
        return std::bit_cast<std::uint32_t>(bytes);
    };
    cli::CliWorld world_{.loop = cloud_.loop,
                         .net = *cloud_.net,
                         .timers = *cloud_.timers,
                         .env = [](const std::string&) { return std::nullopt; },
                         .out = [](std::string_view) {},
                         .err = [](std::string_view) {},
                         .dice = dice_};
    http::Conversation host_{cloud_.loop, *cloud_.timers, http::WebSocketSide::server, dice_};
    cli::Session session_{world_,
                          {.gateway = {.endpoint = {.address = cloud_.gateway->address()},
                                       .host = "localhost:" + cloud_.port(),
                                       .prefix = ""},
                           .key = "hk_mine",
                           .instance = "i-box",
                           .tenant = ""},
                          "exec",
                          {{"command", "cat"}, {"input", "true"}}};
    std::string typed_, got_, error_;
    int typed_lines_ = 0;
    TaskGroup tasks_{cloud_.loop};
};

TEST_F(SessionTest, EveryByteArrivesOnceAndInOrderOverDeathsOfTheGateway) {
    ASSERT_TRUE(cloud_.go(session_.open()));
    tasks_.start("connection", session_.keep());
    tasks_.start("typing", type(12'000));
    for (unsigned death = 1; death <= 3; ++death) {
        ASSERT_TRUE(cloud_.eventually([&] { return got_.size() > 60'000 * death; })) << error_;
        const int tunnels = agent_->tunnels;
        cloud_.kill_gateway();
        cloud_.begin_gateway();
        ASSERT_TRUE(cloud_.eventually([&] { return agent_->tunnels > tunnels; })) << error_;
    }
    EXPECT_TRUE(cloud_.eventually([&] { return typed_lines_ == 12'000 && got_.size() >= typed_.size(); }));
    EXPECT_TRUE(got_ == typed_) << got_.size() << " of " << typed_.size() << " bytes";
    EXPECT_EQ(error_, "");
}

TEST_F(SessionTest, MovesOnWhenItsGatewayLeaves) {
    ASSERT_TRUE(cloud_.go(session_.open()));
    tasks_.start("connection", session_.keep());
    tasks_.start("typing", type(3'000));
    ASSERT_TRUE(cloud_.eventually([&] { return got_.size() > 10'000; })) << error_;
    const int tunnels = agent_->tunnels;
    bool left = false;
    tasks_.start("leave", [](gateway::Gateway& gateway, bool& into) -> Task<> {
        auto ended = co_await gateway.leave(1h);
        into = true;
        co_return ended;
    }(*cloud_.gateway, left));
    ASSERT_TRUE(cloud_.eventually([&] { return left; })) << "nothing keeps it: the session can go elsewhere";
    cloud_.kill_gateway();
    cloud_.begin_gateway();
    ASSERT_TRUE(cloud_.eventually([&] { return agent_->tunnels > tunnels; })) << error_;
    EXPECT_TRUE(cloud_.eventually([&] { return typed_lines_ == 3'000 && got_.size() >= typed_.size(); }));
    EXPECT_TRUE(got_ == typed_) << got_.size() << " of " << typed_.size() << " bytes";
    EXPECT_EQ(error_, "");
}

}  // namespace
}  // namespace hostler::rig
