#include "adapters/disk/volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/testing/temp_folder.h"

namespace hostler::disk {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t size = HostVolumes::size_min;

// What machines do that have no disk to spare: nothing is mounted, all else is as on others.
class FakeImages final : public Images {
public:
    struct Seen {
        std::string refused;
        std::uint64_t room = ~std::uint64_t{0};
        bool formats = true;
        std::vector<std::string> mounted, unmounted;
        std::string note;
    };
    explicit FakeImages(Seen& seen) : seen_(seen) {}
    std::string refused() const override { return seen_.refused; }
    Result<> set_aside(int, std::uint64_t bytes) override {
        if (bytes > seen_.room)
            return fail(Code::exhausted, "cannot set room aside: no space left", "disk_full");
        return {};
    }
    Result<> format(const std::string&) override {
        if (!seen_.formats) return fail(Code::unavailable, "mkfs.xfs has died");
        return {};
    }
    Result<std::string> mount(const std::string& image, const std::string&) override {
        seen_.mounted.push_back(image);
        return seen_.note;
    }
    Result<> unmount(const std::string& image, const std::string&) override {
        seen_.unmounted.push_back(image);
        return {};
    }

private:
    Seen& seen_;
};

class VolumeFiles : public ::testing::Test {
protected:
    VolumeFiles() { reopen(); }
    void reopen() {
        store_ = std::make_unique<VolumeStore>(
            VolumeStore::open({.folder = root()}, std::make_unique<FakeImages>(images_)).value());
        store_->sweep();
    }
    std::string root() const { return folder_.path() + "/volumes"; }
    std::uint64_t bytes_of(const std::string& id) const {
        return fs::file_size(root() + "/" + id + "/image");
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& entry : fs::directory_iterator{root()}) all.push_back(entry.path().filename());
        return all;
    }

    testing::TempFolder folder_;
    FakeImages::Seen images_;
    std::unique_ptr<VolumeStore> store_;
};

TEST_F(VolumeFiles, WhatIsTheirsIsPrivateAndTheTopOfANewOneHasNoMode) {
    ASSERT_TRUE(store_->create("v-1", size));
    const auto attached = store_->attach("v-1", {});
    ASSERT_TRUE(attached);
    EXPECT_EQ(attached->folder, root() + "/v-1/fs/data");
    struct stat status{};
    ASSERT_EQ(::stat(root().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    ASSERT_EQ(::stat((root() + "/v-1/image").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
    ASSERT_EQ(::stat(attached->folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0U);
    ASSERT_EQ(::chmod(attached->folder.c_str(), 0750), 0);
    ASSERT_TRUE(store_->attach("v-1", {}));
    ASSERT_EQ(::stat(attached->folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0750U) << "it is not new any more";
}

TEST_F(VolumeFiles, TheTopIsTheContainersRootsAndStaysWhoseTheyGaveItTo) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files to others";
    ASSERT_TRUE(store_->create("v-1", size));
    const auto owner = [&](IdRange ids) {
        const auto attached = store_->attach("v-1", ids);
        struct stat status{};
        EXPECT_TRUE(attached && ::stat(attached->folder.c_str(), &status) == 0);
        return std::pair(status.st_uid, status.st_gid);
    };
    EXPECT_EQ(owner({}), std::pair(0U, 0U));
    EXPECT_EQ(owner({100'000, 200'000}), std::pair(100'000U, 200'000U));
    ASSERT_EQ(::chown((root() + "/v-1/fs/data").c_str(), 100'999, 200'999), 0);
    EXPECT_EQ(owner({100'000, 200'000}), std::pair(100'999U, 200'999U))
        << "a program inside gave it to its user";
    EXPECT_EQ(owner({300'000, 300'000}), std::pair(300'000U, 300'000U));
}

TEST_F(VolumeFiles, ALinkIsNoVolumeAndIsNotFollowed) {
    const auto outside = folder_.path() + "/outside";
    fs::create_directories(outside + "/full");
    std::ofstream{outside + "/image"} << "precious";
    fs::create_directory_symlink(outside, root() + "/v");
    fs::create_directories(root() + "/w/fs");
    fs::create_symlink(outside + "/image", root() + "/w/image");
    EXPECT_EQ(store_->attach("w", {}).error().code, Code::not_found);
    ASSERT_TRUE(store_->remove("w"));
    ASSERT_FALSE(store_->remove("v"));
    ASSERT_TRUE(store_->create("x", size));
    fs::create_directory_symlink(outside, root() + "/x/fs/data");
    EXPECT_FALSE(store_->attach("x", {})) << "a tenant's link where its folder should be";
    ASSERT_TRUE(store_->remove("x"));
    EXPECT_TRUE(fs::exists(outside + "/full"));
    EXPECT_TRUE(fs::exists(outside + "/image"));
}

TEST_F(VolumeFiles, AFailureLeavesNothing) {
    images_.formats = false;
    EXPECT_EQ(store_->create("v-1", size).error().message, "mkfs.xfs has died");
    EXPECT_THAT(names(), IsEmpty());
    images_ = {.room = size};
    ASSERT_TRUE(store_->create("v-1", size));
    EXPECT_EQ(store_->create("v-2", size + 1).error().reason, "disk_full");
    EXPECT_EQ(store_->create("v-1", 2 * size).error().reason, "disk_full");
    EXPECT_THAT(names(), ElementsAre("v-1"));
    EXPECT_EQ(bytes_of("v-1"), size);
}

TEST_F(VolumeFiles, AHostThatMayNotMountSaysWhy) {
    images_.refused = "its agent may not mount: run it as root";
    const auto refused = store_->create("v-1", size);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "volumes_refused");
    EXPECT_THAT(refused.error().message, HasSubstr("may not mount"));
    EXPECT_EQ(store_->room()->refused, images_.refused);
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(VolumeFiles, SizesAreWholeMebibytes) {
    ASSERT_TRUE(store_->create("v-1", size + 1));
    EXPECT_EQ(bytes_of("v-1"), size + (1 << 20));
    ASSERT_TRUE(store_->create("v-1", size));
    EXPECT_EQ(bytes_of("v-1"), size + (1 << 20)) << "nothing shrinks";
}

TEST_F(VolumeFiles, WhatWasMendedIsTold) {
    ASSERT_TRUE(store_->create("v-1", size));
    images_.note = "it recovered";
    EXPECT_EQ(store_->attach("v-1", {})->note, "it recovered");
}

TEST_F(VolumeFiles, WhatACrashLeftIsTakenAway) {
    fs::create_directories(root() + "/.gone-v/fs/full/of");
    fs::create_directories(root() + "/.new-w");
    std::ofstream{root() + "/.new-w/image"} << "half";
    fs::create_directories(root() + "/not-a-volume");
    reopen();
    EXPECT_THAT(names(), ElementsAre("not-a-volume")) << "what is not understood is left alone";
    EXPECT_THAT(store_->list().value(), IsEmpty());
}

}  // namespace
}  // namespace hostler::disk
