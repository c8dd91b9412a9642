// The simulated world itself: time, chance, partitions, deaths.
#include "adapters/sim/world.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sqlite/store.h"

namespace hostler::sim {

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Answers each line of a peer with the same line.
struct Echo {
    explicit Echo(Life& in) : life(in) { life.tasks.start("echo", serve()); }
    Task<> serve() {
        auto listener = CO_TRY(co_await life.net.listen("0.0.0.0:7000"));
        while (true) {
            auto stream = co_await listener->accept();
            if (!stream) co_return std::unexpected(stream.error());
            life.tasks.start("echo", talk(std::move(*stream)));
        }
    }
    static Task<> talk(StreamPtr stream) {
        while (true) {
            std::array<char, 64> bytes{};
            const auto size = CO_TRY(co_await read_some(*stream, bytes));
            if (size == 0) co_return Result<>{};
            CO_TRY(co_await write_all(*stream, std::string_view{bytes.data(), size}));
        }
    }
    Life& life;
};

Machine::Program echo() {
    return [](Life& life) { return std::make_shared<Echo>(life); };
}

Task<std::string> say(Net& net, std::string address, std::string text) {
    const auto stream = CO_TRY(co_await net.dial(address, 5s));
    CO_TRY(co_await write_all(*stream, text));
    std::string back(text.size(), '\0');
    CO_TRY(co_await read_exactly(*stream, back));
    co_return back;
}

// Dials its peer again and again, and counts what it got back in its journal.
struct Chatter {
    Chatter(Life& in, std::string at) : life(in), peer(std::move(at)) {
        const auto there = life.journal.all().find("count");
        if (there != life.journal.all().end()) count = std::stoi(there->second);
        life.tasks.start("chatter", chat());
    }
    Task<> chat() {
        while (true) {
            const auto answer = co_await say(life.net, peer, fmt::format("{}", random_number(life.random)));
            if (answer) CO_TRY(co_await life.journal.put("count", std::to_string(++count)));
            CO_TRY(co_await sleep(life.timers, 500ms));
        }
    }
    Life& life;
    std::string peer;
    int count = 0;
};

TEST(World, TimeMovesOnlyFromWakeUpToWakeUp) {
    World world{1};
    std::vector<std::int64_t> woken;
    for (const auto at : {30min, 10min, 20min})
        world.timers.schedule(world.timers.now() + at,
                              [&] { woken.push_back(world.timers.now().time_since_epoch() / 1min); });
    world.run(25min);
    EXPECT_EQ(woken, (std::vector<std::int64_t>{10, 20}));
    EXPECT_EQ(world.clock.now().time_since_epoch() / 1min, 25);
    EXPECT_TRUE(world.ask(sleep(world.timers, 1h), 2h));
    EXPECT_EQ(woken.size(), 3u);
    EXPECT_EQ(world.ask(sleep(world.timers, 1h), 1min).error().code, Code::timeout);
}

TEST(World, ClocksDisagreeAndNeverRunBackwards) {
    World world{1};
    SimTimers fast{world.clock, {.wall = 90s, .rate_ppm = 200}};
    SimTimers slow{world.clock, {.wall = -90s, .rate_ppm = -200}};
    EXPECT_EQ(fast.wall() - slow.wall(), 180s);
    int woken = 0;
    for (SimTimers* timers : {&fast, &slow}) {
        const Instant at = timers->now() + 1000s;
        timers->schedule(at, [&woken, timers, at] {
            ++woken;
            EXPECT_GE(timers->now(), at);
            EXPECT_LT(timers->now(), at + 1ms);
        });
    }
    world.run(1001s);
    EXPECT_EQ(woken, 2);
}

// Its timers are all due at once when it goes on, in their order; its system has kept what came for it.
TEST(World, AStoppedProcessGoesOnAsIfNothingHadBeen) {
    World world{9};
    Machine& a = world.machine("a");
    a.boot(echo());
    std::vector<std::pair<int, Duration>> woken;
    const Instant began = world.clock.now();
    TimerId late = 0;
    for (const int second : {1, 2, 3, 60}) {
        const TimerId id = a.life().timers.schedule(a.life().timers.now() + second * 1s, [&, second] {
            woken.emplace_back(second, world.clock.now() - began);
            if (second == 1) a.life().timers.cancel(late);
        });
        if (second == 3) late = id;
    }
    auto stream = world.ask(world.net.dial("a:7000", 5s)).value();
    a.pause();
    EXPECT_TRUE(a.up());
    EXPECT_FALSE(a.awake());
    EXPECT_TRUE(world.ask(world.net.dial("a:7000", 5s))) << "its system takes connections";
    EXPECT_TRUE(world.ask(write_all(*stream, "hello")));
    std::string back(5, '\0');
    EXPECT_EQ(world.ask(read_exactly(*stream, back), 5s).error().code, Code::timeout);
    EXPECT_TRUE(woken.empty());
    const Duration slept = world.clock.now() - began;
    a.go_on();
    EXPECT_TRUE(world.ask(read_exactly(*stream, back), 5s));
    EXPECT_EQ(back, "hello");
    ASSERT_EQ(woken.size(), 2u) << "the third was cancelled by the first";
    EXPECT_EQ(woken[0], std::pair(1, slept));
    EXPECT_EQ(woken[1], std::pair(2, slept));
    world.run(1min);
    EXPECT_EQ(woken.size(), 3u);
    a.pause();
    a.crash();
    a.boot();
    EXPECT_TRUE(a.awake());
    EXPECT_EQ(world.ask(say(world.net, "a:7000", "again")).value_or(""), "again");
}

TEST(World, AWallClockJumpsAndTheMonotonicOneDoesNot) {
    World world{10};
    Machine& a = world.machine("a", 0, {.wall = 5s});
    a.boot(echo());
    const auto ahead = [&] { return a.life().timers.wall() - world.timers.wall(); };
    world.strike({.what = Trouble::clock_jump, .machine = "a", .lasts = 30s, .jump = -90s});
    EXPECT_EQ(ahead(), -85s);
    EXPECT_EQ(a.life().timers.now(), world.timers.now());
    world.run(10s);
    a.crash();
    a.boot();
    EXPECT_EQ(ahead(), -85s) << "a machine keeps its clock when a process ends";
    world.run(21s);
    EXPECT_EQ(ahead(), 5s);
}

// So that a case can be made smaller without becoming another one.
TEST(World, AStormDoesNotChangeForWhatIsLeftOut) {
    const std::vector<std::string> machines = {"a", "b", "c"};
    Faults faults{.lose_connections = 1, .kill = 2, .pause = 1, .partition = 2, .disk_full = 1};
    const Dice dice{77};
    const auto told = [&](Duration time, const std::string& without) {
        std::vector<std::string> all;
        for (const Strike& strike : brew(faults, machines, time, dice))
            if (strike.machine != without) all.push_back(fmt::format("{} {}", strike.name(), strike.words()));
        return all;
    };
    const auto whole = told(3min, "");
    EXPECT_GT(whole.size(), 30u);
    const auto shorter = told(1min, "");
    ASSERT_LT(shorter.size(), whole.size());
    EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), whole.begin()));
    std::set<std::string> names;
    for (const auto& words : whole)
        EXPECT_TRUE(names.insert(words.substr(0, words.find(' '))).second) << words;
}

