#include "net_contract.h"

#include <gmock/gmock.h>

namespace hostler::contract {

using namespace std::chrono_literals;
using ::testing::AnyOf;

NetContract::Ends NetContract::connect() {
    auto ends = run([](Net& net) -> Task<Ends> {
        const auto listener = CO_TRY(co_await net.listen("127.0.0.1:0"));
        auto client = CO_TRY(co_await net.dial(std::string{listener->address()}, 5s));
        auto server = CO_TRY(co_await listener->accept());
        co_return Ends{std::move(client), std::move(server)};
    }(rig_->net()));
    HOSTLER_ASSERT(ends.has_value());
    return std::move(*ends);
}

NetContract::Secured NetContract::secure(Secure client, Secure server) {
    auto ends = connect();
    Secured made{StreamPtr{}, StreamPtr{}};
    TaskGroup group{rig_->loop()};
    const auto put = [](Result<StreamPtr>& into, Task<StreamPtr> task) -> Task<> {
        into = co_await std::move(task);
        co_return Result<>{};
    };
    group.start("server", put(made.server, rig_->net().secure(std::move(ends.server), std::move(server),
                                                              Side::server, 5s)));
    group.start("client", put(made.client, rig_->net().secure(std::move(ends.client), std::move(client),
                                                              Side::client, 5s)));
    rig_->drive([&group] { return group.size() == 0; });
    return made;
}

std::shared_ptr<const Credentials> NetContract::issue(const Identity& identity, Authority& by,
                                                      Duration from) {
    const auto key = rig_->keys().make(identity).value();
    const auto begin = rig_->timers().wall() + std::chrono::floor<std::chrono::microseconds>(from);
    const auto made = by.sign(key.csr_pem, identity, {}, begin, 1h).value();
    return std::make_shared<Credentials>(
        Credentials{made.certificate, key.key_pem, rig_->authority().certificate()});
}

Result<> NetContract::say(Stream& stream, std::string text) {
    return run([](Stream& to, std::string words) -> Task<> { co_return co_await write_all(to, words); }(
                                                     stream, std::move(text)));
}

std::string NetContract::hear(Stream& stream, std::size_t size) {
    std::string text(size, '\0');
    const auto read = run(read_exactly(stream, text));
    return read ? text : "error: " + read.error().message;
}

std::size_t NetContract::hear_some(Stream& stream) {
    std::array<char, 4096> into{};
    return run(read_some(stream, into)).value();
}

Result<> NetContract::woken(Task<> task, const std::function<void()>& trigger) {
    std::optional<Result<>> answer;
    TaskGroup group{rig_->loop()};
    group.start("waiter", [](std::optional<Result<>>& into, Task<> inner) -> Task<> {
        into.emplace(co_await std::move(inner));
        co_return Result<>{};
    }(answer, std::move(task)));
    EXPECT_TRUE(run(sleep(rig_->timers(), 5ms)));
    EXPECT_FALSE(answer) << "it did not wait";
    trigger();
    rig_->drive([&group] { return group.size() == 0; });
    return std::move(*answer);
}

// One authority follows another: nobody is cut off who does not know that yet.
TEST_P(NetContract, WhoKnowsTheFormerAuthorityAloneBelievesWhatTheNextSigns) {
    const auto former = issue({"host", "h-1"});
    ASSERT_TRUE(rig_->authority().add(rig_->timers().wall()));
    const auto all = rig_->authority().all();
    ASSERT_TRUE(rig_->authority().keep({all[0].fingerprint, all[1].fingerprint}, all[1].fingerprint));
    const auto latter = issue({"access", "nj-1"});
    const auto meet = [this](std::shared_ptr<const Credentials> client,
                             std::shared_ptr<const Credentials> server) {
        const auto ends = secure({.own = std::move(client)}, {.own = std::move(server)});
        return (ends.client ? std::string{(*ends.client)->identity()} : ends.client.error().message) + " " +
               (ends.server ? std::string{(*ends.server)->identity()} : ends.server.error().message);
    };
    EXPECT_EQ(meet(former, latter), "access/nj-1 host/h-1");
    EXPECT_EQ(meet(latter, former), "host/h-1 access/nj-1");
    ASSERT_TRUE(rig_->authority().keep({all[1].fingerprint}, all[1].fingerprint));
    const auto last = issue({"gateway", "gw-1"});
    EXPECT_EQ(meet(last, latter), "access/nj-1 gateway/gw-1");
    for (const std::string& said : {meet(former, last), meet(last, former)})
        EXPECT_THAT(said, ::testing::HasSubstr("not signed by our authority")) << "it believes that no more";
}

TEST_P(NetContract, BytesArriveInTheirOrderBothWays) {
    const auto ends = connect();
    std::string sent;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(say(*ends.client, "word " + std::to_string(i) + "; "));
        sent += "word " + std::to_string(i) + "; ";
    }
    EXPECT_EQ(hear(*ends.server, sent.size()), sent);
    ASSERT_TRUE(say(*ends.server, "back"));
    EXPECT_EQ(hear(*ends.client, 4), "back");
    EXPECT_EQ(ends.client->identity(), "");
    EXPECT_NE(ends.client->address(), "");
}

