#include "roles/access/settings.h"

#include <gtest/gtest.h>

namespace hostler::access {
namespace {

TEST(Settings, EachIsExplainedInItsOrder) {
    std::size_t row = 0;
    boost::mp11::mp_for_each<boost::describe::describe_members<Settings, boost::describe::mod_public>>(
        [&](auto member) {
            ASSERT_LT(row, settings_help.size());
            EXPECT_EQ(settings_help[row].first, member.name);
            EXPECT_FALSE(settings_help[row].second.empty());
            ++row;
        });
    EXPECT_EQ(row, settings_help.size());
}

}  // namespace
}  // namespace hostler::access
