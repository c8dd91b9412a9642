// The slow and obvious way to place what needs more than size: every rule on its own, every host, from the
// list of what runs. What the fleet must equal.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "domain/scheduler/fleet.h"

namespace hostler::testing {

// GPUs of one model on a host; those of others are rows of their own, with the same name.
struct PlainHost {
    Machine whole;
    Traits traits;
    std::optional<Topology> topology;
    std::optional<Obstacle> closed;
    std::set<std::string> held;
    std::vector<Choice> running;
    std::vector<Choice> beside{};  // What runs on the other GPUs of the host.
};

class Plain {
public:
    std::vector<std::optional<PlainHost>> hosts;  // By number; nullopt: removed.

    std::vector<HostNumber> parts(HostNumber of) const {
        std::vector<HostNumber> found;
        for (HostNumber number = 0; number < hosts.size(); ++number)
            if (hosts[number] && hosts[number]->traits.name == hosts[of]->traits.name)
                found.push_back(number);
        return found;
    }
    void run(const Choice& choice) {
        for (const HostNumber part : parts(choice.host))
            (part == choice.host ? hosts[part]->running : hosts[part]->beside).push_back(choice);
    }
    void end(const Choice& choice) {
        for (const HostNumber part : parts(choice.host)) {
            auto& list = part == choice.host ? hosts[part]->running : hosts[part]->beside;
            list.erase(std::ranges::find(list, choice));
        }
    }

    // The fleet is asked only for what it learned: the sketch and the charge for scarce models.
    std::optional<HostNumber> choose(const Need& need, const Fleet& fleet) {
        Shape shape = need.shape;
        if (need.link_wanted != Link::any && shape.link == Link::any && shape.gpus > 1) {
            shape.link = need.link_wanted;
            if (const auto found = choose_in_turn(need, shape, fleet)) return found;
            shape.link = Link::any;
        }
        return choose_in_turn(need, shape, fleet);
    }

    bool fits(const Need& need, const Shape& shape, HostNumber number) const {
        const PlainHost& host = *hosts[number];
        return !host.closed && allowed(need.terms, host.traits) && holds_all(need.volumes, host) &&
               (need.kind == 0 || need.apart == Area::none || near(need.kind, need.apart, number) == 0) &&
               room(shape, host);
    }
    bool fits_when_empty(const Need& need, HostNumber number) const {
        PlainHost host = *hosts[number];
        host.running.clear(), host.beside.clear();
        return allowed(need.terms, host.traits) && holds_all(need.volumes, host) && room(need.shape, host);
    }

    static Machine free(const PlainHost& host) {
        Machine left = host.whole;
        for (const Choice& one : host.beside) take_shared(left, one);
        for (const Choice& one : host.running) {
            take_shared(left, one);
            for (const int gpu : one.gpus) {
                auto& milli = left.free[static_cast<std::size_t>(gpu)];
                milli = static_cast<std::int16_t>(one.profile != 0 ? 0 : milli - one.gpu_milli);
            }
        }
        return left;
    }

