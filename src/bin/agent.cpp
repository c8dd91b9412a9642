// hostler-agent: what a provider installs on a GPU host.
#include <CLI/CLI.hpp>

#include "adapters/cuda/bench.h"
#include "adapters/disk/bench.h"
#include "adapters/disk/journal.h"
#include "adapters/disk/layers.h"
#include "adapters/disk/logs.h"
#include "adapters/disk/volumes.h"
#include "adapters/docker/engine.h"
#include "adapters/docker/exec.h"
#include "adapters/docker/network.h"
#include "adapters/docker/own_streams.h"
#include "adapters/docker/processes.h"
#include "adapters/net/authority.h"
#include "adapters/net/names.h"
#include "adapters/node_steps/keeper.h"
#include "adapters/program/both_engines.h"
#include "adapters/program/holder.h"
#include "adapters/sim/engine.h"
#include "adapters/sim/exec.h"
#include "adapters/sim/storage.h"
#include "adapters/sodium/sealer.h"
#include "bin/arguments.h"
#include "bin/cluster_steps.h"
#include "bin/gpu_options.h"
#include "bin/hardware.h"
#include "bin/inventory.h"
#include "bin/pod_devices.h"
#include "bin/process.h"
#include "bin/program_options.h"
#include "bin/ready_file.h"
#include "bin/simulated_leases.h"
#include "bin/supervise.h"
#include "core/log.h"
#include "core/version.h"
#include "core/worker.h"
#include "domain/inventory/merge.h"
#include "domain/network/reach.h"
#include "roles/agent/agent.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

struct Options {
    Hardware hardware;
    agent::Settings agent;
    std::string data, engine = "docker:/var/run/docker.sock", ready_file, templates, cuda;
    std::vector<std::string> cdi_folders;
    bool no_user_namespaces = false;
    std::vector<std::string> tenant_reach, registries;
    bool registries_only = false;
    std::string firewall_table = docker::WallSettings{}.table;
    ProgramOptions programs;
    std::string drivers;
};

// What runs containers and programs, and how their addresses are reached.
struct Containers {
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Exec> exec;
    Images* images = nullptr;        // The engine's,
    EngineEvents* events = nullptr;  // and those.
    std::unique_ptr<Processes> docker_processes;
    Processes* processes = nullptr;
    std::unique_ptr<Worker> program_worker;
    std::unique_ptr<program::ProgramEngine> programs;
    std::unique_ptr<program::BothEngines> both;
    std::unique_ptr<program::WaysIn> ways_in;
    std::unique_ptr<HostNetwork> networks;
    docker::DockerNetwork* walls = nullptr;  // Null: nothing runs that could be walled in.
    std::unique_ptr<Net> net;                // Null: the host's own.
    std::unique_ptr<sim::Disk> disk;         // Of the simulated ones.
    sim::SimEngine* simulated = nullptr;
    std::unique_ptr<SimulatedLeases> leases;
};

// Containers that are not there: for demonstrations where no engine is.
Task<Containers> simulated_containers(Process& process, const std::vector<Telemetry*>& telemetry) {
    Containers made;
    const sim::Dice dice{random_number(*process.random)};
    made.disk = std::make_unique<sim::Disk>(dice);
    auto engine = std::make_unique<sim::SimEngine>(process.loop, *process.timers, *process.net, dice);
    for (Telemetry* one : telemetry)
        if (const auto found = co_await one->discover())
            for (const auto& gpu : found->gpus) engine->devices.insert(gpu.cdi_name);
    made.networks = std::make_unique<sim::SimNetworks>(*made.disk, *process.timers);
    made.net = engine->container_net(*process.net);
    made.simulated = engine.get();
    made.images = engine.get();
    made.events = engine.get();
    made.processes = engine.get();
    made.exec = std::make_unique<sim::SimExec>(process.loop, *process.timers, *engine);
    made.leases = std::make_unique<SimulatedLeases>(process.loop, *process.timers, *engine, *made.disk);
    made.engine = std::move(engine);
    co_return made;
}

// What can be told to be wrong before anything is started. Errors: invalid.
Result<> check(const Options& options) {
    TRY(docker::check_table_name(options.firewall_table));
    TRY(parse_tenant_reach(options.tenant_reach));
    TRY(docker::parse_registries(options.registries, options.registries_only));
    TRY(check(options.programs));
    return {};
}

