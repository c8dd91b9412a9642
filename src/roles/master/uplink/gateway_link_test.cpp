// What gateways are told: routes, and who may enter.
#include <gtest/gtest.h>

#include "roles/master/http/caller.h"
#include "roles/master/pki/authority.h"
#include "roles/master/run/runs.h"
#include "roles/master/testing/link_rig.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;

struct GatewayLink : ::testing::Test, testing::LinkRig {
    GatewayLink() {
        settings.public_url = "http://api.example";
        desk().estate.api_keys.add({.id = "k-1", .name = "ci", .hash = "#hk_acme", .tenant = "acme"});
        (void)commit();
    }
    uplink::AuthenticateAnswer entry(wire::Link& link, const std::string& credential,
                                     const std::string& tenant = "acme", const std::string& route = "",
                                     const std::string& address = "") {
        uplink::Frame question;
        question.mutable_authenticate_request()->set_credential(credential);
        question.mutable_authenticate_request()->set_tenant(tenant);
        question.mutable_authenticate_request()->set_route(route);
        question.mutable_authenticate_request()->set_address(address);
        return ask(link, question).authenticate_answer();
    }
    // A browser's session at this route, as the sign-in page and the gateway make it.
    std::string session(wire::Link& link, const std::string& route, const std::string& key = "hk_acme") {
        const std::string code = make_code(term(), *caller_of(term(), key), route);
        (void)commit();
        return redeem(link, code, route).authenticate_answer().session();
    }
    uplink::Frame redeem(wire::Link& link, const std::string& code, const std::string& route) {
        uplink::Frame question;
        question.mutable_redeem_request()->set_code(code);
        question.mutable_redeem_request()->set_route(route);
        return ask(link, question);
    }
    bool sign_out(wire::Link& link, const std::string& session, const std::string& route) {
        uplink::Frame question;
        question.mutable_sign_out_request()->set_session(session);
        question.mutable_sign_out_request()->set_route(route);
        return ask(link, question).has_sign_out_answer();
    }
};

TEST_F(GatewayLink, AHelloIsAnsweredWithAllRoutesAndChangesFollow) {
    const std::string first = started("one");
    (void)commit();
    wire::Link& link = gateway();
    const uplink::Routes all = next(link).routes();
    EXPECT_TRUE(all.complete());
    EXPECT_EQ(all.epoch(), 1u);
    EXPECT_EQ(all.sign_in(), "http://api.example/sign-in");
    ASSERT_EQ(all.routes_size(), 1);
    EXPECT_EQ(all.routes(0).name(), "8080-" + first);
    EXPECT_EQ(all.routes(0).state(), "ready");
    EXPECT_EQ(all.routes(0).access_size(), 0) << "its host is behind no access point";

    const std::string second = started("two", 9090);
    (void)commit();
    const uplink::Routes news = next(link).routes();
    EXPECT_FALSE(news.complete());
    EXPECT_EQ(news.epoch(), 1u);
    ASSERT_EQ(news.routes_size(), 1) << "only what changed";
    EXPECT_EQ(news.routes(0).name(), "9090-" + second);

    wire::Link& behind = access("nj-1");
    up(behind, 1, "h-a");
    (void)commit();
    bool moved = false;
    for (uplink::Frame frame = next(link); frame.has_routes(); frame = next(link))
        for (const uplink::Route& route : frame.routes().routes())
            moved |= route.name() == "8080-" + first && route.access_size() == 1 &&
                     route.access(0) == "control of nj-1";
    EXPECT_TRUE(moved) << "the host is behind an access point now";

    note(desk(), first, InstanceEvent::fail, "exited", "test");
    let_go(desk(), first);
    desk().estate.instances.retire(first);
    (void)commit();
    const uplink::Routes gone = next(link).routes();
    ASSERT_EQ(gone.gone_size(), 1);
    EXPECT_EQ(gone.gone(0), "8080-" + first);
    touch("lon");
    (void)commit();
    EXPECT_FALSE(next(link).has_routes()) << "nothing about routes, nothing said";
}

struct ClusterAtGateway : GatewayLink {
    ClusterAtGateway() {
        Estate& estate = desk().estate;
        estate.clusters.add(
            {.id = "kc-1", .name = "train", .tenant = "acme", .phase = ClusterPhase::ready, .made = true});
        for (const char* name : {"kn-1", "kn-2"})
            estate.cluster_nodes.add(
                {.id = name,
                 .cluster = "kc-1",
                 .tenant = "acme",
                 .role = NodeRole::control,
                 .host = "h-a",
                 .phase = name == std::string{"kn-1"} ? NodePhase::ready : NodePhase::joining});
        (void)commit();
    }
    std::string token() {
        const std::string made =
            make_token(term(), *caller_of(term(), "hk_acme"), "/clusters/kc-1", std::chrono::minutes{10}, 4);
        (void)commit();
        return made;
    }
};

