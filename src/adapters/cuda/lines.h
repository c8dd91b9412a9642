// What the parent of a process that measures does with its lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/cuda/child.h"
#include "core/timers.h"
#include "domain/inventory/sample.h"

namespace hostler::cuda {

inline constexpr std::size_t gpus_max = 64;

// The word up to the next space; `text` keeps what follows that.
std::string_view cut(std::string_view& text);
Metric number(std::string_view text);  // Whole and not negative, or nothing.
// At most 64 of them.
void add_sentence(std::vector<std::string>& to, std::string_view sentence);

struct Listening {
    Duration silence_max;  // Then the process hangs.
    std::size_t lines_max = 100'000;
};
// Gives each line to `take` until that returns false. Why it ended before, as a sentence; empty: it did not.
// Whatever it was, the process is of no more use. Errors: cancelled.
Task<std::string> listen(Timers& timers, Child& child, Listening how,
                         std::function<bool(std::string_view)> take);

}  // namespace hostler::cuda
