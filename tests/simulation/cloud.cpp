#include "cloud.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "adapters/sqlite/store.h"
#include "checkers/estate_check.h"
#include "http/client.h"
#include "programs.h"
#include "proto/uplink.pb.h"
#include "roles/agent/supervisor.h"
#include "roles/master/uplink/messages.h"
#include "roles/master/uplink/outbox.h"

namespace hostler::simulation {

namespace {

std::string field(const http::Response& response, const char* name) {
    boost::system::error_code wrong;
    const auto json = boost::json::parse(response.body, wrong);
    if (wrong || !json.is_object() || !json.as_object().contains(name)) return {};
    return std::string{json.as_object().at(name).as_string()};
}

// Of each volume that is there it is known how full it is.
std::string unlike_disks(const master::Desk& desk, const std::string& host,
                         const std::set<std::string>& volumes) {
    const auto live = desk.live.hosts.find(host);
    if (live == desk.live.hosts.end() || !live->second.disks) return "does not say how full volumes are";
    for (const std::string& id : volumes)
        if (!live->second.disks->volumes.contains(id)) return "does not say how full volume " + id + " is";
    return {};
}

}  // namespace

Cloud::Cloud(std::uint64_t seed, Mistakes with, int host_count, int gpus, Control control)
    : mistakes(std::move(with)),
      world(seed),
      dice(world.dice.fork("cloud")),
      sealer(world.dice.fork("sealer")),
      clients(world.loop) {
    found.only = mistakes.only;
    store_ledger.secret = secret;
    store_ledger.tell = [this](const std::string& what) { world.note(what); };
    world.on_log = [this](std::string_view line) { ClusterCheck::look_at_log(line, found); };
    store_ledger.on_call = [this](const Changes& changes) { ClusterCheck::look_at_commit(changes, found); };
    const auto skew = [this] {
        return sim::Skew{
            .wall = std::chrono::milliseconds{static_cast<std::int64_t>(dice.below(60'000)) - 30'000},
            .rate_ppm = static_cast<std::int64_t>(dice.below(200)) - 100};
    };
    for (int i = 1; i <= control.masters; ++i)
        masters.push_back(control.masters == 1 ? "master" : fmt::format("m-{}", i));
    for (const std::string& name : masters) world.machine(name, 0, skew());
    for (const std::string name : {"nj", "lon", "gw"}) world.machine(name, 0, skew());
    if (control.masters > 1) {
        database = std::make_unique<Database>(world, control.standby, leases);
        if (mistakes.database) mistakes.database(*database);
        database->rewound = [this](const Rewind& by) { rewound(by); };
        store_ledger.took_effect = [this](std::uint64_t epoch, std::uint64_t number) {
            return database->has(epoch, number);
        };
    }
    for (int i = 0; i < host_count; ++i) {
        hosts.push_back(fmt::format("host-{}", i));
        Machine& machine = world.machine(hosts.back(), gpus, skew());
        obedience.emplace(hosts.back(), Obedience{hosts.back(), found}).first->second.tell =
            [this](const std::string& what) { world.note(what); };
        clusters.stand_on(machine);
        machine.engine.note = [this, before = std::move(machine.engine.note)](std::string_view what) {
            engines_changed_ = true;
            before(what);
        };
        machine.disk.use = [this](const std::string& volume, std::uint64_t size) {
            return use_.tell(volume, size);
        };
        machine.lease_files.supervise = [this, &machine](const std::string& boot) {
            supervise(machine, boot);
        };
    }
}

Cloud::~Cloud() { end(); }

void Cloud::end() {
    world.after_each_step = nullptr;
    world.on_log = nullptr;
    world.timers.cancel(timer_);
    clients.cancel();
    world.settle();
}

std::string Cloud::insist(const std::string& target, const std::string& body, const char* wanted) {
    for (int tries = 0; tries < 30; ++tries) {
        const auto made = world.ask(call(std::string{operator_key}, "POST", target, body));
        if (made && made->status == 201) return field(*made, wanted);
        world.run(1s);
    }
    return "";
}

std::string Cloud::token(const std::string& zone) {
    return insist("/v1/host-tokens", fmt::format(R"({{"zone":"{}"}})", zone), "token");
}

bool Cloud::begin(const std::vector<std::string>& tenants) {
    world.after_each_step = [this] { checks(); };
    if (database) database->boot();
    for (const std::string& name : masters) world.machine(name).boot(master_program());
    if (!world.run_until([&] { return term() != nullptr; }, 1min)) return false;
    world.machine("nj").boot(access_program("nj"));
    world.machine("lon").boot(access_program("lon"));
    world.machine("gw").boot(gateway_program());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        join(hosts[i], i % 2 == 0 ? "nj" : "lon");
    }
    for (const std::string& tenant : tenants) {
        keys[tenant] =
            insist("/v1/api-keys", fmt::format(R"({{"name":"storm","tenantID":"{}"}})", tenant), "secret");
        if (keys[tenant].empty()) return false;
    }
    begun_ = true;
    each_second();
    if (!world.run_until([&] { return unsettled().empty(); }, 1min)) return false;
    // Who leads for too short a time judges nobody: then nothing is placed.
    world.run_until([&] { return all_are_judged(); }, 30s);
    return true;
}

// Before that nothing is placed on them.
bool Cloud::all_are_judged() {
    const auto now = term();
    return now && std::ranges::none_of(now->look().estate.hosts.all(), [](const auto& row) {
               return row.second.admission.state == Admission::unmeasured;
           });
}

void Cloud::join(const std::string& machine, const std::string& zone) {
    world.machine(machine).boot(agent_program(token(zone), zone));
}

master::TermPtr Cloud::term_of(Machine& machine) {
    if (!machine.up()) return nullptr;
    const auto& role = machine.role<MasterProgram>().role;
    if (!role || !role->lead().term || role->lead().term->ended()) return nullptr;
    return role->lead().term;
}

master::TermPtr Cloud::term() {
    Machine* const machine = leader();
    return machine ? term_of(*machine) : nullptr;
}

// Of two, the later one.
Machine* Cloud::leader() {
    Machine* last = nullptr;
    std::uint64_t epoch = 0;
    for (const std::string& name : masters)
        if (const auto now = term_of(world.machine(name)); now && now->epoch() > epoch) {
            last = &world.machine(name);
            epoch = now->epoch();
        }
    return last;
}

void Cloud::check_leaders() {
    if (!database) return;
    std::vector<Leading> leaders;
    for (const std::string& name : masters)
        if (const auto now = term_of(world.machine(name))) leaders.push_back({name, now->epoch()});
    leases.look(leaders, world.clock.now());
}

// Access points and gateways obey no master after one of a higher epoch, whatever became of them since.
void Cloud::check_edges() {
    const auto look = [this](const std::string& name, std::uint64_t epoch) {
        std::uint64_t& highest = obeyed_[name];
        if (epoch != 0 && epoch < highest)
            found.report(Invariant::order, fmt::format("{} obeys a master of epoch {} after one of epoch {}",
                                                       name, epoch, highest));
        highest = std::max(highest, epoch);
    };
    for (const std::string name : {"nj", "lon"})
        if (Machine& machine = world.machine(name); machine.up())
            if (const auto& access = machine.role<AccessProgram>().role) look(name, access->obeyed_epoch());
    if (Machine& machine = world.machine("gw"); machine.up())
        if (const auto& gateway = machine.role<GatewayProgram>().role) look("gw", gateway->routes_epoch());
}

bool Cloud::gateway_follows(std::uint64_t epoch) {
    Machine& machine = world.machine("gw");
    if (!machine.up()) return false;
    const auto& gateway = machine.role<GatewayProgram>().role;
    return gateway && gateway->linked() && gateway->routes_epoch() == epoch;
}

std::string Cloud::hash(const std::string& text) const {
    return mistakes.digest ? mistakes.digest->sha256(text) : sim::hash_hex(text);
}

void Cloud::rewound(const Rewind& by) {
    rewound_at_ = world.timers.now();
    for (const auto& commit : by.lost) {
        for (const Object& object : commit->put) lost_.insert(object.id);
        for (const auto& [kind, id] : commit->erase) lost_.insert(id);
    }
    store_ledger.restored(by.kept);
    for (const auto& tell : on_rewind) tell(by);
}

const std::set<std::string>& Cloud::spared(Invariant invariant) const {
    static const std::set<std::string> none;
    return not_of_lost.contains(invariant) ? lost_ : none;
}

// One of a host: it outlives the agent that asked for it, and not the machine.
void Cloud::supervise(Machine& machine, const std::string& boot) {
    if (machine.beside->size() > 0) return;
    world.note(fmt::format("{}: a supervisor begins", machine.name));
    machine.beside->start("supervisor", [](Machine& on, std::string of) -> Task<> {
        agent::Supervisor supervisor{
            on.engine_loop, on.beside_timers, on.engine, on.beside_leases, {.boot = std::move(of)}};
        co_return co_await supervisor.run();
    }(machine, boot));
}

// No instance runs in two places, whatever generation.
void Cloud::check_places() {
    std::map<std::string, std::string> places;
    for (const std::string& host : hosts)
        for (const auto& container : world.machine(host).engine.standing()) {
            if (container.state != ContainerState::running) continue;
            if (spared(Invariant::one_place).contains(instance_of(container.spec.name))) continue;
            const auto [at, first] = places.emplace(container.spec.name, host);
            if (!first)
                found.report(Invariant::one_place,
                             fmt::format("{} runs on {} and on {}", container.spec.name, at->second, host));
        }
}

Task<http::Response> Cloud::call(std::string key, std::string method, std::string target, std::string body,
                                 std::string idempotency) {
    http::Client client{world.net, world.timers, {.idle_max = 0}};
    http::Request request{.method = std::move(method), .target = std::move(target), .body = std::move(body)};
    request.headers.set("Authorization", "Bearer " + key);
    if (!request.body.empty()) request.headers.set("Content-Type", "application/json");
    if (!idempotency.empty()) request.headers.set("Idempotency-Key", idempotency);
    const std::string what =
        fmt::format("{}: {} {} {}", who(key), request.method, request.target, request.body);
    world.note(what);
    const std::string at = masters[masters.size() > 1 ? dice.below(masters.size()) : 0] + ":8080";
    auto answer = co_await client.fetch({.address = at}, std::move(request),
                                        {.connect = 5s, .head = 10s, .idle = 5s, .total = 20s});
    world.note(fmt::format("{}: {}", what, answer ? std::to_string(answer->status) : answer.error().message));
    co_return answer;
}

std::string_view Cloud::who(std::string_view key) const {
    for (const auto& [tenant, own] : keys)
        if (own == key) return tenant;
    if (const auto caller = callers.find(std::string{key}); caller != callers.end()) return caller->second;
    return key.empty() ? "stranger" : "operator";
}

void Cloud::checks() {
    std::vector<const Machine*> machines;
    for (const std::string& host : hosts) machines.push_back(&world.machine(host));
    if (std::exchange(engines_changed_, false)) {
        for (const std::string& host : hosts)
            check_engine(world.machine(host), spared(Invariant::gpu_once), found);
        check_layers();
        check_places();
        jobs_.look_at(machines, found);
    }
    clusters.look();
    cluster_check.look_at(machines, found);
    check_leaders();
    for (const auto& look : on_each_step) look();
    for (const std::string& host : hosts) {
        Machine& machine = world.machine(host);
        const agent::Agent* agent = machine.up() ? machine.role<AgentProgram>().role.get() : nullptr;
        samples[host].look(agent, stored_rows, found);
        pods_check.look(machine, agent);
    }
    check_edges();
    if (store_ledger.calls == checked_calls_)
        return;  // Nothing is changed without a commit being called for.
    checked_calls_ = store_ledger.calls;
    const auto now = term();
    if (!now) return;
    check_claims(now->look(), found);
    check_networks(now->look(), found);
    check_room(now->look(), found);
    fit_.look(now->look(), found);
    terms_.look(now->look(), found);
    check_sellers(now->look(), liars, found);
    stock_.look(now->look(), now->epoch(), found);
    quotas_.look(now->look(), now->epoch(), found);
    jobs_.look(now->look(), now->epoch(), found);
    queues.look(now->look(), now->epoch(), found);
    cluster_check.look(now->look(), machines, now->epoch(), spared(Invariant::clean_host), found);
    std::map<std::string, std::uint64_t> on_disk;
    for (const std::string& host : hosts)
        on_disk.insert(world.machine(host).disk.volumes.begin(), world.machine(host).disk.volumes.end());
    check_sizes(now->look(), on_disk, spared(Invariant::durable), found);
    if (now->epoch() != std::exchange(recovered_epoch_, now->epoch()) && on_recovery) on_recovery(*now);
}

// Nothing here loses what is kept, but a store that has forgotten what hosts were told.
void Cloud::check_layers() {
    const auto now = term();
    if (now && !now->look().estate.restores.all().empty()) return;
    for (const std::string& host : hosts)
        for (const std::string& container : world.machine(host).engine.layers_missed)
            if (!spared(Invariant::layer).contains(instance_of(container)))
                found.report(Invariant::layer,
                             fmt::format("{} was to go on with what it wrote, and {} has nothing of it",
                                         container, host));
}

void Cloud::each_second() {
    timer_ = world.timers.schedule(world.timers.now() + 1s, [this] { each_second(); });
    for (const std::string& host : hosts)
        if (supervisors_die > 0 && dice.chance(supervisors_die)) {
            world.note(fmt::format("{}: its supervisor dies", host));
            world.machine(host).end_beside();
        }
    pods.each_second(hosts);
    const auto now = term();
    if (!is_quiet() || (now && now->epoch() != std::exchange(quiet_epoch_, now->epoch())))
        quiet_since_.reset();
    else if (!quiet_since_)
        quiet_since_ = world.timers.now();
    if (!now || !leader()->awake()) return;
    check_jobs(now->look());
    if (mistakes.each_second) mistakes.each_second(*this, *now);
    check_reports(now->look(), found);
    use_.look(now->look(), found);
    disturb(*now);
}

// Messages that come twice, and messages that come late: of this and of earlier terms.
void Cloud::disturb(master::Term& term) {
    const auto& desk = term.look();
    for (const auto& [id, command] : desk.estate.commands.all()) {
        if (heard_.contains(id)) continue;
        uplink::Frame frame;
        if (!master::write_command(desk, term.epoch(), command, *frame.mutable_command())) continue;
        heard_[id] = {command.host, frame.SerializeAsString()};
    }
    if (heard_.empty()) return;
    if (!mistakes.only) {
        if (!late_messages || !dice.chance(0.3)) return;
        if (dice.chance(0.3)) {
            for (const auto& [id, host] : desk.estate.hosts.all()) master::Outbox::of(term).send_commands(id);
            return;
        }
    }
    // Rather one that could still do harm: of this term, and not expired.
    constexpr int picks_max = 8;
    uplink::Frame frame;
    std::string host;
    for (int pick = 0; pick < picks_max; ++pick) {
        const auto& [to, bytes] =
            std::next(heard_.begin(), static_cast<std::ptrdiff_t>(dice.below(heard_.size())))->second;
        if (!frame.ParseFromString(bytes)) continue;
        host = to;
        if (frame.command().epoch() == term.epoch() &&
            frame.command().expires() > world.timers.wall().time_since_epoch().count())
            break;
    }
    if (term.send_to_host(host, frame))
        world.note(fmt::format("late: {} of epoch {}", frame.command().id(), frame.command().epoch()));
}

void Cloud::forget_faults() {
    world.faults = {};
    late_messages = false;
    supervisors_die = 0;
    world.network.faults = {};
    world.network.heal_all();
    for (auto& [name, machine] : world.machines()) {
        machine->vfs.capacity = UINT64_MAX;
        machine->vfs.forget_calls();
        machine->vfs.faults.fail_call = machine->vfs.faults.slow_sync = 0;
        machine->disk.faults = {};
        machine->engine.faults = {};
        machine->node_host.faults = {};
        machine->pod_host.faults = {};
        for (std::size_t gpu = 0; gpu < machine->gpus.conditions.size(); ++gpu)
            if (machine->gpus.conditions[gpu] != GpuCondition::ok) machine->gpus.reset(gpu);
        machine->go_on();
        machine->mend_clock();
        if (!machine->up()) machine->boot();
    }
}

std::string Cloud::unsettled() {
    const auto now = term();
    if (!now) return "nobody leads";
    const auto& estate = now->look().estate;
    std::set<std::string> left_out = spared(Invariant::settled);
    for (const auto& [id, instance] : estate.instances.all())
        if (left_out.contains(id)) left_out.insert(instance.subnet);
    for (const auto& [id, command] : estate.commands.all())
        if (!left_out.contains(id) && !left_out.contains(command.subject))
            return fmt::format("command {} is under way: {}", id, command.subject);
    if (estate.hosts.all().size() != hosts.size())
        return fmt::format("{} hosts are known", estate.hosts.all().size());
    std::map<std::string, std::set<std::string>> containers, subnets, volumes;
    for (const auto& [id, instance] : estate.instances.all()) {
        if (left_out.contains(id)) continue;
        if (is_final(instance.phase)) {
            if (!instance.claim.empty() || !instance.subnet.empty())
                return fmt::format("instance {} has ended and holds {} {}", id, instance.claim,
                                   instance.subnet);
            if (instance.reason.empty() || instance.message.empty())
                return fmt::format("instance {} has ended without a reason", id);
            continue;
        }
        if (instance.phase == InstancePhase::resting) continue;
        if (instance.phase != InstancePhase::running)
            return fmt::format("instance {} of {} is {}: {}", id, instance.spec.image,
                               state_of(instance.phase), instance.message);
        containers[instance.host].insert("hostler-" + id);
        if (!estate.subnets.find(instance.subnet)) return fmt::format("instance {} has no subnet", id);
        if (!left_out.contains(instance.subnet)) subnets[instance.host].insert(instance.subnet);
    }
    for (const auto& [id, subnet] : estate.subnets.all())
        if (!subnets[subnet.host].contains(id) && !left_out.contains(id))
            return fmt::format("subnet {} is left over", id);
    for (const auto& [id, volume] : estate.volumes.all()) {
        if (left_out.contains(id)) continue;
        if (volume.phase == VolumePhase::creating || volume.phase == VolumePhase::deleting)
            return fmt::format("volume {} is not done: {}", id, volume.message);
        if (volume.phase == VolumePhase::available) volumes[volume.host].insert(id);
    }
    for (const auto& [id, slot] : estate.slots.all())
        if (slot.phase == SlotPhase::pending && slot.message.empty())
            return fmt::format("slot {} is pending without a reason", id);
    for (const std::string& host : hosts)
        for (const auto& [container, written] : world.machine(host).engine.kept_written()) {
            const std::string id = instance_of(container);
            const Instance* instance = estate.instances.find(id);
            if ((instance && !instance->deleted && !instance->layer_host.empty()) || left_out.contains(id))
                continue;
            return fmt::format("{} keeps what {} wrote, and nobody wants it", host, id);
        }
    for (const auto& [id, host] : estate.hosts.all()) {
        if (host.phase != HostPhase::ready) return fmt::format("host {} is not ready: {}", id, host.message);
        if (!host.engine_error.empty()) return fmt::format("host {}: {}", id, host.engine_error);
        Machine& machine = world.machine(host.facts.hostname);
        std::set<std::string> standing, networks, kept;
        for (const auto& container : machine.engine.standing())
            if (!left_out.contains(instance_of(container.spec.name))) standing.insert(container.spec.name);
        for (const auto& [name, spec] : machine.disk.networks)
            if (!left_out.contains(name)) networks.insert(name);
        for (const auto& [name, size] : machine.disk.volumes)
            if (!left_out.contains(name)) kept.insert(name);
        if (standing != containers[id])
            return fmt::format("{} containers stand on {}, {} are wanted ({} | {})", standing.size(),
                               machine.name, containers[id].size(), fmt::join(standing, " "),
                               fmt::join(containers[id], " "));
        if (networks != subnets[id])
            return fmt::format("networks {} are on {}, {} are wanted", fmt::join(networks, " "), machine.name,
                               fmt::join(subnets[id], " "));
        if (kept != volumes[id])
            return fmt::format("volumes {} are on {}, {} are wanted", fmt::join(kept, " "), machine.name,
                               fmt::join(volumes[id], " "));
        if (const std::string unlike = unlike_disks(now->look(), id, volumes[id]); !unlike.empty())
            return fmt::format("host {} {}", id, unlike);
    }
    return {};
}

}  // namespace hostler::simulation