TEST_F(ClusterAtGateway, RoutesLeadToNodesOfItsControlPlaneThatAreReady) {
    wire::Link& link = gateway();
    const uplink::Routes all = next(link).routes();
    ASSERT_EQ(all.routes_size(), 1);
    EXPECT_EQ(all.routes(0).name(), "/clusters/kc-1/kn-1");
    EXPECT_EQ(all.routes(0).instance(), "kc-1");
    EXPECT_EQ(all.routes(0).host(), "h-a");
    EXPECT_EQ(all.routes(0).tenant(), "acme");
    EXPECT_EQ(all.routes(0).project(), "default");
    desk().estate.cluster_nodes.edit("kn-1").healthy = true;
    (void)commit();
    EXPECT_FALSE(next(link).has_routes()) << "a probe changes no route";
    desk().estate.cluster_nodes.edit("kn-2").phase = NodePhase::ready;
    (void)commit();
    const uplink::Routes more = next(link).routes();
    ASSERT_EQ(more.routes_size(), 1);
    EXPECT_EQ(more.routes(0).name(), "/clusters/kc-1/kn-2");
    desk().estate.cluster_nodes.edit("kn-1").phase = NodePhase::draining;
    (void)commit();
    const uplink::Routes gone = next(link).routes();
    ASSERT_EQ(gone.gone_size(), 1);
    EXPECT_EQ(gone.gone(0), "/clusters/kc-1/kn-1");
    desk().estate.cluster_nodes.retire("kn-2");
    (void)commit();
    EXPECT_EQ(next(link).routes().gone_size(), 1);
}

TEST_F(ClusterAtGateway, ATokenOpensItsClusterAlone) {
    wire::Link& link = gateway();
    (void)next(link);
    const std::string shown = token();
    const auto here = entry(link, shown, "acme", "/clusters/kc-1");
    EXPECT_TRUE(here.known() && here.allowed());
    ASSERT_EQ(here.groups_size(), 1);
    EXPECT_EQ(here.groups(0), "hostler:admins");
    EXPECT_EQ(here.ends_s(), 600u);
    ASSERT_GT(here.marks_size(), 0);
    EXPECT_EQ(here.marks(0), "key/k-1") << "what it opens stands on this";
    EXPECT_FALSE(entry(link, shown, "acme", "/clusters/kc-2").known());
    EXPECT_FALSE(entry(link, shown, "acme").known()) << "it is no key";
    EXPECT_FALSE(entry(link, "hk_acme", "acme", "/clusters/kc-1").known()) << "and a key is no token";
    desk().estate.clusters.edit("kc-1").phase = ClusterPhase::deleted;
    (void)commit();
    EXPECT_FALSE(entry(link, shown, "acme", "/clusters/kc-1").allowed());
}

TEST_F(ClusterAtGateway, ATokenIsForTheAddressesOfItsKey) {
    wire::Link& link = gateway();
    (void)next(link);
    const std::string shown = token();
    desk().estate.api_keys.edit("k-1").addresses = {"203.0.113.0/24"};
    (void)commit();
    const auto here = entry(link, shown, "acme", "/clusters/kc-1", "203.0.113.7");
    EXPECT_TRUE(here.allowed() && here.by_address());
    const auto there = entry(link, shown, "acme", "/clusters/kc-1", "198.51.100.9");
    EXPECT_TRUE(!there.known() && there.by_address());
}

TEST_F(ClusterAtGateway, TheOldestTokenMakesRoom) {
    wire::Link& link = gateway();
    (void)next(link);
    const std::string first = token();
    timers.advance(1s);
    for (int i = 0; i < 4; ++i) (void)token();
    EXPECT_FALSE(entry(link, first, "acme", "/clusters/kc-1").known());
}

TEST_F(GatewayLink, RoutesAreToldWhenTheyAreDurable) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    store.hang = true;
    started("one");
    (void)commit();
    EXPECT_FALSE(next(link).has_routes());
    store.let_go();
    EXPECT_TRUE(next(link).has_routes());
}

