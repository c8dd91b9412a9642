#include "domain/report/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hostler::report {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;

constexpr Millis hour = 3'600'000;

Price price(const std::string& id, PriceTerms terms, std::int64_t micros, Millis from, Millis until = 0,
            std::string currency = "USD") {
    return {.id = id,
            .terms = std::move(terms),
            .amount_micros = micros,
            .currency = std::move(currency),
            .from = from * 1000,
            .until = until * 1000};
}

PriceList some() {
    PriceList list;
    list.prices["p-1"] = price("p-1", {.gpu_type = "H100"}, 2'000'000, 0, 5 * hour);
    list.prices["p-2"] = price("p-2", {.gpu_type = "H100"}, 3'000'000, 5 * hour);
    list.prices["p-3"] = price("p-3", {.gpu_type = "H100", .zone = "lon"}, 1'000'000, 0, 8 * hour);
    list.prices["p-4"] = price("p-4", {.gpu_type = "H100", .trust = "community"}, 500'000, 0);
    list.hosts["h-a"] = {.trust = "trusted", .isolation = "container"};
    list.hosts["h-b"] = {.trust = "community", .isolation = "container"};
    return list;
}

series::Labels gpu(const std::string& host, const std::string& zone,
                   const std::string& model = "H100 SXM5 80GB") {
    return {{"host", host}, {"zone", zone}, {"model", model}};
}

TEST(Costs, APriceHoldsUntilAnotherTakesItsPlace) {
    const auto spans = price_spans(some(), gpu("h-a", "nj"), 4 * hour, 10 * hour);
    EXPECT_EQ(span_at(spans, 4 * hour)->micros, 2'000'000);
    EXPECT_EQ(span_at(spans, 5 * hour - 1)->micros, 2'000'000);
    EXPECT_EQ(span_at(spans, 5 * hour)->micros, 3'000'000);
    EXPECT_EQ(span_at(spans, 9 * hour)->micros, 3'000'000);
    EXPECT_EQ(span_at(spans, 3 * hour), nullptr) << "before what was asked";
}

TEST(Costs, TheOneThatSaysMostHolds) {
    const auto lon = price_spans(some(), gpu("h-a", "lon"), 0, 10 * hour);
    EXPECT_EQ(span_at(lon, 7 * hour)->micros, 1'000'000);
    EXPECT_EQ(span_at(lon, 8 * hour)->micros, 3'000'000) << "its own has ended";
    EXPECT_EQ(span_at(price_spans(some(), gpu("h-b", "nj"), 0, hour), 0)->micros, 500'000);
    EXPECT_EQ(span_at(price_spans(some(), gpu("h-gone", "nj"), 0, hour), 0)->micros, 2'000'000)
        << "of a host that nobody knows any more, what is for all";
    EXPECT_EQ(span_at(price_spans(some(), gpu("h-a", "nj", "A100 SXM4 80GB"), 0, hour), 0), nullptr);
    EXPECT_EQ(span_at(price_spans({}, gpu("h-a", "nj"), 0, hour), 0), nullptr);
}

TEST(Costs, SumsAreToldByCurrency) {
    Sums sums;
    const PriceSpan usd{.from = 0, .micros = 2'490'000, .currency = "USD"};
    const PriceSpan eur{.from = 0, .micros = 1'000'000, .currency = "EUR"};
    add_cost(sums, &usd, 5400);
    add_cost(sums, &eur, 3600);
    add_cost(sums, nullptr, 3600);
    EXPECT_THAT(costs_of(sums), ElementsAre(FieldsAre("1.00", "EUR"), FieldsAre("3.74", "USD")));
    EXPECT_TRUE(costs_of({}).empty());
}

}  // namespace
}  // namespace hostler::report
