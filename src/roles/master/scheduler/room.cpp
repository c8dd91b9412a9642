#include "roles/master/scheduler/room.h"

#include <algorithm>
#include <iterator>

#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/traits.h"
#include "roles/master/state/host_blocks.h"

namespace hostler::master {

namespace {

// The order of numbers, and so who gets what several could have: who was known first.
auto rank(const Host& host) { return std::tuple{host.order, host.joined_at, host.id}; }

std::string group_of(const Claim& claim) {
    return claim.use == ClaimUse::instance && !claim.group.empty() ? group_key(claim.tenant, claim.group)
                                                                   : "";
}

}  // namespace

std::string Room::held_by(const std::string& host) { return "on " + host; }

void Room::follow(const Desk& desk) {
    if (built_ == 0) {
        (void)changed(desk);  // It is told from here on.
        return build(desk);
    }
    for (const auto& [id, look] : changed(desk))
        if (!look_again(desk, id, look)) return build(desk);
}

// Hosts of which something is not as it was.
std::map<std::string, Room::Look> Room::changed(const Desk& desk) {
    std::set<std::string> hosts = std::exchange(stirred_, {});
    std::set<std::string> described = followed_.hosts.changed(desk.estate.hosts);
    if (const auto zones = followed_.zones.changed(desk.estate.zones); !zones.empty())
        for (const auto& [id, host] : desk.estate.hosts.all())
            if (zones.contains(host.zone)) described.insert(id);
    if (!followed_.prices.changed(desk.estate.prices).empty())
        for (const auto& [id, host] : desk.estate.hosts.all()) described.insert(id);
    // Who has not spoken since a restore takes nothing new.
    for (const std::string& id : followed_.restores.changed(desk.estate.restores)) {
        const Restore* row = desk.estate.restores.find(id);
        const auto was = heard_.find(id);
        if (row && was != heard_.end()) {
            std::ranges::set_symmetric_difference(was->second, row->heard, std::inserter(hosts, hosts.end()));
            was->second = row->heard;
            continue;
        }
        for (const auto& [host, known] : desk.estate.hosts.all()) hosts.insert(host);
        if (row)
            heard_.emplace(id, row->heard);
        else
            heard_.erase(id);
    }
    const auto moved = [&](const std::set<std::string>& ids, const auto& table, auto& where, auto of) {
        for (const std::string& id : ids) {
            if (const auto was = where.find(id); was != where.end()) {
                of(was->second).erase(id);
                hosts.insert(was->second);
                where.erase(was);
            }
            const auto* row = table.find(id);
            if (!row || row->host.empty()) continue;
            of(row->host).insert(id);
            hosts.insert(row->host);
            where.emplace(id, row->host);
        }
    };
    moved(followed_.claims.changed(desk.estate.claims), desk.estate.claims, claim_at_,
          [&](const std::string& host) -> auto& { return hosts_[host].claims; });
    moved(followed_.volumes.changed(desk.estate.volumes), desk.estate.volumes, volume_at_,
          [&](const std::string& host) -> auto& { return volumes_[host]; });
    // Hosts that are to be free take nothing new, until that is over.
    for (const std::string& id : followed_.consolidations.changed(desk.estate.consolidations))
        if (const ConsolidationRecord* run = desk.estate.consolidations.find(id))
            hosts.insert(run->freed.begin(), run->freed.end());
    hosts.merge(followed_.drains.changed(desk.estate.drains));
    hosts.insert(foreign_.begin(), foreign_.end());
    std::map<std::string, Look> looks;
    for (const std::string& id : hosts) looks.emplace(id, Look::at_what_is_free);
    for (const std::string& id : described) looks[id] = Look::at_all;
    return looks;
}

void Room::build(const Desk& desk, std::optional<Workload> learned) {
    ++built_;
    hosts_.clear(), by_number_.clear(), claim_at_.clear(), volume_at_.clear(), volumes_.clear();
    heard_.clear(), foreign_.clear(), stirred_.clear();
    models_.clear(), matching_.clear(), groups_.clear();
    last_ = {};
    fleet_ = Fleet{learned.value_or(Workload{})};
    for (const auto& [id, claim] : desk.estate.claims.all())
        hosts_[claim.host].claims.insert(id), claim_at_.emplace(id, claim.host);
    for (const auto& [id, volume] : desk.estate.volumes.all())
        if (!volume.host.empty()) volumes_[volume.host].insert(id), volume_at_.emplace(id, volume.host);
    for (const auto& [id, restore] : desk.estate.restores.all()) heard_.emplace(id, restore.heard);
    std::vector<const Host*> order;
    for (const auto& [id, host] : desk.estate.hosts.all()) order.push_back(&host);
    std::ranges::sort(order, {}, [](const Host* host) { return rank(*host); });
    for (const Host* host : order) (void)look_again(desk, host->id, Look::at_all);
    std::erase_if(hosts_,
                  [&](const auto& row) { return row.second.free.id.empty(); });  // A host that is not.
    if (learned) return;
    std::vector<const Instance*> living;
    for (const auto& [id, instance] : desk.estate.instances.all())
        if (!is_final(instance.phase)) living.push_back(&instance);
    const auto age = [](const Instance* instance) {
        return std::pair{instance->created_at, std::string_view{instance->id}};
    };
    if (living.size() > Workload::remembered) {  // What came before these is forgotten anyway.
        const auto newest = living.end() - Workload::remembered;
        std::ranges::nth_element(living, newest, {}, age);
        living.erase(living.begin(), newest);
    }
    std::ranges::sort(living, {}, age);
    for (const Instance* instance : living)
        if (const Spec* spec = desk.estate.specs.find(instance->spec_name))
            learn(demand_of(desk, *spec, *instance));
}

Candidate Room::survey(const Desk& desk, const Host& host, There& there,
                       const std::vector<std::string>& except) {
    Candidate candidate{.id = host.id,
                        .name = host.facts.hostname,
                        .zone = host.zone,
                        .unavailable = unavailable(desk, host)};
    candidate.cpu_milli = candidate.cpu_total_milli = host.facts.cpus * std::int64_t{1000};
    candidate.memory_bytes = candidate.memory_total_bytes = host.facts.memory_bytes;
    candidate.places = addresses_per_host;
    for (const GpuFacts& gpu : host.facts.gpus)
        if (!gpu.cdi_name.empty() && usable(host, gpu.uuid))
            candidate.gpus.push_back({gpu.uuid, gpu.model, gpu.memory_bytes, gpu.numa_node});
    candidate.gpus_total = static_cast<int>(candidate.gpus.size());
    candidate.volume_bytes = host.facts.volume_bytes;
    candidate.volumes_refused = host.facts.volumes_refused;
    bool any_foreign = false;
    for (const std::string& id : there.claims) {
        if (std::ranges::count(except, id) > 0) continue;
        const Claim& claim = desk.estate.claims.at(id);
        candidate.cpu_milli -= claim.cpu_milli;
        candidate.memory_bytes -= claim.memory_bytes;
        candidate.places -= claim.address_index > 0 ? 1 : 0;
        any_foreign = any_foreign || claim.use == ClaimUse::foreign;
        std::erase_if(candidate.gpus, [&](const FreeGpu& gpu) {
            return std::ranges::count(claim.gpus, gpu.uuid) > 0 || uses(desk, claim, gpu.uuid);
        });
    }
    any_foreign ? void(foreign_.insert(host.id)) : void(foreign_.erase(host.id));
    if (const auto here = volumes_.find(host.id); here != volumes_.end())
        for (const std::string& id : here->second) {
            const Volume& volume = desk.estate.volumes.at(id);
            candidate.volume_bytes -= room_of(std::max(volume.size_bytes, volume.wanted_bytes));
        }
    return candidate;
}

// false: a number is to go, they are no longer in order, or a model is not what it was: all is built anew.
bool Room::look_again(const Desk& desk, const std::string& id, Look look) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) {
        const auto at = hosts_.find(id);
        if (at == hosts_.end()) return true;
        if (!at->second.parts.empty()) return false;
        foreign_.erase(id);
        hosts_.erase(at);
        return true;
    }
    There& there = hosts_[id];
    there.free = survey(desk, *host, there);
    if (there.parts.empty()) return !has_spoken(*host) || insert(desk, *host, there);
    if (!std::ranges::equal(models_of(*host), there.parts, {}, {}, &Part::model)) return false;
    if (look == Look::at_all) describe(desk, *host, there);
    note_free(desk, *host, there);
    return true;
}