TEST_F(GatewayLink, APublicPortAsksForASignInWhileAPolicyForbidsIt) {
    const std::string id = started("one");
    started("two", 9090);
    desk().estate.instances.edit(id).spec.ports[0].is_public = true;
    (void)commit();
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const auto open = [&] {
        const uplink::Routes routes = next(link).routes();
        EXPECT_EQ(routes.routes_size(), 1) << "that of the public port alone";
        return routes.routes_size() == 1 && routes.routes(0).open_to_all();
    };
    desk().estate.policies.add({.id = Policy::id_of("acme"), .tenant = "acme", .public_ports = false});
    (void)commit();
    EXPECT_FALSE(open());
    desk().estate.policies.erase(Policy::id_of("acme"));
    (void)commit();
    EXPECT_TRUE(open());
    desk().estate.policies.add({.id = Policy::id_of("globex"), .tenant = "globex", .public_ports = false});
    (void)commit();
    EXPECT_FALSE(next(link).has_routes()) << "another tenant's";
    desk().estate.policies.add({.id = Policy::id_of(""), .public_ports = false});
    (void)commit();
    EXPECT_FALSE(open());
}

TEST_F(GatewayLink, AKeyOpensWhatIsItsTenants) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const auto own = entry(link, "hk_acme");
    EXPECT_TRUE(own.known() && own.allowed());
    EXPECT_EQ(own.principal(), "key/k-1");
    EXPECT_EQ(own.valid_s(), 15u);
    const auto other = entry(link, "hk_acme", "globex");
    EXPECT_TRUE(other.known());
    EXPECT_FALSE(other.allowed());
    const auto nobody = entry(link, "hk_nobody");
    EXPECT_FALSE(nobody.known() || nobody.allowed());
    desk().estate.api_keys.edit("k-1").revoked_at = 1;
    EXPECT_FALSE(entry(link, "hk_acme").known());
}

TEST_F(GatewayLink, AKeyForSomeAddressesOpensFromTheseAlone) {
    desk().estate.api_keys.add({.id = "k-2",
                                .hash = "#hk_bound",
                                .tenant = "acme",
                                .addresses = {"203.0.113.0/24", "2001:db8::/32"}});
    (void)commit();
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    for (const std::string from : {"203.0.113.7", "[2001:db8::7]"}) {
        const auto good = entry(link, "hk_bound", "acme", "", from);
        EXPECT_TRUE(good.known() && good.allowed() && good.by_address()) << from;
        EXPECT_EQ(good.marks(0), "key/k-2");
    }
    for (const std::string from : {"198.51.100.9", "unknown", ""}) {  // Older gateways say none.
        const auto bad = entry(link, "hk_bound", "acme", "", from);
        EXPECT_FALSE(bad.known() || bad.allowed()) << from;
        EXPECT_TRUE(bad.by_address()) << "it is no word about other addresses";
        EXPECT_EQ(bad.marks_size(), 0);
    }
    for (const std::string credential : {"hk_acme", "hk_nobody"})
        EXPECT_FALSE(entry(link, credential, "acme", "", "198.51.100.9").by_address()) << credential;

    const std::string code = make_code(term(), *caller_of(term(), "hk_bound", "203.0.113.7"), "8080-i-1");
    (void)commit();
    const std::string by_page = redeem(link, code, "8080-i-1").authenticate_answer().session();
    const auto signed_in = entry(link, by_page, "acme", "8080-i-1", "198.51.100.9");
    EXPECT_TRUE(signed_in.allowed()) << "the address counted when it was signed in";
    EXPECT_FALSE(signed_in.by_address());
}

TEST_F(GatewayLink, AKeyForSomeAddressesEntersFromTheseAlone) {
    const std::string id = started("one");
    desk().estate.instances.edit(id).phase = InstancePhase::running;
    desk().estate.api_keys.add(
        {.id = "k-2", .hash = "#hk_bound", .tenant = "acme", .addresses = {"203.0.113.0/24"}});
    (void)commit();
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const auto enter = [&](const std::string& kind, const std::string& credential, const std::string& from) {
        uplink::Frame question;
        auto& asked = *question.mutable_enter_request();
        asked.set_credential(credential);
        asked.set_instance(id);
        asked.set_kind(kind);
        asked.set_address(from);
        return ask(link, question);
    };
    for (const std::string kind : {"exec", "explain"}) {
        EXPECT_TRUE(enter(kind, "hk_bound", "203.0.113.7").has_enter_answer()) << kind;
        EXPECT_EQ(enter(kind, "hk_bound", "198.51.100.9").failure().reason(), "key_unknown") << kind;
        EXPECT_EQ(enter(kind, "hk_bound", "").failure().reason(), "key_unknown") << kind;
    }
    EXPECT_TRUE(enter("exec", "hk_bound", "203.0.113.7").enter_answer().by_address());
    EXPECT_FALSE(enter("exec", "hk_acme", "203.0.113.7").enter_answer().by_address());
}

