// For tests: that a table of help has one row for each member of a described struct.
#pragma once

#include <gtest/gtest.h>

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>

namespace hostler::testing {

template <class Struct>
void expect_explained(const auto& help) {
    std::size_t row = 0;
    boost::mp11::mp_for_each<boost::describe::describe_members<Struct, boost::describe::mod_public>>(
        [&](auto member) {
            ASSERT_LT(row, help.size());
            EXPECT_EQ(help[row].first, member.name);
            EXPECT_FALSE(help[row].second.empty()) << member.name;
            ++row;
        });
    EXPECT_EQ(row, help.size());
}

}  // namespace hostler::testing
