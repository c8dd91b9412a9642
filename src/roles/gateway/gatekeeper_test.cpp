#include "roles/gateway/gatekeeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "wire/link.h"

namespace hostler::gateway {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class MemoryJournal final : public Journal {
public:
    const std::map<std::string, std::string>& all() const override { return entries; }
    Task<> put_all(std::vector<Entry> more) override {
        for (auto& [key, value] : more) entries[key] = value;
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        entries.erase(key);
        co_return Result<>{};
    }
    std::map<std::string, std::string> entries;
};

struct PlainDigest final : Digest {
    std::string sha256(std::string_view text) const override { return "#" + std::string{text}; }
};

struct NoKeys final : Keys {
    Result<KeyRequest> make(Identity) override { return fail(Code::invalid, "no keys"); }
    Result<KeyRequest> renew(std::string, Identity) override { return fail(Code::invalid, "no keys"); }
    Result<CertificateFacts> read(std::string) const override { return fail(Code::invalid, "no keys"); }
    Result<std::vector<std::string>> fingerprints(std::string) const override {
        return fail(Code::invalid, "no keys");
    }
};

struct NoRandom final : Random {
    void fill(std::span<std::uint8_t> into) override { std::ranges::fill(into, std::uint8_t{0}); }
};

// A master that hears what it is asked, and answers when the test does.
class PlayedMaster final : public Net {
public:
    PlayedMaster(Loop& loop, Timers& timers) : loop_(loop), timers_(timers), tasks_(loop) {}
    Task<StreamPtr> dial(std::string, Duration) override {
        auto [client, server] = testing::memory_pair();
        link = std::make_shared<wire::Link>(loop_, timers_, StreamPtr{std::move(server)});
        tasks_.start("master", listen(link));
        co_return std::move(client);
    }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::internal, "not here"); }
    Task<StreamPtr> secure(StreamPtr stream, Secure, Side, Duration) override { co_return std::move(stream); }

    void answer(const uplink::Frame& question, uplink::Frame with) {
        with.set_answer_to(question.call());
        EXPECT_TRUE(link->try_send(with));
        settle();
    }
    void say(const uplink::Frame& frame) {
        EXPECT_TRUE(link->try_send(frame));
        settle();
    }
    void settle() { static_cast<testing::ManualTimers&>(timers_).settle(); }
    Task<> close() { return tasks_.close(); }

    std::shared_ptr<wire::Link> link;
    std::vector<uplink::Frame> asked;  // Questions about credentials, and about marks.

private:
    Task<> listen(std::shared_ptr<wire::Link> from) {
        while (auto frame = co_await from->receive())
            if (frame->has_authenticate_request() || frame->has_trusted_marks())
                asked.push_back(std::move(*frame));
        co_return Result<>{};
    }
    Loop& loop_;
    Timers& timers_;
    TaskGroup tasks_;
};

struct GatekeeperTest : ::testing::Test {
    GatekeeperTest() {
        settings.masters = {"master:1"};
        settings.redial_ms = 10;
        group.start("link", link.run("http://gw"));
        group.start("what ended", keeper.catch_up());
        come();
    }
    ~GatekeeperTest() override {
        group.cancel();
        timers.settle();
        master.link = nullptr;
        (void)testing::try_run(loop, master.close());
        (void)testing::try_run(loop, group.close());
    }
    // A master has told all routes: there are none.
    void come() {
        timers.advance(1s);
        uplink::Frame told;
        told.mutable_routes()->set_epoch(1);
        told.mutable_routes()->set_complete(true);
        master.say(told);
        ASSERT_TRUE(link.linked());
    }
    void leave() {
        master.link->close();
        timers.settle();
        ASSERT_FALSE(link.linked());
    }
    std::shared_ptr<std::optional<Admission>> ask(std::string from = here) {
        auto answer = std::make_shared<std::optional<Admission>>();
        group.start("question", [](GatekeeperTest& test, std::string client, auto into) -> Task<> {
            Question question = test.mine;
            *into = CO_TRY(co_await test.keeper.admit(question, std::move(client)));
            test.by = question;
            co_return Result<>{};
        }(*this, std::move(from), answer));
        timers.settle();
        return answer;
    }
    static uplink::Frame word(bool good) {
        uplink::Frame frame;
        auto& said = *frame.mutable_authenticate_answer();
        said.set_known(good);
        said.set_allowed(good);
        said.set_principal("key/k-1");
        return frame;
    }
    // Of a credential that is for some addresses.
    static uplink::Frame word_there(bool good) {
        uplink::Frame frame = word(good);
        frame.mutable_authenticate_answer()->set_by_address(true);
        return frame;
    }
    static uplink::Frame over(std::string mark) {
        uplink::Frame frame;
        frame.mutable_credentials_ended()->add_marks(std::move(mark));
        return frame;
    }

