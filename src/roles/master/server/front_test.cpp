#include "roles/master/server/front.h"

#include <gmock/gmock.h>

#include "api/operation_list.h"
#include "api/schema.h"
#include "core/testing/metrics.h"
#include "http/testing/gunzip.h"
#include "roles/master/http/caller.h"
#include "roles/master/testing/front_rig.h"

namespace hostler::master {
namespace {

using hostler::testing::MemoryStream;
using testing::FrontTest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(FrontTest, SaysWhetherItLeads) {
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
    term().end({Code::unavailable, "over"});
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(get("/v1/zones", key("hk_operator")), HasSubstr("\"code\":\"no_leader\""));
    EXPECT_THAT(get("/sign-in?return=http://x/"), StartsWith("HTTP/1.1 503"));
}

TEST_F(FrontTest, TellsEverybodyWhatThereIsToAsk) {
    const std::string told = get("/openapi.json");
    EXPECT_THAT(told, StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(told, HasSubstr("Content-Type: application/json"));
    EXPECT_THAT(told, HasSubstr("\"openapi\""));
    EXPECT_THAT(get("/nowhere"), StartsWith("HTTP/1.1 404"));
    const auto at = told.find("ETag: ");
    ASSERT_NE(at, told.npos);
    const std::string etag = told.substr(at + 6, told.find("\r\n", at) - at - 6);
    EXPECT_THAT(get("/openapi.json", fmt::format("If-None-Match: {}\r\n", etag)), StartsWith("HTTP/1.1 304"));
}

std::string body_of(std::string_view answer) {
    constexpr std::string_view end = "\r\n\r\n";
    const auto at = answer.find(end);
    return at == std::string_view::npos ? "" : std::string{answer.substr(at + end.size())};
}

TEST_F(FrontTest, LongAnswersAreCompressedForWhoTakesThat) {
    const std::string wanted = "Accept-Encoding: br;q=1.0, gzip;q=0.8\r\n";
    for (const std::string path : {"/openapi.json", "/v1/permissions", "/v1/roles"}) {
        const std::string plain = get(path, key("hk_operator")),
                          packed = get(path, key("hk_operator") + wanted);
        EXPECT_THAT(packed, StartsWith("HTTP/1.1 200")) << path;
        EXPECT_THAT(plain, Not(HasSubstr("Content-Encoding"))) << path;
        EXPECT_THAT(plain, HasSubstr("Vary: Accept-Encoding\r\n")) << path;
        EXPECT_THAT(packed, HasSubstr("Content-Encoding: gzip\r\n")) << path;
        EXPECT_THAT(packed, HasSubstr("Vary: Accept-Encoding\r\n")) << path;
        EXPECT_LT(packed.size(), plain.size()) << path;
        EXPECT_EQ(http::testing::gunzip(body_of(packed)), body_of(plain)) << path;
    }
    EXPECT_THAT(get("/openapi.json", "Accept-Encoding: gzip;q=0\r\n"), Not(HasSubstr("Content-Encoding")));
    EXPECT_THAT(get("/v1/zones", key("hk_operator") + wanted), Not(HasSubstr("Content-Encoding")))
        << "a short one";
    EXPECT_THAT(get("/v1/backup", key("hk_operator") + wanted), Not(HasSubstr("Content-Encoding")));
}

// Sizes of compressed answers tell of what is in them (BREACH): answers of writes stay plain, and secrets are
// in those alone.
TEST_F(FrontTest, NoAnswerWithASecretIsCompressed) {
    const std::string made =
        answer(post("/v1/api-keys", fmt::format(R"({{"name":"{}","tenantID":"acme"}})", "ci"),
                    key("hk_operator") + "Accept-Encoding: gzip\r\n"));
    EXPECT_THAT(made, HasSubstr("\"secret\":\"hk_"));
    EXPECT_THAT(made, Not(HasSubstr("Vary")));
    EXPECT_THAT(get("/sign-in/invitation?secret=hi_x", "Accept-Encoding: gzip\r\n"),
                Not(HasSubstr("Content-Encoding")));
    for (const api::Operation* operation : api::operations()) {
        if (operation->method != api::Method::get) continue;
        for (const api::Property& property : operation->response().properties)
            for (const std::string_view secret :
                 {"secret", "recoveryCodes", "hostToken", "deviceCode", "totpSecret"})
                EXPECT_NE(property.name, secret) << operation->name;
    }
}

std::string header_of(std::string_view answer, std::string_view name) {
    const std::string start = fmt::format("\r\n{}: ", name);
    const auto at = answer.find(start);
    if (at == std::string_view::npos) return "";
    const auto rest = answer.substr(at + start.size());
    return std::string{rest.substr(0, rest.find("\r\n"))};
}

TEST_F(FrontTest, EachAnswerNamesItsRequestAndTheAuditDoesToo) {
    const std::string made =
        answer(post("/v1/zones", R"({"name":"fra"})", key("hk_operator") + "X-Request-Id: mine\r\n"));
    const std::string id = header_of(made, "X-Request-Id");
    EXPECT_THAT(id, ::testing::MatchesRegex("r-[0-9a-f]{16}")) << "the caller's own value is not taken";
    ASSERT_FALSE(store.lines.empty());
    EXPECT_EQ(store.lines.back().operation, "createZone");
    EXPECT_EQ(store.lines.back().request, id);

    const std::string refused = answer(post("/v1/zones", R"({"name":"mad"})", key("hk_acme")));
    const std::string other = header_of(refused, "X-Request-Id");
    EXPECT_NE(other, id);
    EXPECT_THAT(body_of(refused), HasSubstr(fmt::format(R"("requestID":"{}")", other)));
    EXPECT_EQ(store.lines.back().result, audit_denied);
    EXPECT_EQ(store.lines.back().request, other);

    for (const std::string& one :
         {get("/v1/zones"), get("/nowhere"), get("/v1/zones/none", key("hk_operator"))})
        EXPECT_THAT(body_of(one),
                    HasSubstr(fmt::format(R"("requestID":"{}")", header_of(one, "X-Request-Id"))));
    EXPECT_NE(header_of(get("/healthz"), "X-Request-Id"), "");

    const std::string found = get("/v1/audit?requestID=" + id, key("hk_operator"));
    EXPECT_THAT(found, HasSubstr("\"operation\":\"createZone\""));
    EXPECT_THAT(found, Not(HasSubstr("\"result\":\"denied\"")));
}

TEST_F(FrontTest, HasAFrontDoor) {
    const std::string person = get("/", "Accept: text/html,*/*;q=0.8\r\n");
    EXPECT_THAT(person, StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(person, HasSubstr("default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"));
    EXPECT_THAT(person, HasSubstr("frame-ancestors 'none'; base-uri 'none'"));
    EXPECT_THAT(person, HasSubstr("export HOSTLER_API=http://api\n"));
    EXPECT_THAT(person, HasSubstr("hostler key create"));
    EXPECT_THAT(person, HasSubstr("href=\"http://api/openapi.json\""));
    const std::string program = get("/", "Accept: */*\r\n");
    EXPECT_THAT(program, HasSubstr("Content-Type: application/json"));
    EXPECT_THAT(program, HasSubstr("\"openapi\":\"/openapi.json\""));
    settings.public_url = "https://api.example";
    EXPECT_THAT(get("/", "Accept: text/html\r\n"), HasSubstr("export HOSTLER_API=https://api.example\n"));
    EXPECT_THAT(answer(post("/", "")), StartsWith("HTTP/1.1 4")) << "there is nothing to change";
}

TEST_F(FrontTest, AnswersWhoShowsAKeyThatIsGood) {
    for (const std::string shown : {"Authorization: Bearer hk_acme\r\n",
                                    "authorization: bEARER  hk_acme \r\n", "X-Hostler-Key: hk_acme\r\n"}) {
        const std::string told = get("/v1/whoami", shown);
        EXPECT_THAT(told, StartsWith("HTTP/1.1 200")) << shown;
        EXPECT_THAT(told, HasSubstr("\"tenantID\":\"acme\"")) << shown;
        EXPECT_THAT(told, HasSubstr("Cache-Control: no-store")) << shown;
    }
    EXPECT_THAT(get("/v1/whoami", key("hk_operator")), HasSubstr("\"isOperator\":true"));
    for (const std::string shown : {"", "Authorization: Basic hk_acme\r\n", "Authorization: Bearer\r\n",
                                    "Authorization: Bearer hk_nobody\r\n",
                                    "Authorization: Bearer hk_revoked\r\n", "X-Hostler-Key: #hk_acme\r\n"}) {
        const std::string told = get("/v1/whoami", shown);
        EXPECT_THAT(told, StartsWith("HTTP/1.1 401")) << shown;
        EXPECT_THAT(told, HasSubstr("WWW-Authenticate: Bearer")) << shown;
        EXPECT_THAT(told, HasSubstr("application/problem+json")) << shown;
    }
    EXPECT_THAT(get("/v1/whoami", key("hk_short")), StartsWith("HTTP/1.1 200"));
    timers.advance(std::chrono::seconds{60});
    EXPECT_THAT(get("/v1/whoami", key("hk_short")), StartsWith("HTTP/1.1 401"));
}

TEST_F(FrontTest, ASessionOfTheGatewayIsNoKey) {
    const std::string code = make_code(term(), *caller_of(term(), "hk_acme"), "8080-i-1");
    const std::string session = redeem_code(term(), code, "8080-i-1").value();
    (void)commit();
    EXPECT_THAT(get("/v1/whoami", key(session)), StartsWith("HTTP/1.1 401"));
}

TEST_F(FrontTest, ReadsNobodysBodyBeforeItKnowsWhoSendsIt) {
    const std::string head = "POST /v1/zones HTTP/1.1\r\nHost: api\r\nContent-Length: 500000\r\n";
    EXPECT_THAT(answer(head + "\r\n{"), StartsWith("HTTP/1.1 401")) << "though the body never comes";
    EXPECT_EQ(answer(head + key("hk_operator") + "\r\n{"), "") << "of this one it waits for the rest";
}

TEST_F(FrontTest, RefusesABodyThatIsTooLargeAsAProblem) {
    const std::string told =
        answer(post("/v1/zones", std::string(api::body_max + 1, ' '), key("hk_operator")));
    EXPECT_THAT(told, StartsWith("HTTP/1.1 413"));
    EXPECT_THAT(told, HasSubstr("application/problem+json"));
    EXPECT_THAT(told, HasSubstr("\"code\":\"too_large\""));
}

TEST_F(FrontTest, WritesWithWhoAskedAndFromWhere) {
    EXPECT_THAT(answer(post("/v1/zones", R"({"name":"lon"})",
                            key("hk_operator") + "User-Agent: terraform/1.9 \xe2\x80\xae\r\n")),
                StartsWith("HTTP/1.1 201"));
    ASSERT_EQ(store.lines.size(), 1u);
    EXPECT_EQ(store.lines[0].client, R"(terraform/1.9 \u202e)");
    EXPECT_EQ(store.lines[0].actor, "key/operator");
    EXPECT_EQ(store.lines[0].address, "203.0.113.7:5000");
    EXPECT_THAT(answer(post("/v1/volumes", R"({"name":"v","size":"1Gi"})",
                            key("hk_acme") + "Idempotency-Key: a\r\n")),
                StartsWith("HTTP/1.1 201"));
    EXPECT_THAT(answer(post("/v1/volumes", R"({"name":"v","size":"1Gi"})",
                            key("hk_acme") + "Idempotency-Key: a\r\n")),
                StartsWith("HTTP/1.1 201"))
        << "the header reaches the operation";
}

TEST_F(FrontTest, WhatIsTooMuchAtOnceWaitsOrIsTurnedAway) {
    store.hang = true;
    MemoryStream& first = slow("hk_acme", "a");
    MemoryStream& second = slow("hk_acme", "b");
    EXPECT_EQ(store.begun.size(), 2u) << "the key's, and the first";
    const std::string third = answer(post("/v1/volumes", "{}", key("hk_acme")));
    EXPECT_THAT(third, StartsWith("HTTP/1.1 429"));
    EXPECT_THAT(third, HasSubstr("\"code\":\"too_many_requests\""));
    EXPECT_THAT(third, HasSubstr("Retry-After: 1"));
    MemoryStream& other = slow("hk_other", "c");
    EXPECT_EQ(store.begun.size(), 3u) << "another tenant has a place of its own";
    MemoryStream& operators = send(post("/v1/zones", R"({"name":"lon"})", key("hk_operator")));
    EXPECT_EQ(store.begun.size(), 4u) << "and so have operators";
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200")) << "whoever looks after it still gets an answer";
    store.let_go();
    timers.settle();
    for (MemoryStream* one : {&first, &second, &other, &operators})
        EXPECT_THAT(std::string{one->unread()}, StartsWith("HTTP/1.1 201"));
    EXPECT_THAT(get("/v1/zones", key("hk_operator")), StartsWith("HTTP/1.1 200"));
}

TEST_F(FrontTest, ShowsItsLimitsAndHowFarTheyAreUsed) {
    store.hang = true;
    slow("hk_acme", "a");
    slow("hk_acme", "b");
    slow("hk_acme", "c");
    send(fmt::format("GET /v1/instances?watch=true HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_operator")));
    MetricsPage page;
    front.write_metrics(page);
    auto shown = hostler::testing::parse_metrics(page.text());
    ASSERT_TRUE(shown) << shown.error().message;
    const auto& values = *shown;
    EXPECT_EQ(values.at("hostler_master_requests"), 1);
    EXPECT_EQ(values.at("hostler_master_requests_max"), 2);
    EXPECT_EQ(values.at("hostler_master_requests_waiting"), 1);
    EXPECT_EQ(values.at("hostler_master_requests_refused_total{why=\"too_many_requests\"}"), 1);
    EXPECT_EQ(values.at("hostler_master_operator_requests"), 1);
    store.let_go();
    timers.settle();
    page = {};
    front.write_metrics(page);
    shown = hostler::testing::parse_metrics(page.text());
    EXPECT_EQ(shown->at("hostler_master_requests"), 0);
    EXPECT_EQ(shown->at("hostler_master_operator_watches"), 1);
}

TEST_F(FrontTest, WhoeverWaitsTooLongIsToldToComeBack) {
    store.hang = true;
    slow("hk_acme", "a");
    MemoryStream& second = slow("hk_acme", "b");
    timers.advance(settings.admission.wait_max);
    EXPECT_THAT(std::string{second.unread()}, StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(std::string{second.unread()}, HasSubstr("\"code\":\"overloaded\""));
    EXPECT_THAT(std::string{second.unread()}, HasSubstr("Retry-After: 1"));
    EXPECT_EQ(store.begun.size(), 2u);
    store.let_go();
}

// SIGTERM: what is under way is answered, idle connections end, and a watch goes on elsewhere.
TEST_F(FrontTest, LeavesWithoutCuttingWhatIsUnderWay) {
    http::Server server{loop, timers, 16};
    store.hang = true;
    const auto begin = [&](const std::string& bytes) -> MemoryStream& {
        auto [ours, theirs] = hostler::testing::memory_pair(4 << 20, "server", "203.0.113.7:5000");
        connections.start("connection", front.serve(std::move(ours), &server.drain()));
        EXPECT_TRUE(hostler::testing::run(loop, write_all(*theirs, bytes)));
        timers.settle();
        return *clients.emplace_back(std::move(theirs));
    };
    MemoryStream& busy = begin(post("/v1/volumes", R"({"name":"v","size":"1Gi"})", key("hk_acme")));
    MemoryStream& idle = begin("");
    MemoryStream& watch = begin(
        fmt::format("GET /v1/instances?watch=true HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_operator")));
    const std::size_t open = connections.size();
    term().feed().close();
    server.drain().begin();
    timers.settle();
    EXPECT_EQ(connections.size(), open - 1) << "the idle one";
    EXPECT_EQ(busy.unread(), "");
    store.let_go();
    timers.settle();
    EXPECT_THAT(std::string{busy.unread()}, StartsWith("HTTP/1.1 201"));
    EXPECT_THAT(std::string{busy.unread()}, HasSubstr("Connection: close"));
    EXPECT_EQ(idle.unread(), "");
    (void)watch;
    timers.advance(std::chrono::seconds{5});
    EXPECT_EQ(connections.size(), 0u);
}

TEST_F(FrontTest, TellsWhichMethodsAPathTakes) {
    const std::string told =
        answer(fmt::format("QUERY /v1/zones HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_operator")));
    EXPECT_THAT(told, StartsWith("HTTP/1.1 405"));
    EXPECT_THAT(told, HasSubstr("Allow: GET, POST\r\n"));
}

// On a server that is full, as a crowd of strangers makes it.
TEST_F(FrontTest, AGoodKeyKeepsItsConnectionAndABadOneDoesNot) {
    http::Places places{2, 2};
    const auto begin = [&](const std::string& bytes) -> http::Place& {
        auto [ours, theirs] = hostler::testing::memory_pair(4 << 20, "server", "203.0.113.7:5000");
        StreamPtr stream = std::move(ours);
        http::Place& place = places.enter(stream, stream->address());
        connections.start("connection", front.serve(std::move(stream), nullptr, &place));
        EXPECT_TRUE(hostler::testing::run(loop, write_all(*theirs, bytes)));
        timers.settle();
        clients.emplace_back(std::move(theirs));
        return place;
    };
    const auto ask = [&](const std::string& credential) {
        return begin(fmt::format("GET /v1/zones HTTP/1.1\r\nHost: api\r\n{}\r\n", key(credential)))
            .standing();
    };
    EXPECT_EQ(ask("hk_acme"), http::Place::Standing::known);
    EXPECT_EQ(ask("hk_operator"), http::Place::Standing::known);
    EXPECT_EQ(ask("hk_revoked"), http::Place::Standing::resting);
    EXPECT_EQ(begin("GET /healthz HTTP/1.1\r\nHost: api\r\n\r\n").standing(), http::Place::Standing::resting);
    EXPECT_EQ(begin("").standing(), http::Place::Standing::silent);
    clients.clear();
    timers.settle();
}

TEST_F(FrontTest, TakesTheWordOfATrustedProxyAboutItsClient) {
    http::Places places{2, 2};
    const auto proxies =
        http::TrustedProxies::parse({"203.0.113.7"}, http::ProxyWord::x_forwarded_for).value();
    auto [ours, theirs] = hostler::testing::memory_pair(4 << 20, "server", "203.0.113.7:5000");
    StreamPtr stream = std::move(ours);
    http::Place& place = places.enter(stream, "");
    place.is_shared(proxies);
    connections.start("connection", front.serve(std::move(stream), nullptr, &place));
    const auto told = [&](const std::string& bytes) {
        EXPECT_TRUE(hostler::testing::run(loop, write_all(*theirs, bytes)));
        timers.settle();
        return std::string{theirs->unread()};
    };
    const std::string by_proxy = "X-Forwarded-For: 6.6.6.6, 198.51.100.9\r\nX-Forwarded-Proto: https\r\n";
    EXPECT_THAT(told(post("/v1/zones", R"({"name":"lon"})", key("hk_operator") + by_proxy)),
                StartsWith("HTTP/1.1 201"));
    ASSERT_EQ(store.lines.size(), 1u);
    EXPECT_EQ(store.lines[0].address, "198.51.100.9");
    const std::string door =
        told("GET / HTTP/1.1\r\nHost: api.example\r\nAccept: text/html\r\n" + by_proxy + "\r\n");
    EXPECT_THAT(door, HasSubstr("export HOSTLER_API=https://api.example\n"));
    EXPECT_THAT(door, HasSubstr("Strict-Transport-Security: "));
    theirs->close();
    timers.settle();
}

TEST_F(FrontTest, AKeyThatIsRevokedWhileItWaitsDoesNothing) {
    store.hang = true;
    slow("hk_acme", "a");
    MemoryStream& second = slow("hk_acme", "b");
    desk().estate.api_keys.edit("k-1").revoked_at = 1;
    (void)commit();
    store.let_go();
    timers.settle();
    EXPECT_THAT(std::string{second.unread()}, StartsWith("HTTP/1.1 401"));
}

TEST_F(FrontTest, AKeyThatAsksTooFastIsSlowedDown) {
    for (int i = 0; i < 6; ++i) EXPECT_THAT(get("/v1/whoami", key("hk_acme")), StartsWith("HTTP/1.1 200"));
    const std::string told = get("/v1/whoami", key("hk_acme"));
    EXPECT_THAT(told, StartsWith("HTTP/1.1 429"));
    EXPECT_THAT(told, HasSubstr("\"code\":\"rate_limited\""));
    EXPECT_THAT(told, HasSubstr("Retry-After: 1"));
    EXPECT_THAT(get("/v1/whoami", key("hk_short")), StartsWith("HTTP/1.1 200"))
        << "another key of the tenant";
    for (int i = 0; i < 20; ++i)
        EXPECT_THAT(get("/v1/whoami", key("hk_operator")), StartsWith("HTTP/1.1 200"));
    timers.advance(std::chrono::seconds{1});
    EXPECT_THAT(get("/v1/whoami", key("hk_acme")), StartsWith("HTTP/1.1 200"));
}

TEST_F(FrontTest, StrangersMayTryOnlySoOften) {
    for (int i = 0; i < 12; ++i) EXPECT_THAT(get("/v1/whoami", key("hk_guess")), StartsWith("HTTP/1.1 401"));
    EXPECT_THAT(get("/v1/whoami", key("hk_guess")), StartsWith("HTTP/1.1 429"));
    EXPECT_THAT(get("/v1/backup", key("hk_guess")), StartsWith("HTTP/1.1 429"));
    EXPECT_THAT(get("/v1/whoami", key("hk_acme")), StartsWith("HTTP/1.1 200")) << "from the same address";
}

TEST_F(FrontTest, ABodyThatComesTooSlowlyIsCutAndLeavesItsTurn) {
    MemoryStream& slow =
        send("POST /v1/volumes HTTP/1.1\r\nHost: api\r\nContent-Length: 1000\r\n" + key("hk_acme") + "\r\n{");
    const std::size_t open = connections.size();
    for (int i = 0; i < 5; ++i) {  // Each piece comes in time.
        timers.advance(std::chrono::seconds{11});
        ASSERT_TRUE(hostler::testing::run(loop, write_all(slow, " ")));
    }
    MemoryStream& next = send(fmt::format("GET /v1/whoami HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_acme")));
    EXPECT_EQ(next.unread(), "") << "its tenant's only place is taken";
    timers.advance(std::chrono::seconds{4});
    EXPECT_EQ(connections.size(), open + 1);
    timers.advance(std::chrono::seconds{1});
    EXPECT_EQ(connections.size(), open) << "a minute is over";
    EXPECT_THAT(std::string{next.unread()}, StartsWith("HTTP/1.1 200"));
}

TEST_F(FrontTest, AnAnswerOnItsWayHoldsNoTurn) {
    const MemoryStream& slow =
        send_narrow(fmt::format("GET /v1/whoami HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_acme")));
    ASSERT_EQ(slow.unread().size(), 64U) << "the rest waits for room";
    EXPECT_THAT(get("/v1/whoami", key("hk_acme")), StartsWith("HTTP/1.1 200"));
}

