#include "roles/master/api.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "roles/master/testing/term_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using hostler::testing::try_run;

struct ApiTest : ::testing::Test, testing::TermRig {
    ApiTest() {
        Desk& now = desk();
        for (const char* zone : {"lon", "nj"}) now.estate.zones.add({.name = zone});
        now.estate.hosts.add({.id = "h-a",
                              .zone = "nj",
                              .phase = HostPhase::ready,
                              .facts = testing::DeskRig::facts_of("a", 8)});
        (void)commit();
    }
    struct Sink final : api::EventSink {
        std::string bytes;
        bool gone = false;
        int room = 1000;  // Events.
        Task<> send(std::string more) override {
            if (gone || room-- <= 0) co_return fail(Code::unavailable, "the client has gone");
            bytes += more;
            co_return Result<>{};
        }
    };
    api::Reply call(const std::string& tenant, const std::string& method, const std::string& target,
                    const std::string& body = "", const std::string& key = "") {
        api::Caller caller{.actor = "key/" + tenant, .tenant = tenant, .is_operator = tenant.empty()};
        auto answer =
            try_run(loop, wrapped(api.handlers(),
                                  {.method = method, .target = target, .body = body, .idempotency_key = key},
                                  std::move(caller), &nowhere));
        HOSTLER_ASSERT(answer);
        return std::move(**answer);
    }
    static Task<api::Reply> wrapped(const api::Handlers& handlers, api::Inquiry inquiry, api::Caller caller,
                                    Sink* sink) {
        co_return co_await handlers.answer(std::move(inquiry), std::move(caller), sink);
    }
    static std::string start(const std::string& name, const std::string& tenant = "acme",
                             const std::string& image = "demo:1") {
        return fmt::format(
            R"({{"instanceID":"{}","tenantID":"{}","tenantName":"","image":"{}","storageID":"","specName":"small","template":{{}}}})",
            name, tenant, image);
    }
    static std::string stocks(int number, const std::string& operation = "") {
        return fmt::format(
            R"({{"number":{},"operationID":"{}","specName":"small","cpu":"1","memory":"1Gi","gpuType":"H100","gpuNum":1}})",
            number, operation);
    }
    static std::string problem(const api::Reply& reply) {
        return std::string{json::parse(reply.body).at("code").as_string()};
    }
    Api api{lead};
    Sink nowhere;
};

TEST_F(ApiTest, ADryRunChangesNothing) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    const auto commits = store.done;
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(2)).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances?dryRun=true", start("one")).status, 200);
    EXPECT_EQ(call("", "DELETE", "/v1/hosts/h-a?dryRun=true").status, 200);
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(99)).status, 409)
        << "it says what would have been said";
    EXPECT_EQ(store.done, commits);
    EXPECT_TRUE(term().look().estate.unchanged());
    EXPECT_EQ(term().look().estate.slots.all().size(), 2u);
    EXPECT_TRUE(term().look().estate.instances.all().empty());
}

TEST_F(ApiTest, PricesAreSetByOperatorsAndReadByAll) {
    const std::string price = R"({"gpuType":"H100","amount":"2.49","currency":"USD","zone":"lon"})";
    EXPECT_EQ(call("acme", "PUT", "/v1/prices", price).status, 403);
    EXPECT_EQ(call("", "PUT", "/v1/prices?dryRun=true", price).status, 200);
    EXPECT_TRUE(term().look().estate.prices.all().empty());
    ASSERT_EQ(call("", "PUT", "/v1/prices", price).status, 200);
    const auto listed = [&](const std::string& query) {
        return json::parse(call("acme", "GET", "/v1/prices" + query).body).at("items").as_array();
    };
    ASSERT_EQ(listed("").size(), 1u);
    EXPECT_EQ(listed("")[0].at("amount"), "2.49");
    EXPECT_EQ(listed("")[0].at("zone"), "lon");
    EXPECT_EQ(call("acme", "DELETE", "/v1/prices?gpuType=H100&zone=lon").status, 403);
    EXPECT_EQ(problem(call("", "DELETE", "/v1/prices?gpuType=H100&zone=lon&ifVersion=7")), "price_changed");
    ASSERT_EQ(call("", "DELETE", "/v1/prices?gpuType=H100&zone=lon").status, 200);
    EXPECT_EQ(call("", "DELETE", "/v1/prices?gpuType=H100&zone=lon").status, 404);
    EXPECT_TRUE(listed("").empty());
    EXPECT_EQ(listed("?past=true").size(), 1u);
}

