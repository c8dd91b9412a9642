#include "roles/master/room.h"

#include <algorithm>
#include <iterator>

#include "roles/master/capacity.h"
#include "roles/master/foreign_rules.h"
#include "roles/master/image_rules.h"

namespace hostler::master {

namespace {

constexpr int others = gpu_models_max - 1;  // The number of all sets of models that have none of their own.

bool has_spoken(const Host& host) { return host.facts.cpus > 0 || !host.facts.gpus.empty(); }

auto rank(const Host& host) { return std::pair{host.joined_at, host.id}; }

}  // namespace

void Room::follow(const Desk& desk) {
    if (!built_) {
        desk.estate.hosts.follow(), desk.estate.claims.follow();
        desk.estate.volumes.follow(), desk.estate.restores.follow();
        return build(desk);
    }
    for (const std::string& id : changed(desk))
        if (!look_again(desk, id)) return build(desk);
}

// Hosts of which something is not as it was.
std::set<std::string> Room::changed(const Desk& desk) {
    std::set<std::string> hosts = std::exchange(stirred_, {});
    hosts.merge(desk.estate.hosts.take_noted());
    // Who has not spoken since a restore takes nothing new.
    for (const std::string& id : desk.estate.restores.take_noted()) {
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
    moved(desk.estate.claims.take_noted(), desk.estate.claims, claim_at_,
          [&](const std::string& host) -> auto& { return hosts_[host].claims; });
    moved(desk.estate.volumes.take_noted(), desk.estate.volumes, volume_at_,
          [&](const std::string& host) -> auto& { return volumes_[host]; });
    hosts.insert(foreign_.begin(), foreign_.end());
    return hosts;
}

void Room::build(const Desk& desk, std::optional<Workload> learned) {
    built_ = true;
    hosts_.clear(), by_number_.clear(), claim_at_.clear(), volume_at_.clear(), volumes_.clear();
    heard_.clear(), foreign_.clear(), stirred_.clear();
    models_.clear(), matching_.clear();
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
    for (const Host* host : order) (void)look_again(desk, host->id);
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
        if (const Spec* spec = desk.estate.specs.find(instance->spec_name)) learn(demand_of(*spec, ""));
}

Candidate Room::survey(const Desk& desk, const Host& host, There& there) {
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
bool Room::look_again(const Desk& desk, const std::string& id) {
    const Host* host = desk.estate.hosts.find(id);
    if (!host || host->phase == HostPhase::retired) {
        const auto at = hosts_.find(id);
        if (at == hosts_.end()) return true;
        if (at->second.number) return false;
        foreign_.erase(id);
        hosts_.erase(at);
        return true;
    }
    There& there = hosts_[id];
    there.free = survey(desk, *host, there);
    if (!there.number) return !has_spoken(*host) || insert(*host, there);
    bool plain = true;
    const std::size_t known = models_.size();
    const int model = model_of(*host, plain);
    if (models_.size() != known || model != fleet_.at(*there.number).model || plain != there.plain)
        return false;
    if (const Machine now = machine_of(there, model); now != fleet_.at(*there.number))
        fleet_.set(*there.number, now);
    return true;
}

bool Room::insert(const Host& host, There& there) {
    const std::size_t known = models_.size();
    const int model = model_of(host, there.plain);
    const bool in_order = last_ < rank(host);
    there.number = fleet_.add(machine_of(there, model));
    by_number_.push_back(host.id);
    HOSTLER_ASSERT(*there.number + 1 == by_number_.size());
    last_ = rank(host);
    // What demands insist on was learned without it.
    return in_order && models_.size() == known;
}

// Hosts with the same models of GPUs share a number.
int Room::model_of(const Host& host, bool& plain) {
    std::set<std::string> distinct;
    for (const GpuFacts& gpu : host.facts.gpus) distinct.insert(gpu.model);
    std::vector<std::string> set(distinct.begin(), distinct.end());
    const auto [at, fresh] = models_.try_emplace(std::move(set), static_cast<int>(models_.size()));
    if (fresh) matching_.clear();
    const int model = std::min(at->second, others);
    plain = distinct.size() < 2 && host.facts.gpus.size() <= gpus_max && model < others;
    return model;
}

Machine Room::machine_of(const There& there, int model) {
    const Candidate& free = there.free;
    Machine machine{.model = model, .cpu_milli = free.cpu_milli, .memory_bytes = free.memory_bytes};
    machine.gpus = std::min(free.gpus_total, gpus_max);
    if (!free.unavailable.empty()) {
        machine.cpu_milli = -1;  // Nothing fits.
        return machine;
    }
    const int count = std::min(static_cast<int>(free.gpus.size()), machine.gpus);
    for (int i = 0; i < count; ++i) machine.free[static_cast<std::size_t>(i)] = gpu_whole;
    return machine;
}

Shape Room::shape_of(const Demand& demand) {
    Shape shape{.cpu_milli = demand.cpu_milli, .memory_bytes = demand.memory_bytes};
    shape.gpus = std::min(demand.gpu_count, gpus_max);
    if (shape.gpus == 0) return shape;
    shape.gpu_milli = gpu_whole;
    if (demand.gpu_type.empty()) return shape;
    const auto [at, fresh] = matching_.try_emplace(demand.gpu_type, 0);
    if (fresh)
        for (const auto& [set, number] : models_)
            if (std::ranges::any_of(set,
                                    [&](const auto& model) { return model_matches(demand.gpu_type, model); }))
                at->second |= std::uint64_t{1} << std::min(number, others);
    shape.models = at->second;
    return shape;
}

void Room::learn(const Demand& demand) {
    if (built_) fleet_.arrive(shape_of(demand));  // Else it will be found in the estate.
}

std::optional<Placement> Room::choose(const Desk& desk, const Demand& demand, const std::string& image,
                                      const Barred& barred) {
    const auto is_barred = [&](const std::string& host) { return barred && !barred(host).empty(); };
    const There* best = nullptr;
    if (!demand.host.empty()) {
        const auto at = hosts_.find(demand.host);
        if (at != hosts_.end() && !unfit(demand, at->second.free) && !is_barred(demand.host))
            best = &at->second;
    } else {
        const auto admits = [&](HostNumber number) {
            const There& there = hosts_.at(by_number_[number]);
            if (!fits_beside(demand, there.free) || is_barred(there.free.id)) return false;
            return (there.plain && demand.gpu_count <= gpus_max) || !unfit(demand, there.free);
        };
        Fleet::Says prefers;
        if (!image.empty())
            prefers = [&](HostNumber number) { return has_image(desk, by_number_[number], image); };
        if (const auto found = fleet_.best(shape_of(demand), admits, prefers))
            best = &hosts_.at(by_number_[*found]);
    }
    if (!best) return std::nullopt;
    return Placement{best->free.id, best->free.zone, pick_gpus(demand, best->free)};
}

std::vector<Refusal> Room::refusals(const Demand& demand, const Barred& barred) const {
    std::vector<Refusal> all;
    for (const auto& [id, there] : hosts_) {
        if (auto reason = unfit(demand, there.free))
            all.push_back(std::move(*reason));
        else if (barred)
            all.push_back({id, there.free.name, "unavailable", barred(id)});
    }
    return all;
}

Decision Room::place(const Desk& desk, const Demand& demand, const std::string& image, const Barred& barred) {
    Decision decision;
    decision.placement = choose(desk, demand, image, barred);
    if (!decision.placement) decision.refused = refusals(demand, barred);
    return decision;
}

Decision Room::place_spread(const Desk& desk, const Demand& demand,
                            const std::map<std::string, int>& per_zone) {
    std::set<std::pair<int, std::string>> order;
    for (const auto& [id, there] : hosts_) {
        if (!demand.zone.empty() && there.free.zone != demand.zone) continue;
        const auto count = per_zone.find(there.free.zone);
        order.emplace(count == per_zone.end() ? 0 : count->second, there.free.zone);
    }
    Decision decision;
    for (const auto& [count, zone] : order) {
        Demand within = demand;
        within.zone = zone;
        decision.placement = choose(desk, within, {}, nullptr);
        if (decision.placement) return decision;
    }
    decision.refused = refusals(demand, nullptr);
    return decision;
}

void Room::pretend(const Demand& demand, const Placement& placement) {
    There& there = hosts_.at(placement.host);
    there.free.cpu_milli -= demand.cpu_milli;
    there.free.memory_bytes -= demand.memory_bytes;
    --there.free.places;
    std::erase_if(there.free.gpus,
                  [&](const FreeGpu& gpu) { return std::ranges::count(placement.gpus, gpu.uuid) > 0; });
    fleet_.set(*there.number, machine_of(there, fleet_.at(*there.number).model));
    stirred_.insert(placement.host);
}

std::vector<std::pair<std::string, Machine>> Room::order() const {
    std::vector<std::pair<std::string, Machine>> all;
    for (HostNumber number = 0; number < by_number_.size(); ++number)
        all.emplace_back(by_number_[number], fleet_.at(number));
    return all;
}

}  // namespace hostler::master
