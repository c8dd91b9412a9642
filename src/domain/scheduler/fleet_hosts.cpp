// What the fleet knows of its hosts beside what is free: what they are like, what is cut, held, and of which
// kind.
#include <algorithm>
#include <bit>

#include "domain/scheduler/fleet.h"

namespace hostler {

HostNumber Fleet::add(const Machine& machine, const Traits& traits, const std::optional<Topology>& topology) {
    const HostNumber number = add(machine);
    describe(number, traits, topology);
    return number;
}

HostNumber Fleet::add_part(HostNumber of, const Machine& machine, const Traits& traits,
                           const std::optional<Topology>& topology) {
    HOSTLER_ASSERT(of < hosts_.size() && hosts_[of].there && traits.name == this->traits(of).name);
    const HostNumber number = add(machine, traits, topology);
    hosts_[number].first = hosts_[of].first;
    hosts_[number].next = std::exchange(hosts_[of].next, number);
    for (auto& [name, hosts] : holders_)
        if (hosts.contains(of)) hosts.insert(number);
    if (const auto why = details(of).closed) close(number, *why);
    put(of, hosts_[of].machine);
    return number;
}

// Of its host, with itself.
std::set<HostNumber> Fleet::parts(HostNumber host) const {
    std::set<HostNumber> found{host};
    for (HostNumber other = hosts_[host].next; other != host; other = hosts_[other].next) found.insert(other);
    return found;
}

void Fleet::describe(HostNumber number, const Traits& traits, const std::optional<Topology>& topology) {
    details_to_change(number).topology = topology;
    hosts_[number].linked = topology.has_value();
    describe(number, traits);
}

void Fleet::describe(HostNumber number, const Traits& traits) {
    Details& known = details_to_change(number);
    named_[known.traits.name].erase(number);
    if (named_[known.traits.name].empty()) named_.erase(known.traits.name);
    named_[traits.name].insert(number);
    known.traits = traits;
    const bool cut = std::ranges::any_of(known.cuts, [](const MigGpu& gpu) { return gpu.count > 0; });
    if (!cut) known.mig = mig_family(traits.model);
    admit(number);
    changed(number);
}

Fleet::Details& Fleet::details_to_change(HostNumber number) {
    HOSTLER_ASSERT(number < hosts_.size() && hosts_[number].there);
    std::uint32_t& index = hosts_[number].details;
    if (index == 0 && !details_spare_.empty()) {
        index = details_spare_.back();
        details_spare_.pop_back();
    } else if (index == 0) {
        index = static_cast<std::uint32_t>(details_.size());
        details_.emplace_back();
    }
    return details_[index];
}

void Fleet::close(HostNumber number, Obstacle why) {
    HOSTLER_ASSERT(why >= Obstacle::cordoned && why <= Obstacle::addresses);
    for (const HostNumber part : parts(number)) {
        details_to_change(part).closed = why;
        Host& host = hosts_[part];
        if (!std::exchange(host.open, false)) continue;
        banks_[static_cast<std::size_t>(host.machine.model)].free_milli -= host.machine.free_milli();
        changed(part);
    }
}

void Fleet::reopen(HostNumber number) {
    for (const HostNumber part : parts(number)) {
        details_to_change(part).closed.reset();
        Host& host = hosts_[part];
        if (std::exchange(host.open, true)) continue;
        banks_[static_cast<std::size_t>(host.machine.model)].free_milli += host.machine.free_milli();
        changed(part);
    }
}

void Fleet::hold(HostNumber host, const std::string& name) {
    HOSTLER_ASSERT(host < hosts_.size() && hosts_[host].there);
    holders_[name].merge(parts(host));
}

void Fleet::let_go(HostNumber host, const std::string& name) {
    const auto held = holders_.find(name);
    if (held == holders_.end()) return;
    for (const HostNumber part : parts(host)) held->second.erase(part);
    if (held->second.empty()) holders_.erase(held);
}

bool Fleet::holds(HostNumber host, const std::string& name) const {
    const auto held = holders_.find(name);
    return held != holders_.end() && held->second.contains(host);
}

std::vector<HostNumber> Fleet::hosts() const {
    std::vector<HostNumber> found;
    for (HostNumber number = 0; number < hosts_.size(); ++number)
        if (hosts_[number].there) found.push_back(number);
    return found;
}

const Topology* Fleet::topology(HostNumber host) const {
    const auto& topology = details(host).topology;
    return topology ? &*topology : nullptr;
}

void Fleet::count_kind(const Choice& choice, int more) {
    auto& by_host = kinds_[choice.kind];
    const HostNumber host = first_part(choice.host);
    if ((by_host[host] += more) == 0) by_host.erase(host);
    if (by_host.empty()) kinds_.erase(choice.kind);
}

void Fleet::count(HostNumber host, Kind kind, int number) {
    HOSTLER_ASSERT(host < hosts_.size() && hosts_[host].there && kind != 0 && number >= 0);
    host = first_part(host);
    if (number > 0) {
        kinds_[kind][host] = number;
    } else if (const auto by_host = kinds_.find(kind); by_host != kinds_.end()) {
        by_host->second.erase(host);
        if (by_host->second.empty()) kinds_.erase(by_host);
    }
}

int Fleet::beside(Kind kind, Area level, HostNumber host) const {
    const auto by_host = kinds_.find(kind);
    if (by_host == kinds_.end()) return 0;
    if (level == Area::none) return 0;
    host = first_part(host);
    const std::string& here = name_at(level, host);
    int count = 0;
    for (const auto& [other, number] : by_host->second)
        if (other == host || (!here.empty() && name_at(level, other) == here)) count += number;
    return count;
}

// The owner of a GPU's shares is who has the first of them.
bool Fleet::may_share(const Choice& choice) const {
    const Host& host = hosts_[choice.host];
    return std::ranges::all_of(choice.gpus, [&](int gpu) {
        const auto i = static_cast<std::size_t>(gpu);
        return host.machine.free[i] == gpu_whole || details(choice.host).owners[i] == choice.owner;
    });
}

GpuSet Fleet::free_for(const Shape& shape, HostNumber number) const {
    const Machine& machine = hosts_[number].machine;
    const Details& known = details(number);
    GpuSet found = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(machine.gpus); ++i) {
        const bool other = shape.owner != 0 && shape.shares() && machine.free[i] < gpu_whole &&
                           known.owners[i] != shape.owner;
        if (machine.free[i] >= shape.gpu_milli && !other) found = static_cast<GpuSet>(found | 1U << i);
    }
    return found;
}