    // No thousandth, slice or unit is held twice, and no GPU by two owners.
    static bool sound(const PlainHost& host) {
        const Machine left = free(host);
        if (left.cpu_milli < 0 || left.memory_bytes < 0 || left.disk_bytes < 0) return false;
        for (int gpu = 0; gpu < host.whole.gpus; ++gpu) {
            if (left.free[static_cast<std::size_t>(gpu)] < 0) return false;
            std::set<int> taken;
            std::set<std::uint32_t> owners;
            int others = 0, slices = 0, flow = 0;
            for (const Choice& one : host.running) {
                if (std::ranges::find(one.gpus, gpu) == one.gpus.end()) continue;
                owners.insert(one.owner);
                if (one.profile == 0) {
                    ++others;
                    continue;
                }
                const MigProfile& profile = *find_profile(*mig_family(host.traits.model), one.profile);
                ++slices;
                flow += profile.flow;
                if (!(profile.starts >> one.slice & 1)) return false;
                for (int i = 0; i < profile.size; ++i)
                    if (!taken.insert(one.slice + i).second) return false;
            }
            if ((slices > 0 && others > 0) || flow > 1 || owners.size() > 1) return false;
        }
        return true;
    }

private:
    static void take_shared(Machine& left, const Choice& one) {
        left.cpu_milli -= one.cpu_milli;
        left.memory_bytes -= one.memory_bytes;
        left.disk_bytes -= one.disk_bytes;
    }
    static bool listed(const std::vector<std::string>& names, const std::string& name) {
        return names.empty() || std::ranges::count(names, name) > 0;
    }
    static bool allowed(const Terms& terms, const Traits& host) {
        if (!listed(terms.hosts, host.name) || !listed(terms.zones, host.zone)) return false;
        if (!listed(terms.racks, host.rack)) return false;
        if (terms.near && !(host.spot && distance_km(terms.near->spot, *host.spot) <= terms.near->km))
            return false;
        if (!terms.gpu_class.empty() && terms.gpu_class != host.gpu_class) return false;
        if (!terms.model.empty() && !host.model.starts_with(terms.model)) return false;
        if (terms.vendor && *terms.vendor != host.vendor) return false;
        if (host.gpu_memory_bytes < terms.gpu_memory_bytes) return false;
        if (static_cast<int>(host.tier) > static_cast<int>(terms.tier)) return false;
        if (terms.isolation && !(host.isolations & 1 << static_cast<int>(*terms.isolation))) return false;
        if (terms.programs && !host.programs) return false;
        if (terms.trust == Trust::trusted && host.trust == Trust::community) return false;
        if (terms.price_micros && (!host.price_micros || *host.price_micros > *terms.price_micros))
            return false;
        for (const auto& [key, value] : terms.labels)
            if (!host.labels.contains(key) || host.labels.at(key) != value) return false;
        return true;
    }
    static bool holds_all(const std::vector<std::string>& names, const PlainHost& host) {
        return std::ranges::all_of(names, [&](const auto& name) { return host.held.contains(name); });
    }

    bool neighbours(Area level, HostNumber a, HostNumber b) const {
        const Traits &one = hosts[a]->traits, &other = hosts[b]->traits;
        if (one.name == other.name) return true;
        if (level == Area::rack) return !one.rack.empty() && one.rack == other.rack;
        return level == Area::zone && !one.zone.empty() && one.zone == other.zone;
    }
    int near(Kind kind, Area level, HostNumber number) const {
        int count = 0;
        for (HostNumber other = 0; other < hosts.size(); ++other)
            if (hosts[other] && neighbours(level, number, other))
                for (const Choice& one : hosts[other]->running) count += one.kind == kind;
        return count;
    }

    // What a share of this owner sees: elsewhere nothing is free.
    static Machine seen_by(const Shape& shape, const PlainHost& host) {
        Machine left = free(host);
        if (shape.owner == 0 || shape.gpus != 1 || shape.gpu_milli == gpu_whole) return left;
        for (int gpu = 0; gpu < host.whole.gpus; ++gpu) {
            auto& milli = left.free[static_cast<std::size_t>(gpu)];
            for (const Choice& one : host.running)
                if (std::ranges::count(one.gpus, gpu) > 0 && one.owner != shape.owner) milli = 0;
            if (milli < shape.gpu_milli) milli = 0;
        }
        return left;
    }

    // Slices of memory that are taken on a GPU with this one more; 0: the GPU is whole; -1: no place.
    static int slice_fills(const Shape& shape, const PlainHost& host, int gpu) {
        const MigFamily* family = (host.traits.isolations & 1 << static_cast<int>(Isolation::mig))
                                      ? mig_family(host.traits.model)
                                      : nullptr;
        const MigProfile* profile = family ? find_profile(*family, shape.profile) : nullptr;
        if (!profile) return -1;
        std::set<int> taken;
        int decoders = profile->decoders, flow = profile->flow;
        bool any = false;
        for (const Choice& one : host.running) {
            if (std::ranges::count(one.gpus, gpu) == 0) continue;
            if (one.profile == 0) return -1;
            const MigProfile& there = *find_profile(*family, one.profile);
            for (int i = 0; i < there.size; ++i) taken.insert(one.slice + i);
            decoders += there.decoders, flow += there.flow, any = true;
        }
        if (flow > 1 || (family->decoders > 0 && decoders > family->decoders)) return -1;
        for (int start = 0; start < family->slices; ++start) {
            bool clear = profile->starts >> start & 1;
            for (int i = 0; i < profile->size; ++i) clear = clear && !taken.contains(start + i);
            if (clear) return any ? static_cast<int>(taken.size()) + profile->size : 0;
        }
        return -1;
    }

