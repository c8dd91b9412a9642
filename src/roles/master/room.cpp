#include "roles/master/room.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "roles/master/capacity.h"
#include "roles/master/foreign_rules.h"
#include "roles/master/image_rules.h"
#include "roles/master/traits.h"

namespace hostler::master {

namespace {

constexpr int others = gpu_models_max - 1;  // The number of all sets of models that have none of their own.

bool has_spoken(const Host& host) { return host.facts.cpus > 0 || !host.facts.gpus.empty(); }

auto rank(const Host& host) { return std::pair{host.joined_at, host.id}; }

// A name that the host alone holds: what lies there and nowhere else.
std::string held_by(const std::string& host) { return "on " + host; }

std::string group_of(const Claim& claim) {
    return claim.use == ClaimUse::instance && !claim.group.empty() ? group_key(claim.tenant, claim.group)
                                                                   : "";
}

}  // namespace

void Room::follow(const Desk& desk) {
    if (!built_) {
        desk.estate.hosts.follow(), desk.estate.claims.follow();
        desk.estate.volumes.follow(), desk.estate.restores.follow(), desk.estate.zones.follow();
        desk.estate.prices.follow(), desk.estate.consolidations.follow();
        return build(desk);
    }
    for (const auto& [id, look] : changed(desk))
        if (!look_again(desk, id, look)) return build(desk);
}

// Hosts of which something is not as it was.
std::map<std::string, Room::Look> Room::changed(const Desk& desk) {
    std::set<std::string> hosts = std::exchange(stirred_, {});
    std::set<std::string> described = desk.estate.hosts.take_noted();
    if (const auto zones = desk.estate.zones.take_noted(); !zones.empty())
        for (const auto& [id, host] : desk.estate.hosts.all())
            if (zones.contains(host.zone)) described.insert(id);
    if (!desk.estate.prices.take_noted().empty())
        for (const auto& [id, host] : desk.estate.hosts.all()) described.insert(id);
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
    // Hosts that are to be free take nothing new, until that is over.
    for (const std::string& id : desk.estate.consolidations.take_noted())
        if (const ConsolidationRecord* run = desk.estate.consolidations.find(id))
            hosts.insert(run->freed.begin(), run->freed.end());
    hosts.insert(foreign_.begin(), foreign_.end());
    std::map<std::string, Look> looks;
    for (const std::string& id : hosts) looks.emplace(id, Look::at_what_is_free);
    for (const std::string& id : described) looks[id] = Look::at_all;
    return looks;
}

void Room::build(const Desk& desk, std::optional<Workload> learned) {
    built_ = true;
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
        if (at->second.number) return false;
        foreign_.erase(id);
        hosts_.erase(at);
        return true;
    }
    There& there = hosts_[id];
    there.free = survey(desk, *host, there);
    if (!there.number) return !has_spoken(*host) || insert(desk, *host, there);
    bool plain = true;
    const std::size_t known = models_.size();
    const int model = model_of(*host, plain);
    if (models_.size() != known || model != fleet_.at(*there.number).model || plain != there.plain)
        return false;
    if (look == Look::at_all) describe(desk, *host, there);
    note_free(desk, *host, there);
    return true;
}

void Room::note_free(const Desk& desk, const Host& host, There& there) {
    const HostNumber number = *there.number;
    if (const Machine now = machine_of(there, fleet_.at(number).model); now != fleet_.at(number))
        fleet_.set(number, now);
    auto closed = closed_by(desk, host);
    if (!closed && there.free.places < 1) closed = Obstacle::addresses;
    closed ? fleet_.close(number, *closed) : fleet_.reopen(number);
    count_groups(desk, there);
}

bool Room::insert(const Desk& desk, const Host& host, There& there) {
    const std::size_t known = models_.size();
    const int model = model_of(host, there.plain);
    const bool in_order = last_ < rank(host);
    there.gpus = lendable(host);
    there.number = fleet_.add(whole_of(host, there, model));
    by_number_.push_back(host.id);
    HOSTLER_ASSERT(*there.number + 1 == by_number_.size());
    last_ = rank(host);
    fleet_.hold(*there.number, held_by(host.id));
    describe(desk, host, there);
    note_free(desk, host, there);
    // What demands insist on was learned without it.
    return in_order && models_.size() == known;
}

