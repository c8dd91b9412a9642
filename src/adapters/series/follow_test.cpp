// A store that follows another has what that one acknowledged, whoever is cut off in between.
#include <gmock/gmock.h>

#include <array>
#include <random>
#include <set>

#include "adapters/series/mirror.h"
#include "adapters/series/testing/fake_folder.h"

namespace hostler::series {

namespace {

using testing::FakeDisk;
using testing::FakeFolder;

const std::vector<Column> columns{
    {"power_mw"}, {"energy_mj", Kind::counter}, {"load", Kind::gauge, Form::real}};
constexpr Limits small{.segment_span = 60'000, .head_bytes_max = 1 << 20, .devices_per_slice = 1};
constexpr Millis second = 1000;

// A master's store over its disk; of a device, the row at second t is {t, 10·t, t/4}.
struct Store {
    explicit Store(std::string is, Limits with = small) : name(std::move(is)), limits(with) { restart(); }
    void restart() {
        keeper.reset();
        disk.lose_power();
        auto opened = Keeper::open(std::make_unique<FakeFolder>(disk), limits, name + "'s");
        ASSERT_TRUE(opened) << opened.error().message;
        keeper = std::move(*opened);
        reader = {};
        for (const auto& [id, era] : labels) describe(id, era.labels, era.from);
    }
    void describe(const std::string& id, const Labels& with, Millis from) {
        labels[id] = {from, with};
        numbers[id] = keeper->describe({.id = id, .columns = columns, .labels = with}, from).value();
    }
    Result<> append(const std::string& id, std::vector<Millis> seconds) {
        if (!numbers.contains(id)) describe(id, {{"host", "h-" + id}}, 0);
        SampleBatch batch;
        for (const auto at : seconds) {
            batch.rows.push_back({numbers.at(id), at * second});
            batch.cells.insert(batch.cells.end(), {at, 10 * at, real_cell(static_cast<double>(at) / 4)});
        }
        return keeper->append({&batch, 1})[0];
    }
    void work() {
        for (int slice = 0; slice < 100 && keeper->due(); ++slice)
            if (const auto more = keeper->seal_slice(); !more || !*more) break;
    }
    void seal() {
        work();
        ASSERT_TRUE(keeper->freeze());
        work();
    }
    std::vector<Line> ask(Query query) {
        auto lines = reader.answer(query, keeper->view(query));
        EXPECT_TRUE(lines) << lines.error().message;
        return lines.value_or(std::vector<Line>{});
    }
    // Seconds of each device that are there; each once.
    std::set<std::pair<std::string, Millis>> rows(Millis until = 10'000) {
        std::set<std::pair<std::string, Millis>> found;
        for (const auto& line : ask({.metric = "power_mw",
                                     .from = 0,
                                     .to = until * second,
                                     .step = second,
                                     .over = Over::count}))
            for (std::size_t i = 0; i < line.values.size(); ++i) {
                if (std::isnan(line.values[i])) continue;
                EXPECT_EQ(line.values[i], 1) << line.labels.at("device") << " at " << i;
                found.insert({line.labels.at("device"), static_cast<Millis>(i)});
            }
        return found;
    }

    std::string name;
    Limits limits;
    FakeDisk disk;
    std::unique_ptr<Keeper> keeper;
    QueryReader reader;
    std::map<std::string, DeviceNumber> numbers;
    std::map<std::string, Era> labels;  // As whoever collects tells them after a restart.
};

Result<std::string> answer_of(Store& leader, const std::string& question, std::size_t bytes) {
    const auto asked = TRY(read_question(question));
    const auto offer = TRY(leader.keeper->offer());
    const auto made = TRY(answer(asked, offer, leader.reader, bytes));
    return encode(made);
}

// One piece.
Result<Mirrored> follow(Store& follower, Store& leader, std::size_t bytes = 300) {
    const auto question = TRY(follower.keeper->ask(leader.name));
    EXPECT_LE(question.size(), SeriesMirror::question_bytes_max);
    const auto told = TRY(answer_of(leader, question, bytes));
    return follower.keeper->take(leader.name, told);
}

struct All {
    std::uint64_t rows = 0;
    std::uint64_t skipped = 0;
};
All follow_all(Store& follower, Store& leader, std::size_t bytes = 300) {
    All all;
    for (int piece = 0; piece < 10'000; ++piece) {
        const auto taken = follow(follower, leader, bytes);
        if (!taken) {
            ADD_FAILURE() << taken.error().message;
            break;
        }
        all.rows += taken->rows;
        all.skipped += taken->segments_skipped;
        follower.work();
        if (taken->all) return all;
    }
    ADD_FAILURE() << "it never has all";
    return all;
}

// What people see of it.
std::vector<std::vector<Line>> looks(Store& store, Millis until) {
    std::vector<std::vector<Line>> seen;
    for (const char* metric : {"power_mw", "energy_mj", "load"})
        for (const auto over : {Over::last, Over::sum, Over::count, Over::increase}) {
            Query query{.metric = metric, .from = 0, .to = until, .step = 7 * second, .over = over};
            query.across = Across::sum;
            query.by = {"tenant", "host"};
            seen.push_back(store.ask(std::move(query)));
        }
    return seen;
}

void expect_same(const std::vector<std::vector<Line>>& ours, const std::vector<std::vector<Line>>& theirs,
                 const std::string& where) {
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t q = 0; q < ours.size(); ++q) {
        ASSERT_EQ(ours[q].size(), theirs[q].size()) << where << ", query " << q;
        for (std::size_t i = 0; i < ours[q].size(); ++i) {
            EXPECT_EQ(ours[q][i].labels, theirs[q][i].labels) << where << ", query " << q;
            EXPECT_TRUE(std::ranges::equal(ours[q][i].values, theirs[q][i].values,
                                           [](double a, double b) {
                                               return (std::isnan(a) && std::isnan(b)) ||
                                                      std::abs(a - b) < 1e-6;
                                           }))
                << where << ", query " << q << ", line " << i;
        }
    }
}

}  // namespace

// Reports, late ones, other labels, segments, power cuts of both; pieces in between, small ones.
TEST(Follow, AFollowerAnswersAsTheLeaderDoes) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        std::mt19937_64 dice{seed};
        const auto below = [&dice](std::uint64_t n) { return static_cast<Millis>(dice() % n); };
        Store leader{"m-1"};
        Store follower{"m-2"};
        Millis now = 1;
        std::map<std::string, Millis> since;
        for (int step = 0; step < 400; ++step) {
            const std::string id = "gpu/" + std::to_string(below(5));
            const auto chance = below(100);
            now += below(3);
            if (chance < 4) {
                leader.describe(id, {{"host", "h-" + id}, {"tenant", "t-" + std::to_string(below(3))}},
                                ++now * second);
                since[id] = now;
            } else if (chance < 6) {
                leader.restart();
            } else if (chance < 8) {
                follower.restart();
            } else if (chance < 10) {
                leader.seal();
            } else if (chance < 40) {
                const auto taken = follow(follower, leader, static_cast<std::size_t>(1 + below(2000)));
                ASSERT_TRUE(taken) << "seed " << seed << ": " << taken.error().message;
                follower.work();
            } else {
                const Millis late = below(8) == 0 ? below(50) : 0;
                ASSERT_TRUE(leader.append(id, {std::max(now - late, since[id])}));
                leader.work();
            }
        }
        // Of labels that nothing was measured under the leader alone knows.
        for (int i = 0; i < 5; ++i) ASSERT_TRUE(leader.append("gpu/" + std::to_string(i), {now + 1 + i}));
        follow_all(follower, leader);
        const auto theirs = looks(leader, (now + 10) * second);
        expect_same(looks(follower, (now + 10) * second), theirs, "seed " + std::to_string(seed));
        follower.restart();
        expect_same(looks(follower, (now + 10) * second), theirs,
                    "after a restart, seed " + std::to_string(seed));
        EXPECT_EQ(follower.rows(), leader.rows()) << "seed " << seed;
        if (HasFailure()) return;
    }
}

