#include "domain/billing/price.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

const PricedGpu gpu{"H100 SXM5 80GB", "lon", "trusted", "container"};

struct Prices {
    std::map<std::string, Price> all;
    std::int64_t version = 0;
    void set(const std::string& id, PriceTerms terms, std::int64_t from = 0, std::int64_t until = 0) {
        all[id] = {.id = id, .terms = std::move(terms), .version = ++version, .from = from, .until = until};
    }
    std::string of(const PricedGpu& which = gpu, std::int64_t at = 10) const {
        const Price* found = price_of(all, which, at);
        return found ? found->id : "";
    }
};

TEST(Price, TheOneThatSaysMostHolds) {
    Prices prices;
    EXPECT_EQ(prices.of(), "") << "no list, no price";
    prices.set("any", {});
    EXPECT_EQ(prices.of(), "any");
    prices.set("in lon", {.zone = "lon"});
    EXPECT_EQ(prices.of(), "in lon");
    prices.set("h100", {.gpu_type = "h100"});
    EXPECT_EQ(prices.of(), "h100") << "the model says more than the zone";
    prices.set("h100 in lon", {.gpu_type = "H100", .zone = "lon"});
    EXPECT_EQ(prices.of(), "h100 in lon");
    prices.set("sxm", {.gpu_type = "H100 SXM5"});
    EXPECT_EQ(prices.of(), "sxm");
    EXPECT_EQ(prices.of({"H100 PCIe 80GB", "lon", "trusted", "container"}), "h100 in lon");
    EXPECT_EQ(prices.of({"H100 PCIe 80GB", "nj", "trusted", "container"}), "h100");
    EXPECT_EQ(prices.of({"L40S 48GB", "nj", "trusted", "container"}), "any");
    prices.set("the community's", {.gpu_type = "H100 SXM5", .trust = "community"});
    prices.set("contained", {.gpu_type = "H100 SXM5", .isolation = "container"});
    EXPECT_EQ(prices.of(), "contained");
    EXPECT_EQ(prices.of({"H100 SXM5 80GB", "lon", "community", "container"}), "the community's");
}

TEST(Price, OfEqualsTheOneThatWasSetLast) {
    Prices prices;
    prices.set("b", {.gpu_type = "80GB H100"});
    prices.set("a", {.gpu_type = "H100 SXM5"});
    EXPECT_EQ(prices.of(), "a");
    prices.set("b", {.gpu_type = "80GB H100"});
    EXPECT_EQ(prices.of(), "b");
}

TEST(Price, ThatOfThenIsThere) {
    Prices prices;
    prices.set("first", {.gpu_type = "H100"}, 0, 100);
    prices.set("second", {.gpu_type = "H100"}, 100);
    EXPECT_EQ(prices.of(gpu, 99), "first");
    EXPECT_EQ(prices.of(gpu, 100), "second") << "at each moment one holds";
    prices.all["second"].until = 200;
    EXPECT_EQ(prices.of(gpu, 200), "") << "it was removed";
    EXPECT_EQ(prices.of(gpu, 150), "second");
}

TEST(Price, TermsAreTheSameWhateverTheirCase) {
    EXPECT_TRUE(same_terms({.gpu_type = "h100 sxm5"}, {.gpu_type = "H100 SXM5"}));
    EXPECT_FALSE(same_terms({.gpu_type = "H100"}, {.gpu_type = "H100 SXM5"}));
    EXPECT_FALSE(same_terms({.gpu_type = "H100"}, {.gpu_type = "H100", .zone = "lon"}));
    EXPECT_FALSE(same_terms({.trust = "trusted"}, {}));
}

}  // namespace
}  // namespace hostler
