// Roles, grants and groups, over HTTP.
#include "domain/tenancy/role.h"
#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct RolesTest : PeopleTest {
    Reply give(const std::string& subject, const std::string& role, const std::string& where,
               std::string_view secret = root) {
        return post("/v1/grants", fmt::format(R"({{"subject":"{}","role":"{}",{}}})", subject, role, where),
                    secret);
    }
    Reply take(const Reply& grant, std::string_view secret = root) {
        return call("DELETE", "/v1/grants/" + grant.at("id"), "", secret);
    }
    // The session of a user who has this role in tenant acme.
    std::string with_role(const std::string& login, const std::string& role,
                          const std::string& where = R"("tenantID":"acme")") {
        user(login);
        const Reply given = give("user/" + login, role, where);
        EXPECT_EQ(given.status, 201) << given.text;
        return session(login);
    }
    Reply role(const std::string& name, const std::string& permissions, std::string_view secret = root,
               const std::string& tenant = "acme") {
        return post(
            "/v1/roles",
            fmt::format(R"({{"name":"{}","tenantID":"{}","permissions":[{}]}})", name, tenant, permissions),
            secret);
    }
    // Its id.
    std::string group(const std::string& name, const std::vector<std::string>& members) {
        const Reply made = post("/v1/groups", fmt::format(R"({{"name":"{}","tenantID":"acme"}})", name));
        EXPECT_EQ(made.status, 201);
        for (const std::string& login : members)
            EXPECT_EQ(post("/v1/groups/" + name + "/members",
                           fmt::format(R"({{"user":"{}","tenantID":"acme"}})", login))
                          .status,
                      200);
        return made.at("id");
    }
    static constexpr std::string_view acme = R"("tenantID":"acme")";
};

TEST_F(RolesTest, WhoamiSaysWhetherSomeGpuIsMadeUp) {
    const auto simulated = [&] { return get("/v1/whoami").body.at("simulated").as_bool(); };
    Host host{.id = "h-1", .zone = "nj"};
    desk().estate.hosts.add(host);
    EXPECT_FALSE(simulated());
    desk().estate.hosts.edit("h-1").facts.simulated = true;
    EXPECT_TRUE(simulated());
    desk().estate.hosts.edit("h-1").phase = HostPhase::retired;
    EXPECT_FALSE(simulated());
}

TEST_F(RolesTest, WhoamiNamesScopesAndPermissions) {
    const auto scopes_of = [&](std::string_view secret) {
        return get("/v1/whoami", secret).body.at("scopes").as_array();
    };
    const std::string ann = with_role("ann", "member", R"("tenantID":"acme","project":"default")");
    ASSERT_EQ(scopes_of(ann).size(), 1u);
    const boost::json::value one = scopes_of(ann)[0];
    EXPECT_EQ(one.at("level"), "project");
    EXPECT_EQ(one.at("tenantID"), "acme");
    EXPECT_EQ(one.at("project"), "default");
    const auto& may = one.at("permissions").as_array();
    EXPECT_EQ(std::ranges::count(may, boost::json::value("instance.write")), 1);
    EXPECT_EQ(std::ranges::count(may, boost::json::value("stock.read")), 0);
    ASSERT_EQ(scopes_of(root).size(), 1u);
    EXPECT_EQ(scopes_of(root)[0].at("level"), "cloud");
    EXPECT_GT(scopes_of(root)[0].at("permissions").as_array().size(), 50u);
}

TEST_F(RolesTest, AUserWithoutRolesSeesThemselvesAlone) {
    user("ann");
    const std::string ann = session("ann");
    EXPECT_EQ(whoami(ann), 200);
    EXPECT_TRUE(get("/v1/whoami", ann).body.at("scopes").as_array().empty());
    for (const char* target :
         {"/v1/instances", "/v1/users", "/v1/hosts", "/v1/zones", "/v1/audit", "/v1/roles"}) {
        const Reply refused = get(target, ann);
        EXPECT_EQ(refused.status, 403) << target;
        EXPECT_EQ(refused.code(), "permission_missing") << target;
    }
}

