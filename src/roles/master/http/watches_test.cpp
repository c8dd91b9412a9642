// Watches: what they are told, and when they end.
#include <gtest/gtest.h>

#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using hostler::testing::try_run;

struct WatchTest : testing::ApiRig {
    WatchTest() {
        for (const char* tenant : {"acme", "b"})
            desk().estate.api_keys.add({.id = tenant, .hash = tenant, .tenant = tenant});
        (void)commit();
    }
    ~WatchTest() override { (void)try_run(loop, watching.close()); }
    struct Watcher {
        Sink sink;
        std::optional<Result<api::Reply>> ended;
        std::pair<int, std::string> refused() const {
            return ended && *ended ? std::pair((*ended)->status, problem(**ended))
                                   : std::pair(0, std::string{});
        }
    };
    std::shared_ptr<Watcher> watch(const std::string& tenant = "acme", const std::string& last_id = "",
                                   int room = 1000, const std::string& query = "") {
        const auto watcher = std::make_shared<Watcher>();
        watcher->sink.room = room;
        watching.start(
            "watch",
            [](const api::Handlers& handlers, std::shared_ptr<Watcher> of, std::string from, std::string id,
               std::string more) -> Task<> {
                of->ended.emplace(co_await wrapped(
                    handlers,
                    {.method = "GET", .target = "/v1/instances?watch=true" + more, .last_event_id = id},
                    caller_for(from), &of->sink));
                co_return Result<>{};
            }(api.handlers(), watcher, tenant, last_id, query));
        timers.settle();
        return watcher;
    }
    void add(const std::string& id) {
        desk().estate.instances.add({.id = id, .caller_id = id, .tenant = "acme"});
    }
    // Commits, waiting for nothing.
    void change(const std::string& id, const std::string& message) {
        Desk& now = desk();
        if (!now.estate.instances.find(id)) add(id);
        now.estate.instances.edit(id).message = message;
        term().commit_then(nullptr);
        timers.settle();
    }
    static std::string last_id(const std::string& events) {
        const auto at = ("\n" + events).rfind("\nid: ");
        return at == std::string::npos ? "" : events.substr(at + 4, events.find('\n', at + 4) - at - 4);
    }
    TaskGroup watching{loop};
};

TEST_F(WatchTest, WatchesAreBounded) {
    settings.watches_max = 3;
    settings.watches_tenant_max = 2;
    const auto first = watch(), second = watch(), third = watch();
    EXPECT_FALSE(first->ended || second->ended);
    EXPECT_EQ(third->refused(), std::pair(429, std::string{"too_many_watches"}));
    EXPECT_FALSE(watch("b")->ended) << "another tenant";
    EXPECT_EQ(watch("b")->refused(), std::pair(503, std::string{"overloaded"})) << "all of them together";
    EXPECT_FALSE(watch("")->ended) << "operators are apart";
    EXPECT_EQ(api.watches().tenants(), 3u);
    first->sink.gone = true;
    term().feed().beat();
    timers.settle();
    EXPECT_TRUE(first->ended) << "its client has gone";
    const auto fourth = watch();
    EXPECT_FALSE(fourth->ended) << "there is room again";
    EXPECT_NE(fourth->sink.bytes.find("event: synced"), std::string::npos);
}

TEST_F(WatchTest, OneCallerHasSoMany) {
    settings.watches_actor_max = 1;
    const auto first = watch();
    EXPECT_FALSE(first->ended);
    EXPECT_EQ(watch()->refused(), std::pair(429, std::string{"too_many_watches"}));
    EXPECT_FALSE(watch("b")->ended) << "another caller";
    first->sink.gone = true;
    term().feed().beat();
    timers.settle();
    EXPECT_FALSE(watch()->ended) << "there is room again";
}

