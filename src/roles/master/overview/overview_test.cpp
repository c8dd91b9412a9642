#include "roles/master/overview/overview.h"

#include <gmock/gmock.h>

#include "api/types_overview.h"
#include "api/types_price.h"
#include "domain/tenancy/role.h"
#include "roles/master/billing/prices.h"
#include "roles/master/instance/view.h"
#include "roles/master/overview/counts.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two hosts of four GPUs, with stock of three slots.
struct Overviews : DeskRig, ::testing::Test {
    Overviews() {
        a = host("a");
        estate.hosts.edit(host("b", "lon")).owner = "north";
        EXPECT_TRUE(stock(3, "small", "nj"));
    }
    // What was followed is what would be counted from the beginning.
    const Counts& counted() {
        const Counts& followed = counts(desk);
        Counts fresh;
        fresh.follow(desk);
        EXPECT_TRUE(followed == fresh);
        return followed;
    }
    api::Overview of(const std::string& tenant) { return overview(desk, caller_for(tenant)); }
    // Of a user who has one role.
    api::Overview of(BuiltInRole role, const Scope& at) {
        api::Caller caller{.actor = "user/u-1"};
        caller.principal = {.kind = PrincipalKind::user, .id = "u-1", .held = {{at, permissions_of(role)}}};
        return overview(desk, caller);
    }
    static std::vector<std::string> words(const std::optional<std::vector<api::StateCount>>& counts) {
        std::vector<std::string> all;
        for (const api::StateCount& one : counts.value_or(std::vector<api::StateCount>{}))
            all.push_back(fmt::format("{} {}", one.count, one.state));
        return all;
    }
    static std::vector<std::string> words(const std::optional<std::vector<api::OverviewGpus>>& gpus) {
        std::vector<std::string> all;
        for (const api::OverviewGpus& one : gpus.value_or(std::vector<api::OverviewGpus>{})) {
            EXPECT_EQ(one.total, one.free + one.claimed + one.stock + one.foreign + one.out_of_service);
            all.push_back(fmt::format("{}: {} free {} claimed {} stock {} foreign {} out {}", one.zone,
                                      one.total, one.free, one.claimed, one.stock, one.foreign,
                                      one.out_of_service));
        }
        return all;
    }
    static std::vector<std::string> waiting(const api::Overview& all) {
        std::vector<std::string> names;
        for (const api::WaitingInstance& one : all.waiting.value_or(std::vector<api::WaitingInstance>{}))
            names.push_back(one.name + " " + one.state);
        return names;
    }
    std::string a;
};

TEST_F(Overviews, ShowATenantItsOwn) {
    running("web");
    pass(10);
    started("slow");
    pass(1);
    started("theirs", "globex");
    counted();
    const api::Overview all = of("acme");
    EXPECT_THAT(words(all.instances), ElementsAre("1 ready", "1 running"));
    EXPECT_THAT(waiting(all), ElementsAre("slow ready"));
    EXPECT_EQ(all.waiting->front().tenant_id, "acme");
    EXPECT_TRUE(all.waiting->front().sentence.starts_with("It is ")) << all.waiting->front().sentence;
    EXPECT_FALSE(all.gpus) << "hosts are not a tenant's to see";
    EXPECT_FALSE(all.hosts);
    EXPECT_FALSE(all.costs) << "no price is set";
    EXPECT_FALSE(all.truncated);
    EXPECT_THAT(waiting(of("")), ElementsAre("theirs ready", "slow ready"));
    EXPECT_THAT(words(of("").instances), ElementsAre("2 ready", "1 running"));
    EXPECT_THAT(words(of("stranger").instances), IsEmpty());
}

TEST_F(Overviews, ShowAMemberTheirProjectAlone) {
    const std::string id = running("web");
    const Scope lab = Scope::of_project("acme", "lab"), own = Scope::of_project("acme", "default");
    EXPECT_THAT(words(of(BuiltInRole::member, own).instances), ElementsAre("1 running"));
    EXPECT_THAT(words(of(BuiltInRole::member, lab).instances), IsEmpty());
    estate.instances.edit(id).project = "lab";
    counted();
    EXPECT_THAT(words(of(BuiltInRole::member, own).instances), IsEmpty());
    EXPECT_THAT(words(of(BuiltInRole::member, lab).instances), ElementsAre("1 running"));
}

