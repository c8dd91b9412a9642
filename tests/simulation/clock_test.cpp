// The clock that leases are counted by is put forward and back, under masters that look at their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cloud.h"
#include "seeds.h"

namespace hostler::simulation {

namespace {

class DatabaseClock : public ::testing::TestWithParam<std::uint64_t> {
protected:
    void SetUp() override { ASSERT_TRUE(cloud.begin({"red-team"})) << cloud.unsettled(); }
    void jump(std::chrono::minutes by) { cloud.world.machine(cloud.database->primary()).jump(by); }
    std::uint64_t epoch() { return cloud.term() ? cloud.term()->epoch() : 0; }
    int make(const std::string& zone) {
        const auto answer = cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, "POST", "/v1/zones",
                                                       fmt::format(R"({{"name":"{}"}})", zone)));
        return answer ? answer->status : 0;
    }
    Cloud cloud{GetParam(), {}, 1, 4, {.masters = 3}};
};

// Until the clock is as late again, an end that was counted before would be ahead.
TEST_P(DatabaseClock, PutBackAsTheLeaderDiesKeepsNobodyFromLeading) {
    for (const int minutes : {1, 10, 600}) {
        const auto before = epoch();
        Machine* dead = cloud.leader();
        ASSERT_TRUE(dead);
        dead->crash();
        jump(-std::chrono::minutes{minutes});
        EXPECT_TRUE(cloud.world.run_until([&] { return epoch() > before; }, 5s))
            << minutes << " minutes back, and nobody leads";
        dead->boot();
    }
    EXPECT_EQ(make("after"), 201);
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

TEST_P(DatabaseClock, PutBackUnderALeaderItGoesOn) {
    const auto before = epoch();
    jump(-std::chrono::minutes{10});
    cloud.world.run(30s);
    EXPECT_EQ(epoch(), before);
    EXPECT_EQ(make("after"), 201);
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

// A lease has run out by it that has not: another may lead, and only that one writes.
TEST_P(DatabaseClock, PutForwardItLetsOneOnlyWrite) {
    std::set<std::string> made;
    for (int round = 0; round < 10; ++round) {
        jump(std::chrono::minutes{5});
        for (int i = 0; i < 3; ++i) {
            const std::string zone = fmt::format("z-{}-{}", round, i);
            if (make(zone) == 201) made.insert(zone);
        }
        cloud.world.run(2s);
        const std::string calm = fmt::format("z-{}-calm", round);
        EXPECT_EQ(make(calm), 201) << "two seconds later one leads";
        made.insert(calm);
    }
    ASSERT_TRUE(cloud.world.run_until([&] { return cloud.term() != nullptr; }, 5s));
    for (const std::string& zone : made)
        EXPECT_TRUE(cloud.term()->look().estate.zones.find(zone)) << zone << " was acknowledged";
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

std::vector<std::uint64_t> some_seeds() {
    std::vector<std::uint64_t> all;
    const Seeds range = seeds(3);
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) all.push_back(seed);
    return all;
}
INSTANTIATE_TEST_SUITE_P(Seeds, DatabaseClock, ::testing::ValuesIn(some_seeds()));

}  // namespace

}  // namespace hostler::simulation