TEST(Follow, WhicheverCallOfTheFollowersDiskFailsNothingIsLeftOut) {
    for (const bool for_ever : {false, true}) {
        for (std::uint64_t n = 1;; ++n) {
            Store leader{"m-1"};
            Store follower{"m-2"};
            follower.disk.fail_call = n;
            follower.disk.fail_on = for_ever;
            for (Millis t = 1; t <= 200; t += 5) {
                for (const char* id : {"a", "b"}) ASSERT_TRUE(leader.append(id, {t, t + 2}));
                leader.work();
                if (t % 3 == 0) (void)follow(follower, leader, 100);
                follower.work();
            }
            const bool touched = follower.disk.calls >= n;
            follower.restart();
            follow_all(follower, leader);
            EXPECT_EQ(follower.rows(), leader.rows()) << "call " << n;
            follower.restart();
            EXPECT_EQ(follower.rows(), leader.rows()) << "call " << n << ", after a restart";
            if (!touched || HasFailure()) {
                ASSERT_GT(n, 30U);
                break;
            }
        }
    }
}

TEST(Follow, WhoIsUpToDateIsToldOnlyWhatIsNew) {
    Store leader{"m-1"};
    Store follower{"m-2"};
    for (Millis t = 1; t <= 20; ++t) ASSERT_TRUE(leader.append("a", {t}));
    EXPECT_EQ(follow_all(follower, leader).rows, 20U);
    const auto written = follower.disk.calls;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(follow_all(follower, leader).rows, 0U);
    EXPECT_EQ(follower.disk.calls, written) << "nothing is written for nothing";
    ASSERT_TRUE(leader.append("a", {21}));
    EXPECT_EQ(follow_all(follower, leader).rows, 1U);
}

