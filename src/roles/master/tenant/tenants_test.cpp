#include "roles/master/tenant/tenants.h"

#include <gmock/gmock.h>

#include "domain/tenancy/role.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/testing/api_rig.h"
#include "roles/master/testing/index_check.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct TenantsApi : testing::ApiRig {
    TenantsApi() { HOSTLER_ASSERT(call("", "POST", "/stocks", stocks(4)).status == 200); }
    // "" asks as an operator, "NAME" by a key of the tenant, "admin of NAME" as a person.
    api::Reply call(const std::string& who, const std::string& method, const std::string& target,
                    const std::string& body = "") {
        constexpr std::string_view admin = "admin of ";
        if (!who.starts_with(admin)) return ApiRig::call(who, method, target, body);
        const std::string tenant = who.substr(admin.size());
        api::Caller caller = caller_for(tenant);
        caller.principal = {.kind = PrincipalKind::user,
                            .id = "u-1",
                            .held = {{Scope::of_tenant(tenant), permissions_of(BuiltInRole::tenant_admin)}}};
        return **hostler::testing::try_run(
            loop,
            wrapped(api.handlers(), {.method = method, .target = target, .body = body}, caller, &nowhere));
    }
    int status(const std::string& who, const std::string& method, const std::string& target,
               const std::string& body = "") {
        return call(who, method, target, body).status;
    }
    boost::json::value json(const std::string& who, const std::string& target) {
        return boost::json::parse(call(who, "GET", target).body);
    }
    static std::string in_lab(const std::string& name) {
        std::string body = start(name);
        body.insert(1, R"("project":"lab",)");
        return body;
    }
    const Estate& estate() { return term().look().estate; }
};

TEST_F(TenantsApi, AreCreatedShownChangedAndDeleted) {
    const auto made = call("", "POST", "/v1/tenants", R"({"name":"acme","displayName":"Acme Ltd"})");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(made.body, HasSubstr(R"("name":"acme","displayName":"Acme Ltd","disabled":false)"));
    EXPECT_EQ(problem(call("", "POST", "/v1/tenants", R"({"name":"acme"})")), "tenant_exists");
    EXPECT_EQ(status("", "POST", "/v1/tenants", R"({"name":"Acme_1"})"), 400) << "new names are DNS labels";
    EXPECT_EQ(json("", "/v1/projects?tenantID=acme").at("items").at(0).at("name"), "default");
    const auto changed = call("", "PATCH", "/v1/tenants/acme", R"({"needsTotp":true,"ifVersion":1})");
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_THAT(changed.body, HasSubstr(R"("displayName":"Acme Ltd","disabled":false,"needsTotp":true)"));
    EXPECT_THAT(changed.body, HasSubstr(R"("version":2)"));
    EXPECT_EQ(problem(call("", "PATCH", "/v1/tenants/acme", R"({"needsTotp":false,"ifVersion":1})")),
              "version_differs");
    EXPECT_EQ(problem(call("", "DELETE", "/v1/tenants/acme?ifVersion=1")), "version_differs");
    EXPECT_EQ(problem(call("", "GET", "/v1/tenants/acne")), "tenant_not_found");
    EXPECT_THAT(call("", "GET", "/v1/tenants/acne").body, HasSubstr("did you mean acme?"));
    EXPECT_EQ(status("", "DELETE", "/v1/tenants/acme?ifVersion=2"), 200);
    EXPECT_TRUE(estate().tenants.all().empty());
    EXPECT_TRUE(estate().projects.all().empty());
    EXPECT_EQ(testing::index_is_wrong(estate()), "");
}

