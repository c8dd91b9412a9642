// What a store that is cut off anywhere still knows: all that was acknowledged, each row once.
#include "adapters/series/keeper.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "adapters/series/read.h"
#include "adapters/series/record.h"
#include "adapters/series/testing/fake_folder.h"
#include "core/log.h"

namespace hostler::series {

namespace {

using ::testing::ElementsAre;
using testing::FakeDisk;
using testing::FakeFolder;

const std::vector<Column> columns{{"power_mw"}, {"energy_mj", Kind::counter}};
constexpr Limits small{.segment_span = 5000, .head_bytes_max = 1 << 20, .devices_per_slice = 1};
constexpr Millis second = 1000;

// Rows of one gauge, by device and time.
using Found = std::map<std::pair<std::string, Millis>, double>;

// One store over one disk; of a device, the row at second t is {t, 10·t}.
struct Store {
    explicit Store(FakeDisk& on, Limits limits = small) : disk(on) {
        auto opened = Keeper::open(std::make_unique<FakeFolder>(disk), limits);
        if (opened) keeper = std::move(*opened);
    }
    Result<> append(const std::string& id, std::vector<Millis> seconds) {
        const auto number =
            TRY(keeper->describe({.id = id, .columns = columns, .labels = {{"host", "h-" + id}}}, 0));
        SampleBatch batch;
        for (const auto at : seconds) {
            batch.rows.push_back({number, at * second});
            batch.cells.insert(batch.cells.end(), {at, 10 * at});
        }
        return keeper->append({&batch, 1})[0];
    }
    // All that is due, as between two appends.
    void work() {
        for (int slice = 0; slice < 100 && keeper->due(); ++slice)
            if (const auto more = keeper->seal_slice(); !more || !*more) break;
    }
    std::vector<Line> ask(Query query) {
        QueryReader reader;
        auto lines = reader.answer(query, keeper->view(query));
        EXPECT_TRUE(lines) << lines.error().message;
        damaged = reader.damaged();
        return lines.value_or(std::vector<Line>{});
    }
    Found rows(Over over = Over::last) {
        Found found;
        for (const auto& line :
             ask({.metric = "power_mw", .from = 0, .to = 200 * second, .step = second, .over = over}))
            for (std::size_t i = 0; i < line.values.size(); ++i)
                if (!std::isnan(line.values[i]))
                    found[{line.labels.at("device"), static_cast<Millis>(i)}] = line.values[i];
        return found;
    }
    void expect(const std::set<std::pair<std::string, Millis>>& acknowledged,
                const std::set<std::pair<std::string, Millis>>& sent, const std::string& where) {
        const auto found = rows();
        for (const auto& [device, at] : acknowledged)
            EXPECT_TRUE(found.contains({device, at}))
                << where << ": " << device << " at " << at << " is lost";
        for (const auto& [row, value] : found) {
            EXPECT_TRUE(sent.contains(row)) << where << ": nobody sent " << row.first << " at " << row.second;
            EXPECT_EQ(value, static_cast<double>(row.second)) << where;
        }
        for (const auto& [row, count] : rows(Over::count)) EXPECT_EQ(count, 1) << where << ": twice";
    }

    FakeDisk& disk;
    std::unique_ptr<Keeper> keeper;
    std::uint64_t damaged = 0;
};

// Twenty reports, segments in between; what was acknowledged and what was sent.
struct Scenario {
    std::set<std::pair<std::string, Millis>> acknowledged;
    std::set<std::pair<std::string, Millis>> sent;

