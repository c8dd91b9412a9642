#include "roles/master/ticket/tickets.h"

#include "proto/uplink.pb.h"
#include "roles/master/http/caller.h"
#include "roles/master/testing/people_rig.h"
#include "roles/master/ticket/enter.h"

namespace hostler::master {
namespace {

using namespace std::chrono_literals;

struct TicketsTest : testing::PeopleTest {
    TicketsTest() {
        settings.public_url = "http://console.example";
        settings.admission.key_rate = {.per_second = 1e6, .burst = 1e6};
        Estate& estate = desk().estate;
        for (const char* tenant : {"acme", "globex"}) estate.tenants.add({.id = tenant});
        for (const char* tenant : {"acme", "globex"})
            estate.api_keys.add(
                {.id = fmt::format("k-{}", tenant), .hash = fmt::format("#hk_{}", tenant), .tenant = tenant});
        estate.gateways.add({.name = "gw-1", .address = "https://gpu.example:8443"});
        for (const char* name : {"one", "two"})
            estate.instances.add({.id = fmt::format("i-{}", name),
                                  .caller_id = name,
                                  .tenant = "acme",
                                  .project = "default",
                                  .phase = InstancePhase::running,
                                  .host = "h-1"});
        (void)commit();
    }
    // As the console's page asks.
    Reply ask(std::string_view secret, const std::string& body = "{}", const std::string& instance = "one") {
        headers = "Origin: http://console.example\r\nSec-Fetch-Site: same-origin\r\n";
        Reply reply = post("/v1/instances/" + instance + "/tickets", body, secret);
        headers.clear();
        return reply;
    }
    std::string ticket(std::string_view secret = "hk_acme", const std::string& body = "{}") {
        const Reply reply = ask(secret, body);
        EXPECT_EQ(reply.status, 201) << reply.text;
        return reply.at("ticket");
    }
    struct Shown {
        std::string ticket;
        std::string kind = "exec";
        std::string instance = "i-one";
        std::string origin = "http://console.example";
        std::string from = "203.0.113.7";
        std::string tenant{};
    };
    // As the gateway shows it; the reason of a refusal, or "".
    std::string enter(const Shown& shown) {
        uplink::EnterRequest request;
        request.set_ticket(true);
        request.set_credential(shown.ticket);
        request.set_kind(shown.kind);
        request.set_instance(shown.instance);
        request.set_origin(shown.origin);
        request.set_address(shown.from);
        request.set_tenant(shown.tenant);
        request.set_detail("sh");
        request.set_session("0123456789abcdef");
        answer.Clear();
        const auto entered = enter_instance(term(), request, answer);
        (void)commit();
        return entered ? "" : entered.error().reason;
    }
    void grant(const std::string& user, const std::string& role) {
        desk().estate.grants.add({.id = "gr-" + user,
                                  .subject = "user/" + user,
                                  .role = role,
                                  .at = ScopeKind::project,
                                  .tenant = "acme",
                                  .project = "default"});
        (void)commit();
    }
    uplink::EnterAnswer answer;
};

TEST_F(TicketsTest, OpenOneSessionForWhoAskedForThem) {
    const Reply reply = ask("hk_acme");
    ASSERT_EQ(reply.status, 201) << reply.text;
    EXPECT_EQ(reply.at("url"), "wss://gpu.example:8443/v1/instances/i-one/exec");
    EXPECT_NE(reply.at("expiresAt"), "");
    const std::string shown = reply.at("ticket");
    EXPECT_TRUE(shown.starts_with("ht_"));
    EXPECT_FALSE(anywhere_in_store(shown));
    const AuditLine asked = store.lines.back();
    EXPECT_EQ(asked.operation, "createTicket");
    EXPECT_EQ(asked.subject, "instance/i-one");
    EXPECT_EQ(asked.tenant + "/" + asked.project, "acme/default");
    EXPECT_EQ(asked.after, R"({"kind":"exec"})");

    EXPECT_EQ(enter({.ticket = shown}), "");
    EXPECT_EQ(answer.route().instance(), "i-one");
    EXPECT_EQ(answer.principal(), "key/k-acme");
    EXPECT_EQ(answer.mark(), "key/k-acme");
    EXPECT_FALSE(answer.by_address());
    EXPECT_EQ(store.lines.back().operation, "openSession");
    EXPECT_EQ(store.lines.back().actor, "key/k-acme");
    EXPECT_EQ(enter({.ticket = shown}), "ticket_unknown") << "once";
}

TEST_F(TicketsTest, AreGoodForWhatTheyNameAlone) {
    EXPECT_EQ(enter({.ticket = ticket(), .kind = "get"}), "ticket_unknown");
    EXPECT_EQ(enter({.ticket = ticket("hk_acme", R"({"kind":"port"})")}), "ticket_unknown");
    EXPECT_EQ(enter({.ticket = ticket(), .instance = "i-two"}), "ticket_unknown");
    EXPECT_EQ(enter({.ticket = ticket(), .instance = "one"}), "ticket_unknown") << "its URL has the id";
    for (const char* origin : {"", "null", "https://console.example", "http://evil.example"})
        EXPECT_EQ(enter({.ticket = ticket(), .origin = origin}), "ticket_unknown") << origin;
    for (const char* other : {"", "ht_nobody", "hk_acme", "key/k-acme"})
        EXPECT_EQ(enter({.ticket = other}), "ticket_unknown") << other;
    EXPECT_EQ(enter({.ticket = ticket(), .tenant = "globex"}), "tenant_differs");
    EXPECT_EQ(enter({.ticket = ticket("hk_acme", R"({"kind":"port"})"), .kind = "port"}), "");
    const std::string burnt = ticket();
    EXPECT_EQ(enter({.ticket = burnt, .origin = "http://evil.example"}), "ticket_unknown");
    EXPECT_EQ(enter({.ticket = burnt}), "ticket_unknown") << "where it was seen elsewhere it is used up";
    EXPECT_FALSE(caller_of(term(), ticket())) << "it is no key";
}

TEST_F(TicketsTest, EndAfterAMinute) {
    const std::string late = ticket(), good = ticket();
    timers.advance(59s);
    EXPECT_EQ(enter({.ticket = good}), "");
    timers.advance(1s);
    EXPECT_EQ(enter({.ticket = late}), "ticket_unknown");
    EXPECT_EQ(tickets_of(term()).size(), 0u);
}

TEST_F(TicketsTest, EndWithTheCredentialOfWhoAskedForThem) {
    const std::string by_key = ticket();
    desk().estate.api_keys.edit("k-acme").revoked_at = 1;
    EXPECT_EQ(enter({.ticket = by_key}), "ticket_unknown");

    const std::string ann = user("ann");
    grant(ann, "member");
    const std::string secret = session("ann");
    const std::string by_session = ticket(secret), left = ticket(secret);
    EXPECT_EQ(enter({.ticket = by_session}), "");
    EXPECT_EQ(answer.principal(), "user/" + ann);
    const std::string mark = answer.mark();
    EXPECT_EQ(mark, "login/#" + secret);
    ASSERT_TRUE(caller_of_mark(term(), mark, "203.0.113.7"));
    EXPECT_FALSE(is_over(term(), mark));
    EXPECT_EQ(post("/v1/sign-out", "", secret).status, 200);
    EXPECT_EQ(enter({.ticket = left}), "ticket_unknown");
    EXPECT_FALSE(caller_of_mark(term(), mark, "203.0.113.7")) << "the open one is cut";
    EXPECT_TRUE(is_over(term(), mark));
}

TEST_F(TicketsTest, AskWhetherTheCallerStillMay) {
    const std::string ann = user("ann");
    grant(ann, "member");
    const std::string shown = ticket(session("ann"));
    desk().estate.grants.edit("gr-" + ann).role = "viewer";
    (void)commit();
    EXPECT_EQ(enter({.ticket = shown}), "permission_missing");
    desk().estate.grants.edit("gr-" + ann).role = "member";
    (void)commit();
    const std::string again = ticket(session("ann"));
    desk().estate.instances.edit("i-one").phase = InstancePhase::resting;
    EXPECT_EQ(enter({.ticket = again}), "not_running");
}

TEST_F(TicketsTest, AreForCallersWhoMayEnterARunningInstance) {
    EXPECT_EQ(ask("hk_globex").status, 404) << "another tenant's";
    EXPECT_EQ(ask("hk_nobody").status, 401);
    const std::string bob = user("bob");
    grant(bob, "viewer");
    EXPECT_EQ(ask(session("bob")).code(), "permission_missing");
    EXPECT_EQ(ask("hk_acme", R"({"kind":"start"})").status, 400);
    desk().estate.instances.edit("i-two").phase = InstancePhase::resting;
    EXPECT_EQ(ask("hk_acme", "{}", "two").code(), "not_running");
    desk().estate.gateways.erase("gw-1");
    EXPECT_EQ(ask("hk_acme").code(), "no_gateway");
    EXPECT_EQ(tickets_of(term()).size(), 0u);
}

TEST_F(TicketsTest, AreForPagesOfTheApisOwnOriginAndForPrograms) {
    const auto with = [&](const std::string& said) {
        headers = said;
        Reply reply = post("/v1/instances/one/tickets", "{}", "hk_acme");
        headers.clear();
        return reply;
    };
    EXPECT_EQ(with("Origin: http://evil.example\r\n").code(), "other_origin");
    EXPECT_EQ(with("Origin: http://console.example\r\nSec-Fetch-Site: same-site\r\n").code(), "other_origin");
    EXPECT_EQ(with("Origin: null\r\n").code(), "other_origin");
    const Reply by_host = with("Origin: http://api\r\n");
    EXPECT_EQ(by_host.status, 201) << "as this client reaches the API: " << by_host.text;
    EXPECT_EQ(enter({.ticket = by_host.at("ticket"), .origin = "http://api"}), "");
    const std::string of_program = with("").at("ticket");
    EXPECT_EQ(enter({.ticket = of_program}), "ticket_unknown") << "no page shows it";
    EXPECT_EQ(enter({.ticket = with("").at("ticket"), .origin = ""}), "");
}

TEST_F(TicketsTest, OfAKeyForSomeAddressesCountThereAlone) {
    desk().estate.api_keys.add(
        {.id = "k-2", .hash = "#hk_bound", .tenant = "acme", .addresses = {"203.0.113.0/24"}});
    (void)commit();
    EXPECT_EQ(enter({.ticket = ticket("hk_bound"), .from = "198.51.100.9"}), "ticket_unknown");
    EXPECT_EQ(enter({.ticket = ticket("hk_bound")}), "");
    EXPECT_TRUE(answer.by_address());
    EXPECT_TRUE(caller_of_mark(term(), "key/k-2", "203.0.113.9"));
    EXPECT_FALSE(caller_of_mark(term(), "key/k-2", "198.51.100.9"));
}

TEST_F(TicketsTest, AreBounded) {
    const std::string oldest = ticket(), second = ticket();
    for (std::size_t i = 1; i < tickets_actor_max; ++i) ticket();
    EXPECT_EQ(tickets_of(term()).size(), tickets_actor_max);
    EXPECT_EQ(enter({.ticket = oldest}), "ticket_unknown") << "it made room";
    EXPECT_EQ(enter({.ticket = second}), "");
    Tickets all;
    const auto add = [&](std::size_t number) {
        return all.add({.actor = fmt::format("user/{}", number), .lane = fmt::format("t-{}", number % 16)},
                       ports.random, ports.digest, timers.now());
    };
    for (std::size_t i = 0; i < tickets_max; ++i) ASSERT_TRUE(add(i / 2));
    EXPECT_EQ(add(tickets_max).error().reason, "too_many_tickets");
    timers.advance(ticket_life);
    EXPECT_TRUE(add(tickets_max));
    EXPECT_EQ(all.size(), 1u);
    for (std::size_t i = 0; i <= tickets_lane_max; ++i) EXPECT_TRUE(add(i * 16)) << "of one tenant";
    EXPECT_EQ(all.size(), tickets_lane_max);
}

TEST_F(TicketsTest, ATrialMakesNone) {
    const Reply reply = post("/v1/instances/one/tickets?dryRun=true", "{}", "hk_acme");
    EXPECT_EQ(reply.status, 201) << reply.text;
    EXPECT_EQ(reply.at("ticket"), "");
    EXPECT_EQ(tickets_of(term()).size(), 0u);
}

}  // namespace
}  // namespace hostler::master