Result<Containers> docker_containers(Process& process, Worker& worker, const Options& options, Layers& layers,
                                     std::string owner, Names* names,
                                     std::function<std::vector<GpuFacts>()> gpus) {
    constexpr std::string_view docker = "docker:";
    if (!options.engine.starts_with(docker) || options.engine.size() == docker.size())
        return fail(
            Code::invalid,
            fmt::format("--engine '{}' is none; write docker:SOCKET, as docker:/run/podman/podman.sock, "
                        "or sim",
                        options.engine));
    const std::string socket = options.engine.substr(docker.size());
    docker::EngineSettings settings{
        .socket = socket,
        .gpus = std::move(gpus),
        .driver = {options.hardware.roots},
        .registries = TRY(docker::parse_registries(options.registries, options.registries_only)),
        .names = names,
        .state_folder = fs::absolute(options.data).string(),
        .user_namespaces = !options.no_user_namespaces,
        .layers = &layers};
    if (!options.templates.empty()) settings.recipes = TRY(docker::read_recipes(options.templates));
    if (!options.cdi_folders.empty()) settings.cdi_folders = options.cdi_folders;
    Containers made;
    made.program_worker = make_worker(process.loop, "programs");
    made.programs = std::make_unique<program::ProgramEngine>(
        process.loop, *process.timers, *made.program_worker,
        program_settings(options.programs, fs::absolute(options.data), settings));
    auto engine =
        std::make_unique<docker::DockerEngine>(*process.net, *process.timers, worker, std::move(settings));
    made.images = engine.get();
    made.both = std::make_unique<program::BothEngines>(
        process.loop, *process.timers, program::BothEngines::Containers{.engine = *engine, .events = *engine},
        *made.programs, options.programs.allowed);
    made.events = made.both.get();
    made.engine = std::move(engine);
    made.exec = std::make_unique<docker::DockerExec>(process.loop, *process.net, *process.timers, socket);
    made.docker_processes = std::make_unique<docker::DockerProcesses>(
        *process.net, *process.timers, worker, docker::ProcessSettings{.socket = socket});
    made.ways_in = std::make_unique<program::WaysIn>(*made.exec, *made.docker_processes, *made.programs);
    made.processes = made.ways_in.get();
    docker::WallSettings wall{.table = options.firewall_table,
                              .reach = TRY(parse_tenant_reach(options.tenant_reach))};
    auto networks = std::make_unique<docker::DockerNetwork>(
        *process.net, *process.timers, worker,
        docker::NetworkSettings{.socket = socket, .owner = std::move(owner), .wall = std::move(wall)});
    made.walls = networks.get();
    made.networks = std::move(networks);
    return made;
}

// The host's networks come and go, and so do the rules of whoever else sets its firewall.
Task<> keep_walls(docker::DockerNetwork& networks, Timers& timers) {
    constexpr Duration look = std::chrono::seconds{5};
    bool all_known = false, well = true;
    while (true) {
        const auto kept = all_known ? co_await networks.refresh_walls() : co_await networks.guard_all();
        CO_TRY(co_await check_cancelled());
        all_known = all_known || kept;
        if (!kept && well) log_warn("the walls around tenants' networks: {}", kept.error().message);
        well = kept.has_value();
        CO_TRY(co_await sleep(timers, look));
    }
}

// A name that this agent keeps, for what it owns on an engine that others use too.
Task<std::string> owner_name(Journal& journal, Random& random) {
    if (const auto found = journal.all().find("owner"); found != journal.all().end()) co_return found->second;
    const std::string name = new_id(random, "agent");
    CO_TRY(co_await journal.put("owner", name));
    co_return name;
}

Task<> tell_when_connected(const agent::Agent& role, Timers& timers, std::string path) {
    if (path.empty()) co_return Result<>{};
    while (!role.connected()) CO_TRY(co_await sleep(timers, std::chrono::milliseconds{20}));
    co_return write_ready_file(path, {{"host", role.host()}});
}

