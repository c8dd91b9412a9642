#include "adapters/docker/folders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/testing/temp_folder.h"

namespace hostler::docker {
namespace {

namespace fs = std::filesystem;

class Layered : public ::testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "only root makes what overlayfs notes in layers";
    }
    std::string at(std::string_view path) const { return fmt::format("{}/{}", folder_.path(), path); }
    void make(std::string_view path, mode_t mode, uid_t user = 0) const {
        fs::create_directories(at(path));
        ASSERT_EQ(::chown(at(path).c_str(), user, user), 0);
        ASSERT_EQ(::chmod(at(path).c_str(), mode), 0);
    }
    std::optional<FolderFacts> find(std::string_view path) const {
        return folder_in_layers(std::vector{at("top"), at("middle"), at("low")}, path);
    }
    mode_t mode_of(std::string_view path) const {
        const auto found = find(path);
        return found ? found->mode : 0;
    }

    testing::TempFolder folder_;
};

TEST_F(Layered, TheTopmostFolderCounts) {
    make("low/root", 0700);
    make("low/srv/u", 0750, 1000);
    make("middle/home", 0711);
    make("middle/srv/u/inner", 0701);
    make("top/root", 0550);
    EXPECT_EQ(find("/root"), (FolderFacts{0, 0, 0550}));
    EXPECT_EQ(mode_of("/home"), 0711U);
    EXPECT_EQ(mode_of("/srv/u/inner"), 0701U);
    make("middle/srv/u", 02775, 33);
    EXPECT_EQ(find("/srv/u/"), (FolderFacts{33, 33, 02775}));
    EXPECT_EQ(find("/none"), std::nullopt);
    EXPECT_EQ(find("/root/none/such"), std::nullopt);
}

TEST_F(Layered, WhatALayerHasRemovedIsNotThere) {
    make("low/gone", 0700);
    make("low/again/inner", 0700);
    make("low/opaque/inner", 0700);
    fs::create_directories(at("middle"));
    ASSERT_EQ(::mknod(at("middle/gone").c_str(), S_IFCHR, makedev(0, 0)), 0);
    ASSERT_EQ(::mknod(at("middle/again").c_str(), S_IFCHR, makedev(0, 0)), 0);
    make("top/again", 0711);
    make("middle/opaque", 0755);
    ASSERT_EQ(::setxattr(at("middle/opaque").c_str(), "trusted.overlay.opaque", "y", 1, 0), 0);
    std::ofstream{at("middle/file")} << "x";
    make("low/file", 0700);
    EXPECT_EQ(find("/gone"), std::nullopt);
    EXPECT_EQ(mode_of("/again"), 0711U);
    EXPECT_EQ(find("/again/inner"), std::nullopt);
    EXPECT_EQ(mode_of("/opaque"), 0755U);
    EXPECT_EQ(find("/opaque/inner"), std::nullopt);
    EXPECT_EQ(find("/file"), std::nullopt) << "it hides the folder";
}

TEST_F(Layered, LinksAreFollowedWithinTheLayers) {
    make("low/var/www", 0751);
    make("top", 0755);
    fs::create_symlink("var", at("low/relative"));
    fs::create_symlink("/var/www", at("low/absolute"));
    fs::create_symlink("../../../../../var/www", at("low/var/up"));
    fs::create_symlink("loop", at("low/loop"));
    fs::create_symlink(folder_.path(), at("low/out"));
    EXPECT_EQ(mode_of("/relative/www"), 0751U);
    EXPECT_EQ(mode_of("/absolute"), 0751U);
    EXPECT_EQ(mode_of("/var/up"), 0751U);
    EXPECT_EQ(find("/loop"), std::nullopt);
    EXPECT_EQ(find("/out"), std::nullopt) << "of the host nothing is seen";
    EXPECT_EQ(find("/loop/../var/www"), std::nullopt);
}

TEST_F(Layered, ANewTopIsWhoseItCoversIs) {
    make("low/srv/u", 0750, 1000);
    make("low/closed", 0);
    constexpr IdRange ids{0x70000000, 0x71000000};
    make("low/mapped", 0700, ids.first_user + 5);  // As dockerd stores it with userns-remap.
    const std::vector<std::string> layers{at("low")};
    const auto given = [&](std::string_view target, mode_t mode = 0) {
        make("volume", mode, 7);
        EXPECT_TRUE(
            give_tops(std::vector<MountSpec>{{at("volume"), std::string{target}, false}}, layers, ids));
        struct stat seen{};
        EXPECT_EQ(::stat(at("volume").c_str(), &seen), 0);
        return fmt::format("{:o} {} {}", seen.st_mode & 07777, seen.st_uid, seen.st_gid);
    };
    EXPECT_EQ(given("/srv/u"), fmt::format("750 {} {}", ids.first_user + 1000, ids.first_group + 1000));
    EXPECT_EQ(given("/srv/u", 0711), "711 7 7") << "it is not new";
    EXPECT_EQ(given("/none"), "777 7 7");
    EXPECT_EQ(given("/closed").substr(0, 4), "700 ") << "else it would stay a new one";
    EXPECT_EQ(given("/mapped").substr(0, 14), fmt::format("700 {}", ids.first_user + 5));
}

TEST_F(Layered, FoldersThatAnImageDeclaresAndDoesNotHaveAreMissing) {
    make("low/data", 0700);
    std::ofstream{at("low/file")} << "x";
    const auto missing =
        missing_folders(std::vector{at("low")},
                        std::vector<std::string>{"/data", "/a/b/", "/" + std::string(100, 'x'), "/a/../c"});
    ASSERT_EQ(missing.size(), 2U);
    EXPECT_EQ(missing[0].name, "a/b/");
    EXPECT_EQ(missing[1].name, "c/");
}

TEST_F(Layered, VolumesOfTheImageAreLaidOnce) {
    make("layer", 0700);
    make("engine/_data", 0750, 33);
    std::ofstream{at("engine/_data/seed")} << "seed";
    const std::vector<ImageVolume> volumes{{at("engine/_data"), "/data"}};
    ASSERT_TRUE(lay_volumes(at("layer"), volumes));
    ASSERT_TRUE(fs::is_symlink(at("engine/_data")));
    EXPECT_TRUE(fs::read_symlink(at("engine/_data")).string().starts_with(at("layer/")));
    std::ofstream{at("engine/_data/mine")} << "mine";
    ASSERT_TRUE(lay_volumes(at("layer"), volumes)) << "again, as after a crash";
    EXPECT_TRUE(fs::exists(at("engine/_data/mine")));
    unlay_volumes(volumes);
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(at("engine/_data"))));
    EXPECT_TRUE(fs::is_empty(at("engine/_data")));
    // The next container's: what the layer has counts.
    make("next/_data", 0755);
    std::ofstream{at("next/_data/seed")} << "another";
    ASSERT_TRUE(lay_volumes(at("layer"), std::vector<ImageVolume>{{at("next/_data"), "/data"}}));
    EXPECT_TRUE(fs::exists(at("next/_data/mine")));
    struct stat top{};
    ASSERT_EQ(::stat(at("next/_data").c_str(), &top), 0);
    EXPECT_EQ(top.st_uid, 33U);
    EXPECT_EQ(top.st_mode & 07777, 0750U);
}

}  // namespace
}  // namespace hostler::docker
