#include "adapters/kubernetes/watch.h"

#include <random>

#include "adapters/kubernetes/testing/rig.h"

namespace hostler::kubernetes {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::ModelServer;
using Cut = ModelServer::Cut;
using Lines = std::vector<std::string>;

// Follows the model's ConfigMaps and keeps what it is told, by name.
struct Follower {
    Follower(Connection& connection, WatchSettings settings)
        : watch(connection, kinds::config_map, {.ns = "ns"}, settings) {}

    Task<> run() {
        while (true) {
            auto event = co_await watch.next();
            if (!event && event.error().code == Code::cancelled) co_return Result<>{};
            if (!event)
                errors.push_back(event.error());
            else
                take(*event);
        }
    }

    void take(const WatchEvent& event) {
        if (event.change == Change::synced) {
            ++syncs;
            heard.emplace_back("synced");
            return;
        }
        const auto name = key_of(event.object).name;
        const std::string uid{text_at(event.object, {"metadata", "uid"})};
        if (event.change == Change::removed) {
            heard.push_back("- " + name);
            if (!objects.contains(name) || objects[name].uid != uid) wrong.push_back("removed " + name);
            objects.erase(name);
            return;
        }
        const bool added = event.change == Change::added;
        const std::string value{text_at(event.object, {"data", "v"})};
        heard.push_back(fmt::format("{} {}={}", added ? "+" : "~", name, value));
        if (added == objects.contains(name)) wrong.push_back((added ? "added " : "modified ") + name);
        if (!added && objects[name].uid != uid) wrong.push_back("another uid of " + name);
        const auto version = std::stoll(std::string{text_at(event.object, {"metadata", "resourceVersion"})});
        if (!added && version <= objects[name].version) wrong.push_back("backwards " + name);
        objects[name] = {uid, value, version};
    }

    Watch watch;
    ModelServer::Objects objects{};
    Lines heard{}, wrong{};
    std::vector<Error> errors{};
    int syncs = 0;
};

struct KubernetesWatch : testing::Rig {
    ~KubernetesWatch() override {
        tasks.cancel();
        timers.settle();
    }
    void begin(WatchSettings with = {.page_size = 2, .stream_initial = false}) {
        c = std::make_unique<Client>(server, timers, worker, access, settings);
        follower = std::make_unique<Follower>(c->connection(), with);
        tasks.start("follow", follower->run());
        timers.advance(10ms);
    }
    Lines heard() {
        timers.advance(1s);
        EXPECT_EQ(follower->wrong, Lines{});
        return std::exchange(follower->heard, {});
    }
    const ModelServer::Seen& last() { return server.seen.back(); }

