#include "volumes_contract.h"

#include <gmock/gmock.h>

namespace hostler::contract {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_P(VolumesContract, AVolumeIsMadeOnceAndStays) {
    EXPECT_THAT(all(), IsEmpty());
    const auto path = make("v-1");
    EXPECT_TRUE(path.starts_with("/")) << path;
    EXPECT_NE(make("v-2"), path);
    EXPECT_EQ(make("v-1"), path);
    EXPECT_EQ(run(volumes().create("v-1", 2000)), path) << "it is given back as it is";
    EXPECT_EQ(run(volumes().path("v-1")), path);
    EXPECT_THAT(all(), UnorderedElementsAre("v-1", "v-2"));
    rig_->restart();
    EXPECT_EQ(run(volumes().path("v-1")), path);
    EXPECT_THAT(all(), UnorderedElementsAre("v-1", "v-2"));
}

TEST_P(VolumesContract, RemovingMayBeRepeated) {
    make("v-1");
    make("v-2");
    ASSERT_TRUE(run(volumes().remove("v-1")));
    ASSERT_TRUE(run(volumes().remove("v-1")));
    ASSERT_TRUE(run(volumes().remove("v-never")));
    EXPECT_EQ(run(volumes().path("v-1")).error().code, Code::not_found);
    EXPECT_THAT(all(), UnorderedElementsAre("v-2"));
    rig_->restart();
    EXPECT_THAT(all(), UnorderedElementsAre("v-2"));
}

TEST_P(VolumesContract, WhatTheDiskCannotHoldIsRefusedAndLeavesNothing) {
    const auto refused = run(volumes().create("v-1", std::uint64_t{1} << 60));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::exhausted);
    EXPECT_THAT(all(), IsEmpty());
    make("v-1");
}

TEST_P(VolumesContract, AnIdLeadsNowhereElse) {
    make("v-1");
    for (const auto* id : {"", ".", "..", "../x", "a/b", "/etc", ".hidden", "a b", "v-1/"}) {
        EXPECT_EQ(run(volumes().create(id, 1)).error().code, Code::invalid) << id;
        EXPECT_EQ(run(volumes().remove(id)).error().code, Code::invalid) << id;
        EXPECT_EQ(run(volumes().path(id)).error().code, Code::not_found) << id;
    }
    EXPECT_THAT(all(), UnorderedElementsAre("v-1"));
}

}  // namespace hostler::contract