    static bool linked(const Shape& shape, const PlainHost& host) {
        if (shape.link == Link::any || shape.gpus < 2) return true;
        if (!host.topology) return false;
        const auto& groups = shape.link == Link::nvlink ? host.topology->nvlink
                             : shape.link == Link::pcie ? host.topology->pcie
                                                        : host.topology->numa;
        const Machine left = free(host);
        for (std::size_t a = 0; a < static_cast<std::size_t>(host.whole.gpus); ++a) {
            int count = 0;
            for (std::size_t b = 0; b < static_cast<std::size_t>(host.whole.gpus); ++b)
                count += groups[a] == groups[b] && left.free[b] == gpu_whole;
            if (count >= shape.gpus) return true;
        }
        return false;
    }

    static bool room(const Shape& shape, const PlainHost& host) {
        const Machine left = seen_by(shape, host);
        if (left.cpu_milli < shape.cpu_milli || left.memory_bytes < shape.memory_bytes) return false;
        if (left.disk_bytes < shape.disk_bytes) return false;
        if (shape.gpus == 0) return true;
        if (!(shape.models >> left.model & 1)) return false;
        int found = 0;
        for (int gpu = 0; gpu < left.gpus; ++gpu)
            found += shape.profile != 0 ? slice_fills(shape, host, gpu) >= 0
                                        : left.free[static_cast<std::size_t>(gpu)] >= shape.gpu_milli;
        return found >= shape.gpus && linked(shape, host);
    }

    int worth(const Need& need, const Shape& shape, const PlainHost& host, const Fleet& fleet) {
        Waste waste{fleet.workload().sketch()};
        Shape coming = shape;
        for (int model = 0; model < gpu_models_max; ++model)
            if (!need.terms.any() && std::ranges::none_of(hosts, [&](const auto& other) {
                    return other && other->whole.model == model && allowed(need.terms, other->traits);
                }))
                coming.models &= ~(std::uint64_t{1} << model);
        const int charge = fleet.penalty(coming, host.whole.model);
        int fullest = 0;
        for (int gpu = 0; gpu < host.whole.gpus && shape.profile != 0; ++gpu)
            fullest = std::max(fullest, slice_fills(shape, host, gpu));
        if (fullest > 0) return 101 + 24 * fullest / mig_family(host.traits.model)->slices - charge;
        Shape whole = shape;
        whole.profile = 0;
        const Machine left = seen_by(shape, host);
        return waste.score(whole, left, waste.of(left)).points - charge;
    }

    std::optional<HostNumber> choose_in_turn(const Need& need, const Shape& shape, const Fleet& fleet) {
        std::vector<HostNumber> fitting;
        for (HostNumber number = 0; number < hosts.size(); ++number)
            if (hosts[number] && fits(need, shape, number)) fitting.push_back(number);
        if (fitting.empty()) return std::nullopt;
        const Area level = need.spread != Area::none ? need.spread : need.pack;
        if (need.kind != 0 && level != Area::none) {
            const int sign = need.spread != Area::none ? 1 : -1;
            int least = sign * near(need.kind, level, fitting.front());
            for (const HostNumber number : fitting)
                least = std::min(least, sign * near(need.kind, level, number));
            std::erase_if(fitting,
                          [&](HostNumber number) { return sign * near(need.kind, level, number) != least; });
        }
        std::optional<std::pair<int, HostNumber>> best, having;  // Less is better: worth negated.
        for (const HostNumber number : fitting) {
            const std::pair rank{-worth(need, shape, *hosts[number], fleet), number};
            if (!best || rank < *best) best = rank;
            const bool has = std::ranges::any_of(
                need.images, [&](const auto& image) { return hosts[number]->held.contains(image); });
            if (has && (!having || rank < *having)) having = rank;
        }
        if (having && having->first <= best->first + Fleet::image_worth) return having->second;
        return best->second;
    }
};

}  // namespace hostler::testing
