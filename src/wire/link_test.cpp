#include "wire/link.h"

#include <gtest/gtest.h>

#include "core/task_group.h"
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "wire/frame_cutter.h"

namespace hostler::wire {
namespace {

using namespace std::chrono_literals;
using testing::MemoryStream;
using uplink::Frame;

Frame note(std::string text) {
    Frame frame;
    frame.mutable_goodbye()->set_why(std::move(text));
    return frame;
}

std::string bytes_of(const Frame& frame) {
    std::string out;
    const std::size_t begin = append_header(out);
    frame.AppendToString(&out);
    complete_header(out, begin);
    return out;
}

class LinkTest : public ::testing::Test {
protected:
    // Two links, the streams under them in reach.
    void join(LinkLimits ours = {}, std::size_t room = 64 * 1024) {
        auto [here, there] = testing::memory_pair(room, "here", "there");
        here_ = here.get();
        there_ = there.get();
        link_.emplace(loop_, timers_, std::move(here), ours);
        peer_.emplace(loop_, timers_, std::move(there));
        timers_.settle();
    }
    // A link whose peer is a bare stream.
    void join_raw(LinkLimits ours = {}, std::size_t room = 64 * 1024) {
        auto [here, there] = testing::memory_pair(room, "here", "there");
        here_ = here.get();
        raw_ = std::move(there);
        link_.emplace(loop_, timers_, std::move(here), ours);
        timers_.settle();
    }
    void send_raw(std::string_view bytes) { ASSERT_TRUE(testing::run(loop_, write_all(*raw_, bytes))); }

    template <class T>
    void start(std::optional<Result<T>>& into, Task<T> task) {
        group_.start("test", [](std::optional<Result<T>>& to, Task<T> inner) -> Task<> {
            to.emplace(co_await std::move(inner));
            co_return Result<>{};
        }(into, std::move(task)));
        timers_.settle();
    }
    std::string received() {
        auto frame = testing::run(loop_, link_->receive());
        return frame ? frame->goodbye().why() : "error: " + frame.error().message;
    }

    Loop loop_;
    testing::ManualTimers timers_{loop_};
    TaskGroup group_{loop_};
    std::optional<Link> link_, peer_;
    MemoryStream* here_ = nullptr;
    MemoryStream* there_ = nullptr;
    std::unique_ptr<MemoryStream> raw_;
};

TEST_F(LinkTest, CarriesFramesInOrder) {
    join();
    for (const std::string text : {"one", "two", "three"})
        ASSERT_TRUE(testing::run(loop_, peer_->send(note(text))));
    for (const std::string text : {"one", "two", "three"}) EXPECT_EQ(received(), text);
    EXPECT_EQ(link_->address(), "there");
}

TEST_F(LinkTest, CarriesFramesThroughAStreamThatDribbles) {
    join({}, /*room*/ 5);
    here_->read_max = 1;
    there_->write_max = 2;
    const std::string much(10'000, 'x');
    ASSERT_TRUE(peer_->try_send(note(much)));
    ASSERT_TRUE(peer_->try_send(note("after")));
    EXPECT_EQ(received(), much);
    EXPECT_EQ(received(), "after");
}

// The wire is cut after every single byte: whole frames come through, then the error says where it was cut.
TEST_F(LinkTest, SurvivesBeingCutAtEveryByte) {
    const std::string first = bytes_of(note("first")), second = bytes_of(note("second"));
    const std::string all = first + second;
    for (std::size_t size = 0; size <= all.size(); ++size) {
        join_raw();
        send_raw(all.substr(0, size));
        raw_->close();
        timers_.settle();
        if (size >= first.size()) EXPECT_EQ(received(), "first") << size;
        if (size >= all.size()) EXPECT_EQ(received(), "second") << size;
        const bool between = size == 0 || size == first.size() || size == all.size();
        EXPECT_EQ(received(), between ? "error: there closed the link"
                                      : "error: there closed the link in the middle of a frame");
        EXPECT_TRUE(link_->closed());
    }
}

TEST_F(LinkTest, CutsPeersThatSendWhatIsNoFrame) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {std::string("\0\0\0\0", 4), "the peer sent an empty frame"},
        {"GET / HTTP/1.1\r\n", "the peer announced a frame of 1195725856 bytes; at most 4194304 are taken"},
        {std::string("\0\0\0\2\xff\xff", 6), "there sent what is not a frame"},
    };
    for (const auto& [bytes, words] : cases) {
        join_raw();
        send_raw(bytes_of(note("before")) + bytes);
        timers_.settle();
        EXPECT_TRUE(here_->closed());
        EXPECT_EQ(received(), "before");
        EXPECT_EQ(received(), "error: " + words);
        EXPECT_EQ(link_->try_send(note("x")).error().message, words);
    }
}

TEST_F(LinkTest, AnswersFindTheirCalls) {
    join();
    std::optional<Result<Frame>> one, two;
    start(one, link_->ask(note("one?"), 10s));
    start(two, link_->ask(note("two?"), 10s));
    const Frame first = testing::run(loop_, peer_->receive()).value();
    const Frame second = testing::run(loop_, peer_->receive()).value();
    EXPECT_NE(first.call(), second.call());
    ASSERT_TRUE(testing::run(loop_, peer_->answer(second.call(), note("two!"))));
    ASSERT_TRUE(testing::run(loop_, peer_->answer(first.call(), note("one!"))));
    timers_.settle();
    EXPECT_EQ(one->value().goodbye().why(), "one!");
    EXPECT_EQ(two->value().goodbye().why(), "two!");
    EXPECT_EQ(timers_.size(), 0u) << "a deadline stayed behind";
}

TEST_F(LinkTest, BothEndsMayAskAtOnceWithTheSameNumbers) {
    join();
    std::optional<Result<Frame>> here, there;
    start(here, link_->ask(note("here?"), 10s));
    start(there, peer_->ask(note("there?"), 10s));
    const Frame asked = testing::run(loop_, link_->receive()).value();
    EXPECT_EQ(asked.goodbye().why(), "there?");
    EXPECT_EQ(asked.call(), testing::run(loop_, peer_->receive()).value().call());
    ASSERT_TRUE(testing::run(loop_, link_->answer(asked.call(), note("there!"))));
    ASSERT_TRUE(testing::run(loop_, peer_->answer(asked.call(), note("here!"))));
    timers_.settle();
    EXPECT_EQ(here->value().goodbye().why(), "here!");
    EXPECT_EQ(there->value().goodbye().why(), "there!");
}

TEST_F(LinkTest, LateAndUnaskedAnswersAreDropped) {
    join();
    std::optional<Result<Frame>> answer;
    start(answer, link_->ask(note("?"), 2s));
    const auto call = testing::run(loop_, peer_->receive()).value().call();
    timers_.advance(2s);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::timeout);
    EXPECT_EQ(answer->error().message, "there did not answer in time");
    ASSERT_TRUE(testing::run(loop_, peer_->answer(call, note("late"))));
    ASSERT_TRUE(testing::run(loop_, peer_->answer(4711, note("unasked"))));
    ASSERT_TRUE(testing::run(loop_, peer_->send(note("next"))));
    EXPECT_EQ(received(), "next");
}

