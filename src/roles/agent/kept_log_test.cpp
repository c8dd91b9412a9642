#include "roles/agent/kept_log.h"

#include <gtest/gtest.h>

namespace hostler::agent {
namespace {

TEST(KeptLog, HasItsTimesOrNot) {
    const std::string kept = kept_log("2026-11-21T11:40:29Z a\n2026-11-21T11:40:30Z b\n");
    EXPECT_EQ(read_kept(kept, false, 100).text, "a\nb\n");
    EXPECT_FALSE(read_kept(kept, false, 100).timed);
    EXPECT_EQ(read_kept(kept, true, 23).text, "2026-11-21T11:40:30Z b\n");
    EXPECT_TRUE(read_kept(kept, true, 23).timed);
}

TEST(KeptLog, OfAnOlderAgentHasNoTimes) {
    EXPECT_EQ(read_kept("a\nb\n", true, 2).text, "b\n");
    EXPECT_FALSE(read_kept("a\nb\n", true, 2).timed);
}

}  // namespace
}  // namespace hostler::agent
