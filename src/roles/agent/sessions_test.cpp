// Sessions as a gateway opens them: begun once, found again, and gone when nobody comes back.
#include "roles/agent/sessions.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace std::chrono_literals;

// Says back what it hears, until it is told to end.
class EchoExec final : public Exec {
public:
    struct Echo final : Process {
        explicit Echo(EchoExec& of) : exec(of) {}
        Task<ProcessOutput> read(std::span<char> into) override {
            while (heard.empty() && !over) CO_TRY(co_await changed.wait());
            const std::size_t size = heard.copy(into.data(), into.size());
            heard.erase(0, size);
            co_return ProcessOutput{size};
        }
        Task<> write(std::string_view bytes) override {
            heard += bytes;
            changed.notify_all();
            co_return Result<>{};
        }
        Task<> finish() override {
            over = ++exec.ends > exec.ends_lost;
            changed.notify_all();
            co_return Result<>{};
        }
        Task<> resize(TerminalSize size) override {
            exec.sizes.push_back(size.rows);
            co_return Result<>{};
        }
        Task<> signal(std::string name) override {
            exec.signals.push_back(name);
            co_return Result<>{};
        }
        Task<int> exit_code() override { co_return 3; }
        void close() override { (void)over; }
        EchoExec& exec;
        std::string heard;
        bool over = false;
        Signal changed;
    };
    Task<ProcessPtr> start(ExecSpec spec) override {
        started.push_back(std::move(spec));
        co_return std::make_unique<Echo>(*this);
    }
    Task<PathFacts> look(std::string, std::string) override { co_return PathFacts{}; }
    Task<ProcessPtr> read_files(std::string, std::string) override {
        co_return fail(Code::not_found, "none");
    }
    Task<ProcessPtr> write_files(std::string, std::string) override {
        co_return fail(Code::not_found, "none");
    }
    std::vector<ExecSpec> started;
    std::vector<std::string> signals;
    std::vector<int> sizes;
    int ends = 0;
    int ends_lost = 0;  // So many ends of input are not heard.
};

class SessionsTest : public ::testing::Test {
protected:
    SessionsTest() : sessions(settings, ports, workloads, activity) {
        workloads.note(
            {.name = "hostler-i-1",
             .labels = {{std::string{label::instance}, "i-1"}, {std::string{label::generation}, "4"}},
             .state = ContainerState::running});
    }
    ~SessionsTest() override {
        client.close();
        (void)hostler::testing::run(world.loop, sessions.close());
        world.timers.settle();
    }
    uplink::TunnelOpen wanted(std::string id = "0123456789abcdef") {
        uplink::TunnelOpen open;
        open.set_instance("i-1");
        open.set_generation(4);
        open.set_kind("exec");
        open.set_session(id);
        open.set_principal("key/k-1");
        open.add_command("echo");
        return open;
    }
    std::string reason(uplink::TunnelOpen open) {
        const auto entered = hostler::testing::run(world.loop, sessions.enter(std::move(open)));
        return entered ? "in" : entered.error().reason;
    }
    void connect(uplink::TunnelOpen open) {
        auto [a, b] = hostler::testing::memory_pair();
        wire = a.get();
        auto session = *hostler::testing::run(world.loop, sessions.enter(std::move(open)));
        group.start("client", client.carry(std::move(a)));
        group.start("agent", sessions.carry(std::move(session), std::move(b)));
        world.timers.settle();
    }
    std::string next() {
        const auto message = hostler::testing::try_run(world.loop, client.receive());
        if (!message || !*message) return "nothing";
        if ((*message)->channel == http::Channel::exit)
            return fmt::format("exit {}", http::decode_exit((*message)->bytes)->code);
        return (*message)->bytes;
    }
    void say(http::Channel channel, std::string bytes) {
        (void)hostler::testing::run(world.loop, client.send(channel, std::move(bytes)));
        world.timers.settle();
    }

