// Where demands go, or why nowhere, by the index that room.cpp keeps.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "roles/master/scheduler/capacity.h"
#include "roles/master/scheduler/room.h"
#include "roles/master/scheduler/traits.h"

namespace hostler::master {

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
        if (host == room.hosts_.end() || host->second.parts.empty() || group == room.groups_.end()) return;
        number_ = host->second.number();
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

namespace {

// What is left on the host, with GPUs of the one part alone.
Candidate left_for(const Room::There& there, const Room::Part& part) {
    Candidate left = there.free;
    std::erase_if(left.gpus, [&](const FreeGpu& gpu) { return gpu.model != part.model; });
    return left;
}

}  // namespace

std::optional<Placement> Room::choose(const Desk& desk, const Demand& demand, const std::string& image,
                                      const May& may) {
    Need need = need_of(demand);
    if (!demand.host.empty() && need.terms.hosts.empty()) need.terms.hosts = {demand.host};
    const auto admits = [&](HostNumber number) {
        const There& there = hosts_.at(by_number_[number]);
        if (!fits_beside(demand, there.free) || (may && !may(there.free.id))) return false;
        const Part& part = part_at(number);
        return (part.plain && demand.gpu_count <= gpus_max) || !unfit(demand, left_for(there, part));
    };
    Fleet::Says prefers;
    if (!image.empty())
        prefers = [&](HostNumber number) { return has_image(desk, by_number_[number], image); };
    const Left left{*this, demand};
    const auto found = fleet_.best(need, admits, prefers);
    if (!found) return std::nullopt;
    const There& there = hosts_.at(by_number_[*found]);
    return Placement{there.free.id, there.free.zone, gpus_for(demand, there, part_at(*found))};
}

// On one NUMA node where they can be, unless it is wished how they are linked.
std::vector<std::string> Room::gpus_for(const Demand& demand, const There& there, const Part& part) const {
    const Topology* topology = fleet_.topology(part.number);
    for (const Link link : {demand.wishes.link, demand.wishes.link_wanted}) {
        if (link == Link::any || demand.gpu_count < 2 || !topology) continue;
        const GpuSet free = fleet_.free_for({.gpus = demand.gpu_count, .gpu_milli = gpu_whole}, part.number);
        const GpuSet picked = pick(*topology, link, free, demand.gpu_count);
        std::vector<std::string> gpus;
        for (std::size_t i = 0; i < part.gpus.size(); ++i)
            if (i < gpus_max && (picked >> i & 1)) gpus.push_back(part.gpus[i]);
        if (!gpus.empty()) return gpus;
    }
    return there.parts.size() == 1 ? pick_gpus(demand, there.free) : pick_gpus(demand, left_for(there, part));
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
        if (at == hosts_.end() || at->second.parts.empty() || (may && !may(id))) continue;
        const There& there = at->second;
        if (need.apart != Area::none && fleet_.beside(need.kind, need.apart, there.number()) > 0) continue;
        for (const Part& part : there.parts) {
            if (!admits(need.terms, fleet_.traits(part.number))) continue;
            const auto besides = also(there, part, demand, need);
            if (!unfit(demand, there.free) && (!besides || besides(there.free)))
                continue;  // What keeps it out is not here.
            auto claims = fewest(there.free, spares, may_go, demand, besides, tries);
            if (!claims) continue;
            const auto [known, fresh] = going.try_emplace(id, *claims);
            if (!fresh && claims->size() < known->second.size()) known->second = std::move(*claims);
        }
    }
    return going;
}

std::function<bool(const Candidate&)> Room::also(const There& there, const Part& part, const Demand& demand,
                                                 const Need& need) const {
    if (there.parts.size() == 1 && need.shape.link == Link::any) return nullptr;
    return [&](const Candidate& host) {
        std::vector<std::string> gpus;
        for (const FreeGpu& gpu : host.gpus)
            if (gpu.model == part.model) gpus.push_back(gpu.uuid);
        if (demand.gpu_count > 0 && !model_matches(demand.gpu_type, part.model)) return false;
        return std::ssize(gpus) >= demand.gpu_count &&
               (need.shape.link == Link::any || linked(part, need, gpus));
    };
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
        // Of those that have more GPUs than the fleet counts, or of too many models.
        if (unfit(demand, left_for(there, part_at(number))))
            return Change{Obstacle::gpus, Change::By::waiting, number, 1};
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
    if (at == hosts_.end() || at->second.parts.empty()) return false;
    const There& there = at->second;
    const Need need = need_of(demand);
    for (const Part& part : there.parts) {
        const bool held = gpus.empty() ? part.number == there.number()
                                       : std::ranges::find_first_of(gpus, part.gpus) != gpus.end();
        if (!held) continue;
        if (!admits(demand.wishes.terms, fleet_.traits(part.number))) return false;
        if (need.shape.link != Link::any && !linked(part, need, gpus)) return false;
    }
    const Left left{*this, demand};
    return need.apart == Area::none || fleet_.beside(need.kind, need.apart, there.number()) == 0;
}

