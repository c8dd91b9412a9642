#include "roles/master/billing/prices.h"

#include <gmock/gmock.h>

#include "api/types_price.h"
#include "roles/master/offer/offers.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct PriceRig : DeskRig {
    Result<const Price*> set(const std::string& gpu, const std::string& amount, const std::string& zone = "",
                             std::optional<std::int64_t> if_version = {}) {
        api::SetPrice request{.gpu_type = gpu, .amount = amount, .currency = "USD", .if_version = if_version};
        if (!zone.empty()) request.zone = zone;
        return set_price(desk, request);
    }
    // "gpu zone amount", those that hold.
    std::vector<std::string> holding() const {
        std::vector<std::string> all;
        for (const auto& [id, price] : estate.prices.all())
            if (price.until == 0)
                all.push_back(
                    fmt::format("{} {} {}", price.terms.gpu_type, price.terms.zone, view(price).amount));
        std::ranges::sort(all);
        return all;
    }
};

TEST(Prices, AreSetAndGiveWay) {
    PriceRig rig;
    ASSERT_TRUE(rig.set("H100", "2.5"));
    ASSERT_TRUE(rig.set("H100", "2", "lon"));
    rig.pass(60);
    const std::int64_t before = rig.estate.micros() - 1;
    ASSERT_TRUE(rig.set("h100", "3"));
    EXPECT_THAT(rig.holding(), ElementsAre("H100 lon 2.00", "h100  3.00")) << "its case does not matter";
    EXPECT_EQ(rig.estate.prices.all().size(), 3u) << "what was used then is priced as it was";
    rig.host("a", "nj");
    const Host& host = rig.estate.hosts.at("h-a");
    EXPECT_EQ(price_on(rig.desk, host, "H100 SXM5 80GB")->amount_micros, 3'000'000);
    EXPECT_EQ(
        price_of(rig.estate.prices.all().as_map(), {"H100 SXM5 80GB", "nj", "trusted", "container"}, before)
            ->amount_micros,
        2'500'000);
    const auto removed = remove_price(rig.desk, {.gpu_type = "H100"});
    ASSERT_TRUE(removed);
    EXPECT_EQ((*removed)->amount_micros, 3'000'000);
    EXPECT_THAT(rig.holding(), ElementsAre("H100 lon 2.00"));
    EXPECT_EQ(remove_price(rig.desk, {.gpu_type = "H100"}).error().reason, "price_not_found");
}

TEST(Prices, TheSameAgainChangesNothing) {
    PriceRig rig;
    ASSERT_TRUE(rig.set("H100", "2.50"));
    (void)rig.take();
    ASSERT_TRUE(rig.set("H100", "2.5"));
    EXPECT_TRUE(rig.estate.unchanged());
}

TEST(Prices, AVersionThatIsNotThereIsRefused) {
    PriceRig rig;
    const auto first = rig.set("H100", "2", "", 0);
    ASSERT_TRUE(first);
    const std::int64_t version = (*first)->version;
    EXPECT_EQ(rig.set("H100", "3", "", 0).error().reason, "price_changed");
    const auto second = rig.set("H100", "3", "", version);
    ASSERT_TRUE(second);
    EXPECT_GT((*second)->version, version);
    EXPECT_EQ(remove_price(rig.desk, {.gpu_type = "H100", .if_version = version}).error().reason,
              "price_changed");
    EXPECT_EQ(remove_price(rig.desk, {.gpu_type = "L40S", .if_version = 3}).error().reason, "price_changed");
    EXPECT_TRUE(remove_price(rig.desk, {.gpu_type = "H100", .if_version = (*second)->version}));
}

TEST(Prices, HoldInOneCurrency) {
    PriceRig rig;
    EXPECT_EQ(set_price(rig.desk, {.gpu_type = "any", .amount = "1"}).error().fields.at(0).path, "currency");
    ASSERT_TRUE(rig.set("any", "1"));
    ASSERT_TRUE(set_price(rig.desk, {.gpu_type = "H100", .amount = "2"})) << "that of the others";
    const auto refused = set_price(rig.desk, {.gpu_type = "H100", .amount = "2", .currency = "EUR"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "currency_differs");
    ASSERT_TRUE(remove_price(rig.desk, {.gpu_type = "any"}));
    EXPECT_TRUE(set_price(rig.desk, {.gpu_type = "H100", .amount = "2", .currency = "EUR"}))
        << "it is the only one";
    EXPECT_EQ(rig.set("any", "1", "par").error().fields.at(0).path, "zone");
}

TEST(Prices, OffersShowThem) {
    PriceRig rig;
    rig.estate.specs.add(
        {.name = "small", .cpu_milli = 8000, .gpu_type = "H100", .gpu_count = 1, .cpu = "8"});
    rig.estate.specs.add(
        {.name = "large", .cpu_milli = 8000, .gpu_type = "H100", .gpu_count = 4, .cpu = "8"});
    rig.estate.specs.add({.name = "plain", .cpu_milli = 8000, .cpu = "8"});
    rig.host("a", "nj", 4), rig.host("b", "lon", 4);
    const auto asked = [&](const std::string& query, const std::string& order = "") {
        std::vector<std::string> all;
        const auto found = offers_for(rig.desk, {query, order});
        EXPECT_TRUE(found);
        for (const api::Offer* one : found.value_or(std::vector<const api::Offer*>{}))
            all.push_back(fmt::format("{} {} {}", one->spec, one->zone, one->price.value_or("-")));
        return all;
    };
    EXPECT_FALSE(offers_for(rig.desk, {"price<3", ""})) << "no price list is set";
    ASSERT_TRUE(rig.set("H100", "2.49", "lon"));
    EXPECT_THAT(asked("price<3"), ElementsAre("small lon 2.49")) << "at once, though offers are kept a while";
    EXPECT_THAT(asked("gpus>0"), ElementsAre("large lon 9.96", "large nj -", "small lon 2.49", "small nj -"));
    ASSERT_TRUE(rig.set("any", "3"));
    EXPECT_THAT(asked("zone=nj", "price"), ElementsAre("small nj 3.00", "large nj 12.00", "plain nj -"));
    EXPECT_THAT(asked("", "-price"), ElementsAre("large nj 12.00", "large lon 9.96", "small nj 3.00",
                                                 "small lon 2.49", "plain lon -", "plain nj -"));
    EXPECT_THAT(asked("price>=2.49 price<=3"), ElementsAre("small lon 2.49", "small nj 3.00"));
    EXPECT_THAT(asked("price!=3 gpus=0"), IsEmpty()) << "nobody knows what it costs";
    for (const auto& [query, order] : {std::pair{"price<3", ""}, std::pair{"", "price"}})
        EXPECT_EQ(offers_for(rig.desk, {query, order}, {}, PriceSight::hidden).error().reason,
                  "permission_missing");
    EXPECT_TRUE(offers_for(rig.desk, {"gpus>0", "gpus"}, {}, PriceSight::hidden));
}

}  // namespace
}  // namespace hostler::master
