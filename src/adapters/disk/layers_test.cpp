#include "adapters/disk/layers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "adapters/disk/small_copy.h"
#include "adapters/disk/testing/monitor.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"

namespace hostler::disk {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr std::uint64_t bytes = Layers::bytes_min;

class DiskLayersTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto why = loop_images()->refused();
        if (!why.empty()) GTEST_SKIP() << "this machine limits no container's disk: " << why;
        fs::create_directories(at_ + "/diff");
        fs::create_directories(at_ + "/work");
        std::ofstream{at_ + "/lower"} << "l/ABC";
        ASSERT_EQ(::chown((at_ + "/diff").c_str(), 70'000, 70'001), 0);
        layers_ = open();
    }
    // Also what a test that failed has left.
    void TearDown() override {
        std::vector<std::string> mounted;
        std::ifstream mounts{"/proc/self/mounts"};
        for (std::string source, target, rest; mounts >> source >> target && std::getline(mounts, rest);)
            if (target.starts_with(folder_.path() + "/")) mounted.insert(mounted.begin(), target);
        for (const auto& target : mounted) ::umount2(target.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
        EXPECT_TRUE(mounted.empty() || HasFailure()) << ::testing::PrintToString(mounted);
    }
    std::unique_ptr<Layers> open() {
        auto opened = open_layers(*worker_, {.folder = store_});
        EXPECT_TRUE(opened);
        return opened ? std::move(*opened) : nullptr;
    }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop_, std::move(task));
    }
    // Images of this test that a loop device has.
    std::vector<std::string> attached() const {
        std::vector<std::string> all;
        for (const auto& entry : fs::directory_iterator{"/sys/block"}) {
            std::ifstream file{entry.path() / "loop/backing_file"};
            std::string image;
            if (std::getline(file, image) && image.starts_with(folder_.path())) all.push_back(image);
        }
        return all;
    }
    // The mount namespaces that a neighbour's test makes copy the mounts of images, and let go of them late.
    bool let_go() const {
        constexpr int looks_max = 3000;
        for (int look = 0; look < looks_max && !attached().empty(); ++look) ::usleep(10'000);
        return attached().empty();
    }

    Loop loop_;
    std::unique_ptr<Worker> worker_ = make_worker(loop_, "layers");
    testing::TempFolder folder_;
    std::string store_ = folder_.path() + "/layers", at_ = folder_.path() + "/overlay/abc";
    std::unique_ptr<Layers> layers_;
};

TEST_F(DiskLayersTest, BytesEndThereAndTheFolderIsAsItWasAfterwards) {
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty)));
    struct stat seen{};
    ASSERT_EQ(::stat((at_ + "/diff").c_str(), &seen), 0);
    EXPECT_EQ(seen.st_uid, 70'000U);
    EXPECT_EQ(seen.st_gid, 70'001U);
    EXPECT_TRUE(fs::exists(at_ + "/lower"));
    EXPECT_LE(fs::space(at_).capacity, bytes);
    const int file = ::open((at_ + "/diff/full").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    static char piece[1 << 20];
    std::uint64_t written = 0;
    ssize_t size = 0;
    while (written <= bytes && (size = ::write(file, piece, sizeof piece)) > 0)
        written += static_cast<std::uint64_t>(size);
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_LT(written, bytes);
    ::close(file);
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty))) << "again is no change";
    EXPECT_TRUE(fs::exists(at_ + "/diff/full"));
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    EXPECT_FALSE(fs::exists(at_ + "/diff/full"));
    EXPECT_TRUE(fs::exists(at_ + "/lower"));
    EXPECT_TRUE(fs::is_empty(store_));
    EXPECT_TRUE(let_go());
    EXPECT_TRUE(run(layers_->release("c", LayerEnd::lost)));
}