TEST_F(ApiTest, OneTenantDoesNotSeeAnothers) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string id = term().look().estate.instances.all().begin()->first;
    EXPECT_EQ(call("globex", "POST", "/gpu-instances", start("two", "acme")).status, 403);
    for (const std::string& name : {std::string{"one"}, id}) {
        EXPECT_EQ(call("acme", "GET", "/gpu-instances/" + name).status, 200);
        EXPECT_EQ(call("globex", "GET", "/gpu-instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "DELETE", "/gpu-instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name).status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name + "/logs").status, 404);
        EXPECT_EQ(call("globex", "GET", "/v1/instances/" + name + "/events").status, 404);
    }
    EXPECT_EQ(json::parse(call("globex", "GET", "/v1/instances").body).at("items").as_array().size(), 0u);
    EXPECT_EQ(call("globex", "GET", "/v1/instances?tenantID=acme").status, 403);
    EXPECT_EQ(call("globex", "POST", "/stocks", stocks(1)).status, 403);
    EXPECT_EQ(
        call("globex", "GET", "/v1/networks/" + term().look().estate.networks.all().begin()->first).status,
        404);
    ASSERT_EQ(call("globex", "POST", "/gpu-instances", start("one", "globex")).status, 200);
    EXPECT_EQ(problem(call("", "GET", "/gpu-instances/one")), "ambiguous");
    EXPECT_EQ(call("", "GET", "/gpu-instances/one?tenantID=globex").status, 200);
}

TEST_F(ApiTest, TheSameKeyAgainGetsTheFirstAnswer) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-1")).status, 200);
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-1")).status, 200);
    EXPECT_EQ(term().look().estate.slots.all().size(), 2u);
    EXPECT_EQ(problem(call("", "POST", "/stocks", stocks(3, "op-1"))), "idempotency_key_reused");
    ASSERT_EQ(call("", "POST", "/stocks", stocks(2, "op-2")).status, 200);
    EXPECT_EQ(term().look().estate.slots.all().size(), 4u);
    const auto volume = call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k");
    ASSERT_LT(volume.status, 300) << volume.body;
    EXPECT_EQ(call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k").body, volume.body);
    EXPECT_EQ(call("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})").status, 409);
    EXPECT_LT(call("globex", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})", "k").status, 300)
        << "another tenant's keys are its own";
    ASSERT_LT(call("", "DELETE", "/v1/hosts/h-a", "", "gone").status, 300);
    EXPECT_LT(call("", "DELETE", "/v1/hosts/h-a", "", "gone").status, 300)
        << "though it is not there any more";
    EXPECT_EQ(call("", "DELETE", "/v1/hosts/h-a").status, 404);
}

TEST_F(ApiTest, SecretsAreToldOnceAndKeptNowhere) {
    const auto made = call("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})", "k");
    ASSERT_LT(made.status, 300) << made.body;
    const std::string secret{json::parse(made.body).at("secret").as_string()};
    EXPECT_EQ(problem(call("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})", "k")),
              "secret_told");
    EXPECT_EQ(term().look().estate.api_keys.all().size(), 1u);
    for (const auto& [key, object] : store.objects)
        if (key.first != "api_key") EXPECT_EQ(object.body.find(secret), std::string::npos) << key.first;
}

TEST_F(ApiTest, ANameIsNeverUsedAgain) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one", "acme", "other:1")).status, 409);
    const std::string id = term().look().estate.instances.all().begin()->first;
    note(desk(), id, InstanceEvent::fail, "exited", "test");
    let_go(desk(), id);
    (void)commit();
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 409);
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 200) << "stopped again: it is";
    timers.advance(std::chrono::hours{24});
    forget_what_is_over(desk());
    (void)commit();
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/one").status, 404);
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/one").status, 404);
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("one"))), "instance_exists");
    const auto all = json::parse(call("acme", "GET", "/v1/instances?all=true").body).at("items").as_array();
    ASSERT_EQ(all.size(), 1u) << "the record is kept";
    EXPECT_EQ(all[0].at("state").as_string(), "failed");
    EXPECT_EQ(json::parse(call("globex", "GET", "/v1/instances?all=true").body).at("items").as_array().size(),
              0u);
}