// What it is like, what it has when nothing runs there, and whether it takes new ones.
void Room::describe(const Desk& desk, const Host& host, There& there) {
    const HostNumber number = *there.number;
    there.gpus = lendable(host);
    if (const Machine whole = whole_of(host, there, fleet_.at(number).model); whole != fleet_.whole(number))
        fleet_.resize(number, whole);
    const Traits traits = traits_of(desk, host);
    std::optional<Topology> topology;
    if (there.plain) topology = topology_of(host);
    const Topology* known = fleet_.topology(number);
    const bool linked_alike = topology ? known && *known == *topology : !known;
    if (traits != fleet_.traits(number) || !linked_alike) fleet_.describe(number, traits, topology);
}

void Room::count_groups(const Desk& desk, There& there) {
    std::map<std::string, int> now;
    for (const std::string& id : there.claims)
        if (const std::string group = group_of(desk.estate.claims.at(id)); !group.empty()) ++now[group];
    if (now == there.groups) return;
    for (const auto& [group, number] : there.groups)
        if (!now.contains(group)) count_group(*there.number, group, 0);
    for (const auto& [group, number] : now) count_group(*there.number, group, number);
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
    machine.gpus = std::min(static_cast<int>(there.gpus.size()), gpus_max);
    if (free.volumes_refused.empty()) machine.disk_bytes = std::max<std::int64_t>(free.volume_bytes, 0);
    std::size_t next = 0;  // Both are in the order in which the host names them.
    for (std::size_t i = 0; i < static_cast<std::size_t>(machine.gpus); ++i)
        if (next < free.gpus.size() && free.gpus[next].uuid == there.gpus[i]) {
            machine.free[i] = gpu_whole;
            ++next;
        }
    return machine;
}

Machine Room::whole_of(const Host& host, const There& there, int model) {
    Machine whole{.model = model,
                  .cpu_milli = host.facts.cpus * std::int64_t{1000},
                  .memory_bytes = host.facts.memory_bytes};
    whole.gpus = std::min(static_cast<int>(there.gpus.size()), gpus_max);
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
        for (const auto& [set, number] : models_)
            if (std::ranges::any_of(set,
                                    [&](const auto& model) { return model_matches(demand.gpu_type, model); }))
                at->second |= std::uint64_t{1} << std::min(number, others);
    shape.models = at->second;
    return shape;
}

Need Room::need_of(const Demand& demand) {
    const Wishes& wishes = demand.wishes;
    Need need{.shape = shape_of(demand), .models = demand.gpu_type, .terms = wishes.terms};
    // What both name is asked of each host once more: fits_beside().
    const auto narrow = [](std::vector<std::string>& names, const std::string& to) {
        if (!to.empty() && (names.empty() || std::ranges::count(names, to) > 0)) names = {to};
    };
    narrow(need.terms.zones, demand.zone);
    if (need.shape.gpus > 1) {
        need.shape.link = wishes.link;
        need.link_wanted = wishes.link_wanted;
    }
    const auto group = demand.kind.empty() ? groups_.end() : groups_.find(demand.kind);
    if (group == groups_.end()) return need;
    need.kind = group->second.kind;
    need.apart = wishes.apart;
    need.spread = wishes.spread;
    need.pack = wishes.pack;
    return need;
}

