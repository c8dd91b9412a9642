// Keys that hold less than their account.
#include "domain/tenancy/key_limits.h"

#include <gtest/gtest.h>

#include "domain/tenancy/role.h"

namespace hostler {
namespace {

const std::vector<Held> admin{{Scope::of_tenant("acme"), tenant_permissions()}};

TEST(KeyLimits, AKeyWithoutLimitsHoldsWhatItsAccountHolds) {
    const auto held = narrowed(admin, ApiKey{.tenant = "acme"});
    ASSERT_EQ(held.size(), 1u);
    EXPECT_EQ(held[0].scope, Scope::of_tenant("acme"));
    EXPECT_EQ(held[0].permissions, tenant_permissions());
}

TEST(KeyLimits, PermissionsAreAnIntersection) {
    const ApiKey key{.tenant = "acme", .permissions = {"instance.read", "host.write", "no.such"}};
    const Principal by_key{.held = narrowed(admin, key)};
    const Scope project = Scope::of_project("acme", "default");
    EXPECT_TRUE(authorize(by_key, Permission::instance_read, project));
    EXPECT_FALSE(authorize(by_key, Permission::instance_write, project));
    // Its account has none of it.
    EXPECT_FALSE(authorize(by_key, Permission::host_write, Scope::cloud()));
    EXPECT_FALSE(authorize(by_key, Permission::instance_read, Scope::of_project("other", "default")));
    EXPECT_TRUE(by_key.held.front().permissions.has(Permission::self_read));
}

TEST(KeyLimits, AKeyForProjectsHoldsNothingElsewhere) {
    const ApiKey key{.tenant = "acme", .projects = {"web", "batch"}};
    const Principal by_key{.held = narrowed(admin, key)};
    for (const char* project : {"web", "batch"})
        EXPECT_TRUE(authorize(by_key, Permission::instance_write, Scope::of_project("acme", project)));
    EXPECT_FALSE(authorize(by_key, Permission::instance_read, Scope::of_project("acme", "default")));
    EXPECT_FALSE(authorize(by_key, Permission::user_write, Scope::of_tenant("acme")));
    EXPECT_FALSE(authorize(by_key, Permission::instance_read, Scope::of_project("other", "web")));
}

TEST(KeyLimits, ARoleInOneProjectReachesNoOtherByTheKey) {
    const std::vector<Held> member{{Scope::of_project("acme", "web"), project_permissions()}};
    const Principal by_key{.held = narrowed(member, {.tenant = "acme", .projects = {"web", "batch"}})};
    EXPECT_TRUE(authorize(by_key, Permission::instance_write, Scope::of_project("acme", "web")));
    EXPECT_FALSE(authorize(by_key, Permission::instance_write, Scope::of_project("acme", "batch")));
}

TEST(KeyLimits, ARoleInTheCloudIsNarrowedToTheTenantsProjects) {
    const std::vector<Held> support{{Scope::cloud(), permissions_of(BuiltInRole::support)}};
    const Principal by_key{.held = narrowed(support, {.tenant = "acme", .projects = {"web"}})};
    EXPECT_TRUE(authorize(by_key, Permission::instance_read, Scope::of_project("acme", "web")));
    EXPECT_FALSE(authorize(by_key, Permission::host_read, Scope::cloud()));
    EXPECT_FALSE(authorize(by_key, Permission::instance_read, Scope::of_project("other", "web")));
}

TEST(KeyLimits, AddressesAreRanges) {
    const ApiKey key{.addresses = {"203.0.113.0/24", "2001:db8::/32"}};
    for (const char* in : {"203.0.113.7", "203.0.113.7:4711", "[2001:db8::1]:80", "2001:db8::1"})
        EXPECT_TRUE(is_for_address(key, in)) << in;
    for (const char* out : {"203.0.114.7", "198.51.100.1:80", "2001:db9::1", "", "localhost"})
        EXPECT_FALSE(is_for_address(key, out)) << out;
    EXPECT_TRUE(is_for_address({}, ""));
}

}  // namespace
}  // namespace hostler
