#include "roles/master/placement/placement.h"
#include "api/handlers.h"
#include "api/types_placement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/types_common.h"
#include "api/types_host.h"
#include "api/types_instance.h"
#include "api/types_price.h"
#include "api/types_zone.h"
#include "roles/master/billing/prices.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/wishes.h"
#include "roles/master/template/templates.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/room_check.h"
#include "roles/master/zone/zones.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> fields_of(const std::vector<FieldError>& wrong) {
    std::vector<std::string> fields;
    for (const FieldError& one : wrong) fields.push_back(one.path);
    return fields;
}

struct PlacementRig : DeskRig {
    PlacementRig() {
        host("a"), host("b", "lon"), host("c", "lon");
        Host& b = estate.hosts.edit("h-b");
        b.rack = "r1", b.labels = {{"disk", "nvme"}};
    }
    api::CreateInstance wanting(const std::string& name, api::Placement placement) {
        auto wanted = request(name);
        wanted.placement = std::move(placement);
        return wanted;
    }
    std::string started_on(const std::string& name, api::Placement placement) {
        const auto done = start(wanting(name, std::move(placement)));
        if (!done) return done.error().reason;
        return instance(find_instance(desk, "acme", name)->id).host;
    }
    static api::Call call(bool is_operator = false) {
        api::Call made;
        made.caller = caller_for(is_operator ? "" : "acme");
        made.permission = Permission::offer_read;
        return made;
    }
    api::PlacementAnswer explained(const api::ExplainPlacement& request) {
        const auto answer = explain_placement(desk, call(), request);
        HOSTLER_ASSERT(answer);
        EXPECT_EQ(answer->fits, !answer->denial);
        EXPECT_EQ(testing::room_is_wrong(desk), "");
        return *answer;
    }
};

TEST(PlacementRules, TellEverythingThatIsWrong) {
    PlacementRig rig;
    const api::Placement asked{.zones = {"lon", "par"},
                               .hosts = {"a", "h-b", "nobody"},
                               .near = "nj",
                               .gpu_class = "h100",
                               .max_price = "2.5"};
    std::vector<FieldError> wrong;
    const Wishes wishes = wishes_of(rig.desk, asked, "placement.", wrong);
    EXPECT_THAT(fields_of(wrong), ElementsAre("placement.zones[1]", "placement.hosts[2]", "placement.near",
                                              "placement.maxPrice"));
    EXPECT_THAT(wishes.terms.hosts, ElementsAre("h-a", "h-b")) << "by id or name";
    EXPECT_EQ(wishes.terms.gpu_class, "H100");
    EXPECT_EQ(wishes.terms.price_micros, 2'500'000);
    EXPECT_EQ(all_right(wrong).error().reason, "invalid");

    rig.estate.specs.add(
        {.name = "small", .cpu_milli = 4000, .memory_bytes = std::int64_t{16} << 30, .gpu_count = 1});
    const auto priced = rig.start(rig.wanting("one", {.max_price = "3"}));
    ASSERT_FALSE(priced);
    EXPECT_EQ(priced.error().reason, "no_price_list");
    EXPECT_THAT(fields_of(priced.error().fields), ElementsAre("placement.maxPrice"));

    ASSERT_TRUE(set_price(rig.desk, {.gpu_type = "any", .amount = "4", .currency = "EUR"}));
    ASSERT_TRUE(set_price(rig.desk, {.gpu_type = "any", .amount = "2.5", .zone = "lon"}));
    EXPECT_EQ(rig.estate.hosts.at(rig.started_on("one", {.max_price = "2.5"})).zone, "lon");
    EXPECT_EQ(rig.started_on("two", {.max_price = "2.49"}), "placement_impossible");
    EXPECT_EQ(testing::room_is_wrong(rig.desk), "");

    EXPECT_TRUE(may_ask(rig.call(true).caller, asked));
    EXPECT_EQ(may_ask(rig.call().caller, asked).error().reason, "operator_only");
    EXPECT_TRUE(may_ask(rig.call().caller, {.zones = {"lon"}}));
}

