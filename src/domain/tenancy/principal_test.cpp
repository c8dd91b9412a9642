#include "domain/tenancy/principal.h"

#include <gtest/gtest.h>

#include <set>

#include "domain/tenancy/role.h"

namespace hostler {

namespace {

const Scope acme = Scope::of_tenant("acme"), globex = Scope::of_tenant("globex");
const Scope research = Scope::of_project("acme", "research"), sales = Scope::of_project("acme", "sales");
const Scope farm = Scope::of_provider("farm");

Principal with(BuiltInRole role, Scope scope) {
    return {.kind = PrincipalKind::user, .id = "u-1", .held = {{std::move(scope), permissions_of(role)}}};
}

}  // namespace

TEST(Scopes, ReachDownwards) {
    for (const Scope& at : {Scope::cloud(), acme, research, farm}) EXPECT_TRUE(reaches(Scope::cloud(), at));
    EXPECT_TRUE(reaches(acme, research));
    EXPECT_TRUE(reaches(acme, acme));
    EXPECT_TRUE(reaches(research, research));
    EXPECT_TRUE(reaches(farm, farm));
    EXPECT_FALSE(reaches(acme, Scope::cloud()));
    EXPECT_FALSE(reaches(acme, globex));
    EXPECT_FALSE(reaches(acme, Scope::of_project("globex", "research")));
    EXPECT_FALSE(reaches(acme, Scope::of_provider("acme"))) << "a provider is no tenant, whatever its name";
    EXPECT_FALSE(reaches(research, sales));
    EXPECT_FALSE(reaches(research, acme));
    EXPECT_FALSE(reaches(farm, Scope::of_tenant("farm")));
}

TEST(Principals, MayWhatTheyHoldWhereTheyHoldIt) {
    const Principal member = with(BuiltInRole::member, research);
    EXPECT_TRUE(authorize(member, Permission::instance_write, research));
    EXPECT_FALSE(authorize(member, Permission::instance_write, sales));
    EXPECT_FALSE(authorize(member, Permission::instance_write, acme));
    EXPECT_FALSE(authorize(member, Permission::grant_write, research));
    EXPECT_TRUE(authorize_within(member, Permission::instance_write, "acme"));
    EXPECT_FALSE(authorize_within(member, Permission::instance_write, "globex"));
    EXPECT_TRUE(authorize(member, Permission::spec_read, Scope::cloud())) << "all see the catalogue";
    EXPECT_FALSE(authorize(member, Permission::spec_write, Scope::cloud()));
    EXPECT_TRUE(authorize(member, Permission::self_read, Scope::cloud()));
}

TEST(Principals, StrangersAndVisitorsMayNothing) {
    for (const PrincipalKind kind : {PrincipalKind::stranger, PrincipalKind::share})
        for (const PermissionRow& row : permissions) {
            EXPECT_FALSE(authorize_anywhere({.kind = kind}, row.permission)) << row.name;
            EXPECT_FALSE(authorize({.kind = kind}, row.permission, Scope::cloud())) << row.name;
        }
}

TEST(Principals, GrantsAddUp) {
    Principal both = with(BuiltInRole::viewer, acme);
    both.held.push_back({research, permissions_of(BuiltInRole::member)});
    EXPECT_TRUE(authorize(both, Permission::instance_read, sales));
    EXPECT_FALSE(authorize(both, Permission::instance_write, sales));
    EXPECT_TRUE(authorize(both, Permission::instance_write, research));
    EXPECT_TRUE(holds_all(both, permissions_of(BuiltInRole::member), research));
    EXPECT_FALSE(holds_all(both, permissions_of(BuiltInRole::member), acme));
}

TEST(Principals, AreShownWhatCountsWhereTheyHoldIt) {
    EXPECT_TRUE(shown_scopes({}).empty());
    const auto all = shown_scopes(with(BuiltInRole::operator_, Scope::cloud()));
    ASSERT_EQ(all.size(), 1u);
    for (const PermissionRow& row : permissions)
        EXPECT_EQ(all[0].permissions.has(row.permission), row.level != PermissionLevel::anyone) << row.name;
    Principal both = with(BuiltInRole::member, research);
    both.held.push_back({acme, permissions_of(BuiltInRole::viewer)});
    both.held.push_back({research, permissions_of(BuiltInRole::viewer)});
    const auto shown = shown_scopes(both);
    ASSERT_EQ(shown.size(), 2u) << "each scope is shown once";
    EXPECT_EQ(shown[0].scope, acme);
    EXPECT_EQ(shown[1].scope, research);
    for (const Held& held : shown)
        for (const PermissionRow& row : permissions)
            if (held.permissions.has(row.permission))
                EXPECT_TRUE(authorize(both, row.permission, held.scope)) << row.name;
}

TEST(Roles, HaveWhatTheirNamesSay) {
    const auto has = [](BuiltInRole role, Permission permission) {
        return permissions_of(role).has(permission);
    };
    for (const PermissionRow& row : permissions)
        EXPECT_TRUE(has(BuiltInRole::operator_, row.permission)) << row.name;
    for (const PermissionRow& row : permissions)
        for (const BuiltInRole reader : {BuiltInRole::support, BuiltInRole::auditor, BuiltInRole::viewer})
            EXPECT_TRUE(row.level == PermissionLevel::anyone || !has(reader, row.permission) ||
                        only_reads(row.permission))
                << row.name;
    for (const Permission secret : {Permission::secret_read, Permission::instance_logs})
        EXPECT_FALSE(has(BuiltInRole::support, secret));
    for (const Permission seen : {Permission::audit_read, Permission::user_read, Permission::grant_read,
                                  Permission::role_read, Permission::group_read, Permission::account_read,
                                  Permission::tenant_read, Permission::project_read})
        EXPECT_TRUE(has(BuiltInRole::auditor, seen)) << name_of(seen);
    EXPECT_TRUE(has(BuiltInRole::tenant_admin, Permission::user_write));
    EXPECT_FALSE(has(BuiltInRole::tenant_admin, Permission::tenant_create));
    EXPECT_FALSE(has(BuiltInRole::tenant_admin, Permission::host_read));
    EXPECT_TRUE(has(BuiltInRole::provider, Permission::host_write));
    EXPECT_FALSE(has(BuiltInRole::provider, Permission::host_admit));
    EXPECT_FALSE(has(BuiltInRole::viewer, Permission::instance_enter));
    EXPECT_FALSE(has(BuiltInRole::billing, Permission::instance_read));
    EXPECT_FALSE(tenant_key_permissions().has(Permission::user_write));
    EXPECT_TRUE(tenant_key_permissions().has(Permission::instance_enter));
    EXPECT_FALSE(tenant_key_permissions().has(Permission::policy_write));
}

TEST(Roles, FitWhereAllTheyHaveCounts) {
    const auto role = [](BuiltInRole one) { return permissions_of(one); };
    EXPECT_TRUE(fits(role(BuiltInRole::operator_), Scope::cloud()));
    EXPECT_FALSE(fits(role(BuiltInRole::operator_), acme));
    EXPECT_TRUE(fits(role(BuiltInRole::tenant_admin), acme));
    EXPECT_FALSE(fits(role(BuiltInRole::tenant_admin), research));
    EXPECT_TRUE(fits(role(BuiltInRole::billing), acme));
    EXPECT_TRUE(fits(role(BuiltInRole::auditor), acme));
    EXPECT_FALSE(fits(role(BuiltInRole::support), acme));
    for (const BuiltInRole one : {BuiltInRole::project_admin, BuiltInRole::member, BuiltInRole::viewer}) {
        EXPECT_TRUE(fits(role(one), research));
        EXPECT_TRUE(fits(role(one), acme));
        EXPECT_FALSE(fits(role(one), farm));
    }
    EXPECT_TRUE(fits(role(BuiltInRole::provider), farm));
    EXPECT_FALSE(fits(role(BuiltInRole::provider), acme));
}

TEST(PermissionNames, AreOnceAndHaveASightOfTheirOwn) {
    std::set<std::string_view> names;
    for (const PermissionRow& row : permissions) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_EQ(permission_named(row.name), row.permission);
        EXPECT_TRUE(row.help.ends_with('.')) << row.name;
        EXPECT_TRUE(only_reads(sight_of(row.permission)) || sight_of(row.permission) == row.permission);
    }
    EXPECT_EQ(sight_of(Permission::instance_write), Permission::instance_read);
    EXPECT_EQ(sight_of(Permission::host_admit), Permission::host_read);
    EXPECT_FALSE(permission_named("instance.fly"));
}

}  // namespace hostler
