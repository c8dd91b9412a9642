#include "leases_contract.h"

namespace hostler::contract {

TEST_P(LeasesContract, WhatIsGrantedAndWatchedIsReadAlsoAfterARestart) {
    EXPECT_EQ(run(rig_->leases().granted()), std::vector<RunLease>{});
    EXPECT_EQ(run(rig_->leases().watched()), std::vector<WatchedLease>{});
    const std::vector<RunLease> granted = {{"i-1", 1, "boot-1", 600'000'000, 600'000'000},
                                           {"i-2", 7, "boot-1", 1, 2}};
    const std::vector<WatchedLease> watched = {{"i-1", 1, ""}, {"i-2", 7, "nothing of it runs"}};
    ASSERT_TRUE(run(rig_->leases().grant(granted)));
    ASSERT_TRUE(run(rig_->leases().watch(watched)));
    rig_->restart();
    EXPECT_EQ(run(rig_->leases().granted()), granted);
    EXPECT_EQ(run(rig_->leases().watched()), watched);
}

TEST_P(LeasesContract, AListIsReplacedAsAWhole) {
    ASSERT_TRUE(run(rig_->leases().grant({{"i-1", 1, "boot-1", 10, 10}, {"i-2", 1, "boot-1", 10, 10}})));
    ASSERT_TRUE(run(rig_->leases().grant({{"i-2", 2, "boot-1", 20, 10}})));
    EXPECT_EQ(run(rig_->leases().granted()), (std::vector<RunLease>{{"i-2", 2, "boot-1", 20, 10}}));
    ASSERT_TRUE(run(rig_->leases().grant({})));
    EXPECT_EQ(run(rig_->leases().granted()), std::vector<RunLease>{});
}

TEST_P(LeasesContract, ASupervisorIsStartedWhereNoneRuns) {
    ASSERT_TRUE(run(rig_->leases().supervise("boot-1")));
    EXPECT_EQ(rig_->supervisors, 1);
}

}  // namespace hostler::contract