TEST_F(RolesTest, ARoleCountsAtOnceAndUntilItIsTaken) {
    user("ann");
    const std::string ann = session("ann");
    const Reply given = give("user/ann", "viewer", std::string{acme});
    ASSERT_EQ(given.status, 201) << given.text;
    EXPECT_EQ(given.at("name"), "ann");
    EXPECT_EQ(get("/v1/instances", ann).status, 200);
    EXPECT_EQ(get("/v1/zones", ann).status, 200);
    const Reply refused = post("/v1/volumes", R"({"name":"v","size":"1Gi"})", ann);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.code(), "permission_missing");
    EXPECT_THAT(refused.at("detail"), HasSubstr("volume.write"));
    EXPECT_THAT(refused.text, HasSubstr("can grant a role"));
    EXPECT_EQ(take(given).status, 200);
    EXPECT_EQ(get("/v1/instances", ann).status, 403);
}

TEST_F(RolesTest, AGrantEndsByItself) {
    user("ann");
    const std::string ann = session("ann");
    ASSERT_EQ(give("user/ann", "viewer", R"("tenantID":"acme","ttlSeconds":60)").status, 201);
    EXPECT_EQ(get("/v1/instances", ann).status, 200);
    timers.advance(61s);
    EXPECT_EQ(get("/v1/instances", ann).status, 403);
}

TEST_F(RolesTest, NobodyGivesMoreThanTheyHave) {
    const std::string ann = with_role("ann", "tenant-admin");
    user("ben"), user("eve", "globex");
    EXPECT_EQ(give("user/ben", "tenant-admin", std::string{acme}, ann).status, 201);
    EXPECT_EQ(give("user/ben", "operator", R"("cloud":true)", ann).status, 403);
    EXPECT_EQ(give("user/ben", "viewer", R"("tenantID":"globex")", ann).status, 403);
    EXPECT_EQ(give("user/ben", "provider", R"("provider":"farm")", ann).status, 403);
    EXPECT_EQ(give("user/eve", "viewer", std::string{acme}, ann).code(), "user_not_found")
        << "whether another tenant's user exists is not told";
    EXPECT_EQ(give("user/nobody", "viewer", std::string{acme}, ann).code(), "user_not_found");
    const std::string pat = with_role("pat", "project-admin", R"("tenantID":"acme","project":"default")");
    EXPECT_EQ(give("user/ben", "viewer", R"("tenantID":"acme","project":"default")", ann).status, 201);
    EXPECT_EQ(give("user/ben", "viewer", std::string{acme}, pat).status, 403);
    // Nor does a role that the tenant defines get around it.
    EXPECT_EQ(role("all", R"("host.read")", ann).status, 400);
    EXPECT_EQ(role("peek", R"("instance.read","secret.read")", ann).status, 201);
    const std::string joe = with_role("joe", "auditor");
    EXPECT_EQ(role("mine", R"("audit.read")", joe).status, 403);
}

TEST_F(RolesTest, WrongRolesAndScopesAreNamed) {
    user("ann");
    Reply wrong = give("user/ann", "vewer", std::string{acme});
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.text, HasSubstr("did you mean viewer?"));
    wrong = give("user/ann", "operator", std::string{acme});
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.text, HasSubstr("give it at a wider scope"));
    wrong = give("ann", "viewer", std::string{acme});
    EXPECT_THAT(wrong.text, HasSubstr("user/LOGIN"));
    wrong = give("user/ann", "viewer", R"("cloud":true,"tenantID":"acme","provider":"x")");
    EXPECT_THAT(wrong.text, HasSubstr("\"cloud\""));
    EXPECT_THAT(wrong.text, HasSubstr("\"provider\""));
    EXPECT_EQ(post("/v1/grants", R"({"subject":"user/ann","role":"viewer"})").status, 400)
        << "an operator says where";
    wrong = role("ops", R"("instance.raed","volume.wriet")");
    EXPECT_THAT(wrong.text, HasSubstr("did you mean instance.read?"));
    EXPECT_THAT(wrong.text, HasSubstr("did you mean volume.write?"));
}