// An answer ends with the record, or the device, that passes its bound.
TEST(Follow, AnAnswerIsBounded) {
    Store leader{"m-1", {.segment_span = 1'000'000}};
    for (Millis t = 1; t <= 3000; ++t) ASSERT_TRUE(leader.append("gpu/" + std::to_string(t % 7), {t}));
    for (const bool sealed : {false, true}) {
        if (sealed) leader.seal();
        Store follower{"m-2", leader.limits};
        std::size_t pieces = 0;
        for (bool all = false; !all; ++pieces) {
            const auto question = follower.keeper->ask("m-1");
            ASSERT_TRUE(question);
            const auto bytes = answer_of(leader, *question, 300);
            ASSERT_TRUE(bytes);
            EXPECT_LT(bytes->size(), 300U + 4000U);
            const auto taken = follower.keeper->take("m-1", *bytes);
            ASSERT_TRUE(taken) << taken.error().message;
            all = taken->all;
        }
        EXPECT_GT(pieces, 2U);
        EXPECT_EQ(follower.rows(), leader.rows());
    }
}

TEST(Follow, WhatWasThinnedBeforeItWasAskedForIsSkippedAndCounted) {
    Store leader{"m-1"};
    for (Millis t = 0; t < 600; t += 10) {
        ASSERT_TRUE(leader.append("a", {t}));
        leader.work();
    }
    const SeriesPolicy policy{.raw = std::chrono::minutes{5}};
    while (leader.keeper->keep_slice(policy, 600 * second).value_or(false)) {
    }
    Store follower{"m-2"};
    const auto all = follow_all(follower, leader);
    EXPECT_GT(all.skipped, 0U);
    const auto there = follower.rows(600);
    EXPECT_FALSE(there.contains({"a", 100}));
    for (Millis t = 300; t < 600; t += 10) EXPECT_TRUE(there.contains({"a", t})) << t;
    EXPECT_EQ(follow_all(follower, leader).skipped, 0U) << "they are told once";
}

// m-1 dies, m-2 leads: m-3 is not told again what it has of hours ago; what only m-1 had comes when it leads.
TEST(Follow, AnotherLeaderTellsWhatIsLackingAndNotAllAgain) {
    Store one{"m-1"};
    Store two{"m-2"};
    Store three{"m-3"};
    const auto measure = [](Store& leader, Millis from, Millis to) {
        for (Millis t = from; t < to; t += 10) {
            ASSERT_TRUE(leader.append("a", {t}));
            leader.work();
        }
    };
    measure(one, 0, 6000);
    follow_all(two, one);
    follow_all(three, one);
    measure(one, 6000, 6030);  // And dies.
    measure(two, 6030, 6600);
    const auto told = follow_all(three, two);
    EXPECT_LT(told.rows, 200U);
    measure(two, 6600, 6700);
    EXPECT_EQ(follow_all(three, two).rows, 10U);
    auto all = two.rows();
    EXPECT_EQ(three.rows(), all);

    one.restart();  // Comes again, and follows.
    const auto back = follow_all(one, two);
    EXPECT_LT(back.rows, 250U);
    measure(one, 6700, 6800);  // And leads.
    const auto lacked = std::array{follow_all(two, one).rows, follow_all(three, one).rows};
    for (const auto rows : lacked) EXPECT_LT(rows, 300U);
    for (auto* other : {&two, &three}) {
        const auto there = other->rows();
        for (Millis t = 0; t < 6800; t += 10) EXPECT_TRUE(there.contains({"a", t})) << t;
    }
}