    std::unique_ptr<Client> c;
    std::unique_ptr<Follower> follower;
};

TEST_F(KubernetesWatch, ListsInPagesAndFollows) {
    for (const auto* name : {"a", "b", "c"}) server.put(name, "1");
    begin();
    EXPECT_EQ(heard(), (Lines{"+ a=1", "+ b=1", "+ c=1", "synced"}));
    EXPECT_EQ(server.seen.size(), 3U) << "two pages and a watch";
    EXPECT_EQ(last().query.at("resourceVersion"), "103");
    EXPECT_EQ(last().query.at("allowWatchBookmarks"), "true");
    EXPECT_EQ(last().query.at("timeoutSeconds"), "240");
    server.put("b", "2");
    server.remove("a");
    server.put("a", "3");
    EXPECT_EQ(heard(), (Lines{"~ b=2", "- a", "+ a=3"}));
    EXPECT_EQ(follower->watch.resource_version(), "106");
    EXPECT_EQ(follower->watch.size(), 3U);
}

TEST_F(KubernetesWatch, ACutStreamGoesOnFromItsVersion) {
    server.put("a", "1");
    begin();
    server.put("b", "1");
    EXPECT_EQ(heard(), (Lines{"+ a=1", "synced", "+ b=1"}));
    for (const Cut how : {Cut::torn, Cut::clean}) {
        const auto requests = server.seen.size();
        server.cut(how);
        timers.settle();
        server.remove("b");
        server.put("b", "2");
        EXPECT_EQ(heard(), (Lines{"- b", "+ b=2"}));
        ASSERT_GT(server.seen.size(), requests);
        EXPECT_TRUE(last().query.contains("watch")) << "it does not list again";
    }
    EXPECT_EQ(follower->watch.lists(), 1U);
}

TEST_F(KubernetesWatch, ABookmarkMovesTheVersion) {
    server.put("a", "1");
    begin();
    heard();
    // Changes of other kinds are not told to this watch; only the bookmark says how far it is.
    server.bookmark();
    timers.settle();
    EXPECT_EQ(follower->watch.resource_version(), "101");
    server.put("z", "1");
    heard();
    server.compact();
    server.cut(Cut::clean);
    heard();
    EXPECT_EQ(last().query.at("resourceVersion"), "102");
    EXPECT_EQ(follower->watch.lists(), 1U);
}

TEST_F(KubernetesWatch, ACompactedVersionIsListedAgainAndGivesTheDifference) {
    for (const auto* name : {"a", "b", "c", "d"}) server.put(name, "1");
    begin();
    heard();
    std::uint64_t lists = 1;
    for (const bool as_event : {false, true}) {
        server.expired_as_event = as_event;
        server.away = true;
        server.cut(Cut::torn);
        timers.advance(1s);
        EXPECT_TRUE(follower->watch.trouble());
        server.remove("a");
        server.put("b", "2");
        server.remove("c");
        server.put("c", "1");  // Another object of the same name.
        server.put("e", "1");
        server.compact();
        server.away = false;
        timers.advance(5s);
        EXPECT_THAT(heard(),
                    ::testing::UnorderedElementsAre("- a", "~ b=2", "- c", "+ c=1", "+ e=1", "synced"));
        EXPECT_EQ(follower->watch.lists(), ++lists);
        EXPECT_EQ(follower->objects, server.now());
        EXPECT_FALSE(follower->watch.trouble());
        server.put("a", "1");
        server.put("b", "1");
        server.remove("e");
        heard();
    }
    server.expire_watches();  // In the middle of a stream.
    EXPECT_EQ(heard(), (Lines{"synced"})) << "nothing has changed";
}

TEST_F(KubernetesWatch, APageThatIsTooOldBeginsTheListAgain) {
    for (const auto* name : {"a", "b", "c", "d"}) server.put(name, "1");
    server.on_request = [&, once = false](const ModelServer::Seen& seen) mutable {
        if (!seen.query.contains("continue") || std::exchange(once, true)) return;
        server.remove("a");
        server.put("b", "2");
        server.compact();
    };
    begin();
    EXPECT_EQ(heard(), (Lines{"+ a=1", "+ b=1", "~ b=2", "+ c=1", "+ d=1", "- a", "synced"}));
    EXPECT_EQ(follower->watch.lists(), 2U);
}

TEST_F(KubernetesWatch, BeginsWithAStreamingListWhereThereIsOne) {
    server.put("a", "1");
    begin({.stream_initial = true});
    EXPECT_EQ(heard(), (Lines{"+ a=1", "synced"}));
    EXPECT_EQ(server.seen.size(), 1U);
    EXPECT_EQ(last().query.at("sendInitialEvents"), "true");
    EXPECT_EQ(last().query.at("resourceVersionMatch"), "NotOlderThan");
    server.put("b", "1");
    EXPECT_EQ(heard(), Lines{"+ b=1"});
    server.expire_watches();
    server.remove("a");
    EXPECT_EQ(heard(), (Lines{"- a", "synced"}));

    server.streaming_lists = false;
    server.expire_watches();
    server.put("c", "1");
    EXPECT_EQ(heard(), (Lines{"+ c=1", "synced"}));
    EXPECT_FALSE(last().query.contains("sendInitialEvents"));
    EXPECT_EQ(follower->errors.size(), 0U);
}

TEST_F(KubernetesWatch, BacksOffWithABound) {
    server.away = true;
    begin({.stream_initial = false});
    timers.advance(10min);
    const auto tries = server.dialled.size();
    EXPECT_GE(tries, 20U);
    EXPECT_LE(tries, 30U) << "0.2 s, 0.4 s, ... 25.6 s, then each 30 s";
    ASSERT_TRUE(follower->watch.trouble());
    EXPECT_EQ(follower->watch.trouble()->code, Code::unavailable);
    server.put("a", "1");
    server.away = false;
    timers.advance(30s);
    EXPECT_EQ(heard(), (Lines{"+ a=1", "synced"}));
    EXPECT_EQ(follower->errors.size(), 0U);

    // Streams that end at once and bring nothing are tries in vain, too.
    const auto before = server.seen.size();
    server.other = [](const ModelServer::Seen& seen) -> std::optional<http::Response> {
        return seen.query.contains("watch") ? std::optional{http::Response{200, {}, ""}} : std::nullopt;
    };
    server.cut(Cut::clean);
    timers.advance(10min);
    EXPECT_LE(server.seen.size() - before, 32U);
    EXPECT_GE(server.seen.size() - before, 18U);
}

TEST_F(KubernetesWatch, AStreamThatFallsSilentIsReadAnew) {
    server.put("a", "1");
    begin();
    heard();
    const auto requests = server.seen.size();
    timers.advance(4min + 25s);
    EXPECT_EQ(server.seen.size(), requests) << "the server was to end it after four minutes";
    timers.advance(10s);
    EXPECT_EQ(server.seen.size(), requests + 1);
    server.put("b", "1");
    EXPECT_EQ(heard(), Lines{"+ b=1"});
}

TEST_F(KubernetesWatch, TellsWhatSomebodyHasToMend) {
    server.put("a", "1");
    server.other = [](const ModelServer::Seen&) {
        return std::optional{ModelServer::status(403, "Forbidden")};
    };
    begin();
    ASSERT_EQ(follower->errors.size(), 1U);
    EXPECT_EQ(follower->errors[0].code, Code::forbidden);
    server.other = nullptr;
    EXPECT_EQ(heard(), (Lines{"+ a=1", "synced"})) << "asked again, it goes on";
    server.other = [](const ModelServer::Seen&) {
        return std::optional{ModelServer::status(401, "Unauthorized")};
    };
    server.cut(Cut::clean);
    timers.advance(1s);
    EXPECT_EQ(follower->errors.back().code, Code::unauthenticated);
    server.other = nullptr;
    server.remove("a");
    timers.advance(10s);
    EXPECT_EQ(heard(), Lines{"- a"});
    EXPECT_EQ(follower->watch.lists(), 1U);
}

TEST_F(KubernetesWatch, AnEventThatIsTooLargeIsToldAndListedAgain) {
    server.put("a", "1");
    begin({.line_bytes_max = 4096, .stream_initial = false});
    heard();
    server.put("b", std::string(100'000, 'x'));
    timers.advance(1s);
    ASSERT_EQ(follower->errors.size(), 1U);
    EXPECT_EQ(follower->errors[0].code, Code::exhausted);
    EXPECT_EQ(follower->objects.at("b").value.size(), 100'000U) << "the list has it";
    EXPECT_EQ(follower->watch.lists(), 2U);
}

TEST_F(KubernetesWatch, ThrottlingIsWaitedFor) {
    server.put("a", "1");
    server.other = [tries = 0](const ModelServer::Seen&) mutable -> std::optional<http::Response> {
        if (++tries > 3) return std::nullopt;
        return ModelServer::status(429, "TooManyRequests", "slow", "{}", {{"Retry-After", "100"}});
    };
    begin();
    EXPECT_EQ(server.seen.size(), 1U);
    EXPECT_EQ(follower->errors.size(), 0U);
    timers.advance(5s);
    EXPECT_EQ(heard(), (Lines{"+ a=1", "synced"}));
}

TEST_F(KubernetesWatch, EndsWhenItIsCancelled) {
    server.put("a", "1");
    begin();
    EXPECT_EQ(server.watches(), 1U);
    tasks.cancel();
    timers.settle();
    EXPECT_EQ(tasks.size(), 0U);
    follower.reset();
    timers.settle();
    server.bookmark();
    timers.settle();
    EXPECT_EQ(server.watches(), 0U) << "the connection is closed with it";
}

// A few names: objects come, change, go and come again, versions are compacted, streams are cut in good order
// or in the middle of a line, the server is away for a while. Then it is calm.
struct History : KubernetesWatch {
    void TestBody() override {}
    void storm(unsigned seed) {
        std::mt19937 dice{seed};
        const auto chance = [&](unsigned percent) { return dice() % 100 < percent; };
        server.streaming_lists = chance(50);
        server.write_max = chance(30) ? 1 + dice() % 200 : SIZE_MAX;
        for (std::size_t i = dice() % 6; i > 0; --i) server.put(fmt::format("c{}", i), "0");
        begin({.page_size = static_cast<std::int64_t>(1 + dice() % 4),
               .read_time = 5s,
               .read_room = 1s,
               .backoff_min = 50ms,
               .backoff_max = 1s,
               .stream_initial = chance(70)});
        server.on_request = [&](const ModelServer::Seen& seen) {
            if (!seen.query.contains("continue") || !chance(20)) return;
            server.put("c0", "paged");
            server.compact();
        };
        for (int step = 0; step < 40; ++step) {
            act(dice() % 10, chance(40), fmt::format("c{}", dice() % 8), std::to_string(step));
            if (chance(60)) timers.advance(std::chrono::milliseconds{dice() % 300});
        }
        server.on_request = nullptr;
        server.away = false;
        timers.advance(5s);
        server.bookmark();
        timers.advance(1s);
    }

    void act(unsigned what, bool coin, const std::string& name, const std::string& value) {
        switch (what) {
            case 3: return server.remove(name);
            case 4: server.remove(name); return server.put(name, value);
            case 5: return server.compact();
            case 6: return server.cut(coin ? Cut::clean : Cut::torn);
            case 7: return coin ? server.expire_watches() : server.bookmark();
            case 8: server.away = coin; return;
            case 9: server.expired_as_event = coin; return;
            default: return server.put(name, value);
        }
    }
};

TEST(KubernetesWatchModel, RandomHistoriesEndWithTheSameObjectsAndNoMissedDeletion) {
    constexpr unsigned histories = 2000;
    std::uint64_t lists = 0, requests = 0;
    for (unsigned seed = 1; seed <= histories; ++seed) {
        History history;
        history.storm(seed);
        const Follower& follower = *history.follower;
        ASSERT_EQ(follower.wrong, Lines{}) << "seed " << seed;
        ASSERT_EQ(follower.objects, history.server.now()) << "seed " << seed;
        ASSERT_TRUE(follower.errors.empty()) << "seed " << seed << ": " << follower.errors[0].message;
        ASSERT_EQ(follower.watch.resource_version(), std::to_string(history.server.version()))
            << "seed " << seed;
        lists += follower.watch.lists();
        requests += history.server.seen.size();
    }
    EXPECT_GT(lists, 2 * histories) << "compactions were met";
    EXPECT_GT(requests, 8 * histories) << "streams were cut";
}

}  // namespace
}  // namespace hostler::kubernetes