// For a while one of its group less is where the demand moves away from.
class Room::Left {
public:
    Left(Room& room, const Demand& demand) : room_(room) {
        const auto host = room.hosts_.find(demand.leaves);
        const auto group = room.groups_.find(demand.kind);
        if (host == room.hosts_.end() || !host->second.number || group == room.groups_.end()) return;
        number_ = *host->second.number;
        kind_ = group->second.kind;
        there_ = room.fleet_.beside(kind_, Area::host, number_);
        if (there_ > 0) room.fleet_.count(number_, kind_, there_ - 1);
    }
    ~Left() {
        if (there_ > 0) room_.fleet_.count(number_, kind_, there_);
    }
    Left(const Left&) = delete;
    Left& operator=(const Left&) = delete;

private:
    Room& room_;
    HostNumber number_ = 0;
    hostler::Kind kind_ = 0;
    int there_ = 0;
};

void Room::learn(const Demand& demand) {
    if (built_) fleet_.arrive(need_of(demand));  // Else it will be found in the estate.
}

std::optional<Placement> Room::choose(const Desk& desk, const Demand& demand, const std::string& image,
                                      const May& may) {
    Need need = need_of(demand);
    if (!demand.host.empty() && need.terms.hosts.empty()) need.terms.hosts = {demand.host};
    const auto admits = [&](HostNumber number) {
        const There& there = hosts_.at(by_number_[number]);
        if (!fits_beside(demand, there.free) || (may && !may(there.free.id))) return false;
        return (there.plain && demand.gpu_count <= gpus_max) || !unfit(demand, there.free);
    };
    Fleet::Says prefers;
    if (!image.empty())
        prefers = [&](HostNumber number) { return has_image(desk, by_number_[number], image); };
    const Left left{*this, demand};
    const auto found = fleet_.best(need, admits, prefers);
    if (!found) return std::nullopt;
    const There& there = hosts_.at(by_number_[*found]);
    return Placement{there.free.id, there.free.zone, gpus_for(demand, there)};
}

// On one NUMA node where they can be, unless it is wished how they are linked.
std::vector<std::string> Room::gpus_for(const Demand& demand, const There& there) const {
    const Topology* topology = fleet_.topology(*there.number);
    for (const Link link : {demand.wishes.link, demand.wishes.link_wanted}) {
        if (link == Link::any || demand.gpu_count < 2 || !topology) continue;
        const GpuSet free =
            fleet_.free_for({.gpus = demand.gpu_count, .gpu_milli = gpu_whole}, *there.number);
        const GpuSet picked = pick(*topology, link, free, demand.gpu_count);
        std::vector<std::string> gpus;
        for (std::size_t i = 0; i < there.gpus.size(); ++i)
            if (i < gpus_max && (picked >> i & 1)) gpus.push_back(there.gpus[i]);
        if (!gpus.empty()) return gpus;
    }
    return pick_gpus(demand, there.free);
}

// As if these claims were not there, for a while.
class Room::Without {
public:
    Without(Room& room, const Desk& desk, const Going& going) : room_(room), desk_(desk) {
        for (const auto& [id, claims] : going) {
            There& there = room_.hosts_.at(id);
            const Host& host = desk_.estate.hosts.at(id);
            before_.emplace(id, there.free);
            there.free = room_.survey(desk_, host, there, claims);
            room_.note_free(desk_, host, there);
        }
    }
    ~Without() {
        for (auto& [id, free] : before_) {
            There& there = room_.hosts_.at(id);
            there.free = std::move(free);
            room_.note_free(desk_, desk_.estate.hosts.at(id), there);
        }
    }
    Without(const Without&) = delete;
    Without& operator=(const Without&) = delete;

private:
    Room& room_;
    const Desk& desk_;
    std::map<std::string, Candidate> before_;
};

// Of each host that would do without idle stock, the fewest of its claims that have to go.
Room::Going Room::in_the_way(const Demand& demand, const May& may, const IdleStock& stock,
                             const std::map<std::string, int>& may_go) {
    const Need need = need_of(demand);
    const Left left{*this, demand};
    Going going;
    int tries = reclaim_tries_max;
    for (const auto& [id, spares] : stock.by_host) {
        const auto at = hosts_.find(id);
        if (at == hosts_.end() || !at->second.number || (may && !may(id))) continue;
        const There& there = at->second;
        if (!admits(need.terms, fleet_.traits(*there.number))) continue;
        if (need.apart != Area::none && fleet_.beside(need.kind, need.apart, *there.number) > 0) continue;
        std::function<bool(const Candidate&)> also;
        if (need.shape.link != Link::any)
            also = [&](const Candidate& host) {
                std::vector<std::string> gpus;
                for (const FreeGpu& gpu : host.gpus) gpus.push_back(gpu.uuid);
                return linked(there, need, gpus);
            };
        if (!unfit(demand, there.free) && (!also || also(there.free)))
            continue;  // What keeps it out is not here.
        if (auto claims = fewest(there.free, spares, may_go, demand, also, tries))
            going.emplace(id, std::move(*claims));
    }
    return going;
}

