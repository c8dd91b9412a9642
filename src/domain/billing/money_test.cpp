#include "domain/billing/money.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(Money, IsReadAndWritten) {
    EXPECT_EQ(parse_money("2.49"), 2'490'000);
    EXPECT_EQ(parse_money("0.000001"), 1);
    EXPECT_EQ(parse_money("3"), 3'000'000);
    EXPECT_EQ(parse_money("1000000000"), money_max_micros);
    EXPECT_EQ(money_text(2'490'000), "2.49");
    EXPECT_EQ(money_text(2'000'000), "2.00");
    EXPECT_EQ(money_text(2'495'000), "2.495");
    EXPECT_EQ(money_text(1), "0.000001");
    for (const std::int64_t micros : {0LL, 7LL, 990'000LL, 123'456'789LL, 999'999'999'999'999LL})
        EXPECT_EQ(parse_money(money_text(micros)), micros);
}

TEST(Money, RefusesWhatIsNoSum) {
    for (const char* text : {"", ".", "2.", ".5", "-1", "+1", "1e3", "2,49", " 2", "2.4900001",
                             "1000000000.01", "99999999999999999999", "2.4.9", "USD"})
        EXPECT_FALSE(parse_money(text)) << text;
}

TEST(Money, CurrenciesAreThreeCapitals) {
    EXPECT_TRUE(is_currency("EUR"));
    for (const char* text : {"", "eur", "EURO", "E1R"}) EXPECT_FALSE(is_currency(text)) << text;
}

}  // namespace
}  // namespace hostler