// What a page has opened with a ticket: the ticket is used up.
TEST_F(GatewayLink, SaysOfAMarkWhetherItsCallerMayStillEnter) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const auto stays = [&](const std::string& mark, const std::string& tenant = "acme",
                           const std::string& from = "203.0.113.7") {
        uplink::Frame question;
        auto& asked = *question.mutable_authenticate_request();
        asked.set_credential(mark);
        asked.set_mark(true);
        asked.set_tenant(tenant);
        asked.set_address(from);
        return ask(link, question).authenticate_answer();
    };
    const auto good = stays("key/k-1");
    EXPECT_TRUE(good.known() && good.allowed());
    EXPECT_EQ(good.principal(), "key/k-1");
    ASSERT_EQ(good.marks_size(), 2);
    EXPECT_EQ(good.marks(0), "key/k-1");
    EXPECT_EQ(good.marks(1), "place/acme");
    EXPECT_FALSE(stays("key/k-1", "globex").allowed());
    for (const char* other : {"", "key/k-9", "key/operator", "key/operator/", "share/sh-1", "hk_acme"})
        EXPECT_FALSE(stays(other).known()) << other;
    EXPECT_FALSE(entry(link, "key/k-1").known()) << "a mark is no key";

    desk().estate.api_keys.add(
        {.id = "k-2", .hash = "#hk_bound", .tenant = "acme", .addresses = {"203.0.113.0/24"}});
    EXPECT_TRUE(stays("key/k-2").allowed() && stays("key/k-2").by_address());
    EXPECT_FALSE(stays("key/k-2", "acme", "198.51.100.9").known());
    desk().estate.api_keys.edit("k-1").revoked_at = 1;
    EXPECT_FALSE(stays("key/k-1").known());

    settings.operator_key_hash = "#hk_operator-of-this-cloud";
    const std::string operators = entry(link, "hk_operator-of-this-cloud").marks(0);
    EXPECT_TRUE(stays(operators).allowed());
    settings.operator_key_hash = "#hk_another";
    EXPECT_FALSE(stays(operators).known()) << "another operator's key came in its place";
}

TEST_F(GatewayLink, ASessionOpensTheRouteThatItWasSignedInForAndNoOther) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const std::string one = session(link, "8080-i-1");
    ASSERT_FALSE(one.empty());
    const auto here = entry(link, one, "acme", "8080-i-1");
    EXPECT_TRUE(here.known() && here.allowed());
    EXPECT_EQ(here.principal(), "key/k-1");
    for (const std::string route : {"8080-i-2", "9090-i-1", "", "?8080-i-1"})
        EXPECT_FALSE(entry(link, one, "acme", route).known()) << route;
    EXPECT_FALSE(entry(link, one, "globex", "8080-i-1").allowed());
    EXPECT_FALSE(entry(link, "hk_acme", "acme", "8080-i-1").known()) << "a key is no session";
    timers.advance(std::chrono::hours{12});
    EXPECT_FALSE(entry(link, one, "acme", "8080-i-1").known()) << "it is over";
    const std::string two = session(link, "8080-i-1");
    desk().estate.api_keys.edit("k-1").revoked_at = 1;
    EXPECT_FALSE(entry(link, two, "acme", "8080-i-1").known()) << "worth nothing without its key";
}

TEST_F(GatewayLink, EachStepOfARotationIsToldOnceInAWhileAndTheNextOneAtOnce) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    run_term();
    const auto wishes = [&] {
        (void)commit();
        timers.advance(2s);
        int count = 0;
        for (auto frame = received(link); frame && *frame; frame = received(link))
            if ((*frame)->has_renew_wanted()) ++count;
        return count;
    };
    EXPECT_EQ(wishes(), 0);
    ASSERT_TRUE(begin_rotation(desk(), authority, {}));
    EXPECT_EQ(wishes(), 1);
    EXPECT_EQ(wishes(), 0) << "it is at it";
    ASSERT_TRUE(issue_by_next(desk(), authority));
    EXPECT_EQ(wishes(), 1);
    ASSERT_TRUE(withdraw_former(desk(), Holders::may_be_cut_off));
    EXPECT_EQ(wishes(), 1);
}

