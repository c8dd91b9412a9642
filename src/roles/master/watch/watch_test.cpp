// One stream of the changes of all kinds.
#include <gmock/gmock.h>

#include "domain/tenancy/role.h"
#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using hostler::testing::try_run;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Event {
    std::string name, id;
    json::value data;
};

struct ChangesTest : testing::ApiRig {
    ChangesTest() {
        Estate& estate = desk().estate;
        for (const char* tenant : {"acme", "globex"}) {
            estate.api_keys.add({.id = tenant, .hash = tenant, .tenant = tenant});
            estate.tenants.add({.id = tenant});
        }
        const std::int64_t now = desk().estate.micros();
        estate.users.add({.id = "u-1", .login = "ann", .tenant = "acme", .created_at = now});
        estate.logins.add({.hash = "h1",
                           .user = "u-1",
                           .created_at = now,
                           .used_at = now,
                           .expires_at = now + std::int64_t{3600} * 1'000'000});
        estate.grants.add({.id = "gr-1",
                           .subject = "user/u-1",
                           .role = "member",
                           .at = ScopeKind::project,
                           .tenant = "acme",
                           .project = "lab"});
        (void)commit();
    }
    ~ChangesTest() override { (void)try_run(loop, watching.close()); }

    // "" an operator, "ann" a member of acme's project lab, else a tenant's key.
    static api::Caller caller(const std::string& who) {
        if (who != "ann") return caller_for(who);
        api::Caller ann{.actor = "user/u-1", .credential = "login/h1", .tenant = "acme"};
        ann.principal = {.kind = PrincipalKind::user,
                         .id = "u-1",
                         .held = {{Scope::of_project("acme", "lab"), permissions_of(BuiltInRole::member)}}};
        return ann;
    }
    struct Watcher {
        Sink sink;
        std::optional<Result<api::Reply>> ended;
        std::vector<Event> events() const {
            std::vector<Event> all;
            Event event;
            for (std::string_view rest = sink.bytes; !rest.empty();) {
                const std::string_view line = rest.substr(0, rest.find('\n'));
                rest.remove_prefix(std::min(rest.size(), line.size() + 1));
                if (line.starts_with("id: ")) event.id = line.substr(4);
                if (line.starts_with("event: ")) event.name = line.substr(7);
                if (line.starts_with("data: ")) event.data = json::parse(line.substr(6));
                if (line.empty()) {
                    if (!event.name.empty()) all.push_back(event);
                    event = {};
                }
            }
            return all;
        }
        // "volume v-1 added", and names of events without data.
        std::vector<std::string> told() const {
            std::vector<std::string> lines;
            for (const Event& event : events()) {
                const json::object& data = event.data.as_object();
                lines.push_back(event.name != "change" ? event.name
                                                       : fmt::format("{} {} {}", text(data, "kind"),
                                                                     text(data, "id"), text(data, "change")));
            }
            return lines;
        }
        std::string last_id() const {
            std::string id;
            for (const Event& event : events())
                if (!event.id.empty()) id = event.id;
            return id;
        }
    };
    static std::string text(const json::object& data, std::string_view name) {
        const json::value* value = data.if_contains(name);
        return value && value->is_string() ? std::string{value->get_string()} : "";
    }
    std::shared_ptr<Watcher> watch(const std::string& who, const std::string& query = "",
                                   const std::string& last_id = "") {
        const auto watcher = std::make_shared<Watcher>();
        watching.start("watch",
                       [](const api::Handlers& handlers, std::shared_ptr<Watcher> of, api::Caller from,
                          std::string target, std::string id) -> Task<> {
                           of->ended.emplace(co_await wrapped(
                               handlers, {.method = "GET", .target = std::move(target), .last_event_id = id},
                               std::move(from), &of->sink));
                           co_return Result<>{};
                       }(api.handlers(), watcher, caller(who), "/v1/watch" + query, last_id));
        timers.settle();
        return watcher;
    }
    void add_volume(const std::string& id, const std::string& tenant = "acme",
                    const std::string& project = "default") {
        desk().estate.volumes.add({.id = id, .name = "of-" + id, .tenant = tenant, .project = project});
        durable();
    }
    void durable() {
        (void)commit();
        timers.settle();
    }
    TaskGroup watching{loop};
};

TEST_F(ChangesTest, TellsWhatHappensToObjectsOfAllKinds) {
    const auto watcher = watch("");
    EXPECT_THAT(watcher->told(), ElementsAre("synced"));
    add_volume("v-1");
    desk().estate.volumes.edit("v-1").message = "x";
    desk().estate.zones.add({.name = "par"});
    desk().estate.event("volume", "v-1", "acme", "resized", "It was resized.");
    durable();
    desk().estate.volumes.erase("v-1");
    durable();
    EXPECT_THAT(watcher->told(),
                ElementsAre("synced", "volume v-1 added", "zone par added", "volume v-1 changed",
                            "event acme changed", "volume v-1 removed"));
    const auto events = watcher->events();
    EXPECT_EQ(
        json::serialize(events[1].data),
        R"({"kind":"volume","id":"v-1","name":"of-v-1","tenantID":"acme","project":"default","change":"added"})");
    EXPECT_EQ(json::serialize(events[2].data), R"({"kind":"zone","id":"par","name":"par","change":"added"})");
    EXPECT_TRUE(events[0].id.starts_with("1-")) << events[0].id;
    EXPECT_EQ(watcher->last_id(), fmt::format("1-{}", term().changes().last()));
}

