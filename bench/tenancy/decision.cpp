// How long one decision takes: whether a principal may do something at a scope. Principals, permissions and
// scopes are drawn beforehand, so that each decision finds a cold cache. Prints nanoseconds a decision.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "domain/tenancy/principal.h"
#include "domain/tenancy/role.h"

namespace {

using namespace hostler;

constexpr std::size_t projects_of_tenant = 4;

struct Question {
    std::size_t principal;
    Permission permission;
    Scope scope;
};

std::string tenant_name(std::size_t number) { return "tenant-" + std::to_string(number); }
std::string project_name(std::size_t number) { return "project-" + std::to_string(number); }

// A person with roles in one tenant: at the tenant or in some of its projects.
Principal person(std::size_t number, std::size_t tenants, std::mt19937_64& dice) {
    const std::string tenant = tenant_name(number % tenants);
    Principal made{.kind = PrincipalKind::user, .id = "u-" + std::to_string(number)};
    if (dice() % 10 == 0)
        made.held.push_back({Scope::of_tenant(tenant), permissions_of(BuiltInRole::tenant_admin)});
    for (std::size_t project = 0; project < projects_of_tenant; ++project)
        if (dice() % 2 == 0)
            made.held.push_back(
                {Scope::of_project(tenant, project_name(project)), permissions_of(BuiltInRole::member)});
    return made;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: bench-decision USERS TENANTS\n");
        return 2;
    }
    const std::size_t users = std::strtoull(arguments[1], nullptr, 10);
    const std::size_t tenants = std::strtoull(arguments[2], nullptr, 10);
    if (users == 0 || tenants == 0) {
        std::fprintf(stderr, "bench-decision: both numbers must be greater than 0\n");
        return 2;
    }
    std::mt19937_64 dice{1};
    std::vector<Principal> people;
    for (std::size_t number = 0; number < users; ++number) people.push_back(person(number, tenants, dice));
    constexpr auto wanted =
        std::to_array({Permission::instance_read, Permission::instance_write, Permission::volume_write,
                       Permission::user_write, Permission::host_admit});
    std::vector<Question> questions;
    for (std::size_t number = 0; number < 200'000; ++number) {
        const std::size_t who = dice() % users;
        const std::size_t tenant = dice() % 4 == 0 ? dice() % tenants : who % tenants;
        questions.push_back(
            {who, wanted[dice() % wanted.size()],
             Scope::of_project(tenant_name(tenant), project_name(dice() % projects_of_tenant))});
    }
    std::uint64_t allowed = 0, asked = 0;
    const auto begun = std::chrono::steady_clock::now();
    for (int round = 0; round < 20; ++round)
        for (const Question& question : questions) {
            allowed += authorize(people[question.principal], question.permission, question.scope);
            ++asked;
        }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    if (allowed == 0 || allowed == asked) {
        std::fprintf(stderr, "bench-decision: all decisions are alike\n");
        return 1;
    }
    std::printf("%.1f\n", took.count() / static_cast<double>(asked));
}