TEST_F(FrontTest, WhoWaitsForALeaderIsToldSoWithTheOthersAndNoneTooEarly) {
    finish();
    lead.soon = true;
    const auto ask = [&]() -> MemoryStream& {
        return send(fmt::format("GET /v1/whoami HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_acme")));
    };
    timers.advance(std::chrono::milliseconds{1010});
    const MemoryStream& first = ask();
    timers.advance(std::chrono::milliseconds{150});
    const MemoryStream& second = ask();
    timers.advance(std::chrono::milliseconds{100});
    const MemoryStream& third = ask();  // Of the next quarter of a second.
    timers.advance(std::chrono::milliseconds{4989});
    EXPECT_EQ(first.unread(), "");
    timers.advance(std::chrono::milliseconds{1});  // 6.25 s.
    EXPECT_THAT(std::string{first.unread()}, HasSubstr("\"code\":\"no_leader\""));
    EXPECT_THAT(std::string{second.unread()}, HasSubstr("\"code\":\"no_leader\"")) << "at the same time";
    EXPECT_EQ(third.unread(), "") << "five seconds are not over";
    timers.advance(std::chrono::milliseconds{250});
    EXPECT_THAT(std::string{third.unread()}, HasSubstr("\"code\":\"no_leader\""));
}

// It holds a place among the watches, and none among the requests.
TEST_F(FrontTest, AWatchLeavesItsTurnToOthers) {
    send(fmt::format("GET /v1/instances?watch=true HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_acme")));
    EXPECT_THAT(get("/v1/whoami", key("hk_acme")), StartsWith("HTTP/1.1 200"));
}

