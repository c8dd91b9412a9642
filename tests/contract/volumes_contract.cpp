#include "volumes_contract.h"

#include <gmock/gmock.h>

namespace hostler::contract {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

TEST_P(VolumesContract, AVolumeIsMadeOnceAndStays) {
    EXPECT_THAT(all(), IsEmpty());
    const auto path = make("v-1");
    EXPECT_TRUE(path.starts_with("/")) << path;
    EXPECT_NE(make("v-2"), path);
    EXPECT_EQ(make("v-1"), path);
    EXPECT_EQ(folder("v-1"), path);
    EXPECT_THAT(all(), UnorderedElementsAre("v-1", "v-2"));
    rig_->restart();
    EXPECT_EQ(folder("v-1"), path);
    EXPECT_THAT(all(), UnorderedElementsAre("v-1", "v-2"));
}

TEST_P(VolumesContract, AVolumeIsAsLargeAsAskedForAndOnlyGrows) {
    const auto path = make("v-1");
    // A file system needs some of it for itself.
    const auto about = [](std::uint64_t bytes) { return AllOf(Ge(bytes * 3 / 4), Le(bytes)); };
    EXPECT_THAT(rig_->bytes_in("v-1", path), about(size));
    ASSERT_TRUE(run(volumes().create("v-1", 2 * size)));
    EXPECT_THAT(rig_->bytes_in("v-1", folder("v-1")), about(2 * size));
    ASSERT_TRUE(run(volumes().create("v-1", size)));
    EXPECT_THAT(rig_->bytes_in("v-1", folder("v-1")), about(2 * size)) << "nothing shrinks";
    rig_->restart();
    EXPECT_THAT(rig_->bytes_in("v-1", folder("v-1")), about(2 * size));
    EXPECT_THAT(rig_->bytes_in("v-small", make("v-small", 1)), about(size)) << "there is a smallest one";
}

TEST_P(VolumesContract, RemovingMayBeRepeated) {
    make("v-1");
    make("v-2");
    ASSERT_TRUE(run(volumes().remove("v-1")));
    ASSERT_TRUE(run(volumes().remove("v-1")));
    ASSERT_TRUE(run(volumes().remove("v-never")));
    EXPECT_EQ(run(volumes().attach("v-1", {})).error().code, Code::not_found);
    EXPECT_THAT(all(), UnorderedElementsAre("v-2"));
    rig_->restart();
    EXPECT_THAT(all(), UnorderedElementsAre("v-2"));
}

TEST_P(VolumesContract, WhatTheDiskCannotHoldIsRefusedAndLeavesAllAsItWas) {
    const auto room = run(volumes().room()).value();
    EXPECT_EQ(room.refused, "");
    const auto refused = run(volumes().create("v-1", room.bytes + (std::uint64_t{1} << 40)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::exhausted);
    EXPECT_EQ(refused.error().reason, "disk_full");
    EXPECT_THAT(all(), IsEmpty());
    const auto path = make("v-1");
    const auto before = rig_->bytes_in("v-1", path);
    EXPECT_EQ(run(volumes().create("v-1", room.bytes + (std::uint64_t{1} << 40))).error().code,
              Code::exhausted);
    EXPECT_EQ(rig_->bytes_in("v-1", folder("v-1")), before);
}

TEST_P(VolumesContract, TellsHowFullThoseAreThatAreReady) {
    EXPECT_TRUE(run(volumes().uses()).value().empty());
    const auto path = make("v-1");
    const auto uses = run(volumes().uses()).value();
    ASSERT_EQ(uses.size(), 1U);
    const DiskUse& use = uses.at("v-1");
    EXPECT_EQ(static_cast<std::uint64_t>(use.total_bytes.value()), rig_->bytes_in("v-1", path));
    EXPECT_LT(use.used_bytes.value(), use.total_bytes.value() / 4);
    EXPECT_LE(use.used_inodes.value(), use.total_inodes.value() / 4);
    ASSERT_TRUE(run(volumes().remove("v-1")));
    EXPECT_TRUE(run(volumes().uses()).value().empty());
}

TEST_P(VolumesContract, AnIdLeadsNowhereElse) {
    make("v-1");
    for (const auto* id : {"", ".", "..", "../x", "a/b", "/etc", ".hidden", "a b", "v-1/"}) {
        EXPECT_EQ(run(volumes().create(id, 1)).error().code, Code::invalid) << id;
        EXPECT_EQ(run(volumes().remove(id)).error().code, Code::invalid) << id;
        EXPECT_EQ(run(volumes().attach(id, {})).error().code, Code::not_found) << id;
    }
    EXPECT_THAT(all(), UnorderedElementsAre("v-1"));
}

}  // namespace hostler::contract