TEST_F(ApiTest, ListsPageWithoutSkippingOrRepeating) {
    for (const std::string query : {"?limit=2", "?limit=2&all=true"}) {
        if (term().look().estate.instances.all().empty()) {
            ASSERT_EQ(call("", "POST", "/stocks", stocks(5)).status, 200);
            for (int i = 0; i < 5; ++i)
                ASSERT_EQ(call("acme", "POST", "/gpu-instances", start(fmt::format("one-{}", i))).status,
                          200);
        }
        std::vector<std::string> names;
        std::string cursor;
        int pages = 0;
        do {
            const auto page = json::parse(
                call("acme", "GET", "/v1/instances" + query + (cursor.empty() ? "" : "&cursor=" + cursor))
                    .body);
            for (const auto& item : page.at("items").as_array())
                names.emplace_back(item.at("instanceID").as_string());
            const auto* next = page.as_object().if_contains("nextCursor");
            cursor = next && next->is_string() ? std::string{next->as_string()} : "";
        } while (!cursor.empty() && ++pages < 9);
        EXPECT_EQ(names, (std::vector<std::string>{"one-0", "one-1", "one-2", "one-3", "one-4"})) << query;
        EXPECT_EQ(pages, 2) << query;
    }
}

std::string path_of(const api::Operation& operation) {
    std::string path{operation.path};
    for (auto open = path.find('{'); open != path.npos; open = path.find('{'))
        path.replace(open, path.find('}') - open + 1, "one");
    return path;
}

std::string wrong_field(const api::Reply& reply) {
    const json::value told = json::parse(reply.body);
    const json::value* errors = told.as_object().if_contains("errors");
    if (!errors || errors->as_array().empty()) return "";
    return std::string{errors->at(0).at("field").as_string()};
}

TEST_F(ApiTest, EveryListRefusesACursorThatIsNotItsOwn) {
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", start("one")).status, 200);
    const std::string of_zones{
        json::parse(call("", "GET", "/v1/zones?limit=1").body).at("nextCursor").as_string()};
    ASSERT_EQ(call("", "GET", "/v1/zones?cursor=" + of_zones).status, 200);
    int lists = 0;
    for (const api::Operation* operation : api::operations()) {
        if (!operation->list) continue;
        ++lists;
        ASSERT_EQ(call("", "GET", path_of(*operation)).status, 200) << operation->name;
        for (const std::string& cursor :
             {std::string{"nonsense"}, std::string{"1"}, std::string{"a.b.c.d"}, std::string{"1.2.3."},
              std::string{"-1.0.0.x"}, std::string(2000, '1'), of_zones + "%00", of_zones}) {
            if (operation == &api::ops::list_zones && cursor == of_zones) continue;
            const auto reply = call("", "GET", path_of(*operation) + "?cursor=" + cursor);
            EXPECT_EQ(reply.status, 400) << operation->name << " " << cursor;
            EXPECT_EQ(reply.content_type, "application/problem+json") << operation->name;
            if (!cursor.ends_with("%00")) EXPECT_EQ(wrong_field(reply), "cursor") << reply.body;
        }
    }
    EXPECT_GE(lists, 12);
    const auto both = call("", "GET", "/v1/gpus?limit=0&cursor=nonsense");
    EXPECT_EQ(json::parse(both.body).at("errors").as_array().size(), 2u) << "all that is wrong at once";
}

TEST_F(ApiTest, ACursorIsForOneQueryOfOneTenant) {
    const auto first = json::parse(call("", "GET", "/v1/gpus?limit=3").body);
    const std::string next{first.at("nextCursor").as_string()};
    const auto rest = json::parse(call("", "GET", "/v1/gpus?limit=100&cursor=" + next).body);
    EXPECT_EQ(first.at("items").as_array().size() + rest.at("items").as_array().size(), 8u);
    EXPECT_EQ(wrong_field(call("", "GET", "/v1/gpus?zone=nj&cursor=" + next)), "cursor");

    ASSERT_EQ(call("", "POST", "/stocks", stocks(2)).status, 200);
    for (const char* name : {"one", "two"})
        ASSERT_EQ(call("acme", "POST", "/gpu-instances", start(name)).status, 200);
    const auto cursor = [&](const std::string& query) {
        return std::string{json::parse(call("acme", "GET", "/v1/instances?limit=1" + query).body)
                               .at("nextCursor")
                               .as_string()};
    };
    const std::string living = cursor(""), all = cursor("&all=true");
    EXPECT_EQ(call("acme", "GET", "/v1/instances?all=false&cursor=" + living).status, 200)
        << "the same in words";
    EXPECT_EQ(call("acme", "GET", "/v1/instances?all=true&cursor=" + all).status, 200);
    EXPECT_EQ(wrong_field(call("acme", "GET", "/v1/instances?cursor=" + all)), "cursor");
    EXPECT_EQ(wrong_field(call("acme", "GET", "/v1/instances?all=true&cursor=" + living)), "cursor");
    EXPECT_EQ(wrong_field(call("globex", "GET", "/v1/instances?cursor=" + living)), "cursor");
    EXPECT_EQ(wrong_field(call("acme", "GET", "/v1/instances?watch=true&cursor=nonsense")), "cursor");
}

