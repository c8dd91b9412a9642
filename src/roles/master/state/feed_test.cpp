#include "roles/master/state/feed.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"

namespace hostler::master {
namespace {

using hostler::testing::try_run;

using Ids = std::vector<std::string>;

struct FeedTest : ::testing::Test {
    // What is told after this commit; nothing: it waits.
    std::optional<Result<Feed::News>> ask(std::uint64_t after) {
        const auto place = feed.behind("instance", after);
        if (!place) return Result<Feed::News>{std::unexpected(place.error())};
        return try_run(loop, feed.next("instance", *place));
    }
    Loop loop;
    Feed feed{4, 10};
};

TEST_F(FeedTest, TellsWhatCameAfter) {
    EXPECT_FALSE(ask(10)) << "nothing so far: it waits";
    feed.publish(11, {{"instance", "i-1"}, {"host", "h-1"}});
    feed.publish(12, {{"instance", "i-1"}, {"instance", "i-2"}});
    const auto all = ask(10);
    ASSERT_TRUE(all && *all);
    EXPECT_EQ((*all)->ids, (Ids{"i-1", "i-2"})) << "each once";
    EXPECT_EQ((*all)->place.commit, 12u);
    EXPECT_EQ((**ask(11)).ids, (Ids{"i-1", "i-2"}));
    EXPECT_FALSE(ask(12));
    feed.publish(13, {{"host", "h-1"}});
    EXPECT_FALSE(ask(12)) << "of other kinds it says nothing";
    EXPECT_EQ(feed.last(), 13u);
    EXPECT_EQ(feed.end("instance").commit, 13u);
}

TEST_F(FeedTest, WhoWaitsIsWoken) {
    TaskGroup group{loop};
    Ids heard;
    group.start("watch", [](Feed& from, Ids& into) -> Task<> {
        Feed::Place at = from.end("instance");
        while (true) {
            const auto news = CO_TRY(co_await from.next("instance", at));
            at = news.place;
            into.push_back(news.ids.empty() ? "beat" : news.ids.front());
        }
    }(feed, heard));
    const auto settle = [&] {
        loop.restart();
        while (loop.poll() > 0) {
        }
    };
    settle();
    feed.publish(11, {{"host", "h-1"}});
    settle();
    feed.publish(12, {{"instance", "i-1"}});
    settle();
    feed.beat();
    settle();
    feed.publish(13, {{"instance", "i-2"}});
    settle();
    EXPECT_EQ(heard, (Ids{"i-1", "beat", "i-2"}));
    feed.close();
    settle();
    EXPECT_EQ(group.size(), 0u);
}

TEST_F(FeedTest, WhoComesBackTooLateBeginsAnew) {
    for (std::uint64_t number = 11; number <= 15; ++number)
        feed.publish(number, {{"instance", std::to_string(number)}, {"host", "h"}});
    EXPECT_EQ((**ask(14)).ids, (Ids{"15"}));
    EXPECT_EQ((**ask(11)).ids, (Ids{"12", "13", "14", "15"}));
    const auto late = ask(10);
    ASSERT_TRUE(late && !*late);
    EXPECT_EQ(late->error().reason, "watch_expired");
    EXPECT_EQ(ask(0)->error().reason, "watch_expired");
    EXPECT_EQ(ask(99)->error().reason, "watch_expired") << "of a history that is not ours";
}

TEST_F(FeedTest, OtherKindsPushNobodyOut) {
    feed.publish(11, {{"instance", "i-1"}});
    for (std::uint64_t number = 12; number <= 40; ++number) feed.publish(number, {{"host", "h"}});
    EXPECT_EQ((**ask(10)).ids, (Ids{"i-1"}));
    EXPECT_EQ(feed.size(), 5u);
}

TEST_F(FeedTest, WhoIsOvertakenBeginsAnew) {
    const Feed::Place at = feed.end("instance");
    for (std::uint64_t number = 11; number <= 14; ++number)
        feed.publish(number, {{"instance", std::to_string(number)}});
    EXPECT_TRUE(*try_run(loop, feed.next("instance", at)));
    feed.publish(15, {{"instance", "15"}});
    EXPECT_EQ(try_run(loop, feed.next("instance", at))->error().reason, "watch_expired");
}

// Wherever a watch is cut, what it goes on behind leaves nothing out.
TEST(Feed, ALargeCommitComesInPiecesThatAreNotTakenForTheWhole) {
    Loop loop;
    Feed feed{10'000, 10};
    std::vector<Touched> many;
    for (std::size_t i = 0; i < Feed::news_max * 2 + 5; ++i) many.push_back({"instance", std::to_string(i)});
    feed.publish(11, {{"instance", "first"}});
    feed.publish(12, many);
    feed.publish(13, {{"instance", "last"}});
    std::set<std::string> told;
    Feed::Place at = feed.behind("instance", 10).value();
    for (int piece = 0; at.commit < 13; ++piece) {
        ASSERT_LT(piece, 4);
        auto news = try_run(loop, feed.next("instance", at))->value();
        EXPECT_LE(news.ids.size(), Feed::news_max);
        at = news.place;
        told.insert(news.ids.begin(), news.ids.end());
        std::set<std::string> both = told;  // With what comes to somebody who begins again behind at.commit.
        for (Feed::Place again = feed.behind("instance", at.commit).value(); again.commit < 13;) {
            news = try_run(loop, feed.next("instance", again))->value();
            again = news.place;
            both.insert(news.ids.begin(), news.ids.end());
        }
        EXPECT_EQ(both.size(), many.size() + 2) << "cut behind piece " << piece;
    }
    EXPECT_EQ(told.size(), many.size() + 2);
}

TEST_F(FeedTest, IsOverWithItsTerm) {
    feed.close();
    EXPECT_EQ(ask(10)->error().code, Code::unavailable);
}

}  // namespace
}  // namespace hostler::master
