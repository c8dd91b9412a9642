#include "domain/scheduler/topology.h"

#include <bit>
#include <map>
#include <optional>
#include <string>

namespace hostler {

namespace {

const Topology::Groups& groups_of(const Topology& topology, Link link) {
    return link == Link::nvlink ? topology.nvlink : link == Link::pcie ? topology.pcie : topology.numa;
}

GpuSet group(const Topology::Groups& groups, GpuSet of, int gpu) {
    GpuSet found = 0;
    for (int i = 0; i < gpus_max; ++i)
        if ((of >> i & 1) && groups[static_cast<std::size_t>(i)] == groups[static_cast<std::size_t>(gpu)])
            found = static_cast<GpuSet>(found | 1U << i);
    return found;
}

// Of the groups with as many the smallest, of equals the first; 0: none has.
GpuSet smallest(const Topology::Groups& groups, GpuSet of, int count) {
    GpuSet best = 0;
    for (GpuSet left = of; left != 0;) {
        const GpuSet found = group(groups, left, std::countr_zero(left));
        left = static_cast<GpuSet>(left & ~found);
        if (std::popcount(found) >= count && (best == 0 || std::popcount(found) < std::popcount(best)))
            best = found;
    }
    return best;
}

// Joins what is linked: each GPU gets the lowest number of those that it reaches.
void join(Topology::Groups& groups, std::size_t a, std::size_t b) {
    const std::int8_t low = std::min(groups[a], groups[b]), high = std::max(groups[a], groups[b]);
    for (std::int8_t& one : groups)
        if (one == high) one = low;
}

}  // namespace

Topology topology_of(const HostFacts& facts) {
    Topology made;
    for (std::size_t i = 0; i < gpus_max; ++i)
        made.nvlink[i] = made.pcie[i] = made.numa[i] = static_cast<std::int8_t>(i);
    std::map<std::string, std::size_t> numbers;
    for (std::size_t i = 0; i < std::min<std::size_t>(facts.gpus.size(), gpus_max); ++i) {
        numbers[facts.gpus[i].uuid] = i;
        for (std::size_t j = 0; j < i; ++j)
            if (facts.gpus[i].numa_node == facts.gpus[j].numa_node) join(made.numa, i, j);
    }
    for (const GpuLink& link : facts.topology) {
        const auto a = numbers.find(link.a), b = numbers.find(link.b);
        if (a == numbers.end() || b == numbers.end()) continue;
        if (link.kind == GpuLinkKind::nvlink) join(made.nvlink, a->second, b->second);
        if (link.kind == GpuLinkKind::pix) join(made.pcie, a->second, b->second);
    }
    return made;
}

GpuSet pick(const Topology& topology, Link link, GpuSet free, int count) {
    if (std::popcount(free) < count) return 0;
    GpuSet from = free;
    if (link != Link::any) from = smallest(groups_of(topology, link), free, count);
    if (from == 0) return 0;
    for (const Link closer : {Link::nvlink, Link::pcie, Link::numa})
        if (const GpuSet found = smallest(groups_of(topology, closer), from, count); found != 0) from = found;
    while (std::popcount(from) > count)
        from = static_cast<GpuSet>(from & ~std::bit_floor(static_cast<unsigned>(from)));
    return from;
}

int most(const Topology& topology, Link link, GpuSet free) {
    int count = std::popcount(free);
    while (count > 0 && pick(topology, link, free, count) == 0) --count;
    return count;
}

}  // namespace hostler
