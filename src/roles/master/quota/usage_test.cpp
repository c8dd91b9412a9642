#include "roles/master/quota/usage.h"

#include <gtest/gtest.h>

#include "roles/master/run/runs.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/usage_check.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

// A host of four GPUs, a spec of one with 4 CPUs and 16 GiB, and an idle slot of it.
struct UsageTest : ::testing::Test, testing::DeskRig {
    UsageTest() {
        a = host("a");
        HOSTLER_ASSERT(stock(1));
    }
    ~UsageTest() override { EXPECT_EQ(testing::usage_is_wrong(desk), ""); }

    Amounts used(const std::string& project = "", const std::string& subject = "") {
        return usage(desk).used("acme", project, subject);
    }
    static Amounts instances(std::int64_t count, std::int64_t running) {
        Amounts amounts;
        if (count > 0) amounts["instances"] = count;
        if (running == 0) return amounts;
        amounts["gpus"] = amounts["gpus:h100 sxm5 80gb"] = running;
        amounts["cpu"] = running * 4000;
        amounts["memory"] = running * 16 * gib;
        return amounts;
    }
    std::string started_by(const std::string& name, const std::string& who) {
        HOSTLER_ASSERT(create_instance(desk, request(name), "digest", std::nullopt, who));
        return find_instance(desk, "acme", name)->id;
    }
    void rest(const std::string& id) {
        HOSTLER_ASSERT(halt_instance(desk, id, "stopped_by_owner", "its owner stopped it"));
        said[instance(id).host].erase(id);
        answer(id, {.done = true});
        HOSTLER_ASSERT(instance(id).phase == InstancePhase::resting);
    }
    std::string a;
};

TEST_F(UsageTest, AnInstanceUsesWhatItsClaimHolds) {
    EXPECT_TRUE(usage(desk).all().empty()) << "idle stock is of no tenant";
    const std::string one = running("one");
    EXPECT_EQ(used(), instances(1, 1)) << "from stock";
    started("two");
    EXPECT_EQ(used(), instances(2, 2)) << "beside it";
    EXPECT_EQ(used("default"), instances(2, 2));
    EXPECT_EQ(used("lab"), Amounts{});
    EXPECT_EQ(usage(desk).used("globex", "", ""), Amounts{});
    rest(one);
    EXPECT_EQ(used(), instances(2, 1)) << "one that rests is still an instance";
    ASSERT_TRUE(wake_instance(desk, one));
    EXPECT_EQ(used(), instances(2, 2));
    note(desk, one, InstanceEvent::fail, "exited", "its container exited with code 3");
    ASSERT_FALSE(instance(one).claim.empty());
    EXPECT_EQ(used(), instances(1, 1)) << "what its host has not left yet costs nothing";
}

TEST_F(UsageTest, VolumesCountWithTheSizeThatTheyGrowTo) {
    const std::string id = volume("data");
    EXPECT_EQ(used(), (Amounts{{"volumes", gib}}));
    ASSERT_TRUE(resize_volume(desk, id, 3 * gib));
    EXPECT_EQ(used(), (Amounts{{"volumes", 3 * gib}}));
    ASSERT_TRUE(delete_volume(desk, id));
    EXPECT_EQ(used(), Amounts{});
}

TEST_F(UsageTest, WhoMadeItIsCountedInTheTenant) {
    started_by("one", "user/u-1");
    started_by("two", "account/sa-1");
    started_by("three", "key/k-1");
    EXPECT_EQ(used("", "user/u-1"), instances(1, 1));
    EXPECT_EQ(used("", "account/sa-1"), instances(1, 1));
    EXPECT_EQ(used("", "key/k-1"), Amounts{}) << "a key is no person";
    EXPECT_EQ(used(), instances(3, 3));
    EXPECT_EQ(estate.claims.at(find_instance(desk, "acme", "one")->claim).created_by, "user/u-1");
}

TEST_F(UsageTest, AModelIsKeptWhenItsHostNoLongerSaysIt) {
    started("one"), started("two", "globex");
    // A claim of an older release says no models: its host does.
    Claim& old = estate.claims.edit(find_instance(desk, "globex", "two")->claim);
    old.gpu_models.clear();
    EXPECT_EQ(amount_of(usage(desk).used("globex", "", ""), "gpus:H100"), 1);
    estate.hosts.edit(a).facts.gpus.clear();
    EXPECT_EQ(used(), instances(1, 1));
    EXPECT_EQ(amount_of(usage(desk).used("globex", "", ""), "gpus:H100"), 0);
    estate.hosts.edit(a).facts = facts_of("a", 4);
    EXPECT_EQ(amount_of(usage(desk).used("globex", "", ""), "gpus:H100"), 1);
}

TEST_F(UsageTest, WhatATrialUndoesIsNotCounted) {
    EXPECT_TRUE(usage(desk).all().empty());
    {
        const Estate::Trial trial{estate};
        const Live::Trial seen{live};
        started("one");
        EXPECT_EQ(used(), instances(1, 1));
    }
    EXPECT_EQ(used(), Amounts{});
}

TEST_F(UsageTest, WhatIsReservedForAMoveCountsOnce) {
    const std::string one = running("one");
    const Claim held = estate.claims.at(instance(one).claim);
    Claim reserved{.id = "c-reserved", .host = a, .zone = "nj", .use = ClaimUse::reserved, .holder = one};
    reserved.cpu_milli = held.cpu_milli;
    reserved.memory_bytes = held.memory_bytes;
    reserved.gpus = {"GPU-a-3"};
    reserved.address_index = 200;
    estate.hold(reserved);
    EXPECT_EQ(used(), instances(1, 1)) << "it runs where it is";
    rest(one);
    EXPECT_EQ(used(), instances(1, 1)) << "its place elsewhere is held";
    estate.release("c-reserved");
    EXPECT_EQ(used(), instances(1, 0));
}

}  // namespace
}  // namespace hostler::master