std::optional<Decision> Room::choose_over(const Desk& desk, const Demand& demand, const std::string& image,
                                          const May& may, const IdleStock& stock) {
    std::map<std::size_t, Going> by_number;
    for (auto& [host, claims] : in_the_way(demand, may, stock, stock.may_go))
        by_number[claims.size()].emplace(host, claims);
    for (const auto& [number, going] : by_number) {
        const Without without{*this, desk, going};
        const May there = [&](const std::string& host) {
            return going.contains(host) && (!may || may(host));
        };
        if (auto placement = choose(desk, demand, image, there)) {
            const std::vector<std::string>& reclaimed = going.at(placement->host);
            return Decision{.placement = std::move(placement), .denial = {}, .reclaimed = reclaimed};
        }
    }
    return std::nullopt;
}

namespace {

// How much of it is in the way where the denial would have it go, else where the fewest slots are.
std::string told(const Denial& denial, const std::map<std::string, std::vector<std::string>>& going,
                 const IdleStock& stock, const std::string& nearest) {
    auto at = going.find(nearest);
    if (at == going.end())
        at = std::ranges::min_element(going, {}, [](const auto& row) { return row.second.size(); });
    std::size_t gpus = 0;
    std::set<std::string> specs;
    for (const Spare& spare : stock.by_host.at(at->first)) {
        if (std::ranges::count(at->second, spare.id) == 0) continue;
        gpus += spare.gpus.size();
        specs.insert(spare.kind);
    }
    return fmt::format("{} On host {} {} GPU{} held by idle stock of {} that is not given up.",
                       denial.sentence, at->first, gpus, gpus == 1 ? " is" : "s are",
                       fmt::join(specs, " and "));
}

}  // namespace

Denial Room::deny(const Demand& demand, const May& may, const IdleStock* stock) {
    Going going;
    if (stock) {
        std::map<std::string, int> all;
        for (const auto& [spec, number] : stock->may_go) all[spec] = std::numeric_limits<int>::max();
        going = in_the_way(demand, may, *stock, all);
    }
    Need need = need_of(demand);
    need.shape.disk_bytes = demand.volume_bytes;
    if (!demand.host.empty()) need.volumes = {held_by(demand.host)};
    const auto besides = [&](HostNumber number) -> std::optional<Change> {
        const There& there = hosts_.at(by_number_[number]);
        if (may && !may(there.free.id)) return Change{Obstacle::lease, Change::By::opening, number, 0};
        // Of those that have GPUs of several models, or more than the fleet counts.
        if (unfit(demand, there.free)) return Change{Obstacle::gpus, Change::By::waiting, number, 1};
        return std::nullopt;
    };
    const auto instead = [&](HostNumber number) -> std::optional<Change> {
        if (!going.contains(by_number_[number])) return std::nullopt;
        return Change{Obstacle::stock, Change::By::opening, number, 0};
    };
    const Left left{*this, demand};
    if (auto denial = explain(fleet_, need, besides, instead)) {
        if (denial->never || going.empty()) return *denial;
        const HostNumber nearest = denial->changes.empty() ? 0 : denial->changes.front().host;
        denial->sentence = told(*denial, going, *stock, by_number_[nearest]);
        return *denial;
    }
    return {.sentence = "No host can take it at this moment.", .would_help = "Try again in a moment."};
}