struct AuditTest : ApiTest {
    // The one line that this call leaves.
    AuditLine line(const std::string& tenant, const std::string& method, const std::string& target,
                   const std::string& body = "") {
        const std::size_t before = store.audit.size();
        const auto reply = call(tenant, method, target, body);
        EXPECT_LT(reply.status, 300) << target << " " << reply.body;
        answered = reply.body;
        EXPECT_EQ(store.audit.size(), before + 1) << target;
        return store.audit.size() > before ? store.audit.back() : AuditLine{};
    }
    static json::value in(const std::string& body, const char* member) {
        return json::parse(body).at(member);
    }
    std::string id() const { return std::string{json::parse(answered).at("id").as_string()}; }
    std::string answered;
};

TEST_F(AuditTest, ALineSaysWhoDidWhatToWhichObjectAndWhatItWasBefore) {
    AuditLine told = line("", "POST", "/stocks", stocks(2));
    EXPECT_EQ(std::tie(told.actor, told.operation, told.subject, told.tenant, told.before),
              std::tuple("key/", "createStocks", "stock/small", "", ""));
    EXPECT_EQ(told.status, 200);
    EXPECT_EQ(told.time, timers.wall());
    EXPECT_EQ(in(told.after, "wanted"), 2);
    told = line("", "DELETE", "/stocks", R"({"number":1,"specName":"small"})");
    EXPECT_EQ(in(told.before, "wanted"), 2);
    EXPECT_EQ(in(told.after, "wanted"), 1);

    told = line("acme", "POST", "/gpu-instances", start("one"));
    const std::string instance = "instance/" + term().look().estate.instances.all().begin()->first;
    EXPECT_EQ(std::tie(told.actor, told.operation, told.subject, told.tenant, told.before),
              std::tuple("key/acme", "createInstance", instance, "acme", ""));
    EXPECT_EQ(in(told.after, "image"), "demo:1");
    told = line("", "DELETE", "/gpu-instances/one?tenantID=acme");
    EXPECT_EQ(std::tie(told.actor, told.subject, told.tenant), std::tuple("key/", instance, "acme"))
        << "whose it is, not who did it";
    EXPECT_EQ(in(told.before, "state"), "ready");
    EXPECT_EQ(in(told.after, "state"), "stopping");

    told = line("", "POST", "/v1/zones", R"({"name":"fra","location":"Frankfurt"})");
    EXPECT_EQ(std::tie(told.subject, told.before), std::tuple("zone/fra", ""));
    EXPECT_EQ(in(told.after, "location"), "Frankfurt");
    told = line("", "DELETE", "/v1/zones/fra");
    EXPECT_EQ(std::tie(told.operation, told.subject, told.after), std::tuple("deleteZone", "zone/fra", ""));
    EXPECT_EQ(in(told.before, "location"), "Frankfurt");

    told = line("", "POST", "/v1/hosts/a/cordon");
    EXPECT_EQ(told.subject, "host/h-a") << "its id, though it was named otherwise";
    EXPECT_EQ(in(told.before, "cordoned"), false);
    EXPECT_EQ(in(told.after, "cordoned"), true);
    told = line("", "POST", "/v1/hosts/h-a/uncordon");
    EXPECT_EQ(in(told.before, "cordoned"), true);
    told = line("", "DELETE", "/v1/hosts/a?force=true");
    EXPECT_EQ(std::tie(told.subject, told.after), std::tuple("host/h-a", ""));
    EXPECT_EQ(in(told.before, "name"), "a");
}

