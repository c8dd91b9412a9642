// Which kinds are told, what a commit says of them, and to whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "domain/tenancy/role.h"
#include "roles/master/changes/change_log.h"
#include "roles/master/testing/desk_rig.h"
#include "roles/master/watch/kinds.h"

namespace hostler::master {
namespace {

using ::testing::ElementsAre;

std::set<std::string_view> stored_kinds() {
    std::set<std::string_view> all;
    Estate{}.each_table_of([&]<class T>(const Table<T>&) { all.insert(Kind<T>::name); });
    return all;
}

TEST(Notices, EachKindIsToldOrSaysWhyNot) {
    std::set<std::string_view> shown, hidden;
    for (const ShownKind& kind : shown_kinds()) shown.insert(kind.stored);
    for (const HiddenKind& kind : hidden_kinds()) {
        hidden.insert(kind.stored);
        EXPECT_FALSE(kind.why.empty()) << kind.stored;
        EXPECT_FALSE(shown.contains(kind.stored)) << kind.stored << " is both";
    }
    for (const std::string_view kind : stored_kinds())
        EXPECT_TRUE(shown.contains(kind) || hidden.contains(kind))
            << kind << " has neither SHOWN nor HIDDEN in its kinds.def";
}

TEST(Notices, AWordHasOnePermission) {
    std::map<std::string_view, Permission> words;
    for (const ShownKind& kind : shown_kinds()) {
        EXPECT_EQ(words.try_emplace(kind.word, kind.permission).first->second, kind.permission) << kind.word;
        EXPECT_TRUE(only_reads(kind.permission)) << kind.word;
    }
    for (const char* word : {"instance",
                             "job",
                             "cluster",
                             "volume",
                             "secret",
                             "network",
                             "project",
                             "tenant",
                             "host",
                             "gpu",
                             "zone",
                             "stock",
                             "access-point",
                             "spec",
                             "price",
                             "operation",
                             "consolidation",
                             "user",
                             "foreign-workload",
                             "group",
                             "role",
                             "grant",
                             "invitation",
                             "session",
                             "key",
                             "service-account",
                             "quota",
                             "queue",
                             "policy",
                             "alert",
                             "alert-rule",
                             "identity-provider",
                             "silence",
                             "receiver",
                             "report-schedule",
                             "report",
                             "share",
                             "event"})
        EXPECT_TRUE(words.contains(word)) << word;
}

std::vector<std::string> told(Estate& estate) {
    std::vector<std::string> lines;
    constexpr std::string_view what[] = {"added", "changed", "removed"};
    for (const Notice& notice : estate.take_notices())
        lines.push_back(fmt::format("{} {} {}", notice.kind, notice.id, what[static_cast<int>(notice.what)]));
    return lines;
}

TEST(Notices, SayWhatACommitDidToEachObject) {
    testing::DeskRig rig;
    (void)rig.take();
    (void)rig.estate.take_notices();
    rig.estate.volumes.add({.id = "v-1", .name = "data", .tenant = "acme"});
    (void)rig.take();
    EXPECT_THAT(told(rig.estate), ElementsAre("volume v-1 added"));
    rig.estate.volumes.edit("v-1").message = "x";
    (void)rig.take();
    EXPECT_THAT(told(rig.estate), ElementsAre("volume v-1 changed"));
    rig.estate.volumes.erase("v-1");
    rig.estate.volumes.add({.id = "v-2", .name = "short", .tenant = "acme"});
    rig.estate.volumes.erase("v-2");
    (void)rig.take();
    EXPECT_THAT(told(rig.estate), ElementsAre("volume v-1 removed")) << "the other was in no commit";
    rig.estate.zones.add({.name = "par"});
    (void)rig.take();
    (void)rig.estate.take_notices();
    rig.estate.zones.erase("par");
    rig.estate.zones.add({.name = "par"});
    (void)rig.take();
    EXPECT_THAT(told(rig.estate), ElementsAre("zone par changed"));
}

TEST(Notices, OfATrialThereAreNone) {
    testing::DeskRig rig;
    rig.estate.zones.add({.name = "par"});
    (void)rig.take();
    (void)rig.estate.take_notices();
    {
        const Estate::Trial trial{rig.estate};
        rig.estate.zones.erase("par");
        rig.estate.zones.add({.name = "ber"});
    }
    ASSERT_NE(rig.estate.zones.find("par"), nullptr);
    (void)rig.take();
    EXPECT_THAT(told(rig.estate), ElementsAre());
}

TEST(Notices, PartsTellOfTheirWhole) {
    testing::DeskRig rig;
    (void)rig.take();
    (void)rig.estate.take_notices();
    rig.estate.hosts.add({.id = "h-new", .zone = "nj", .owner = "farm"});
    rig.estate.slots.add({.id = "s-1", .spec = "small"});
    (void)rig.take();
    EXPECT_THAT(told(rig.estate),
                ElementsAre("host h-new added", "gpu h-new changed", "stock small changed"));
    rig.estate.drains.add({.host = "h-new"});
    (void)rig.take();
    const auto notices = rig.estate.take_notices();
    ASSERT_EQ(notices.size(), 1u);
    EXPECT_EQ(notices[0].kind, "host");
    EXPECT_EQ(notices[0].audience.scope, Scope::of_provider("farm"));
}

TEST(Notices, AreForThoseWhoMayReadTheObject) {
    const auto by = [](Scope scope, BuiltInRole role) {
        return Principal{
            .kind = PrincipalKind::user, .id = "u-1", .held = {{std::move(scope), permissions_of(role)}}};
    };
    const Principal acme = by(Scope::of_tenant("acme"), BuiltInRole::tenant_admin);
    const Principal other = by(Scope::of_tenant("globex"), BuiltInRole::tenant_admin);
    const Principal lab = by(Scope::of_project("acme", "lab"), BuiltInRole::member);
    const Principal all = by(Scope::cloud(), BuiltInRole::operator_);
    const Notice volume{.kind = "volume",
                        .permission = Permission::volume_read,
                        .id = "v-1",
                        .name = {},
                        .audience = {.scope = Scope::of_project("acme", "default")}};
    EXPECT_TRUE(may_know(acme, "user/u-1", volume) && may_know(all, "user/u-1", volume));
    EXPECT_FALSE(may_know(other, "user/u-1", volume) || may_know(lab, "user/u-1", volume));

    Notice policy{.kind = "policy",
                  .permission = Permission::policy_read,
                  .id = "tenant-acme",
                  .name = {},
                  .audience = {.scope = Scope::of_tenant("acme")}};
    EXPECT_TRUE(may_know(acme, "user/u-1", policy) && may_know(lab, "user/u-1", policy));
    EXPECT_FALSE(may_know(other, "user/u-1", policy)) << "that of another tenant is not in the catalogue";
    policy.audience.scope = Scope::cloud();
    EXPECT_TRUE(may_know(other, "user/u-1", policy));

    const Notice session{.kind = "session",
                         .permission = Permission::self_read,
                         .id = "s",
                         .name = {},
                         .audience = {.scope = Scope::cloud(), .own = true, .subject = "user/u-1"}};
    EXPECT_TRUE(may_know(lab, "user/u-1", session));
    EXPECT_FALSE(may_know(all, "user/u-2", session)) << "the own alone";
    EXPECT_TRUE(may_know(acme, "user/u-1", notice_of_events("acme")));
    EXPECT_FALSE(may_know(acme, "user/u-1", notice_of_events("")));
    EXPECT_FALSE(may_know(other, "user/u-1", notice_of_events("acme")));
}

TEST(ChangeLog, ForgetsTheOldest) {
    ChangeLog log{3};
    const auto add = [&](const char* id) {
        log.publish(
            {{.kind = "zone", .permission = Permission::zone_read, .id = id, .name = {}, .audience = {}}});
    };
    EXPECT_TRUE(log.reaches_back_to(0));
    EXPECT_FALSE(log.reaches_back_to(1)) << "there is none yet";
    for (const char* id : {"a", "b", "c", "d", "e"}) add(id);
    EXPECT_EQ(log.last(), 5u);
    EXPECT_EQ(log.size(), 3u);
    EXPECT_FALSE(log.reaches_back_to(1));
    ASSERT_TRUE(log.reaches_back_to(2));
    EXPECT_EQ(log.at(3).id, "c");
    EXPECT_EQ(log.at(5).id, "e");
    EXPECT_TRUE(log.reaches_back_to(5));
}

}  // namespace
}  // namespace hostler::master
