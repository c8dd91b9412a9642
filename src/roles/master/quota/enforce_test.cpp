#include "roles/master/quota/enforce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_common.h"
#include "api/types_instance.h"
#include "api/types_volume.h"
#include "roles/master/instance/explain.h"
#include "roles/master/instance/repair.h"
#include "roles/master/quota/usage.h"
#include "roles/master/run/places.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/usage_check.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t gib = std::int64_t{1} << 30;

// A host of four GPUs, and a spec of one with 4 CPUs and 16 GiB.
struct QuotaRig : testing::DeskRig {
    QuotaRig() {
        a = host("a");
        HOSTLER_ASSERT(stock(1));
        ensure_project(desk, "acme", "lab");
    }
    ~QuotaRig() { EXPECT_EQ(testing::usage_is_wrong(desk), ""); }

    void limit(std::vector<QuotaLimit> limits, const std::string& project = "",
               const std::string& subject = "") {
        Quota quota{.id = Quota::id_of("acme", project, subject),
                    .tenant = "acme",
                    .project = project,
                    .subject = subject,
                    .limits = std::move(limits)};
        if (estate.quotas.find(quota.id)) estate.quotas.erase(std::string{quota.id});
        estate.quotas.add(std::move(quota));
    }
    Result<Started> starts(const std::string& name, const std::string& project = "default",
                           const std::string& who = "", const std::string& spec = "small") {
        auto wanted = request(name);
        wanted.project = project;
        wanted.spec_name = spec;
        return create_instance(desk, wanted, "digest", std::nullopt, who);
    }
    std::string id_of(const std::string& name) { return find_instance(desk, "acme", name)->id; }
    void runs(const std::string& name) {
        const std::string id = id_of(name);
        run(instance(id).host, id);
        answer(id, {.done = true});
    }
    void rest(const std::string& name) {
        const std::string id = id_of(name);
        HOSTLER_ASSERT(halt_instance(desk, id, "stopped_by_owner", "its owner stopped it"));
        said[instance(id).host].erase(id);
        answer(id, {.done = true});
        HOSTLER_ASSERT(instance(id).phase == InstancePhase::resting);
    }
    void ends(const std::string& name) {
        const std::string id = id_of(name);
        delete_instance(desk, id, "test");
        said[instance(id).host].erase(id);
        answer(id, {.done = true});
    }
    std::string a;
};

template <class T>
std::string reason(const Result<T>& result) {
    return result ? "" : result.error().reason;
}

// That would be the work of all instances and jobs for each start.
TEST(Quotas, WithoutQuotasNoUseIsCounted) {
    QuotaRig rig;
    ASSERT_TRUE(rig.starts("one"));
    ASSERT_TRUE(rig.starts("two"));
    EXPECT_TRUE(rig.live.part<Usage>().used("acme", "", "").empty());
    rig.limit({{"gpus", 2}});
    EXPECT_EQ(usage(rig.desk).used("acme", "", "").at("gpus"), 2);
    EXPECT_THAT(rig.starts("three").error().message, HasSubstr("2 are used"));
}

TEST(Quotas, EachResourceIsGivenUpToItsEdge) {
    for (const QuotaLimit& limit : std::vector<QuotaLimit>{{"gpus", 2},
                                                           {"gpus:H100", 2},
                                                           {"gpus:h100-SXM5-80gb", 2},
                                                           {"cpu", 8000},
                                                           {"memory", 32 * gib},
                                                           {"instances", 2}})
        for (const char* project : {"", "default"}) {
            QuotaRig rig;
            rig.limit({limit}, project);
            EXPECT_TRUE(rig.starts("one")) << limit.resource;
            EXPECT_TRUE(rig.starts("two")) << limit.resource;
            const std::size_t rows = rig.estate.size();
            const auto refused = rig.starts("three");
            ASSERT_FALSE(refused) << limit.resource;
            EXPECT_EQ(refused.error().code, Code::exhausted);
            EXPECT_EQ(refused.error().reason, "quota_exceeded");
            EXPECT_EQ(rig.estate.size(), rows) << "a refusal changes nothing";
            EXPECT_TRUE(rig.start(rig.request("one", "globex"))) << "of another tenant";
        }
}