TEST_F(GatewayLink, ACodeIsGoodOnceForItsRouteWithinAMinute) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const auto code = [&] {
        const std::string made = make_code(term(), *caller_of(term(), "hk_acme"), "8080-i-1");
        (void)commit();
        return made;
    };
    std::string now = code();
    EXPECT_FALSE(entry(link, now, "acme", "8080-i-1").known()) << "a code is no session";
    EXPECT_FALSE(entry(link, now, "acme", "?8080-i-1").known());
    EXPECT_EQ(redeem(link, now, "8080-i-2").failure().reason(), "code_unknown");
    EXPECT_TRUE(redeem(link, now, "8080-i-1").authenticate_answer().allowed());
    EXPECT_EQ(redeem(link, now, "8080-i-1").failure().reason(), "code_unknown");
    now = code();
    timers.advance(60s);
    EXPECT_EQ(redeem(link, now, "8080-i-1").failure().reason(), "code_unknown");
}

TEST_F(GatewayLink, ASessionIsOverForGoodOnceTheSignOutIsAnswered) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const std::string one = session(link, "8080-i-1"), two = session(link, "8080-i-2");
    EXPECT_TRUE(sign_out(link, one, "8080-i-2")) << "elsewhere it is none, and there is nothing to end";
    EXPECT_TRUE(entry(link, one, "acme", "8080-i-1").known());
    EXPECT_TRUE(sign_out(link, "hs_nobody", "8080-i-1"));
    store.hang = true;
    EXPECT_FALSE(sign_out(link, one, "8080-i-1")) << "not durable so far";
    store.let_go();
    EXPECT_FALSE(entry(link, one, "acme", "8080-i-1").known());
    EXPECT_TRUE(sign_out(link, one, "8080-i-1")) << "again: it is";
    EXPECT_TRUE(entry(link, two, "acme", "8080-i-2").known()) << "the other session lives";
    EXPECT_EQ(store.objects.count({"sign_in", "#" + one}), 0u) << "nor does it come back with the next term";
}

// What gateways go by while no master answers.
TEST_F(GatewayLink, TellsWhenACredentialEndsAndWhatItStandsOn) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    EXPECT_EQ(entry(link, "hk_acme").ends_s(), 0u) << "at no set time";
    desk().estate.api_keys.add({.id = "k-2",
                                .hash = "#hk_short",
                                .tenant = "acme",
                                .expires_at = desk().estate.micros() + 10'000'000});
    desk().estate.api_keys.add({.id = "k-3",
                                .hash = "#hk_long",
                                .tenant = "acme",
                                .expires_at = desk().estate.micros() + 3600'000'000});
    (void)commit();
    EXPECT_EQ(entry(link, "hk_short").ends_s(), 10u);
    EXPECT_EQ(entry(link, "hk_short").valid_s(), 10u) << "nor is the answer kept for longer";
    EXPECT_EQ(entry(link, "hk_long").ends_s(), 3600u);
    const auto by_session = entry(link, session(link, "8080-i-1"), "acme", "8080-i-1");
    EXPECT_EQ(by_session.ends_s(), 12 * 3600u);
    ASSERT_EQ(by_session.marks_size(), 3);
    EXPECT_EQ(by_session.marks(0), "key/k-1");
    EXPECT_TRUE(by_session.marks(1).starts_with("session/#hs_"));
    EXPECT_EQ(by_session.marks(2), "place/acme");
}

