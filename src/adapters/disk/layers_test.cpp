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
    bool let_go() const {
        constexpr int looks_max = 200;
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
    EXPECT_EQ(::umount2(small.c_str(), MNT_DETACH), 0);
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
