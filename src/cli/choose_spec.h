// Chooses a spec for a job that names what it needs and no spec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/types_spec.h"
#include "core/quantity.h"

namespace hostler::cli {

struct Shape {
    std::optional<std::int64_t> gpus{};  // Exactly as many; without: any number.
    std::string gpu_type{};              // Words of the model, in any order and case: "h100 80gb".
    std::optional<Quantity> cpu{};       // At least.
    std::optional<Quantity> memory{};    // Bytes, at least.
};

// The name of the smallest that has all that is asked: the fewest GPUs, then CPUs, then memory. Errors:
// invalid (none has; the message names the nearest).
Result<std::string> choose_spec(const std::vector<api::Spec>& specs, const Shape& asked);

}  // namespace hostler::cli
