#include "roles/master/tenancy/tenancy.h"

#include <gmock/gmock.h>

#include "api/types_instance.h"
#include "api/types_secret.h"
#include "api/types_volume.h"
#include "roles/master/instance/repair.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/secret/secrets.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/testing/index_check.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;

struct Tenancy : ::testing::Test, testing::DeskRig {
    Tenancy() {
        a = host("a");
        HOSTLER_ASSERT(stock(4));
    }
    void make_project(const std::string& name, const std::string& tenant = "acme") {
        ensure_project(desk, tenant, name);
    }
    static api::CreateInstance in_project(const std::string& name, const std::string& project,
                                          const std::string& tenant = "acme") {
        auto wanted = request(name, tenant);
        wanted.project = project;
        return wanted;
    }
    const Instance& started_in(const std::string& name, const std::string& project) {
        const auto done = start(in_project(name, project));
        HOSTLER_ASSERT(done);
        return *find_instance(desk, "acme", name);
    }
    std::string a;
};

TEST_F(Tenancy, ATenantAndItsDefaultProjectAppearWithItsFirstInstance) {
    auto wanted = request("one");
    wanted.tenant_name = "Acme Ltd";
    ASSERT_TRUE(start(wanted));
    EXPECT_EQ(estate.tenants.at("acme").display_name, "Acme Ltd");
    EXPECT_EQ(estate.projects.at("acme/default").name, "default");
    EXPECT_EQ(find_instance(desk, "acme", "one")->project, "default");
    EXPECT_EQ(testing::index_is_wrong(estate), "");
}

TEST_F(Tenancy, ARefusalMakesNoTenant) {
    auto wanted = request("one");
    wanted.spec_name = "unknown";
    ASSERT_FALSE(start(wanted));
    ASSERT_FALSE(create_volume(desk, {.name = "v", .size = "1Gi", .zone = "moon"}, "acme"));
    ASSERT_FALSE(create_secret(desk, {.name = "s"}, "acme"));
    EXPECT_TRUE(estate.tenants.all().empty());
    EXPECT_TRUE(estate.projects.all().empty());
}