// The machine as a share sees it: GPUs of other owners have nothing free.
Machine Fleet::visible(const Shape& shape, HostNumber number) const {
    Machine seen = hosts_[number].machine;
    const GpuSet free = free_for(shape, number);
    for (std::size_t i = 0; i < static_cast<std::size_t>(seen.gpus); ++i)
        if (!(free >> i & 1)) seen.free[i] = 0;
    return seen;
}

// A GPU that is cut already before one that is whole, and of those the fullest afterwards.
Fleet::SlicePlace Fleet::slice_place(const Shape& shape, HostNumber number) const {
    const Details& known = details(number);
    const Machine& machine = hosts_[number].machine;
    const MigProfile* profile = mig(number) ? find_profile(*known.mig, shape.profile) : nullptr;
    if (!profile) return {};
    SlicePlace best;
    GpuSet idle = 0;
    for (int gpu = 0; gpu < machine.gpus; ++gpu) {
        const MigGpu& cut = known.cuts[static_cast<std::size_t>(gpu)];
        if (cut.count == 0) {
            if (machine.free[static_cast<std::size_t>(gpu)] == gpu_whole)
                idle = static_cast<GpuSet>(idle | 1U << gpu);
            continue;
        }
        const int start = best_start(*known.mig, *profile, cut);
        const int taken = std::popcount(cut.slices) + profile->size;
        if (start >= 0 && taken > best.taken) best = {gpu, start, taken};
    }
    if (best.gpu >= 0 || idle == 0) return best;
    if (known.topology) idle = pick(*known.topology, Link::any, idle, 1);
    return {std::countr_zero(idle), best_start(*known.mig, *profile, {}), 0};
}

bool Fleet::take_slice(const Choice& choice, Machine& machine) {
    const Details& known = details(choice.host);
    const MigProfile* profile = known.mig ? find_profile(*known.mig, choice.profile) : nullptr;
    if (!profile || choice.gpus.size() != 1 || choice.slice < 0 || choice.slice >= known.mig->slices)
        return false;
    const auto gpu = static_cast<std::size_t>(choice.gpus.front());
    MigGpu& cut_now = details_to_change(choice.host).cuts[gpu];
    if (cut_now.count == 0 && machine.free[gpu] != gpu_whole) return false;
    if (!fits_at(*known.mig, *profile, cut_now, choice.slice)) return false;
    machine.free[gpu] = 0;
    cut(cut_now, *profile, choice.slice);
    return true;
}

void Fleet::give_slice(const Choice& choice, Machine& machine) {
    Details& known = details_to_change(choice.host);
    const auto gpu = static_cast<std::size_t>(choice.gpus.front());
    mend(known.cuts[gpu], *find_profile(*known.mig, choice.profile), choice.slice);
    if (known.cuts[gpu].count == 0) machine.free[gpu] = gpu_whole;
}

}  // namespace hostler
