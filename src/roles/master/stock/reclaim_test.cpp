#include "roles/master/stock/reclaim.h"

#include <gmock/gmock.h>

#include "api/types_placement.h"
#include "api/types_stock.h"
#include "roles/master/http/api.h"
#include "roles/master/placement/placement.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/stock/slots.h"
#include "roles/master/stock/view.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/room_check.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::HasSubstr;

struct ReclaimRig : DeskRig {
    using DeskRig::DeskRig;
    ~ReclaimRig() { EXPECT_EQ(testing::room_is_wrong(desk), ""); }

    void spec(const std::string& name, int gpus) {
        estate.specs.add({.name = name,
                          .cpu_milli = 4000,
                          .memory_bytes = std::int64_t{16} << 30,
                          .gpu_type = "H100",
                          .gpu_count = gpus});
    }
    void policy(const std::string& name, api::Reclaim reclaim, int keep = 0) {
        EXPECT_TRUE(update_stock(desk, {.spec = name, .reclaim = reclaim, .keep = keep}));
    }
    Result<Started> wanting(const std::string& name, const std::string& spec, api::Placement placement = {}) {
        auto asked = request(name);
        asked.spec_name = spec;
        asked.placement = std::move(placement);
        return start(asked);
    }
    const Instance& named(const std::string& name) { return *find_instance(desk, "acme", name); }
    std::vector<Slot> gave_way_to(const std::string& name) {
        std::vector<Slot> slots;
        for (const auto& [id, slot] : estate.slots.all())
            if (slot.gave_way == named(name).id) slots.push_back(slot);
        return slots;
    }
    int idle(const std::string& spec) {
        return static_cast<int>(std::ranges::count_if(estate.slots.all(), [&](const auto& row) {
            return row.second.spec == spec && row.second.phase == SlotPhase::idle;
        }));
    }
    // Its end, as its host tells it.
    void ended(const std::string& name) {
        const std::string id = named(name).id, host = named(name).host;
        run(host, id), answer(id, {.done = true});
        delete_instance(desk, id, "test");
        said[host].erase(id);
        answer(id, {.done = true});
    }
    api::PlacementAnswer explained(const api::ExplainPlacement& request) {
        api::Call call;
        call.caller = {.actor = "key/k-1", .tenant = "acme"};
        return explain_placement(desk, call, request).value();
    }
};

TEST(Reclaim, WithoutAPolicyIdleStockWaitsForItsOwn) {
    ReclaimRig rig;
    rig.host("a"), rig.host("b");
    ASSERT_TRUE(rig.stock(8));
    rig.spec("pair", 2);
    (void)rig.take();
    const auto refused = rig.wanting("one", "pair");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "insufficient_capacity");
    EXPECT_THAT(refused.error().message,
                HasSubstr("2 hosts hold idle stock that is not given up. On host h-a 2 "
                          "GPUs are held by idle stock of small"));
    EXPECT_EQ(refused.error().help, "Have an operator give up idle stock on host h-a.");
    ASSERT_EQ(refused.error().fields.size(), 1u);
    EXPECT_EQ(refused.error().fields[0].path, "stock");
    EXPECT_EQ(refused.error().fields[0].message, "2") << "hosts";
    EXPECT_TRUE(rig.estate.unchanged());

    rig.policy("small", api::Reclaim::idle);
    EXPECT_TRUE(rig.wanting("one", "pair")) << "as was said";
    EXPECT_EQ(rig.wanting("two", "none").error().reason, "invalid");
    EXPECT_EQ(update_stock(rig.desk, {.spec = "none"}).error().reason, "spec_not_found");
}

TEST(Reclaim, AsMuchAsIsNeededGoesInOneCommitAndComesBack) {
    ReclaimRig rig;
    rig.host("a"), rig.host("b");
    ASSERT_TRUE(rig.stock(8));
    rig.spec("pair", 2);
    rig.policy("small", api::Reclaim::idle);
    (void)rig.take();
    ASSERT_TRUE(rig.wanting("one", "pair"));
    const Changes commit = rig.take();
    std::map<std::string, int> uses;
    for (const auto& line : commit.ledger) ++uses[line.use];
    EXPECT_EQ(uses, (std::map<std::string, int>{{"instance", 1}, {"released", 2}}));
    EXPECT_EQ(rig.idle("small"), 6);
    const auto slots = rig.gave_way_to("one");
    ASSERT_EQ(slots.size(), 2u);
    for (const Slot& slot : slots) {
        EXPECT_EQ(slot.phase, SlotPhase::pending);
        EXPECT_TRUE(slot.claim.empty());
        EXPECT_EQ(slot.message, fmt::format("Its place was given up for instance {}.", rig.named("one").id));
    }
    EXPECT_EQ(rig.estate.claims.at(rig.named("one").claim).gpus.size(), 2u);

    // What gave way does not drive others out, however often it is looked at.
    for (int i = 0; i < 3; ++i) fill_stock(rig.desk);
    EXPECT_EQ(rig.idle("small"), 6);
    const api::Stock shown = view_stock(rig.desk, rig.estate.specs.at("small"));
    EXPECT_EQ(shown.missing, 2);
    EXPECT_EQ(shown.reason, "gave_way");
    EXPECT_THAT(shown.message, HasSubstr(fmt::format("given up for instance {}. No host can take 1 H100 GPU",
                                                     rig.named("one").id)));
    ASSERT_FALSE(rig.stock(1, "duo", {}, 2)) << "stock does not drive out stock";

    rig.ended("one");
    EXPECT_EQ(rig.idle("small"), 8);
    for (const auto& [id, slot] : rig.estate.slots.all()) EXPECT_EQ(slot.gave_way + slot.message, "");
}