    Loop loop;
    testing::ManualTimers timers{loop};
    PlayedMaster master{loop, timers};
    MemoryJournal journal;
    PlainDigest digest;
    NoRandom random;
    NoKeys keys;
    Certified own{std::make_shared<const Credentials>(), keys, {}};
    Ports ports{loop, timers, master, random, journal, digest, own};
    Settings settings;
    RouteTable routes{8};
    MasterLink link{ports, settings, routes, [] {},
                    [this](const std::vector<std::string>& marks) { keeper.end(marks); }};
    Gatekeeper keeper{ports, settings, link};
    static constexpr const char *here = "203.0.113.7", *there = "198.51.100.9";
    const Question mine{"hk_mine", "t-a", ""};
    const Question mine_here{"hk_mine", "t-a", "", "", here}, mine_there{"hk_mine", "t-a", "", "", there};
    Question by{};  // That was admitted last.
    TaskGroup group{loop};
};

TEST_F(GatekeeperTest, AWordThatARevocationOvertookIsNotBelieved) {
    const auto answer = ask();
    ASSERT_EQ(master.asked.size(), 1U);
    master.say(over("key/k-1"));  // The master looked at the key before this, and its answer comes after it.
    master.answer(master.asked[0], word(true));
    EXPECT_FALSE(*answer);
    EXPECT_EQ(keeper.trusted(), 0U);
    ASSERT_EQ(master.asked.size(), 2U) << "it is asked again";
    master.answer(master.asked[1], word(false));
    EXPECT_EQ(*answer, Admission::nobody);
    EXPECT_EQ(keeper.trusted(), 0U);
}

TEST_F(GatekeeperTest, WhereSomethingEndsAllTheTimeNobodyIsLetInOnAGuess) {
    const auto answer = ask();
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(master.asked.size(), i + 1);
        master.say(over("key/k-other"));
        master.answer(master.asked[i], word(true));
    }
    EXPECT_EQ(master.asked.size(), 3U) << "and not for ever";
    EXPECT_EQ(*answer, Admission::unavailable);
}

TEST_F(GatekeeperTest, AMasterThatDoesNotSayWhatEndedIsAskedAgain) {
    const auto answer = ask();
    master.answer(master.asked.at(0), word(true));
    EXPECT_EQ(*answer, Admission::allowed);
    EXPECT_EQ(keeper.trusted(), 1U);
    leave();
    come();
    ASSERT_EQ(master.asked.size(), 2U);
    EXPECT_THAT(master.asked[1].trusted_marks().marks(), ElementsAre("key/k-1"));
    master.answer(master.asked[1], wire::failure_frame({Code::unavailable, "it is busy"}));
    timers.advance(29s);
    EXPECT_EQ(master.asked.size(), 2U);
    timers.advance(1s);
    ASSERT_EQ(master.asked.size(), 3U);
    EXPECT_THAT(master.asked[2].trusted_marks().marks(), ElementsAre("key/k-1"));
    master.answer(master.asked[2], over("key/k-1"));
    EXPECT_EQ(keeper.trusted(), 0U);
    timers.advance(60s);
    EXPECT_EQ(master.asked.size(), 3U) << "it has been told";
}

TEST_F(GatekeeperTest, AWordThatIsForAllAddressesIsAskedForOnce) {
    const auto first = ask(here);
    EXPECT_EQ(master.asked.at(0).authenticate_request().address(), here);
    master.answer(master.asked[0], word(true));
    EXPECT_EQ(*first, Admission::allowed);
    EXPECT_EQ(by, mine) << "what it opens stands on the credential alone";
    EXPECT_EQ(*ask(there), Admission::allowed);
    EXPECT_EQ(by, mine);
    EXPECT_EQ(master.asked.size(), 1U);
    EXPECT_EQ(keeper.verdicts(), 1U);
    EXPECT_EQ(keeper.trusted(), 1U);
}

