// The SeriesStore port in segment files and in memory, and both beside each other.
#include "adapters/series/memory.h"
#include "adapters/series/store.h"
#include "adapters/series/testing/fake_folder.h"
#include "core/testing/temp_folder.h"
#include "series_contract.h"

namespace hostler::contract {

namespace {

class FileSeriesRig : public RealRig<SeriesRig> {
public:
    FileSeriesRig() { restart(); }
    SeriesStore& store() override { return *store_; }
    void restart() override {
        store_.reset();
        writer_ = make_worker(loop_, "series");  // The old one waits for its thread.
        reader_ = make_worker(loop_, "queries");
        store_ = series::open_store(*writer_, *reader_, folder_.path() + "/series").value();
    }

private:
    testing::TempFolder folder_;
    std::unique_ptr<Worker> writer_;
    std::unique_ptr<Worker> reader_;
    std::unique_ptr<SeriesStore> store_;
};

// The same on a disk in memory, which a restart leaves with what was synced.
class FakeDiskSeriesRig : public RealRig<SeriesRig> {
public:
    FakeDiskSeriesRig() { restart(); }
    SeriesStore& store() override { return *store_; }
    void restart() override {
        store_.reset();
        writer_ = make_worker(loop_, "series");
        reader_ = make_worker(loop_, "queries");
        disk_.lose_power();
        store_ = series::open_store(*writer_, *reader_, std::make_unique<series::testing::FakeFolder>(disk_))
                     .value();
    }

private:
    series::testing::FakeDisk disk_;
    std::unique_ptr<Worker> writer_;
    std::unique_ptr<Worker> reader_;
    std::unique_ptr<SeriesStore> store_;
};

class MemorySeriesRig : public RealRig<SeriesRig> {
public:
    MemorySeriesRig() { restart(); }
    SeriesStore& store() override { return *store_; }
    void restart() override { store_ = std::make_unique<series::MemoryStore>(rows_); }

private:
    series::MemoryRows rows_;
    std::unique_ptr<SeriesStore> store_;
};

INSTANTIATE_TEST_SUITE_P(
    All, SeriesContract,
    ::testing::Values(Kind<SeriesRig>{"file", [] { return std::make_unique<FileSeriesRig>(); }},
                      Kind<SeriesRig>{"memory", [] { return std::make_unique<MemorySeriesRig>(); }}),
    kind_name);

bool same(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

}  // namespace

// Histories with late rows, repeated ones, other labels, resets, silence, power cuts; the file's answers are
// those of a store that is too plain to be wrong.
TEST(SeriesStories, FilesAnswerAsMemoryDoes) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const auto story = series_story(seed);
        FakeDiskSeriesRig file;
        MemorySeriesRig memory;
        const auto ours = tell(file, story);
        const auto plain = tell(memory, story);
        for (std::size_t q = 0; q < plain.size(); ++q) {
            ASSERT_EQ(ours[q].size(), plain[q].size()) << "seed " << seed << ", query " << q;
            for (std::size_t line = 0; line < plain[q].size(); ++line) {
                EXPECT_EQ(ours[q][line].labels, plain[q][line].labels) << "seed " << seed << ", query " << q;
                EXPECT_TRUE(std::ranges::equal(ours[q][line].values, plain[q][line].values, same))
                    << "seed " << seed << ", query " << q << ", line " << line;
            }
        }
    }
}

TEST(SeriesFiles, SayHowMuchRoomTheirDiskHas) {
    FileSeriesRig file;
    const auto stats = file.run(file.store().stats());
    ASSERT_TRUE(stats);
    EXPECT_GT(stats->volume_bytes, 0u);
    EXPECT_LE(stats->volume_free_bytes, stats->volume_bytes);
}

}  // namespace hostler::contract
