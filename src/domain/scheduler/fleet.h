// The hosts with what is free on them, and where the next task goes: an index that follows claims and
// releases.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/result.h"
#include "domain/scheduler/mask.h"
#include "domain/scheduler/mig.h"
#include "domain/scheduler/need.h"
#include "domain/scheduler/ranking.h"
#include "domain/scheduler/shape.h"
#include "domain/scheduler/topology.h"
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
    std::int64_t disk_bytes = 0;
    std::uint32_t owner = 0;   // Of a share.
    std::int16_t profile = 0;  // A slice of the one GPU, which begins at `slice`; gpu_milli is then 0.
    std::int16_t slice = 0;
    Kind kind = 0;
    bool operator==(const Choice&) const = default;
};

// The same calls give the same choices, whatever was indexed when: a choice depends on what is free, on the
// sketch of what arrived and on the order in which hosts were added, and on nothing else.
class Fleet {
public:
    static constexpr std::size_t shapes_max = 512;  // Ranked at once; the one unused for longest gives way.
    static constexpr std::size_t terms_max = 256;   // As for them: sets of hosts that they let pass.
    static constexpr int image_worth = 10;          // Points that may be lost for a host that has the image.
    static constexpr int looks_max = 256;           // At equals of one model.
    static constexpr int places_max = 512;          // Hosts, racks or zones that a gang is tried in.
    using Says = std::function<bool(HostNumber)>;

    explicit Fleet(Workload learned = {}) : workload_(std::move(learned)) {}
    // A number of its own; that of a removed host of the same model is used again.
    HostNumber add(const Machine& machine);
    // As that, of a host of which more is known. The machine is empty: what runs there is then claimed.
    HostNumber add(const Machine& machine, const Traits& traits,
                   const std::optional<Topology>& topology = std::nullopt);
    // GPUs of another model on the same host: its parts have one name, and what is taken of CPUs, memory and
    // disk on one of them all of them lack. A task is on one part. What is not said of GPUs holds for all
    // parts: to remove, close and reopen them, what they hold, who is near.
    HostNumber add_part(HostNumber of, const Machine& machine, const Traits& traits,
                        const std::optional<Topology>& topology = std::nullopt);
    HostNumber first_part(HostNumber host) const { return hosts_[host].first; }
    void remove(HostNumber host);
    const Machine& at(HostNumber host) const { return hosts_[host].machine; }
    const Machine& whole(HostNumber host) const { return wholes_[host]; }  // When nothing runs there.
    const Traits& traits(HostNumber host) const { return details(host).traits; }
    void describe(HostNumber host, const Traits& traits);
    void describe(HostNumber host, const Traits& traits, const std::optional<Topology>& topology);
    // It takes nothing new, and why: cordoned to addresses. What runs there may still be claimed.
    void close(HostNumber host, Obstacle why);
    void reopen(HostNumber host);
    // An image or a volume lies there, or no more.
    void hold(HostNumber host, const std::string& name);
    void let_go(HostNumber host, const std::string& name);
    // What is free there now, as the caller knows; the model stays, and so does whole(): what add() was
    // given.
    void set(HostNumber host, const Machine& machine);
    // It has something else when nothing runs there, as many GPUs or not.
    void resize(HostNumber host, const Machine& whole);
    // So many of the kind are there, none of which came by claim().
    void count(HostNumber host, Kind kind, int number);

    // Someone asks for this: remembered, so that what is left fits what is usually asked. Once for each task.
    void arrive(const Shape& shape) { workload_.arrive(shape); }
    // The best host for it; nullopt: it fits nowhere. Changes nothing that is claimed.
    std::optional<Choice> choose(const Shape& shape);
    void arrive(const Need& need);
    std::optional<Choice> choose(const Need& need);
    // One choice for each task, in their order; empty: they do not all fit. Of tasks of several shapes the
    // large are placed first, without going back: where room is tight it may miss a way to place them all.
    std::vector<Choice> choose(const Gang& gang);
    // Which of its tasks would fit, in the place where the most do.
    std::vector<std::size_t> fitting(const Gang& gang);
    // The best of those that `admits` lets pass. Of equals (the first looks_max of them) the fullest, of
    // those one that `prefers` (null: no matter), else the first.
    std::optional<HostNumber> best(const Shape& shape, const Says& admits, const Says& prefers);
    // The same of a need; images are for `prefers`.
    std::optional<HostNumber> best(const Need& need, const Says& admits, const Says& prefers);
    // Errors: conflict: no longer free, or no such host; then nothing changes.
    Result<> claim(const Choice& choice);
    // Nothing happens when the host was removed meanwhile: what was held there went with it.
    void release(const Choice& choice);

    // What a host is charged, in points, for taking this shape where others insist on its model.
    int penalty(const Shape& shape, int model) const { return charge(pressed(), shape, model); }
    const Workload& workload() const { return workload_; }
    std::size_t shapes() const { return ranked_.size(); }  // Ranked now.