Task<> run(Process& process, Options options) {
    const fs::path data = options.data;
    CO_TRY(make_own_folder(data));
    // What must be durable does not wait behind what may take long.
    const auto journal_worker = make_worker(process.loop, "journal");
    const auto disk_worker = make_worker(process.loop, "disk");
    const auto volume_worker = make_worker(process.loop, "volumes");
    const auto engine_worker = make_worker(process.loop, "engine");
    const auto layer_worker = make_worker(process.loop, "layers");
    const auto lease_worker = make_worker(process.loop, "leases");
    const auto journal = CO_TRY(disk::open_journal(*journal_worker, data / "journal"));
    const auto sealer = CO_TRY(sodium::open_sealer(data / "journal.keys"));
    if (sealer->keys().empty()) CO_TRY(sealer->make());
    const auto volumes =
        CO_TRY(disk::open_volumes(*disk_worker, *volume_worker, {.folder = data / "volumes"},
                                  options.engine == "sim" ? disk::no_images() : disk::loop_images()));
    std::unique_ptr<Layers> layers;  // Simulated containers write nothing.
    if (options.engine != "sim")
        layers = CO_TRY(disk::open_layers(*layer_worker, {.folder = data / "layers"}));
    const auto logs = CO_TRY(disk::open_logs(*disk_worker, data / "logs"));
    std::unique_ptr<LeaseBook> leases;
    if (options.engine != "sim")
        leases = CO_TRY(
            disk::open_leases(*lease_worker, data / "leases",
                              supervisor_starter(data / "leases", options.engine, data / program_state)));
    const std::string owner = CO_TRY(co_await owner_name(*journal, *process.random));
    options.hardware.disk = data;
    Eyes eyes{process, options.hardware};
    const auto names = net::make_names(process.loop, *process.timers);
    const agent::Agent* known = nullptr;  // Once it is there.
    const auto gpus = [&known] { return known ? known->gpus() : std::vector<GpuFacts>{}; };
    Containers containers =
        options.engine == "sim"
            ? CO_TRY(co_await simulated_containers(process, eyes.gpus()))
            : CO_TRY(docker_containers(process, *engine_worker, options, *layers, owner, names.get(), gpus));
    cuda::CudaBench gpu_bench{*process.timers,
                              {.measure = {"/proc/self/exe", "gpu", measure_command},
                               .prove = {"/proc/self/exe", "gpu", prove_command},
                               .library = options.cuda}};
    const auto bench_worker = make_worker(process.loop, "bench");
    const auto disk_bench = disk::make_bench(*bench_worker, data);
    const auto keys = net::make_keys();
    const ClusterSteps steps = CO_TRY(
        cluster_steps(process, {options.data, options.drivers, options.engine == "sim"}, options.agent));
    const auto pod_devices =
        steps.host ? make_pod_devices(process.loop, {options.cdi_folders, options.hardware.roots}) : nullptr;
    agent::Agent role{options.agent,
                      {process.loop,
                       *process.timers,
                       containers.net ? *containers.net : *process.net,
                       *process.random,
                       containers.both ? *containers.both : *containers.engine,
                       *containers.networks,
                       *volumes,
                       *journal,
                       *logs,
                       eyes.gpus(),
                       eyes.host,
                       *keys,
                       names.get(),
                       containers.ways_in ? containers.ways_in.get() : containers.exec.get(),
                       containers.images,
                       containers.leases ? &containers.leases->book() : leases.get(),
                       &gpu_bench,
                       disk_bench.get(),
                       layers ? static_cast<KeptLayers*>(layers.get()) : containers.simulated,
                       sealer.get(),
                       containers.events,
                       containers.processes,
                       steps.port(),
                       pod_devices.get()}};
    known = &role;
    TaskGroup group{process.loop};
    if (steps.host) group.start("programs of clusters", steps.host->resume());
    if (containers.walls) group.start("walls", keep_walls(*containers.walls, *process.timers));
    group.start("ready", tell_when_connected(role, *process.timers, options.ready_file));
    auto ended = co_await role.run();
    (void)co_await group.close();
    if (containers.leases) (void)co_await containers.leases->close();
    if (containers.simulated) (void)co_await containers.simulated->close();
    co_return ended;
}