TEST_F(ChangesTest, SeveralChangesOfAnObjectAreOne) {
    const auto watcher = watch("acme");
    const std::string from = watcher->last_id();
    add_volume("v-1");
    for (int i = 0; i < 5; ++i) {
        desk().estate.volumes.edit("v-1").message = std::to_string(i);
        durable();
    }
    EXPECT_EQ(watcher->told().size(), 7u) << "each commit is told at once";
    EXPECT_THAT(watch("acme", "", from)->told(), ElementsAre("synced", "volume v-1 added"));
    desk().estate.volumes.erase("v-1");
    durable();
    EXPECT_THAT(watch("acme", "", from)->told(), ElementsAre("synced", "volume v-1 removed"));
}

TEST_F(ChangesTest, ContinuesWhereItWasCut) {
    const auto first = watch("acme");
    add_volume("v-1");
    const std::string id = first->last_id();
    add_volume("v-2");
    add_volume("v-3");
    for (const auto& again : {watch("acme", "", id), watch("acme", "?from=" + id)})
        EXPECT_THAT(again->told(), ElementsAre("synced", "volume v-2 added", "volume v-3 added"));
    EXPECT_EQ(watch("acme", "?from=1-0", id)->told().size(), 3u) << "the header precedes";
    EXPECT_EQ(watch("acme", "", id)->events()[0].id, id) << "where it stands";
}

TEST_F(ChangesTest, WhatIsNoLongerKeptIsAReset) {
    add_volume("v-1");
    for (const std::string id : {"1-999999", "7-3"}) {
        const std::string now = fmt::format("1-{}", term().changes().last());
        const auto late = watch("acme", "", id);
        EXPECT_THAT(late->told(), ElementsAre("reset", "synced")) << id;
        EXPECT_EQ(late->last_id(), now) << id;
        add_volume("v-after-" + id);
        EXPECT_EQ(late->told().size(), 3u) << "and it is told what comes";
        desk().estate.volumes.erase("v-after-" + id);
        durable();
    }
}

struct FewChanges : ChangesTest {
    FewChanges() {
        finish();
        settings.changes_max = 4;
        begin(2);
        for (const char* tenant : {"acme", "globex"})
            desk().estate.api_keys.add({.id = tenant, .hash = tenant, .tenant = tenant});
        (void)commit();
    }
};

TEST_F(FewChanges, WhoFallsTooFarBehindReadsEverythingAgain) {
    const auto watcher = watch("acme");
    const std::string id = watcher->last_id();
    for (int i = 0; i < 6; ++i)
        desk().estate.volumes.add({.id = fmt::format("v-{}", i), .name = "n", .tenant = "acme"});
    durable();
    EXPECT_THAT(watcher->told(), ElementsAre("synced", "reset"));
    EXPECT_THAT(watch("acme", "", id)->told(), ElementsAre("reset", "synced"));
    EXPECT_LE(term().changes().size(), 4u);
}

TEST_F(ChangesTest, EachSeesWhatIsItsOwn) {
    const auto acme = watch("acme"), globex = watch("globex"), ann = watch("ann"), all = watch("");
    add_volume("v-1");
    add_volume("v-lab", "acme", "lab");
    add_volume("v-other", "globex");
    desk().estate.hosts.add({.id = "h-b", .zone = "nj", .owner = "farm"});
    durable();
    desk().estate.volumes.erase("v-other");
    desk().estate.volumes.erase("v-1");
    durable();
    EXPECT_THAT(acme->told(),
                ElementsAre("synced", "volume v-1 added", "volume v-lab added", "volume v-1 removed"));
    EXPECT_THAT(globex->told(), ElementsAre("synced", "volume v-other added", "volume v-other removed"));
    EXPECT_THAT(ann->told(), ElementsAre("synced", "volume v-lab added")) << "of its project alone";
    EXPECT_EQ(all->told().size(), 8u);
    EXPECT_EQ(all->events()[4].data.at("provider"), "farm");
}

TEST_F(ChangesTest, TellsAPersonOfTheOwnSessionsAlone) {
    const auto ann = watch("ann", "?kinds=session"), all = watch("", "?kinds=session");
    desk().estate.logins.edit("h1").client = "x";
    durable();
    EXPECT_EQ(ann->told().size(), 2u);
    EXPECT_EQ(all->told().size(), 1u);
}