TEST(PlacementRules, AreShownAsTheyWereAsked) {
    PlacementRig rig;
    api::Placement asked{.zones = {"lon"},
                         .racks = {"r1"},
                         .hosts = {"h-b"},
                         .near = "51.5,-0.128",
                         .within_km = 30,
                         .model = "h100 sxm5",
                         .gpu_class = "H100",
                         .vendor = api::Vendor::nvidia,
                         .gpu_memory = "48",
                         .isolation = api::Isolation::user_namespace,
                         .trust = api::Trust::trusted,
                         .labels = {{"disk", "nvme"}},
                         .group = "web",
                         .apart = api::Area::rack,
                         .spread = api::Area::zone,
                         .link = api::Link::nvlink,
                         .link_wanted = api::Link::numa};
    std::vector<FieldError> wrong;
    const Wishes wishes = wishes_of(rig.desk, asked, "", wrong);
    ASSERT_TRUE(wrong.empty());
    EXPECT_EQ(wishes.terms.gpu_memory_bytes, std::int64_t{48} << 30);
    asked.gpu_memory = "48Gi";
    EXPECT_EQ(shown_as(wishes), asked);
    EXPECT_EQ(shown_as(Wishes{}), api::Placement{});
    std::vector<FieldError> again;
    EXPECT_EQ(wishes_of(rig.desk, shown_as(wishes), "", again), wishes);
    // As a master before this one wrote it, and one before that.
    Instance stored;
    stored.spec.placement = wishes;
    EXPECT_EQ(decode_body<Instance>(encode_body(stored))->spec.placement, wishes);
    EXPECT_EQ(decode_body<Instance>(R"({"id":"i-1","spec":{"image":"x"}})")->spec.placement, std::nullopt);
    EXPECT_EQ(trust_of(*decode_body<Host>(R"({"id":"h-1","owner":"rackhouse"})")), Trust::community);
}

TEST(PlacementRules, HoldWhereAnInstanceIsPlacedAndPlacedAgain) {
    PlacementRig rig;
    rig.estate.specs.add(
        {.name = "small", .cpu_milli = 4000, .memory_bytes = std::int64_t{16} << 30, .gpu_count = 1});
    EXPECT_EQ(rig.started_on("one", {.labels = {{"disk", "nvme"}}}), "h-b");
    const std::string id = find_instance(rig.desk, "acme", "one")->id;
    EXPECT_EQ(rig.started_on("two", {.labels = {{"disk", "tape"}}}), "placement_impossible");
    EXPECT_EQ(find_instance(rig.desk, "acme", "two"), nullptr) << "a refusal changes nothing";

    rig.run("h-b", id), rig.answer(id, {.done = true});
    ASSERT_TRUE(halt_instance(rig.desk, id, "stopped_by_owner", "test"));
    rig.said["h-b"].clear();
    rig.answer(id, {.done = true});
    ASSERT_EQ(rig.instance(id).phase, InstancePhase::resting);
    ASSERT_TRUE(cordon_host(rig.desk, "h-b", true));
    const auto refused = wake_instance(rig.desk, id);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "insufficient_capacity");
    EXPECT_THAT(refused.error().message, HasSubstr("1 host is cordoned, 2 lack a label"));
    EXPECT_EQ(refused.error().help, "Ask for labels that host h-a has.");
    EXPECT_THAT(fields_of(refused.error().fields), ElementsAre("cordoned", "label"));
    ASSERT_TRUE(update_host(rig.desk, "h-c", {.labels = {{"disk", "nvme"}}}));
    ASSERT_TRUE(wake_instance(rig.desk, id));
    EXPECT_EQ(rig.instance(id).host, "h-c") << "as the hosts are now";
}

TEST(PlacementRules, ASlotIsTakenOnlyWhereItsHostWillDo) {
    PlacementRig rig;
    ASSERT_TRUE(rig.stock(2, "small", "nj"));
    EXPECT_EQ(rig.started_on("one", {.racks = {"r1"}}), "h-b");
    EXPECT_TRUE(rig.instance(find_instance(rig.desk, "acme", "one")->id).slot.empty());
    EXPECT_EQ(rig.started_on("two", {.zones = {"nj", "lon"}, .group = "web"}), "h-a");
    const Instance& two = rig.instance(find_instance(rig.desk, "acme", "two")->id);
    EXPECT_FALSE(two.slot.empty());
    EXPECT_EQ(rig.estate.claims.at(two.claim).group, "web");
    EXPECT_NE(rig.started_on("three", {.group = "web", .apart = api::Area::host}), "h-a");
    const std::string claim = two.claim;
    delete_instance(rig.desk, two.id, "test");
    rig.said["h-a"].clear(), rig.answer(find_instance(rig.desk, "acme", "two")->id, {.done = true});
    EXPECT_EQ(rig.estate.claims.at(claim).use, ClaimUse::stock);
    EXPECT_EQ(rig.estate.claims.at(claim).group, "") << "a slot is of no group";
    EXPECT_EQ(testing::room_is_wrong(rig.desk), "");
}