Task<> show_inventory(Process& process, Hardware hardware, std::vector<std::string> cdi_folders,
                      InventoryFormat format) {
    Eyes eyes{process, hardware};
    HostFacts facts = CO_TRY(co_await eyes.host.facts());
    std::vector<GpuInventory> seen;
    for (Telemetry* telemetry : eyes.gpus()) {
        auto found = co_await telemetry->discover();
        if (found)
            seen.push_back(std::move(*found));
        else
            facts.problems.push_back(fmt::format("{}: {}", telemetry->name(), found.error().message));
    }
    facts = merge_inventories(std::move(facts), seen);
    if (cdi_folders.empty()) cdi_folders = docker::EngineSettings{}.cdi_folders;
    Unusable unusable;
    for (const GpuFacts& gpu : facts.gpus)
        if (auto why = docker::unusable(gpu, cdi_folders, {hardware.roots}); !why.empty())
            unusable[gpu.uuid] = std::move(why);
    print_inventory(facts, unusable, format);
    co_return Result<>{};
}

Task<> gpu_command(Process& process, Hardware hardware, std::optional<BenchmarkWish> benchmark,
                   GpuFormat format) {
    Eyes eyes{process, hardware};
    co_return co_await (benchmark ? benchmark_gpus(*process.timers, {&eyes.nvml}, *benchmark)
                                  : show_gpus(eyes.gpus(), format));
}

Task<> challenge_command(Process& process, Hardware hardware, ChallengeWish wish) {
    Eyes eyes{process, hardware};
    co_return co_await challenge_gpus(*process.timers, *process.random, {&eyes.nvml}, std::move(wish));
}

// The same numbers as the command line's, so that a service manager can tell what to repeat.
int exit_code(const Error& error) {
    switch (error.code) {
        case Code::invalid: return 2;
        case Code::not_found: return 3;
        case Code::unauthenticated:
        case Code::forbidden: return 4;
        case Code::conflict: return 5;
        case Code::exhausted: return 6;
        case Code::timeout: return 7;
        case Code::unavailable: return 8;
        case Code::cancelled:
        case Code::internal: return 1;
    }
    return 1;
}

// Runs `body`; what it ends in decides the exit code.
int end_of(Process& process, Task<> body) {
    Result<> outcome{};
    const int code = run_until_signalled(process, [](Task<> inner, Result<>& into) -> Task<> {
        into = co_await std::move(inner);
        co_return into;
    }(std::move(body), outcome));
    return code == 1 && !outcome ? exit_code(outcome.error()) : code;
}

}  // namespace

