#include "programs.h"

#include <fmt/format.h>

#include "adapters/sqlite/store.h"

namespace hostler::simulation {

namespace {

// As it was installed, with what was renewed since.
std::unique_ptr<Certified> certified(Cloud& cloud, Life& life, const std::string& role,
                                     const std::string& id) {
    constexpr std::chrono::hours lasts{30 * 24};
    Credentials& own = cloud.installed[role + "/" + id];
    if (own.key.empty())
        own = sim::issue(cloud.world.authority, cloud.world.keys, {role, id}, cloud.world.timers.wall() - 1h,
                         lasts);
    return std::make_unique<Certified>(std::make_shared<Credentials>(own), life.keys,
                                       [&own](std::string renewed, std::string authority) -> Task<> {
                                           own.certificate = std::move(renewed);
                                           own.authority = std::move(authority);
                                           co_return Result<>{};
                                       });
}

// Of the one driver, on both sides.
constexpr const char* driver_digest = "simulated-1";

std::vector<std::string> wire_addresses(const Cloud& cloud) {
    std::vector<std::string> addresses;
    for (const std::string& name : cloud.masters) addresses.push_back(name + ":7440");
    return addresses;
}

// So that what takes minutes in life happens within a storm of minutes.
master::Settings master_settings(const Cloud& cloud) {
    master::Settings settings;
    settings.api_address = "0.0.0.0:8080";
    settings.wire_address = "0.0.0.0:7440";
    settings.operator_key_hash = sim::hash_hex(Cloud::operator_key);
    if (cloud.mistakes.digest)
        settings.operator_key_hash = cloud.mistakes.digest->sha256(Cloud::operator_key);
    settings.zones = {{"nj", "New Jersey"}, {"lon", "London"}};
    settings.lost_after = 90s;
    settings.start_deadline = 90s;
    settings.ready_deadline = 45s;
    settings.stop_grace = 5s;
    settings.idle_grace = 10s;
    settings.challenge.rounds = 4;
    settings.challenge.steps = 8;
    settings.challenge.walkers = 4;
    settings.challenge.every = 10min;
    settings.move_lease = 30s;
    settings.move_margin = 150s;  // For all that may go wrong on one host at once.
    settings.cluster_deadline = 5min;
    settings.drivers = {ClusterTruth::driver()};
    settings.driver_digests = {{ClusterTruth::driver_name, driver_digest}};
    if (cloud.mistakes.master_settings) cloud.mistakes.master_settings(settings);
    return settings;
}

}  // namespace

Task<> MasterProgram::once() {
    const std::string& name = life.machine.name;
    role = nullptr;
    outgoing = std::make_unique<hostler::testing::PlayedOutgoing>(life.timers);
    outgoing->servers["https://"] = [this](const HttpCall& call) { return cloud.inbox.take(call); };
    if (cloud.database) {
        store = open_database(*cloud.database, life);
    } else {
        auto opened =
            open_sqlite("store.db", life.worker,
                        {.vfs = life.machine.vfs.name(), .log_bytes = 128 << 10, .reserve_bytes = 512 << 10});
        if (!opened) co_return std::unexpected(opened.error());
        store = std::move(*opened);
    }
    if (cloud.mistakes.store) mistaken = cloud.mistakes.store(*store);
    if (cloud.mistakes.sealer) mistaken_sealer = cloud.mistakes.sealer(cloud.sealer);
    // What was not synced is gone, however it ended.
    auto& disk = cloud.series_disks[name];
    disk.lose_power();
    mistaken_mirror.reset(), mistaken_series.reset(), watched_series.reset(), series.reset();
    auto samples =
        series::open_store(life.worker, life.worker, std::make_unique<series::testing::FakeFolder>(disk), {},
                           "series of " + name);
    if (!samples) co_return std::unexpected(samples.error());
    series = std::move(*samples);
    watched_series = std::make_unique<WatchedSeries>(
        *series, cloud.stored_rows,
        [this](const series::Labels& labels, const std::vector<series::Cell>& cells) {
            cloud.pods_check.look_at_row(labels, cells);
        });
    mistaken_series = cloud.mistakes.series ? cloud.mistakes.series(*watched_series) : nullptr;
    mistaken_mirror = cloud.mistakes.mirror ? cloud.mistakes.mirror(*series) : nullptr;
    watched = std::make_unique<WatchedStore>(mistaken ? *mistaken : *store, cloud.store_ledger);
    Digest& digest = cloud.mistakes.digest ? *cloud.mistakes.digest : static_cast<Digest&>(life.digest);
    own = certified(cloud, life, "master", cloud.database ? name : "m-1");
    master::Settings settings = master_settings(cloud);
    settings.name = name;
    role = std::make_unique<master::Master>(
        settings,
        master::Ports{life.loop, life.timers, life.net, life.random, *watched, cloud.world.authority, digest,
                      *own, mistaken_series ? *mistaken_series : *watched_series, *outgoing,
                      mistaken_sealer ? *mistaken_sealer : cloud.sealer, life.passwords, nullptr,
                      &life.worker, mistaken_mirror ? mistaken_mirror.get() : series.get()});
    co_return co_await role->run();
}

Task<> AccessProgram::once() {
    access::Settings settings;
    settings.zone = zone;
    settings.masters = wire_addresses(cloud);
    settings.uplink_address = zone + ":7441";
    settings.tunnel_address = zone + ":7442";
    settings.control_address = zone + ":7443";
    settings.speed_bytes_max = 64 * 1024;  // Bytes take time of the machine, not of the world.
    role = nullptr;
    own = certified(cloud, life, "access", zone);
    role = std::make_unique<access::Access>(
        settings, access::Ports{life.loop, life.timers, life.net, life.random, *journal, *own});
    co_return co_await role->run();
}

Task<> GatewayProgram::once() {
    gateway::Settings settings;
    settings.masters = wire_addresses(cloud);
    role = nullptr;
    own = certified(cloud, life, "gateway", "gw");
    role = std::make_unique<gateway::Gateway>(
        settings, gateway::Ports{life.loop, life.timers, life.net, life.random, *journal, life.digest, *own});
    co_return co_await role->run();
}

AgentProgram::AgentProgram(Cloud& in, Life& on, std::string with, std::string at)
    : cloud(in),
      life(on),
      token(std::move(with)),
      zone(std::move(at)),
      mistaken_journal(in.mistakes.agent_journal, on.journal),
      mistaken_engine(in.mistakes.agent_engine, *on.engine),
      volumes(in.mistakes.agent_volumes, on.volumes),
      networks(in.mistakes.agent_networks, on.networks),
      net(in.mistakes.agent_net, *on.container_net),
      pod_devices(in.mistakes.agent_pod_devices, on.pod_devices),
      node_steps(in.mistakes.agent_node_steps ? in.mistakes.agent_node_steps(on.node_steps, on) : nullptr),
      journal(*mistaken_journal, in.obedience.at(on.machine.name)),
      engine(*mistaken_engine, in.obedience.at(on.machine.name)),
      exec(on.loop, on.timers, on.machine.engine) {}

Task<> AgentProgram::once() {
    agent::Settings settings;
    settings.access = {"cloud:7441", "nj:7441"};
    if (zone == "lon") settings.access = {"lon:7441"};  // It learns of the other from the master.
    settings.token = token;
    settings.version = "0.1.0";
    settings.gpu_test = 20s;  // GPUs come back while the storm lasts.
    settings.clusters = true;
    settings.drivers = {{ClusterTruth::driver_name, {ClusterTruth::driver(), driver_digest}}};
    settings.cluster_files = "/var/lib/hostler-agent/clusters/files";
    settings.cluster_saves = ClusterTruth::saves_folder;
    if (cloud.mistakes.agent_settings) cloud.mistakes.agent_settings(settings);
    cloud.samples[life.machine.name].begin();
    role = std::make_unique<agent::Agent>(settings,
                                          agent::Ports{life.loop,
                                                       life.timers,
                                                       *net,
                                                       life.random,
                                                       engine,
                                                       *networks,
                                                       *volumes,
                                                       journal,
                                                       life.logs,
                                                       {&life.telemetry},
                                                       life.host,
                                                       life.keys,
                                                       &names,
                                                       &exec,
                                                       &life.images,
                                                       &life.leases,
                                                       &life.gpu_bench,
                                                       &life.disk_bench,
                                                       &life.layers,
                                                       nullptr,
                                                       &life.events,
                                                       &life.processes,
                                                       node_steps ? node_steps.get() : &life.node_steps,
                                                       &*pod_devices});
    co_return co_await role->run();
}

template <class Program, class... Args>
std::shared_ptr<void> start(const char* name, Cloud& cloud, Life& life, Args... args) {
    auto program = std::make_shared<Program>(cloud, life, std::move(args)...);
    life.tasks.start(name, supervise(*program, life.timers));
    return program;
}

Machine::Program Cloud::master_program() {
    return [this](Life& life) { return start<MasterProgram>("master", *this, life); };
}
Machine::Program Cloud::access_program(std::string zone) {
    return [this, zone](Life& life) { return start<AccessProgram>("access", *this, life, zone); };
}
Machine::Program Cloud::gateway_program() {
    return [this](Life& life) { return start<GatewayProgram>("gateway", *this, life); };
}
Machine::Program Cloud::agent_program(std::string token, std::string zone) {
    return [this, token, zone](Life& life) { return start<AgentProgram>("agent", *this, life, token, zone); };
}

}  // namespace hostler::simulation
