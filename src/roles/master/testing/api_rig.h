// For tests: the API of a master that leads, with a host of eight GPUs.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "roles/master/http/api.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master::testing {

struct ApiRig : ::testing::Test, TermRig {
    ApiRig() {
        Desk& now = desk();
        for (const char* zone : {"lon", "nj"}) now.estate.zones.add({.name = zone});
        now.estate.hosts.add(
            {.id = "h-a", .zone = "nj", .phase = HostPhase::ready, .facts = DeskRig::facts_of("a", 8)});
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
        auto caller = caller_for(tenant);
        auto answer = hostler::testing::try_run(
            loop, wrapped(api.handlers(),
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
        return std::string{boost::json::parse(reply.body).at("code").as_string()};
    }
    Api api{lead};
    Sink nowhere;
};

}  // namespace hostler::master::testing
