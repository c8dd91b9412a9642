#include "domain/scheduler/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hostler {

namespace {

// A part of the demand that insists on some models weighs from this share of what those have free…
constexpr double pressing = 0.3;
constexpr double pressing_most = 1.5;
// …and for each GPU that others take there they are charged so many points per unit above it.
constexpr double points_per_gpu = 7.5;

std::int64_t milli_more(const Machine& before, const Machine& after) {
    return after.free_milli() - before.free_milli();
}

}  // namespace

HostNumber Fleet::add(const Machine& machine) {
    HOSTLER_ASSERT(machine.gpus >= 0 && machine.gpus <= gpus_max);
    HOSTLER_ASSERT(machine.model >= 0 && machine.model < gpu_models_max);
    if (static_cast<std::size_t>(machine.model) >= banks_.size())
        banks_.resize(static_cast<std::size_t>(machine.model) + 1);
    Bank& bank = banks_[static_cast<std::size_t>(machine.model)];
    HostNumber number = 0;
    if (bank.vacant.empty()) {
        number = static_cast<HostNumber>(hosts_.size());
        hosts_.push_back({.place = static_cast<std::uint32_t>(bank.hosts.size())});
        wholes_.emplace_back();
        bank.hosts.push_back(number);
    } else {
        number = *bank.vacant.begin();
        bank.vacant.erase(bank.vacant.begin());
    }
    hosts_[number].machine = wholes_[number] = machine;
    hosts_[number].first = hosts_[number].next = number;
    hosts_[number].there = hosts_[number].open = true;
    bank.free_milli += machine.free_milli();
    admit(number);
    changed(number);
    return number;
}

void Fleet::remove(HostNumber number) {
    HOSTLER_ASSERT(number < hosts_.size() && hosts_[number].there);
    for (const HostNumber part : parts(number)) remove_part(part);
}

void Fleet::remove_part(HostNumber number) {
    Host& host = hosts_[number];
    Bank& bank = banks_[static_cast<std::size_t>(host.machine.model)];
    if (host.open) bank.free_milli -= host.machine.free_milli();
    bank.vacant.insert(number);
    host.there = host.open = host.linked = false;
    host.first = host.next = number;
    for (auto& [terms, set] : admitted_)
        set.mask.reset(static_cast<std::size_t>(host.machine.model), host.place);
    ++host.life;
    if (host.details != 0) {
        named_[traits(number).name].erase(number);
        details_spare_.push_back(host.details);
        details_[std::exchange(host.details, 0)] = {};
    }
    const auto forget = [&](auto& of_hosts) {
        for (auto at = of_hosts.begin(); at != of_hosts.end();) {
            at->second.erase(number);
            at = at->second.empty() ? of_hosts.erase(at) : std::next(at);
        }
    };
    forget(holders_);
    forget(kinds_);
    changed(number);
}

void Fleet::set(HostNumber number, const Machine& machine) {
    HOSTLER_ASSERT(number < hosts_.size() && hosts_[number].there);
    HOSTLER_ASSERT(machine.gpus >= 0 && machine.gpus <= gpus_max &&
                   machine.model == hosts_[number].machine.model);
    put(number, machine);
}

// What is left there; the other parts of its host have as much of what they share.
void Fleet::put(HostNumber number, const Machine& machine) {
    Host& host = hosts_[number];
    if (host.open)
        banks_[static_cast<std::size_t>(machine.model)].free_milli += milli_more(host.machine, machine);
    host.machine = machine;
    changed(number);
    for (HostNumber other = host.next; other != number; other = hosts_[other].next) {
        Machine& part = hosts_[other].machine;
        part.cpu_milli = machine.cpu_milli;
        part.memory_bytes = machine.memory_bytes;
        part.disk_bytes = machine.disk_bytes;
        changed(other);
    }
}

void Fleet::resize(HostNumber number, const Machine& whole) {
    HOSTLER_ASSERT(number < hosts_.size() && hosts_[number].there);
    HOSTLER_ASSERT(whole.gpus >= 0 && whole.gpus <= gpus_max && whole.model == hosts_[number].machine.model);
    wholes_[number] = whole;
}

