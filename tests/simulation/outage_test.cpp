// A whole night without a master: the gateway serves what it knew, and believes whom it knew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cloud.h"
#include "http/client.h"
#include "seeds.h"

namespace hostler::simulation {
namespace {

struct Night {
    explicit Night(std::uint64_t seed) : cloud{seed, {}, 1} {}

    // An instance whose page is its tenant's alone, and a key that ends after two hours.
    bool begin() {
        if (!cloud.begin({"red-team"})) return false;
        const auto stocked = post("/stocks", R"({"number":1,"operationID":"s","specName":"one","cpu":"8",)"
                                             R"("memory":"32Gi","gpuType":"H100 SXM5 80GB","gpuNum":1})");
        const auto started = post(
            "/gpu-instances",
            R"({"instanceID":"page","tenantID":"red-team","tenantName":"r","image":"registry.example/app:1",)"
            R"("specName":"one","template":{"ports":[{"port":8080,"isProbe":true,"isPublic":false}]}})");
        const auto key = post("/v1/api-keys", R"({"name":"short","tenantID":"red-team","ttlSeconds":7200})");
        if (!stocked || !started || !key) return false;
        constexpr std::string_view secret = R"("secret":")";
        short_key = key->body.substr(key->body.find(secret) + secret.size());
        short_key.resize(short_key.find('"'));
        const auto running = [&] {
            const auto term = cloud.term();
            if (!term || term->look().estate.instances.all().empty()) return false;
            instance = term->look().estate.instances.all().begin()->first;
            return term->look().estate.instances.at(instance).phase == InstancePhase::running;
        };
        return cloud.world.run_until(running, 1min) && opens(cloud.keys.at("red-team")) && opens(short_key);
    }
    bool opens(const std::string& key) {  // Within a minute.
        for (int second = 0; second < 60; ++second) {
            if (status(key) == 200) return true;
            cloud.world.run(1s);
        }
        return false;
    }
    int status(const std::string& key) {
        http::Client client{cloud.world.net, cloud.world.timers, {.idle_max = 0}};
        http::Request request{.target = "/hello"};
        request.headers.set("Host", fmt::format("8080-{}.localhost", instance));
        request.headers.set("Authorization", "Bearer " + key);
        const auto page = cloud.world.ask(client.fetch(
            {.address = "gw:8443"}, request, {.connect = 5s, .head = 5s, .idle = 5s, .total = 10s}));
        return page ? page->status : 0;
    }
    std::optional<http::Response> post(const std::string& target, const std::string& body) {
        auto answer = cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, "POST", target, body));
        if (!answer || answer->status >= 300) return std::nullopt;
        return std::move(*answer);
    }

    Cloud cloud;
    std::string instance, short_key;
};

TEST(Outage, GatewaysServeForHoursWithoutAMaster) {
    const std::uint64_t seed = seeds(1).first;  // A night is long: one of them.
    SCOPED_TRACE(replay_command(seed));
    Night night{seed};
    ASSERT_TRUE(night.begin());
    const std::string key = night.cloud.keys.at("red-team");
    night.cloud.world.run(10s);  // Until all of it is written down.
    night.cloud.world.machine("master").crash(Death::kill);
    night.cloud.world.machine("lon").crash(Death::power);  // One access point is enough, and quicker.
    for (int hour = 1; hour <= 11; ++hour) {
        night.cloud.world.run(1h - 2min);
        if (hour == 3) {
            night.cloud.world.machine("gw").crash(Death::power);
            night.cloud.world.run(1s);
            night.cloud.world.machine("gw").boot();
        }
        ASSERT_TRUE(night.opens(key)) << "after " << hour << " h";
        if (hour == 1) EXPECT_TRUE(night.opens(night.short_key));
        if (hour >= 3) EXPECT_EQ(night.status(night.short_key), 503) << "its own time is over";
        EXPECT_EQ(night.status("hk_nobody"), 503);
    }
    night.cloud.world.run(1h + 30min);
    EXPECT_EQ(night.status(key), 503) << "after twelve hours nobody is believed any more";
    night.cloud.world.machine("master").boot();
    night.cloud.world.machine("lon").boot();
    night.cloud.world.run(2min);
    EXPECT_TRUE(night.opens(key));
    EXPECT_EQ(night.status(night.short_key), 401);
    EXPECT_FALSE(night.cloud.found.any()) << night.cloud.found.text();
}

}  // namespace
}  // namespace hostler::simulation
