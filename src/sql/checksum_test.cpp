#include "sql/checksum.h"

#include <gtest/gtest.h>

#include <set>

namespace hostler::sql {
namespace {

TEST(Checksum, IsOfTheFormThatStoresHold) {
    EXPECT_EQ(checksum({}), 0x9e3779b97f4a7c15U);
    EXPECT_EQ(checksum({"a"}), 0x71c4476855aa7b2fU);
    EXPECT_EQ(checksum({"nine bytes", -1}), 0x31d2ecd082ea69c8U);
}

TEST(Checksum, DiffersForEachByteThatChanges) {
    const std::string text = "{\"image\":\"registry.example.com/base:1\",\"gpus\":8}";
    std::set<std::uint64_t> sums{checksum({text, 5})};
    for (std::size_t at = 0; at < text.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {
            std::string changed = text;
            changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
            sums.insert(checksum({changed, 5}));
        }
    for (int bit = 0; bit < 63; ++bit) sums.insert(checksum({text, 5 ^ (std::int64_t{1} << bit)}));
    for (std::size_t size = 0; size < text.size(); ++size) sums.insert(checksum({text.substr(0, size), 5}));
    EXPECT_EQ(sums.size(), 1 + text.size() * 8 + 63 + text.size());
}

TEST(Checksum, KnowsWhereOneValueEnds) {
    EXPECT_NE(checksum({"ab", "c"}), checksum({"a", "bc"}));
    EXPECT_NE(checksum({"ab", ""}), checksum({"", "ab"}));
    EXPECT_NE(checksum({std::string_view{"a\0", 2}}), checksum({"a"}));
    EXPECT_NE(checksum({1, 2}), checksum({2, 1}));
}

}  // namespace
}  // namespace hostler::sql
