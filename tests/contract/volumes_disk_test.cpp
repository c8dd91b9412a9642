// Volumes on a real disk: killed at each step, cut off from power at each step and while a program writes,
// full.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "adapters/disk/tool.h"
#include "adapters/disk/volumes.h"
#include "core/testing/temp_folder.h"

namespace hostler::contract {
namespace {

namespace fs = std::filesystem;
using disk::VolumeStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t smallest = HostVolumes::size_min;

VolumeStore open_store(const std::string& folder, std::function<void(std::string_view)> step = {}) {
    auto store = VolumeStore::open({.folder = folder, .before_step = std::move(step)}, disk::loop_images());
    HOSTLER_ASSERT(store);
    return std::move(*store);
}

std::uint64_t usable(const std::string& folder) { return fs::space(folder).capacity; }

int run(std::vector<std::string> words) {
    const auto end = disk::run_tool(std::move(words), std::chrono::seconds{60});
    return end ? end->exit_code : -1;
}

class RealVolumes : public ::testing::Test {
protected:
    void SetUp() override {
        const auto why = disk::loop_images()->refused();
        if (!why.empty()) GTEST_SKIP() << "this machine keeps no volumes: " << why;
    }
    // Also what a test that failed has left, the inner mounts first; their devices go with them.
    void TearDown() override {
        std::vector<std::string> mounted;
        std::ifstream mounts{"/proc/self/mounts"};
        for (std::string source, target, rest; mounts >> source >> target && std::getline(mounts, rest);)
            if (target.starts_with(folder_.path() + "/")) mounted.insert(mounted.begin(), target);
        for (const auto& target : mounted) ::umount2(target.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
        EXPECT_TRUE(mounted.empty() || HasFailure() || IsSkipped()) << ::testing::PrintToString(mounted);
    }
    testing::TempFolder folder_;
    std::string root_ = folder_.path() + "/volumes";
};

// A process of its own does it, and is killed before the n-th step. False: there are not so many.
bool killed_before(const std::string& root, int step, const std::function<Result<>(VolumeStore&)>& act) {
    const pid_t child = ::fork();
    if (child == 0) {
        int count = 0;
        auto store = open_store(root, [&](std::string_view) {
            if (++count == step) ::raise(SIGKILL);
        });
        ::_exit(act(store) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

TEST_F(RealVolumes, KilledAtEachStepLeavesAWholeVolumeOrNone) {
    int steps = 0;
    while (killed_before(root_, ++steps, [](VolumeStore& store) { return store.create("v", smallest); })) {
        auto store = open_store(root_);
        store.sweep();
        const auto there = store.list().value();
        if (!there.empty()) {
            const auto attached = store.attach("v", {});
            ASSERT_TRUE(attached) << "killed before step " << steps << ": " << attached.error().message;
            EXPECT_GT(usable(attached->folder), smallest / 2);
        }
        ASSERT_TRUE(store.remove("v"));
        EXPECT_TRUE(fs::is_empty(root_)) << "killed before step " << steps;
    }
    EXPECT_GT(steps, 8);
    for (steps = 1;; ++steps) {
        auto store = open_store(root_);
        ASSERT_TRUE(store.create("v", smallest));
        const auto attached = store.attach("v", {});
        ASSERT_TRUE(attached);
        std::ofstream{attached->folder + "/kept"} << "what is kept";
        const bool killed =
            killed_before(root_, steps, [](VolumeStore& other) { return other.create("v", 2 * smallest); });
        // The next one asks again, as the agent does, which was told twice or has written down that it began.
        store.sweep();
        const auto now = store.attach("v", {});
        ASSERT_TRUE(now) << "killed before step " << steps << ": " << now.error().message;
        EXPECT_GT(usable(now->folder), smallest / 2);
        ASSERT_TRUE(store.create("v", 2 * smallest)) << "killed before step " << steps;
        EXPECT_GT(usable(now->folder), smallest * 3 / 2);
        std::string kept;
        std::getline(std::ifstream{now->folder + "/kept"}, kept);
        EXPECT_EQ(kept, "what is kept");
        ASSERT_TRUE(store.remove("v"));
        if (!killed) break;
    }
    EXPECT_GT(steps, 4);
    for (steps = 1;; ++steps) {
        auto store = open_store(root_);
        ASSERT_TRUE(store.create("v", smallest) && store.attach("v", {}));
        const bool killed = killed_before(root_, steps, [](VolumeStore& other) { return other.remove("v"); });
        store.sweep();
        const auto there = store.list().value();
        if (!there.empty()) EXPECT_TRUE(store.attach("v", {})) << "killed before step " << steps;
        ASSERT_TRUE(store.remove("v"));
        EXPECT_TRUE(fs::is_empty(root_)) << "killed before step " << steps;
        if (!killed) break;
    }
    EXPECT_GT(steps, 3);
}

TEST_F(RealVolumes, EndsWhereItWasAskedToAndGrowsUnderAProgramThatWrites) {
    auto store = open_store(root_);
    ASSERT_TRUE(store.create("v", smallest));
    const auto attached = store.attach("v", {});
    ASSERT_TRUE(attached);
    const int file = ::open((attached->folder + "/filled").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    EXPECT_EQ(::fallocate(file, 0, 0, static_cast<off_t>(smallest)), -1);
    EXPECT_EQ(errno, ENOSPC);
    ASSERT_EQ(::ftruncate(file, 0), 0);
    // It goes on writing, syncing and reading back while the volume grows around it.
    std::atomic<bool> over = false;
    std::atomic<int> wrong = 0, written = 0;
    std::thread writer{[&] {
        for (int i = 0; !over || i < 5; ++i, ++written) {
            const std::string text = fmt::format("line {:>7}\n", i);
            std::string back(text.size(), ' ');
            const auto at = static_cast<off_t>(i) * static_cast<off_t>(text.size());
            if (::pwrite(file, text.data(), text.size(), at) != static_cast<ssize_t>(text.size()) ||
                ::fdatasync(file) != 0 || ::lseek(file, 0, SEEK_SET) != 0)
                ++wrong;
        }
    }};
    for (const std::uint64_t times : {2U, 3U, 4U}) EXPECT_TRUE(store.create("v", times * smallest));
    over = true;
    writer.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(written, 5);
    EXPECT_EQ(::fallocate(file, 0, 0, static_cast<off_t>(3 * smallest)), 0)
        << "there is room for more than three";
    ::close(file);
    struct stat image{};
    ASSERT_EQ(::stat((root_ + "/v/image").c_str(), &image), 0);
    EXPECT_GE(static_cast<std::uint64_t>(image.st_blocks) * 512, 4 * smallest) << "all of it is set aside";
    EXPECT_EQ(store.remove("v").has_value(), true);
}

TEST_F(RealVolumes, SayHowFullTheyAreInBytes) {
    auto store = open_store(root_);
    ASSERT_TRUE(store.create("v", smallest) && store.create("w", smallest));
    const auto attached = store.attach("v", {});
    ASSERT_TRUE(attached);
    const auto use = [&] { return store.uses().value().at("v"); };
    const DiskUse before = use();
    constexpr std::int64_t block = 4096, piece = 64 << 20;
    const int file = ::open((attached->folder + "/filled").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::fallocate(file, 0, 0, piece), 0);
    EXPECT_NEAR(use().used_bytes.value() - before.used_bytes.value(), piece, block);
    EXPECT_EQ(use().used_inodes.value() - before.used_inodes.value(), 1);
    EXPECT_EQ(use().total_bytes, before.total_bytes);
    off_t at = piece;
    for (off_t step = piece; step >= block; step /= 2)
        while (::fallocate(file, 0, at, step) == 0) at += step;
    ::close(file);
    const DiskUse full = use();
    EXPECT_NEAR(full.used_bytes.value() - before.used_bytes.value(), at, 16 * block)
        << "what a large file needs to find its blocks";
    EXPECT_GT(full.used_bytes.value(), full.total_bytes.value() * 99 / 100);
    EXPECT_LE(full.used_bytes.value(), full.total_bytes.value());
    fs::remove(attached->folder + "/filled");
    // XFS frees what was removed in the background.
    constexpr int looks_max = 1000;
    for (int look = 0; look < looks_max && use().used_inodes != before.used_inodes; ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    EXPECT_EQ(use().used_inodes, before.used_inodes);
    EXPECT_NEAR(use().used_bytes.value(), before.used_bytes.value(), 16 * block);
    EXPECT_FALSE(store.uses().value().contains("w")) << "it was not attached, so it is not mounted";
    ASSERT_TRUE(store.release());
    EXPECT_TRUE(store.uses().value().empty()) << "and nobody takes the host's disk for it";
}

TEST_F(RealVolumes, SayHowFullTheyAreInInodes) {
    auto store = open_store(root_);
    ASSERT_TRUE(store.create("v", smallest));
    const auto attached = store.attach("v", {});
    ASSERT_TRUE(attached);
    const auto use = [&] { return store.uses().value().at("v"); };
    const DiskUse before = use();
    constexpr int files_max = 400'000;
    int files = 0;
    while (files < files_max &&
           ::mknod(fmt::format("{}/{}", attached->folder, files).c_str(), S_IFREG | 0600, 0) == 0)
        ++files;
    EXPECT_EQ(errno, ENOSPC);
    const DiskUse full = use();
    // XFS makes inodes in chunks, and of the last one it counts those beyond its bound as if there were none.
    // What a processor has counted, of those that are there and of those that are free, it tells in batches.
    constexpr std::int64_t chunk = 64, batches = 2 * 128;
    const std::int64_t untold = batches * ::sysconf(_SC_NPROCESSORS_ONLN);
    EXPECT_NEAR(full.used_inodes.value() - before.used_inodes.value(), files, chunk + untold);
    EXPECT_GT(full.used_inodes.value(), full.total_inodes.value() * 99 / 100);
    EXPECT_LE(full.used_inodes.value(), full.total_inodes.value());
    EXPECT_LT(full.used_bytes.value(), full.total_bytes.value() * 9 / 10) << "there is room for bytes";
    EXPECT_TRUE(store.remove("v"));
}

// Dockerd mounts it into a container as it is mounted here.
TEST_F(RealVolumes, NeitherDevicesNorSetuidProgramsOfATenantCountThere) {
    auto store = open_store(root_);
    ASSERT_TRUE(store.create("v", smallest));
    const auto attached = store.attach("v", {});
    ASSERT_TRUE(attached);
    struct statvfs seen{};
    ASSERT_EQ(::statvfs(attached->folder.c_str(), &seen), 0);
    EXPECT_NE(seen.f_flag & ST_NOSUID, 0U);
    EXPECT_NE(seen.f_flag & ST_NODEV, 0U);
    EXPECT_TRUE(store.remove("v"));
}

TEST_F(RealVolumes, IsMountedOnceHoweverManyAgentsAsk) {
    auto store = open_store(root_), again = open_store(root_);
    ASSERT_TRUE(store.create("v", smallest));
    const auto one = store.attach("v", {}), two = again.attach("v", {});
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->folder, two->folder);
    // What a container has mounted outlives the agent's own mount, and the agent comes back to the same
    // device.
    const std::string container = folder_.path() + "/container";
    fs::create_directory(container);
    ASSERT_EQ(::mount(one->folder.c_str(), container.c_str(), nullptr, MS_BIND, nullptr), 0);
    EXPECT_EQ(::umount2((root_ + "/v/fs").c_str(), 0), 0);
    EXPECT_EQ(store.remove("v").error().reason, "volume_in_use");
    EXPECT_THAT(store.list().value(), ElementsAre("v"));
    const auto back = store.attach("v", {});
    ASSERT_TRUE(back) << back.error().message;
    std::ofstream{container + "/x"} << "seen";
    EXPECT_TRUE(fs::exists(back->folder + "/x"));
    struct stat mounted{};
    ASSERT_EQ(::stat(back->folder.c_str(), &mounted), 0);
    ASSERT_EQ(::umount2(container.c_str(), 0), 0);
    ASSERT_TRUE(store.release());
    EXPECT_FALSE(fs::exists(back->folder)) << "nothing is written beside an image that is not mounted";
    ASSERT_TRUE(store.remove("v"));
}

TEST_F(RealVolumes, WhatIsDamagedIsMendedOrRefusedAndNeverShown) {
    auto store = open_store(root_);
    ASSERT_TRUE(store.create("v", smallest) && store.attach("v", {}) && store.release());
    // The first superblock: the others have copies of it.
    const auto spoil = [&](std::uint64_t bytes) {
        std::fstream image{root_ + "/v/image", std::ios::in | std::ios::out | std::ios::binary};
        image << std::string(bytes, '\xff');
    };
    spoil(4096);
    const auto mended = store.attach("v", {});
    ASSERT_TRUE(mended) << mended.error().message;
    EXPECT_THAT(mended->note, HasSubstr("has been repaired"));
    EXPECT_GT(usable(mended->folder), smallest / 2);
    ASSERT_TRUE(store.release());
    spoil(smallest);
    const auto refused = store.attach("v", {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "volume_damaged");
    EXPECT_THAT(store.list().value(), ElementsAre("v")) << "a person may still look at it";
    ASSERT_TRUE(store.remove("v"));
}

// A disk of its own for the volumes: ext4 in a file that lies on XFS, which can copy it at once and as it is
// at that moment. The copy is what the disk would have after its power was cut: what was not synced is not in
// it.
class PowerCut : public RealVolumes {
protected:
    void SetUp() override {
        RealVolumes::SetUp();
        if (IsSkipped()) return;
        for (const auto* folder : {&below_, &outer_, &copy_}) fs::create_directory(*folder);
        make_file(folder_.path() + "/below.img", std::uint64_t{6} << 30);
        ASSERT_EQ(run({"mkfs.xfs", "-q", "-K", folder_.path() + "/below.img"}), 0);
        ASSERT_EQ(run({"mount", "-o", "loop", folder_.path() + "/below.img", below_}), 0);
        make_file(disk_, std::uint64_t{2} << 30);
        ASSERT_EQ(run({"mkfs.ext4", "-q", "-F", "-E", "nodiscard", disk_}), 0);
        ASSERT_EQ(run({"mount", "-o", "loop", disk_, outer_}), 0);
    }
    void TearDown() override {
        for (const auto* folder : {&copy_, &outer_, &below_})
            if (!HasFailure()) ::umount2(folder->c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
        RealVolumes::TearDown();
    }
    static void make_file(const std::string& path, std::uint64_t bytes) {
        std::ofstream{path};
        fs::resize_file(path, bytes);
    }
    // The disk as it is now.
    void cut(const std::string& name) {
        const int from = ::open(disk_.c_str(), O_RDONLY | O_CLOEXEC);
        const int to = ::open((below_ + "/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        EXPECT_EQ(::ioctl(to, FICLONE, from), 0) << std::strerror(errno);
        ::close(from), ::close(to);
        ++cuts_;
    }
    // The machine starts again with such a disk.
    void after(const std::string& name, const std::function<void(VolumeStore&)>& look) {
        SCOPED_TRACE("power cut " + name);
        ASSERT_EQ(run({"mount", "-o", "loop", below_ + "/" + name, copy_}), 0);
        {
            auto store = open_store(copy_ + "/volumes");
            store.sweep();
            look(store);
            ASSERT_TRUE(store.release());
        }
        ASSERT_EQ(::umount2(copy_.c_str(), 0), 0) << std::strerror(errno);
        fs::remove(below_ + "/" + name);
    }

    std::string below_ = folder_.path() + "/below", outer_ = folder_.path() + "/outer",
                copy_ = folder_.path() + "/copy", disk_ = below_ + "/disk";
    int cuts_ = 0;
};

TEST_F(PowerCut, AtEachStepLeavesAWholeVolumeOrNone) {
    std::vector<std::pair<std::string, std::string>> moments;  // Name, and what was acknowledged by then.
    std::string done = "nothing";
    {
        auto store = open_store(outer_ + "/volumes", [&](std::string_view) {
            moments.emplace_back(fmt::format("cut-{}", moments.size()), done);
            cut(moments.back().first);
        });
        const auto now = [&](std::string_view what) {
            done = what;
            moments.emplace_back(fmt::format("cut-{}", moments.size()), done);
            cut(moments.back().first);
        };
        ASSERT_TRUE(store.create("v", smallest));
        now("made");
        ASSERT_TRUE(store.create("v", 2 * smallest));
        now("grown");
        ASSERT_TRUE(store.remove("v"));
        now("removed");
    }
    ASSERT_EQ(::umount2(outer_.c_str(), 0), 0) << std::strerror(errno);
    EXPECT_GT(moments.size(), 18U);
    for (const auto& [name, acknowledged] : moments)
        after(name, [&](VolumeStore& store) {
            const auto there = store.list().value();
            if (acknowledged == "made") EXPECT_THAT(there, ElementsAre("v"));
            if (acknowledged == "removed") EXPECT_THAT(there, IsEmpty());
            if (!there.empty()) {
                const auto attached = store.attach("v", {});
                ASSERT_TRUE(attached) << attached.error().message;
                EXPECT_GT(usable(attached->folder),
                          acknowledged == "grown" ? smallest * 3 / 2 : smallest / 2);
            }
            for (const auto& entry : fs::directory_iterator{copy_ + "/volumes"})
                EXPECT_EQ(entry.path().filename(), "v") << "something half-made was left";
        });
}

TEST_F(PowerCut, KeepsAllThatWasSyncedWhileItGrew) {
    std::vector<std::pair<std::string, int>> moments;  // Name, and how many lines were synced by then.
    std::atomic<int> synced = 0;
    std::atomic<bool> over = false;
    {
        auto store = open_store(outer_ + "/volumes");
        ASSERT_TRUE(store.create("v", smallest));
        const auto attached = store.attach("v", {});
        ASSERT_TRUE(attached);
        std::thread writer{[&synced, &over, path = attached->folder + "/lines"] {
            const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
            while (!over) {
                const std::string line = fmt::format("{:>7}\n", synced.load());
                if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
                    ::fsync(file) != 0)
                    break;
                ++synced;
            }
            ::close(file);
        }};
        constexpr int cuts = 12;
        for (int i = 0; i < cuts; ++i) {
            const int before = synced;
            while (synced < before + 3) std::this_thread::yield();
            if (i == 4) EXPECT_TRUE(store.create("v", 2 * smallest));
            const int certain = synced;
            cut(fmt::format("cut-{}", i));
            moments.emplace_back(fmt::format("cut-{}", i), certain);
        }
        over = true;
        writer.join();
        ASSERT_TRUE(store.release());
    }
    ASSERT_EQ(::umount2(outer_.c_str(), 0), 0) << std::strerror(errno);
    int recovered = 0;
    for (std::size_t i = 0; i < moments.size(); ++i)
        after(moments[i].first, [&, at = i](VolumeStore& store) {
            const auto attached = store.attach("v", {});
            ASSERT_TRUE(attached) << attached.error().message;
            recovered += attached->note.find("recovered") != std::string::npos ? 1 : 0;
            EXPECT_GT(usable(attached->folder), at >= 4 ? smallest * 3 / 2 : smallest / 2);
            std::ifstream lines{attached->folder + "/lines"};
            int count = 0;
            for (std::string line; std::getline(lines, line) && line == fmt::format("{:>7}", count);) ++count;
            EXPECT_GE(count, moments[at].second);
        });
    EXPECT_GT(recovered, 0) << "none of these moments was one in the middle";
}

}  // namespace
}  // namespace hostler::contract
