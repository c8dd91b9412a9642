#include "domain/scheduler/consolidate.h"

#include <algorithm>
#include <tuple>

namespace hostler {

namespace {

// Places all of these workloads elsewhere, the large first; else leaves them as they were.
std::vector<Move> move_off(Fleet& fleet, const std::vector<Movable>& workloads,
                           std::vector<std::size_t> on_host) {
    std::ranges::sort(on_host, {}, [&](std::size_t i) {
        const Shape& shape = workloads[i].need.shape;
        return std::tuple(-shape.gpus * shape.gpu_milli, -shape.cpu_milli, -shape.memory_bytes, i);
    });
    for (const std::size_t i : on_host) fleet.release(workloads[i].held);
    std::vector<Move> moves;
    for (const std::size_t i : on_host) {
        auto choice = fleet.choose(workloads[i].need);
        if (!choice) break;
        HOSTLER_ASSERT(fleet.claim(*choice));
        moves.push_back({i, std::move(*choice)});
    }
    if (moves.size() == on_host.size()) return moves;
    for (const Move& move : moves) fleet.release(move.to);
    for (const std::size_t i : on_host) HOSTLER_ASSERT(fleet.claim(workloads[i].held));
    return {};
}

}  // namespace

Consolidation consolidate(Fleet fleet, const std::vector<Movable>& workloads, std::size_t moves_max) {
    std::map<HostNumber, std::vector<std::size_t>> by_host;
    for (std::size_t i = 0; i < workloads.size(); ++i) by_host[workloads[i].held.host].push_back(i);
    std::vector<std::tuple<std::size_t, int, HostNumber>> order;
    for (const HostNumber host : fleet.hosts()) {
        const auto movable = by_host.find(host);
        if (movable == by_host.end()) {
            if (fleet.at(host) == fleet.whole(host) && !fleet.closed(host))
                fleet.close(host, Obstacle::cordoned);
            continue;
        }
        for (const std::size_t i : movable->second) fleet.release(workloads[i].held);
        const bool all = fleet.at(host) == fleet.whole(host);
        for (const std::size_t i : movable->second) HOSTLER_ASSERT(fleet.claim(workloads[i].held));
        if (all) order.emplace_back(movable->second.size(), -fleet.whole(host).gpus, host);
    }
    std::ranges::sort(order);
    Consolidation plan;
    std::set<HostNumber> receiving;
    for (const auto& [count, gpus, host] : order) {
        if (receiving.contains(host) || plan.moves.size() + count > moves_max) continue;
        const auto closed = fleet.closed(host);
        if (!closed) fleet.close(host, Obstacle::cordoned);
        const auto moves = move_off(fleet, workloads, by_host[host]);
        if (moves.empty()) {
            if (!closed) fleet.reopen(host);
            continue;
        }
        for (const Move& move : moves) receiving.insert(move.to.host);
        plan.moves.insert(plan.moves.end(), moves.begin(), moves.end());
        plan.freed.push_back(host);
        plan.gpus -= gpus;
    }
    return plan;
}

}  // namespace hostler