TEST_F(RolesTest, TheLastAdminStays) {
    const std::string ann = with_role("ann", "tenant-admin");
    const Reply grants = get("/v1/grants?tenantID=acme", ann);
    ASSERT_EQ(grants.items(), 1u);
    const std::string grant{grants.body.at("items").as_array()[0].at("id").as_string()};
    EXPECT_EQ(call("DELETE", "/v1/grants/" + grant, "", ann).code(), "last_admin");
    EXPECT_EQ(post("/v1/users/ann/disable", "").code(), "last_admin");
    EXPECT_EQ(call("DELETE", "/v1/users/ann", "", root).code(), "last_admin");
    EXPECT_EQ(call("DELETE", "/v1/grants/" + grant + "?dryRun=true", "", ann).code(), "last_admin");
    EXPECT_EQ(get("/v1/instances", ann).status, 200);
    const std::string ben = with_role("ben", "tenant-admin");
    EXPECT_EQ(call("DELETE", "/v1/grants/" + grant, "", ann).status, 200);
    EXPECT_EQ(get("/v1/instances", ann).status, 403);
    EXPECT_EQ(get("/v1/instances", ben).status, 200);
}

TEST_F(RolesTest, TheLastAdminStaysInItsGroup) {
    user("ann"), user("ben");
    group("admins", {"ann"});
    ASSERT_EQ(give("group/admins", "tenant-admin", std::string{acme}).status, 201);
    const std::string out = "/v1/groups/admins/members/ann?tenantID=acme";
    EXPECT_EQ(call("DELETE", out, "", root).code(), "last_admin");
    EXPECT_EQ(post("/v1/groups/admins/disable?tenantID=acme", "").status, 400);
    EXPECT_EQ(post("/v1/groups/admins/disable", R"({"tenantID":"acme"})").code(), "last_admin");
    EXPECT_EQ(call("DELETE", "/v1/groups/admins?tenantID=acme", "", root).code(), "last_admin");
    EXPECT_EQ(post("/v1/users/ann/disable", "").code(), "last_admin");
    ASSERT_EQ(give("user/ben", "tenant-admin", std::string{acme}).status, 201);
    EXPECT_EQ(call("DELETE", out, "", root).status, 200);
}

TEST_F(RolesTest, ARoleThatMakesAllAdminsKeepsThemSo) {
    ASSERT_EQ(role("boss", R"("user.write","grant.write","role.write","role.read")").status, 201);
    const std::string ann = with_role("ann", "boss");
    const std::string less = R"({"permissions":["role.write"]})";
    EXPECT_EQ(call("PATCH", "/v1/roles/boss", less, ann).code(), "last_admin");
    EXPECT_EQ(call("DELETE", "/v1/roles/boss?tenantID=acme", "", root).code(), "role_in_use");
    (void)with_role("ben", "tenant-admin");
    EXPECT_EQ(call("PATCH", "/v1/roles/boss", less, ann).status, 200);
    EXPECT_EQ(get("/v1/roles", ann).status, 403) << "it counts at once";
}

TEST_F(RolesTest, GroupsGiveTheirRolesToMembers) {
    user("ann"), user("ben");
    group("research", {"ann"});
    ASSERT_EQ(give("group/research", "member", std::string{acme}).status, 201);
    const std::string ann = session("ann"), ben = session("ben");
    EXPECT_EQ(get("/v1/volumes", ann).status, 200);
    EXPECT_EQ(get("/v1/volumes", ben).status, 403);
    EXPECT_EQ(post("/v1/groups/research/disable", R"({"tenantID":"acme"})").at("state"), "disabled");
    EXPECT_EQ(get("/v1/volumes", ann).status, 403);
    EXPECT_EQ(post("/v1/groups/research/enable", R"({"tenantID":"acme"})").at("state"), "enabled");
    EXPECT_EQ(get("/v1/volumes", ann).status, 200);
    EXPECT_EQ(call("DELETE", "/v1/groups/research/members/ann?tenantID=acme", "", root).status, 200);
    EXPECT_EQ(get("/v1/volumes", ann).status, 403);
    // Adding somebody to a group gives its roles.
    const std::string pat = with_role("pat", "tenant-admin");
    const std::string wheel = group("wheel", {});
    ASSERT_EQ(give("group/" + wheel, "operator", R"("cloud":true)").status, 201);
    EXPECT_EQ(post("/v1/groups/wheel/members", R"({"user":"pat"})", pat).code(), "role_exceeds");
}