TEST(Reclaim, SoManyThatStandReadyNeverGo) {
    ReclaimRig rig;
    rig.host("a"), rig.host("b");
    ASSERT_TRUE(rig.stock(8));
    rig.spec("pair", 2);
    rig.policy("small", api::Reclaim::idle, 7);
    EXPECT_FALSE(rig.wanting("one", "pair")) << "only one may go";
    rig.policy("small", api::Reclaim::idle, 6);
    ASSERT_TRUE(rig.wanting("one", "pair"));
    EXPECT_FALSE(rig.wanting("two", "pair"));
    // What lies on a host that takes nothing stands ready for nobody.
    rig.policy("small", api::Reclaim::idle, 4);
    const std::string first = rig.named("one").host;
    ASSERT_TRUE(cordon_host(rig.desk, first, true));
    EXPECT_FALSE(rig.wanting("two", "pair"));
    ASSERT_TRUE(cordon_host(rig.desk, first, false));
    EXPECT_TRUE(rig.wanting("two", "pair"));
    EXPECT_EQ(rig.idle("small"), 4);
}

TEST(Reclaim, TheFewestSlotsGo) {
    ReclaimRig rig;
    rig.host("a", "nj"), rig.host("b", "lon");
    ASSERT_TRUE(rig.stock(4, "small", "nj"));
    ASSERT_TRUE(rig.stock(2, "duo", "lon", 2));
    rig.spec("pair", 2);
    rig.policy("small", api::Reclaim::idle);
    rig.policy("duo", api::Reclaim::idle, 1);
    ASSERT_TRUE(rig.wanting("one", "pair"));
    EXPECT_EQ(rig.named("one").host, "h-b") << "one slot there, two on the other";
    EXPECT_EQ(rig.idle("duo"), 1);
    ASSERT_TRUE(rig.wanting("two", "pair"));
    EXPECT_EQ(rig.named("two").host, "h-a") << "the other one is kept";
    EXPECT_EQ(rig.idle("small"), 2);
}

// As few slots on both hosts: the one on which less is broken up.
TEST(Reclaim, OfHostsWithAsFewTheBestByTheIndex) {
    ReclaimRig rig;
    rig.host("a", "nj", 8), rig.host("b", "lon", 8);
    ASSERT_TRUE(rig.stock(1, "quad", "nj", 4));
    ASSERT_TRUE(rig.stock(1, "duo", "lon", 2));
    ASSERT_TRUE(rig.stock(4, "used", "nj", 1));
    ASSERT_TRUE(rig.stock(6, "used", "lon", 1));
    rig.spec("pair", 2);
    for (const char* one : {"quad", "duo"}) rig.policy(one, api::Reclaim::idle);
    ASSERT_TRUE(rig.wanting("one", "pair"));
    EXPECT_EQ(rig.named("one").host, "h-b");
}

TEST(Reclaim, WhereItsOwnerWishesItAndNotBeforeItsOwnStock) {
    ReclaimRig rig;
    rig.host("a", "nj"), rig.host("b", "lon");
    ASSERT_TRUE(rig.stock(4, "small", "nj"));
    rig.spec("pair", 2);
    rig.policy("small", api::Reclaim::idle);
    ASSERT_TRUE(rig.wanting("own", "small"));
    EXPECT_FALSE(rig.named("own").slot.empty());
    ASSERT_TRUE(rig.wanting("one", "pair"));
    EXPECT_EQ(rig.named("one").host, "h-b") << "there is room";
    EXPECT_EQ(rig.idle("small"), 3);
    ASSERT_TRUE(rig.wanting("two", "pair", {.zones = {"nj"}}));
    EXPECT_EQ(rig.named("two").host, "h-a");
    EXPECT_EQ(rig.gave_way_to("two").size(), 2u);
    fill_stock(rig.desk);
    EXPECT_EQ(rig.idle("small"), 1) << "their slots are wanted in that zone";
    EXPECT_THAT(rig.wanting("three", "pair", {.labels = {{"disk", "nvme"}}}).error().message,
                ::testing::Not(HasSubstr("idle stock")));
}