    // For explaining and for looking at all of it; slow. Hosts that were removed are left out.
    std::vector<HostNumber> hosts() const;
    std::optional<Obstacle> closed(HostNumber host) const { return details(host).closed; }
    bool holds(HostNumber host, const std::string& name) const;
    // How many of the kind are on that host, in its rack, in its zone.
    int beside(Kind kind, Area level, HostNumber host) const;
    // GPUs of which this shape's may be: with as much free, with neighbours of the same owner.
    GpuSet free_for(const Shape& shape, HostNumber host) const;
    const Topology* topology(HostNumber host) const;
    // Nullptr: its GPUs are not cut.
    const MigFamily* mig(HostNumber host) const {
        return traits(host).offers(Isolation::mig) ? details(host).mig : nullptr;
    }
    const MigGpu& cut_of(HostNumber host, int gpu) const {
        return details(host).cuts[static_cast<std::size_t>(gpu)];
    }
    // The shape, narrowed to models that the terms let pass.
    Shape resolved(const Need& need);

private:
    struct Host {
        Machine machine;
        std::uint32_t place = 0;  // In its model's bank.
        HostNumber first = 0;     // Of its parts;
        HostNumber next = 0;      // and the next of them, in a ring.
        bool there = false;
        bool open = false;             // There, and takes new ones.
        bool linked = false;           // How its GPUs reach each other is known.
        std::uint32_t details = 0;     // Its number in details_; 0: nothing is known of it.
        std::uint32_t life = 0;        // Rises when the number is used again.
        std::uint32_t looked = 0;      // In which catching up it was met last.
        std::uint32_t generation = 0;  // Of the sketch that `waste` is by; 0: none.
        float waste = 0;
    };
    struct Details {
        Traits traits;
        std::optional<Topology> topology;
        const MigFamily* mig = nullptr;
        std::array<MigGpu, gpus_max> cuts{};
        std::array<std::uint32_t, gpus_max> owners{};  // Of the shares on each GPU.
        std::optional<Obstacle> closed;
    };
    struct Admitted {
        Mask mask;
        std::uint64_t used = 0;
    };
    struct Bank {
        std::vector<HostNumber> hosts;  // By place; ascending.
        std::set<HostNumber> vacant;
        std::int64_t free_milli = 0;  // On hosts that are open.
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
    const Details& details(HostNumber host) const { return details_[hosts_[host].details]; }
    Details& details_to_change(HostNumber host);
    bool take_slice(const Choice& choice, Machine& machine);
    void give_slice(const Choice& choice, Machine& machine);
    bool may_share(const Choice& choice) const;
    void count_kind(const Choice& choice, int more);
    std::set<HostNumber> parts(HostNumber host) const;
    void remove_part(HostNumber host);
    void put(HostNumber host, const Machine& machine);
    void changed(HostNumber host);
    void refresh_waste();
    float waste_of(Host& host);
    Ranked& ranked(const Shape& shape);
    Ranked& up_to_date(const Shape& shape);
    int points(const Shape& shape, HostNumber host);
    void rank_all(Ranked& ranked, const Shape& shape);
    void follow(Ranked& ranked, const Shape& shape);
    Choice choice(const Shape& shape, HostNumber host);

    struct Best {
        HostNumber host = 0;
        int worth = 0;
    };
    // `models`: of those who come, for the charge. Null: every host will do.
    std::optional<Best> search(const Shape& shape, std::uint64_t models, const Mask* mask);
    std::optional<HostNumber> best_in(const Shape& shape, std::uint64_t models, const Mask* mask,
                                      const Says& admits, const Says& prefers);
    int particular_points(const Shape& shape, HostNumber host);
    Machine visible(const Shape& shape, HostNumber host) const;
    struct SlicePlace {
        int gpu = -1;
        int start = -1;
        int taken = 0;  // Slices of memory on that GPU afterwards; 0: the GPU is not cut so far.
    };
    SlicePlace slice_place(const Shape& shape, HostNumber host) const;

    void admit(HostNumber host);
    const Mask& admitted(const Terms& terms);
    Mask meeting(const Terms& terms);
    const std::string& name_at(Area level, HostNumber host) const;
    Mask everywhere() const;
    Mask only(const std::set<HostNumber>& hosts) const;
    Mask reach(const std::set<HostNumber>& hosts, Area level);
    Mask holders(const std::string& name) const;
    // Nullopt: all hosts.
    std::optional<Mask> within(const Need& need);
    std::vector<Mask> in_turn(const Need& need, const Mask& from);
    std::optional<Best> search_in_turn(const Need& need, const Shape& shape, std::uint64_t models);
    std::optional<Best> by_image(const Need& need, const Shape& shape, std::uint64_t models,
                                 const Mask* mask);
    enum class OnMiss { stop, go_on };
    std::vector<std::optional<Choice>> attempt(const std::vector<Need>& tasks, OnMiss on_miss);
    struct Place {
        bool too_little = false;  // Free of what the gang asks for.
        int free_milli = 0;
        std::string name;
    };
    std::vector<Place> places_for(const Gang& gang, Area level) const;

    std::vector<Host> hosts_;
    std::vector<Machine> wholes_;      // By host.
    std::vector<Details> details_{1};  // The first: of a host of which nothing is known.
    std::vector<std::uint32_t> details_spare_;
    std::map<Terms, Admitted> admitted_;
    std::map<std::string, std::set<HostNumber>> holders_;
    std::map<std::string, std::set<HostNumber>> named_;  // Hosts by their names.
    std::map<Kind, std::map<HostNumber, int>> kinds_;
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