TEST_P(NetContract, PortZeroPicksOneOfItsOwn) {
    const auto first = run(rig_->net().listen("127.0.0.1:0")).value();
    const auto second = run(rig_->net().listen("127.0.0.1:0")).value();
    EXPECT_NE(first->address(), second->address());
    EXPECT_FALSE(first->address().ends_with(":0"));
    EXPECT_FALSE(run(rig_->net().listen(std::string{first->address()}))) << "it is taken";
}

TEST_P(NetContract, DiallingWhereNobodyListensIsUnavailable) {
    auto listener = run(rig_->net().listen("127.0.0.1:0")).value();
    const std::string address{listener->address()};
    listener->close();
    listener.reset();
    const auto dialled = run(rig_->net().dial(address, 5s));
    ASSERT_FALSE(dialled);
    EXPECT_EQ(dialled.error().code, Code::unavailable);
}

TEST_P(NetContract, AClosedListenerWakesWhoWaits) {
    const auto listener = run(rig_->net().listen("127.0.0.1:0")).value();
    const auto answer = woken(
        [](Listener& at) -> Task<> {
            const auto stream = CO_TRY(co_await at.accept());
            co_return Result<>{};
        }(*listener),
        [&] { listener->close(); });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::cancelled);
}

TEST_P(NetContract, FinishingEndsOneWay) {
    const auto ends = connect();
    ASSERT_TRUE(say(*ends.client, "last"));
    ASSERT_TRUE(run(ends.client->finish()));
    EXPECT_EQ(hear(*ends.server, 4), "last");
    EXPECT_EQ(hear_some(*ends.server), 0U);
    EXPECT_EQ(hear_some(*ends.server), 0U) << "the end is told again";
    ASSERT_TRUE(say(*ends.server, "still"));
    EXPECT_EQ(hear(*ends.client, 5), "still");
}

TEST_P(NetContract, ClosingWakesWhoeverWaits) {
    const auto ends = connect();
    const auto own = woken(ends.client->readable(), [&] { ends.client->close(); });
    ASSERT_FALSE(own);
    EXPECT_EQ(own.error().code, Code::cancelled);
    ends.client->close();
    std::array<char, 8> into{};
    EXPECT_EQ(ends.client->try_read(into).error().code, Code::unavailable);
    const asio::const_buffer word{"word", 4};
    EXPECT_EQ(ends.client->try_write({&word, 1}).error().code, Code::unavailable);
}