TEST_F(Overviews, CountEachGpuOnce) {
    running("web");
    EXPECT_THAT(words(of("").gpus), ElementsAre("lon: 4 free 4 claimed 0 stock 0 foreign 0 out 0",
                                                "nj: 4 free 1 claimed 1 stock 2 foreign 0 out 0"));
    estate.hosts.edit("h-b").cordoned = true;
    counted();
    EXPECT_THAT(words(of("").gpus), ElementsAre("lon: 4 free 0 claimed 0 stock 0 foreign 0 out 4",
                                                "nj: 4 free 1 claimed 1 stock 2 foreign 0 out 0"));
    EXPECT_THAT(words(of("").hosts), ElementsAre("1 cordoned", "1 ready"));
    const Scope north = Scope::of_provider("north");
    EXPECT_THAT(words(of(BuiltInRole::provider, north).gpus),
                ElementsAre("lon: 4 free 0 claimed 0 stock 0 foreign 0 out 4"));
    EXPECT_THAT(words(of(BuiltInRole::provider, north).hosts), ElementsAre("1 cordoned"));
    EXPECT_THAT(words(of(BuiltInRole::provider, Scope::of_provider("south")).hosts), IsEmpty());
    estate.hosts.edit("h-b").phase = HostPhase::retired;
    counted();
    EXPECT_THAT(words(of("").hosts), ElementsAre("1 ready"));
}

TEST_F(Overviews, TellWhatIsStoppedWithinAnHour) {
    const std::string id = running("web"), later = running("later");
    const std::int64_t now = estate.micros(), minute = 60'000'000;
    estate.instances.edit(id).schedule.stop_at = now + 30 * minute;
    estate.instances.edit(later).schedule.stop_at = now + 90 * minute;
    for (const std::string& caller : {"", "acme"}) {
        const api::Overview all = of(caller);
        ASSERT_EQ(all.stopping->size(), 1u) << caller;
        EXPECT_EQ(all.stopping->front().name, "web");
        EXPECT_EQ(all.stopping->front().why, "stop_at");
    }
    EXPECT_THAT(of("globex").stopping.value(), IsEmpty());
}

TEST_F(Overviews, HaveThePriceOfWhatRuns) {
    const std::string id = running("web");
    const api::Caller acme = caller_for("acme");
    running("two"), running("theirs", "globex");
    EXPECT_EQ(view(desk, instance(id), acme).gpu.value().model, "H100 SXM5 80GB");
    EXPECT_FALSE(view(desk, instance(id), acme).gpu->price_per_hour) << "no price is set";
    ASSERT_TRUE(set_price(desk, {.gpu_type = "H100", .amount = "2.50", .currency = "USD"}));
    ASSERT_EQ(of("acme").costs.value().size(), 1u);
    EXPECT_EQ(of("acme").costs->front().per_hour, "5.00");
    EXPECT_EQ(of("acme").costs->front().currency, "USD");
    EXPECT_EQ(of("").costs.value().front().per_hour, "7.50");
    EXPECT_FALSE(of("stranger").costs);
    EXPECT_EQ(view(desk, instance(id), acme).gpu->count, 1);
    EXPECT_EQ(view(desk, instance(id), acme).gpu->price_per_hour, "2.50");
    EXPECT_EQ(view(desk, instance(id), acme).gpu->currency, "USD");
    ASSERT_TRUE(set_price(desk, {.gpu_type = "H100", .amount = "3"}));
    EXPECT_EQ(view(desk, instance(id), acme).gpu->price_per_hour, "3.00");
    api::Caller blind = acme;
    for (Held& held : blind.principal.held) held.permissions = {Permission::instance_read};
    EXPECT_EQ(view(desk, instance(id), blind).gpu->count, 1);
    EXPECT_FALSE(view(desk, instance(id), blind).gpu->price_per_hour) << "prices are not theirs to see";
    EXPECT_FALSE(overview(desk, blind).costs);
    ASSERT_TRUE(remove_price(desk, {.gpu_type = "H100"}));
    EXPECT_FALSE(view(desk, instance(id), acme).gpu->price_per_hour);
}