// Loop images that count what is done to them.
class CountedImages final : public Images {
public:
    struct Counts {
        int formats = 0, mounts = 0;
    };
    explicit CountedImages(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) {}
    std::string refused() const override { return below_->refused(); }
    Result<> set_aside(int file, std::uint64_t size) override { return below_->set_aside(file, size); }
    Result<> format(const std::string& image) override {
        ++counts_->formats;
        return below_->format(image);
    }
    Result<std::string> mount(const std::string& image, const std::string& at) override {
        ++counts_->mounts;
        return below_->mount(image, at);
    }
    Result<> unmount(const std::string& image, const std::string& at) override {
        return below_->unmount(image, at);
    }

private:
    std::unique_ptr<Images> below_ = loop_images();
    std::shared_ptr<Counts> counts_;
};

TEST_F(DiskLayersTest, OneThatWasMadeAheadIsNeitherFormattedNorMountedAtTheStart) {
    const auto counts = std::make_shared<CountedImages::Counts>();
    layers_.reset();
    auto opened = open_layers(*worker_, {.folder = store_}, std::make_unique<CountedImages>(counts));
    ASSERT_TRUE(opened);
    layers_ = std::move(*opened);
    const auto made = run(layers_->make_ahead(2, bytes));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(*made, 2U);
    EXPECT_EQ(run(layers_->make_ahead(2, bytes)), 2U) << "again is no change";
    EXPECT_EQ(counts->formats, 2);
    EXPECT_THAT(run(layers_->kept()).value(), IsEmpty());
    *counts = {};
    ASSERT_EQ(run(layers_->hold("c", at_, bytes, LayerStart::empty)), bytes);
    EXPECT_EQ(counts->formats + counts->mounts, 0);
    EXPECT_TRUE(fs::exists(at_ + "/lower"));
    EXPECT_LE(fs::space(at_).capacity, bytes);
    EXPECT_FALSE(fs::exists(store_ + "/c/first")) << "copies of its mount elsewhere go with the folder";
    // Another size has to be made.
    const std::string other = folder_.path() + "/overlay/other";
    fs::create_directories(other + "/diff");
    ASSERT_EQ(run(layers_->hold("d", other, 2 * bytes, LayerStart::empty)), 2 * bytes);
    EXPECT_EQ(counts->formats, 1);
    EXPECT_EQ(attached().size(), 3U);
    EXPECT_EQ(run(layers_->make_ahead(0, bytes)), 0U);
    // What one container had is never the next one's.
    std::ofstream{at_ + "/diff/secret"} << "of the first";
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    ASSERT_TRUE(run(layers_->release("d", LayerEnd::lost)));
    EXPECT_EQ(run(layers_->make_ahead(1, bytes)), 1U);
    ASSERT_TRUE(run(layers_->hold("e", at_, bytes, LayerStart::empty)));
    EXPECT_FALSE(fs::exists(at_ + "/diff/secret"));
    ASSERT_TRUE(run(layers_->release("e", LayerEnd::lost)));
    EXPECT_TRUE(fs::is_empty(store_));
    EXPECT_TRUE(let_go());
}

TEST_F(DiskLayersTest, WhatADeadAgentMadeAheadIsRemoved) {
    ASSERT_EQ(run(layers_->make_ahead(2, bytes)), 2U);
    ASSERT_EQ(run(layers_->make_ahead(1, 2 * bytes)), 1U) << "others of another size go";
    EXPECT_EQ(std::distance(fs::directory_iterator{store_}, {}), 1);
    EXPECT_EQ(run(layers_->hold(".ahead-0", at_, bytes, LayerStart::empty)).error().code, Code::invalid);
    layers_ = open();
    EXPECT_EQ(run(layers_->refused()), "");  // It comes after the sweep.
    EXPECT_TRUE(fs::is_empty(store_));
    EXPECT_TRUE(let_go());
    // And when the machine is about to stop.
    ASSERT_EQ(run(layers_->make_ahead(1, bytes)), 1U);
    auto store = LayerStore::open({.folder = store_});
    ASSERT_TRUE(store && store->unmount());
    EXPECT_TRUE(fs::is_empty(store_));
    EXPECT_TRUE(let_go());
}