TEST_P(NetContract, ThePeerOfAClosedStreamHearsOfIt) {
    const auto ends = connect();
    ASSERT_TRUE(say(*ends.client, "last"));
    EXPECT_TRUE(woken(
        [](Stream& stream) -> Task<> {
            std::string text(4, '\0');
            CO_TRY(co_await read_exactly(stream, text));
            CO_TRY(co_await stream.readable());
            co_return Result<>{};
        }(*ends.server),
        [&] { ends.client->close(); }));
    EXPECT_EQ(hear_some(*ends.server), 0U);
    // Its own words may be taken for a while; then it is told that nobody is there.
    Result<> said;
    for (int tries = 0; said && tries < 100; ++tries) {
        said = say(*ends.server, "anybody?");
        ASSERT_TRUE(run(sleep(rig_->timers(), 5ms)));
    }
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code, Code::unavailable);
}

TEST_P(NetContract, AFastWriterIsHeldBackUntilItsPeerReads) {
    const auto ends = connect();
    const std::string big(64 * 1024, 'x');
    const asio::const_buffer buffer{big.data(), big.size()};
    std::size_t sent = 0;
    constexpr std::size_t some_limit = 64 << 20;
    while (sent < some_limit) {
        const auto taken = ends.client->try_write({&buffer, 1});
        ASSERT_TRUE(taken) << taken.error().message;
        if (!*taken) break;
        sent += **taken;
    }
    ASSERT_LT(sent, some_limit) << "there is no bound";
    std::size_t read = 0;
    EXPECT_TRUE(woken(ends.client->writable(), [&] {
        while (read < sent) read += hear_some(*ends.server);
    }));
    const auto taken = ends.client->try_write({&buffer, 1});
    ASSERT_TRUE(taken && *taken);
    EXPECT_GT(**taken, 0U);
}

TEST_P(NetContract, SecuredEndsKnowWhoTheOtherIs) {
    const auto access = issue({"access", "a-1"}), host = issue({"host", "h-1"});
    for (const std::string expect : {"access/a-1", "access/", ""}) {
        const auto joined = secure({.own = host, .expect = expect}, {.own = access, .expect = "host/"});
        ASSERT_TRUE(joined.client) << joined.client.error().message;
        ASSERT_TRUE(joined.server) << joined.server.error().message;
        EXPECT_EQ((*joined.client)->identity(), "access/a-1");
        EXPECT_EQ((*joined.server)->identity(), "host/h-1");
        ASSERT_TRUE(say(**joined.client, "there"));
        EXPECT_EQ(hear(**joined.server, 5), "there");
        ASSERT_TRUE(say(**joined.server, "back"));
        EXPECT_EQ(hear(**joined.client, 4), "back");
        ASSERT_TRUE(run((*joined.client)->finish()));
        EXPECT_EQ(hear_some(**joined.server), 0U);
    }
}

TEST_P(NetContract, WhoeverIsNotWhoWasExpectedIsRefused) {
    const auto access = issue({"access", "a-1"}), host = issue({"host", "h-1"});
    for (const std::string expect : {"access/a-2", "master/", "acc"}) {
        const auto joined = secure({.own = host, .expect = expect}, {.own = access});
        ASSERT_FALSE(joined.client) << expect;
        EXPECT_EQ(joined.client.error().code, Code::unauthenticated) << joined.client.error().message;
    }
    const auto joined = secure({.own = host}, {.own = access, .expect = "gateway/"});
    ASSERT_FALSE(joined.server);
    EXPECT_EQ(joined.server.error().code, Code::unauthenticated);
}

TEST_P(NetContract, StrangersAndTheExpiredAreRefused) {
    const auto access = issue({"access", "a-1"});
    for (const auto& peer :
         {issue({"host", "h-1"}, rig_->stranger()), issue({"host", "h-1"}, rig_->authority(), -2h),
          issue({"host", "h-1"}, rig_->authority(), 2h)}) {
        const auto entering = secure({.own = peer}, {.own = access});
        ASSERT_FALSE(entering.server);
        EXPECT_EQ(entering.server.error().code, Code::unauthenticated) << entering.server.error().message;
        const auto dialled = secure({.own = access}, {.own = peer, .peer_required = false});
        ASSERT_FALSE(dialled.client);
        EXPECT_EQ(dialled.client.error().code, Code::unauthenticated) << dialled.client.error().message;
    }
}