TEST(Quotas, VolumesAreGivenUpToTheEdge) {
    QuotaRig rig;
    rig.limit({{"volumes", 3 * gib}});
    const std::string one = rig.volume("one");
    rig.volume("two");
    EXPECT_TRUE(resize_volume(rig.desk, one, 2 * gib));
    EXPECT_EQ(reason(create_volume(rig.desk, {.name = "three", .size = "1Gi"}, "acme")), "quota_exceeded");
    EXPECT_EQ(reason(resize_volume(rig.desk, one, 3 * gib)), "quota_exceeded");
    EXPECT_TRUE(delete_volume(rig.desk, one));
    EXPECT_TRUE(create_volume(rig.desk, {.name = "three", .size = "2Gi"}, "acme"));
}

TEST(Quotas, ARefusalSaysWhoseUsedLimitAndWhoCanChangeIt) {
    QuotaRig rig;
    rig.limit({{"gpus", 1}}, "lab");
    ASSERT_TRUE(rig.starts("one", "lab"));
    Error error = rig.starts("two", "lab").error();
    EXPECT_EQ(error.message,
              "project lab of tenant acme may use 1 GPU (quota), 1 is used and 1 was asked for");
    EXPECT_THAT(error.help, HasSubstr("An admin of tenant acme"));
    EXPECT_THAT(error.help, HasSubstr("hostler quota set --tenant acme --project lab"));
    rig.limit({{"memory", 20 * gib}});
    error = rig.starts("two").error();
    EXPECT_EQ(error.message,
              "tenant acme may use 20Gi of memory (quota), 16Gi are used and 16Gi were asked for");
    EXPECT_THAT(error.help, HasSubstr("An operator can raise the limit: `hostler quota set --tenant acme`"));
}

TEST(Quotas, OneThatRestsIsStartedWithinTheQuotaAndExplained) {
    QuotaRig rig;
    rig.limit({{"gpus", 2}});
    for (const char* name : {"one", "two"}) ASSERT_TRUE(rig.starts(name)), rig.runs(name);
    rig.rest("one");
    ASSERT_TRUE(rig.starts("three")) << "what rests uses no GPU";
    rig.runs("three");
    const std::string one = rig.id_of("one");
    EXPECT_EQ(reason(wake_instance(rig.desk, one)), "quota_exceeded");
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::resting);
    auto why = explain_instance(rig.desk, rig.instance(one));
    EXPECT_THAT(why.sentence,
                HasSubstr("It cannot be started now: tenant acme may use 2 GPUs (quota), 2 are used"));
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("hostler quota set --tenant acme"));
    rig.ends("three");
    why = explain_instance(rig.desk, rig.instance(one));
    EXPECT_THAT(why.sentence, Not(HasSubstr("quota")));
    EXPECT_TRUE(wake_instance(rig.desk, one));
}

TEST(Quotas, TheMasterMovesWhatItMustWhateverIsUsed) {
    QuotaRig rig;
    ASSERT_TRUE(rig.starts("one"));
    rig.runs("one");
    rig.rest("one");
    rig.limit({{"gpus", 0}});
    EXPECT_EQ(reason(wake_instance(rig.desk, rig.id_of("one"))), "quota_exceeded");
    EXPECT_TRUE(wake_instance(rig.desk, rig.id_of("one"), WantedBy::master));
}