TEST_F(DiskLayersTest, AStartMakesItsOwnWhereTheOneThatWasMadeAheadIsOfNoUse) {
    const std::string ahead = store_ + "/.ahead-0/first";
    ASSERT_EQ(run(layers_->make_ahead(1, bytes)), 1U);
    ASSERT_EQ(::mount("none", ahead.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
    ASSERT_EQ(run(layers_->hold("c", at_, bytes, LayerStart::empty)), bytes);
    EXPECT_TRUE(fs::exists(at_ + "/lower"));
    std::ofstream{at_ + "/diff/written"} << "1";
    EXPECT_TRUE(fs::exists(at_ + "/diff/written"));
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    // Unmounted by somebody, which a start sees; the next time it is replaced.
    ASSERT_EQ(run(layers_->make_ahead(1, bytes)), 1U);
    ASSERT_EQ(::umount2(ahead.c_str(), 0), 0);
    ASSERT_EQ(run(layers_->hold("c", at_, bytes, LayerStart::empty)), bytes);
    EXPECT_EQ(attached(), std::vector<std::string>{store_ + "/c/image"});
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    ASSERT_EQ(run(layers_->make_ahead(1, bytes)), 1U);
    EXPECT_EQ(attached(), std::vector<std::string>{store_ + "/.ahead-0/image"});
    EXPECT_EQ(run(layers_->make_ahead(0, bytes)), 0U);
    EXPECT_TRUE(fs::is_empty(store_));
    EXPECT_TRUE(let_go());
}

TEST_F(DiskLayersTest, WhatIsKeptLiesUnderTheNextContainer) {
    ASSERT_EQ(run(layers_->hold("c", at_, bytes, LayerStart::kept)).error().reason, "layer_missing");
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty)));
    std::ofstream{at_ + "/diff/mine"} << "written";
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::kept)));
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::kept))) << "again is no change";
    EXPECT_FALSE(fs::exists(at_ + "/diff/mine"));
    layers_ = open();  // Another agent, whose sweep leaves it alone.
    const auto kept = run(layers_->kept());
    ASSERT_TRUE(kept);
    ASSERT_EQ(kept->size(), 1U);
    EXPECT_EQ(kept->front().name, "c");
    EXPECT_GT(kept->front().bytes, 0U);
    EXPECT_LT(kept->front().bytes, bytes) << "what nobody wrote takes no room";
    EXPECT_GT(kept->front().kept_at, 0);
    EXPECT_TRUE(let_go());
    // The next one has another folder, and its engine's own notes in it.
    const std::string next = folder_.path() + "/overlay/def";
    fs::create_directories(next + "/diff");
    fs::create_directories(next + "/work");
    std::ofstream{next + "/lower"} << "l/DEF";
    const auto larger = run(layers_->hold("c", next, 2 * bytes, LayerStart::kept));
    ASSERT_TRUE(larger) << larger.error().message;
    EXPECT_EQ(*larger, 2 * bytes);
    EXPECT_GT(fs::space(next).capacity, bytes);
    std::string text;
    std::ifstream{next + "/diff/mine"} >> text;
    EXPECT_EQ(text, "written");
    std::ifstream{next + "/lower"} >> text;
    EXPECT_EQ(text, "l/DEF");
    struct stat seen{};
    ASSERT_EQ(::stat((next + "/diff").c_str(), &seen), 0);
    EXPECT_EQ(seen.st_uid, 70'000U);
    EXPECT_TRUE(run(layers_->kept())->empty()) << "a container has it";
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::kept)));
    fs::remove_all(next);
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty))) << "it is not wanted any more";
    EXPECT_FALSE(fs::exists(at_ + "/diff/mine"));
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    EXPECT_TRUE(fs::is_empty(store_));
    EXPECT_TRUE(let_go());
}

TEST_F(DiskLayersTest, WhatWasKeptOutlivesAContainerThatSomebodyElseTookAwayBeforeItBegan) {
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty)));
    std::ofstream{at_ + "/diff/mine"} << "written";
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::kept)));
    // As a crash leaves it in the middle of the next hold().
    fs::create_symlink(folder_.path() + "/overlay/gone", store_ + "/c/at");
    layers_ = open();
    ASSERT_EQ(run(layers_->kept())->size(), 1U);
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::kept)));
    EXPECT_TRUE(fs::exists(at_ + "/diff/mine"));
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    EXPECT_TRUE(let_go());
}