TEST_F(LinkTest, AFailureIsAnErrorForWhoAsked) {
    join();
    std::optional<Result<Frame>> answer;
    start(answer, link_->ask(note("?"), 2s));
    const auto call = testing::run(loop_, peer_->receive()).value().call();
    const Error error{Code::not_found, "no such host", "host_absent"};
    ASSERT_TRUE(testing::run(loop_, peer_->answer(call, failure_frame(error))));
    timers_.settle();
    EXPECT_EQ(answer->error(), error);
    uplink::Failure unknown;
    unknown.set_code("of a later version");
    EXPECT_EQ(error_of(unknown).code, Code::internal);
}

TEST_F(LinkTest, CallsEndWithTheLinkAndWhenTheyAreCancelled) {
    join();
    std::optional<Result<Frame>> answer;
    start(answer, link_->ask(note("?"), 1h));
    there_->close();
    timers_.settle();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::unavailable);

    join({.calls_max = 1});
    std::optional<Result<Frame>> cancelled, refused, accepted;
    start(cancelled, link_->ask(note("?"), 1h));
    start(refused, link_->ask(note("?"), 1h));
    EXPECT_EQ(refused->error().code, Code::exhausted);
    group_.cancel();
    timers_.settle();
    EXPECT_EQ(cancelled->error().code, Code::cancelled);
    EXPECT_FALSE(testing::try_run(loop_, link_->ask(note("?"), 1h))) << "a cancelled call still counts";
}