    testing::World world;
    EchoExec exec;
    Settings settings;
    Ports ports{world.loop,     world.timers,  world.net,     world.random, world.engine,
                world.networks, world.volumes, world.journal, world.logs,   {&world.telemetry},
                world.host,     world.keys,    nullptr,       &exec};
    Workloads workloads{world.engine, world.journal, world.timers, 5s, [](const Workload&) {}};
    Activity activity{world.timers};
    Sessions sessions;
    http::Conversation client{world.loop, world.timers, http::WebSocketSide::client, [] { return 7U; }};
    hostler::testing::MemoryStream* wire = nullptr;
    TaskGroup group{world.loop};
};

TEST_F(SessionsTest, OnlyWhatRunsIsEnteredAndTheSameIdBeginsOnce) {
    auto other = wanted();
    other.set_generation(3);
    EXPECT_EQ(reason(other), "not_here");
    other = wanted();
    other.set_instance("i-2");
    EXPECT_EQ(reason(other), "not_here");
    auto gone = wanted();
    gone.set_resume(true);
    EXPECT_EQ(reason(gone), "session_gone");
    EXPECT_EQ(reason(wanted()), "in");
    EXPECT_EQ(reason(wanted()), "in");
    EXPECT_EQ(exec.started.size(), 1U);
    EXPECT_EQ(exec.started[0].container, "hostler-i-1");
    auto thief = wanted();
    thief.set_principal("key/k-2");
    EXPECT_EQ(reason(thief), "session_gone");
    EXPECT_NE(reason(wanted("short")), "in");
}

TEST_F(SessionsTest, ItGoesOnOverAnotherConnection) {
    connect(wanted());
    say(http::Channel::input, "one");
    EXPECT_EQ(next(), "one");
    wire->close();
    say(http::Channel::input, "two");
    world.timers.advance(50s);
    EXPECT_EQ(sessions.size(), 1U);
    auto again = wanted();
    again.set_resume(true);
    connect(again);
    EXPECT_EQ(next(), "two");
    say(http::Channel::resize, std::string{"\0\x28\0\x50", 4});
    say(http::Channel::signal, "INT");
    EXPECT_EQ(exec.sizes, std::vector<int>{40});
    EXPECT_EQ(exec.signals, std::vector<std::string>{"INT"});
    say(http::Channel::end, "");
    EXPECT_EQ(next(), "exit 3");
    world.timers.settle();
    EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(SessionsTest, ATerminalIsToldOfTheEndOfItsInputUntilItEnds) {
    exec.ends_lost = 2;
    auto open = wanted();
    open.set_terminal(true);
    connect(open);
    say(http::Channel::end, "");
    EXPECT_EQ(next(), "nothing");
    world.timers.advance(3s);
    EXPECT_EQ(next(), "exit 3");
    world.timers.advance(10s);
    EXPECT_EQ(exec.ends, 3);
}

TEST_F(SessionsTest, ACommandWithoutATerminalIsToldOfTheEndOfItsInputOnce) {
    exec.ends_lost = 1;
    connect(wanted());
    say(http::Channel::end, "");
    world.timers.advance(10s);
    EXPECT_EQ(exec.ends, 1);
}

TEST_F(SessionsTest, WhoDoesNotComeBackIsHungUpOn) {
    connect(wanted());
    wire->close();
    world.timers.settle();
    world.timers.advance(settings.session_kept + 1s);
    EXPECT_EQ(exec.signals, std::vector<std::string>{"HUP"});
    world.timers.advance(settings.session_last_words);
    EXPECT_EQ(exec.signals, (std::vector<std::string>{"HUP", "KILL"}));
    EXPECT_EQ(sessions.size(), 0U);
}

TEST_F(SessionsTest, AreBounded) {
    for (std::size_t i = 0; i < settings.sessions_instance_max; ++i)
        ASSERT_EQ(reason(wanted(fmt::format("session-number-{:05}", i))), "in");
    EXPECT_EQ(reason(wanted("one-more-than-there-may-be")), "too_many_sessions");
}

}  // namespace
}  // namespace hostler::agent
