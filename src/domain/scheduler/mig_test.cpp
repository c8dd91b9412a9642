#include "domain/scheduler/mig.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Mig, AGpuTakesAsManyOfAProfileAsTheGuideSays) {
    for (const MigFamily& family : mig_families())
        for (const MigProfile& profile : family.profiles) {
            MigGpu gpu;
            int count = 0;
            for (int start = 0; (start = best_start(family, profile, gpu)) >= 0; ++count)
                cut(gpu, profile, start);
            EXPECT_EQ(count, profile.most) << family.pci_ids << " " << profile.name;
            EXPECT_EQ(gpu.count, count);
        }
}

TEST(Mig, OnlyWhereAProfileMayBegin) {
    const MigFamily& a100 = *mig_family("A100 SXM4 80GB");
    const MigProfile& two = *find_profile(a100, mig_profile_number("2g.20gb"));
    const MigProfile& three = *find_profile(a100, mig_profile_number("3g.40gb"));
    MigGpu gpu;
    for (int start = 0; start < 8; ++start) {
        EXPECT_EQ(fits_at(a100, two, gpu, start), start == 0 || start == 2 || start == 4) << start;
        EXPECT_EQ(fits_at(a100, three, gpu, start), start == 0 || start == 4) << start;
    }
    cut(gpu, two, 2);
    EXPECT_TRUE(fits_at(a100, two, gpu, 0));
    EXPECT_FALSE(fits_at(a100, three, gpu, 0)) << "half of it is taken";
    EXPECT_EQ(best_start(a100, three, gpu), 4);
}

TEST(Mig, ASmallSliceLeavesRoomForLargeOnes) {
    const MigFamily& h100 = *mig_family("H100");
    const MigProfile& one = *find_profile(h100, mig_profile_number("1g.10gb"));
    const MigProfile& three = *find_profile(h100, mig_profile_number("3g.40gb"));
    MigGpu gpu;
    for (int i = 0; i < 3; ++i) cut(gpu, one, best_start(h100, one, gpu));
    EXPECT_GE(best_start(h100, three, gpu), 0) << "three small ones lie in one half";
}

TEST(Mig, EnginesAreShared) {
    const MigFamily& pro = *mig_family("RTX PRO 6000 Blackwell Server 96GB");
    const auto profile = [&](const char* name) { return *find_profile(pro, mig_profile_number(name)); };
    MigGpu gpu;
    cut(gpu, profile("1g.24gb+me.all"), 0);
    EXPECT_EQ(best_start(pro, profile("1g.24gb"), gpu), -1) << "all decoders are taken";
    EXPECT_EQ(best_start(pro, profile("1g.24gb+me"), gpu), -1);
    EXPECT_EQ(best_start(pro, profile("1g.24gb-me"), gpu), 3);
}

TEST(Mig, MendingUndoesCutting) {
    const MigFamily& a30 = *mig_family("A30 24GB");
    const MigProfile& two = *find_profile(a30, mig_profile_number("2g.12gb+me"));
    MigGpu gpu;
    cut(gpu, two, 2);
    EXPECT_NE(gpu, MigGpu{});
    mend(gpu, two, 2);
    EXPECT_EQ(gpu, MigGpu{});
}

TEST(Mig, NamesAndModels) {
    EXPECT_EQ(mig_profile_number("9g.1gb"), 0);
    EXPECT_EQ(mig_profile_name(mig_profile_number("1g.10gb+me")), "1g.10gb+me");
    EXPECT_EQ(mig_family("L4 24GB"), nullptr);
    EXPECT_EQ(mig_family("no such GPU"), nullptr);
    EXPECT_EQ(find_profile(*mig_family("A30 24GB"), mig_profile_number("1g.10gb")), nullptr);
    EXPECT_NE(mig_family("H200 SXM 141GB"), nullptr);
}

}  // namespace
}  // namespace hostler