TEST_F(DiskLayersTest, SayHowFullTheyAreWhileTheyAreHeld) {
    const auto uses = [&] { return run(layers_->uses()).value(); };
    EXPECT_TRUE(uses().empty());
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty)));
    const DiskUse before = uses().at("c");
    EXPECT_EQ(static_cast<std::uintmax_t>(before.total_bytes.value()), fs::space(at_).capacity);
    constexpr std::int64_t piece = 32 << 20, block = 4096;
    const int file = ::open((at_ + "/diff/mine").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::fallocate(file, 0, 0, piece), 0);
    ::close(file);
    EXPECT_NEAR(uses().at("c").used_bytes.value() - before.used_bytes.value(), piece, block);
    EXPECT_EQ(uses().at("c").used_inodes.value() - before.used_inodes.value(), 1);
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::kept)));
    EXPECT_TRUE(uses().empty()) << "no container writes there";
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    EXPECT_TRUE(let_go());
}

TEST_F(DiskLayersTest, InodesEndThere) {
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty)));
    constexpr int files_max = 400'000;
    int files = 0;
    while (files < files_max && ::mknod(fmt::format("{}/diff/{}", at_, files).c_str(), S_IFREG, 0) == 0)
        ++files;
    EXPECT_EQ(errno, ENOSPC);
    constexpr int inode_bytes = 512, inode_part = 4;
    const int bound = static_cast<int>(bytes / inode_part / inode_bytes);
    EXPECT_LE(files, bound + bound / 100) << "XFS rounds";
    EXPECT_GT(files, 100'000);
    EXPECT_TRUE(run(layers_->release("c", LayerEnd::lost)));
}

TEST_F(DiskLayersTest, CopiesOfItsMountInOtherNamespacesDoNotKeepItsRoom) {
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty)));
    const testing::Monitor other;
    ASSERT_TRUE(other.runs);
    ASSERT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    fs::remove_all(at_);  // As an engine does then.
    EXPECT_TRUE(let_go()) << attached().front();
}

TEST_F(DiskLayersTest, WhatHasNoContainerAnyMoreIsTakenAwayByTheNextThatOpens) {
    ASSERT_TRUE(run(layers_->hold("kept", at_, bytes, LayerStart::empty)));
    const auto other = folder_.path() + "/overlay/other";
    fs::create_directories(other);
    ASSERT_TRUE(run(layers_->hold("gone", other, bytes, LayerStart::empty)));
    ASSERT_EQ(::umount2(other.c_str(), 0), 0);
    fs::remove_all(other);
    fs::create_directories(store_ + "/half");  // As a crash leaves it.
    std::ofstream{store_ + "/half/image"} << "half";
    layers_ = open();
    EXPECT_EQ(run(layers_->refused()), "");  // It comes after the sweep.
    EXPECT_TRUE(fs::exists(store_ + "/kept/image"));
    EXPECT_FALSE(fs::exists(store_ + "/gone"));
    EXPECT_FALSE(fs::exists(store_ + "/half"));
    EXPECT_TRUE(run(layers_->release("kept", LayerEnd::lost)));
}

// As the machine's end does it to a container that goes on afterwards.
TEST_F(DiskLayersTest, WhatWasUnmountedIsMountedAgainWithWhatIsInIt) {
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty)));
    std::ofstream{at_ + "/diff/written"} << "before";
    auto store = LayerStore::open({.folder = store_});
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->unmount());
    EXPECT_FALSE(fs::exists(at_ + "/diff/written"));
    EXPECT_TRUE(let_go());
    layers_ = open();
    EXPECT_EQ(run(layers_->refused()), "");
    store->mount();
    EXPECT_TRUE(fs::exists(at_ + "/diff/written"));
    ASSERT_TRUE(store->unmount());
    ASSERT_TRUE(run(layers_->hold("c", at_, bytes, LayerStart::empty))) << "and by a launch of it";
    EXPECT_TRUE(fs::exists(at_ + "/diff/written"));
    EXPECT_TRUE(run(layers_->release("c", LayerEnd::lost)));
    EXPECT_TRUE(let_go());
}

