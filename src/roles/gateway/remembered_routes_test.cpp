#include "roles/gateway/remembered_routes.h"

#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/run.h"

namespace hostler::gateway {
namespace {

using namespace std::chrono_literals;

// May refuse, or keep the first so many entries of a call and no more, as a crash does.
class FlakyJournal final : public Journal {
public:
    const std::map<std::string, std::string>& all() const override { return entries; }
    Task<> put_all(std::vector<Entry> more) override {
        ++calls;
        if (full) co_return fail(Code::exhausted, "the disk is full");
        for (auto& [key, value] : more) {
            if (kept_max && kept >= *kept_max) co_return fail(Code::unavailable, "the machine has stopped");
            entries[key] = value;
            ++kept;
        }
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        entries.erase(key);
        co_return Result<>{};
    }
    std::map<std::string, std::string> entries;
    std::optional<int> kept_max;
    bool full = false;
    int calls = 0, kept = 0;
};

struct RememberedRoutesTest : ::testing::Test {
    RememberedRoutesTest() { begin(); }
    ~RememberedRoutesTest() override { end(); }
    void begin() {
        table = std::make_unique<RouteTable>(1000);
        remembered = std::make_unique<RememberedRoutes>(journal, timers, *table);
        sign_in = remembered->recall();
        group = std::make_unique<TaskGroup>(loop);
        group->start("routes", remembered->run());
        timers.settle();
    }
    void end() {
        group->cancel();
        timers.settle();
    }
    void restart() {
        end();
        begin();
    }
    static Route route(int number, State state = State::running) {
        return {.name = fmt::format("8080-i-{}", number),
                .tenant = "t-a",
                .instance = fmt::format("i-{}", number),
                .generation = 1,
                .port = 8080,
                .state = state,
                .host = "h-1"};
    }
    // As a master tells them.
    void tell(int number) {
        std::vector<Route> all;
        for (int i = 0; i < number; ++i) all.push_back(route(i));
        table->replace(std::move(all));
        remembered->replaced("http://api/sign-in");
        timers.settle();
    }

    Loop loop;
    testing::ManualTimers timers{loop};
    FlakyJournal journal;
    std::unique_ptr<RouteTable> table;
    std::unique_ptr<RememberedRoutes> remembered;
    std::unique_ptr<TaskGroup> group;
    std::string sign_in;
};

TEST_F(RememberedRoutesTest, AllOfThemComeBackWithTheirChanges) {
    tell(200);
    timers.advance(2s);
    EXPECT_EQ(remembered->unwritten(), 0U);
    table->change({route(7, State::stopped)}, {"8080-i-8"});
    remembered->changed("8080-i-7"), remembered->changed("8080-i-8");
    timers.advance(2s);
    const auto known = table->all();
    restart();
    EXPECT_EQ(sign_in, "http://api/sign-in");
    EXPECT_TRUE(table->complete());
    ASSERT_EQ(table->all().size(), 199U);
    for (const auto& [name, one] : known) EXPECT_EQ(*table->find(name), *one) << name;
}

TEST_F(RememberedRoutesTest, WhatTheDiskRefusedIsWrittenAgain) {
    journal.full = true;
    tell(3);
    timers.advance(2s);
    EXPECT_GT(remembered->unwritten(), 0U);
    EXPECT_TRUE(journal.entries.empty());
    table->change({route(9)}, {});
    remembered->changed("8080-i-9");  // While it waits to try again.
    journal.full = false;
    timers.advance(10s);
    EXPECT_EQ(remembered->unwritten(), 0U);
    restart();
    EXPECT_EQ(table->all().size(), 4U);
    EXPECT_TRUE(table->find("8080-i-9"));
}

TEST_F(RememberedRoutesTest, AHalfWrittenFirstTimeIsNoKnowledge) {
    journal.kept_max = 5;
    tell(200);
    timers.advance(2s);
    EXPECT_EQ(journal.kept, 5);
    restart();
    EXPECT_FALSE(table->complete()) << "a route that is missing may only be unwritten";
    EXPECT_TRUE(table->all().empty());
    EXPECT_EQ(sign_in, "");
}

TEST_F(RememberedRoutesTest, WhatStaysAsItWasIsNotWrittenAnew) {
    tell(200);
    timers.advance(2s);
    const int calls = journal.calls, kept = journal.kept;
    tell(200);
    timers.advance(2s);
    EXPECT_EQ(journal.calls, calls);
    table->change({route(7, State::stopped)}, {});
    remembered->changed("8080-i-7");
    timers.advance(2s);
    EXPECT_EQ(journal.kept, kept + 1) << "the part that it is in";
}

}  // namespace
}  // namespace hostler::gateway