// Of these GPUs of it as many as are needed reach each other as asked.
bool Room::linked(const Part& part, const Need& need, const std::vector<std::string>& gpus) const {
    GpuSet held = 0;
    for (std::size_t i = 0; i < part.gpus.size() && i < gpus_max; ++i)
        if (std::ranges::count(gpus, part.gpus[i]) > 0) held = static_cast<GpuSet>(held | 1U << i);
    const Topology* topology = fleet_.topology(part.number);
    return topology && pick(*topology, need.shape.link, held, need.shape.gpus) != 0;
}

int Room::crowd(const Demand& demand, const std::string& host) {
    const auto at = hosts_.find(host);
    const Need need = need_of(demand);
    if (at == hosts_.end() || at->second.parts.empty() || need.kind == 0) return 0;
    const HostNumber number = at->second.number();
    const Left left{*this, demand};
    if (need.spread != Area::none) return fleet_.beside(need.kind, need.spread, number);
    return need.pack == Area::none ? 0 : -fleet_.beside(need.kind, need.pack, number);
}

// Where a model is asked for, GPUs of models that have no number of their own are left out.
// Hosts that take nothing for a while: what runs there ends, for others.
class Room::Closed {
public:
    Closed(Room& room, const std::vector<std::string>& hosts) : room_(room) {
        for (const std::string& id : hosts)
            if (const auto there = room_.hosts_.find(id); there != room_.hosts_.end())
                if (!there->second.parts.empty() && !room_.fleet_.closed(there->second.number())) {
                    room_.fleet_.close(there->second.number(), Obstacle::draining);
                    closed_.push_back(there->second.number());
                }
    }
    ~Closed() {
        for (const HostNumber number : closed_) room_.fleet_.reopen(number);
    }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

private:
    Room& room_;
    std::vector<HostNumber> closed_;
};

Plan Room::plan(const std::vector<Demand>& demands, Gang gang, const Stock& stock,
                const std::vector<std::string>& kept) {
    constexpr hostler::Kind of_the_gang = hostler::Kind{1} << 31;  // Groups of which none runs so far.
    constexpr std::uint64_t numbered = ~(std::uint64_t{1} << others);
    std::map<std::string, hostler::Kind> fresh;
    HOSTLER_ASSERT(demands.size() == gang.tasks.size());
    for (std::size_t i = 0; i < demands.size(); ++i) {
        Need& task = gang.tasks[i];
        const Shape asked = task.shape;
        task = need_of(demands[i]);
        if (!demands[i].gpu_type.empty()) task.shape.models &= numbered;
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
    const Closed closed{*this, kept};
    std::vector<Choice> chosen = fleet_.choose(gang);
    if (chosen.empty() && stock) {
        const IdleStock idle = stock();
        MadeRoom made = make_room(fleet_, gang, lent(idle), idle.may_go);
        chosen = std::move(made.choices);
        found.reclaimed = std::move(made.gone);
    }
    for (const Choice& choice : chosen) {
        const There& there = hosts_.at(by_number_[choice.host]);
        Place& place = found.places.emplace_back(there.free.id, there.free.zone);
        const Part& part = part_at(choice.host);
        for (const int gpu : choice.gpus) place.gpus.push_back(part.gpus[static_cast<std::size_t>(gpu)]);
        if (choice.profile != 0) place.slice = choice.slice;
    }
    if (found.places.empty()) found.denial = explain(fleet_, gang);
    return found;
}

// As the fleet has it. Left out is what lies on GPUs that the fleet does not count, or of several models.
std::vector<Lent> Room::lent(const IdleStock& stock) const {
    std::vector<Lent> all;
    for (const auto& [id, spares] : stock.by_host) {
        const auto there = hosts_.find(id);
        if (there == hosts_.end() || there->second.parts.empty()) continue;
        for (const Spare& spare : spares)
            for (const Part& part : there->second.parts) {
                Choice held{
                    .host = part.number, .cpu_milli = spare.cpu_milli, .memory_bytes = spare.memory_bytes};
                for (std::size_t i = 0; i < part.gpus.size() && i < gpus_max; ++i)
                    if (std::ranges::count(spare.gpus, part.gpus[i], &FreeGpu::uuid) > 0)
                        held.gpus.push_back(static_cast<int>(i));
                if (held.gpus.size() != spare.gpus.size()) continue;
                if (!held.gpus.empty()) held.gpu_milli = gpu_whole;
                all.push_back({spare.id, spare.kind, std::move(held)});
                break;
            }
    }
    return all;
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
                            const std::map<std::string, int>& per_zone, const May& may) {
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
        decision.placement = choose(desk, within, {}, may);
        if (decision.placement) return decision;
    }
    decision.denial = deny(demand, may);
    return decision;
}

}  // namespace hostler::master