TEST(World, AMachineAnswersUntilItIsKilled) {
    World world{3};
    Machine& server = world.machine("server");
    server.boot(echo());
    EXPECT_EQ(world.ask(say(world.net, "server:7000", "hello")), "hello");
    EXPECT_EQ(world.ask(say(world.net, "server:7001", "hello")).error().code, Code::unavailable);
    server.crash();
    EXPECT_EQ(world.ask(say(world.net, "server:7000", "hello")).error().code, Code::unavailable);
    server.boot();
    EXPECT_EQ(world.ask(say(world.net, "server:7000", "hello")), "hello");
    server.crash(Death::power);
    const auto silent = world.ask(say(world.net, "server:7000", "hello"));
    EXPECT_EQ(silent.error().code, Code::timeout) << "a machine without power does not even refuse";
}

TEST(World, PartitionsHoldDataBackAndHeal) {
    World world{3};
    world.machine("a").boot(echo());
    Machine& b = world.machine("b");
    b.boot(echo());
    auto stream = world.ask(b.life().net.dial("a:7000", 5s)).value();
    for (const auto ways : {Network::Ways::one, Network::Ways::both}) {
        world.network.partition("b", "a", ways);
        EXPECT_EQ(world.ask(b.life().net.dial("a:7000", 5s)).error().code, Code::timeout);
        ASSERT_TRUE(world.ask(write_all(*stream, "one")));
        ASSERT_TRUE(world.ask(write_all(*stream, "two")));
        world.run(10s);
        std::string back(6, '\0');
        EXPECT_EQ(stream->try_read(back).value(), std::nullopt);
        world.network.heal("a", "b");
        ASSERT_TRUE(world.ask(read_exactly(*stream, back)));
        EXPECT_EQ(back, "onetwo");
    }
}