void Room::note_free(const Desk& desk, const Host& host, There& there) {
    for (const Part& part : there.parts) {
        const Machine now = machine_of(there.free, part, fleet_.at(part.number).model);
        if (now != fleet_.at(part.number)) fleet_.set(part.number, now);
    }
    const HostNumber number = there.number();
    auto closed = closed_by(desk, host);
    if (!closed && there.free.places < 1) closed = Obstacle::addresses;
    closed ? fleet_.close(number, *closed) : fleet_.reopen(number);
    count_groups(desk, there);
}

bool Room::insert(const Desk& desk, const Host& host, There& there) {
    const std::size_t known = models_.size();
    const bool in_order = last_ < rank(host);
    for (const std::string& model : models_of(host)) {
        Part part{.model = model, .gpus = lendable(host, model)};
        const Machine whole = whole_of(host, part, number_of(model));
        const Traits traits = traits_of(desk, host, model);
        part.number =
            there.parts.empty() ? fleet_.add(whole, traits) : fleet_.add_part(there.number(), whole, traits);
        by_number_.push_back(host.id);
        HOSTLER_ASSERT(part.number + 1 == by_number_.size());
        there.parts.push_back(std::move(part));
    }
    last_ = rank(host);
    fleet_.hold(there.number(), held_by(host.id));
    describe(desk, host, there);
    note_free(desk, host, there);
    // What demands insist on was learned without it.
    return in_order && models_.size() == known;
}

