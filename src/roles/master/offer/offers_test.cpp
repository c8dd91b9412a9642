#include "roles/master/offer/offers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/codec.h"
#include "api/types_placement.h"
#include "api/types_price.h"
#include "api/types_stock.h"
#include "roles/master/billing/prices.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/stock/reclaim.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/api_rig.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct OffersRig : DeskRig {
    OffersRig() {
        estate.zones.edit("lon").place = "London, GB";
        spec("small", "H100", 1), spec("large", "H100", 4), spec("any", "", 1), spec("plain", "", 0);
        host("a", "nj", 2), host("b", "lon", 4), host("c", "lon", 8);
        estate.hosts.edit("h-c").owner = "north";
        estate.hosts.edit("h-c").facts.user_namespaces = true;
        for (GpuFacts& gpu : estate.hosts.edit("h-c").facts.gpus) {
            gpu.model = "L40S 48GB", gpu.vendor = GpuVendor::nvidia;
            gpu.memory_bytes = 46068LL << 20;
        }
    }
    void spec(const std::string& name, const std::string& type, int gpus) {
        estate.specs.add({.name = name,
                          .cpu_milli = 8000,
                          .memory_bytes = std::int64_t{32} << 30,
                          .gpu_type = type,
                          .gpu_count = gpus,
                          .cpu = "8",
                          .memory = "32Gi"});
    }
    // As "spec zone available/ready".
    std::vector<std::string> asked(const std::string& query, const std::string& order = "") {
        pass(1);
        return known(query, order);
    }
    // The same, not counted anew where they need not be.
    std::vector<std::string> known(const std::string& query, const std::string& order = "") {
        const auto found = offers_for(desk, {query, order});
        HOSTLER_ASSERT(found);
        std::vector<std::string> all;
        for (const api::Offer* one : *found)
            all.push_back(fmt::format("{} {} {}/{}", one->spec, one->zone, one->available, one->ready));
        return all;
    }
};

TEST(Offers, AreWhatCouldBeHadNow) {
    OffersRig rig;
    EXPECT_THAT(rig.asked("spec=small,large"), ElementsAre("large lon 1/0", "small lon 4/0", "small nj 2/0"));
    EXPECT_THAT(rig.asked("spec=any"), ElementsAre("any lon 4/0", "any lon 8/0", "any nj 2/0"))
        << "each kind of GPU by itself";
    EXPECT_THAT(rig.asked("spec=plain"), ElementsAre("plain lon 8/0", "plain lon 8/0", "plain nj 8/0"));
    const std::string first = rig.started("one");
    ASSERT_TRUE(cordon_host(rig.desk, "h-b", true));
    EXPECT_THAT(rig.asked("spec=small,large"), ElementsAre("small nj 1/0")) << "what is held is not offered";
}

TEST(Offers, StockIsReady) {
    OffersRig rig;
    ASSERT_TRUE(create_stock(rig.desk, {.number = 2, .spec_name = "small", .zone = "nj"}));
    EXPECT_THAT(rig.asked("spec=small"), ElementsAre("small lon 4/0", "small nj 2/2"));
    EXPECT_THAT(rig.asked("ready>0"), ElementsAre("small nj 2/2"));
    ASSERT_TRUE(cordon_host(rig.desk, "h-a", true));
    EXPECT_THAT(rig.asked("ready>0"), IsEmpty()) << "nothing starts there";
}

