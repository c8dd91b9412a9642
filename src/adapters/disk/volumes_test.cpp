#include "adapters/disk/volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/testing/real_timers.h"

namespace hostler::disk {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class VolumeFolders : public ::testing::Test {
protected:
    VolumeFolders() {
        char folder[] = "/tmp/hostler-volumes-XXXXXX";
        folder_ = ::mkdtemp(folder);
        reopen();
    }
    ~VolumeFolders() override {
        worker_.reset();
        fs::remove_all(folder_);
    }
    void reopen() {
        auto opened = open_volumes(*worker_, root());
        ASSERT_TRUE(opened) << opened.error().message;
        volumes_ = std::move(*opened);
    }
    std::string root() const { return (folder_ / "root").string(); }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop_, std::move(task));
    }
    std::string make(std::string id) {
        const auto made = run(volumes_->create(std::move(id), 1000));
        EXPECT_TRUE(made) << made.error().message;
        return made.value_or("");
    }

    Loop loop_;
    std::unique_ptr<Worker> worker_ = make_worker(loop_, "disk");
    fs::path folder_;
    std::unique_ptr<HostVolumes> volumes_;
};

TEST_F(VolumeFolders, LivesAndGoes) {
    const auto path = make("v-1");
    EXPECT_EQ(path, root() + "/v-1");
    struct stat status{};
    ASSERT_EQ(::stat(root().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0777U);
    std::ofstream{path + "/note"} << "kept";
    EXPECT_EQ(make("v-1"), path);  // As it is.
    EXPECT_TRUE(fs::exists(path + "/note"));
    make("v-2");
    EXPECT_THAT(run(volumes_->list()).value(), ElementsAre("v-1", "v-2"));
    EXPECT_EQ(run(volumes_->path("v-1")).value(), path);
    ASSERT_TRUE(run(volumes_->remove("v-1")));
    ASSERT_TRUE(run(volumes_->remove("v-1")));
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(run(volumes_->path("v-1")).error().code, Code::not_found);
    EXPECT_THAT(run(volumes_->list()).value(), ElementsAre("v-2"));
}

TEST_F(VolumeFolders, RemovalFollowsNoLink) {
    const auto outside = folder_ / "outside";
    fs::create_directories(outside / "deep");
    std::ofstream{outside / "deep/precious"} << "x";
    const fs::path path = make("v");
    fs::create_directory_symlink(outside, path / "link");
    fs::create_directories(path / "a/b");
    fs::create_directory_symlink(outside / "deep", path / "a/b/link");
    fs::create_symlink(outside / "deep/precious", path / "a/file");
    fs::create_directories(path / "moved-1/full");
    ::mkfifo((path / "fifo").c_str(), 0600);
    ASSERT_TRUE(run(volumes_->remove("v")));
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(fs::exists(outside / "deep/precious"));
    EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(VolumeFolders, AVolumeThatIsALinkIsNone) {
    const auto outside = folder_ / "outside";
    fs::create_directories(outside / "full");
    fs::create_directory_symlink(outside, fs::path(root()) / "v");
    EXPECT_EQ(run(volumes_->path("v")).error().code, Code::not_found);
    EXPECT_FALSE(run(volumes_->create("v", 1)));
    ASSERT_TRUE(run(volumes_->remove("v")));
    EXPECT_TRUE(fs::exists(outside / "full"));
}

TEST_F(VolumeFolders, DepthCostsNothing) {
    auto path = make("v");
    ASSERT_EQ(::chdir(path.c_str()), 0);
    for (int i = 0; i < 3000; ++i) {
        ASSERT_EQ(::mkdir("d", 0700), 0);
        ASSERT_EQ(::chdir("d"), 0);
    }
    ASSERT_EQ(::chdir("/"), 0);
    ASSERT_TRUE(run(volumes_->remove("v")));
    EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(VolumeFolders, NamesLeadNowhereElse) {
    for (const auto* id : {"", ".", "..", "../x", "a/b", "/etc", ".gone-v", "a b"}) {
        EXPECT_EQ(run(volumes_->create(id, 1)).error().code, Code::invalid) << id;
        EXPECT_EQ(run(volumes_->remove(id)).error().code, Code::invalid) << id;
        EXPECT_EQ(run(volumes_->path(id)).error().code, Code::not_found) << id;
    }
}

TEST_F(VolumeFolders, WhatTheDiskCannotHoldIsRefused) {
    const auto refused = run(volumes_->create("v", std::uint64_t{1} << 60));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::exhausted);
    EXPECT_TRUE(run(volumes_->list())->empty());
}

TEST_F(VolumeFolders, ARemovalThatACrashCutShortIsFinished) {
    fs::create_directories(fs::path(root()) / ".gone-v/full/of");
    fs::create_directories(fs::path(root()) / ".gone-w-new");
    reopen();
    EXPECT_TRUE(run(volumes_->list())->empty());  // In order after the sweep.
    EXPECT_TRUE(fs::is_empty(root()));
}

}  // namespace
}  // namespace hostler::disk
