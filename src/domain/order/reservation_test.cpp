#include "domain/order/reservation.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace hostler {
namespace {

constexpr Amount gpus(std::int64_t count) { return {count * 1000, 0, 0}; }

TEST(Reservation, IsTheEarliestTimeInOnePlace) {
    const std::map<std::string, Amount> free{{"a", gpus(1)}, {"b", gpus(0)}};
    const std::vector<Ending> endings{
        {"a", gpus(1), 300}, {"b", gpus(2), 200}, {"b", gpus(2), 100}, {"a", gpus(2), 100}};
    EXPECT_EQ(reserve("j", gpus(1), free, endings, 50), (Reservation{"j", "a", 50, gpus(0)}));
    EXPECT_EQ(reserve("j", gpus(2), free, endings, 50), (Reservation{"j", "a", 100, gpus(1)}));
    EXPECT_EQ(reserve("j", gpus(4), free, endings, 50), (Reservation{"j", "b", 200, gpus(0)}));
    EXPECT_EQ(reserve("j", gpus(4), free, endings, 400), (Reservation{"j", "a", 400, gpus(0)}));
    EXPECT_EQ(reserve("j", gpus(5), free, endings, 50), std::nullopt);
    // A wrong amount frees nothing.
    EXPECT_EQ(reserve("j", gpus(5), free, {{"a", {INT64_MAX, 0, 0}, 60}}, 50), std::nullopt);
}

TEST(Reservation, BackfillDoesNotDelayIt) {
    Reservation reservation{"j", "a", 100, gpus(2)};
    EXPECT_TRUE(may_backfill(reservation, "b", gpus(9), std::nullopt));
    EXPECT_TRUE(may_backfill(reservation, "a", gpus(9), 100));
    EXPECT_FALSE(may_backfill(reservation, "a", gpus(9), 101));
    EXPECT_FALSE(may_backfill(reservation, "a", gpus(3), std::nullopt));
    ASSERT_TRUE(may_backfill(reservation, "a", gpus(2), std::nullopt));
    backfill(reservation, "a", gpus(2), std::nullopt);
    EXPECT_FALSE(may_backfill(reservation, "a", gpus(1), std::nullopt));
    EXPECT_TRUE(may_backfill(reservation, "a", gpus(1), 90));
}

// Small jobs with time limits come all the time; a gang needs the whole host. Returns when it starts; -1:
// never.
std::int64_t gang_start(unsigned seed, bool reserves) {
    std::mt19937 dice{seed};
    constexpr std::int64_t host = 8'000;
    struct Small {
        Amount size;
        std::int64_t limit = 0;
    };
    std::vector<Ending> running;
    std::deque<Small> waiting;
    for (std::int64_t now = 0; now < 1'500; ++now) {
        std::erase_if(running, [&](const Ending& job) { return job.at <= now; });
        if (waiting.size() < 50) waiting.push_back({gpus(1 + dice() % 3), std::int64_t(20 + dice() % 100)});
        Amount free{host, 0, 0};
        for (const Ending& job : running) free -= job.size;
        std::optional<Reservation> reservation;
        if (now >= 200) {
            reservation = reserve("gang", gpus(8), {{"host", free}}, running, now);
            if (!reservation) return -1;
            if (reservation->at <= now) return now;
        }
        std::erase_if(waiting, [&](const Small& job) {
            const std::int64_t ends_at = now + job.limit;
            if (!job.size.fits(free)) return false;
            if (reserves && reservation && !may_backfill(*reservation, "host", job.size, ends_at))
                return false;
            if (reservation) backfill(*reservation, "host", job.size, ends_at);
            free -= job.size;
            running.push_back({"host", job.size, ends_at});
            return true;
        });
    }
    return -1;
}

TEST(Reservation, NoGangStarves) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        const std::int64_t start = gang_start(seed, true);
        EXPECT_GE(start, 200);
        EXPECT_LE(start, 200 + 120) << "no later than the longest limit; seed " << seed;
        const std::int64_t without = gang_start(seed, false);
        EXPECT_TRUE(without < 0 || without > 600) << without << ", seed " << seed;
    }
}

}  // namespace
}  // namespace hostler