// Who leads before it has all goes on to lack the rest, and is told it later.
TEST(Follow, WhoLedTooEarlyIsToldTheRestByTheNextLeader) {
    Store one{"m-1"};
    Store two{"m-2"};
    Store three{"m-3"};
    for (Millis t = 0; t < 6000; t += 10) {
        ASSERT_TRUE(one.append("a", {t}));
        one.work();
    }
    follow_all(two, one);
    ASSERT_TRUE(follow(three, one, 1));
    ASSERT_TRUE(follow(three, one, 1));
    ASSERT_LT(three.rows().size(), 100U);
    for (Millis t = 6000; t < 6100; t += 10) ASSERT_TRUE(three.append("a", {t}));
    three.restart();
    follow_all(three, two);
    const auto there = three.rows();
    for (Millis t = 0; t < 6100; t += 10) EXPECT_TRUE(there.contains({"a", t})) << t;
}

TEST(Follow, WhoHadNoRoomForHoursLacksNothingWhenAnotherLeads) {
    Store one{"m-1"};
    Store two{"m-2"};
    Store three{"m-3"};
    ASSERT_TRUE(one.append("a", {0}));
    follow_all(three, one);
    three.disk.room = three.disk.used();
    for (Millis t = 10; t < 6000; t += 10) {
        ASSERT_TRUE(one.append("a", {t}));
        one.work();
        if (t % 500 == 0) EXPECT_FALSE(follow(three, one));
    }
    follow_all(two, one);
    three.disk.room = SIZE_MAX;
    follow_all(three, two);
    EXPECT_EQ(three.rows(), one.rows());
}

TEST(Follow, WhoLeadsInTurnTellsNothingTwice) {
    Store a{"a"}, b{"b"};
    ASSERT_TRUE(a.append("gpu-1", {1, 2, 5, 4, 7, 8}));
    ASSERT_TRUE(a.append("gpu-2", {1, 2, 3}));
    follow_all(b, a);
    for (Millis turn = 0; turn < 12; ++turn) {
        Store& leads = turn % 2 == 0 ? b : a;
        Store& follows = turn % 2 == 0 ? a : b;
        ASSERT_TRUE(leads.append("gpu-1", {10 + turn}));
        follow_all(follows, leads);
    }
    EXPECT_EQ(a.rows(), b.rows());
    EXPECT_EQ(a.keeper->stats().rows, a.rows().size());
    EXPECT_EQ(b.keeper->stats().rows, b.rows().size());
}

TEST(Follow, AStoreThatWasReplacedIsFollowedFromItsStart) {
    Store follower{"m-2"};
    {
        Store leader{"m-1"};
        for (Millis t = 1; t <= 20; ++t) ASSERT_TRUE(leader.append("a", {t}));
        follow_all(follower, leader);
    }
    Store other{"other"};
    ASSERT_TRUE(other.append("a", {30, 31}));
    (void)other.keeper->offer();
    other.name = "m-1";
    EXPECT_EQ(follow_all(follower, other).rows, 2U);
    EXPECT_EQ(follower.rows().size(), 22U);
}

TEST(Follow, WhatIsNoAnswerIsRefusedWhateverItIs) {
    Store leader{"m-1"};
    for (Millis t = 1; t <= 9; ++t) ASSERT_TRUE(leader.append("a", {t}));
    leader.seal();
    for (Millis t = 11; t <= 19; ++t) ASSERT_TRUE(leader.append("a", {t}));
    Store follower{"m-2"};
    EXPECT_EQ(follower.keeper->take("m-1", "").error().code, Code::invalid) << "nobody asked";
    while (true) {
        const auto question = follower.keeper->ask("m-1");
        const auto whole = answer_of(leader, *question, 100);
        ASSERT_TRUE(whole);
        for (std::size_t at = 0; at < whole->size(); ++at) {
            ASSERT_TRUE(follower.keeper->ask("m-1"));
            EXPECT_FALSE(follower.keeper->take("m-1", whole->substr(0, at))) << at;
        }
        const auto taken = follow(follower, leader, 100);
        ASSERT_TRUE(taken) << taken.error().message;
        if (taken->all) break;
    }
    EXPECT_EQ(follower.rows(), leader.rows());
    std::mt19937_64 dice{1};
    for (int i = 0; i < 3000; ++i) {
        Store victim{"m-2"};
        const auto question = victim.keeper->ask("m-1");
        auto bytes = answer_of(leader, *question, 1000).value();
        bytes[dice() % bytes.size()] ^= static_cast<char>(1 + dice() % 255);
        (void)victim.keeper->take("m-1", bytes);
        (void)victim.rows(100);
    }
    EXPECT_FALSE(read_question(""));
    EXPECT_FALSE(read_question("what?"));
}

}  // namespace hostler::series