TEST_F(FrontTest, AWatcherThatReadsTooSlowlyIsCut) {
    MemoryStream& slow = send_narrow(
        fmt::format("GET /v1/instances?watch=true HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_acme")));
    ASSERT_NE(slow.unread(), "");
    // A byte now and then is progress, but no way to read an event.
    bool cut = false;
    for (int second = 0; second < 120 && !cut; ++second) {
        timers.advance(std::chrono::seconds{1});
        std::array<char, 1> byte{};
        const auto read = slow.try_read(byte);
        cut = !read || *read == 0U;
    }
    EXPECT_TRUE(cut);
}

TEST_F(FrontTest, StreamsAWatch) {
    const std::string told = get("/v1/instances?watch=true", key("hk_acme"));
    EXPECT_THAT(told, StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(told, HasSubstr("Content-Type: text/event-stream"));
    EXPECT_THAT(told, HasSubstr("event: synced"));
}

TEST_F(FrontTest, AnOperatorGetsABackupAndNobodyElse) {
    EXPECT_THAT(get("/v1/backup"), StartsWith("HTTP/1.1 401"));
    EXPECT_THAT(get("/v1/backup", key("hk_acme")), StartsWith("HTTP/1.1 403"));
    const std::string told = get("/v1/backup", key("hk_operator"));
    EXPECT_THAT(told, StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(told, HasSubstr("application/octet-stream"));
    EXPECT_THAT(told, HasSubstr("6\r\npiece \r\n6\r\npiece \r\n6\r\npiece \r\n0\r\n"));
    EXPECT_EQ(store.lines.back().operation, "backup");
    EXPECT_EQ(store.log.back().reason, "backup");
    store.backup_failure = Error{Code::exhausted, "no room", "disk_full"};
    const auto audited = store.lines.size();
    EXPECT_THAT(get("/v1/backup", key("hk_operator")), HasSubstr("disk_full"));
    EXPECT_EQ(store.lines.size(), audited) << "nobody got anything";
    store.backup_failure.reset();
    EXPECT_THAT(get("/v1/backup", key("hk_operator")), StartsWith("HTTP/1.1 200"));
}

// A byte now and then is progress, but somebody else may want one, too.
TEST_F(FrontTest, ABackupThatIsTakenTooSlowlyIsCutAtItsDeadline) {
    store.backup_pieces = 10'000;
    MemoryStream& slow =
        send_narrow(fmt::format("GET /v1/backup HTTP/1.1\r\nHost: api\r\n{}\r\n", key("hk_operator")));
    const auto take = [&slow] {
        std::array<char, 1> byte{};
        const auto read = slow.try_read(byte);
        return read && *read == 1U;
    };
    constexpr std::chrono::seconds pause{20};
    for (std::chrono::seconds passed = pause; passed < settings.backup_max; passed += pause) {
        timers.advance(pause);
        ASSERT_TRUE(take()) << passed.count();
    }
    EXPECT_THAT(get("/v1/backup", key("hk_operator")), HasSubstr("backup_under_way"));
    timers.advance(pause);
    std::string rest;
    while (!slow.unread().empty()) {
        rest += slow.unread().front();
        ASSERT_TRUE(take());
    }
    EXPECT_FALSE(take()) << "nothing comes any more";
    EXPECT_FALSE(rest.ends_with("0\r\n\r\n")) << "it is not taken for whole";
    store.backup_pieces = 3;
    EXPECT_THAT(get("/v1/backup", key("hk_operator")), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace hostler::master