// What it is like, what it has when nothing runs there, and whether it takes new ones.
void Room::describe(const Desk& desk, const Host& host, There& there) {
    for (Part& part : there.parts) {
        const HostNumber number = part.number;
        const int model = fleet_.at(number).model;
        part.gpus = lendable(host, part.model);
        part.plain = std::ssize(part.gpus) <= gpus_max && model < others;
        if (const Machine whole = whole_of(host, part, model); whole != fleet_.whole(number))
            fleet_.resize(number, whole);
        const Traits traits = traits_of(desk, host, part.model);
        std::optional<Topology> topology;
        if (part.plain) topology = topology_of(host, part.model);
        const Topology* known = fleet_.topology(number);
        const bool linked_alike = topology ? known && *known == *topology : !known;
        if (traits != fleet_.traits(number) || !linked_alike) fleet_.describe(number, traits, topology);
    }
    there.plain =
        there.parts.size() == 1 && there.parts.front().plain && std::ssize(host.facts.gpus) <= gpus_max;
}

void Room::count_groups(const Desk& desk, There& there) {
    std::map<std::string, int> now;
    for (const std::string& id : there.claims)
        if (const std::string group = group_of(desk.estate.claims.at(id)); !group.empty()) ++now[group];
    if (now == there.groups) return;
    for (const auto& [group, number] : there.groups)
        if (!now.contains(group)) count_group(there.number(), group, 0);
    for (const auto& [group, number] : now) count_group(there.number(), group, number);
    there.groups = std::move(now);
}

void Room::count_group(HostNumber host, const std::string& name, int number) {
    Group& group = groups_[name];
    if (group.kind == 0) group.kind = ++last_kind_;
    const bool was = fleet_.beside(group.kind, Area::host, host) > 0;
    fleet_.count(host, group.kind, number);
    group.hosts += (number > 0 ? 1 : 0) - (was ? 1 : 0);
    if (group.hosts == 0) groups_.erase(name);
}