TEST_F(GatekeeperTest, AWordForOneAddressIsNoneForAnother) {
    const auto refused = ask(there);
    master.answer(master.asked.at(0), word_there(false));
    EXPECT_EQ(*refused, Admission::nobody);
    const auto allowed = ask(here);
    ASSERT_EQ(master.asked.size(), 2U) << "a refusal elsewhere says nothing";
    master.answer(master.asked[1], word_there(true));
    EXPECT_EQ(*allowed, Admission::allowed);
    EXPECT_EQ(by, mine_here);
    EXPECT_EQ(*ask(there), Admission::nobody);
    EXPECT_EQ(*ask(here), Admission::allowed);
    EXPECT_EQ(master.asked.size(), 2U);
    EXPECT_EQ(keeper.trusted(), 1U);
    leave();
    timers.advance(5s);
    EXPECT_EQ(*ask(here), Admission::allowed) << "believed while no master answers";
    EXPECT_EQ(by, mine_here);
    EXPECT_EQ(*ask(there), Admission::unavailable);
    EXPECT_EQ(*ask(""), Admission::unavailable);
}

TEST_F(GatekeeperTest, AClientWithoutAnAddressDoesNotSpeakForAll) {
    const auto refused = ask("");
    master.answer(master.asked.at(0), word_there(false));
    EXPECT_EQ(*refused, Admission::nobody);
    const auto allowed = ask(here);
    ASSERT_EQ(master.asked.size(), 2U);
    master.answer(master.asked[1], word_there(true));
    EXPECT_EQ(*allowed, Admission::allowed);
}

TEST_F(GatekeeperTest, WhatIsOpenIsAskedAboutByTheAddressByWhichItCame) {
    for (const char* from : {here, there}) {
        ask(from);
        master.answer(master.asked.back(), word_there(true));
    }
    Stays::Stay one{keeper.stays(), mine_here}, other{keeper.stays(), mine_there};
    group.start("watch", keeper.watch());
    timers.advance(std::chrono::seconds{settings.recheck_s});
    ASSERT_EQ(master.asked.size(), 3U);
    EXPECT_EQ(master.asked[2].authenticate_request().address(), there);
    master.answer(master.asked[2], word_there(false));
    ASSERT_EQ(master.asked.size(), 4U);
    EXPECT_EQ(master.asked[3].authenticate_request().address(), here);
    master.answer(master.asked[3], word_there(true));
    EXPECT_TRUE(other.ended());
    EXPECT_FALSE(one.ended());
    EXPECT_EQ(keeper.trusted(), 1U);
    master.say(over("key/k-1"));
    EXPECT_TRUE(one.ended());
    EXPECT_EQ(keeper.trusted(), 0U);
    EXPECT_EQ(keeper.verdicts(), 0U);
}

TEST_F(GatekeeperTest, TheEndOfACredentialIsItsEndAtEachAddress) {
    for (const char* from : {here, there}) {
        ask(from);
        master.answer(master.asked.back(), word_there(true));
    }
    Stays::Stay one{keeper.stays(), mine_here}, other{keeper.stays(), mine_there};
    master.say(over("key/k-1"));
    EXPECT_TRUE(one.ended());
    EXPECT_TRUE(other.ended());
    EXPECT_EQ(keeper.verdicts(), 0U);
    EXPECT_EQ(keeper.trusted(), 0U);
}

TEST_F(GatekeeperTest, AWordForAllAddressesIsOverWhenOneForAnAddressComes) {
    ask(here);
    master.answer(master.asked.at(0), word(true));
    Stays::Stay before{keeper.stays(), mine};
    timers.advance(1s);
    const auto refused = ask(there);
    ASSERT_EQ(master.asked.size(), 2U);
    master.answer(master.asked[1], word_there(false));
    EXPECT_EQ(*refused, Admission::nobody);
    EXPECT_TRUE(before.ended());
    EXPECT_EQ(keeper.trusted(), 0U);
}

TEST_F(GatekeeperTest, AMasterThatGoesLeavesTheQuestionToTheNext) {
    ask();
    master.answer(master.asked.at(0), word(true));
    leave();
    come();
    ASSERT_EQ(master.asked.size(), 2U);
    leave();
    come();
    ASSERT_EQ(master.asked.size(), 3U);
    master.answer(master.asked[2], over("key/k-1"));
    EXPECT_EQ(keeper.trusted(), 0U);
}

}  // namespace
}  // namespace hostler::gateway