TEST(World, ABrokenConnectionIsHeardByBothEnds) {
    World world{3};
    world.machine("a").boot(echo());
    auto stream = world.ask(world.net.dial("a:7000", 5s)).value();
    world.network.break_connections("a", 1, Dice{1});
    std::string back(1, '\0');
    EXPECT_EQ(world.ask(read_exactly(*stream, back)).error().code, Code::unavailable);
    EXPECT_EQ(stream->try_write({}).error().code, Code::unavailable);
}

// Marks when its memory is given back, and when its code goes on.
struct Witness {
    Witness(Life& in, int& freed_, int& went_on_) : life(in), freed(freed_), went_on(went_on_) {
        life.tasks.start("witness", wait());
    }
    Task<> wait() {
        struct Guard {
            int& count;
            ~Guard() { ++count; }
        } guard{freed};
        while (true) {
            if (!co_await sleep(life.timers, 1s)) break;
            ++went_on;
        }
        // The dead write on: nobody may see it.
        (void)co_await life.journal.put("ghost", "was here");
        (void)co_await say(life.net, "b:7000", "ghost");
        (void)co_await life.engine->launch({.name = "ghost", .image = "any"});
        co_return Result<>{};
    }
    Life& life;
    int& freed;
    int& went_on;
};

TEST(World, TheDeadDoNothingAnyMore) {
    for (const auto death : {Death::kill, Death::power}) {
        World world{4};
        world.machine("b").boot(echo());
        Machine& a = world.machine("a");
        int freed = 0, went_on = 0;
        a.boot([&](Life& life) { return std::make_shared<Witness>(life, freed, went_on); });
        world.run(3500ms);
        EXPECT_EQ(went_on, 3);
        a.crash(death);
        EXPECT_EQ(freed, 1) << "its tasks are gone at once";
        world.run(1min);
        EXPECT_EQ(went_on, 3);
        EXPECT_TRUE(a.disk.journal.empty());
        EXPECT_TRUE(a.engine.standing().empty());
    }
}

TEST(World, AJournalKeepsWhatItSaidItKept) {
    World world{5};
    world.faults = {.lose_connections = 2, .kill = 6, .power_cut = 3, .reboot_max = 2s};
    world.machine("b").boot(echo());
    Machine& a = world.machine("a");
    a.boot([](Life& life) { return std::make_shared<Chatter>(life, "b:7000"); });
    int most = 0;
    world.after_each_step = [&] {
        if (!a.up()) return;
        const auto& there = a.life().journal.all();
        const int count = there.contains("count") ? std::stoi(there.at("count")) : 0;
        EXPECT_GE(count, most);
        most = std::max(most, count);
    };
    world.run(10min);
    EXPECT_GT(most, 100);
}

TEST(World, TheSameSeedIsTheSameWorld) {
    const auto live = [](std::uint64_t seed) {
        World world{seed};
        world.faults = {.lose_connections = 1, .kill = 2, .power_cut = 1, .partition = 1};
        world.network.faults = {.delay = 0.01, .refuse_dial = 0.01};
        for (int i = 0; i < 3; ++i) {
            world.machine(fmt::format("echo-{}", i)).boot(echo());
            world.machine(fmt::format("chat-{}", i)).boot([i](Life& life) {
                return std::make_shared<Chatter>(life, fmt::format("echo-{}:7000", i));
            });
        }
        world.run(2min);
        return world.digest();
    };
    std::set<std::uint64_t> digests;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto first = live(seed);
        EXPECT_EQ(first, live(seed)) << "seed " << seed;
        digests.insert(first);
    }
    EXPECT_EQ(digests.size(), 20u);
}