TEST(Quotas, ARetryIsAskedForLikeACreate) {
    QuotaRig rig;
    rig.limit({{"instances", 1}});
    ASSERT_TRUE(rig.starts("one"));
    rig.answer(rig.id_of("one"),
               {.code = "invalid", .reason = "image_unavailable", .message = "it failed", .absent = true});
    ASSERT_EQ(rig.instance(rig.id_of("one")).phase, InstancePhase::failed);
    ASSERT_TRUE(rig.starts("two")) << "what has ended is no longer counted";
    EXPECT_EQ(reason(retry_instance(rig.desk, rig.id_of("one"))), "quota_exceeded");
    EXPECT_THAT(explain_instance(rig.desk, rig.instance(rig.id_of("one"))).sentence,
                HasSubstr("It cannot be started now: tenant acme may use 1 instance (quota)"));
}

TEST(Quotas, AnotherModelIsTakenWhereAClassIsFull) {
    QuotaRig rig;
    const std::string b = rig.host("b");
    for (GpuFacts& gpu : rig.estate.hosts.edit(b).facts.gpus) gpu.model = "A100 SXM4 80GB";
    rig.report(b), rig.report(b);
    rig.estate.specs.add({.name = "any", .cpu_milli = 1000, .memory_bytes = gib, .gpu_count = 1});
    rig.limit({{"gpus:H100", 1}});
    for (const char* name : {"one", "two", "three", "four"})
        EXPECT_TRUE(rig.starts(name, "default", "", "any"));
    EXPECT_LE(amount_of(usage(rig.desk).used("acme", "", ""), "gpus:H100"), 1);
    rig.limit({{"gpus:H100", 0}, {"gpus:A100", 3}});
    EXPECT_EQ(reason(rig.starts("five", "default", "", "any")), "quota_exceeded");
}

TEST(Quotas, WhatIsGuaranteedToAProjectIsLeftForIt) {
    QuotaRig rig;
    rig.limit({{"gpus", 4}});
    rig.limit({{"gpus", 4, 2}}, "lab");
    ASSERT_TRUE(rig.starts("one"));
    ASSERT_TRUE(rig.starts("two"));
    const auto refused = rig.starts("three");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "tenant acme may use 4 GPUs (quota), 2 are used, 2 are guaranteed to other projects and 1 was "
              "asked for");
    EXPECT_THAT(refused.error().help, HasSubstr("An admin of the tenant can change what is guaranteed"));
    ASSERT_TRUE(rig.starts("three", "lab"));
    ASSERT_TRUE(rig.starts("four", "lab"));
    // What another project does not need is borrowed.
    QuotaRig other;
    other.limit({{"gpus", 4}});
    other.limit({{"gpus", 4, 1}}, "lab");
    for (const char* name : {"one", "two", "three"}) ASSERT_TRUE(other.starts(name, "lab"));
    ASSERT_TRUE(other.starts("four")) << "lab has had its own";
}

TEST(Quotas, AUsersQuotaCountsWhatTheyMadeInAllProjects) {
    QuotaRig rig;
    rig.limit({{"gpus", 1}}, "", "user/u-1");
    ASSERT_TRUE(rig.starts("one", "lab", "user/u-1"));
    EXPECT_EQ(reason(rig.starts("two", "default", "user/u-1")), "quota_exceeded");
    EXPECT_TRUE(rig.starts("two", "default", "user/u-2"));
    EXPECT_TRUE(rig.starts("three", "default", "key/k-1"));
}

TEST(Quotas, ALimitBelowWhatIsUsedTakesNothingAway) {
    QuotaRig rig;
    for (const char* name : {"one", "two"}) ASSERT_TRUE(rig.starts(name)), rig.runs(name);
    rig.limit({{"instances", 1}});
    EXPECT_FALSE(rig.instance(rig.id_of("one")).claim.empty());
    EXPECT_EQ(rig.starts("three").error().message,
              "tenant acme may use 1 instance (quota), 2 are used and 1 was asked for");
    EXPECT_TRUE(restart_instance(rig.desk, rig.id_of("one"))) << "it takes nothing new";
    rig.runs("one");
    rig.ends("one"), rig.ends("two");
    EXPECT_TRUE(rig.starts("three"));
}

}  // namespace
}  // namespace hostler::master