TEST_F(Tenancy, AnUnknownProjectIsRefusedWithTheNearestName) {
    make_project("lab");
    const auto refused = start(in_project("one", "lap"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_EQ(refused.error().reason, "project_not_found");
    EXPECT_THAT(refused.error().message, HasSubstr("did you mean lab?"));
    EXPECT_EQ(create_volume(desk, {.name = "v", .size = "1Gi", .project = "lap"}, "acme").error().reason,
              "project_not_found");
    EXPECT_EQ(
        create_secret(desk, {.name = "s", .values = {{"k", "v"}}, .project = "lap"}, "acme").error().reason,
        "project_not_found");
}

TEST_F(Tenancy, DeclaredTenantsAloneAreServedIfTheOperatorSaysSo) {
    ensure_tenant(desk, "acme");
    settings.tenants = TenantsSetting::declared;
    ASSERT_TRUE(start(request("one")));
    const auto refused = start(request("one", "acmee"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_EQ(refused.error().reason, "tenant_not_found");
    EXPECT_THAT(refused.error().message, HasSubstr("did you mean acme?"));
    EXPECT_TRUE(may_enter(desk, "acme"));
    EXPECT_FALSE(may_enter(desk, "acmee"));
    EXPECT_TRUE(may_enter(desk, "")) << "keys and people of the operator belong to no tenant";
}

TEST_F(Tenancy, ProjectsOfATenantHaveNetworksOfTheirOwn) {
    make_project("lab");
    const Instance& one = started_in("one", "default");
    const Instance& two = started_in("two", "lab");
    const Instance& three = started_in("three", "lab");
    ASSERT_EQ(one.host, two.host);
    EXPECT_NE(one.subnet, two.subnet);
    EXPECT_EQ(two.subnet, three.subnet);
    const Subnet& of_one = estate.subnets.at(one.subnet);
    const Subnet& of_two = estate.subnets.at(two.subnet);
    EXPECT_NE(of_one.network, of_two.network);
    EXPECT_EQ(estate.networks.at(of_one.network).name, "default");
    EXPECT_EQ(estate.networks.at(of_two.network).name, "lab");
    EXPECT_EQ(of_two.project, "lab");
    EXPECT_EQ(estate.claims.at(two.claim).project, "lab");
    EXPECT_EQ(testing::index_is_wrong(estate), "");
}

TEST_F(Tenancy, TheNetworkOfAProjectFindsAFreeName) {
    make_project("lab");
    const Instance& one = started_in("one", "default");
    const std::string network = estate.subnets.at(one.subnet).network;
    ASSERT_TRUE(rename_network(desk, network, "lab"));
    const Network& other = estate.networks.at(estate.subnets.at(started_in("two", "lab").subnet).network);
    EXPECT_EQ(other.name, other.id);
}

TEST_F(Tenancy, AnInstanceUsesVolumesAndSecretsOfItsProject) {
    make_project("lab");
    ASSERT_TRUE(create_volume(desk, {.name = "data", .size = "1Gi", .project = "lab"}, "acme"));
    ASSERT_TRUE(create_secret(desk, {.name = "hf", .values = {{"token", "t"}}, .project = "lab"}, "acme"));
    live.hosts[a].takes_secrets = true;
    const auto with_both = [](api::CreateInstance wanted) {
        wanted.template_.volumes = {{"data", "/data"}};
        wanted.secret_envs = {{{"HF_TOKEN", "hf", "token"}}};
        return wanted;
    };
    const auto refused = start(with_both(request("one")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    ASSERT_EQ(refused.error().fields.size(), 2u);
    EXPECT_EQ(refused.error().fields[0].path, "secretEnvs[0].secret");
    EXPECT_THAT(refused.error().fields[0].message, HasSubstr("is in project lab"));
    EXPECT_EQ(refused.error().fields[1].path, "template.volumes[0].name");
    auto by_storage = request("one");
    by_storage.storage_id = "data";
    EXPECT_EQ(start(by_storage).error().fields.at(0).path, "storageID");
    EXPECT_TRUE(start(with_both(in_project("two", "lab"))));
}

TEST_F(Tenancy, ADisabledTenantOrProjectStartsNothingAndKeepsWhatRuns) {
    make_project("lab");
    ASSERT_TRUE(start(in_project("one", "lab")));
    const std::string id = find_instance(desk, "acme", "one")->id;
    run(a, id);
    answer(id, {.done = true});
    estate.projects.edit("acme/lab").disabled_at = 1;
    EXPECT_EQ(start(in_project("two", "lab")).error().reason, "project_disabled");
    EXPECT_EQ(restart_instance(desk, id).error().reason, "project_disabled");
    EXPECT_TRUE(start(request("three"))) << "the tenant's other project is not disabled";
    EXPECT_FALSE(may_enter(desk, "acme", "lab"));
    EXPECT_TRUE(may_enter(desk, "acme", "default"));
    EXPECT_TRUE(may_enter(desk, "acme"));
    estate.tenants.edit("acme").disabled_at = 1;
    const auto refused = start(request("four"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_EQ(refused.error().reason, "tenant_disabled");
    EXPECT_FALSE(may_enter(desk, "acme", "default"));
    EXPECT_FALSE(may_enter(desk, "acme"));
    EXPECT_TRUE(may_enter(desk, "globex"));
    EXPECT_EQ(instance(id).phase, InstancePhase::running);
}

TEST_F(Tenancy, ATenantWhoseRowCannotBeReadIsDisabled) {
    ensure_tenant(desk, "acme");
    ASSERT_TRUE(estate.set_aside({"tenant", "acme", "it is damaged"}));
    EXPECT_TRUE(is_disabled(desk, "acme"));
    EXPECT_EQ(start(request("one")).error().reason, "tenant_disabled");
    ensure_tenants_in_use(desk);
    EXPECT_FALSE(estate.tenants.find("acme")) << "its row is not written over";
}

TEST_F(Tenancy, AStoreWithoutTenantsGetsThoseThatItHasObjectsOf) {
    estate.volumes.add({.id = "v-1", .name = "data", .tenant = "globex"});
    estate.api_keys.add({.id = "k-1", .tenant = "initech"});
    estate.api_keys.add({.id = "k-2", .tenant = "gone", .revoked_at = 1});
    estate.api_keys.add({.id = "k-3"});
    ensure_tenants_in_use(desk);
    EXPECT_TRUE(estate.tenants.find("globex"));
    EXPECT_TRUE(estate.projects.find("globex/default"));
    EXPECT_TRUE(estate.tenants.find("initech"));
    EXPECT_EQ(estate.tenants.all().size(), 2u);
    const std::size_t before = estate.size();
    ensure_tenants_in_use(desk);
    EXPECT_EQ(estate.size(), before);
}

}  // namespace
}  // namespace hostler::master