TEST_F(Overviews, HaveTheFullestQuotasFirst) {
    running("web");
    estate.quotas.add(
        {.id = Quota::id_of("acme", "", ""), .tenant = "acme", .limits = {{"gpus", 8}, {"instances", 1}}});
    estate.quotas.add({.id = Quota::id_of("globex", "", ""), .tenant = "globex", .limits = {{"gpus", 1}}});
    const api::Overview all = of("acme");
    ASSERT_EQ(all.quotas.value().size(), 2u);
    EXPECT_EQ(all.quotas->front().resource, "instances");
    EXPECT_EQ(all.quotas->front().used, "1");
    EXPECT_THAT(of("").quotas.value_or(std::vector<api::OverviewQuota>{}), IsEmpty());
}

TEST_F(Overviews, CountFiringAlerts) {
    alert::Alert mine;
    mine.id = "al-1", mine.tenant = "acme", mine.severity = alert::Severity::critical;
    alert::Alert over = mine;
    over.id = "al-2", over.resolved_at = 5;
    alert::Alert ours;
    ours.id = "al-3";
    for (const alert::Alert& one : {mine, over, ours}) estate.alerts.add(one);
    counted();
    EXPECT_THAT(of("acme").alerts.value(), ElementsAre(api::SeverityCount{"critical", 1}));
    EXPECT_EQ(of("").alerts.value().size(), 2u);
    EXPECT_THAT(of("globex").alerts.value(), IsEmpty());
    estate.alerts.edit("al-1").resolved_at = 7;
    counted();
    EXPECT_THAT(of("acme").alerts.value(), IsEmpty());
}

TEST_F(Overviews, CountJobsThatAreNotOver) {
    Job waits{.id = "j-1", .tenant = "acme"}, runs = waits, theirs = waits, over = waits;
    runs.id = "j-2", runs.phase = JobPhase::running, runs.project = "lab";
    theirs.id = "j-3", theirs.tenant = "globex";
    over.id = "j-4", over.phase = JobPhase::failed;
    for (const Job& one : {waits, runs, theirs, over}) estate.jobs.add(one);
    counted();
    EXPECT_THAT(words(of("acme").jobs), ElementsAre("1 pending", "1 running"));
    EXPECT_THAT(words(of("").jobs), ElementsAre("2 pending", "1 running"));
    EXPECT_THAT(words(of(BuiltInRole::member, Scope::of_project("acme", "lab")).jobs),
                ElementsAre("1 running"));
    EXPECT_FALSE(of(BuiltInRole::provider, Scope::of_provider("north")).jobs);
    estate.jobs.edit("j-1").phase = JobPhase::cancelled;
    counted();
    EXPECT_THAT(words(of("acme").jobs), ElementsAre("1 running"));
}

TEST_F(Overviews, WhatWaitsIsBoundedAndTheNewestComesFirst) {
    for (int i = 0; i < 60; ++i) {
        Instance one{.id = fmt::format("i-{}", i), .caller_id = fmt::format("n-{}", i), .tenant = "acme"};
        one.project = i % 2 == 0 ? "default" : "lab";
        one.phase = InstancePhase::failed;
        one.ended_at = 1000 + i;
        estate.instances.add(std::move(one));
    }
    counted();
    const api::Overview all = of("acme");
    ASSERT_EQ(all.waiting.value().size(), overview_rows_max);
    EXPECT_EQ(all.waiting->front().name, "n-59");
    EXPECT_EQ(all.waiting->back().name, "n-40");
    EXPECT_EQ(of("").waiting.value().front().name, "n-59");
    EXPECT_EQ(of(BuiltInRole::member, Scope::of_project("acme", "lab")).waiting.value().at(1).name, "n-57");
    estate.instances.edit("i-59").deleted = true;
    counted();
    EXPECT_EQ(of("acme").waiting.value().front().name, "n-58");
}

TEST_F(Overviews, ADryRunLeavesNoTrace) {
    counted();
    {
        const Estate::Trial trial{estate};
        const Live::Trial seen{live};
        running("web");
        EXPECT_THAT(words(of("acme").instances), ElementsAre("1 running"));
    }
    counted();
    EXPECT_THAT(words(of("acme").instances), IsEmpty());
}

}  // namespace
}  // namespace hostler::master
