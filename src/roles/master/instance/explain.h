// Why an instance is where it is, and what its owner can do about it.
#pragma once

#include <optional>

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Explanation;
}  // namespace hostler::api

namespace hostler::master {

api::Explanation explain_instance(const Desk& desk, const Instance& instance);

// The first of its GPUs that is not fit for work, in words, with the token that goes with it; nullopt: none,
// or it has none now.
struct UnfitGpu {
    std::string gpu;
    std::string token;     // "gpu_faulty"
    std::string sentence;  // "GPU GPU-6d1f is faulty: XID 79, …"
    std::string remedy;    // What an operator is to do; empty: unknown.
};
std::optional<UnfitGpu> unfit_gpu(const Desk& desk, const Instance& instance);

}  // namespace hostler::master
