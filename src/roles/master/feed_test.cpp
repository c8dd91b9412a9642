#include "roles/master/feed.h"

#include <gtest/gtest.h>

#include "core/testing/run.h"

namespace hostler::master {
namespace {

using hostler::testing::try_run;

using Ids = std::vector<std::string>;

struct FeedTest : ::testing::Test {
    std::optional<Result<Feed::News>> ask(std::uint64_t after) {
        return try_run(loop, feed.next("instance", after));
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
    EXPECT_EQ((*all)->last, 12u);
    EXPECT_EQ((**ask(11)).ids, (Ids{"i-1", "i-2"}));
    EXPECT_FALSE(ask(12));
    feed.publish(13, {{"host", "h-1"}});
    EXPECT_FALSE(ask(12)) << "of other kinds it says nothing";
    EXPECT_EQ(feed.last(), 13u);
}

TEST_F(FeedTest, WhoWaitsIsWoken) {
    TaskGroup group{loop};
    Ids heard;
    group.start("watch", [](Feed& from, Ids& into) -> Task<> {
        std::uint64_t at = from.last();
        while (true) {
            const auto news = CO_TRY(co_await from.next("instance", at));
            at = news.last;
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
    for (std::uint64_t number = 11; number <= 14; ++number)
        feed.publish(number, {{"instance", std::to_string(number)}, {"host", "h"}});
    EXPECT_EQ((**ask(13)).ids, (Ids{"14"}));
    EXPECT_EQ((**ask(12)).ids, (Ids{"13", "14"}));
    const auto late = ask(11);
    ASSERT_TRUE(late && !*late);
    EXPECT_EQ(late->error().reason, "feed_too_old");
    EXPECT_EQ(ask(0)->error().reason, "feed_too_old");
    EXPECT_EQ(ask(99)->error().reason, "feed_too_old") << "of a history that is not ours";
}

TEST_F(FeedTest, IsOverWithItsTerm) {
    feed.close();
    EXPECT_EQ(ask(10)->error().code, Code::unavailable);
}

}  // namespace
}  // namespace hostler::master