TEST_F(RolesTest, BuiltInRolesAreShownAndStay) {
    const std::string ann = with_role("ann", "tenant-admin");
    EXPECT_EQ(get("/v1/roles", ann).items(), std::size(built_in_roles));
    EXPECT_EQ(get("/v1/roles/viewer", ann).at("name"), "viewer");
    EXPECT_EQ(call("PATCH", "/v1/roles/viewer", R"({"description":"x"})", ann).code(), "built_in_role");
    EXPECT_EQ(role("viewer", R"("instance.read")").code(), "role_exists");
    EXPECT_EQ(get("/v1/permissions", ann).items(), permissions.size());
    // Another tenant's role is not there.
    ASSERT_EQ(role("secret", R"("instance.read")", root, "globex").status, 201);
    EXPECT_EQ(get("/v1/roles/secret", ann).status, 404);
    EXPECT_EQ(get("/v1/roles?tenantID=globex", ann).status, 403);
}

TEST_F(RolesTest, AnAdminDoesNotBecomeSomebodyWithMore) {
    const std::string ann = with_role("ann", "tenant-admin");
    const std::string id = user("root");
    ASSERT_EQ(give("user/root", "operator", R"("cloud":true)").status, 201);
    EXPECT_EQ(post("/v1/users/root/password-link", "", ann).code(), "role_exceeds");
    EXPECT_EQ(post("/v1/totp/remove", R"({"user":"root"})", ann).status, 409) << "there is none to remove";
    user("ben");
    EXPECT_EQ(post("/v1/users/ben/password-link", "", ann).status, 201);
}

TEST_F(RolesTest, AProviderSeesItsOwnHostsAlone) {
    desk().estate.hosts.add({.id = "h-own", .zone = "nj", .owner = "farm", .phase = HostPhase::ready});
    desk().estate.hosts.add({.id = "h-other", .zone = "nj", .owner = "mill", .phase = HostPhase::ready});
    desk().estate.hosts.add({.id = "h-ours", .zone = "nj", .phase = HostPhase::ready});
    (void)commit();
    const Reply invited = post("/v1/invitations", R"({"role":"provider","provider":"farm"})");
    ASSERT_EQ(invited.status, 201) << invited.text;
    const Reply accepted = post("/v1/invitations/accept",
                                fmt::format(R"({{"secret":"{}","login":"flo","password":"{}"}})",
                                            invited.at("secret"), good_password),
                                "");
    ASSERT_EQ(accepted.status, 201) << accepted.text;
    const std::string flo = session("flo");
    const Reply hosts = get("/v1/hosts", flo);
    ASSERT_EQ(hosts.items(), 1u) << hosts.text;
    EXPECT_EQ(hosts.body.at("items").as_array()[0].at("id").as_string(), "h-own");
    EXPECT_EQ(get("/v1/hosts/h-other", flo).code(), "host_not_found");
    EXPECT_EQ(get("/v1/hosts/h-ours", flo).code(), "host_not_found");
    EXPECT_EQ(post("/v1/hosts/h-own/cordon", "", flo).status, 200);
    EXPECT_EQ(post("/v1/hosts/h-other/cordon", "", flo).code(), "host_not_found");
    EXPECT_EQ(post("/v1/hosts/h-own/admit", "", flo).status, 403) << "the operator says who is admitted";
    EXPECT_EQ(call("PATCH", "/v1/hosts/h-own", R"({"trust":"trusted"})", flo).status, 403);
    EXPECT_EQ(post("/v1/host-tokens", R"({"zone":"nj","provider":"farm"})", flo).status, 201);
    EXPECT_EQ(post("/v1/host-tokens", R"({"zone":"nj","provider":"mill"})", flo).status, 403);
    EXPECT_EQ(post("/v1/host-tokens", R"({"zone":"nj"})", flo).status, 403);
    EXPECT_EQ(get("/v1/host-tokens", flo).items(), 1u);
    EXPECT_EQ(get("/v1/instances", flo).status, 403);
}

