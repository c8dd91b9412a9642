// TLS of the simulation keeps what core/stream.h promises of the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sim/world.h"

namespace hostler::sim {

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Ptr = std::shared_ptr<const Credentials>;

struct Ends {
    Result<StreamPtr> client;
    Result<StreamPtr> server;
};

class Tls : public ::testing::Test {
protected:
    Ptr of(std::string role, std::string id, Duration lifetime = 720h) {
        return std::make_shared<Credentials>(issue(world.authority, world.keys,
                                                   {std::move(role), std::move(id)}, world.timers.wall() - 1h,
                                                   lifetime));
    }

    // Both ends at once, as both have to wait for the other.
    Ends meet(Secure client, Secure server) {
        auto listener = world.ask(world.net.listen("0.0.0.0:0")).value();
        auto near = world.ask(world.net.dial(std::string{listener->address()}, 1s)).value();
        auto far = world.ask(listener->accept()).value();
        auto answer = std::make_shared<std::optional<Result<StreamPtr>>>();
        TaskGroup group{world.loop};
        group.start("server", [](World& in, StreamPtr raw, Secure how, auto into) -> Task<> {
            into->emplace(co_await in.net.secure(std::move(raw), std::move(how), Side::server, 2s));
            co_return Result<>{};
        }(world, std::move(far), std::move(server), answer));
        auto mine = world.ask(world.net.secure(std::move(near), std::move(client), Side::client, 2s));
        world.run(3s);
        Ends ends{std::move(mine), std::move(answer->value())};
        return ends;
    }

    World world{8};
};

TEST_F(Tls, EachEndKnowsTheOther) {
    auto ends = meet({.own = of("host", "h-1"), .expect = "access/"},
                     {.own = of("access", "nj"), .expect = "host/h-1"});
    ASSERT_TRUE(ends.client) << ends.client.error().message;
    ASSERT_TRUE(ends.server) << ends.server.error().message;
    EXPECT_EQ((*ends.client)->identity(), "access/nj");
    EXPECT_EQ((*ends.server)->identity(), "host/h-1");
    ASSERT_TRUE(world.ask(write_all(**ends.client, "hello")));
    std::string got(5, '\0');
    ASSERT_TRUE(world.ask(read_exactly(**ends.server, got)));
    EXPECT_EQ(got, "hello");
}

TEST_F(Tls, SomebodyElseIsRefusedByBoth) {
    auto ends = meet({.own = of("host", "h-1"), .expect = "master/"}, {.own = of("access", "nj")});
    EXPECT_EQ(ends.client.error().code, Code::unauthenticated);
    EXPECT_THAT(ends.client.error().message, HasSubstr("expected master/ but it is access/nj"));
    EXPECT_EQ(ends.server.error().code, Code::unauthenticated);
    EXPECT_THAT(ends.server.error().message, HasSubstr("refused us"));
}

TEST_F(Tls, AnotherAuthorityIsNotBelieved) {
    SimAuthority other{Dice{99}};
    const auto foreign =
        std::make_shared<Credentials>(issue(other, world.keys, {"host", "h-1"}, world.timers.wall(), 1h));
    auto ends = meet({.own = foreign}, {.own = of("access", "nj")});
    EXPECT_EQ(ends.server.error().code, Code::unauthenticated);
    EXPECT_THAT(ends.server.error().message, HasSubstr("not signed by our authority"));
    EXPECT_EQ(ends.client.error().code, Code::unauthenticated);
}

TEST_F(Tls, TimeLimitsAreKept) {
    const auto access = of("access", "nj");
    const auto old = of("host", "h-1", 1h);
    auto ends = meet({.own = old}, {.own = access});
    EXPECT_THAT(ends.server.error().message, HasSubstr("expired"));
    const auto early = std::make_shared<Credentials>(
        issue(world.authority, world.keys, {"host", "h-2"}, world.timers.wall() + 1h, 24h));
    ends = meet({.own = early}, {.own = access});
    EXPECT_THAT(ends.server.error().message, HasSubstr("not valid before"));
}

TEST_F(Tls, WhoHasNoCertificateIsNobody) {
    const auto nobody = std::make_shared<Credentials>();
    auto ends = meet({.own = nobody}, {.own = of("access", "nj"), .peer_required = false});
    ASSERT_TRUE(ends.client) << ends.client.error().message;
    EXPECT_EQ((*ends.client)->identity(), "") << "nobody was believed, so nobody is named";
    EXPECT_EQ((*ends.server)->identity(), "");
    ends = meet({.own = nobody}, {.own = of("access", "nj")});
    EXPECT_EQ(ends.server.error().code, Code::unauthenticated);
    ends = meet({.own = nobody}, {.own = of("access", "nj"), .peer_required = false, .expect = "host/"});
    EXPECT_EQ(ends.server.error().code, Code::unauthenticated);
}

TEST_F(Tls, ACertificateWithoutItsKeyIsWorthNothing) {
    auto stolen = *of("host", "h-1");
    stolen.key = of("host", "h-2")->key;
    auto ends = meet({.own = std::make_shared<Credentials>(stolen)}, {.own = of("access", "nj")});
    EXPECT_THAT(ends.server.error().message, HasSubstr("does not hold the key"));
}

TEST_F(Tls, ASilentPeerIsATimeout) {
    auto listener = world.ask(world.net.listen("0.0.0.0:0")).value();
    auto near = world.ask(world.net.dial(std::string{listener->address()}, 1s)).value();
    const auto answer =
        world.ask(world.net.secure(std::move(near), {.own = of("host", "h-1")}, Side::client, 2s));
    EXPECT_EQ(answer.error().code, Code::timeout);
}

}  // namespace

}  // namespace hostler::sim
