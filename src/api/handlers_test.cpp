#include "api/handlers.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "api/operation_list.h"
#include "api/operations_host.h"
#include "api/operations_instance.h"
#include "api/operations_stock.h"
#include "api/operations_whoami.h"
#include "api/operations_zone.h"
#include "api/problem.h"
#include "core/testing/run.h"

namespace hostler::api {
namespace {

class Recorder : public EventSink {
public:
    Task<> send(std::string bytes) override {
        text += bytes;
        co_return Result<>{};
    }
    std::string text;
};

class HandlersTest : public ::testing::Test {
protected:
    Reply ask(Inquiry inquiry, Result<Caller> who = Caller::of_operator("key/k-1"),
              EventSink* sink = nullptr) {
        return *hostler::testing::run(loop, handlers.answer(std::move(inquiry), std::move(who), sink));
    }
    static Problem problem(const Reply& reply) {
        EXPECT_EQ(reply.content_type, "application/problem+json");
        auto decoded = decode<Problem>(reply.body);
        EXPECT_TRUE(decoded) << reply.body;
        return decoded.value_or(Problem{});
    }
    static std::string header(const Reply& reply, std::string_view name) {
        for (const auto& [key, value] : reply.headers)
            if (key == name) return value;
        return "";
    }

    Loop loop;
    Handlers handlers;
};

const Caller tenant = Caller::of_tenant("key/k-2", "acme");

TEST_F(HandlersTest, GivesTheHandlerWhatItAskedForAndEncodesItsAnswer) {
    handlers.on<ops::create_zone>([](Call call, CreateZone request) -> Task<Zone> {
        EXPECT_EQ(call.caller.actor, "key/k-1");
        EXPECT_EQ(call.request, R"({"name":"nj","location":""})");
        co_return Zone{.name = request.name};
    });
    const Reply reply = ask({.method = "POST", .target = "/v1/zones", .body = R"({"name":"nj"})"});
    EXPECT_EQ(reply.status, 201);
    EXPECT_EQ(decode<Zone>(reply.body)->name, "nj");
}

TEST_F(HandlersTest, TellsAllThatIsWrongInQueryAndBodyAtOnce) {
    handlers.on<ops::create_stocks>([](Call, CreateStocks) -> Task<Empty> { co_return Empty{}; });
    const Reply reply = ask({.method = "POST", .target = "/stocks?zoen=x", .body = R"({"number": 0})"});
    EXPECT_EQ(reply.status, 400);
    const Problem told = problem(reply);
    EXPECT_EQ(told.code, "invalid");
    EXPECT_EQ(told.detail, "3 fields are wrong");
    EXPECT_EQ(told.errors,
              (std::vector<ProblemField>{{"zoen", "unknown query parameter; did you mean 'zone'?"},
                                         {"number", "must be between 1 and 10000"},
                                         {"specName", "is required"}}));
}

TEST_F(HandlersTest, AnswersProblemsWithTheirHeaders) {
    handlers.on<ops::create_instance>([](Call, CreateInstance) -> Task<CreatedInstance> {
        Error error{
            .code = Code::exhausted, .message = "no host has room", .reason = "insufficient_capacity"};
        error.help = "delete 1 idle slot";
        co_return std::unexpected(error);
    });
    const Reply full = ask({.method = "POST",
                            .target = "/gpu-instances",
                            .body = R"({"instanceID":"a","tenantID":"t","image":"i","specName":"s"})"});
    EXPECT_EQ(full.status, 409);
    EXPECT_EQ(problem(full).code, "insufficient_capacity");
    EXPECT_EQ(problem(full).type, "urn:hostler:problem:insufficient_capacity");
    EXPECT_EQ(problem(full).help, "delete 1 idle slot");

    EXPECT_EQ(header(ask({.method = "PUT", .target = "/stocks"}), "Allow"), "POST, DELETE");
    EXPECT_EQ(ask({.method = "PUT", .target = "/stocks"}).status, 405);
    EXPECT_EQ(ask({.method = "GET", .target = "/nowhere"}).status, 404);
    const Reply stranger =
        ask({.method = "GET", .target = "/v1/zones"}, fail(Code::unauthenticated, "no key"));
    EXPECT_EQ(stranger.status, 401);
    EXPECT_EQ(header(stranger, "WWW-Authenticate"), "Bearer");
    EXPECT_EQ(header(reply_of({.code = Code::exhausted, .reason = "rate_limited"}), "Retry-After"), "1");
    EXPECT_EQ(reply_of({.code = Code::exhausted, .reason = "rate_limited"}).status, 429);
    EXPECT_EQ(ask({.method = "GET", .target = "/v1/zones"}).status, 503);  // Nobody handles it here.
}

TEST_F(HandlersTest, KeepsTenantsFromTheOperatorsCalls) {
    bool called = false;
    handlers.on<ops::list_hosts>([&](Call, ListHosts) -> Task<List<Host>> {
        called = true;
        co_return List<Host>{};
    });
    const Reply reply = ask({.method = "GET", .target = "/v1/hosts"}, tenant);
    EXPECT_EQ(reply.status, 403);
    EXPECT_EQ(problem(reply).code, "permission_missing");
    EXPECT_FALSE(called);
    EXPECT_EQ(ask({.method = "GET", .target = "/v1/hosts"}).status, 200);
}

TEST(Callers, TakeTheirOwnShareOfTime) {
    EXPECT_EQ(Caller::of_operator("key/k-1").lane(), "");
    EXPECT_EQ(Caller::of_tenant("key/k-2", "acme").lane(), "acme");
    const Permissions see{Permission::host_read};
    EXPECT_EQ((Caller{.principal = {.held = {{Scope::cloud(), see}}}, .actor = "user/u-1"}).lane(), "");
    EXPECT_EQ(
        (Caller{.principal = {.held = {{Scope::of_provider("farm"), see}}}, .actor = "user/u-2"}).lane(),
        "user/u-2")
        << "a provider takes no place of operators";
    EXPECT_EQ(Caller{.actor = "user/u-3"}.lane(), "user/u-3");
}

TEST_F(HandlersTest, StreamsAWatch) {
    handlers.watch<ops::list_instances>([](Call call, ListInstances request, Watch<Instance>& to) -> Task<> {
        if (request.zone == "gone") co_return fail(Code::not_found, "there is no zone 'gone'");
        EXPECT_EQ(call.resume, 41U);
        CO_TRY(co_await to.send(42, Change::added, Instance{.id = "i-1"}));
        CO_TRY(co_await to.synced(42));
        co_return fail(Code::unavailable,
                       "the client has gone");  // After the first event: nothing left to tell.
    });
    Recorder sink;
    const Caller caller = Caller::of_operator("key/k-1");
    const Reply reply =
        ask({.method = "GET", .target = "/v1/instances?watch=true", .last_event_id = "41"}, caller, &sink);
    EXPECT_TRUE(reply.streamed);
    EXPECT_TRUE(sink.text.starts_with("id: 42\nevent: added\ndata: {\"id\":\"i-1\",")) << sink.text;
    EXPECT_TRUE(sink.text.ends_with("id: 42\nevent: synced\ndata: {}\n\n")) << sink.text;
    EXPECT_EQ(ask({.method = "GET", .target = "/v1/instances?watch=true&zone=gone"}, caller, &sink).status,
              404);
    EXPECT_EQ(
        ask({.method = "GET", .target = "/v1/instances?watch=true", .last_event_id = "x"}, caller, &sink)
            .status,
        400);
}

TEST_F(HandlersTest, KnowsWhatIsMissing) {
    const auto all = handlers.missing().size();
    EXPECT_EQ(all, operations().size());
    handlers.on<ops::list_instances>(
        [](Call, ListInstances) -> Task<List<Instance>> { co_return List<Instance>{}; });
    EXPECT_EQ(handlers.missing().size(), all);  // Its watch still is.
    handlers.on<ops::whoami>([](Call, Empty) -> Task<Whoami> { co_return Whoami{}; });
    EXPECT_EQ(handlers.missing().size(), all - 1);
}

TEST(Problem, ComesBackAsTheErrorItWas) {
    for (const Code code :
         {Code::invalid, Code::unauthenticated, Code::forbidden, Code::not_found, Code::conflict,
          Code::exhausted, Code::unavailable, Code::timeout, Code::cancelled, Code::internal}) {
        const Error error{.code = code,
                          .message = "what, which one, what to do",
                          .reason = "some_token",
                          .fields = {{"a.b", "is wrong"}},
                          .help = "less of it"};
        EXPECT_EQ(error_of(problem_of(error)), error) << name(code);
    }
    const Error capacity{.code = Code::exhausted, .message = "full", .reason = "insufficient_capacity"};
    EXPECT_EQ(status_of(capacity), 409);
    EXPECT_EQ(error_of(problem_of(capacity)), capacity);
    const Error full{.code = Code::exhausted, .message = "make room", .reason = "disk_full"};
    EXPECT_EQ(status_of(full), 507);
    EXPECT_EQ(error_of(problem_of(full)), full);
}

}  // namespace
}  // namespace hostler::api
