// Policies over the API: what they refuse, whom they bind, and who changes them.
#include "roles/master/policy/policies.h"

#include <gmock/gmock.h>

#include "domain/tenancy/role.h"
#include "roles/master/http/caller.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/run/places.h"
#include "roles/master/run/runs.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/share/shares.h"
#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct PoliciesApi : testing::ApiRig {
    PoliciesApi() {
        HOSTLER_ASSERT(call("", "POST", "/stocks", stocks(4)).status == 200);
        for (const char* tenant : {"acme", "globex"})
            HOSTLER_ASSERT(
                call("", "POST", "/v1/tenants", fmt::format(R"({{"name":"{}"}})", tenant)).status == 201);
    }
    // "" asks as an operator, "NAME" by a key of the tenant, "admin of NAME" and "member of NAME" as people.
    api::Reply call(const std::string& who, const std::string& method, const std::string& target,
                    const std::string& body = "") {
        const auto of = who.find(" of ");
        if (of == who.npos) return ApiRig::call(who, method, target, body);
        const std::string tenant = who.substr(of + 4);
        const bool admin = who.starts_with("admin");
        api::Caller caller = caller_for(tenant);
        caller.principal = {
            .kind = PrincipalKind::user,
            .id = "u-1",
            .held = {{admin ? Scope::of_tenant(tenant) : Scope::of_project(tenant, "default"),
                      permissions_of(admin ? BuiltInRole::tenant_admin : BuiltInRole::member)}}};
        return **hostler::testing::try_run(
            loop,
            wrapped(api.handlers(), {.method = method, .target = target, .body = body}, caller, &nowhere));
    }
    api::Reply set(const std::string& rules, const std::string& tenant = "acme",
                   const std::string& who = "") {
        const std::string of = tenant.empty() ? "" : fmt::format(R"("tenantID":"{}")", tenant);
        return call(who, "PUT", "/v1/policies",
                    fmt::format("{{{}{}{}}}", of, of.empty() || rules.empty() ? "" : ",", rules));
    }
    void has(const std::string& rules, const std::string& tenant = "acme") {
        const auto done = set(rules, tenant);
        ASSERT_EQ(done.status, 200) << done.body;
    }
    api::Reply create(const std::string& name, const std::string& more = "", const std::string& query = "",
                      const std::string& tenant = "acme") {
        std::string body = start(name, tenant);
        if (!more.empty()) body.insert(1, more + ",");
        return call(tenant, "POST", "/gpu-instances" + query, body);
    }
    // Which fields a refusal by policies names.
    static std::vector<std::string> refused(const api::Reply& reply) {
        EXPECT_EQ(reply.status, 403) << reply.body;
        EXPECT_EQ(problem(reply), "policy_denied");
        std::vector<std::string> fields;
        const json::value body = json::parse(reply.body);
        if (const json::value* errors = body.as_object().if_contains("errors"))
            for (const auto& one : errors->as_array()) fields.emplace_back(one.at("field").as_string());
        return fields;
    }
    std::string made(const std::string& name, const std::string& more = "") {
        const auto done = create(name, more);
        EXPECT_EQ(done.status, 200) << done.body;
        return find_instance(desk(), "acme", name)->id;
    }
    void rest(const std::string& id) {
        note(desk(), id, InstanceEvent::halt, "stopped_by_owner", "test");
        note(desk(), id, InstanceEvent::absent, "stopped_by_owner", "test");
        let_go(desk(), id);
        (void)commit();
    }
    void fail_it(const std::string& id) {
        note(desk(), id, InstanceEvent::fail, "exited", "test");
        let_go(desk(), id);
        (void)commit();
    }
    const Instance& instance(const std::string& id) { return term().look().estate.instances.at(id); }
    const Estate& estate() { return term().look().estate; }
};

