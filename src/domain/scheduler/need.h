// What a task needs besides its size: which hosts will do, near what, next to whom. And what hosts are like.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/scheduler/shape.h"
#include "domain/scheduler/wishes.h"

namespace hostler {

// What a host is like: changes seldom, and never by claims.
struct Traits {
    std::string name;  // Unique in the fleet.
    std::string zone;
    std::string rack;  // Unique in the fleet. Empty: in none that is known.
    std::optional<Spot> spot;
    std::string gpu_class;
    std::string model;  // As in the catalogue: "H100 SXM5 80GB".
    GpuVendor vendor = GpuVendor::other;
    std::int64_t gpu_memory_bytes = 0;  // Of each GPU.
    GpuTier tier = GpuTier::unrated;
    std::uint8_t isolations = 1U << static_cast<int>(Isolation::soft);  // Bit i: Isolation i can be had.
    Trust trust = Trust::trusted;
    std::optional<std::int64_t> price_micros{};  // Of a GPU for an hour; nullopt: none is set.
    std::map<std::string, std::string> labels;
    bool programs = false;  // It runs programs without containers.
    bool operator==(const Traits&) const = default;

    bool offers(Isolation isolation) const { return isolations >> static_cast<int>(isolation) & 1; }
};

// Why a host will not do, or not now, in the order in which one is told.
enum class Obstacle : std::uint8_t {
    // What the host is like.
    host,
    zone,
    rack,
    distance,
    vendor,
    model,
    gpu_class,
    gpu_memory,
    tier,
    isolation,
    programs,
    trust,
    price,
    label,
    mig_profile,  // Its GPUs have no such slices.
    volume,       // It does not hold the volume.
    // How it stands.
    cordoned,
    draining,
    cluster,  // It is a node of a cluster.
    unreachable,
    faulty,
    refused,  // It failed its admission test, or did not take it yet.
    addresses,
    lease,  // It does not keep leases, or has not said that an earlier run is gone.
    apart,  // Another of its kind is there.
    // What is free on it.
    gpus,
    share,
    slice,
    link,
    cpu,
    memory,
    disk,
    stock,  // Idle stock that is not given up holds it.
    // Of a gang.
    together,
    tasks,
};
std::string_view token_of(Obstacle obstacle);
// Of what the host is like: nothing that ends or starts there changes it.
constexpr bool lasting(Obstacle obstacle) { return obstacle <= Obstacle::volume; }

// All terms that a host does not meet, in order; empty: it will do.
std::vector<Obstacle> unmet(const Terms& terms, const Traits& traits);
bool admits(const Terms& terms, const Traits& traits);

// Workloads that are to lie together or apart: a number of the caller's for each spec of stock, service, …
using Kind = std::uint32_t;

struct Need {
    Shape shape;
    std::string models;  // How people call what shape.models are; empty: any.
    Terms terms;
    std::vector<std::string> volumes;  // That lie on the host it goes to.
    std::vector<std::string> images;   // Better where they lie, unless much is lost by it.
    Link link_wanted = Link::any;      // As shape.link, if there is room like that anywhere.
    Kind kind = 0;                     // 0: none; the rest then means nothing.
    Area apart = Area::none;           // No other of its kind on that host, rack, zone.
    Area spread = Area::none;          // Where there are fewest of its kind…
    Area pack = Area::none;            // …or most; one of the two.
};

// Tasks that are placed all or none.
struct Gang {
    std::vector<Need> tasks;
    Area together = Area::none;         // On one host, in one rack, in one zone.
    Area wanted_together = Area::none;  // As together, if there is room like that; else wherever there is.
};

// Where all its tasks are to lie, best first.
std::vector<Area> levels_of(const Gang& gang);
// The gang's tasks as they would be there; nullopt: one of them is wanted elsewhere.
std::optional<std::vector<Need>> tasks_within(const Gang& gang, Area level, const std::string& name);
// Leaves `to` of the names; false: it is not one of them. No names are any.
bool narrow(std::vector<std::string>& names, const std::string& to);
// The order in which tasks are placed: by GPUs, then by CPUs and memory.
std::vector<std::size_t> largest_first(const std::vector<Need>& tasks);

}  // namespace hostler