Result<> Fleet::claim(const Choice& choice) {
    const auto taken = [&] {
        return fail(Code::conflict, fmt::format("host {} no longer has what was chosen there", choice.host));
    };
    if (!stands(choice)) return taken();
    Machine after = hosts_[choice.host].machine;
    after.cpu_milli -= choice.cpu_milli;
    after.memory_bytes -= choice.memory_bytes;
    after.disk_bytes -= choice.disk_bytes;
    if (after.cpu_milli < 0 || after.memory_bytes < 0 || after.disk_bytes < 0) return taken();
    for (const int gpu : choice.gpus) {
        if (gpu < 0 || gpu >= after.gpus) return taken();
        auto& free = after.free[static_cast<std::size_t>(gpu)];
        if (free < choice.gpu_milli) return taken();
        free = static_cast<std::int16_t>(free - choice.gpu_milli);
    }
    if (choice.owner != 0 && !may_share(choice)) return taken();
    if (choice.profile != 0 && !take_slice(choice, after)) return taken();
    if (choice.owner != 0)
        for (const int gpu : choice.gpus)
            details_to_change(choice.host).owners[static_cast<std::size_t>(gpu)] = choice.owner;
    if (choice.kind != 0) count_kind(choice, 1);
    put(choice.host, after);
    return {};
}

void Fleet::release(const Choice& choice) {
    if (!stands(choice)) return;
    Machine after = hosts_[choice.host].machine;
    after.cpu_milli += choice.cpu_milli;
    after.memory_bytes += choice.memory_bytes;
    after.disk_bytes += choice.disk_bytes;
    for (const int gpu : choice.gpus) {
        HOSTLER_ASSERT(gpu >= 0 && gpu < after.gpus);
        auto& free = after.free[static_cast<std::size_t>(gpu)];
        free = static_cast<std::int16_t>(free + choice.gpu_milli);
        HOSTLER_ASSERT(free <= gpu_whole);
        if (choice.owner != 0 && free == gpu_whole)
            details_to_change(choice.host).owners[static_cast<std::size_t>(gpu)] = 0;
    }
    if (choice.profile != 0) give_slice(choice, after);
    if (choice.kind != 0) count_kind(choice, -1);
    put(choice.host, after);
}

// What was remembered of old changes is let go when it is much more than ranking everything anew.
void Fleet::changed(HostNumber host) {
    hosts_[host].generation = 0;
    changes_.push_back(host);
    if (changes_.size() < 2 * hosts_.size() + 4096) return;
    const auto half = changes_.size() / 2;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(half));
    forgotten_ += half;
}

void Fleet::refresh_waste() {
    if (waste_generation_ == workload_.generation()) return;
    waste_.emplace(workload_.sketch());
    waste_generation_ = workload_.generation();
}

float Fleet::waste_of(Host& host) {
    if (host.generation != waste_generation_) {
        host.waste = waste_->of(host.machine);
        host.generation = waste_generation_;
    }
    return host.waste;
}

int Fleet::points(const Shape& shape, HostNumber number) {
    Host& host = hosts_[number];
    if (!host.open) return Ranking::unfit;
    if (shape.particular()) return particular_points(shape, number);
    if (!fits(shape, host.machine)) return Ranking::unfit;
    return waste_->score(shape, host.machine, waste_of(host)).points;
}

void Fleet::rank_all(Ranked& ranked, const Shape& shape) {
    for (std::size_t model = 0; model < banks_.size(); ++model) {
        Ranking& ranking = ranked.by_model[model];
        ranking.resize(banks_[model].hosts.size());
        const Machine* last = nullptr;  // Hosts that have as much left are worth as much.
        for (const HostNumber number : banks_[model].hosts) {
            const Host& host = hosts_[number];
            const bool same = last && host.open && host.machine == *last;
            ranking.put(host.place, same ? ranking.at(host.place - 1) : points(shape, number));
            last = host.open && !shape.particular() ? &host.machine : nullptr;
        }
        ranking.settle();
    }
}

// Each host that changed since this shape was ranked is ranked again, once.
void Fleet::follow(Ranked& ranked, const Shape& shape) {
    const std::uint64_t changes = forgotten_ + changes_.size();
    if (ranked.generation != waste_generation_ || ranked.seen < forgotten_) {
        rank_all(ranked, shape);
    } else if (ranked.seen < changes) {
        ++looks_;
        for (auto i = ranked.seen - forgotten_; i < changes_.size(); ++i) {
            Host& host = hosts_[changes_[i]];
            if (host.looked == looks_) continue;
            host.looked = looks_;
            Ranking& ranking = ranked.by_model[static_cast<std::size_t>(host.machine.model)];
            if (host.place >= ranking.places()) ranking.resize(host.place + 1);
            ranking.set(host.place, points(shape, changes_[i]));
        }
    }
    ranked.generation = waste_generation_;
    ranked.seen = changes;
}

