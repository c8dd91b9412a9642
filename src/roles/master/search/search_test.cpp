#include "roles/master/search/search.h"

#include <gmock/gmock.h>

#include "api/types_search.h"
#include "domain/tenancy/role.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using ::testing::Contains;
using testing::DeskRig;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Searches : DeskRig, ::testing::Test {
    Searches() {
        host("gpu-one");
        EXPECT_TRUE(stock(4, "small", "nj"));
        estate.tenants.add({.id = "zeta", .display_name = "Zeta Labs"});
        estate.users.add({.id = "u-1", .login = "ann@zeta.example", .name = "Ann", .tenant = "zeta"});
        estate.groups.add({.id = "g-1", .name = "zeta-admins", .tenant = "zeta"});
        settings.templates.push_back({.name = "jupyter"});
    }
    api::SearchResult found(const std::string& text, const api::Caller& caller, int limit = 20) {
        return search(desk, caller, {.q = text, .limit = limit});
    }
    // "kind name", best first. `tenant`: whose key asks; empty: an operator's.
    std::vector<std::string> names(const std::string& text, const std::string& tenant = "") {
        std::vector<std::string> all;
        for (const api::SearchHit& hit : found(text, caller_for(tenant)).items)
            all.push_back(hit.kind + " " + hit.name);
        return all;
    }
    // An instance that costs no GPU.
    void resting(const std::string& id, const std::string& name, const std::string& tenant,
                 const std::string& project = "default") {
        Instance one{.id = id, .caller_id = name, .tenant = tenant, .project = project};
        one.phase = InstancePhase::resting;
        estate.instances.add(std::move(one));
    }
    static api::Caller user(BuiltInRole role, const Scope& at) {
        api::Caller caller{.actor = "user/u-9"};
        caller.principal = {.kind = PrincipalKind::user, .id = "u-9", .held = {{at, permissions_of(role)}}};
        return caller;
    }
};

TEST_F(Searches, TheSameComesFirstThenWhatBeginsSoThenWhatContainsIt) {
    resting("i-1", "my-web", "acme"), resting("i-2", "web-2", "acme"), resting("i-3", "web", "acme");
    EXPECT_THAT(names("web", "acme"), ElementsAre("instance web", "instance web-2", "instance my-web"));
    EXPECT_THAT(names("web"), ElementsAre("instance web", "instance web-2", "instance my-web"));
    EXPECT_THAT(names("WEB", "acme"), ElementsAre("instance web", "instance web-2", "instance my-web"));
    EXPECT_THAT(names("i-2", "acme"), ElementsAre("instance web-2"));
    EXPECT_THAT(names("nothing"), IsEmpty());
    const api::SearchHit hit = found("i-3", caller_for("acme")).items.at(0);
    EXPECT_EQ(hit, (api::SearchHit{"instance", "i-3", "web", "stopped", "acme", "default"}));
}

TEST_F(Searches, OperatorsFindAllKinds) {
    const std::string id = volume("zeta-data", "zeta");
    EXPECT_EQ(names("zeta").at(0), "tenant Zeta Labs");
    for (const char* one : {"volume zeta-data", "group zeta-admins", "user ann@zeta.example"})
        EXPECT_THAT(names("zeta"), Contains(one));
    EXPECT_THAT(names(id), ElementsAre("volume zeta-data"));
    EXPECT_THAT(names("gpu-one"), Contains("host gpu-one"));
    EXPECT_THAT(names("h-gpu-one"), ElementsAre("host gpu-one"));
    EXPECT_THAT(names("gpu-gpu-one-2"), ElementsAre("gpu H100 SXM5 80GB"));
    EXPECT_THAT(names("one"), ElementsAre("host gpu-one"));
    EXPECT_THAT(names("small"), ElementsAre("spec small", "stock small"));
    EXPECT_THAT(names("upyte"), ElementsAre("template jupyter"));
    EXPECT_THAT(names("lon"), ElementsAre("zone lon"));
}

TEST_F(Searches, NothingOfOthersIsFound) {
    resting("i-mine", "shared-name", "acme"), resting("i-other", "shared-name", "globex");
    volume("shared-disk", "globex");
    for (const char* text : {"shared", "i-other", "i-", "name", "zeta", "u-1", "g-1", "gpu-one", "h-gpu-one",
                             "GPU-gpu-one-0", "ann"})
        for (const api::SearchHit& hit : found(text, caller_for("acme")).items)
            EXPECT_EQ(hit.tenant_id, "acme") << text << " finds " << hit.kind << " " << hit.id;
    EXPECT_THAT(names("shared", "acme"), ElementsAre("instance shared-name"));
    EXPECT_THAT(names("small", "acme"), ElementsAre("spec small")) << "stock is an operator's to see";
    api::Caller stranger;
    for (const char* text : {"shared", "small", "lon", "jupyter"})
        EXPECT_THAT(found(text, stranger).items, IsEmpty()) << text;
}

