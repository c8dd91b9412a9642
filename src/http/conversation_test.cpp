#include "http/conversation.h"

#include <gtest/gtest.h>

#include "core/task_group.h"
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"

namespace hostler::http {
namespace {

using namespace std::chrono_literals;
using hostler::testing::ManualTimers;
using hostler::testing::memory_pair;
using hostler::testing::MemoryStream;

class ConversationTest : public ::testing::Test {
protected:
    ~ConversationTest() override {
        mine.close();
        theirs.close();
        group.cancel();
        timers.settle();
    }
    void connect(std::size_t room = 64 * 1024) {
        auto [a, b] = memory_pair(room);
        near_ = a.get();
        far_ = b.get();
        group.start("mine", carried(mine, std::move(a), why_mine));
        group.start("theirs", carried(theirs, std::move(b), why_theirs));
        timers.settle();
    }
    static Task<> carried(Conversation& one, StreamPtr stream, std::optional<Error>& why) {
        auto ended = co_await one.carry(std::move(stream));
        why = ended ? Error{} : std::move(ended).error();
        co_return Result<>{};
    }
    void cut() {
        near_->close();
        far_->close();
        timers.settle();
    }
    void say(Conversation& from, int first, int count, std::size_t size = 1000) {
        group.start("say", [](Conversation& to, int at, int left, std::size_t bytes) -> Task<> {
            for (; left > 0; --left, ++at)
                CO_TRY(co_await to.send(Channel::output, std::to_string(at) + std::string(bytes, 'x')));
            co_return Result<>{};
        }(from, first, count, size));
        timers.settle();
    }
    void listen(Conversation& at, std::vector<int>& heard) {
        group.start("listen", [](Conversation& from, std::vector<int>& into) -> Task<> {
            while (true) into.push_back(std::atoi(CO_TRY(co_await from.receive()).bytes.c_str()));
        }(at, heard));
        timers.settle();
    }
    static std::vector<int> up_to(int last) {
        std::vector<int> all;
        for (int i = 1; i <= last; ++i) all.push_back(i);
        return all;
    }

    Loop loop;
    ManualTimers timers{loop};
    Conversation mine{loop, timers, WebSocketSide::client, [] { return 0xdeadbeefU; }};
    Conversation theirs{loop, timers, WebSocketSide::server, [] { return 0U; }};
    MemoryStream* near_ = nullptr;
    MemoryStream* far_ = nullptr;
    std::optional<Error> why_mine, why_theirs;
    TaskGroup group{loop};
};

TEST_F(ConversationTest, MessagesArriveOnceAndInOrderOverManyConnections) {
    std::vector<int> heard, answered;
    listen(theirs, heard);
    listen(mine, answered);
    say(mine, 1, 500, 400);
    say(theirs, 1, 500, 400);
    for (int cuts = 0; cuts < 20; ++cuts) {
        // A little is on its way, in both directions, whenever it breaks.
        auto [a, b] = memory_pair(700 + 331 * static_cast<std::size_t>(cuts));
        a->read_max = 97, b->read_max = 89;
        auto* const end = a.get();
        group.start("mine", carried(mine, std::move(a), why_mine));
        group.start("theirs", carried(theirs, std::move(b), why_theirs));
        for (int i = 0; i < 40 + cuts; ++i) loop.poll_one();
        end->close();
        timers.settle();
        if (cuts == 3) EXPECT_LT(heard.size(), 500U) << "the cuts came too late to prove anything";
    }
    connect();
    EXPECT_EQ(heard, up_to(500));
    EXPECT_EQ(answered, up_to(500));
}

TEST_F(ConversationTest, ASenderWaitsForASlowTaker) {
    connect();
    say(mine, 1, 1000);
    std::vector<int> heard;
    listen(theirs, heard);
    EXPECT_EQ(heard, up_to(1000));
    cut();
    // Without a connection no more than the limit is kept.
    int sent = 0;
    group.start("more", [](Conversation& to, int& count) -> Task<> {
        for (;; ++count) CO_TRY(co_await to.send(Channel::output, std::string(1000, 'x')));
    }(mine, sent));
    timers.settle();
    EXPECT_LE(sent, 256);
    EXPECT_GE(sent, 200);
}

TEST_F(ConversationTest, ANewConnectionTakesOver) {
    connect();
    connect();
    EXPECT_EQ(why_mine->reason, Conversation::replaced);
    EXPECT_TRUE(mine.connected());
    std::vector<int> heard;
    listen(theirs, heard);
    say(mine, 1, 3);
    EXPECT_EQ(heard, up_to(3));
}

TEST_F(ConversationTest, ASilentPeerIsGivenUpAndAQuietOneIsNot) {
    connect();
    for (int i = 0; i < 100; ++i) timers.advance(10s);
    EXPECT_TRUE(mine.connected());
    auto [a, b] = memory_pair();
    group.start("mine", carried(mine, std::move(a), why_mine));
    for (int i = 0; i < 5; ++i) timers.advance(10s);
    EXPECT_FALSE(mine.connected());
    EXPECT_EQ(why_mine->code, Code::timeout);
}

TEST_F(ConversationTest, APeerThatBreaksTheRulesIsCutOff) {
    const auto says = [&](std::string_view message) {
        auto [a, b] = memory_pair();
        std::string bytes;
        write_web_socket(bytes, WebSocketSide::server, Opcode::binary, message, 0);
        why_mine.reset();
        auto* const peer = b.get();
        group.start("mine", carried(mine, std::move(a), why_mine));
        timers.settle();
        const asio::const_buffer all{bytes.data(), bytes.size()};
        (void)peer->try_write({&all, 1});
        timers.settle();
        return why_mine ? why_mine->message : "";
    };
    const std::string zeros(7, '\0');
    EXPECT_EQ(says("x"), "the received message is not part of a session");
    EXPECT_EQ(says("\x09" + zeros + "\1"), "the received message is not part of a session");
    EXPECT_EQ(says("\x01" + zeros + "\2"), "a message of the session is missing");
    EXPECT_EQ(says("\x07" + zeros + "\1"), "an acknowledgement names bytes that were never sent");
}

TEST_F(ConversationTest, HowItEndedComesThrough) {
    EXPECT_EQ(decode_exit(encode_exit({.code = 137}))->code, 137);
    const auto failed =
        decode_exit(encode_exit({.code = 126, .error = Error{Code::not_found, "no such\nfile", "absent"}}));
    EXPECT_EQ(failed->error, (Error{Code::not_found, "no such\nfile", "absent"}));
    EXPECT_EQ(failed->code, 126);
    EXPECT_FALSE(decode_exit("abc"));
    EXPECT_FALSE(decode_exit("abcdx"));
}

}  // namespace
}  // namespace hostler::http