TEST(Offers, IdleStockOfOthersThatGivesWayIsTold) {
    OffersRig rig;
    ASSERT_TRUE(create_stock(rig.desk, {.number = 2, .spec_name = "small", .zone = "nj"}));
    ASSERT_TRUE(create_stock(rig.desk, {.number = 3, .spec_name = "small", .zone = "lon"}));
    const auto more = [&](const std::string& query) {
        rig.pass(1);
        std::vector<std::string> all;
        const auto found = offers_for(rig.desk, {query, ""});
        HOSTLER_ASSERT(found);
        for (const api::Offer* one : *found)
            all.push_back(fmt::format("{} {} {}+{}", one->spec, one->zone, one->available, one->reclaimable));
        return all;
    };
    EXPECT_THAT(more("spec=large"), IsEmpty()) << "no policy lets it go";
    const auto may_go = [&](int keep) {
        ASSERT_TRUE(update_stock(rig.desk, {.spec = "small", .reclaim = api::Reclaim::idle, .keep = keep}));
    };
    may_go(0);
    EXPECT_THAT(more("spec=large"), ElementsAre("large lon 0+1"));
    EXPECT_THAT(more("spec=any gpu_type=h100"), ElementsAre("any lon 1+3", "any nj 0+2"));
    EXPECT_THAT(more("spec=small"), ElementsAre("small lon 4+0", "small nj 2+0")) << "its own is ready";
    EXPECT_THAT(more("reclaimable>2"), ElementsAre("any lon 1+3", "plain lon 5+3"));
    may_go(3);
    EXPECT_THAT(more("spec=large"), IsEmpty()) << "two of the three that it takes may go";
    EXPECT_THAT(more("spec=any gpu_type=h100"), ElementsAre("any lon 1+2", "any nj 0+2")) << "each by itself";

    // As many as are told can be had.
    may_go(1);
    for (const int expected : {2, 1, 0}) {
        EXPECT_THAT(more("spec=any zone=nj"), expected > 0 ? std::vector{fmt::format("any nj 0+{}", expected)}
                                                           : std::vector<std::string>{});
        auto asked = DeskRig::request(fmt::format("i-{}", expected));
        asked.spec_name = "any", asked.placement = api::Placement{.zones = {"nj"}};
        EXPECT_EQ(rig.start(asked).has_value(), expected > 0);
    }
}

TEST(Offers, StockOnABrokenGpuIsNotReady) {
    OffersRig rig;
    ASSERT_TRUE(create_stock(rig.desk, {.number = 1, .spec_name = "small", .zone = "nj"}));
    ASSERT_THAT(rig.asked("spec=small zone=nj"), ElementsAre("small nj 2/1"));
    const Claim& held = rig.estate.claims.at(rig.estate.slots.all().begin()->second.claim);
    ASSERT_EQ(held.gpus.size(), 1u);
    rig.estate.hosts.edit(held.host).gpu_states[held.gpus.front()] = {GpuHealth::faulty, "xid 79"};
    EXPECT_THAT(rig.asked("spec=small zone=nj"), ElementsAre("small nj 1/0"));
}

TEST(Offers, AreCountedOncePerSecond) {
    OffersRig rig;
    EXPECT_THAT(rig.known("spec=small zone=nj"), ElementsAre("small nj 2/0"));
    ASSERT_TRUE(cordon_host(rig.desk, "h-a", true));
    EXPECT_THAT(rig.known("spec=small"), ElementsAre("small lon 4/0", "small nj 2/0")) << "pages agree";
    rig.pass(1);
    EXPECT_THAT(rig.known("spec=small"), ElementsAre("small lon 4/0"));
}

TEST(Offers, AreFoundByEachField) {
    OffersRig rig;
    const auto count = [&](const std::string& query) { return rig.asked(query).size(); };
    const std::size_t all = count("");
    for (const auto& [yes, no] : std::vector<std::pair<std::string, std::string>>{
             {"spec=small", "spec=tiny"},
             {"zone=lon", "zone=par"},
             {"gpu_type=l40s", "gpu_type=b200"},
             {"vendor=nvidia", "vendor=amd"},
             {"gpus=4", "gpus=3"},
             {"gpu_memory>=80", "gpu_memory>80Gi"},
             {"gpu_memory=48", "gpu_memory=46"},
             {"cpu>=8", "cpu>8"},
             {"memory<=32", "memory<32Gi"},
             {"isolation=user_namespace", "isolation!=user_namespace,container"},
             {"trust=community", "trust!=trusted,community"},
             {"ready=0", "ready>=1"},
             {"available>=8", "available>8"},
             {"reclaimable=0", "reclaimable>0"},
         }) {
        EXPECT_GT(count(yes), 0u) << yes;
        EXPECT_EQ(count(no), 0u) << no;
        if (yes != "ready=0" && yes != "reclaimable=0" && !yes.starts_with("cpu") &&
            !yes.starts_with("memory"))
            EXPECT_LT(count(yes), all) << yes;
    }
    EXPECT_THAT(rig.asked("gpu_memory>=48 zone=lon trust=trusted"),
                ElementsAre("any lon 4/0", "large lon 1/0", "small lon 4/0"));
    for (std::size_t field = 0; field < api::offer_fields.size(); ++field) {
        if (api::offer_fields[field].name == "price") continue;
        const bool is_text = api::offer_fields[field].kind == api::QueryKind::text ||
                             api::offer_fields[field].kind == api::QueryKind::words;
        EXPECT_EQ(value_of(api::Offer{}, field).index(), is_text ? 0u : 1u) << api::offer_fields[field].name;
    }
}

