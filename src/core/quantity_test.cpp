#include "core/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace hostler {
namespace {

std::int64_t milli(std::string_view text) {
    const auto quantity = parse_quantity(text);
    EXPECT_TRUE(quantity) << text << ": " << (quantity ? "" : quantity.error().message);
    return quantity ? quantity->milli : -1;
}

TEST(Quantity, KnowsEverySuffix) {
    EXPECT_EQ(milli("2000000n"), 2);
    EXPECT_EQ(milli("5000u"), 5);
    EXPECT_EQ(milli("500m"), 500);
    EXPECT_EQ(milli("2"), 2'000);
    EXPECT_EQ(milli("3k"), 3'000'000);
    EXPECT_EQ(milli("3M"), 3'000'000'000);
    EXPECT_EQ(milli("3G"), 3'000'000'000'000);
    EXPECT_EQ(milli("3T"), 3'000'000'000'000'000);
    EXPECT_EQ(milli("3P"), 3'000'000'000'000'000'000);
    EXPECT_EQ(milli("0.001E"), 1'000'000'000'000'000'000);
    EXPECT_EQ(milli("1Ki"), 1024ll * 1000);
    EXPECT_EQ(milli("1Mi"), (1ll << 20) * 1000);
    EXPECT_EQ(milli("1.5Gi"), 3 * (1ll << 29) * 1000);
    EXPECT_EQ(milli("1Ti"), (1ll << 40) * 1000);
    EXPECT_EQ(milli("1Pi"), (1ll << 50) * 1000);
    EXPECT_EQ(milli("0.001Ei"), (1ll << 60));
}

TEST(Quantity, KnowsSignsPointsAndExponents) {
    EXPECT_EQ(milli("+2"), 2'000);
    EXPECT_EQ(milli("-2"), -2'000);
    EXPECT_EQ(milli("-0.5"), -500);
    EXPECT_EQ(milli(".5"), 500);
    EXPECT_EQ(milli("5."), 5'000);
    EXPECT_EQ(milli("3e3"), 3'000'000);
    EXPECT_EQ(milli("3E3"), 3'000'000);
    EXPECT_EQ(milli("3e+3"), 3'000'000);
    EXPECT_EQ(milli("3000e-3"), 3'000);
    EXPECT_EQ(milli("0e99"), 0);
    EXPECT_EQ(milli("00012"), 12'000);
}

TEST(Quantity, RoundsUpWhatIsFinerThanAThousandth) {
    EXPECT_EQ(milli("1n"), 1);
    EXPECT_EQ(milli("1000001n"), 2);
    EXPECT_EQ(milli("0.0001"), 1);
    EXPECT_EQ(milli("1.0000000001"), 1'001);
    EXPECT_EQ(milli("1.0000000000"), 1'000);
    EXPECT_EQ(milli("1e-30"), 1);
    EXPECT_EQ(milli("-0.0001"), -1);
    EXPECT_EQ(Quantity{1}.units(), 1);
    EXPECT_EQ(Quantity{1'000}.units(), 1);
    EXPECT_EQ(Quantity{1'001}.units(), 2);
    EXPECT_EQ(Quantity{-1'500}.units(), -1);
    EXPECT_EQ(Quantity::of_units(3).milli, 3'000);
}

TEST(Quantity, RefusesWhatIsNone) {
    for (const std::string_view text :
         {"",    " ",     "+",      "-",     ".",   "abc", "1 Gi", " 1",  "1 ", "1gi", "1KI",  "1kk",  "1e",
          "1e+", "1e1.5", "1e1000", "1.2.3", "--1", "1mm", "0x10", "1,5", "Gi", "e3",  "1Kii", "1_000"}) {
        const auto quantity = parse_quantity(text);
        ASSERT_FALSE(quantity) << text;
        EXPECT_EQ(quantity.error().code, Code::invalid);
        EXPECT_TRUE(quantity.error().message.contains("write a quantity as")) << quantity.error().message;
    }
}

TEST(Quantity, EndsAtTheRangeOf64Bits) {
    EXPECT_EQ(milli("9223372036854775807m"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(milli("-9223372036854775807m"), -std::numeric_limits<std::int64_t>::max());
    for (const std::string& text :
         {std::string{"9223372036854775808m"}, std::string{"9.3P"}, std::string{"1Ei"}, std::string{"1e99"},
          std::string{"1E"}, std::string(60, '9'), "0." + std::string(60, '1')})
        EXPECT_EQ(parse_quantity(text).error().code, Code::invalid) << text;
}

TEST(Quantity, ComesBackFromItsText) {
    EXPECT_EQ(to_string({0}), "0");
    EXPECT_EQ(to_string({500}), "500m");
    EXPECT_EQ(to_string({2'000}), "2");
    EXPECT_EQ(to_string(Quantity::of_units(3ll << 29)), "1536Mi");
    EXPECT_EQ(to_string(Quantity::of_units(1ll << 50)), "1Pi");
    EXPECT_EQ(to_string(Quantity::of_units(100'000)), "100000");
    EXPECT_EQ(to_string(Quantity::of_units(-1024)), "-1Ki");
    std::int64_t number = 1;
    for (int i = 0; i < 400; ++i) {
        number = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) * 6364136223846793005u +
                                           1442695040888963407u) >>
                 (i % 40);
        const std::int64_t value = number % std::numeric_limits<std::int64_t>::max();
        EXPECT_EQ(milli(to_string({value})), value);
        EXPECT_EQ(milli(to_string({value / 1'024'000 * 1'024'000})), value / 1'024'000 * 1'024'000);
        number ^= i;
    }
}

}  // namespace
}  // namespace hostler