TEST_F(ChangesTest, IsOfTheKindsThatAreAskedFor) {
    const auto watcher = watch("", "?kinds=host,%20volume");
    add_volume("v-1");
    touch("par");
    desk().estate.hosts.edit("h-a").message = "x";
    durable();
    EXPECT_THAT(watcher->told(), ElementsAre("synced", "volume v-1 added", "host h-a changed"));
    const auto wrong = call("", "GET", "/v1/watch?kinds=instance,volum");
    EXPECT_EQ(wrong.status, 400) << wrong.body;
    EXPECT_THAT(wrong.body, HasSubstr("there is no kind volum; did you mean volume?"));
    EXPECT_THAT(wrong.body, HasSubstr(R"("field":"kinds")"));
    EXPECT_EQ(call("", "GET", "/v1/watch?from=yesterday").status, 400);
    EXPECT_EQ(watch("", "", "yesterday")->ended.value()->status, 400);
}

TEST_F(ChangesTest, EndsWithItsCredential) {
    const auto watcher = watch("acme", "?kinds=volume"), ann = watch("ann", "?kinds=volume");
    desk().estate.api_keys.edit("acme").revoked_at = 1;
    (void)commit();
    add_volume("v-1");
    EXPECT_TRUE(watcher->ended);
    EXPECT_THAT(watcher->told(), ElementsAre("synced")) << "nothing is told from then on";
    desk().estate.logins.erase("h1");
    (void)commit();
    EXPECT_FALSE(ann->ended);
    timers.advance(std::chrono::seconds{2});
    term().changes().beat();
    timers.settle();
    EXPECT_TRUE(ann->ended) << "also while nothing happens that it is told of";
}

TEST_F(ChangesTest, WhoMayLessFromNowOnIsToldLess) {
    const auto ann = watch("ann");
    desk().estate.grants.erase("gr-1");
    (void)commit();
    add_volume("v-lab", "acme", "lab");
    EXPECT_THAT(ann->told(), ElementsAre("synced"));
}

TEST_F(ChangesTest, CountsAmongTheWatches) {
    settings.watches_tenant_max = 1;
    const auto first = watch("acme");
    EXPECT_FALSE(first->ended);
    EXPECT_EQ(problem(**watch("acme")->ended), "too_many_watches");
}

TEST_F(ChangesTest, AnIdleOneSaysThatItIsThere) {
    const auto watcher = watch("acme", "?kinds=volume");
    touch("par");
    durable();
    watcher->sink.bytes.clear();
    timers.advance(std::chrono::seconds{16});
    term().changes().beat();
    timers.settle();
    EXPECT_EQ(watcher->sink.bytes, fmt::format(":\nid: 1-{}\n\n", term().changes().last()));
}

TEST_F(ChangesTest, ASlowStoreIsNotOvertaken) {
    const auto watcher = watch("acme");
    store.hang = true;
    desk().estate.volumes.add({.id = "v-1", .name = "data", .tenant = "acme"});
    term().commit_then(nullptr);
    timers.settle();
    EXPECT_THAT(watcher->told(), ElementsAre("synced"));
    store.let_go();
    timers.settle();
    EXPECT_THAT(watcher->told(), ElementsAre("synced", "volume v-1 added"));
}

TEST_F(ChangesTest, WhoMayMoreFromNowOnIsToldMore) {
    const auto ann = watch("ann");
    desk().estate.grants.add({.id = "gr-2",
                              .subject = "user/u-1",
                              .role = "member",
                              .at = ScopeKind::project,
                              .tenant = "acme",
                              .project = "default"});
    (void)commit();
    add_volume("v-1");
    EXPECT_EQ(ann->told().back(), "volume v-1 added");
}

TEST_F(ChangesTest, AChangeCostsNothingForThoseWhoAreNotTold) {
    const auto rows_of_change = [&](const std::string& id) {
        const std::uint64_t before = term().look().estate.rows_visited();
        add_volume(id, "globex");
        return term().look().estate.rows_visited() - before;
    };
    const std::uint64_t alone = rows_of_change("v-1");
    std::vector<std::shared_ptr<Watcher>> all;
    for (int i = 0; i < 40; ++i) all.push_back(watch("ann"));
    (void)rows_of_change("v-2");
    EXPECT_EQ(rows_of_change("v-3"), alone);
    EXPECT_THAT(all.front()->told(), ElementsAre("synced"));
}

// What a commit costs does not grow with the fleet.
TEST_F(ChangesTest, LooksAtNoRowsBeyondThoseOfTheCommit) {
    for (int i = 0; i < 2000; ++i)
        desk().estate.volumes.add({.id = fmt::format("v-{}", i), .name = "n", .tenant = "globex"});
    (void)commit();
    const auto watcher = watch("", "?kinds=volume");
    desk().estate.volumes.edit("v-7").message = "x";
    const std::uint64_t before = term().look().estate.rows_visited();
    durable();
    EXPECT_LT(term().look().estate.rows_visited() - before, 20u);
    EXPECT_EQ(watcher->told().back(), "volume v-7 changed");
}

}  // namespace
}  // namespace hostler::master
