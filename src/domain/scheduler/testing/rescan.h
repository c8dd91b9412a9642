// The slow and obvious way to choose: look at every host, each time. What the index must equal.
#pragma once

#include <optional>
#include <vector>

#include "domain/scheduler/fleet.h"

namespace hostler::testing {

// Hosts by their numbers; nullopt: removed. The penalty is the fleet's own: it is no part of the index.
class Rescan {
public:
    std::vector<std::optional<Machine>> hosts;

    std::optional<HostNumber> choose(const Shape& shape, const Fleet& fleet) {
        return best(shape, fleet, {}, [](HostNumber number) { return std::pair{0, number}; });
    }

    // Of those that `admits` lets pass (null: all), of equals the one of lowest rank.
    template <class Rank>
    std::optional<HostNumber> best(const Shape& shape, const Fleet& fleet, const Fleet::Says& admits,
                                   Rank rank) {
        if (generation_ != fleet.workload().generation()) {
            waste_.emplace(fleet.workload().sketch());
            generation_ = fleet.workload().generation();
        }
        std::optional<HostNumber> best;
        int most = 0;
        for (HostNumber number = 0; number < hosts.size(); ++number) {
            const auto& machine = hosts[number];
            if (!machine || !room(shape, *machine) || (admits && !admits(number))) continue;
            const int worth = waste_->score(shape, *machine, waste_->of(*machine)).points -
                              fleet.penalty(shape, machine->model);
            if (!best || worth > most || (worth == most && rank(number) < rank(*best)))
                best = number, most = worth;
        }
        return best;
    }

    // Whether the parts fit, one by one.
    static bool room(const Shape& shape, const Machine& machine) {
        if (shape.cpu_milli > machine.cpu_milli) return false;
        if (shape.memory_bytes > machine.memory_bytes) return false;
        if (shape.gpus > 0 && (shape.models & (std::uint64_t{1} << machine.model)) == 0) return false;
        int wanted = shape.gpus;
        for (std::size_t i = 0; i < static_cast<std::size_t>(machine.gpus); ++i)
            if (wanted > 0 && machine.free[i] >= shape.gpu_milli) --wanted;
        return wanted == 0;
    }

private:
    std::optional<Waste> waste_;
    std::uint32_t generation_ = 0;
};

}  // namespace hostler::testing
