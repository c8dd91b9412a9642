#include "domain/scheduler/denial.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "domain/scheduler/denial_words.h"

namespace hostler {

namespace {

enum class State { now, empty };  // As the host is; as if nothing ran there and it were open.

// How much a change asks of people: to ask for less costs 1 and 3 times the part that is missing, to wait 3,
// and 2 what an operator has to decide.
constexpr double waits = 3, decides = 2;

struct Lack {
    Change change;
    double cost = 0;
};

double part(std::int64_t asked, std::int64_t had) {
    return static_cast<double>(asked - had) / static_cast<double>(std::max<std::int64_t>(asked, 1));
}

double cost_of_terms(Obstacle obstacle, const Terms& terms, const Traits& traits) {
    if (obstacle == Obstacle::gpu_memory)
        return 1 + 3 * part(terms.gpu_memory_bytes, traits.gpu_memory_bytes);
    if (obstacle == Obstacle::price && traits.price_micros)
        return 1 + 3 * part(*traits.price_micros, *terms.price_micros);
    if (obstacle == Obstacle::distance && traits.spot)
        return 1 + 3 * part(distance_km(*traits.spot, terms.near->spot), terms.near->km);
    if (obstacle == Obstacle::zone || obstacle == Obstacle::rack || obstacle == Obstacle::tier ||
        obstacle == Obstacle::label)
        return 2;
    if (obstacle == Obstacle::isolation || obstacle == Obstacle::programs || obstacle == Obstacle::trust)
        return 5;
    return obstacle == Obstacle::vendor ? 4 : 3;
}

// The plain profile with as much memory or the next more; the largest when none has.
std::int16_t nearest_profile(const MigFamily& family, std::int16_t asked) {
    const auto gigabytes = [](std::string_view name) {
        int sum = 0;
        for (const char c : name.substr(name.find('.') + 1)) {
            if (c < '0' || c > '9') break;
            sum = 10 * sum + (c - '0');
        }
        return sum;
    };
    const int wanted = gigabytes(mig_profile_name(asked));
    const MigProfile* best = nullptr;
    for (const MigProfile& profile : family.profiles) {
        if (profile.name.find_first_of("+-") != std::string_view::npos) continue;
        const int has = gigabytes(profile.name), best_has = best ? gigabytes(best->name) : 0;
        if (!best || (best_has < wanted ? has > best_has : has >= wanted && has < best_has)) best = &profile;
    }
    return mig_profile_number(best->name);
}

// What stands in the way on one host. What is found is relaxed at once, so that the rest is about what would
// then be asked.
class Look {
public:
    Look(const Fleet& fleet, const Need& need, HostNumber host, State state)
        : fleet_(fleet),
          traits_(fleet.traits(host)),
          need_(need),
          host_(host),
          state_(state),
          machine_(state == State::now ? fleet.at(host) : fleet.whole(host)) {}

    std::vector<Lack> run() {
        for (const Obstacle obstacle : unmet(need_.terms, traits_)) {
            if (obstacle >= Obstacle::vendor && obstacle <= Obstacle::tier) no_gpus();
            ask(obstacle, 0, cost_of_terms(obstacle, need_.terms, traits_));
        }
        if (need_.shape.gpus > 0 && !(need_.shape.models >> machine_.model & 1)) {
            no_gpus();
            if (need_.shape.gpus > 0) ask(Obstacle::model, 0, 3);
        }
        profile();
        if (!std::ranges::all_of(need_.volumes, [&](const auto& name) { return fleet_.holds(host_, name); }))
            ask(Obstacle::volume, 0, 6);
        if (state_ == State::now) standing();
        if (need_.shape.gpus > 0) gpus();
        amount(Obstacle::cpu, need_.shape.cpu_milli, machine_.cpu_milli, fleet_.whole(host_).cpu_milli);
        amount(Obstacle::memory, need_.shape.memory_bytes, machine_.memory_bytes,
               fleet_.whole(host_).memory_bytes);
        amount(Obstacle::disk, need_.shape.disk_bytes, machine_.disk_bytes, fleet_.whole(host_).disk_bytes);
        return std::move(found_);
    }

private:
    void ask(Obstacle obstacle, std::int64_t value, double cost) {
        found_.push_back({{obstacle, Change::By::asking, host_, value}, cost});
        relax(need_, found_.back().change, fleet_);
    }
    void wait(Obstacle obstacle, std::int64_t value) {
        found_.push_back({{obstacle, Change::By::waiting, host_, value}, waits});
    }
    // Asks for as much as there is, or waits for the rest where that is less to bear; for all that the host
    // has when it never has what is asked.
    void less(Obstacle obstacle, std::int64_t asked, std::int64_t had, std::int64_t whole) {
        const double cost = 1 + 3 * part(asked, had);
        if (state_ == State::empty || cost <= waits || whole <= 0)
            return ask(obstacle, std::max<std::int64_t>(had, 0), cost);
        if (whole < asked) ask(obstacle, whole, 1 + 3 * part(asked, whole));
        wait(obstacle, std::min(asked, whole) - had);
    }
    void amount(Obstacle obstacle, std::int64_t asked, std::int64_t had, std::int64_t whole) {
        if (had < asked) less(obstacle, asked, had, whole);
    }

