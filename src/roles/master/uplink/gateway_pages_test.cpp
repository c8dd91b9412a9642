// What pages of the gateway ask of a master for somebody who is signed in.
#include <gmock/gmock.h>

#include "roles/master/http/caller.h"
#include "roles/master/testing/link_rig.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;

struct GatewayPages : ::testing::Test, testing::LinkRig {
    GatewayPages() {
        desk().estate.api_keys.add({.id = "k-1", .name = "ci", .hash = "#hk_acme", .tenant = "acme"});
        desk().estate.api_keys.add({.id = "k-9", .name = "ci", .hash = "#hk_other", .tenant = "other"});
        id = started("one");
        beside = started("two", 9090);
        route = "8080-" + id;
        desk().estate.instances.edit(id).phase = InstancePhase::resting;
        (void)commit();
        link = &gateway();
        HOSTLER_ASSERT(next(*link).has_routes());
    }
    // What a page asks: "explain" or "start"; with `at` the credential is a session of that route.
    uplink::Frame page(const std::string& kind, const std::string& credential, const std::string& at = "") {
        uplink::Frame question;
        auto& enter = *question.mutable_enter_request();
        enter.set_kind(kind);
        enter.set_credential(credential);
        enter.set_instance(id);
        enter.set_detail(at);
        enter.set_address("203.0.113.7");
        enter.set_client("Mozilla/5.0\n");
        return ask(*link, question);
    }
    std::string failure(const std::string& kind, const std::string& credential, const std::string& at = "") {
        const uplink::Frame answer = page(kind, credential, at);
        return answer.has_failure() ? answer.failure().code() : "none";
    }
    std::string redeemed(const std::string& code, const std::string& at) {
        uplink::Frame question;
        question.mutable_redeem_request()->set_code(code);
        question.mutable_redeem_request()->set_route(at);
        return ask(*link, question).authenticate_answer().session();
    }
    std::string session(const std::string& at) {
        const std::string code = make_code(term(), *caller_of(term(), "hk_acme"), at);
        (void)commit();
        return redeemed(code, at);
    }
    InstancePhase phase() { return desk().estate.instances.at(id).phase; }

    std::string id, beside, route;
    wire::Link* link = nullptr;
};

TEST_F(GatewayPages, DoNotStartWhatBelongsToAnOwner) {
    desk().estate.instances.edit(id).owner = Owner{"job", "j-1"};
    (void)commit();
    EXPECT_THAT(page("explain", "hk_acme").enter_answer().route().detail(), HasSubstr("belongs to job j-1"));
    const uplink::Frame refused = page("start", "hk_acme");
    ASSERT_TRUE(refused.has_failure());
    EXPECT_EQ(refused.failure().reason(), "owned");
    EXPECT_EQ(phase(), InstancePhase::resting);
}

TEST_F(GatewayPages, StartWhatRestsForThoseOfItsTenantAndAuditThat) {
    const std::string own = session(route);
    EXPECT_THAT(page("explain", own, route).enter_answer().route().detail(),
                HasSubstr("Start it: `hostler instance start one`"));
    EXPECT_EQ(phase(), InstancePhase::resting) << "asking starts nothing";
    const std::size_t lines = store.lines.size();
    const uplink::Frame done = page("start", own, route);
    ASSERT_TRUE(done.has_enter_answer()) << done.failure().message();
    EXPECT_EQ(phase(), InstancePhase::placed);
    ASSERT_EQ(store.lines.size(), lines + 1);
    const AuditLine& line = store.lines.back();
    EXPECT_EQ(line.operation, "startInstance");
    EXPECT_EQ(line.actor, "key/k-1");
    EXPECT_EQ(line.address, "203.0.113.7");
    EXPECT_EQ(line.client, "Mozilla/5.0 ");
    EXPECT_EQ(line.subject, "instance/" + id);
    EXPECT_NE(line.before, line.after);
    EXPECT_TRUE(page("start", own, route).has_enter_answer()) << "again: it starts";
}

TEST_F(GatewayPages, StartNothingForOthers) {
    const std::string other_route = "9090-" + beside;
    EXPECT_EQ(failure("start", "hk_nobody"), "unauthenticated");
    EXPECT_EQ(failure("start", "hk_other"), "not_found") << "nor is it told that it is there";
    EXPECT_EQ(failure("start", session(route)), "unauthenticated") << "a session is no key";
    EXPECT_EQ(failure("start", session(other_route), other_route), "forbidden");
    EXPECT_EQ(phase(), InstancePhase::resting);
    EXPECT_EQ(failure("start", "hk_acme"), "none");
}

TEST_F(GatewayPages, AGuestByAShareLinkLooksOn) {
    desk().estate.shares.add({.id = "s-1",
                              .tenant = "acme",
                              .instance = id,
                              .port = 8080,
                              .route = route,
                              .hash = "#hl_guest",
                              .expires_at = desk().estate.micros() + 60'000'000});
    (void)commit();
    const std::string guest = redeemed("hl_guest", route);
    ASSERT_NE(guest, "");
    for (const char* kind : {"start", "explain"}) EXPECT_EQ(failure(kind, guest, route), "forbidden");
    EXPECT_EQ(phase(), InstancePhase::resting);
}

}  // namespace
}  // namespace hostler::master
