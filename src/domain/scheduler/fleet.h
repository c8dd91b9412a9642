// The hosts with what is free on them, and where the next task goes: an index that follows claims and
// releases.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/result.h"
#include "domain/scheduler/ranking.h"
#include "domain/scheduler/shape.h"
#include "domain/scheduler/waste.h"
#include "domain/scheduler/workload.h"

namespace hostler {

using HostNumber = std::uint32_t;

// Where a task goes, and what it holds there: what claim() takes and release() gives back.
struct Choice {
    HostNumber host = 0;
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::vector<int> gpus;   // Their numbers on the host.
    int gpu_milli = 0;       // Of each.
    std::uint32_t life = 0;  // Of the host's number, which is used again: which of those that had it.
    bool operator==(const Choice&) const = default;
};

// The same calls give the same choices, whatever was indexed when: a choice depends on what is free, on the
// sketch of what arrived and on the order in which hosts were added, and on nothing else.
class Fleet {
public:
    static constexpr std::size_t shapes_max = 512;  // Ranked at once; the one unused for longest gives way.

    // A number of its own; that of a removed host of the same model is used again.
    HostNumber add(const Machine& machine);
    void remove(HostNumber host);
    const Machine& at(HostNumber host) const { return hosts_[host].machine; }

    // Someone asks for this: remembered, so that what is left fits what is usually asked. Once for each task.
    void arrive(const Shape& shape) { workload_.arrive(shape); }
    // The best host for it; nullopt: it fits nowhere. Changes nothing that is claimed.
    std::optional<Choice> choose(const Shape& shape);
    // Errors: conflict: no longer free, or no such host; then nothing changes.
    Result<> claim(const Choice& choice);
    // Nothing happens when the host was removed meanwhile: what was held there went with it.
    void release(const Choice& choice);

    // What a host is charged, in points, for taking this shape where others insist on its model.
    int penalty(const Shape& shape, int model) const { return charge(pressed(), shape, model); }
    const Workload& workload() const { return workload_; }
    std::size_t shapes() const { return ranked_.size(); }  // Ranked now.

private:
    struct Host {
        Machine machine;
        std::uint32_t place = 0;  // In its model's bank.
        bool there = false;
        std::uint32_t life = 0;        // Rises when the number is used again.
        std::uint32_t looked = 0;      // In which catching up it was met last.
        std::uint32_t generation = 0;  // Of the sketch that `waste` is by; 0: none.
        float waste = 0;
    };
    struct Bank {
        std::vector<HostNumber> hosts;  // By place; ascending.
        std::set<HostNumber> vacant;
        std::int64_t free_milli = 0;
    };
    struct Ranked {
        std::vector<Ranking> by_model;
        std::uint64_t seen = 0;        // Changes that it has followed.
        std::uint32_t generation = 0;  // Of the sketch.
        std::uint64_t used = 0;
    };

    // Models on which more insist than what is free of them bears, and by how much more.
    struct Pressed {
        std::uint64_t models = 0;
        double excess = 0;
    };
    std::vector<Pressed> pressed() const;
    static int charge(const std::vector<Pressed>& pressed, const Shape& shape, int model);

    bool stands(const Choice& choice) const {
        return choice.host < hosts_.size() && hosts_[choice.host].there &&
               hosts_[choice.host].life == choice.life;
    }
    void changed(HostNumber host);
    void refresh_waste();
    float waste_of(Host& host);
    Ranked& ranked(const Shape& shape);
    int points(const Shape& shape, HostNumber host);
    void rank_all(Ranked& ranked, const Shape& shape);
    void follow(Ranked& ranked, const Shape& shape);
    Choice choice(const Shape& shape, HostNumber host);

    std::vector<Host> hosts_;
    std::vector<Bank> banks_;  // By model.
    Workload workload_;
    std::optional<Waste> waste_;
    std::uint32_t waste_generation_ = 0;
    std::map<Shape, Ranked> ranked_;
    std::uint64_t uses_ = 0;
    std::uint32_t looks_ = 0;
    // Hosts in the order of their changes; the first of them is change number `forgotten_`.
    std::vector<HostNumber> changes_;
    std::uint64_t forgotten_ = 0;
};

}  // namespace hostler