TEST_F(DiskLayersTest, ADiskThatIsNearlyFullGetsNoMore) {
    // A small disk of its own, with less free than stays so.
    const auto small = folder_.path() + "/small";
    fs::create_directories(small);
    ASSERT_EQ(::mount("none", small.c_str(), "tmpfs", 0, "size=1M"), 0);
    std::ofstream{small + "/taken"} << std::string(1000 << 10, 'x');
    auto opened = open_layers(*worker_, {.folder = small + "/layers"});
    ASSERT_TRUE(opened);
    const auto refused = run((*opened)->hold("c", at_, bytes, LayerStart::empty));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "disk_full") << refused.error().message;
    EXPECT_EQ(run((*opened)->make_ahead(2, bytes)), 0U) << "nor any ahead";
    // More than what stays free, and less than one takes.
    ASSERT_EQ(::mount("none", small.c_str(), nullptr, MS_REMOUNT, "size=60M"), 0);
    EXPECT_EQ(run((*opened)->make_ahead(2, bytes)), 0U);
    EXPECT_TRUE(fs::is_empty(small + "/layers"));
    EXPECT_EQ(::umount2(small.c_str(), MNT_DETACH), 0);
}

TEST(DiskSmallCopy, KeepsOwnersModesAndTimesAndLeavesTheRestToOthers) {
    const testing::TempFolder folder;
    const std::string from = folder.path() + "/from", into = folder.path() + "/into";
    fs::create_directories(from + "/diff");
    fs::create_directories(from + "/deep/inner");
    fs::create_directories(into);
    std::ofstream{from + "/lower"} << "l/ABC";
    const timespec times[2] = {{.tv_sec = 1'000, .tv_nsec = 5}, {.tv_sec = 2'000, .tv_nsec = 7}};
    ASSERT_EQ(::chmod((from + "/lower").c_str(), 0640), 0);
    if (::geteuid() == 0) ASSERT_EQ(::chown((from + "/diff").c_str(), 70'000, 70'001), 0);
    ASSERT_EQ(::chmod((from + "/diff").c_str(), 01755), 0);
    for (const char* name : {"/lower", "/diff", ""})
        ASSERT_EQ(::utimensat(AT_FDCWD, (from + name).c_str(), times, 0), 0);
    ASSERT_EQ(copy_small(from, into), true);
    for (const char* name : {"", "/lower", "/diff", "/deep", "/deep/inner"}) {
        struct stat was{}, is{};
        ASSERT_EQ(::stat((from + name).c_str(), &was), 0) << name;
        ASSERT_EQ(::stat((into + name).c_str(), &is), 0) << name;
        EXPECT_EQ(was.st_mode, is.st_mode) << name;
        EXPECT_EQ(was.st_uid, is.st_uid) << name;
        EXPECT_EQ(was.st_gid, is.st_gid) << name;
        EXPECT_EQ(was.st_mtim.tv_sec, is.st_mtim.tv_sec) << name;
        EXPECT_EQ(was.st_mtim.tv_nsec, is.st_mtim.tv_nsec) << name;
    }
    std::string text;
    std::ifstream{into + "/lower"} >> text;
    EXPECT_EQ(text, "l/ABC");
    // What it does not copy.
    const auto refuses = [&](const char* what) {
        fs::remove_all(into);
        fs::create_directories(into);
        EXPECT_EQ(copy_small(from, into), false) << what;
    };
    fs::create_symlink("lower", from + "/link");
    refuses("a link");
    fs::remove(from + "/link");
    std::ofstream{from + "/large"} << std::string(65 << 10, 'x');
    refuses("a large file");
    fs::remove(from + "/large");
    for (int i = 0; i < 64; ++i) std::ofstream{from + "/diff/" + std::to_string(i)};
    refuses("many files");
}

TEST_F(DiskLayersTest, ANameThatLeadsElsewhereIsRefused) {
    for (const char* name : {"", "..", "a/b", ".hidden"}) {
        EXPECT_EQ(run(layers_->hold(name, at_, bytes, LayerStart::empty)).error().code, Code::invalid)
            << name;
        EXPECT_EQ(run(layers_->release(name, LayerEnd::lost)).error().code, Code::invalid) << name;
    }
    EXPECT_THAT(attached(), IsEmpty());
}

}  // namespace
}  // namespace hostler::disk