TEST(Reclaim, AnInstanceThatGetsNoAddressesGivesItBack) {
    ReclaimRig rig{"10.0.0.0/24"};  // One subnet.
    rig.host("a");
    ASSERT_TRUE(rig.stock(4));
    rig.spec("pair", 2);
    rig.policy("small", api::Reclaim::idle);
    rig.started("one", "globex");
    auto asked = DeskRig::request("two");
    asked.spec_name = "pair";
    EXPECT_EQ(rig.start(asked).error().reason, "no_subnet");
    EXPECT_EQ(rig.idle("small"), 3) << "they stand ready again";
}

TEST(Reclaim, IsToldBeforehand) {
    ReclaimRig rig;
    rig.host("a"), rig.host("b");
    ASSERT_TRUE(rig.stock(8));
    EXPECT_TRUE(rig.explained({.spec_name = "small"}).from_stock);
    (void)rig.take();
    auto answer = rig.explained({.gpus = 2});
    ASSERT_TRUE(answer.denial);
    EXPECT_EQ(answer.denial->reasons.at(0).token, "stock");
    EXPECT_EQ(answer.denial->would_help, "Have an operator give up idle stock on host h-a.");
    rig.policy("small", api::Reclaim::idle);
    (void)rig.take();
    answer = rig.explained({.gpus = 3});
    EXPECT_TRUE(answer.fits);
    EXPECT_FALSE(answer.from_stock);
    ASSERT_EQ(answer.gives_way.size(), 1u);
    EXPECT_EQ(answer.gives_way[0].spec_name, "small");
    EXPECT_EQ(answer.gives_way[0].slots, 3);
    EXPECT_EQ(answer.gives_way[0].gpus, 3);
    EXPECT_TRUE(rig.estate.unchanged());
    EXPECT_TRUE(rig.explained({.gpus = 5}).denial->never);
}

TEST(Reclaim, IsToldBeforehandOfSharesAndOfSeveralTasks) {
    ReclaimRig rig;
    rig.host("a"), rig.host("b");
    ASSERT_TRUE(rig.stock(7));
    EXPECT_TRUE(rig.explained({.gpu_milli = 500}).gives_way.empty()) << "there is room";
    ASSERT_TRUE(rig.stock(1));
    (void)rig.take();
    const api::ExplainPlacement share{.gpu_milli = 500}, pairs{.tasks = {{.count = 2, .gpus = 2}}};
    EXPECT_FALSE(rig.explained(share).fits) << "no policy lets it go";
    rig.policy("small", api::Reclaim::idle, 4);
    (void)rig.take();
    const auto told = [&](const api::ExplainPlacement& request) {
        const auto answer = rig.explained(request);
        return answer.fits && answer.gives_way.size() == 1
                   ? fmt::format("{} for {}", answer.gives_way[0].slots, answer.places.size())
                   : "no";
    };
    EXPECT_EQ(told(share), "1 for 1");
    EXPECT_EQ(told({.tasks = {{.count = 2, .gpu_milli = 500}}}), "1 for 2") << "both on one";
    EXPECT_EQ(told(pairs), "4 for 2");
    EXPECT_EQ(told({.tasks = {{.count = 3, .gpus = 1}, {.gpus = 1}}, .together = api::Area::host}),
              "4 for 4");
    rig.policy("small", api::Reclaim::idle, 5);
    EXPECT_EQ(told(pairs), "no") << "three may go";
    rig.policy("small", api::Reclaim::idle);
    EXPECT_EQ(told({.tasks = {{.count = 3, .gpus = 3}}}), "no") << "on two hosts";
    (void)rig.take();
    (void)rig.explained(pairs);
    EXPECT_TRUE(rig.estate.unchanged());
}

TEST(Reclaim, RowsOfBeforeAreNotGivenUp) {
    EXPECT_EQ(decode_body<Spec>(R"({"name":"small","gpu_count":1})")->reclaim, Reclaim::never);
    EXPECT_EQ(decode_body<Slot>(R"({"id":"s-1","phase":"pending"})")->gave_way, "");
    const Spec spec{.name = "small", .reclaim = Reclaim::idle, .keep = 3};
    EXPECT_EQ(decode_body<Spec>(encode_body(spec))->reclaim, Reclaim::idle);
    EXPECT_EQ(decode_body<Spec>(encode_body(spec))->keep, 3);
}

}  // namespace
}  // namespace hostler::master