TEST_F(GatewayLink, APersonOpensWhatTheirRolesReach) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const std::int64_t now = desk().estate.micros();
    desk().estate.tenants.add({.id = "acme"});
    desk().estate.projects.add({.id = "acme/lab", .tenant = "acme", .name = "lab"});
    desk().estate.users.add({.id = "u-1", .login = "ann", .tenant = "acme"});
    desk().estate.logins.add({.hash = "#hu_ann",
                              .user = "u-1",
                              .created_at = now,
                              .used_at = now,
                              .expires_at = now + 3600'000'000});
    const auto give = [&](const std::string& id, const std::string& role, const std::string& project) {
        desk().estate.grants.add({.id = id,
                                  .subject = "user/u-1",
                                  .role = role,
                                  .at = ScopeKind::project,
                                  .tenant = "acme",
                                  .project = project});
    };
    give("gr-1", "member", "lab"), give("gr-2", "viewer", "default");
    (void)commit();
    const auto opens = [&](const std::string& project) {
        uplink::Frame frame;
        frame.mutable_authenticate_request()->set_credential("hu_ann");
        frame.mutable_authenticate_request()->set_tenant("acme");
        frame.mutable_authenticate_request()->set_project(project);
        return ask(link, frame).authenticate_answer();
    };
    EXPECT_TRUE(opens("lab").allowed());
    EXPECT_FALSE(opens("default").allowed()) << "a viewer sees instances and opens none";
    EXPECT_FALSE(opens("").allowed()) << "an older gateway asks about the whole tenant";
    desk().estate.tenants.edit("acme").needs_totp = true;
    (void)commit();
    EXPECT_FALSE(opens("lab").allowed()) << "a required second factor is required here, too";
    desk().estate.tenants.edit("acme").needs_totp = false;
    (void)commit();
    const auto marks = opens("lab").marks();
    for (const char* mark : {"login/#hu_ann", "grant/gr-1", "place/acme/lab"})
        EXPECT_EQ(std::ranges::count(marks, mark), 1) << mark;
    const auto ended = [&](const std::string& mark) {
        for (uplink::Frame frame = next(link); frame.has_credentials_ended(); frame = next(link))
            for (const std::string& one : frame.credentials_ended().marks())
                if (one == mark) return true;
        return false;
    };
    desk().estate.grants.erase("gr-1");
    (void)commit();
    EXPECT_TRUE(ended("grant/gr-1"));
    EXPECT_FALSE(opens("lab").allowed());
    give("gr-3", "member", "lab");
    desk().estate.projects.edit("acme/lab").disabled_at = now;
    (void)commit();
    EXPECT_TRUE(ended("place/acme/lab"));
    EXPECT_FALSE(opens("lab").allowed());
    desk().estate.projects.edit("acme/lab").disabled_at = 0;
    (void)commit();
    EXPECT_TRUE(opens("lab").allowed());
    desk().estate.tenants.edit("acme").disabled_at = now;
    (void)commit();
    EXPECT_TRUE(ended("place/acme"));
    EXPECT_FALSE(opens("lab").known()) << "the home tenant is disabled";
    EXPECT_FALSE(entry(link, "hk_acme").known());
}

TEST_F(GatewayLink, TellsWhatHasEndedOnceThatIsDurable) {
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const std::string mine = session(link, "8080-i-1");
    const auto ended = [&] {
        std::vector<std::string> marks;
        for (uplink::Frame frame = next(link); frame.has_credentials_ended(); frame = next(link))
            for (const std::string& mark : frame.credentials_ended().marks())
                if (!mark.starts_with("session/#hc_")) marks.push_back(mark);
        return marks;
    };
    EXPECT_EQ(ended(), std::vector<std::string>{}) << "used codes apart";
    EXPECT_TRUE(sign_out(link, mine, "8080-i-1"));
    EXPECT_EQ(ended(), std::vector<std::string>{"session/#" + mine});
    store.hang = true;
    desk().estate.api_keys.edit("k-1").revoked_at = 1;
    (void)commit();
    EXPECT_EQ(ended(), std::vector<std::string>{});
    store.let_go();
    EXPECT_EQ(ended(), std::vector<std::string>{"key/k-1"});
}

TEST_F(GatewayLink, SaysWhatOfTheTrustedHasEnded) {
    settings.operator_key_hash = "#hk_operator-of-this-cloud";
    wire::Link& link = gateway();
    EXPECT_TRUE(next(link).has_routes());
    const std::string mine = session(link, "8080-i-1"), over = session(link, "8080-i-1");
    const std::string operators = entry(link, "hk_operator-of-this-cloud").marks(0);
    EXPECT_TRUE(sign_out(link, over, "8080-i-1"));
    uplink::Frame question;
    for (const std::string& mark :
         {std::string{"key/k-1"}, std::string{"key/k-9"}, "session/#" + mine, "session/#" + over,
          std::string{"share/sh-9"}, operators, std::string{"key/operator/another"}, std::string{"what"}})
        question.mutable_trusted_marks()->add_marks(mark);
    const auto answer = ask(link, question).credentials_ended();
    EXPECT_EQ((std::vector<std::string>{answer.marks().begin(), answer.marks().end()}),
              (std::vector<std::string>{"key/k-9", "session/#" + over, "share/sh-9", "key/operator/another",
                                        "what"}));
}

}  // namespace
}  // namespace hostler::master
