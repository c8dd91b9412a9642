// For this folder's tests: an API in the same process, on a network in memory, with time that moves when told
// to.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "api/handlers.h"
#include "api/problem.h"
#include "cli/cli.h"
#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"
#include "http/server.h"

namespace hostler::cli {

using namespace std::chrono_literals;
using hostler::testing::ManualTimers;

inline http::Response problem(Error error) {
    const api::Reply reply = api::reply_of(error);
    return {reply.status, {{"Content-Type", reply.content_type}}, reply.body};
}

// Typed handlers behind real HTTP; the key "operator-key" is an operator's, "acme-key" tenant acme's.
class FakeApi : public Net {
public:
    explicit FakeApi(Loop& loop, ManualTimers& timers) : timers_(timers), group_(loop) {}

    Task<StreamPtr> dial(std::string address, Duration within) override {
        dialled.push_back(address);
        dialled_within = within;
        if (down || absent.contains(address)) co_return fail(Code::unavailable, "connection refused");
        auto [client, server] = hostler::testing::memory_pair();
        StreamPtr its = std::move(server);
        if (silent || hung.contains(address)) {
            kept_.push_back(std::move(its));
            co_return std::move(client);
        }
        group_.start("serve", [](FakeApi& me, StreamPtr stream) -> Task<> {
            const http::ServerLimits limits;
            co_return co_await http::serve(std::move(stream), me.timers_, limits,
                                           [&me](http::Exchange& exchange) { return me.answer(exchange); });
        }(*this, std::move(its)));
        co_return std::move(client);
    }
    Task<ListenerPtr> listen(std::string) override { co_return std::unexpected(listen_refusal); }
    Task<StreamPtr> secure(StreamPtr stream, Secure how, Side, Duration) override {
        secured.push_back(how.expect + (how.own->authority.empty() ? "" : " by " + how.own->authority));
        if (refusal) co_return std::unexpected(*refusal);
        co_return std::move(stream);
    }

    void stop() { group_.cancel(); }

    api::Handlers handlers;
    std::map<std::string, http::Response> canned;  // "GET /v1/zones?limit=1000": answered as it stands.
    std::vector<std::string> requests;             // Method, target and body of each.
    std::vector<std::string> dialled;
    std::vector<std::string> secured;  // Whom TLS was to find, by which authorities.
    std::optional<Error> refusal;      // What TLS found instead.
    Error listen_refusal{Code::internal, "not here"};
    bool silent = false;  // Connections are taken, and nothing is answered.
    bool down = false;
    std::set<std::string> absent;  // Addresses where nobody is.
    std::set<std::string> hung;    // Addresses where connections are taken, and nothing is answered.
    Duration dialled_within{};     // So long at most the last was to take.
    std::vector<std::string> idempotency_keys;

private:
    struct Sink : api::EventSink {
        explicit Sink(http::Exchange& e) : exchange(e) {}
        Task<> send(std::string bytes) override {
            if (!exchange.started())
                CO_TRY(co_await exchange.start({200, {{"Content-Type", "text/event-stream"}}, {}}));
            co_return co_await exchange.write(bytes);
        }
        http::Exchange& exchange;
    };

    static Result<api::Caller> caller(const http::Exchange& exchange) {
        const auto header = exchange.request.headers.find("Authorization");
        if (header == "Bearer operator-key") return api::Caller::of_operator("key/k-1");
        if (header == "Bearer hu_ann") return api::Caller::of_tenant("user/u-1", "acme");
        if (header == "Bearer acme-key") return api::Caller::of_tenant("key/k-2", "acme");
        if (exchange.request.target.starts_with("/v1/sign-in")) return api::Caller{.actor = "stranger"};
        return fail(Code::unauthenticated, "the request has no valid API key");
    }

    Task<> answer(http::Exchange& exchange) {
        auto body = CO_TRY(co_await exchange.read_all(1 << 20));
        const std::string what = exchange.request.method + " " + exchange.request.target;
        requests.push_back(body.empty() ? what : what + " " + body);
        idempotency_keys.emplace_back(exchange.request.headers.find("Idempotency-Key").value_or(""));
        if (const auto found = canned.find(what); found != canned.end())
            co_return co_await exchange.respond(found->second);
        Sink sink{exchange};
        const auto header = [&](std::string_view name) {
            return std::string(exchange.request.headers.find(name).value_or(""));
        };
        auto reply = CO_TRY(co_await handlers.answer({.method = exchange.request.method,
                                                      .target = exchange.request.target,
                                                      .body = std::move(body),
                                                      .idempotency_key = header("Idempotency-Key"),
                                                      .last_event_id = header("Last-Event-ID")},
                                                     caller(exchange), &sink));
        if (reply.streamed) co_return co_await exchange.end();
        http::Response response{reply.status, {{"Content-Type", reply.content_type}}, std::move(reply.body)};
        co_return co_await exchange.respond(std::move(response));
    }

    ManualTimers& timers_;
    std::vector<StreamPtr> kept_;
    TaskGroup group_;
};

class CliTest : public ::testing::Test {
protected:
    CliTest() {
        char name[] = "/tmp/hostler-cli-XXXXXX";
        home = mkdtemp(name);
        env["HOME"] = home;
        env["HOSTLER_API"] = "http://api.test:8080";
        env["HOSTLER_KEY"] = "operator-key";
        world.env = [this](const std::string& key) -> std::optional<std::string> {
            const auto found = env.find(key);
            return found == env.end() ? std::nullopt : std::optional(found->second);
        };
        world.out = [this](std::string_view text) { out += text; };
        world.err = [this](std::string_view text) { err += text; };
        world.dice = [this] { return ++thrown; };
        world.in = [this](std::size_t bytes_max) { return typed.substr(0, bytes_max); };
    }
    ~CliTest() override {
        group.cancel();
        api.stop();
        timers.settle();
        std::filesystem::remove_all(home);
    }

    // Begins a command, and lets it go as far as it does without time.
    void start(std::vector<std::string> args) {
        out.clear();
        err.clear();
        code.reset();
        group.start("cli", [](CliTest& me, std::vector<std::string> typed) -> Task<> {
            me.code = CO_TRY(co_await cli(std::move(typed), me.world));
            co_return Result<>{};
        }(*this, std::move(args)));
        timers.settle();
    }
    std::string file(const std::string& name, std::string_view text) {
        const std::string path = home + "/" + name;
        std::ofstream{path} << text;
        return path;
    }
    // A whole command; -1: it has not ended.
    int run(std::vector<std::string> args) {
        start(std::move(args));
        return code.value_or(-1);
    }

    Loop loop;
    ManualTimers timers{loop};
    FakeApi api{loop, timers};
    CliWorld world{.loop = loop, .net = api, .timers = timers};
    std::map<std::string, std::string> env;
    std::string home;
    std::uint32_t thrown = 0;
    std::string typed;  // On standard input.
    std::string out;
    std::string err;
    std::optional<int> code;
    TaskGroup group{loop};
};

}  // namespace hostler::cli
