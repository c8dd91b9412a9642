// Who fits where, and for each that does not, why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "domain/scheduler/wishes.h"

namespace hostler {

struct FreeGpu {
    std::string uuid;
    std::string model;
    std::int64_t memory_bytes = 0;
    int numa_node = -1;
    bool operator==(const FreeGpu&) const = default;
};

// A host as the scheduler sees it: what is free after all claims.
struct Candidate {
    std::string id;
    std::string name;  // For people.
    std::string zone;
    std::string unavailable;  // Why nothing new goes there: "is cordoned", "is unreachable". Empty: it may.
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t cpu_total_milli = 0;
    std::int64_t memory_total_bytes = 0;
    int gpus_total = 0;  // Healthy ones of any model.
    std::vector<FreeGpu> gpus;
    int places = 0;                 // Free addresses.
    std::int64_t volume_bytes = 0;  // That new volumes may have.
    std::string volumes_refused;    // Why it keeps none; empty: it does.
    bool operator==(const Candidate&) const = default;
};

struct Demand {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::string gpu_type;           // Empty: any.
    int gpu_count = 0;              // All of one model.
    std::string zone;               // Empty: any.
    std::string host;               // Empty: any; else its volumes lie there.
    std::int64_t volume_bytes = 0;  // Of its volumes that lie nowhere so far.
    Wishes wishes;
    std::string kind;    // Of its group, unique among all tenants'; empty: in none.
    std::string leaves;  // A host where it still counts for its group, and will not.
};

struct Refusal {
    std::string host;
    std::string name;
    std::string token;     // "cordoned", "gpus", …: for counting and for programs.
    std::string sentence;  // "has 1 of 4 H100 SXM5 80GB free"
    bool operator==(const Refusal&) const = default;
};

struct Placement {
    std::string host;
    std::string zone;
    std::vector<std::string> gpus;
};

// "h100 sxm5 80gb" matches "H100 SXM5 80GB"; "H100" matches any H100: each word asked for stands in the
// model.
bool model_matches(std::string_view wanted, std::string_view model);

// Why `demand` does not fit on `host`; nullopt: it does.
std::optional<Refusal> unfit(const Demand& demand, const Candidate& host);

// What no numbers say: zone, host, addresses and volumes. A host that takes nothing new is not to be asked
// about.
bool fits_beside(const Demand& demand, const Candidate& host);

// Which GPUs it gets where it fits: on one NUMA node where they can be, and of those nodes on the one with
// the fewest to spare.
std::vector<std::string> pick_gpus(const Demand& demand, const Candidate& host);

// So many of it have room there beside each other, if so many of the free GPUs are of its type.
int how_often(const Demand& demand, const Candidate& host, int gpus);

}  // namespace hostler