TEST_F(AuditTest, VolumesKeysAndTokensTooAndNoSecrets) {
    AuditLine told = line("acme", "POST", "/v1/volumes", R"({"name":"data","size":"1Gi"})");
    const std::string volume = "volume/" + id();
    EXPECT_EQ(std::tie(told.subject, told.tenant, told.before), std::tuple(volume, "acme", ""));
    EXPECT_EQ(in(told.after, "size"), "1Gi");
    told = line("acme", "DELETE", "/v1/volumes/data");
    EXPECT_EQ(told.subject, volume);
    EXPECT_EQ(in(told.before, "state"), "available");

    told = line("", "POST", "/v1/api-keys", R"({"name":"ci","tenantID":"acme"})");
    const std::string key = id();
    EXPECT_EQ(std::tie(told.subject, told.tenant, told.before), std::tuple("api_key/" + key, "acme", ""));
    EXPECT_EQ(in(told.after, "name"), "ci");
    told = line("acme", "DELETE", "/v1/api-keys/" + key);
    EXPECT_EQ(std::tie(told.subject, told.after), std::tuple("api_key/" + key, ""));
    EXPECT_EQ(in(told.before, "name"), "ci");

    told = line("", "POST", "/v1/host-tokens", R"({"zone":"nj"})");
    const std::string token = id();
    EXPECT_EQ(std::tie(told.subject, told.before), std::tuple("host_token/" + token, ""));
    told = line("", "DELETE", "/v1/host-tokens/" + token);
    EXPECT_EQ(std::tie(told.subject, told.after), std::tuple("host_token/" + token, ""));
    EXPECT_EQ(in(told.before, "zone"), "nj");

    ASSERT_EQ(call("", "POST", "/stocks", stocks(1)).status, 200);
    std::string wanted = start("one");
    wanted.replace(wanted.find(R"("template":{})"), 13,
                   R"("template":{"envs":[{"name":"PASSWORD","value":"hunter2"}]})");
    line("acme", "POST", "/gpu-instances", wanted);
    for (const AuditLine& kept : store.audit)
        for (const std::string secret : {"hunter2", "hk_", "ht_", "#"})
            EXPECT_EQ((kept.before + kept.after).find(secret), std::string::npos) << kept.operation;
}

TEST_F(AuditTest, WhatChangesNothingLeavesNoLine) {
    EXPECT_EQ(call("", "POST", "/stocks", stocks(99)).status, 409);
    EXPECT_EQ(call("", "POST", "/stocks?dryRun=true", stocks(1)).status, 200);
    EXPECT_EQ(call("", "GET", "/v1/zones").status, 200);
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 200);
    ASSERT_EQ(call("", "POST", "/stocks", stocks(1, "op-1")).status, 200);
    EXPECT_EQ(store.audit.size(), 1u) << "sent twice, done once";
}

struct WatchTest : ApiTest {
    WatchTest() {
        for (const char* tenant : {"acme", "b"})
            desk().estate.api_keys.add({.id = tenant, .hash = tenant, .tenant = tenant});
        (void)commit();
    }
    ~WatchTest() override { (void)try_run(loop, watching.close()); }
    struct Watcher {
        Sink sink;
        std::optional<Result<api::Reply>> ended;
        std::pair<int, std::string> refused() const {
            return ended && *ended ? std::pair((*ended)->status, problem(**ended))
                                   : std::pair(0, std::string{});
        }
    };
    std::shared_ptr<Watcher> watch(const std::string& tenant = "acme", const std::string& last_id = "",
                                   int room = 1000) {
        const auto watcher = std::make_shared<Watcher>();
        watcher->sink.room = room;
        watching.start(
            "watch",
            [](const api::Handlers& handlers, std::shared_ptr<Watcher> of, std::string from,
               std::string id) -> Task<> {
                of->ended.emplace(co_await wrapped(
                    handlers, {.method = "GET", .target = "/v1/instances?watch=true", .last_event_id = id},
                    {.actor = "key/" + (from.empty() ? "operator" : from),
                     .tenant = from,
                     .is_operator = from.empty()},
                    &of->sink));
                co_return Result<>{};
            }(api.handlers(), watcher, tenant, last_id));
        timers.settle();
        return watcher;
    }
    void add(const std::string& id) {
        desk().estate.instances.add({.id = id, .caller_id = id, .tenant = "acme"});
    }
    // Commits, waiting for nothing.
    void change(const std::string& id, const std::string& message) {
        Desk& now = desk();
        if (!now.estate.instances.find(id)) add(id);
        now.estate.instances.edit(id).message = message;
        term().commit_then(nullptr);
        timers.settle();
    }
    static std::string last_id(const std::string& events) {
        const auto at = ("\n" + events).rfind("\nid: ");
        return at == std::string::npos ? "" : events.substr(at + 4, events.find('\n', at + 4) - at - 4);
    }
    TaskGroup watching{loop};
};