TEST_F(LinkTest, SendWaitsForRoom) {
    join_raw({.sending_bytes_max = 2'000, .sending_frames_max = 3}, /*room*/ 100);
    const std::string large(1'500, 'x');
    ASSERT_TRUE(link_->try_send(note(large)));
    timers_.settle();  // The writer has it, and is stuck.
    ASSERT_TRUE(link_->try_send(note(large)));
    ASSERT_TRUE(link_->try_send(note(large)));
    EXPECT_EQ(link_->try_send(note("x")).error().code, Code::exhausted);
    std::optional<Result<>> sent;
    start(sent, link_->send(note("last")));
    EXPECT_FALSE(sent);
    std::string got(bytes_of(note(large)).size() * 3 + bytes_of(note("last")).size(), '\0');
    ASSERT_TRUE(testing::run(loop_, read_exactly(*raw_, got)));
    EXPECT_TRUE(sent && *sent);
    EXPECT_TRUE(got.ends_with("last"));
}

TEST_F(LinkTest, AnAskThatFindsNoRoomEndsAtItsDeadline) {
    join_raw({.sending_frames_max = 1}, /*room*/ 10);
    ASSERT_TRUE(link_->try_send(note("in the writer's hands")));
    timers_.settle();
    ASSERT_TRUE(link_->try_send(note("in the queue")));
    std::optional<Result<Frame>> answer;
    start(answer, link_->ask(note("?"), 2s));
    timers_.advance(2s);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::timeout);
}

TEST_F(LinkTest, FramesThatArriveTogetherAreWrittenTogether) {
    join_raw();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(link_->try_send(note("x")));
    EXPECT_TRUE(raw_->unread().empty());
    timers_.settle();
    EXPECT_EQ(raw_->unread().size(), 10 * bytes_of(note("x")).size());
    ASSERT_TRUE(testing::run(loop_, link_->flush(1s)));
}

TEST_F(LinkTest, FlushSaysWhenThePeerTakesNothing) {
    join_raw({}, /*room*/ 10);
    ASSERT_TRUE(link_->try_send(note("more than ten bytes")));
    std::optional<Result<>> flushed;
    start(flushed, link_->flush(5s));
    EXPECT_FALSE(flushed);
    timers_.advance(5s);
    EXPECT_EQ(flushed->error().code, Code::timeout);
    std::string got(bytes_of(note("more than ten bytes")).size(), '\0');
    ASSERT_TRUE(testing::run(loop_, read_exactly(*raw_, got)));
    EXPECT_TRUE(testing::run(loop_, link_->flush(5s)));
}

// Whoever does not fetch what came makes the peer wait instead of filling our memory.
TEST_F(LinkTest, StopsReadingWhenNobodyReceives) {
    join_raw({.received_frames_max = 2}, /*room*/ 1'000);
    const std::string one = bytes_of(note("x"));
    here_->read_max = one.size();
    for (int i = 0; i < 10; ++i) send_raw(one);
    timers_.settle();
    EXPECT_EQ(here_->unread().size(), 8 * one.size());
    for (int i = 0; i < 10; ++i) EXPECT_EQ(received(), "x");
    EXPECT_TRUE(here_->unread().empty());
}

TEST_F(LinkTest, RefusesToSendWhatThePeerWouldNotTake) {
    join({.frame_size_max = 100});
    EXPECT_EQ(link_->try_send(note(std::string(200, 'x'))).error().code, Code::invalid);
    EXPECT_EQ(link_->try_send(Frame{}).error().code, Code::invalid);
    EXPECT_FALSE(link_->closed());
}

TEST_F(LinkTest, ASilentPeerIsCutAndALivingOneIsNot) {
    join();
    std::optional<Result<>> kept;
    start(kept, link_->keep_alive(10s, 30s));
    timers_.advance(10min);  // The peer answers pings by itself.
    EXPECT_FALSE(kept);

    join_raw();
    std::optional<Result<>> cut;
    start(cut, link_->keep_alive(10s, 30s));
    timers_.advance(29s);
    EXPECT_FALSE(cut);
    EXPECT_EQ(raw_->unread().size() % bytes_of([] {
                                          Frame f;
                                          f.mutable_ping();
                                          return f;
                                      }())
                                          .size(),
              0u);
    EXPECT_FALSE(raw_->unread().empty());
    timers_.advance(1s);
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->error().code, Code::timeout);
    EXPECT_EQ(cut->error().message, "there has been silent for 30 s");
    EXPECT_TRUE(here_->closed());
}

TEST_F(LinkTest, ABusyPeerIsNotPinged) {
    join_raw();
    std::optional<Result<>> kept;
    start(kept, link_->keep_alive(10s, 30s));
    for (int i = 0; i < 20; ++i) {
        timers_.advance(5s);
        send_raw(bytes_of(note("x")));
        timers_.settle();
    }
    EXPECT_FALSE(kept);
    EXPECT_TRUE(raw_->unread().empty());
}

TEST_F(LinkTest, KeepAliveEndsWithTheLink) {
    join();
    std::optional<Result<>> kept;
    start(kept, link_->keep_alive(10s, 30s));
    link_->close();
    timers_.settle();
    ASSERT_TRUE(kept) << "it slept on";
    EXPECT_EQ(kept->error().code, Code::cancelled);
    EXPECT_EQ(timers_.size(), 0u);
}

TEST_F(LinkTest, ClosingAndDestroyingWakeTheReceiver) {
    join();
    std::optional<Result<Frame>> closed, destroyed;
    start(closed, link_->receive());
    link_->close();
    timers_.settle();
    EXPECT_EQ(closed->error().code, Code::cancelled);
    start(destroyed, peer_->receive());
    peer_.reset();
    timers_.settle();
    ASSERT_TRUE(destroyed);
    EXPECT_FALSE(*destroyed);
}

TEST_F(LinkTest, AStormOfPingsFromADeafPeerPilesNothingUp) {
    join_raw({.sending_bytes_max = 1'000}, /*room*/ 300);
    Frame ping;
    ping.set_call(1);
    ping.mutable_ping();
    for (int i = 0; i < 1'000; ++i) send_raw(bytes_of(ping));
    timers_.settle();
    EXPECT_FALSE(link_->closed());
    std::string all;
    std::array<char, 4096> part{};
    while (const auto size = raw_->try_read(part).value()) {
        all.append(part.data(), *size);
        timers_.settle();
    }
    EXPECT_LE(all.size(), 2'500u);
}

}  // namespace
}  // namespace hostler::wire