TEST_P(NetContract, WithinItsGraceAnExpiredOneIsLetInAndSaidToBe) {
    const auto access = issue({"access", "a-1"});
    const auto old = issue({"host", "h-1"}, rig_->authority(), -2h);  // It ended an hour ago.
    const auto late = secure({.own = old}, {.own = access, .grace = 2h});
    ASSERT_TRUE(late.server) << late.server.error().message;
    EXPECT_EQ((*late.server)->identity(), "host/h-1");
    EXPECT_TRUE((*late.server)->expired());
    EXPECT_FALSE((*late.client)->expired());
    const auto fresh = secure({.own = issue({"host", "h-1"})}, {.own = access, .grace = 2h});
    ASSERT_TRUE(fresh.server) << fresh.server.error().message;
    EXPECT_FALSE((*fresh.server)->expired());
    EXPECT_FALSE(secure({.own = old}, {.own = access, .grace = 30min}).server) << "too late";
    EXPECT_FALSE(secure({.own = old}, {.own = access, .expect = "host/h-2", .grace = 2h}).server);
    const auto strange = issue({"host", "h-1"}, rig_->stranger(), -2h);
    EXPECT_FALSE(secure({.own = strange}, {.own = access, .grace = 2h}).server) << "grace is for ours alone";
    EXPECT_FALSE(
        secure({.own = issue({"host", "h-1"}, rig_->authority(), 2h)}, {.own = access, .grace = 3h}).server)
        << "and not for what is not valid yet";
}

TEST_P(NetContract, WithoutACertificateOneIsNobody) {
    const auto access = issue({"access", "a-1"});
    const auto nameless =
        std::make_shared<Credentials>(Credentials{.authority = rig_->authority().certificate()});
    const auto allowed =
        secure({.own = nameless, .expect = "access/a-1"}, {.own = access, .peer_required = false});
    ASSERT_TRUE(allowed.client) << allowed.client.error().message;
    ASSERT_TRUE(allowed.server) << allowed.server.error().message;
    EXPECT_EQ((*allowed.server)->identity(), "");
    const auto refused = secure({.own = nameless}, {.own = access});
    ASSERT_FALSE(refused.server);
    EXPECT_EQ(refused.server.error().code, Code::unauthenticated);
}

TEST_P(NetContract, AHandshakeHasItsTime) {
    auto ends = connect();
    const auto begun = rig_->timers().now();
    const auto answer =
        run(rig_->net().secure(std::move(ends.client), {.own = issue({"host", "h-1"})}, Side::client, 50ms));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::timeout);
    EXPECT_LT(rig_->timers().now() - begun, 5s);
}

TEST_P(NetContract, WakeUpsComeInOrderAndNotWhenCancelled) {
    auto& timers = rig_->timers();
    std::vector<int> woken;
    const auto now = timers.now();
    const auto at = [&](Duration time, int number) {
        return timers.schedule(now + time, [&woken, number] { woken.push_back(number); });
    };
    at(20ms, 2);
    at(10ms, 1);
    at(Duration{}, 0);
    const auto cancelled = at(15ms, 9);
    at(30ms, 3);
    EXPECT_TRUE(woken.empty()) << "never from within schedule()";
    timers.cancel(cancelled);
    rig_->drive([&] { return woken.size() == 4; });
    EXPECT_THAT(woken, ::testing::ElementsAre(0, 1, 2, 3));
    EXPECT_GE(timers.now() - now, 30ms);
    timers.cancel(cancelled);
}

}  // namespace hostler::contract