bool Room::suits(const Demand& demand, const std::string& host, const std::vector<std::string>& gpus) {
    const auto at = hosts_.find(host);
    if (at == hosts_.end() || !at->second.number) return false;
    const HostNumber number = *at->second.number;
    const Need need = need_of(demand);
    if (!admits(demand.wishes.terms, fleet_.traits(number))) return false;
    const Left left{*this, demand};
    if (need.apart != Area::none && fleet_.beside(need.kind, need.apart, number) > 0) return false;
    return need.shape.link == Link::any || linked(at->second, need, gpus);
}

// Of these GPUs of it as many as are needed reach each other as asked.
bool Room::linked(const There& there, const Need& need, const std::vector<std::string>& gpus) const {
    GpuSet held = 0;
    for (std::size_t i = 0; i < there.gpus.size() && i < gpus_max; ++i)
        if (std::ranges::count(gpus, there.gpus[i]) > 0) held = static_cast<GpuSet>(held | 1U << i);
    const Topology* topology = fleet_.topology(*there.number);
    return topology && pick(*topology, need.shape.link, held, need.shape.gpus) != 0;
}

int Room::crowd(const Demand& demand, const std::string& host) {
    const auto at = hosts_.find(host);
    const Need need = need_of(demand);
    if (at == hosts_.end() || !at->second.number || need.kind == 0) return 0;
    const Left left{*this, demand};
    if (need.spread != Area::none) return fleet_.beside(need.kind, need.spread, *at->second.number);
    return need.pack == Area::none ? 0 : -fleet_.beside(need.kind, need.pack, *at->second.number);
}

// Hosts with GPUs of several models are left out where one is asked for.
Plan Room::plan(const std::vector<Demand>& demands, Gang gang) {
    constexpr hostler::Kind of_the_gang = hostler::Kind{1} << 31;  // Groups of which none runs so far.
    std::uint64_t plain = 0;
    for (const auto& [set, number] : models_)
        if (set.size() < 2 && number < others) plain |= std::uint64_t{1} << number;
    std::map<std::string, hostler::Kind> fresh;
    HOSTLER_ASSERT(demands.size() == gang.tasks.size());
    for (std::size_t i = 0; i < demands.size(); ++i) {
        Need& task = gang.tasks[i];
        const Shape asked = task.shape;
        task = need_of(demands[i]);
        if (!demands[i].gpu_type.empty()) task.shape.models &= plain;
        task.shape.gpu_milli = asked.gpu_milli;
        task.shape.profile = asked.profile;
        task.shape.owner = asked.owner;
        task.shape.disk_bytes = asked.disk_bytes;
        if (demands[i].kind.empty() || task.kind != 0) continue;
        const auto at =
            fresh.try_emplace(demands[i].kind, of_the_gang + static_cast<hostler::Kind>(fresh.size())).first;
        task.kind = at->second;
        task.apart = demands[i].wishes.apart;
        task.spread = demands[i].wishes.spread;
        task.pack = demands[i].wishes.pack;
    }
    Plan found;
    for (const Choice& choice : fleet_.choose(gang)) {
        const There& there = hosts_.at(by_number_[choice.host]);
        Place& place = found.places.emplace_back(there.free.id, there.free.zone);
        for (const int gpu : choice.gpus) place.gpus.push_back(there.gpus[static_cast<std::size_t>(gpu)]);
        if (choice.profile != 0) place.slice = choice.slice;
    }
    if (found.places.empty()) found.denial = explain(fleet_, gang);
    return found;
}

Decision Room::place(const Desk& desk, const Demand& demand, const std::string& image, const May& may,
                     const Stock& stock) {
    Decision decision;
    decision.placement = choose(desk, demand, image, may);
    if (decision.placement) return decision;
    std::optional<IdleStock> idle;
    if (stock) idle = stock();
    if (idle)
        if (auto over = choose_over(desk, demand, image, may, *idle)) return *over;
    decision.denial = deny(demand, may, idle ? &*idle : nullptr);
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
    decision.denial = deny(demand, nullptr);
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