// Leads a store and commits for ever, and tells the test what was acknowledged.
struct Writer {
    Writer(Life& in, std::uint64_t& acknowledged_) : life(in), acknowledged(acknowledged_) {
        life.tasks.start("writer", write());
    }
    Task<> write() {
        auto opened =
            open_sqlite("store.db", life.worker,
                        {.vfs = life.machine.vfs.name(), .log_bytes = 64 << 10, .reserve_bytes = 128 << 10});
        if (!opened) co_return std::unexpected(opened.error());
        store = std::move(*opened);
        while (true) {
            const auto epoch = co_await store->lead({.name = "m-1"}, 10s, 0);
            const auto snapshot =
                epoch ? co_await store->load() : Result<Snapshot>{std::unexpected(epoch.error())};
            if (!snapshot) {
                CO_TRY(co_await sleep(life.timers, 1s));
                continue;
            }
            EXPECT_GE(snapshot->number, acknowledged) << "what was acknowledged is gone";
            EXPECT_EQ(snapshot->live.size(), snapshot->number);
            for (auto number = snapshot->number + 1;; ++number) {
                Changes changes{.epoch = epoch->epoch, .number = number};
                changes.put.push_back(
                    {.kind = "thing", .id = std::to_string(number), .body = std::string(500, 'x')});
                if (!co_await store->commit(std::move(changes))) break;
                acknowledged = number;
                CO_TRY(co_await sleep(life.timers, 100ms));
            }
            CO_TRY(co_await sleep(life.timers, 100ms));
        }
    }
    Life& life;
    std::uint64_t& acknowledged;
    std::unique_ptr<Store> store;
};

TEST(World, AStoreSurvivesTornWritesFullDisksAndDeaths) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(seed);
        World world{seed};
        world.faults = {
            .kill = 2, .power_cut = 1, .reboot_max = 2s, .disk_fails = 2, .disk_full = 1, .torn_write = 2};
        std::uint64_t acknowledged = 0;
        world.machine("m").boot([&](Life& life) { return std::make_shared<Writer>(life, acknowledged); });
        world.run(2min);
        EXPECT_GT(acknowledged, 100u);
    }
}

struct Idle {};

TEST(World, ContainersAnswerAndOutliveTheirAgent) {
    World world{6};
    Machine& host = world.machine("host", 2);
    Machine& other = world.machine("other");
    const auto idle = [](Life&) { return std::make_shared<Idle>(); };
    host.boot(idle);
    other.boot(idle);
    ContainerSpec spec{
        .name = "i-1", .labels = {{"hostler.host", "h-1"}}, .image = "app:1", .address = "10.208.3.2"};
    spec.cdi_devices = {host.gpus.inventory.gpus[0].cdi_name};
    ASSERT_TRUE(world.ask(host.life().engine->pull(spec.image, {})));
    ASSERT_TRUE(world.ask(host.life().engine->launch(spec)));
    const auto get = [&](Net& net) -> Result<std::string> {
        auto stream = world.ask(net.dial("10.208.3.2:8080", 2s));
        if (!stream) return std::unexpected(stream.error());
        EXPECT_TRUE(
            world.ask(write_all(**stream, "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")));
        std::string all(65536, '\0');
        std::size_t size = 0;
        while (const auto some = world.ask(read_some(**stream, std::span{all}.subspan(size)))) {
            if (*some == 0) break;
            size += *some;
        }
        return all.substr(0, size);
    };
    EXPECT_THAT(get(*host.life().container_net).value(), HasSubstr("503"));
    world.run(1s);
    EXPECT_THAT(get(*host.life().container_net).value(), HasSubstr("i-1 /hello"));
    EXPECT_FALSE(get(*other.life().container_net)) << "a container's address leads nowhere from another host";
    host.crash();
    EXPECT_EQ(host.engine.standing().at(0).state, ContainerState::running);
    host.boot();
    EXPECT_THAT(get(*host.life().container_net).value(), HasSubstr("i-1 /hello"));
    host.crash(Death::power);
    host.boot();
    const auto left = world.ask(host.life().engine->list("hostler.host", "h-1")).value();
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].state, ContainerState::exited);
    EXPECT_FALSE(get(*host.life().container_net));
}

TEST(World, ALaunchWhoseCallerDiesGoesOn) {
    World world{6};
    Machine& host = world.machine("host");
    host.boot([](Life& life) {
        life.tasks.start("launch", [](Engine& engine) -> Task<> {
            CO_TRY(co_await engine.pull("app:1", {}));
            CO_TRY(co_await engine.launch({.name = "i-1", .image = "app:1"}));
            co_return Result<>{};
        }(*life.engine));
        return std::make_shared<Idle>();
    });
    world.run(3100ms);
    ASSERT_EQ(host.engine.standing().at(0).state, ContainerState::created);
    host.crash();
    world.run(10s);
    EXPECT_EQ(host.engine.standing().at(0).state, ContainerState::running);
}

}  // namespace

}  // namespace hostler::sim
