// Groups of instances with an owner, made and deleted while the storm is over them. There is no feature with
// owners yet: a silence of alerts, which is stored and does nothing to instances, stands for each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types_instance.h"
#include "http/client.h"
#include "mistakes.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/instance/owner.h"
#include "seeds.h"

namespace hostler::simulation {
namespace {

constexpr int groups_max = 10;  // Of one storm: the calm has to come.
constexpr const char* group_tenant = "green-team";

struct Groups {
    explicit Groups(std::uint64_t seed) : dice(sim::Dice{seed}.fork("groups")) {}
    sim::Dice dice;
    int made = 0, instances = 0, deleted = 0, refused = 0, tried = 0;
    std::set<std::string> deleting;  // Owners that were to be deleted, whether or not that was committed.
};

void make_group(master::Desk& desk, Groups& groups) {
    const Owner owner{"job", fmt::format("j-{}", ++groups.made)};
    alert::Silence stands;
    stands.id = owner.id, stands.tenant = group_tenant, stands.matchers = {"zone=none"};
    stands.until = std::numeric_limits<std::int64_t>::max();
    desk.estate.alert_silences.add(std::move(stands));
    const auto size = 1 + static_cast<int>(groups.dice.below(3));
    for (int i = 0; i < size; ++i)
        if (master::create_instance(
                desk,
                {.instance_id = fmt::format("{}-{}", owner.id, i),
                 .tenant_id = group_tenant,
                 .tenant_name = "g",
                 .image = groups.dice.chance(0.2) ? "registry.example/exits:1" : "registry.example/app:1",
                 .spec_name = Tenants::spec},
                "", owner))
            ++groups.instances;
}

bool is_owner_gone(const master::Estate& estate, const Owner& owner) {
    return owner.kind == "job" && !estate.alert_silences.find(owner.id);
}

// After each second, and so of what a new master has loaded.
void check_owners(const master::Desk& desk, Findings& found) {
    for (const auto& [id, instance] : desk.estate.instances.all()) {
        if (!instance.owner || !is_owner_gone(desk.estate, *instance.owner)) continue;
        const bool ends = is_final(instance.phase) || instance.phase == InstancePhase::stopping;
        if (!ends || !instance.deleted)
            found.report(Invariant::owned,
                         fmt::format("{} is {}, and its owner {} is deleted", id, state_of(instance.phase),
                                     master::text_of(*instance.owner)));
    }
}

// An operator tries to delete an instance of a group.
Task<> try_to_delete(Cloud& cloud, std::shared_ptr<Groups> groups, std::string name, std::string owner) {
    const auto answer = co_await cloud.call(std::string{Cloud::operator_key}, "DELETE",
                                            fmt::format("/gpu-instances/{}?tenantID={}", name, group_tenant));
    if (!answer) co_return Result<>{};
    groups->refused += answer->status == 409 && answer->body.contains("owned");
    if (answer->status < 300 && !groups->deleting.contains(owner))
        cloud.found.report(Invariant::owned,
                           fmt::format("{} was deleted by a caller, and {} has it", name, owner));
    co_return Result<>{};
}

using Wrong = std::function<void(master::Desk&, Groups&)>;

Mistakes owners(std::uint64_t seed, std::shared_ptr<Groups> groups, const Wrong& wrong = {}) {
    Mistakes mistakes;
    mistakes.each_second = [groups, wrong](Cloud& cloud, master::Term& term) {
        master::Desk& desk = term.desk("operator");
        check_owners(desk, cloud.found);
        if (wrong) wrong(desk, *groups);
        if (groups->made < groups_max && groups->dice.chance(0.15) && desk.estate.specs.find(Tenants::spec))
            make_group(desk, *groups);
        std::vector<std::string> there;
        for (const auto& [id, stands] : desk.estate.alert_silences.all()) there.push_back(id);
        if (!there.empty() && groups->dice.chance(0.06)) {
            const std::string id = there[groups->dice.below(there.size())];
            groups->deleting.insert(id);
            ++groups->deleted;
            master::delete_owned(desk, {"job", id});
            desk.estate.alert_silences.erase(id);
        }
        constexpr int tries_max = 40;
        std::vector<const Instance*> owned;
        for (const auto& [id, instance] : desk.estate.instances.all())
            if (instance.owner || instance.tenant == group_tenant) owned.push_back(&instance);
        if (!owned.empty() && groups->tried < tries_max && groups->dice.chance(0.2)) {
            const std::string name = owned[groups->dice.below(owned.size())]->caller_id;
            ++groups->tried;
            cloud.clients.start("operator",
                                try_to_delete(cloud, groups, name, name.substr(0, name.rfind('-'))));
        }
        term.commit_then(nullptr);
    };
    return mistakes;
}

TEST(Storm, OwnersMakeAndDeleteGroupsInIt) {
    const Seeds range = seeds(8);
    int instances = 0, deleted = 0, refused = 0;
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        SCOPED_TRACE(seed);
        const auto groups = std::make_shared<Groups>(seed);
        const StormReport report = ride({.seed = seed}, owners(seed, groups));
        EXPECT_FALSE(report.found.any()) << report.found.text();
        instances += groups->instances;
        deleted += groups->deleted;
        refused += groups->refused;
    }
    fmt::print("{} seeds: {} instances with an owner, {} owners deleted, {} callers refused\n",
               range.last - range.first + 1, instances, deleted, refused);
    if (range.last - range.first < 7) return;  // Too few for all of it to happen.
    EXPECT_GT(instances, 0);
    EXPECT_GT(deleted, 0);
    EXPECT_GT(refused, 0);
}

std::uint64_t seeds_until_owned(const Wrong& wrong, const std::string& saying) {
    return seeds_until(
        Invariant::owned, Weather::calm,
        [&](std::uint64_t seed) {
            Mistakes mistakes = owners(seed, std::make_shared<Groups>(seed), wrong);
            mistakes.only = Invariant::owned;
            return mistakes;
        },
        1, saying);
}

TEST(Mistakes, AnOwnerThatIsDeletedBeforeItsInstances) {
    const auto wrong = [](master::Desk& desk, Groups& groups) {
        if (desk.estate.alert_silences.all().empty() || !groups.dice.chance(0.1)) return;
        desk.estate.alert_silences.erase(std::string{desk.estate.alert_silences.all().begin()->first});
    };
    EXPECT_NE(seeds_until_owned(wrong, "is deleted"), 0u);
}

TEST(Mistakes, AnInstanceThatForgetsItsOwner) {
    const auto wrong = [](master::Desk& desk, Groups&) {
        for (const auto& [id, instance] : desk.estate.instances.all())
            if (instance.owner && !instance.deleted)
                return void(desk.estate.instances.edit(std::string{id}).owner.reset());
    };
    EXPECT_NE(seeds_until_owned(wrong, "was deleted by a caller"), 0u);
}

}  // namespace
}  // namespace hostler::simulation