int agent_main(int argc, const char* const* argv) {
    CLI::App app{
        "The agent of a GPU host: it reports what the host has, and runs what the cloud places on it.",
        "hostler-agent"};
    app.set_version_flag("--version", std::string{version});
    app.require_subcommand(1);
    Options options;
    CLI::App* work = app.add_subcommand("run", "Join the cloud, if this host has not, and work for it");
    work->add_option("--data", options.data, "Folder of what must not be lost: its identity, volumes, logs")
        ->required();
    work->add_option("--access", options.agent.access, "Access points to dial, HOST:PORT, nearest first")
        ->required()
        ->delimiter(',');
    work->add_option("--token", options.agent.token,
                     "One-time token, as `hostler host token create` prints it; other users of this "
                     "machine cannot read it in the environment")
        ->envname("HOSTLER_TOKEN");
    work->add_option("--engine", options.engine,
                     "The container engine: docker:SOCKET, of dockerd or podman; sim, which runs nothing")
        ->capture_default_str();
    work->add_option("--templates", options.templates, "Folder with recipes of images")
        ->default_val(template_folder().string());
    work->add_flag(
        "--no-user-namespaces", options.no_user_namespaces,
        "Root of an instance is root of this host, for images that bear nothing else; dockerd decides "
        "this itself (userns-remap)");
    work->add_option("--tenant-reach", options.tenant_reach,
                     "Private networks of yours that tenants may reach, as 10.20.0.0/16,192.168.7.9; else "
                     "they reach public addresses alone, and none of this host's networks")
        ->delimiter(',');
    work->add_option("--registries", options.registries,
                     "HOST[:PORT] of registries of yours that images may come from although their addresses "
                     "are not public, as registry.lan:5000,127.0.0.1:5001")
        ->delimiter(',');
    work->add_flag("--registries-only", options.registries_only,
                   "Images come from --registries alone, and from no public registry");
    work->add_option("--firewall-table", options.firewall_table,
                     "Table of nftables; agents of several clouds on one machine need one each")
        ->capture_default_str();
    options.programs.add_to(*work);
    work->add_flag("--clusters", options.agent.clusters,
                   "Clusters may have this host as a node: it does steps of its drivers as root "
                   "(docs/operate/clusters.md)");
    work->add_option("--cluster-saves", options.agent.cluster_saves,
                     "Folder for saves of clusters, of root alone, on a file system that these hosts share; "
                     "needs --clusters (docs/operate/clusters.md)");
    work->add_option(
        "--drivers", options.drivers,
        "Folder with more drivers of clusters, as NAME/driver.toml; the master needs the same ones");
    work->add_option("--cuda-lib", options.cuda, "CUDA's libcuda.so.1, where it is not where drivers put it");
    work->add_option("--ready-file", options.ready_file, "Is written once a master has welcomed this host");
    add_hardware_options(*work, options.hardware);
    std::string format = "table";
    CLI::App* inventory = app.add_subcommand("inventory", "Show what this host has, and join nothing");
    inventory->add_option("-o,--output", format, "How to print it")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    add_hardware_options(*inventory, options.hardware);
    for (CLI::App* one : {work, inventory})
        one->add_option("--cdi-dir", options.cdi_folders,
                        "Folder of CDI files, which count before what lies on this host; may be repeated "
                        "[/etc/cdi /var/run/cdi]");
    SuperviseOptions watch;
    CLI::App* supervisor =
        app.add_subcommand(supervise_command, "Watcher that `run` starts for instances that may move")
            ->group("");
    supervisor->add_option("--leases", watch.leases, "Folder of the leases")->required();
    supervisor->add_option("--engine", watch.engine, "The container engine: docker:SOCKET")->required();
    supervisor->add_option("--programs", watch.programs, "Folder of programs without containers");
    supervisor->add_option("--boot", watch.boot, "Id of this boot of the machine")->required();
    GpuOptions gpu{app, options.hardware};
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (const auto fit = check(options); !fit) return wrong_usage(app, fit.error().message);
    if (*gpu.measure) return measure_main(gpu.wish.cuda, gpu.only, gpu.seconds);
    if (*gpu.prove) return prove_main(gpu.dare, gpu.seed);
    Process process;
    const GpuFormat gpu_format = gpu.json ? GpuFormat::json : GpuFormat::table;
    if (*gpu.show) return end_of(process, gpu_command(process, options.hardware, std::nullopt, gpu_format));
    if (*gpu.benchmark) {
        gpu.wish.format = gpu_format;
        gpu.wish.each = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(gpu.seconds));
        return end_of(process, gpu_command(process, options.hardware, gpu.wish, gpu_format));
    }
    if (*gpu.challenge) {
        gpu.dare.format = gpu_format;
        return end_of(process, challenge_command(process, options.hardware, gpu.dare));
    }
    if (*supervisor) {
        set_log_name("supervisor");
        return end_of(process, supervise(process, std::move(watch)));
    }
    if (*inventory)
        return end_of(process,
                      show_inventory(process, options.hardware, options.cdi_folders,
                                     format == "json" ? InventoryFormat::json : InventoryFormat::table));
    set_log_name("agent " + fs::path{options.data}.filename().string());
    options.agent.version = version;
    return end_of(process, run(process, std::move(options)));
}

}  // namespace hostler::bin

int main(int argc, char** argv) {
    // Podman waits for them at each start of a container: nothing else is begun.
    if (argc == 2 && std::string_view{argv[1]} == hostler::docker::streams_command)
        return hostler::docker::streams_main();
    if (argc == 3 && std::string_view{argv[1]} == hostler::docker::hook_command)
        return hostler::docker::hook_main(argv[2]);
    if (argc == 2 && std::string_view{argv[1]} == hostler::program::hold_command)
        return hostler::program::hold_main();
    if (argc == 4 && std::string_view{argv[1]} == hostler::node_steps::keep_command)
        return hostler::node_steps::keep_main(argv[2], argv[3]);
    return hostler::bin::agent_main(argc, argv);
}