    void play(Store& store) {
        for (Millis t = 1; t <= 22; ++t) {
            for (const std::string id : {"a", "b"}) {
                if (t <= 20) sent.insert({id, t});
                // Who gets no answer sends it again with the next.
                std::vector<Millis> times;
                for (const auto& [device, at] : sent)
                    if (device == id && !acknowledged.contains({id, at})) times.push_back(at);
                if (store.append(id, times))
                    for (const auto at : times) acknowledged.insert({id, at});
            }
            store.work();
        }
    }
};

}  // namespace

TEST(Keeper, WhicheverCallFailsNothingAcknowledgedIsLost) {
    for (const bool for_ever : {false, true}) {
        for (std::uint64_t n = 1;; ++n) {
            FakeDisk disk;
            disk.fail_call = n;
            disk.fail_on = for_ever;
            Scenario scenario;
            {
                Store store{disk};
                ASSERT_TRUE(store.keeper);
                scenario.play(store);
                const auto where =
                    "call " + std::to_string(n) + " fails" + (for_ever ? " and all after it" : "");
                store.expect(scenario.acknowledged, scenario.sent, where);
                // One failure is no end: the report that comes again is taken.
                if (!for_ever) EXPECT_EQ(scenario.acknowledged, scenario.sent) << where;
            }
            const bool touched = disk.calls >= n;
            disk.lose_power();
            Store again{disk};
            ASSERT_TRUE(again.keeper);
            again.expect(scenario.acknowledged, scenario.sent, "after call " + std::to_string(n));
            ASSERT_TRUE(again.append("a", {30}));
            scenario.acknowledged.insert({"a", 30});
            scenario.sent.insert({"a", 30});
            disk.lose_power();
            Store third{disk};
            third.expect(scenario.acknowledged, scenario.sent,
                         "after the second start, call " + std::to_string(n));
            if (!touched) {
                ASSERT_GT(n, 50U);
                break;
            }
        }
    }
}

TEST(Keeper, ATailTornAnywhereIsCutOffAndNothingBeforeIt) {
    FakeDisk disk;
    std::size_t acknowledged = 0;
    {
        Store store{disk};
        ASSERT_TRUE(store.append("a", {1, 2}));
        ASSERT_TRUE(store.append("b", {1}));
        acknowledged = disk.files.at(log_name(1))->live.size();
        ASSERT_TRUE(store.append("a", {3, 4}));
    }
    const std::string whole = disk.files.at(log_name(1))->live;
    const std::set<std::pair<std::string, Millis>> first{{"a", 1}, {"a", 2}, {"b", 1}};
    auto all = first;
    all.insert({{"a", 3}, {"a", 4}});
    const auto look = [&](const std::string& log, const std::string& where) {
        disk.files.at(log_name(1))->live = log;
        disk.files.at(log_name(1))->synced = log.size();
        {
            Store store{disk};
            ASSERT_TRUE(store.keeper) << where;
            store.expect(first, all, where);
            const auto rows = store.rows().size();
            EXPECT_EQ(rows, log == whole ? 5U : 3U) << where;
            ASSERT_TRUE(store.append("a", {4})) << where;
        }
        Store again{disk};
        EXPECT_TRUE(again.rows().contains({"a", 4})) << where;
    };
    for (std::size_t size = acknowledged; size <= whole.size(); ++size)
        look(whole.substr(0, size), "cut at " + std::to_string(size));
    for (std::size_t at = acknowledged; at < whole.size(); ++at) {
        auto wrong = whole;
        wrong[at] = static_cast<char>(wrong[at] ^ 0x40);
        look(wrong, "another byte at " + std::to_string(at));
    }
}

// Numbers are of a process; whoever goes on with its log has others.
TEST(Keeper, AfterARestartDevicesMayComeInAnotherOrder) {
    FakeDisk disk;
    Scenario all;
    std::vector<std::string> ids{"a", "b", "c"};
    for (Millis t = 1; t <= 6; ++t) {
        Store store{disk, {.segment_span = 100'000}};
        for (const auto& id : ids) {
            ASSERT_TRUE(store.append(id, {t}));
            all.sent.insert({id, t});
        }
        std::ranges::next_permutation(ids);
    }
    Store store{disk};
    store.expect(all.sent, all.sent, "after all");
    EXPECT_FALSE(disk.files.contains(log_name(2)));
}

TEST(Keeper, AFullDiskRefusesWhatIsNewAndKeepsWhatIsOld) {
    FakeDisk disk;
    Store store{disk};
    ASSERT_TRUE(store.append("a", {1, 2, 3}));
    for (std::size_t room = 0; room < 12; ++room) {
        disk.room = disk.used() + room;
        EXPECT_EQ(store.append("a", {4}).error().code, Code::exhausted);
        EXPECT_EQ(store.rows().size(), 3U);
    }
    // Nor can a segment be made: the log stays.
    disk.room = SIZE_MAX;
    ASSERT_TRUE(store.append("a", {10}));
    disk.room = disk.used() + 20;
    store.work();
    EXPECT_FALSE(store.keeper->seal_slice());
    EXPECT_EQ(store.rows().size(), 4U);
    EXPECT_TRUE(disk.files.contains(log_name(1)));
    disk.room = SIZE_MAX;
    ASSERT_TRUE(store.append("a", {11}));
    store.work();
    EXPECT_FALSE(disk.files.contains(log_name(1)));
    disk.lose_power();
    Store again{disk};
    EXPECT_EQ(again.rows().size(), 5U);
}

TEST(Keeper, RowsThatCannotBeSealedAreBounded) {
    FakeDisk disk;
    Store store{disk, {.segment_span = 1'000'000'000, .head_bytes_max = 4096, .devices_per_slice = 1}};
    Result<> answer;
    Millis t = 1;
    for (; t < 10'000 && answer; ++t) answer = store.append("a", {t});
    EXPECT_EQ(answer.error().code, Code::exhausted);
    EXPECT_LT(store.keeper->stats().memory_bytes, 3 * 4096U);
    store.work();
    EXPECT_TRUE(store.append("a", {t}));
}

TEST(Keeper, ATimeThatIsFarAwayIsRefused) {
    FakeDisk disk;
    Store store{disk};
    const auto number = store.keeper->describe({.id = "a", .columns = columns, .labels = {}}, 0);
    ASSERT_TRUE(number);
    for (const Millis time : {-far - 1, far + 1, std::numeric_limits<Millis>::max()}) {
        const SampleBatch batch{.rows = {{*number, time}}, .cells = {1, 2}};
        const auto taken = store.keeper->append({&batch, 1})[0];
        ASSERT_FALSE(taken) << time;
        EXPECT_EQ(taken.error().code, Code::invalid);
    }
    EXPECT_TRUE(store.append("a", {1}));
}

TEST(Keeper, WhatASegmentHasIsNotStoredAgain) {
    FakeDisk disk;
    Store store{disk};
    ASSERT_TRUE(store.append("a", {1, 3, 9}));
    store.work();
    ASSERT_TRUE(store.append("a", {1, 2, 3, 9}));
    ASSERT_TRUE(store.keeper->freeze());
    store.work();
    const auto view = store.keeper->view({.metric = "power_mw"});
    ASSERT_EQ(view.segments.size(), 2U);
    const auto index = view.segments[1]->index();
    ASSERT_TRUE(index);
    const auto block = view.segments[1]->block(index->devices[0].blocks[0]);
    EXPECT_THAT(read_block(*block, {})->times, ElementsAre(2 * second));
}

TEST(Keeper, WhatIsDamagedIsLeftOutAndCounted) {
    FakeDisk disk;
    {
        Store store{disk};
        ASSERT_TRUE(store.append("a", {1, 9}));
        ASSERT_TRUE(store.append("b", {1, 9}));
        store.work();
        ASSERT_TRUE(store.append("a", {20}));
    }
    auto& segment = disk.files.at(segment_name(1))->live;
    segment[20] = static_cast<char>(segment[20] ^ 1);  // In the first block.
    {
        Store store{disk};
        EXPECT_EQ(store.rows().size(), 3U);
        EXPECT_EQ(store.damaged, 1U);
    }
    segment[segment.size() - 1] = '?';
    Store store{disk};
    ASSERT_TRUE(store.keeper);
    EXPECT_EQ(store.rows().size(), 1U);
    EXPECT_EQ(store.keeper->stats().blocks_damaged, 1U);
    EXPECT_TRUE(disk.files.contains(segment_name(1) + ".damaged"));
}

namespace {

// What was logged since this was made.
class Said {
public:
    Said() {
        lines().clear();
        set_log_sink([](hostler::Level, std::string_view line) { lines() += std::string{line} + "\n"; });
    }
    ~Said() { set_log_sink(nullptr); }
    Said(const Said&) = delete;
    Said& operator=(const Said&) = delete;
    bool names(const std::string& file) const { return lines().contains(file); }
    static std::string& lines() {
        static std::string all;
        return all;
    }
};

constexpr std::size_t places = 200;

// A sealed segment and a log, whose files are then changed.
struct Damage {
    Damage() {
        Store store{whole};
        for (Millis t = 1; t <= 12; ++t)
            for (const std::string id : {"a", "b"}) {
                EXPECT_TRUE(store.append(id, {t}));
                all.insert({id, t});
                if (t == 8) store.work();
            }
        EXPECT_TRUE(store.keeper->freeze());
        store.work();
        for (Millis t = 13; t <= 20; ++t)
            for (const std::string id : {"a", "b"}) {
                EXPECT_TRUE(store.append(id, {t}));
                all.insert({id, t});
            }
        for (const auto& [name, file] : whole.files) names.push_back(name);
    }
    std::string name_of(const std::string& prefix) const {
        std::string found;
        for (const auto& name : names)
            if (name.starts_with(prefix)) found = name;  // The last one.
        return found;
    }
    // Rows that are there are right ones; if one lacks, a line of the log names the file.
    void look(const std::string& name, const std::string& bytes, const std::string& where) {
        FakeDisk disk;
        for (const auto& [other, file] : whole.files)
            disk.files[other] = std::make_shared<FakeDisk::File>(*file);
        *disk.files.at(name) = {bytes, bytes.size()};
        const Said said;
        Store store{disk};
        ASSERT_TRUE(store.keeper) << where;
        store.expect({}, all, where);
        const auto found = store.rows();
        if (found.size() == all.size()) return;
        ++lacking;
        EXPECT_TRUE(said.names(name)) << where << ": " << all.size() - found.size()
                                      << " rows are lost without a word: " << Said::lines();
        EXPECT_TRUE(store.append("a", {30})) << where;
        EXPECT_TRUE(store.rows().contains({"a", 30})) << where;
    }
    void flip(const std::string& name) {
        const std::string is = whole.files.at(name)->live;
        for (std::size_t i = 0; i < places; ++i) {
            const std::size_t at = is.size() * i / places;
            std::string bytes = is;
            bytes[at] = static_cast<char>(bytes[at] ^ (i % 2 == 0 ? 0xff : 1 << i / 2 % 8));
            look(name, bytes, fmt::format("byte {} of {}", at, name));
        }
    }
    void cut(const std::string& name) {
        const std::string is = whole.files.at(name)->live;
        for (std::size_t i = 0; i < places; ++i)
            look(name, is.substr(0, is.size() * i / places),
                 fmt::format("{} cut at {}", name, is.size() * i / places));
    }
    FakeDisk whole;
    std::vector<std::string> names;
    std::set<std::pair<std::string, Millis>> all;
    int lacking = 0;
};

}  // namespace

TEST(SeriesDamage, AFlippedByteOfASegmentIsToldWithItsName) {
    Damage damage;
    damage.flip(damage.name_of("segment-"));
    EXPECT_GT(damage.lacking, 100);
}

TEST(SeriesDamage, ACutSegmentIsToldWithItsName) {
    Damage damage;
    damage.cut(damage.name_of("segment-"));
    EXPECT_EQ(damage.lacking, places);
}

TEST(SeriesDamage, AFlippedByteOfALogIsToldAndWhatIsBehindItIsKept) {
    Damage damage;
    const auto name = damage.name_of("log-");
    damage.flip(name);
    EXPECT_GT(damage.lacking, 100);
    auto& log = *damage.whole.files.at(name);
    const std::string is = log.live;
    log.live[10] = static_cast<char>(log.live[10] ^ 1);  // In the first record.
    const Said said;
    Store store{damage.whole};
    EXPECT_EQ(store.keeper->stats().blocks_damaged, 1U);
    EXPECT_TRUE(said.names(name + " is damaged at byte 0")) << Said::lines();
    EXPECT_EQ(damage.whole.files.at(name + ".damaged")->live.size(), is.size());
}

// A log that ends behind a whole record is one in which nothing more was written: nobody can tell.
TEST(SeriesDamage, ALogThatIsCutInARecordIsTold) {
    Damage damage;
    const auto name = damage.name_of("log-");
    const std::string is = damage.whole.files.at(name)->live;
    std::set<std::size_t> ends{0};
    while (*ends.rbegin() < is.size())
        ends.insert(*ends.rbegin() + record_head +
                    fixed_at<std::uint32_t>(std::string_view{is}.substr(*ends.rbegin())));
    for (std::size_t i = 0; i < places; ++i)
        if (const auto size = is.size() * i / places; !ends.contains(size))
            damage.look(name, is.substr(0, size), fmt::format("cut at {}", size));
    EXPECT_GT(damage.lacking, 150);
}

namespace {

constexpr Millis hour = 3600 * second;
const SeriesPolicy policy{
    .raw = std::chrono::hours{1}, .minute = std::chrono::hours{10}, .hour = std::chrono::hours{100}};

// Two hours at 10 s, in one segment.
void fill(Store& store) {
    for (Millis t = 0; t <= 7200; t += 60)
        ASSERT_TRUE(store.append("a", {t, t + 10, t + 20, t + 30, t + 40, t + 50}));
    ASSERT_TRUE(store.keeper->freeze());
    store.work();
}
void keep(Store& store, Millis now) {
    while (store.keeper->keep_slice(policy, now).value_or(false)) {
    }
}
std::vector<double> over(Store& store, const std::string& metric, Over what, Millis step) {
    const auto lines =
        store.ask({.metric = metric, .from = 0, .to = 7200 * second, .step = step, .over = what});
    return lines.empty() ? std::vector<double>{} : lines[0].values;
}

}  // namespace

TEST(Keeper, WhatIsThinnedSaysTheSameOfMinutesAndOfHours) {
    FakeDisk disk;
    Store store{disk, {.segment_span = 100 * hour}};
    fill(store);
    const auto looks = [&](Millis step) {
        std::vector<std::vector<double>> seen;
        for (const auto what : {Over::avg, Over::min, Over::max, Over::count, Over::last, Over::sum})
            seen.push_back(over(store, "power_mw", what, step));
        seen.push_back(over(store, "energy_mj", Over::increase, step));
        seen.push_back(over(store, "energy_mj", Over::rate, step));
        return seen;
    };
    const auto minutes = looks(60 * second);
    const auto hours = looks(hour);
    keep(store, 4 * hour);
    EXPECT_EQ(looks(60 * second), minutes);
    EXPECT_EQ(looks(hour), hours);
    EXPECT_EQ(over(store, "power_mw", Over::count, second).size(), 7200U);
    EXPECT_EQ(store.rows(Over::count).at({"a", 50}), 6);
    keep(store, 20 * hour);
    EXPECT_EQ(looks(hour), hours);
    // Now they come too late, and that is counted.
    EXPECT_TRUE(store.append("a", {5}));
    EXPECT_EQ(store.keeper->stats().rows_late, 1U);
    EXPECT_EQ(looks(hour), hours);
    keep(store, 200 * hour);
    EXPECT_TRUE(store.rows().empty());
    EXPECT_EQ(store.keeper->stats().disk_bytes, disk.files.at(log_name(2))->live.size());
}

TEST(Keeper, WhicheverCallFailsWhileThinningEachRowCountsOnce) {
    for (const bool for_ever : {false, true}) {
        for (std::uint64_t n = 1;; ++n) {
            FakeDisk disk;
            {
                Store store{disk, {.segment_span = 100 * hour}};
                fill(store);
                disk.calls = 0;
                disk.fail_call = n;
                disk.fail_on = for_ever;
                keep(store, 4 * hour);
                keep(store, 20 * hour);
                EXPECT_THAT(over(store, "power_mw", Over::count, hour), ElementsAre(360, 360)) << n;
            }
            const bool touched = disk.calls >= n;
            disk.lose_power();
            Store store{disk};
            ASSERT_TRUE(store.keeper);
            EXPECT_THAT(over(store, "power_mw", Over::count, hour), ElementsAre(360, 360)) << n;
            keep(store, 20 * hour);
            EXPECT_THAT(over(store, "power_mw", Over::count, hour), ElementsAre(360, 360)) << n;
            if (!touched) break;
        }
    }
}

}  // namespace hostler::series