TEST_F(WatchTest, WatchesAreBounded) {
    settings.watches_max = 3;
    settings.watches_tenant_max = 2;
    const auto first = watch(), second = watch(), third = watch();
    EXPECT_FALSE(first->ended || second->ended);
    EXPECT_EQ(third->refused(), std::pair(429, std::string{"too_many_watches"}));
    EXPECT_FALSE(watch("b")->ended) << "another tenant";
    EXPECT_EQ(watch("b")->refused(), std::pair(503, std::string{"overloaded"})) << "all of them together";
    EXPECT_FALSE(watch("")->ended) << "operators are apart";
    EXPECT_EQ(api.watches().tenants(), 3u);
    first->sink.gone = true;
    term().feed().beat();
    timers.settle();
    EXPECT_TRUE(first->ended) << "its client has gone";
    const auto fourth = watch();
    EXPECT_FALSE(fourth->ended) << "there is room again";
    EXPECT_NE(fourth->sink.bytes.find("event: synced"), std::string::npos);
}

TEST_F(WatchTest, ASlowStoreIsNotOvertaken) {
    change("i-1", "one");
    const auto watcher = watch();
    watcher->sink.bytes.clear();
    store.hang = true;
    change("i-1", "two");
    change("i-1", "three");
    EXPECT_EQ(watcher->sink.bytes, "");
    const auto late = watch();
    EXPECT_EQ(late->sink.bytes, "") << "what is there at the beginning is told once it is durable, too";
    store.waiting.front()->wake({});  // The second is durable; the third, by now in memory, is not.
    store.waiting.pop_front();
    timers.settle();
    EXPECT_EQ(watcher->sink.bytes, "");
    store.let_go();
    timers.settle();
    EXPECT_NE(watcher->sink.bytes.find("three"), std::string::npos);
    EXPECT_NE(late->sink.bytes.find("three"), std::string::npos);
}

TEST_F(WatchTest, WhoIsCutInTheMiddleOfACommitMissesNothing) {
    const auto watcher = watch();
    const std::string begun = last_id(watcher->sink.bytes);
    for (const char* id : {"i-1", "i-2", "i-3"}) add(id);
    watcher->sink.room = 1;  // Events.
    (void)commit();
    timers.settle();
    ASSERT_TRUE(watcher->ended);
    EXPECT_NE(watcher->sink.bytes.find("i-1"), std::string::npos);
    EXPECT_EQ(last_id(watcher->sink.bytes), begun);
    const auto again = watch("acme", last_id(watcher->sink.bytes));
    for (const char* id : {"i-2", "i-3"}) EXPECT_NE(again->sink.bytes.find(id), std::string::npos) << id;
    const auto later = watch("acme", last_id(again->sink.bytes));
    EXPECT_EQ(later->sink.bytes.find("i-3"), std::string::npos) << "told to the end, it is not told again";
}

TEST_F(WatchTest, WhoIsCutAtTheBeginningBeginsAnew) {
    for (const char* id : {"i-1", "i-2"}) add(id);
    (void)commit();
    const auto watcher = watch("acme", "", 1);
    ASSERT_TRUE(watcher->ended);
    EXPECT_EQ(last_id(watcher->sink.bytes), "");
}

TEST_F(WatchTest, WhatIsTooLongAgoIsGoneForGood) {
    add("i-1");
    (void)commit();
    const auto late = watch("acme", "999");
    ASSERT_TRUE(late->ended);
    EXPECT_EQ(late->refused(), std::pair(410, std::string{"watch_expired"}));
    EXPECT_NE((*late->ended)->body.find("without Last-Event-ID"), std::string::npos);
}

// An idle watch goes on from where it is, not from where it last had something to tell.
TEST_F(WatchTest, ABeatTellsHowFarItHasCome) {
    const auto watcher = watch();
    touch("par");
    (void)commit();
    term().feed().beat();
    timers.settle();
    EXPECT_EQ(last_id(watcher->sink.bytes), std::to_string(term().feed().last()));
}

TEST_F(WatchTest, EndsWithItsKey) {
    const auto watcher = watch();
    desk().estate.api_keys.edit("acme").revoked_at = 1;
    (void)commit();
    add("i-1");
    (void)commit();
    EXPECT_TRUE(watcher->ended);
    EXPECT_EQ(watcher->sink.bytes.find("i-1"), std::string::npos);
}

}  // namespace
}  // namespace hostler::master
