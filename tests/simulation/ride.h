// A cloud with one instance whose page is to be reachable, whatever happens to access points.
#pragma once

#include <fmt/format.h>

#include "cloud.h"
#include "http/client.h"

namespace hostler::simulation {

inline constexpr Duration reachable_within = 5s;

class Ride {
public:
    explicit Ride(std::uint64_t seed, Mistakes mistakes = {})
        : cloud{seed, std::move(mistakes)}, dice_(cloud.world.dice.fork("access")) {}

    // One instance that answers everybody.
    bool begin() {
        if (!cloud.begin({"red-team"})) return false;
        const auto stocked = post("/stocks", R"({"number":1,"operationID":"s","specName":"one","cpu":"8",)"
                                             R"("memory":"32Gi","gpuType":"H100 SXM5 80GB","gpuNum":1})");
        const auto started = post(
            "/gpu-instances",
            R"({"instanceID":"page","tenantID":"red-team","tenantName":"r","image":"registry.example/app:1",)"
            R"("specName":"one","template":{"ports":[{"port":8080,"isProbe":true,"isPublic":true}]}})");
        if (stocked != 200 || started != 200) return false;
        if (!cloud.world.run_until([&] { return instance() && instance()->phase == InstancePhase::running; },
                                   1min))
            return false;
        return whole() && opens(1min);
    }
    // Strikes one access point and lets the other live; the page answers again in time, and then all mend.
    void round() {
        const std::string victim = dice_.chance(0.5) ? "nj" : "lon";
        const std::string host = cloud.term()->look().estate.hosts.at(instance()->host).facts.hostname;
        static constexpr std::array<const char*, 5> kinds = {"killed", "without power", "cut off from all",
                                                             "cut off from the host", "deaf"};
        const auto kind = dice_.below(kinds.size());
        cloud.world.note(fmt::format("{} is {}", victim, kinds[kind]));
        if (kind == 0) cloud.world.machine(victim).crash(Death::kill);
        if (kind == 1) cloud.world.machine(victim).crash(Death::power);
        if (kind == 2)
            for (const char* other : {"master", "gw", "host-0", "host-1"})
                cloud.world.network.partition(victim, other);
        if (kind == 3) cloud.world.network.partition(victim, host);
        if (kind == 4) cloud.world.network.partition(host, victim, sim::Network::Ways::one);
        const Instant struck = cloud.world.timers.now();
        if (!opens(reachable_within))
            cloud.found.report(
                Invariant::reachable,
                fmt::format("{} is {}, and the page did not answer within 5 s", victim, kinds[kind]));
        worst = std::max(worst, cloud.world.timers.now() - struck);
        cloud.world.run(std::chrono::milliseconds{static_cast<std::int64_t>(dice_.below(60'000))});
        cloud.world.network.heal_all();
        if (!cloud.world.machine(victim).up()) cloud.world.machine(victim).boot();
        cloud.world.run(30s);  // Until each end knows of connections that ended while they were cut.
        if (!whole())
            cloud.found.report(Invariant::settled, fmt::format("after {} was {}", victim, kinds[kind]));
    }
    // true: the page answers within `time`; whoever asks has the patience of a second.
    bool opens(Duration time) {
        const Instant until = cloud.world.timers.now() + time;
        while (cloud.world.timers.now() < until) {
            http::Client client{cloud.world.net, cloud.world.timers, {.idle_max = 0}};
            http::Request request{.target = "/hello"};
            request.headers.set("Host", fmt::format("8080-{}.localhost", instance_id_));
            const auto page = cloud.world.ask(client.fetch(
                {.address = "gw:8443"}, request, {.connect = 1s, .head = 1s, .idle = 1s, .total = 2s}));
            if (page && page->status == 200) return cloud.world.timers.now() <= until;
            cloud.world.note(fmt::format("{} ms before the end: {}", (until - cloud.world.timers.now()) / 1ms,
                                         page ? page->body.substr(0, 300) : page.error().message));
            cloud.world.run(100ms);
        }
        return false;
    }
    // Every host is connected to both access points, and has reported since.
    bool whole() {
        return cloud.world.run_until(
            [&] {
                const auto now = cloud.term();
                if (!now) return false;
                const auto& live = now->look().live.hosts;
                return live.size() == cloud.hosts.size() && std::ranges::all_of(live, [](const auto& row) {
                           return row.second.connected && row.second.complete &&
                                  row.second.ways.size() == ways;
                       });
            },
            3min);
    }
    int post(const std::string& target, const std::string& body) {
        const auto answer =
            cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, "POST", target, body));
        return answer ? answer->status : 0;
    }
    const Instance* instance() {
        const auto now = cloud.term();
        if (!now || now->look().estate.instances.all().empty()) return nullptr;
        const auto& [id, found] = *now->look().estate.instances.all().begin();
        instance_id_ = id;
        return &found;
    }

    static inline std::size_t ways = 2;  // Of a whole host.
    Cloud cloud;
    Duration worst{};

private:
    sim::Dice dice_;
    std::string instance_id_;
};

}  // namespace hostler::simulation
