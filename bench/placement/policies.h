// Who places: this engine, and the policies that it is compared with, as "Beware of Fragmentation" (Weng et
// al., USENIX ATC'23) and its simulator describe them. Their integer scores and the order of ties decide
// their results.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/placement/trace.h"
#include "domain/scheduler/fleet.h"

namespace hostler::bench {

class Policy {
public:
    virtual ~Policy() = default;
    // Where the task goes; nullopt: nowhere. It then holds what was chosen.
    virtual std::optional<Choice> place(const Task& task) = 0;
};

inline constexpr std::string_view policies[] = {"hostler", "fgd",        "bestfit", "dotprod",
                                                "packing", "clustering", "random"};

// One of `policies` on the trace's hosts, all free. `seed` is for those that draw. FGD is told the whole
// trace, as its authors do; the others are told nothing. nullptr: no such policy.
std::unique_ptr<Policy> make_policy(std::string_view name, const Trace& trace, std::uint32_t seed);

}  // namespace hostler::bench