TEST_F(WatchTest, ASlowStoreIsNotOvertaken) {
    change("i-1", "one");
    const auto watcher = watch();
    watcher->sink.bytes.clear();
    store.hang = true;
    change("i-1", "two");
    change("i-1", "three");
    EXPECT_EQ(watcher->sink.bytes, "");
    const auto late = watch();
    EXPECT_EQ(late->sink.bytes, "") << "what is there at the beginning is told once it is durable, too";
    store.waiting.front()->wake({});  // The second is durable; the third, by now in memory, is not.
    store.waiting.pop_front();
    timers.settle();
    EXPECT_EQ(watcher->sink.bytes, "");
    store.let_go();
    timers.settle();
    EXPECT_NE(watcher->sink.bytes.find("three"), std::string::npos);
    EXPECT_NE(late->sink.bytes.find("three"), std::string::npos);
}

TEST_F(WatchTest, WhoIsCutInTheMiddleOfACommitMissesNothing) {
    const auto watcher = watch();
    const std::string begun = last_id(watcher->sink.bytes);
    for (const char* id : {"i-1", "i-2", "i-3"}) add(id);
    watcher->sink.room = 1;  // Events.
    (void)commit();
    timers.settle();
    ASSERT_TRUE(watcher->ended);
    EXPECT_NE(watcher->sink.bytes.find("i-1"), std::string::npos);
    EXPECT_EQ(last_id(watcher->sink.bytes), begun);
    const auto again = watch("acme", last_id(watcher->sink.bytes));
    for (const char* id : {"i-2", "i-3"}) EXPECT_NE(again->sink.bytes.find(id), std::string::npos) << id;
    const auto later = watch("acme", last_id(again->sink.bytes));
    EXPECT_EQ(later->sink.bytes.find("i-3"), std::string::npos) << "told to the end, it is not told again";
}

TEST_F(WatchTest, WhoIsCutAtTheBeginningBeginsAnew) {
    for (const char* id : {"i-1", "i-2"}) add(id);
    (void)commit();
    const auto watcher = watch("acme", "", 1);
    ASSERT_TRUE(watcher->ended);
    EXPECT_EQ(last_id(watcher->sink.bytes), "");
}

TEST_F(WatchTest, WhatIsTooLongAgoIsGoneForGood) {
    add("i-1");
    (void)commit();
    const auto late = watch("acme", "999");
    ASSERT_TRUE(late->ended);
    EXPECT_EQ(late->refused(), std::pair(410, std::string{"watch_expired"}));
    EXPECT_NE((*late->ended)->body.find("without Last-Event-ID"), std::string::npos);
}

// An idle watch goes on from where it is, not from where it last had something to tell.
TEST_F(WatchTest, ABeatTellsHowFarItHasCome) {
    const auto watcher = watch();
    touch("par");
    (void)commit();
    term().feed().beat();
    timers.settle();
    EXPECT_EQ(last_id(watcher->sink.bytes), std::to_string(term().feed().last()));
}

TEST_F(WatchTest, IsOfTheLabelsThatAreAskedFor) {
    add("i-1"), add("i-2");
    desk().estate.instances.edit("i-1").labels = {{"team", "ml"}};
    (void)commit();
    const auto one = watch("acme", "", 1000, "&label=team=ml");
    EXPECT_TRUE(one->sink.bytes.contains("i-1")) << one->sink.bytes;
    EXPECT_FALSE(one->sink.bytes.contains("i-2")) << one->sink.bytes;
    desk().estate.instances.edit("i-2").labels = {{"team", "ml"}};
    change("i-2", "labelled");
    EXPECT_TRUE(one->sink.bytes.contains("labelled")) << one->sink.bytes;
}

TEST_F(WatchTest, EndsWithItsKey) {
    const auto watcher = watch();
    desk().estate.api_keys.edit("acme").revoked_at = 1;
    (void)commit();
    add("i-1");
    (void)commit();
    EXPECT_TRUE(watcher->ended);
    EXPECT_EQ(watcher->sink.bytes.find("i-1"), std::string::npos);
}

}  // namespace
}  // namespace hostler::master