    // Before anything is said of GPUs that a host has not.
    void no_gpus() {
        if (need_.shape.gpus > 0 && fleet_.whole(host_).gpus == 0) ask(Obstacle::gpus, 0, 7);
    }

    void profile() {
        if (need_.shape.profile == 0) return;
        const MigFamily* family = fleet_.mig(host_);
        if (family && find_profile(*family, need_.shape.profile)) return;
        ask(Obstacle::mig_profile, family ? nearest_profile(*family, need_.shape.profile) : 0, 3);
    }

    void standing() {
        if (const auto closed = fleet_.closed(host_)) {
            const bool by_hand = *closed == Obstacle::cordoned || *closed == Obstacle::draining;
            found_.push_back({{*closed, Change::By::opening, host_, 0}, by_hand ? decides : 6.0});
        }
        if (need_.kind != 0 && fleet_.beside(need_.kind, need_.apart, host_) > 0) ask(Obstacle::apart, 0, 4);
    }

    GpuSet free(const Shape& shape) const {
        return state_ == State::now ? fleet_.free_for(shape, host_)
                                    : static_cast<GpuSet>((1U << machine_.gpus) - 1);
    }

    void gpus() {
        const Shape& shape = need_.shape;
        if (fleet_.whole(host_).gpus == 0) return ask(Obstacle::gpus, 0, 7);
        if (shape.profile != 0) return slice();
        if (shape.shares()) return share();
        const GpuSet there = free(shape);
        const int count = std::popcount(there);
        const Topology* topology = fleet_.topology(host_);
        const bool linked = shape.link != Link::any && shape.gpus > 1;
        if (count >= shape.gpus) {
            if (linked && (!topology || pick(*topology, shape.link, there, shape.gpus) == 0))
                ask(Obstacle::link, 0, 2);
            return;
        }
        const auto all = static_cast<GpuSet>((1U << machine_.gpus) - 1);
        if (!linked)
            less(Obstacle::gpus, shape.gpus, count, machine_.gpus);
        else if (!topology)
            less(Obstacle::gpus, shape.gpus, std::min(count, 1), 1);
        else
            less(Obstacle::gpus, shape.gpus, most(*topology, shape.link, there),
                 most(*topology, shape.link, all));
    }

    void share() {
        Shape least = need_.shape;
        least.gpu_milli = 1;
        int had = 0;
        for (int i = 0; i < machine_.gpus; ++i)
            if (free(least) >> i & 1) had = std::max<int>(had, machine_.free[static_cast<std::size_t>(i)]);
        if (had >= need_.shape.gpu_milli) return;
        less(Obstacle::share, need_.shape.gpu_milli, had, gpu_whole);
    }

    // Whether it has a place, and else the largest that has one.
    void slice() {
        const MigFamily& family = *fleet_.mig(host_);
        const MigProfile* best = nullptr;
        const MigProfile& asked = *find_profile(family, need_.shape.profile);
        for (const MigProfile& profile : family.profiles) {
            bool fits = false;
            for (int gpu = 0; gpu < machine_.gpus; ++gpu) {
                const MigGpu cut = state_ == State::now ? fleet_.cut_of(host_, gpu) : MigGpu{};
                if (cut.count == 0 && machine_.free[static_cast<std::size_t>(gpu)] < gpu_whole) continue;
                fits = fits || best_start(family, profile, cut) >= 0;
            }
            if (!fits) continue;
            if (profile.name == asked.name) return;
            if (profile.size <= asked.size && (!best || profile.size > best->size)) best = &profile;
        }
        if (!best || best->size * 2 < asked.size) return wait(Obstacle::slice, 1);
        ask(Obstacle::slice, mig_profile_number(best->name), 1 + 3 * part(asked.size, best->size));
    }

