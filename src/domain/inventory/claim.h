// A claim: what is held on a host, by whom, for what. The only way to occupy a GPU.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/object.h"

namespace hostler {

enum class ClaimUse {
    stock,  // A slot made ready in advance.
    instance,
    reserved,  // For an instance that is to be begun here once it has stopped elsewhere.
    leaving,   // Its owner has ended; the host has not confirmed that nothing runs.
    foreign,   // Observed on the host, not understood. Never killed.
    node,      // The host as a whole, of a node of a cluster.
};
BOOST_DESCRIBE_ENUM(ClaimUse, stock, instance, reserved, leaving, foreign, node)

// What a person has decided about a foreign one.
enum class ForeignWish { open, keep, remove };
BOOST_DESCRIBE_ENUM(ForeignWish, open, keep, remove)

struct Claim {
    std::string id;  // "c-…"
    std::string host;
    std::string zone;
    ClaimUse use = ClaimUse::stock;
    std::string tenant;  // Empty: nobody's (stock).
    std::string project = "default";
    std::string holder;  // The slot, instance or node of a cluster.
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::vector<std::string> gpus;  // UUIDs, whole ones.
    std::string group;              // The tenant's, in which its instance is; empty: in none.
    int address_index = 0;          // 2..254: its place in whichever subnet of the host it comes to stand in.
    std::int64_t since = 0;         // It is its holder's; 0: an older release did not write it down.
    // Of foreign ones.
    std::string subnet;  // In which it stands.
    ForeignWish wish = ForeignWish::open;
    std::string why;                        // In the words of whoever wished so.
    std::string created_by{};               // Of its instance; empty: not known.
    std::vector<std::string> gpu_models{};  // Of `gpus`, when it was taken; empty: the host did not say.
    Meta meta;
    bool operator==(const Claim&) const = default;
};
BOOST_DESCRIBE_STRUCT(Claim, (),
                      (id, host, zone, use, tenant, holder, cpu_milli, memory_bytes, gpus, group,
                       address_index, subnet, wish, why, since, project, created_by, gpu_models))

}  // namespace hostler
