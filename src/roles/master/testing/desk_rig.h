// For tests: the master's rules on an estate in memory, with hosts that say what a test wants them to.
#pragma once

#include <fmt/format.h>

#include "api/types_instance.h"
#include "roles/master/command/commands.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/instance/archive.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/network/subnets.h"
#include "roles/master/share/shares.h"
#include "roles/master/state/retention.h"
#include "roles/master/testing/plain_sealer.h"

namespace hostler::master::testing {

class CountingRandom final : public Random {
public:
    explicit CountingRandom(std::uint64_t seed = 1) : state_(seed) {}
    void fill(std::span<std::uint8_t> into) override {
        for (auto& byte : into) byte = static_cast<std::uint8_t>(next());
    }
    // SplitMix64.
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t n) { return next() % n; }

private:
    std::uint64_t state_;
};

// Of a spec of 4 CPUs and 16 GiB, and a volume of 1 GiB. In desk_rig_test.cpp, so that this file needs no
// request of theirs.
Result<> make_stock(Desk& desk, int number, const std::string& spec = "small",
                    std::optional<std::string> zone = {}, int gpus = 1);
const Volume& make_volume(Desk& desk, const std::string& name, const std::string& tenant,
                          std::optional<std::string> zone = {});

struct DeskRig {
    explicit DeskRig(std::string_view network = "10.208.0.0/12", std::uint64_t seed = 1)
        : random(seed), pool(AddressPool::parse(network).value()) {
        pass(0);
        estate.seal_with(sealer);
        HOSTLER_ASSERT(estate.load({PlainSealer::record("k-0")}));
        for (const char* zone : {"lon", "nj"}) estate.zones.add({.name = zone});
    }

    // Time goes on, for the clocks on the wall and the others.
    void pass(int seconds) {
        now += std::chrono::seconds{seconds};
        estate.begin("test",
                     WallTime{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}} +
                         std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()));
    }

    static HostFacts facts_of(const std::string& name, int gpus,
                              const std::string& model = "H100 SXM5 80GB") {
        HostFacts facts{.hostname = name, .cpus = 64, .memory_bytes = std::int64_t{512} << 30};
        facts.volume_bytes = std::int64_t{1} << 40;
        for (int i = 0; i < gpus; ++i) {
            GpuFacts gpu;
            gpu.uuid = fmt::format("GPU-{}-{}", name, i);
            gpu.model = model;
            gpu.index = i;
            gpu.cdi_name = "nvidia.com/gpu=" + gpu.uuid;
            facts.gpus.push_back(std::move(gpu));
        }
        return facts;
    }
    // A host that joined, connected and reported twice that nothing runs there.
    std::string host(const std::string& name, const std::string& zone = "nj", int gpus = 4) {
        const std::string id = "h-" + name;
        estate.hosts.add({.id = id, .zone = zone, .facts = facts_of(name, gpus)});
        connect(id);
        said[id];
        report(id), report(id);
        return id;
    }
    // As that, with H100 and as many A100 as said.
    std::string mixed_host(const std::string& name, const std::string& zone, int gpus, int others) {
        const std::string id = host(name, zone, gpus + others);
        HostFacts& facts = estate.hosts.edit(id).facts;
        for (int i = gpus; i < gpus + others; ++i)
            facts.gpus[static_cast<std::size_t>(i)].model = "A100 SXM4 80GB";
        report(id), report(id);
        return id;
    }
    void connect(const std::string& id) {
        (void)host_connected(desk, id, "access-nj", ++sessions);
        (void)host_greets(desk, id, "access-nj", sessions, "", 0, 0);
    }
    void disconnect(const std::string& id) {
        host_disconnected(desk, id, "access-nj", live.hosts[id].session);
    }
    // Says that what stands in said[id] runs there, and nothing else.
    void report(const std::string& id, bool complete = true) {
        HostReport report{.sequence = ++sequences, .workloads = said[id], .complete = complete};
        report.facts = estate.hosts.at(id).facts;
        report.gpu_states = estate.hosts.at(id).gpu_states;
        report.engine_error = estate.hosts.at(id).engine_error;
        note_report(desk, id, std::move(report), now);
    }
    void run(const std::string& id, const std::string& instance, bool ready = true) {
        said[id][instance] = {.state = "running", .generation = 1, .ready = ready};
    }

    Result<> stock(int number, const std::string& spec = "small", std::optional<std::string> zone = {},
                   int gpus = 1) {
        return make_stock(desk, number, spec, std::move(zone), gpus);
    }
    static api::CreateInstance request(const std::string& name, const std::string& tenant = "acme") {
        return {.instance_id = name, .tenant_id = tenant, .image = "demo:1", .spec_name = "small"};
    }
    Result<Started> start(const api::CreateInstance& wanted) {
        return create_instance(desk, wanted, "digest of " + wanted.image);
    }
    std::string started(const std::string& name, const std::string& tenant = "acme") {
        const auto done = start(request(name, tenant));
        HOSTLER_ASSERT(done && *done == Started::now);
        return find_instance(desk, tenant, name)->id;
    }
    // One that runs and says so.
    std::string running(const std::string& name, const std::string& tenant = "acme") {
        const std::string id = started(name, tenant);
        run(instance(id).host, id);
        answer(id, {.done = true});
        return id;
    }
    const Instance& instance(const std::string& id) const { return estate.instances.at(id); }
    // The one command about this that is under way; nullptr: none.
    const HostCommand* command_of(const std::string& subject) const {
        const HostCommand* found = nullptr;
        for (const auto& [id, command] : estate.commands.all()) {
            if (command.subject != subject) continue;
            HOSTLER_ASSERT(!found);
            found = &command;
        }
        return found;
    }
    void answer(const std::string& subject, const CommandAnswer& answer) {
        const HostCommand* command = command_of(subject);
        HOSTLER_ASSERT(command);
        note_answer(desk, std::string{command->host}, std::string{command->id}, answer);
    }
    std::string volume(const std::string& name, const std::string& tenant = "acme",
                       std::optional<std::string> zone = {}) {
        return make_volume(desk, name, tenant, std::move(zone)).id;
    }
    Changes take() {
        std::vector<Touched> touched;
        return estate.take(1, ++commits, touched);
    }

    PlainSealer sealer;
    CountingRandom random;
    Settings settings;
    AddressPool pool;
    Estate estate;
    Live live;
    Desk desk{estate, live, settings, pool, random};
    Instant now{std::chrono::hours{1}};
    std::map<std::string, std::map<std::string, SeenWorkload>> said;
    std::uint64_t sessions = 0, sequences = 0, commits = 0;
};

}  // namespace hostler::master::testing