TEST_F(TenantsApi, ATenantSeesAndChangesItself) {
    for (const char* name : {"acme", "globex"})
        EXPECT_EQ(status("", "POST", "/v1/tenants", fmt::format(R"({{"name":"{}"}})", name)), 201);
    const auto list = call("acme", "GET", "/v1/tenants");
    EXPECT_THAT(list.body, HasSubstr(R"("name":"acme")"));
    EXPECT_THAT(list.body, Not(HasSubstr("globex")));
    EXPECT_EQ(status("acme", "GET", "/v1/tenants/acme"), 200);
    const auto hidden = call("acme", "GET", "/v1/tenants/globey");
    EXPECT_EQ(hidden.status, 404);
    EXPECT_THAT(hidden.body, Not(HasSubstr("globex"))) << "no other tenant's name is told";
    EXPECT_EQ(status("admin of acme", "PATCH", "/v1/tenants/globex", R"({"displayName":"x"})"), 404);
    EXPECT_EQ(status("admin of acme", "PATCH", "/v1/tenants/acme", R"({"displayName":"x"})"), 200);
    EXPECT_EQ(problem(call("acme", "PATCH", "/v1/tenants/acme", R"({"displayName":"x"})")),
              "permission_missing")
        << "a key changes nothing of its tenant";
    EXPECT_EQ(problem(call("acme", "POST", "/v1/projects", R"({"name":"lab"})")), "permission_missing");
    EXPECT_EQ(status("admin of acme", "POST", "/v1/tenants/acme/disable"), 403);
    EXPECT_EQ(status("admin of acme", "DELETE", "/v1/tenants/acme"), 403);
    EXPECT_THAT(call("acme", "GET", "/v1/projects").body, Not(HasSubstr("globex")));
    EXPECT_EQ(status("acme", "GET", "/v1/projects/default?tenantID=globex"), 403);
}

TEST_F(TenantsApi, ProjectsHoldObjectsAndAreDeletedWhenEmpty) {
    EXPECT_EQ(status("admin of acme", "POST", "/v1/projects", R"({"name":"lab","displayName":"Laboratory"})"),
              201);
    EXPECT_EQ(problem(call("admin of acme", "POST", "/v1/projects", R"({"name":"lab"})")), "project_exists");
    EXPECT_EQ(problem(call("", "POST", "/v1/projects", R"({"name":"lab"})")), "invalid");
    EXPECT_EQ(status("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi","project":"lab"})"), 201);
    EXPECT_EQ(status("acme", "POST", "/gpu-instances", in_lab("one")), 200);
    EXPECT_EQ(status("acme", "POST", "/gpu-instances", start("two")), 200);
    const auto instances = json("acme", "/v1/instances?project=lab").at("items").as_array();
    ASSERT_EQ(instances.size(), 1u);
    EXPECT_EQ(instances.at(0).at("instanceID"), "one");
    EXPECT_EQ(instances.at(0).at("project"), "lab");
    EXPECT_EQ(json("acme", "/v1/volumes?project=lab").at("items").as_array().size(), 1u);
    EXPECT_EQ(json("acme", "/v1/volumes?project=default").at("items").as_array().size(), 0u);
    EXPECT_EQ(json("acme", "/v1/networks?project=lab").at("items").at(0).at("name"), "lab");
    const auto refused = call("admin of acme", "DELETE", "/v1/projects/lab");
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(problem(refused), "project_not_empty");
    EXPECT_THAT(refused.body, HasSubstr("instance one, volume data"));
    const auto of_tenant = call("", "DELETE", "/v1/tenants/acme");
    EXPECT_EQ(problem(of_tenant), "tenant_not_empty");
    EXPECT_THAT(of_tenant.body, HasSubstr("instance two"));
    EXPECT_EQ(problem(call("admin of acme", "DELETE", "/v1/projects/default")), "default_project");
    EXPECT_EQ(problem(call("acme", "GET", "/v1/projects/lap")), "project_not_found");
}

TEST_F(TenantsApi, AProjectWithoutLiveObjectsIsDeletedWithItsNetwork) {
    EXPECT_EQ(status("admin of acme", "POST", "/v1/projects", R"({"name":"lab"})"), 201);
    desk().estate.networks.add({.id = "n-1", .name = "lab", .tenant = "acme", .project = "lab"});
    desk().estate.networks.add({.id = "n-2", .tenant = "acme"});
    EXPECT_EQ(status("admin of acme", "DELETE", "/v1/projects/lab"), 200);
    EXPECT_FALSE(estate().networks.find("n-1"));
    EXPECT_TRUE(estate().networks.find("n-2"));
    EXPECT_FALSE(find_project(term().look(), "acme", "lab"));
}