TEST_F(Searches, ClustersAreFoundByThoseWhoMayReadThem) {
    estate.clusters.add(
        {.id = "kc-1", .name = "train", .tenant = "acme", .project = "lab", .phase = ClusterPhase::ready});
    estate.clusters.add({.id = "kc-2", .name = "train-2", .tenant = "globex"});
    estate.clusters.add({.id = "kc-3", .name = "train-3", .tenant = "acme", .phase = ClusterPhase::deleted});
    EXPECT_THAT(names("train"), ElementsAre("cluster train", "cluster train-2"));
    EXPECT_THAT(names("kc-1", "acme"), ElementsAre("cluster train"));
    EXPECT_THAT(names("rain", "acme"), ElementsAre("cluster train"));
    EXPECT_THAT(names("kc-1", "globex"), IsEmpty());
    EXPECT_EQ(found("train", caller_for("acme")).items.at(0),
              (api::SearchHit{"cluster", "kc-1", "train", "ready", "acme", "lab"}));
    const auto member_of = [](const char* project) {
        return user(BuiltInRole::member, Scope::of_project("acme", project));
    };
    EXPECT_EQ(found("train", member_of("lab")).items.size(), 1u);
    EXPECT_THAT(found("train", member_of("default")).items, IsEmpty());
}

TEST_F(Searches, AMemberFindsTheirProjectAlone) {
    resting("i-1", "web-lab", "acme", "lab"), resting("i-2", "web-default", "acme");
    const auto lab = found("web", user(BuiltInRole::member, Scope::of_project("acme", "lab"))).items;
    ASSERT_EQ(lab.size(), 1u);
    EXPECT_EQ(lab[0].name, "web-lab");
}

TEST_F(Searches, AProviderFindsItsOwnHosts) {
    estate.hosts.edit("h-gpu-one").owner = "north";
    for (const char* text : {"gpu-one", "h-gpu-one", "GPU-gpu-one-0", "one"}) {
        EXPECT_FALSE(found(text, user(BuiltInRole::provider, Scope::of_provider("north"))).items.empty())
            << text;
        EXPECT_THAT(found(text, user(BuiltInRole::provider, Scope::of_provider("south"))).items, IsEmpty())
            << text;
    }
}

TEST_F(Searches, NothingTellsAProviderOfHostsOfOthers) {
    estate.hosts.edit("h-gpu-one").owner = "north";
    const api::Caller north = user(BuiltInRole::provider, Scope::of_provider("north"));
    const auto rows_of = [&] {
        const std::uint64_t before = estate.rows_visited();
        EXPECT_FALSE(found("-no-such-", north).truncated);
        return estate.rows_visited() - before;
    };
    const std::uint64_t alone = rows_of();
    for (std::size_t i = 0; i <= search_rows_max; ++i)
        estate.hosts.add({.id = fmt::format("h-{:05}", i), .owner = i % 2 == 0 ? "south" : ""});
    EXPECT_EQ(rows_of(), alone);
    EXPECT_FALSE(found("one", north).items.empty());
    EXPECT_TRUE(found("-no-such-", caller_for("")).truncated);
}

TEST_F(Searches, SayWhenThereMayBeMore) {
    for (int i = 0; i < 30; ++i) resting(fmt::format("i-{:02}", i), fmt::format("web-{:02}", i), "acme");
    const api::SearchResult some = found("web", caller_for("acme"), 5);
    EXPECT_EQ(some.items.size(), 5u);
    EXPECT_EQ(some.items.front().name, "web-00");
    EXPECT_TRUE(some.truncated);
    EXPECT_FALSE(found("web-07", caller_for("acme")).truncated);
}

TEST_F(Searches, LookAtABoundedNumberOfRows) {
    const auto rows_of = [&](const std::string& text, const std::string& tenant) {
        const std::uint64_t before = estate.rows_visited();
        const bool cut = found(text, caller_for(tenant)).truncated;
        const std::uint64_t rows = estate.rows_visited() - before;
        EXPECT_LE(rows, search_rows_max + 16 * search_begins_max) << text;
        return std::pair(rows, cut);
    };
    for (int i = 0; i < 12'000; ++i)
        resting(fmt::format("i-{:05}", i), fmt::format("n-{:05}", i), i % 6 == 0 ? "acme" : "globex");
    EXPECT_TRUE(rows_of("-no-such-", "").second) << "not all were compared";
    EXPECT_TRUE(rows_of("-no-such-", "globex").second);
    const auto own = rows_of("-no-such-", "acme");
    EXPECT_FALSE(own.second) << "all 2,000 of the tenant were compared";
    EXPECT_LT(own.first, 2'500u);
    EXPECT_THAT(names("n-11999", ""), ElementsAre("instance n-11999"))
        << "by its name, however many there are";
    EXPECT_THAT(names("i-11999", "globex"), ElementsAre("instance n-11999"));
}

}  // namespace
}  // namespace hostler::master