Fleet::Ranked& Fleet::ranked(const Shape& shape) {
    const auto found = ranked_.find(shape);
    if (found == ranked_.end() && ranked_.size() == shapes_max)
        ranked_.erase(
            std::ranges::min_element(ranked_, {}, [](const auto& entry) { return entry.second.used; }));
    Ranked& ranked = found == ranked_.end() ? ranked_[shape] : found->second;
    ranked.by_model.resize(banks_.size());
    ranked.used = ++uses_;
    return ranked;
}

std::vector<Fleet::Pressed> Fleet::pressed() const {
    std::vector<Pressed> found;
    if (workload_.by_models().size() < 2 && workload_.by_models().contains(~std::uint64_t{0})) return found;
    for (const auto& [models, milli] : workload_.by_models()) {
        if (models == ~std::uint64_t{0}) continue;
        std::int64_t there = 0, all = 0;
        for (std::size_t i = 0; i < banks_.size(); ++i) {
            all += banks_[i].free_milli;
            if (models >> i & 1) there += banks_[i].free_milli;
        }
        const double share = static_cast<double>(milli) / static_cast<double>(workload_.gpu_milli());
        const double pressure =
            share * static_cast<double>(all) / static_cast<double>(std::max<std::int64_t>(there, 1));
        if (pressure > pressing) found.push_back({models, std::min(pressure - pressing, pressing_most)});
    }
    return found;
}

int Fleet::charge(const std::vector<Pressed>& pressed, const Shape& shape, int model) {
    double charged = 0;
    for (const auto& [models, excess] : pressed)  // Who has nowhere else to go is not charged.
        if ((models >> model & 1) && (shape.models & ~models)) charged += excess;
    return static_cast<int>(points_per_gpu * charged * shape.gpus * shape.gpu_milli / gpu_whole);
}

Fleet::Ranked& Fleet::up_to_date(const Shape& shape) {
    HOSTLER_ASSERT(shape.sound());
    refresh_waste();
    Ranked& by_shape = ranked(shape);
    follow(by_shape, shape);
    return by_shape;
}

std::optional<Fleet::Best> Fleet::search(const Shape& shape, std::uint64_t models, const Mask* mask) {
    const Ranked& by_shape = up_to_date(shape);
    const auto too_few = pressed();
    Shape coming = shape;
    coming.models = models;
    std::optional<Best> best;
    for (std::size_t model = 0; model < banks_.size(); ++model) {
        const Ranking& ranking = by_shape.by_model[model];
        Ranking::Found found{ranking.best(), 0};
        if (found.points == Ranking::unfit) continue;
        if (mask) {
            found = ranking.best_of(mask->of(model));
            if (found.points == Ranking::unfit) continue;
        } else {
            found.place = ranking.first();
        }
        const int worth = found.points - charge(too_few, coming, static_cast<int>(model));
        const HostNumber host = banks_[model].hosts[found.place];
        if (!best || worth > best->worth || (worth == best->worth && host < best->host)) best = {host, worth};
    }
    return best;
}

std::optional<Choice> Fleet::choose(const Shape& shape) {
    const auto best = search(shape, shape.models, nullptr);
    if (!best) return std::nullopt;
    return choice(shape, best->host);
}

Choice Fleet::choice(const Shape& shape, HostNumber number) {
    Host& host = hosts_[number];
    Choice chosen{number,          shape.cpu_milli, shape.memory_bytes, {},
                  shape.gpu_milli, host.life,       shape.disk_bytes};
    if (shape.profile != 0) {
        const SlicePlace place = slice_place(shape, number);
        chosen.gpus.push_back(place.gpu);
        chosen.gpu_milli = 0;
        chosen.profile = shape.profile;
        chosen.slice = static_cast<std::int16_t>(place.start);
    } else if (shape.shares()) {
        chosen.owner = shape.owner;
        const Machine seen = shape.owner == 0 ? host.machine : visible(shape, number);
        const float before = shape.owner == 0 ? waste_of(host) : waste_->of(seen);
        chosen.gpus.push_back(waste_->score(shape, seen, before).gpu);
    } else if (shape.gpus > 0) {
        GpuSet from = free_for(shape, number);
        if (host.linked) from = pick(*details(number).topology, shape.link, from, shape.gpus);
        for (int i = 0; static_cast<int>(chosen.gpus.size()) < shape.gpus; ++i)
            if (from >> i & 1) chosen.gpus.push_back(i);
    }
    return chosen;
}

}  // namespace hostler