constexpr std::string_view all_rules =
    R"("specs":["h100-*"],"zones":["lon"],"images":["registry.acme.com/*"],"maxRunSeconds":3600,"publicPorts":false,"shareLinks":false)";

TEST_F(PoliciesApi, AreSetShownChangedAndDeleted) {
    const auto made =
        set(R"("zones":["nj"],"trust":"trusted","images":["demo","acme/*"],"maxRunSeconds":3600)");
    EXPECT_EQ(made.status, 200) << made.body;
    EXPECT_THAT(made.body,
                HasSubstr(R"("id":"tenant-acme","tenantID":"acme","zones":["nj"],"trust":"trusted")"));
    EXPECT_THAT(made.body, HasSubstr(R"("maxRunSeconds":3600,"publicPorts":true,"shareLinks":true)"));
    EXPECT_THAT(made.body, HasSubstr(R"("version":1)"));
    EXPECT_THAT(made.body, Not(HasSubstr("specs")));
    EXPECT_EQ(call("", "GET", "/v1/policies/tenant-acme").body, made.body);
    EXPECT_EQ(problem(set(R"("zones":["lon"],"ifVersion":7)")), "version_differs");
    const auto changed = set(R"("specs":["small"],"ifVersion":1)");
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_THAT(changed.body, Not(HasSubstr("zones"))) << "what is not given is removed";
    EXPECT_THAT(changed.body, HasSubstr(R"("version":2)"));
    EXPECT_THAT(set(R"("specs":["small"])").body, HasSubstr(R"("version":2)")) << "nothing changes";
    EXPECT_EQ(problem(call("", "DELETE", "/v1/policies/tenant-acme?ifVersion=1")), "version_differs");
    EXPECT_EQ(call("", "DELETE", "/v1/policies/tenant-acme?ifVersion=2").status, 200);
    EXPECT_TRUE(estate().policies.all().empty());
    EXPECT_EQ(problem(call("", "GET", "/v1/policies/tenant-acme")), "policy_not_found");
    std::vector<std::string> told;
    for (const EventRecord& event : store.log)
        if (event.message.contains("olicy of tenant acme")) told.push_back(event.reason);
    EXPECT_THAT(told, ElementsAre("created", "changed", "deleted"));
    std::vector<std::string> audited;
    for (const AuditLine& line : store.lines)
        if (line.subject == "policy/tenant-acme")
            audited.push_back(fmt::format("{} {} {}", line.operation, line.before.empty() ? "-" : "before",
                                          line.after.empty() ? "-" : "after"));
    EXPECT_THAT(audited, ::testing::Contains("replacePolicy - after"));
    EXPECT_THAT(audited, ::testing::Contains("replacePolicy before after"));
    EXPECT_THAT(audited, ::testing::Contains("deletePolicy before -"));
}

TEST_F(PoliciesApi, NameWhatDoesNotExist) {
    const auto wrong = set(R"("specs":["h2*","smal"],"zones":["nj","nk"])");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_THAT(wrong.body, HasSubstr(R"("specs[1]")"));
    EXPECT_THAT(wrong.body, HasSubstr("did you mean small?"));
    EXPECT_THAT(wrong.body, HasSubstr(R"("zones[1]")"));
    EXPECT_THAT(wrong.body, HasSubstr("did you mean nj?"));
    EXPECT_THAT(wrong.body, Not(HasSubstr("specs[0]"))) << "a pattern may match nothing yet";
    EXPECT_EQ(set(R"("zones":["nj","nj"],"images":["a b"],"maxRunSeconds":1)").status, 400);
    EXPECT_EQ(set(R"("zones":[])").status, 400) << "it would allow nothing";
    EXPECT_TRUE(estate().policies.all().empty());
    EXPECT_THAT(call("", "GET", "/v1/policies/clowd").body, HasSubstr("did you mean cloud?"));
}

TEST_F(PoliciesApi, AreChangedByWhomTheyAreOf) {
    has(R"("zones":["nj"])", "");
    has(R"("zones":["nj"])", "globex");
    for (const char* who : {"acme", "member of acme"}) {
        EXPECT_EQ(problem(set(R"("zones":["nj"])", "acme", who)), "permission_missing") << who;
        EXPECT_EQ(problem(call(who, "DELETE", "/v1/policies/cloud")), "permission_missing") << who;
    }
    EXPECT_EQ(set(R"("zones":["nj"])", "", "admin of acme").status, 200);
    EXPECT_TRUE(estate().policies.find("tenant-acme")) << "without tenantID it is the admin's own";
    EXPECT_EQ(estate().policies.at("cloud").version, 1);
    EXPECT_EQ(set(R"("zones":["nj"])", "globex", "admin of acme").status, 403);
    EXPECT_EQ(problem(call("admin of acme", "DELETE", "/v1/policies/cloud")), "permission_missing");
    EXPECT_EQ(call("admin of acme", "DELETE", "/v1/policies/tenant-globex").status, 404);
    for (const char* who : {"acme", "admin of acme", "member of acme"}) {
        EXPECT_EQ(call(who, "GET", "/v1/policies/cloud").status, 200) << who;
        EXPECT_EQ(call(who, "GET", "/v1/policies/tenant-acme").status, 200) << who;
        EXPECT_EQ(call(who, "GET", "/v1/policies/tenant-globex").status, 404) << who;
        const auto list = call(who, "GET", "/v1/policies");
        EXPECT_EQ(json::parse(list.body).at("items").as_array().size(), 2U) << who << list.body;
        EXPECT_THAT(list.body, Not(HasSubstr("globex")));
        EXPECT_EQ(call(who, "GET", "/v1/policies?tenantID=globex").status, 403) << who;
    }
    EXPECT_EQ(json::parse(call("", "GET", "/v1/policies").body).at("items").as_array().size(), 3U);
    EXPECT_EQ(call("admin of acme", "DELETE", "/v1/policies/tenant-acme").status, 200);
}

TEST_F(PoliciesApi, RefuseACreationWithEachFieldThatTheyForbid) {
    has(std::string{all_rules});
    const std::string more = R"("maxRunSeconds":7200)";
    std::string body = start("one");
    body.insert(1, more + ",");
    body.replace(body.find(R"("template":{})"), 13,
                 R"("template":{"ports":[{"port":80},{"port":81,"isPublic":true}]})");
    for (const char* query : {"?zone=nj&dryRun=true", "?zone=nj"}) {
        const auto no = call("acme", "POST", std::string{"/gpu-instances"} + query, body);
        EXPECT_THAT(refused(no),
                    ElementsAre("specName", "zone", "image", "maxRunSeconds", "template.ports[1]"));
        EXPECT_THAT(no.body, HasSubstr("the policy of tenant acme allows specs h100-*, not small"));
        EXPECT_THAT(no.body, HasSubstr("allows images registry.acme.com/*, not docker.io/library/demo:1"));
        EXPECT_THAT(no.body, HasSubstr("An admin of tenant acme can change its policy"));
        EXPECT_THAT(no.body, HasSubstr("hostler policy set --tenant acme"));
    }
    EXPECT_TRUE(estate().unchanged());
    EXPECT_TRUE(estate().instances.all().empty());
    EXPECT_EQ(create("one", more, "?zone=nj", "globex").status, 200) << "it binds acme alone";
    const auto volume = [&](const std::string& zone) {
        return call("acme", "POST", "/v1/volumes",
                    fmt::format(R"({{"name":"data","size":"1Gi","zone":"{}"}})", zone));
    };
    EXPECT_THAT(refused(volume("nj")), ElementsAre("zone"));
    EXPECT_NE(volume("lon").status, 403);
}

TEST_F(PoliciesApi, OfCloudAndTenantBothApply) {
    has(R"("zones":["lon","nj"],"images":["demo","other"],"maxRunSeconds":9000)", "");
    has(R"("zones":["nj"],"images":["demo"],"maxRunSeconds":3600)");
    EXPECT_THAT(refused(create("one", "", "?zone=lon")), ElementsAre("zone"));
    EXPECT_EQ(create("two", "", "?zone=lon", "globex").status, 409) << "there is no room in lon";
    const auto no = create("three", R"("maxRunSeconds":9001)", "", "globex");
    EXPECT_THAT(refused(no), ElementsAre("maxRunSeconds"));
    EXPECT_THAT(no.body, HasSubstr("An operator can change the cloud's policy: `hostler policy set`."));
    EXPECT_EQ(instance(made("four")).schedule.max_run_s, 3600) << "the narrower one";
    has(R"("zones":["lon"])");
    const auto nowhere_to_go = create("five");
    EXPECT_EQ(nowhere_to_go.status, 409) << nowhere_to_go.body;
    has(R"("zones":["nj"])", "");
    const auto none = create("five");
    EXPECT_THAT(refused(none), ElementsAre("zone"));
    EXPECT_THAT(none.body, HasSubstr("allows none of them"));
}

TEST_F(PoliciesApi, GiveTheLongestRunThatTheyAllow) {
    has(R"("maxRunSeconds":3600)");
    const std::string none = made("none"), shorter = made("shorter", R"("maxRunSeconds":600)");
    EXPECT_THAT(call("acme", "GET", "/v1/instances/none").body, HasSubstr(R"("maxRunSeconds":3600)"));
    EXPECT_EQ(instance(shorter).schedule.max_run_s, 600);
    const auto update = [&](const std::string& fields) {
        return call("acme", "PATCH", "/v1/instances/shorter", fields);
    };
    EXPECT_THAT(refused(update(R"({"maxRunSeconds":7200})")), ElementsAre("maxRunSeconds"));
    EXPECT_EQ(instance(shorter).schedule.max_run_s, 600);
    EXPECT_EQ(update(R"({"maxRunSeconds":0})").status, 200);
    EXPECT_EQ(instance(shorter).schedule.max_run_s, 3600) << "no limit is the policy's";
    EXPECT_THAT(refused(call("acme", "POST", "/v1/instances/none/keep-alive", R"({"forSeconds":7200})")),
                ElementsAre("forSeconds"));
    EXPECT_EQ(call("acme", "POST", "/v1/instances/none/keep-alive", R"({"forSeconds":600})").status, 200);
}

TEST_F(PoliciesApi, NarrowWhereAnInstanceGoes) {
    const auto offers = [&](const std::string& who, const std::string& query = "") {
        return json::parse(call(who, "GET", "/v1/offers" + query).body).at("items").as_array().size();
    };
    const auto trial = [&](const std::string& task) { return call("acme", "POST", "/v1/placements", task); };
    EXPECT_EQ(offers("acme"), 1U);
    has(R"("zones":["lon"])");
    EXPECT_EQ(offers("acme"), 0U);
    EXPECT_EQ(offers("globex"), 1U);
    EXPECT_EQ(offers(""), 1U);
    EXPECT_EQ(offers("", "?tenantID=acme"), 0U);
    EXPECT_EQ(call("globex", "GET", "/v1/offers?tenantID=acme").status, 403);
    const auto full = create("one");
    EXPECT_EQ(full.status, 409) << "nj has room, and is not allowed: " << full.body;
    EXPECT_THAT(full.body, HasSubstr("The policy of tenant acme allows only zones lon."));
    EXPECT_THAT(trial(R"({"specName":"small"})").body, HasSubstr("allows only zones lon"));
    EXPECT_THAT(trial(R"({"specName":"small","placement":{"zones":["nj"]}})").body,
                HasSubstr("the policy of tenant acme allows zones lon, not nj"));
    has(R"("zones":["nj"],"trust":"trusted")");
    EXPECT_EQ(offers("acme"), 1U);
    EXPECT_THAT(trial(R"({"specName":"small"})").body, HasSubstr(R"("fits":true)"));
    desk().estate.hosts.edit("h-a").owner = "farm";  // Somebody else's.
    (void)commit();
    timers.advance(std::chrono::seconds{2});  // Offers are counted again after a second.
    (void)desk();
    EXPECT_EQ(offers("acme"), 0U);
    EXPECT_EQ(create("one").status, 409);
    has(R"("specs":["b*"])");
    EXPECT_EQ(offers("acme"), 0U);
}

TEST_F(PoliciesApi, CountForTheNextStartAndStopNothing) {
    const std::string rested = made("rested"), failed = made("failed"), running = made("running");
    rest(rested);
    fail_it(failed);
    has(R"("images":["registry.acme.com/*"],"maxRunSeconds":3600)");
    EXPECT_EQ(instance(running).phase, InstancePhase::placed);
    for (const char* query : {"?dryRun=true", ""}) {
        EXPECT_THAT(refused(call("acme", "POST", std::string{"/v1/instances/rested/start"} + query)),
                    ElementsAre("image"));
        EXPECT_THAT(refused(call("acme", "POST", std::string{"/v1/instances/failed/retry"} + query)),
                    ElementsAre("image"));
    }
    for (const char* name : {"rested", "failed"}) {
        const auto why = call("acme", "GET", fmt::format("/v1/instances/{}/explain", name));
        EXPECT_THAT(why.body,
                    HasSubstr("It cannot start again now: the policy of tenant acme allows images"));
        EXPECT_THAT(why.body, HasSubstr("hostler policy set --tenant acme"));
    }
    EXPECT_THAT(call("acme", "GET", "/v1/instances/running/explain").body, Not(HasSubstr("policy")));
    EXPECT_THAT(refused(call("acme", "PATCH", "/v1/instances/rested", R"({"image":"other:1"})")),
                ElementsAre("image"));
    EXPECT_EQ(call("acme", "PATCH", "/v1/instances/rested", R"({"image":"registry.acme.com/a:1"})").status,
              200);
    EXPECT_EQ(call("acme", "POST", "/v1/instances/rested/start").status, 200);
    EXPECT_EQ(instance(rested).schedule.max_run_s, 3600);
    EXPECT_EQ(call("", "DELETE", "/v1/policies/tenant-acme").status, 200);
    EXPECT_EQ(call("acme", "POST", "/v1/instances/failed/retry").status, 200);
}

TEST_F(PoliciesApi, OfZonesAloneBindWhatTheCloudStartsItself) {
    const std::string id = made("one");
    rest(id);
    has(R"("zones":["lon"])");
    EXPECT_FALSE(wake_instance(desk(), id, WantedBy::master)) << "no host is in lon";
    has(R"("specs":["b*"],"images":["other"],"maxRunSeconds":3600,"publicPorts":false)");
    EXPECT_EQ(wake_instance(desk(), id).error().reason, "policy_denied");
    EXPECT_TRUE(wake_instance(desk(), id, WantedBy::master));
    EXPECT_EQ(instance(id).schedule.max_run_s, 0);
}

TEST_F(PoliciesApi, CloseShareLinksWhileTheyForbidThem) {
    std::string body = start("one");
    body.replace(body.find(R"("template":{})"), 13, R"("template":{"ports":[{"port":80}]})");
    ASSERT_EQ(call("acme", "POST", "/gpu-instances", body).status, 200);
    const auto made = call("acme", "POST", "/v1/instances/one/shares", R"({"port":80,"forSeconds":3600})");
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string secret{json::parse(made.body).at("secret").as_string()};
    const std::string id{json::parse(made.body).at("id").as_string()};
    const std::string route = route_name(*find_instance(desk(), "acme", "one"), 80);
    const auto session = redeem_code(term(), secret, route);
    ASSERT_TRUE(session);
    EXPECT_TRUE(caller_of_sign_in(term(), *session, route));
    has(R"("shareLinks":false)");
    EXPECT_THAT(refused(call("acme", "POST", "/v1/instances/one/shares", R"({"port":80,"forSeconds":60})")),
                ElementsAre("instance"));
    EXPECT_FALSE(caller_of_sign_in(term(), *session, route));
    EXPECT_EQ(redeem_code(term(), secret, route).error().reason, "share_forbidden");
    EXPECT_TRUE(is_over(term(), "share/" + id));
    const Touched touched[] = {{"policy", "tenant-acme"}};
    EXPECT_THAT(ended_marks(term(), touched), ElementsAre("share/" + id)) << "gateways are told at once";
    EXPECT_EQ(call("", "DELETE", "/v1/policies/tenant-acme").status, 200);
    EXPECT_TRUE(caller_of_sign_in(term(), *session, route)) << "they are kept meanwhile";
    EXPECT_THAT(ended_marks(term(), touched), IsEmpty());
}

TEST_F(PoliciesApi, LeaveTheAnswersOfTheSourceAsTheyAre) {
    const auto without = create("one");
    has(R"("specs":["small"],"zones":["nj"],"images":["demo:*"],"maxRunSeconds":3600)");
    const auto with = create("two");
    EXPECT_EQ(with.status, without.status);
    EXPECT_EQ(with.body, without.body);
    has(R"("images":["other"])");
    EXPECT_EQ(create("two").body, without.body) << "the same request again is what it was";
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/two").body, R"({"state":"ready"})");
    EXPECT_THAT(refused(create("three")), ElementsAre("image"));
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/two").status, 200);
}

TEST_F(PoliciesApi, GoWithTheirTenant) {
    has(R"("zones":["nj"])");
    has(R"("zones":["nj"])", "globex");
    EXPECT_EQ(call("", "DELETE", "/v1/tenants/acme").status, 200);
    EXPECT_FALSE(estate().policies.find("tenant-acme"));
    EXPECT_TRUE(estate().policies.find("tenant-globex"));
    EXPECT_EQ(set(R"("zones":["nj"])", "cloud").status, 200);
    EXPECT_TRUE(estate().policies.find("tenant-cloud")) << "a tenant may have that name";
    EXPECT_FALSE(estate().policies.find("cloud"));
}

}  // namespace
}  // namespace hostler::master