int Room::number_of(const std::string& model) {
    const auto [at, fresh] = models_.try_emplace(model, static_cast<int>(models_.size()));
    if (fresh) matching_.clear();
    return std::min(at->second, others);
}

const Room::Part& Room::part_at(HostNumber number) const {
    const std::vector<Part>& parts = hosts_.at(by_number_[number]).parts;
    return *std::ranges::find(parts, number, &Part::number);
}

Machine Room::machine_of(const Candidate& free, const Part& part, int model) {
    Machine machine{.model = model, .cpu_milli = free.cpu_milli, .memory_bytes = free.memory_bytes};
    machine.gpus = std::min(static_cast<int>(part.gpus.size()), gpus_max);
    if (free.volumes_refused.empty()) machine.disk_bytes = std::max<std::int64_t>(free.volume_bytes, 0);
    std::size_t at = 0;  // Both are in the order in which the host names them.
    for (const FreeGpu& gpu : free.gpus) {
        if (gpu.model != part.model) continue;
        while (at < part.gpus.size() && part.gpus[at] != gpu.uuid) ++at;
        if (at < static_cast<std::size_t>(machine.gpus)) machine.free[at] = gpu_whole;
    }
    return machine;
}

Machine Room::whole_of(const Host& host, const Part& part, int model) {
    Machine whole{.model = model,
                  .cpu_milli = host.facts.cpus * std::int64_t{1000},
                  .memory_bytes = host.facts.memory_bytes};
    whole.gpus = std::min(static_cast<int>(part.gpus.size()), gpus_max);
    for (int i = 0; i < whole.gpus; ++i) whole.free[static_cast<std::size_t>(i)] = gpu_whole;
    // What it says volumes may have shrinks as the disk fills.
    if (host.facts.volumes_refused.empty())
        whole.disk_bytes = std::max(host.facts.volume_bytes, host.facts.disk_bytes);
    return whole;
}

Shape Room::shape_of(const Demand& demand) {
    Shape shape{.cpu_milli = demand.cpu_milli, .memory_bytes = demand.memory_bytes};
    shape.gpus = std::min(demand.gpu_count, gpus_max);
    if (shape.gpus == 0) return shape;
    shape.gpu_milli = gpu_whole;
    if (demand.gpu_type.empty()) return shape;
    const auto [at, fresh] = matching_.try_emplace(demand.gpu_type, 0);
    if (fresh)
        for (const auto& [model, number] : models_)
            if (model_matches(demand.gpu_type, model))
                at->second |= std::uint64_t{1} << std::min(number, others);
    shape.models = at->second;
    return shape;
}

void Room::learn(const Demand& demand) {
    if (built_ > 0) fleet_.arrive(need_of(demand));  // Else it will be found in the estate.
}

void Room::pretend(const Demand& demand, const Placement& placement) {
    There& there = hosts_.at(placement.host);
    there.free.cpu_milli -= demand.cpu_milli;
    there.free.memory_bytes -= demand.memory_bytes;
    --there.free.places;
    std::erase_if(there.free.gpus,
                  [&](const FreeGpu& gpu) { return std::ranges::count(placement.gpus, gpu.uuid) > 0; });
    for (const Part& part : there.parts)
        fleet_.set(part.number, machine_of(there.free, part, fleet_.at(part.number).model));
    stirred_.insert(placement.host);
}

std::vector<Room::Known> Room::order() const {
    std::vector<Known> all;
    for (HostNumber number = 0; number < by_number_.size(); ++number) {
        const Topology* topology = fleet_.topology(number);
        all.push_back({by_number_[number], fleet_.at(number), fleet_.whole(number), fleet_.traits(number),
                       topology ? std::optional{*topology} : std::nullopt, fleet_.closed(number)});
    }
    return all;
}

}  // namespace hostler::master