    const Fleet& fleet_;
    const Traits& traits_;
    Need need_;
    const HostNumber host_;
    const State state_;
    const Machine& machine_;
    std::vector<Lack> found_;
};

struct Nearest {
    std::vector<Lack> lacks;
    double cost = 0;
};

// Of the parts of each host that of the least cost is told. Nullopt: some host has what is asked.
std::optional<Denial> look(const Fleet& fleet, const Need& need, State state, const Besides& besides,
                           const Besides& instead) {
    struct Count {
        int hosts = 0;
        double least = 0;
    };
    std::map<HostNumber, Nearest> by_host;
    for (const HostNumber host : fleet.hosts()) {
        auto lacks = Look{fleet, need, host, state}.run();
        if (lacks.empty() && state == State::now && besides)
            if (const auto change = besides(host)) lacks.push_back({*change, waits});
        if (!lacks.empty() && state == State::now && instead)
            if (const auto change = instead(host)) lacks = {{*change, decides}};
        if (lacks.empty()) return std::nullopt;
        double cost = 0;
        for (const Lack& lack : lacks) cost += lack.cost;
        const auto [at, fresh] = by_host.try_emplace(fleet.first_part(host));
        if (fresh || cost < at->second.cost) at->second = {std::move(lacks), cost};
    }
    std::map<Obstacle, Count> counts;
    std::optional<Nearest> nearest;
    for (const auto& [host, of_host] : by_host) {
        const auto& [lacks, cost] = of_host;
        Count& count = counts[lacks.front().change.obstacle];
        count.least = count.hosts++ == 0 ? cost : std::min(count.least, cost);
        if (!nearest || cost < nearest->cost) nearest = {lacks, cost};
    }
    Denial denial{.never = state == State::empty};
    std::vector<std::tuple<bool, double, int, Obstacle>> order;
    for (const auto& [obstacle, count] : counts)
        order.emplace_back(lasting(obstacle), count.least, -count.hosts, obstacle);
    std::ranges::sort(order);
    for (const auto& [is_lasting, least, hosts, obstacle] : order)
        denial.reasons.push_back({obstacle, -hosts});
    if (nearest)
        for (const Lack& lack : nearest->lacks) denial.changes.push_back(lack.change);
    return denial;
}

}  // namespace

std::optional<Denial> explain(const Fleet& fleet, const Need& need, const Besides& besides,
                              const Besides& instead) {
    auto denial = look(fleet, need, State::now, besides, instead);
    if (!denial) return denial;
    if (auto never = look(fleet, need, State::empty, besides, {})) denial = std::move(never);
    describe(*denial, need, fleet);
    return denial;
}

std::optional<Denial> explain(Fleet& fleet, const Gang& gang) {
    if (gang.tasks.empty() || !fleet.choose(gang).empty()) return std::nullopt;
    Denial denial{.fitting = fleet.fitting(gang)};
    Gang apart = gang;
    apart.together = Area::none;
    if (denial.fitting.empty()) {
        for (const Need& task : gang.tasks)
            if (auto one = explain(fleet, task)) return one;
    }
    if (gang.together != Area::none && !fleet.choose(apart).empty()) {
        denial.reasons.push_back({Obstacle::together, 0});
        denial.changes.push_back({.obstacle = Obstacle::together});
    } else {
        denial.reasons.push_back({Obstacle::tasks, 0});
        denial.changes.push_back(
            {.obstacle = Obstacle::tasks, .value = static_cast<std::int64_t>(denial.fitting.size())});
    }
    describe(denial, gang);
    return denial;
}

void relax(Need& need, const Change& change, const Fleet& fleet) {
    if (change.by != Change::By::asking) return;
    const Traits& traits = fleet.traits(change.host);
    Terms& terms = need.terms;
    switch (change.obstacle) {
        case Obstacle::host: terms.hosts = {traits.name}; break;
        case Obstacle::zone: terms.zones = {traits.zone}; break;
        case Obstacle::rack: terms.racks = {traits.rack}; break;
        case Obstacle::distance:
            if (traits.spot)
                terms.near->km = distance_km(*traits.spot, terms.near->spot);
            else
                terms.near.reset();
            break;
        case Obstacle::vendor: terms.vendor = traits.vendor; break;
        case Obstacle::model:
            terms.model = traits.model;
            need.shape.models = ~std::uint64_t{0};
            break;
        case Obstacle::gpu_class: terms.gpu_class = traits.gpu_class; break;
        case Obstacle::gpu_memory: terms.gpu_memory_bytes = traits.gpu_memory_bytes; break;
        case Obstacle::tier: terms.tier = traits.tier; break;
        case Obstacle::isolation: terms.isolation.reset(); break;
        case Obstacle::programs: terms.programs = false; break;
        case Obstacle::trust: terms.trust = traits.trust; break;
        case Obstacle::price: terms.price_micros = traits.price_micros; break;
        case Obstacle::label:
            std::erase_if(terms.labels, [&](const auto& label) {
                const auto found = traits.labels.find(label.first);
                return found == traits.labels.end() || found->second != label.second;
            });
            break;
        case Obstacle::mig_profile:
        case Obstacle::slice: need.shape.profile = static_cast<std::int16_t>(change.value); break;
        case Obstacle::volume:
            std::erase_if(need.volumes, [&](const auto& name) { return !fleet.holds(change.host, name); });
            break;
        case Obstacle::apart: need.apart = Area::none; break;
        case Obstacle::gpus:
            need.shape.gpus = static_cast<int>(change.value);
            if (change.value == 0) need.shape.gpu_milli = need.shape.profile = 0;
            break;
        case Obstacle::share: need.shape.gpu_milli = static_cast<int>(change.value); break;
        case Obstacle::link: need.shape.link = Link::any; break;
        case Obstacle::cpu: need.shape.cpu_milli = change.value; break;
        case Obstacle::memory: need.shape.memory_bytes = change.value; break;
        case Obstacle::disk: need.shape.disk_bytes = change.value; break;
        case Obstacle::cordoned:
        case Obstacle::draining:
        case Obstacle::cluster:
        case Obstacle::unreachable:
        case Obstacle::faulty:
        case Obstacle::refused:
        case Obstacle::addresses:
        case Obstacle::lease:
        case Obstacle::stock:
        case Obstacle::together:
        case Obstacle::tasks: break;
    }
}

}  // namespace hostler