TEST(Offers, SayWhereAndOnWhat) {
    OffersRig rig;
    const auto found = offers_for(rig.desk, {"spec=any trust=community", ""});
    ASSERT_TRUE(found && found->size() == 1);
    const api::Offer& one = *found->front();
    EXPECT_EQ(one.location, "London, GB");
    EXPECT_EQ(one.gpu_type, "L40S 48GB");
    EXPECT_EQ(one.vendor, "nvidia");
    EXPECT_EQ(one.gpu_memory_bytes, std::int64_t{48} << 30) << "as it is sold, not as its driver counts";
    EXPECT_EQ(one.isolation, "user_namespace");
    EXPECT_EQ(one.cpu + " " + one.memory, "8 32Gi");
}

TEST(Offers, NothingTellsOfHostsOrOfOthers) {
    OffersRig rig;
    (void)rig.started("one", "globex");
    std::string all;
    for (const api::Offer& one : offers(rig.desk))
        all += api::encode<api::List<api::Offer>>({.items = {one}});
    for (const char* secret : {"h-a", "h-b", "h-c", "north", "globex", "GPU-"})
        EXPECT_EQ(all.find(secret), all.npos) << secret;
}

TEST(Offers, ComeInTheOrderThatWasAskedFor) {
    OffersRig rig;
    EXPECT_THAT(rig.asked("spec=any", "available"), ElementsAre("any nj 2/0", "any lon 4/0", "any lon 8/0"));
    EXPECT_THAT(rig.asked("spec=any", "-zone,-available"),
                ElementsAre("any nj 2/0", "any lon 8/0", "any lon 4/0"));
    EXPECT_THAT(rig.asked("spec=small,large", "-gpus"),
                ElementsAre("large lon 1/0", "small lon 4/0", "small nj 2/0"));
}

TEST(Offers, HaveNoPriceWithoutAList) {
    OffersRig rig;
    for (const auto& [query, order, where] : {std::tuple{"", "price", "order"},
                                              {"zone=lon price<3", "", "query"},
                                              {"", "zone,-price", "order"}}) {
        const auto refused = offers_for(rig.desk, {query, order});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "no_price_list");
        EXPECT_EQ(refused.error().message, "no price list is set");
        ASSERT_EQ(refused.error().fields.size(), 1u);
        EXPECT_EQ(refused.error().fields[0].path, where);
    }
}

TEST(GpuMemory, OfOneWithoutItsOwnIsItsHosts) {
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    Host host;
    host.facts.memory_bytes = 120 * gib;
    EXPECT_EQ(memory_of(host, {.model = "GB10 128GB"}), 128 * gib) << "as its data sheet says";
    EXPECT_EQ(memory_of(host, {.model = "Foo 9"}), 120 * gib);
    EXPECT_EQ(memory_of(host, {.model = "Foo 9", .memory_bytes = 24 * gib}), 24 * gib);
    EXPECT_TRUE(has_unified_memory({.model = "GB10 128GB"}));
    EXPECT_TRUE(has_unified_memory({.model = "Foo 9"}));
    EXPECT_FALSE(has_unified_memory({.model = "Foo 9", .memory_bytes = 24 * gib}));
    EXPECT_FALSE(has_unified_memory({.model = "H100 SXM5 80GB"})) << "also while its driver tells nothing";
}

using OffersApi = testing::ApiRig;

TEST_F(OffersApi, HaveNoPriceForWhomPricesAreHidden) {
    desk().estate.specs.add(
        {.name = "small", .cpu_milli = 1000, .gpu_type = "H100", .gpu_count = 1, .cpu = "1"});
    ASSERT_TRUE(set_price(desk(), {.gpu_type = "H100", .amount = "2.50", .currency = "USD"}));
    desk().estate.hosts.edit("h-a").admission.state = Admission::admitted;
    (void)commit();
    const auto ask = [&](const api::Caller& caller) {
        auto answer = hostler::testing::try_run(
            loop, wrapped(api.handlers(), {.method = "GET", .target = "/v1/offers"}, caller, &nowhere));
        HOSTLER_ASSERT(answer);
        return boost::json::parse((**answer).body).at("items").as_array().at(0).as_object();
    };
    api::Caller caller = caller_for("acme");
    EXPECT_EQ(ask(caller).at("price").as_string(), "2.50");
    for (Held& held : caller.principal.held) held.permissions = {Permission::offer_read};
    EXPECT_FALSE(ask(caller).contains("price"));
    EXPECT_FALSE(ask(caller).contains("currency"));
}

}  // namespace
}  // namespace hostler::master