TEST_F(RolesTest, WhoeverMakesKeysMakesNoneThatMayMore) {
    const Reply made =
        post("/v1/roles", R"({"name":"keys","permissions":["key.create","key.read","self.read"]})");
    ASSERT_EQ(made.status, 201) << made.text;
    user("kim", "");
    ASSERT_EQ(give("user/kim", "keys", R"("cloud":true)").status, 201);
    const std::string kim = session("kim");
    EXPECT_EQ(post("/v1/api-keys", R"({"name":"all","isOperator":true})", kim).code(), "key_exceeds");
    EXPECT_EQ(post("/v1/api-keys", R"({"name":"ci","tenantID":"acme"})", kim).code(), "key_exceeds");
    EXPECT_EQ(post("/v1/api-keys", R"({"name":"ci","tenantID":"acme"})").status, 201);
}

TEST_F(RolesTest, ATenantGoesWithItsPeople) {
    const std::string ann = with_role("ann", "tenant-admin");
    const Reply made = post("/v1/service-accounts", R"({"name":"ci","tenantID":"acme"})");
    ASSERT_EQ(made.status, 201) << made.text;
    const Reply key = post("/v1/service-accounts/ci/keys", R"({"name":"deploy","tenantID":"acme"})");
    group("research", {"ann"});
    ASSERT_EQ(give("user/ann", "tenant-admin", R"("tenantID":"globex")").status, 201);
    EXPECT_EQ(call("DELETE", "/v1/tenants/acme", "", root).code(), "last_admin") << "of globex";
    (void)with_role("eve", "tenant-admin", R"("tenantID":"globex")");
    EXPECT_EQ(call("DELETE", "/v1/users/eve", "", root).status, 200);
    user("joe", "globex");
    ASSERT_EQ(give("user/joe", "tenant-admin", R"("tenantID":"globex")").status, 201);
    EXPECT_EQ(call("DELETE", "/v1/tenants/acme", "", root).status, 200);
    EXPECT_EQ(whoami(ann), 401);
    EXPECT_EQ(whoami(key.at("secret")), 401);
    EXPECT_TRUE(desk().estate.groups.all().empty());
    EXPECT_TRUE(desk().estate.service_accounts.all().empty());
    for (const auto& [id, grant] : desk().estate.grants.all()) EXPECT_EQ(grant.tenant, "globex");
}

TEST_F(RolesTest, ANarrowedKeyHoldsNoMoreThanItsAccount) {
    ASSERT_EQ(post("/v1/service-accounts", R"({"name":"ci","tenantID":"acme"})").status, 201);
    const Reply key = post("/v1/service-accounts/ci/keys", R"({"name":"deploy","tenantID":"acme"})");
    ASSERT_EQ(key.status, 201) << key.text;
    EXPECT_EQ(get("/v1/volumes", key.at("secret")).status, 403) << "its account has no role yet";
    ASSERT_EQ(give("account/ci", "member", std::string{acme}).status, 201);
    EXPECT_EQ(get("/v1/volumes", key.at("secret")).status, 200);
    const Reply narrow = post("/v1/service-accounts/ci/keys",
                              R"({"name":"look","tenantID":"acme","permissions":["instance.read"]})");
    ASSERT_EQ(narrow.status, 201) << narrow.text;
    EXPECT_EQ(get("/v1/instances", narrow.at("secret")).status, 200);
    EXPECT_EQ(get("/v1/volumes", narrow.at("secret")).status, 403);
}

}  // namespace
}  // namespace hostler::master::testing