TEST(PlacementRules, SayWhereTasksWouldGo) {
    PlacementRig rig;
    const auto one = rig.explained({.gpus = 4, .cpu = "8", .placement = {.racks = {"r1"}}});
    ASSERT_EQ(one.places.size(), 1u);
    EXPECT_EQ(one.places[0].host + " " + one.places[0].zone, "h-b lon");
    EXPECT_EQ(one.places[0].gpus.size(), 4u);
    EXPECT_TRUE(rig.estate.claims.all().empty()) << "nothing is held";

    const auto none = rig.explained({.gpus = 5});
    ASSERT_TRUE(none.denial);
    EXPECT_TRUE(none.denial->never);
    EXPECT_THAT(none.denial->reasons, ElementsAre(api::ProblemReason{"gpus", 3}));
    EXPECT_EQ(none.denial->would_help, "Ask for 4 GPUs.");

    const api::PlacementTask pair{.count = 3, .gpus = 4}, share{.gpu_milli = 300};
    EXPECT_EQ(rig.explained({.tasks = {pair}}).places.size(), 3u);
    EXPECT_THAT(rig.explained({.tasks = {pair}, .together = api::Area::zone}).denial->fitting,
                ElementsAre(0, 1));
    EXPECT_EQ(rig.explained({.tasks = {pair, share}}).denial->fitting.size(), 3u)
        << "a share needs a GPU, too";
    const api::PlacementTask apart{
        .count = 4, .gpus = 1, .placement = api::Placement{.group = "w", .apart = api::Area::host}};
    EXPECT_EQ(rig.explained({.tasks = {apart}}).denial->fitting.size(), 3u) << "of each other, too";
    EXPECT_TRUE(rig.explained({.profile = "1g.10gb"}).denial->never);

    const auto wrong = explain_placement(rig.desk, rig.call(), {.spec_name = "none", .profile = "9g.1gb"});
    EXPECT_THAT(fields_of(wrong.error().fields), ElementsAre("specName", "profile"));
    EXPECT_EQ(
        explain_placement(rig.desk, rig.call(), {.gpus = 1, .placement = {.hosts = {"a"}}}).error().reason,
        "operator_only");
    EXPECT_TRUE(
        explain_placement(rig.desk, rig.call(true), {.gpus = 1, .placement = {.hosts = {"a"}}})->fits);
    EXPECT_EQ(explain_placement(rig.desk, rig.call(), {.tenant_id = "globex", .gpus = 1}).error().reason,
              "tenant_differs");
}

TEST(PlacementRules, WhatIsSaidOfAHostStaysUntilItIsSaidOtherwise) {
    PlacementRig rig;
    ASSERT_TRUE(update_host(rig.desk, "h-b", {.labels = {{"net", "ib"}}, .trust = api::Trust::community}));
    EXPECT_EQ(rig.estate.hosts.at("h-b").rack, "r1");
    EXPECT_EQ(rig.estate.hosts.at("h-b").labels,
              (std::map<std::string, std::string>{{"disk", "nvme"}, {"net", "ib"}}));
    ASSERT_TRUE(update_host(rig.desk, "h-b", {.rack = "", .labels = {{"disk", ""}}}));
    EXPECT_EQ(rig.estate.hosts.at("h-b").rack, "");
    EXPECT_EQ(rig.estate.hosts.at("h-b").labels, (std::map<std::string, std::string>{{"net", "ib"}}));
    EXPECT_EQ(trust_of(rig.estate.hosts.at("h-b")), Trust::community);
    api::UpdateHost many;
    for (std::size_t i = 0; i < labels_max; ++i) many.labels[fmt::format("l{}", i)] = "x";
    EXPECT_EQ(update_host(rig.desk, "h-b", many).error().reason, "invalid") << "one more than there may be";
    update_zone(rig.desk, "lon", {.coordinates = "51.5,-0.128"});
    EXPECT_EQ(rig.estate.zones.at("lon").spot, (Spot{51'500'000, -128'000}));
    EXPECT_EQ(testing::room_is_wrong(rig.desk), "");
}

TEST(PlacementRules, ATemplateSaysWhatIsLeftOut) {
    InstanceTemplate from{.name = "train", .image = "demo:1"};
    from.placement =
        Wishes{.terms = {.gpu_class = "H100", .labels = {{"disk", "nvme"}}}, .link_wanted = Link::nvlink};
    auto wanted = DeskRig::request("one");
    wanted.template_name = "train";
    EXPECT_EQ(filled_in({from}, wanted)->placement, shown_as(*from.placement));
    wanted.placement = api::Placement{.gpu_class = "A100", .labels = {{"disk", "hdd"}}, .group = "web"};
    const auto filled = filled_in({from}, wanted)->placement;
    EXPECT_EQ(filled->gpu_class, "A100");
    EXPECT_EQ(filled->labels.at("disk"), "hdd");
    EXPECT_EQ(filled->group, "web");
    EXPECT_EQ(filled->link_wanted, api::Link::nvlink);
}

}  // namespace
}  // namespace hostler::master
