#include <gtest/gtest.h>

#include "adapters/disk/testing/monitor.h"
#include "adapters/disk/volumes.h"
#include "core/testing/temp_folder.h"

namespace hostler::disk {
namespace {

// A container that begins while a volume is mounted has a monitor with copies of all mounts of that moment.
TEST(Unmount, AVolumeIsRemovedWhileOtherNamespacesHaveCopiesOfItsMount) {
    if (const auto why = loop_images()->refused(); !why.empty())
        GTEST_SKIP() << "this machine keeps no volumes: " << why;
    const testing::TempFolder folder;
    auto store = VolumeStore::open({.folder = folder.path() + "/volumes"}, loop_images());
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->create("v", HostVolumes::size_min));
    ASSERT_TRUE(store->attach("v", {}));
    const testing::Monitor other;
    ASSERT_TRUE(other.runs);
    const auto removed = store->remove("v");
    EXPECT_TRUE(removed) << removed.error().message;
    EXPECT_TRUE(store->list()->empty());
}

// A crash may leave the mount point without its folder.
TEST(Unmount, AVolumeWithoutItsMountPointIsAttachedAndRemoved) {
    if (const auto why = loop_images()->refused(); !why.empty())
        GTEST_SKIP() << "this machine keeps no volumes: " << why;
    const testing::TempFolder folder;
    const auto point = folder.path() + "/volumes/v/fs";
    auto store = VolumeStore::open({.folder = folder.path() + "/volumes"}, loop_images());
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->create("v", HostVolumes::size_min));
    ASSERT_TRUE(store->release());
    ASSERT_EQ(::rmdir(point.c_str()), 0);
    ASSERT_TRUE(store->attach("v", {}));
    ASSERT_TRUE(store->release());
    ASSERT_EQ(::rmdir(point.c_str()), 0);
    ASSERT_TRUE(store->remove("v"));
    EXPECT_TRUE(store->list()->empty());
}

}  // namespace
}  // namespace hostler::disk
