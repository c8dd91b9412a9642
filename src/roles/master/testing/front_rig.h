// For tests of the API's HTTP: a front with narrow limits, a few keys, and connections in memory.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/testing/memory_stream.h"
#include "roles/master/server/front.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master::testing {

struct NarrowRig : TermRig {
    NarrowRig() {
        settings.admission = {.requests_max = 2,
                              .requests_tenant_max = 1,
                              .operators_max = 1,
                              .waiting_max = 2,
                              .waiting_tenant_max = 1,
                              .key_rate = {.per_second = 1, .burst = 6},
                              .stranger_rate = {.per_second = 1, .burst = 12}};
    }
};

struct FrontTest : ::testing::Test, NarrowRig {
    FrontTest() {
        settings.operator_key_hash = "#hk_operator";
        Desk& now = desk();
        now.estate.zones.add({.name = "nj"});
        now.estate.api_keys.add({.id = "k-1", .name = "ci", .hash = "#hk_acme", .tenant = "acme"});
        now.estate.api_keys.add({.id = "k-4", .name = "ci", .hash = "#hk_other", .tenant = "other"});
        now.estate.api_keys.add({.id = "k-2", .hash = "#hk_revoked", .tenant = "acme", .revoked_at = 1});
        now.estate.api_keys.add({.id = "k-3",
                                 .hash = "#hk_short",
                                 .tenant = "acme",
                                 .expires_at = now.estate.micros() + 60'000'000});
        (void)commit();
    }
    ~FrontTest() override {
        clients.clear();
        (void)hostler::testing::try_run(loop, connections.close());
    }
    // A connection that sends this and says nothing more.
    hostler::testing::MemoryStream& send(const std::string& bytes) {
        auto [ours, theirs] = hostler::testing::memory_pair(4 << 20, "server", "203.0.113.7:5000");
        connections.start("connection", front.serve(std::move(ours)));
        EXPECT_TRUE(hostler::testing::run(loop, write_all(*theirs, bytes)));
        timers.settle();
        return *clients.emplace_back(std::move(theirs));
    }
    // One whose client reads nothing by itself, with little room on the way.
    hostler::testing::MemoryStream& send_narrow(std::string bytes) {
        auto [ours, theirs] = hostler::testing::memory_pair(64, "server", "203.0.113.7:5000");
        connections.start("connection", front.serve(std::move(ours)));
        hostler::testing::MemoryStream& client = *clients.emplace_back(std::move(theirs));
        connections.start("ask", [](hostler::testing::MemoryStream& to, std::string text) -> Task<> {
            co_return co_await write_all(to, text);
        }(client, std::move(bytes)));
        timers.settle();
        return client;
    }
    std::string answer(const std::string& bytes) { return std::string{send(bytes).unread()}; }
    std::string get(const std::string& target, const std::string& headers = "") {
        return answer(fmt::format("GET {} HTTP/1.1\r\nHost: api\r\n{}\r\n", target, headers));
    }
    static std::string post(const std::string& target, const std::string& body,
                            const std::string& headers = "") {
        return fmt::format("POST {} HTTP/1.1\r\nHost: api\r\nContent-Length: {}\r\n{}\r\n{}", target,
                           body.size(), headers, body);
    }
    // A write of this tenant's key that waits until the store lets go.
    hostler::testing::MemoryStream& slow(const std::string& secret, const std::string& name) {
        return send(post("/v1/volumes", fmt::format(R"({{"name":"{}","size":"1Gi"}})", name), key(secret)));
    }
    static std::string key(const std::string& secret) { return "Authorization: Bearer " + secret + "\r\n"; }

    Front front{ports, settings, lead};
    TaskGroup connections{loop};
    std::vector<std::unique_ptr<hostler::testing::MemoryStream>> clients;
};

}  // namespace hostler::master::testing
