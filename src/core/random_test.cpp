#include "core/random.h"

#include <gtest/gtest.h>

#include <set>

namespace hostler {
namespace {

// Counts upwards: every byte in turn.
class Counting : public Random {
public:
    void fill(std::span<std::uint8_t> into) override {
        for (auto& byte : into) byte = next_++;
    }

private:
    std::uint8_t next_ = 0;
};

TEST(Random, AnIdFitsHostNamesAndLabels) {
    Counting random;
    std::set<char> letters;
    for (int i = 0; i < 26; ++i) {
        const std::string id = new_id(random, "h", 10);
        ASSERT_EQ(id.size(), 12u);
        EXPECT_TRUE(id.starts_with("h-"));
        for (const char c : id.substr(2)) letters.insert(c);
    }
    EXPECT_EQ(letters.size(), 32u) << "each of the letters, and all of them equally often";
    for (const char c : letters) EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '1' && c <= '9')) << c;
    for (const char c : {'i', 'l', 'o', '0'}) EXPECT_FALSE(letters.contains(c));
}

TEST(Random, ASecretHasAPrefixAnd43Letters) {
    Counting random;
    const std::string secret = new_secret(random, "hst");
    EXPECT_EQ(secret.size(), 4u + 43u);
    EXPECT_TRUE(secret.starts_with("hst_"));
    EXPECT_EQ(std::set<char>(secret.begin() + 4, secret.end()).size(), 43u);
    EXPECT_NE(new_secret(random, "hst"), secret);
}

TEST(Random, ANumberTakesAllEightBytes) {
    Counting random;
    EXPECT_EQ(random_number(random), 0x0001020304050607u);
    EXPECT_EQ(random_number(random), 0x08090a0b0c0d0e0fu);
}

}  // namespace
}  // namespace hostler
