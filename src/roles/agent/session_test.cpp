// Two access points and one agent: which it speaks through, when it moves, and what of its reports comes.
#include <gtest/gtest.h>

#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

struct TwoWays : ::testing::Test, World {
    TwoWays() {
        settings.access = {"access:1", "access:2"};
        second.credentials->certificate = certificate("access/a-2");
        second.listen("access:2");
        timers.settle();
    }
    ~TwoWays() override { crash(); }
    void tell(uplink::AccessList list, FakeMaster& by) {
        uplink::Frame frame;
        *frame.mutable_access_list() = std::move(list);
        by.send(std::move(frame));
        timers.settle();
    }
    static uplink::AccessList ways(bool first_drains = false) {
        uplink::AccessList list;
        for (const int number : {1, 2}) {
            auto& entry = *list.add_access();
            entry.set_name("a-" + std::to_string(number));
            entry.set_zone("nj");
            entry.set_address("access:" + std::to_string(number));
            entry.set_up(true);
            entry.set_draining(first_drains && number == 1);
        }
        list.set_leave_within_ms(5000);
        return list;
    }
    // In the order in which they came, wherever they came.
    std::vector<std::uint64_t> numbers() const {
        std::vector<std::uint64_t> all;
        for (const auto* at : {&master, &second})
            for (const auto& report : at->reports) all.push_back(report.sequence());
        return all;
    }
    FakeMaster second{loop, timers, net};
};

TEST_F(TwoWays, TheStandbySaysNothingUntilItIsNeededAndThenAtOnce) {
    join();
    EXPECT_EQ(master.hellos.size(), 1U);
    EXPECT_TRUE(second.hellos.empty());
    const std::string life = master.hellos[0].life();
    timers.advance(25s);
    master.acknowledge_reports = false;
    timers.advance(12s);
    net.stop_listening("access:1");
    master.cut();
    timers.advance(1s);
    ASSERT_EQ(second.hellos.size(), 1U);
    EXPECT_EQ(second.hellos[0].life(), life);
    EXPECT_GT(second.hellos[0].turn(), master.hellos[0].turn());
    timers.advance(12s);
    // What was not acknowledged comes again, and nothing is missing.
    const auto all = numbers();
    EXPECT_EQ(second.reports.at(0).sequence(), second.hellos[0].settled() + 1);
    EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), all.back() - all.front() + 1);
    EXPECT_TRUE(std::ranges::is_sorted(second.reports, {}, &uplink::Report::sequence));
}

TEST_F(TwoWays, OneThatAcceptsAndThenIsSilentIsLeftForTheOther) {
    master.welcomes = false;
    boot();
    master.welcomes = true;  // It passes joins on, and then nothing.
    timers.advance(500ms);
    master.welcomes = false;
    crash();
    boot();
    timers.advance(6s);
    EXPECT_TRUE(agent->connected());
    EXPECT_EQ(second.hellos.size(), 1U);
    timers.advance(60s);
    EXPECT_EQ(second.hellos.size(), 1U) << "and it stays there";
}

TEST_F(TwoWays, AfterARestartItKnowsWhatItWasTold) {
    master.ways = ways();
    join();
    crash();
    settings.access = {"gone:1"};
    join();
    EXPECT_EQ(journal.kept.count("access"), 1U);
}

TEST_F(TwoWays, ANameStandsForAllItsAddresses) {
    struct Directory : Names {
        Task<std::vector<std::string>> addresses(std::string name, Duration) override {
            if (name == "cloud:7441") co_return std::vector<std::string>{"access:9", "access:1", "access:2"};
            co_return fail(Code::unavailable, "no such name");
        }
    } directory;
    settings.access = {"access:1"};
    join();
    crash();
    names = &directory;
    settings.access = {"cloud:7441"};
    join();
    net.stop_listening("access:1");
    master.cut();
    timers.advance(5s);
    EXPECT_EQ(second.hellos.size(), 1U);
    crash();
}

TEST_F(TwoWays, AConnectionByANameCountsAlsoOnceTheNameLeadsElsewhere) {
    struct Directory : Names {
        explicit Directory(Timers& with) : timers(with) {}
        Task<std::vector<std::string>> addresses(std::string name, Duration) override {
            CO_TRY(co_await sleep(timers, 10ms));  // It is dialled meanwhile.
            co_return std::vector<std::string>{name == "access:1" ? "access:8" : "access:9"};
        }
        Timers& timers;
    } directory{timers};
    names = &directory;
    settings.access = {"access:1", "access:2"};
    join();
    timers.advance(1s);
    net.stop_listening("access:1");
    master.cut();
    timers.advance(1s);
    EXPECT_EQ(second.hellos.size(), 1U) << "the standby is spoken through";
    EXPECT_TRUE(agent->connected());
    crash();
}

TEST_F(TwoWays, OneThatDrainsIsLeftInTimeAndOnlyAfterTheOtherWelcomedIt) {
    master.ways = second.ways = ways();
    join();
    timers.advance(3s);
    master.ways = second.ways = ways(true);
    tell(ways(true), master);
    timers.advance(7s);
    ASSERT_EQ(second.hellos.size(), 1U);
    EXPECT_TRUE(agent->connected());
    EXPECT_EQ(master.link, nullptr) << "it has hung up there";
    timers.advance(60s);
    EXPECT_EQ(master.hellos.size(), 1U) << "and does not come back";
    EXPECT_EQ(second.hellos.size(), 1U);
}

TEST_F(TwoWays, OrdersOnEitherConnectionAreObeyedOnce) {
    serve("10.201.3.5:8080");
    join();
    timers.advance(1s);
    const auto before = master.link;
    net.stop_listening("access:1");
    master.order(start());
    master.cut();
    timers.advance(2s);
    second.order(start());
    timers.advance(3s);
    ASSERT_NE(second.answer("c-1"), nullptr);
    EXPECT_EQ(second.answer("c-1")->state(), "done");
    EXPECT_EQ(engine.launches, 1);
}

TEST_F(TwoWays, AnotherMasterGetsAHelloOnTheSameConnection) {
    join();
    const auto link = master.link;
    uplink::Frame frame;
    frame.mutable_agent_welcome()->set_epoch(master.epoch = 5);
    master.send(frame);
    timers.advance(1s);
    EXPECT_EQ(master.hellos.size(), 2U);
    EXPECT_EQ(master.link, link);
    EXPECT_EQ(master.hellos[1].epoch(), 5U);
}

}  // namespace
}  // namespace hostler::agent
