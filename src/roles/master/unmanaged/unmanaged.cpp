#include "roles/master/unmanaged/unmanaged.h"

#include <fmt/format.h>

#include <algorithm>

#include "roles/master/command/commands.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/network/subnets.h"
#include "roles/master/run/own_ports.h"
#include "roles/master/run/runs.h"
#include "roles/master/scheduler/capacity.h"
#include "roles/master/state/refuse.h"
#include "roles/master/stock/slots.h"
#include "roles/master/tenancy/tenancy.h"
#include "roles/master/volume/volumes.h"

namespace hostler::master {

namespace {

// An instance that we let go, and whose container runs there all the same.
bool let_go_there(const Desk& desk, const std::string& host, const std::string& id) {
    const Instance* instance = desk.estate.instances.find(id);
    return instance && instance->host == host && instance->claim.empty();
}

bool has_place_there(const Desk& desk, const std::string& host, const std::string& id) {
    const Instance* instance = desk.estate.instances.find(id);
    return instance && ((instance->host == host && !instance->claim.empty()) ||
                        std::ranges::count(instance->left, host, &LeftPlace::host) > 0);
}

// It was started again after the backup: what we let go was an earlier run.
bool is_later_run(const Desk& desk, const std::string& id, const SeenWorkload& workload) {
    const Instance* instance = desk.estate.instances.find(id);
    return restore_of(desk) && instance && workload.generation > instance->meta.generation;
}

const Claim* claim_of(const Desk& desk, const std::string& host, const std::string& holder) {
    for (const Claim* claim : claims_on(desk, host))
        if (claim->holder == holder) return claim;
    return nullptr;
}

// What others leave of a host.
struct Unclaimed {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::map<std::string, const Claim*> gpus;  // By whom they are held; nullptr: nobody.
    std::set<int> places;                      // In use.
};

Unclaimed room_for(const Desk& desk, const Claim& claim) {
    const HostFacts& facts = desk.estate.hosts.at(claim.host).facts;
    Unclaimed room{.cpu_milli = facts.cpus * std::int64_t{1000}, .memory_bytes = facts.memory_bytes};
    for (const GpuFacts& gpu : facts.gpus) room.gpus[gpu.uuid] = nullptr;
    for (const Claim* there : desk.estate.claims.by().host.of(claim.host)) {
        const Claim& other = *there;
        if (other.id == claim.id) continue;
        room.cpu_milli -= other.cpu_milli;
        room.memory_bytes -= other.memory_bytes;
        for (const std::string& gpu : other.gpus) room.gpus[gpu] = &other;
        room.places.insert(other.address_index);
    }
    return room;
}

// Stock that counts on what something runs on has no place there.
void displace_stock(Desk& desk, const Claim& claim, const SeenWorkload& workload) {
    while (true) {
        const Unclaimed room = room_for(desk, claim);
        const bool tight = room.cpu_milli < workload.cpu_milli || room.memory_bytes < workload.memory_bytes;
        std::string slot;
        for (const Claim* other : desk.estate.claims.by().host.of(claim.host))
            if (other->use == ClaimUse::stock && (tight || collides(desk, *other, workload)))
                slot = other->holder;
        if (slot.empty()) return;
        displace(desk, slot);
    }
}

// As much of what it uses as the ledger gives to nobody else.
Claim with_what_it_uses(const Desk& desk, Claim claim, const SeenWorkload& workload) {
    const Unclaimed room = room_for(desk, claim);
    claim.cpu_milli =
        std::clamp<std::int64_t>(room.cpu_milli, 0, std::max<std::int64_t>(workload.cpu_milli, 0));
    claim.memory_bytes =
        std::clamp<std::int64_t>(room.memory_bytes, 0, std::max<std::int64_t>(workload.memory_bytes, 0));
    claim.gpus.clear();
    for (const std::string& gpu : workload.gpus)
        if (const auto at = room.gpus.find(gpu); at != room.gpus.end() && !at->second)
            claim.gpus.push_back(gpu);
    if (const auto place = desk.pool.place_of(workload.address))
        claim.address_index = room.places.contains(place->place) ? 0 : place->place;
    return claim;
}

// Each claim is an event and a line in the ledger, and what a host says that it runs costs it nothing: at
// once it may be as much as it can have, then little.
bool may_hold_one_more(Desk& desk, const std::string& host) {
    HostLive& live = desk.live.hosts[host];
    if (!live.foreign) live.foreign.emplace(foreign_host_rate);
    if (live.foreign->full(live.heard)) live.foreign_refused = false;  // It is told of anew.
    if (live.foreign->take(live.heard)) return true;
    ++desk.live.workloads_refused;
    if (!live.foreign_refused)
        desk.estate.event(
            "host", host, "", "too_many_workloads",
            "It reports more and more unmanaged workloads; those above the limit hold no place.");
    live.foreign_refused = true;
    return false;
}

void hold_or_follow(Desk& desk, const std::string& host, const std::string& id,
                    const SeenWorkload& workload) {
    const Claim* held = claim_of(desk, host, id);
    if (held && held->use != ClaimUse::foreign) return;
    if (!held && !may_hold_one_more(desk, host)) return;
    Claim before = held ? *held
                        : Claim{.id = new_id(desk.random, "c"),
                                .host = host,
                                .zone = desk.estate.hosts.at(host).zone,
                                .use = ClaimUse::foreign,
                                .tenant = workload.tenant,
                                .holder = id};
    if (!held) before.subnet = workload.network;
    if (!held && !workload.project.empty()) before.project = workload.project;
    displace_stock(desk, before, workload);
    const Claim now = with_what_it_uses(desk, before, workload);
    if (const auto place = desk.pool.place_of(workload.address)) hold_subnet(desk, now, place->index);
    if (!held) {
        desk.estate.hold(now);
        desk.estate.event("host", host, "", "foreign_workload",
                          fmt::format("Workload {} runs there and holds no place.", id));
        return;
    }
    if (now == before) return;
    desk.estate.claims.edit(now.id) = now;
    desk.estate.pass_on(now.id, ClaimUse::foreign, {now.tenant, now.project, now.holder, now.created_by});
}

// Tells its host to stop it. What the host has obeyed of it is at most of the run that it has.
void stop_it(Desk& desk, const Claim& claim, const SeenWorkload& workload) {
    if (commanded(desk, claim.holder) || resting(desk, claim.holder)) return;
    const Instance* instance = desk.estate.instances.find(claim.holder);
    std::uint64_t generation = workload.generation + 1;
    if (instance && instance->meta.generation >= workload.generation)
        generation = instance->meta.generation;
    else if (instance && instance->host == claim.host)
        desk.estate.instances.edit(claim.holder).meta.generation = generation;
    command(desk, claim.host, Verb::stop_workload, claim.holder, generation);
}

// Its host has obeyed something that the store has forgotten: what we want of it counts on from there.
void catch_up(Desk& desk, const std::string& id, const SeenWorkload& workload) {
    Instance& instance = desk.estate.instances.edit(id);
    close_commands(desk, id, workload.generation);
    instance.run_generation = instance.meta.generation = workload.generation;
    desk.estate.event("instance", id, instance.tenant, "later_run",
                      fmt::format("Its host has a later run of it, of generation {}.", workload.generation));
    if (instance.phase != InstancePhase::halting || workload.state != "running") return;
    // It was started again after it had been stopped.
    instance.phase = InstancePhase::running;
    instance.reason = "later_run";
    instance.message = "it was started again after the backup that the store was restored from";
}

// All that it uses is held by its claim, and nobody else's.
Result<> check_place(const Desk& desk, const Claim& claim, const SeenWorkload& workload) {
    constexpr const char* help = "See who holds it with `hostler gpu list`; it is free when that has ended.";
    if (workload.cpu_milli <= 0 || workload.memory_bytes <= 0 || workload.image.empty())
        return refuse("it does not say what it uses", "place_unknown", "Keep it unmanaged, or remove it.");
    if (claim.cpu_milli < workload.cpu_milli || claim.memory_bytes < workload.memory_bytes)
        return refuse("it uses CPU or memory that the ledger gives to another", "place_taken", help);
    for (const std::string& gpu : workload.gpus)
        if (std::ranges::count(claim.gpus, gpu) == 0)
            return refuse(fmt::format("it uses GPU {}, which the ledger gives to another", gpu),
                          "place_taken", help);
    const auto place = desk.pool.place_of(workload.address);
    const Subnet* subnet = desk.estate.subnets.find(claim.subnet);
    if (!place || !subnet || subnet->tenant != claim.tenant || subnet->project != claim.project ||
        subnet->host != claim.host || subnet->index != place->index || claim.address_index != place->place)
        return refuse(fmt::format("its address {} is not one that it could keep", workload.address),
                      "place_taken",
                      "Stop it with `hostler reconcile remove`, and create another with its volumes.");
    return {};
}

// Volumes that it mounts become its tenant's, as they lie on the host.
Result<> adopt_volumes(Desk& desk, const Claim& claim, const SeenWorkload& workload) {
    for (const InstanceVolume& mount : workload.mounts) {
        const Volume* volume = desk.estate.volumes.find(mount.volume);
        if (volume && (volume->tenant != claim.tenant || volume->project != claim.project ||
                       (!volume->host.empty() && volume->host != claim.host)))
            return refuse(fmt::format("it mounts volume {}, which is {}'s on host {}", mount.volume,
                                      volume->tenant, volume->host),
                          "volume_taken", "");
        TRY(check_writers(desk, mount));
    }
    for (const InstanceVolume& mount : workload.mounts) {
        if (!desk.estate.volumes.find(mount.volume)) {
            desk.estate.volumes.add(
                {.id = mount.volume,
                 .name = mount.volume,
                 .tenant = claim.tenant,
                 .project = claim.project,
                 .zone = claim.zone,
                 .host = claim.host,
                 .size_bytes = volume_bytes_min,
                 .phase = VolumePhase::available,
                 .message = "it was adopted with an instance: its name and size are not known",
                 .created_at = desk.estate.micros()});
        } else if (desk.estate.volumes.at(mount.volume).host.empty()) {
            Volume& bound = desk.estate.volumes.edit(mount.volume);
            bound.host = claim.host;
            bound.phase = VolumePhase::available;
        }
    }
    return {};
}

std::string spec_like(const Desk& desk, const Claim& claim) {
    for (const auto& [name, spec] : desk.estate.specs.all())
        if (spec.cpu_milli == claim.cpu_milli && spec.memory_bytes == claim.memory_bytes &&
            static_cast<std::size_t>(spec.gpu_count) == claim.gpus.size())
            return name;
    return {};
}

Instance made_of(const Desk& desk, const Claim& claim, const SeenWorkload& workload) {
    Instance instance{.id = claim.holder, .caller_id = workload.name, .tenant = claim.tenant};
    instance.project = claim.project;
    if (instance.caller_id.empty() || find_instance(desk, claim.tenant, instance.caller_id))
        instance.caller_id = claim.holder;
    instance.tenant_name = claim.tenant;
    instance.spec_name = spec_like(desk, claim);
    instance.spec.image = workload.image;
    instance.spec.ports = workload.ports;
    instance.spec.volumes = workload.mounts;
    instance.spec.jupyter_port = workload.jupyter_port;
    instance.spec.jupyter_path = workload.jupyter_path;
    instance.created_at = desk.estate.micros();
    instance.adopted = true;
    return instance;
}

const Claim& decide(Desk& desk, std::string id, ForeignWish wish, std::string why) {
    Claim& claim = desk.estate.claims.edit(id);
    claim.wish = wish;
    claim.why = std::move(why);
    desk.estate.pass_on(id, ClaimUse::foreign, {claim.tenant, claim.project, claim.holder, claim.created_by});
    return claim;
}

}  // namespace

void note_word(Desk& desk, const std::string& host) {
    const Restore* restore = restore_of(desk);
    if (!restore) return;
    const auto& workloads = desk.live.hosts[host].workloads;
    std::vector<std::string> later, unborn;
    for (const Instance* there : desk.estate.instances.by().host.of(host)) {
        const Instance& instance = *there;
        const std::string& id = instance.id;
        if (instance.claim.empty()) continue;
        const auto seen = workloads.find(id);
        if (seen != workloads.end() && is_later_run(desk, id, seen->second)) later.push_back(id);
        if (seen == workloads.end() && awaits_word(desk, host) &&
            (instance.phase == InstancePhase::placed || instance.phase == InstancePhase::pulling ||
             instance.phase == InstancePhase::starting))
            unborn.push_back(id);
    }
    for (const std::string& id : later) catch_up(desk, id, workloads.at(id));
    for (const std::string& id : unborn) {
        // What was asked for then must not begin now: others may be in its place.
        const std::uint64_t generation = ++desk.estate.instances.edit(id).meta.generation;
        close_commands(desk, id, generation);
        note(desk, id, InstanceEvent::fail, "restored",
             "it was being started when the backup was made, and its host has nothing of it");
    }
    if (awaits_word(desk, host)) desk.estate.restores.edit(restore->id).heard.insert(host);
}

void hold_for_unknown(Desk& desk) {
    std::vector<std::string> unknown, slots;
    for (const auto& [id, claim] : desk.estate.claims.all())
        if ((claim.use == ClaimUse::instance || claim.use == ClaimUse::leaving) &&
            !desk.estate.instances.find(claim.holder) &&
            !desk.estate.unreadable().contains({std::string{Kind<Instance>::name}, claim.holder}))
            unknown.push_back(id);
    for (const std::string& id : unknown) {
        const Claim claim = desk.estate.claims.at(id);
        for (const auto& [name, slot] : desk.estate.slots.all())
            if (slot.claim == id) slots.push_back(name);
        desk.estate.pass_on(id, ClaimUse::foreign,
                            {claim.tenant, claim.project, claim.holder, claim.created_by});
        desk.estate.event("host", claim.host, "", "foreign_workload",
                          fmt::format("Workload {} holds a place there, and the store has no instance of it.",
                                      claim.holder));
    }
    for (const std::string& name : slots) {  // They find room elsewhere.
        Slot& slot = desk.estate.slots.edit(name);
        slot.phase = SlotPhase::pending;
        slot.instance.clear();
        slot.claim.clear();
    }
}

void note_foreign(Desk& desk, const std::string& host) {
    const auto& workloads = desk.live.hosts[host].workloads;
    for (const auto& [id, workload] : workloads)
        if (!has_place_there(desk, host, id)) hold_or_follow(desk, host, id, workload);
    std::vector<std::string> over;
    for (const Claim* claim : claims_on(desk, host))
        if (claim->use == ClaimUse::foreign && !workloads.contains(claim->holder)) over.push_back(claim->id);
    for (const std::string& id : over) desk.estate.release(id);
    for (const auto& [id, workload] : workloads) {
        const Claim* claim = claim_of(desk, host, id);
        if (!claim || claim->use != ClaimUse::foreign) continue;
        if (claim->wish == ForeignWish::remove ||
            (let_go_there(desk, host, id) && !is_later_run(desk, id, workload)))
            stop_it(desk, *claim, workload);
    }
}

bool may_come_back(const Desk& desk, const std::string& host) {
    return restore_of(desk) && !desk.estate.hosts.find(host);
}

void take_back(Desk& desk, const std::string& id, const std::string& access) {
    const AccessPoint* at = desk.estate.access_points.find(access);
    Host host{.id = id, .zone = at ? at->zone : "", .message = "it has not reported yet"};
    host.joined_at = desk.estate.micros();
    host.cordoned = true;
    desk.estate.event(
        "host", id, "", "came_back",
        fmt::format("Host {} joined after the backup that the store was restored from. It is cordoned: "
                    "see what runs there with `hostler reconcile review`.",
                    id));
    desk.estate.hosts.add(std::move(host));
}

Result<const Claim*> find_foreign(const Desk& desk, const std::string& workload) {
    const Claim* found = nullptr;
    for (const Claim* held : desk.estate.claims.by().holder.of(workload)) {
        const Claim& claim = *held;
        if (claim.use != ClaimUse::foreign) continue;
        if (found)
            return refuse(fmt::format("hosts {} and {} both say that they have it", found->host, claim.host),
                          "workload_ambiguous", "Stop it on one of them, by the means of that host.");
        found = &claim;
    }
    if (found) return found;
    return fail(Code::not_found, fmt::format("there is no foreign workload {}", workload),
                "foreign_not_found");
}

Result<const Claim*> keep_foreign(Desk& desk, const std::string& workload, std::string why) {
    const Claim& claim =
        decide(desk, TRY(find_foreign(desk, workload))->id, ForeignWish::keep, std::move(why));
    desk.estate.event("host", claim.host, "", "foreign_kept",
                      fmt::format("Workload {} is kept unmanaged.", workload));
    return &claim;
}

Result<const Claim*> remove_foreign(Desk& desk, const std::string& workload, std::string why) {
    const Claim& claim =
        decide(desk, TRY(find_foreign(desk, workload))->id, ForeignWish::remove, std::move(why));
    desk.estate.event("host", claim.host, "", "foreign_removed",
                      fmt::format("Workload {} is to go.", workload));
    // A silent host is told when it is back.
    if (const SeenWorkload* seen = seen_workload(desk, claim)) stop_it(desk, claim, *seen);
    return &claim;
}

Result<const Instance*> adopt_foreign(Desk& desk, const std::string& id) {
    const Claim claim = *TRY(find_foreign(desk, id));
    const SeenWorkload* seen = seen_workload(desk, claim);
    if (!seen)
        return fail(Code::unavailable,
                    fmt::format("host {} is not connected: its workloads are not known", claim.host),
                    "host_unreachable");
    const SeenWorkload workload = *seen;
    if (workload.state != "running")
        return refuse(fmt::format("it does not run: it is {}", workload.state), "not_running",
                      "Take it away with `hostler reconcile remove`.");
    if (claim.tenant.empty())
        return refuse("it names no tenant", "tenant_unknown", "Keep it unmanaged, or remove it.");
    const Instance* before = earlier_run(desk, claim);
    if (!before && desk.estate.instances.find(id))
        return refuse("its instance has ended, and it is being stopped", "not_running", "");
    if (before && (before->tenant != claim.tenant || before->project != claim.project))
        return refuse("its host says it is another tenant's or project's than the store does",
                      "tenant_differs", "Keep it unmanaged, or remove it.");
    if (before && !before->claim.empty())
        return refuse(fmt::format("its earlier run still has its place on host {}", before->host),
                      "place_taken", "Ask again when that host has confirmed that it is gone.");
    if (commanded(desk, id)) return refuse("it is being stopped", "not_running", "");
    TRY(check_place(desk, claim, workload));
    Instance instance = before ? *before : made_of(desk, claim, workload);
    if (!before) TRY(give_own_ports(desk, instance.spec.ports));
    TRY(adopt_volumes(desk, claim, workload));
    ensure_project(desk, claim.tenant, claim.project);
    instance.phase = InstancePhase::running;
    instance.reason = "adopted";
    instance.message = before ? "it was started again after the backup that the store was restored from"
                              : "it ran before the store knew of it; its command and variables are not known";
    instance.host = claim.host;
    instance.zone = claim.zone;
    instance.claim = claim.id;
    instance.subnet = claim.subnet;
    instance.address = workload.address;
    instance.run_generation = instance.meta.generation = workload.generation;
    instance.started_at = instance.ready_at = instance.ran_since = desk.estate.micros();
    instance.ended_at = 0;
    Subnet& subnet = desk.estate.subnets.edit(claim.subnet);
    subnet.foreign = subnet.unusable = false;
    Claim& held = desk.estate.claims.edit(claim.id);
    held.subnet.clear();
    held.why.clear();
    held.wish = ForeignWish::open;
    desk.estate.pass_on(claim.id, ClaimUse::instance,
                        {claim.tenant, claim.project, id, before ? before->created_by : ""});
    if (before)
        desk.estate.instances.edit(id) = std::move(instance);
    else
        desk.estate.instances.add(std::move(instance));
    desk.estate.event("instance", id, claim.tenant, "adopted",
                      fmt::format("Workload {} on host {} is an instance again.", id, claim.host));
    return &desk.estate.instances.at(id);
}

const Instance* earlier_run(const Desk& desk, const Claim& foreign) {
    const SeenWorkload* workload = seen_workload(desk, foreign);
    return workload && is_later_run(desk, foreign.holder, *workload)
               ? desk.estate.instances.find(foreign.holder)
               : nullptr;
}

std::vector<std::string> not_known(const Desk& desk, const Claim& foreign) {
    const SeenWorkload* workload = seen_workload(desk, foreign);
    if (earlier_run(desk, foreign)) return {};
    std::vector<std::string> missing{"variables", "command", "stop rules", "which ports are public"};
    if (!workload) missing.emplace_back("its kind: its host is silent");
    if (foreign.tenant.empty()) missing.emplace_back("tenant");
    if (workload && workload->name.empty()) missing.emplace_back("name");
    if (workload && workload->image.empty()) missing.emplace_back("image");
    if (spec_like(desk, foreign).empty()) missing.emplace_back("spec");
    if (workload && std::ranges::any_of(workload->mounts, [&](const InstanceVolume& mount) {
            return !desk.estate.volumes.find(mount.volume);
        }))
        missing.emplace_back("names and sizes of volumes");
    return missing;
}

}  // namespace hostler::master