TEST_F(TenantsApi, ARefusalNamesABoundedNumberOfObjects) {
    for (int i = 0; i < 25; ++i)
        desk().estate.volumes.add(
            {.id = fmt::format("v-{:02}", i), .name = fmt::format("vol-{:02}", i), .tenant = "acme"});
    ensure_tenant(desk(), "acme");
    const auto refused = call("", "DELETE", "/v1/tenants/acme");
    EXPECT_THAT(refused.body, HasSubstr("tenant acme has 25 live objects: volume vol-00, "));
    EXPECT_THAT(refused.body, HasSubstr("volume vol-19 and 5 more"));
}

TEST_F(TenantsApi, KeysAreRevokedWithTheirTenant) {
    EXPECT_EQ(status("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})"), 201);
    EXPECT_TRUE(estate().tenants.find("acme")) << "the first key makes the tenant";
    EXPECT_EQ(status("", "DELETE", "/v1/tenants/acme"), 200);
    EXPECT_NE(estate().api_keys.all().begin()->second.revoked_at, 0);
}

TEST_F(TenantsApi, DisabledOnesRefuseCreatesUntilTheyAreEnabled) {
    EXPECT_EQ(status("admin of acme", "POST", "/v1/projects", R"({"name":"lab"})"), 201);
    EXPECT_EQ(status("admin of acme", "POST", "/v1/projects/lab/disable"), 200);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", in_lab("one"))), "project_disabled");
    EXPECT_EQ(status("acme", "POST", "/gpu-instances", start("two")), 200);
    EXPECT_EQ(status("admin of acme", "POST", "/v1/projects/lab/enable"), 200);
    EXPECT_EQ(status("acme", "POST", "/gpu-instances", in_lab("one")), 200);
    const auto disabled = call("", "POST", "/v1/tenants/acme/disable");
    EXPECT_EQ(disabled.status, 200) << disabled.body;
    EXPECT_THAT(disabled.body, HasSubstr(R"("disabled":true)"));
    EXPECT_THAT(call("", "GET", "/v1/tenants?disabled=true").body, HasSubstr("acme"));
    EXPECT_THAT(call("", "GET", "/v1/tenants?disabled=false").body, Not(HasSubstr("acme")));
    for (const auto& [target, body] : {std::pair{"/gpu-instances", start("three")},
                                       std::pair{"/v1/volumes", std::string{R"({"name":"v","size":"1Gi"})"}},
                                       std::pair{"/v1/projects", std::string{R"({"name":"other"})"}}})
        EXPECT_EQ(problem(call("admin of acme", "POST", target, body)), "tenant_disabled") << target;
    EXPECT_EQ(problem(call("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})")),
              "tenant_disabled");
    EXPECT_EQ(status("", "POST", "/v1/tenants/acme/enable"), 200);
    EXPECT_EQ(status("acme", "POST", "/gpu-instances", start("three")), 200);
}

TEST_F(TenantsApi, TheAuditSaysWhichTenantAndProject) {
    EXPECT_EQ(status("", "POST", "/v1/tenants", R"({"name":"acme"})"), 201);
    EXPECT_EQ(status("admin of acme", "POST", "/v1/projects", R"({"name":"lab"})"), 201);
    EXPECT_EQ(status("admin of acme", "DELETE", "/v1/projects/lab"), 200);
    const auto lines = json("", "/v1/audit").at("items").as_array();
    ASSERT_GE(lines.size(), 3u);
    EXPECT_EQ(lines.at(0).at("subject"), "project/acme/lab");
    EXPECT_EQ(lines.at(0).at("tenantID"), "acme");
    EXPECT_EQ(lines.at(1).at("subject"), "project/acme/lab");
    EXPECT_EQ(lines.at(2).at("subject"), "tenant/acme");
}

}  // namespace
}  // namespace hostler::master
