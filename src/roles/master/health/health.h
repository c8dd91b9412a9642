// Broken GPUs: who is told, what goes there no more, and their way back.
#pragma once

#include "roles/master/command/commands.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct GpuExplanation;
}  // namespace hostler::api

namespace hostler::master {

// What has changed, as events: of the GPUs, and of the instances that hold those that are unfit from now on.
void tell_health(Desk& desk, const Host& before, const std::map<std::string, GpuState>& now);
// Faults that an application has caused or suffered, as events of the instances that hold the GPU.
void tell_faults(Desk& desk, const std::string& host, const std::vector<GpuFault>& faults);

// Why all of the host has to be rebooted, so that nothing new goes there; empty: it need not be.
std::string needs_reboot(const Host& host);

struct FoundGpu {
    const Host* host = nullptr;
    const GpuFacts* gpu = nullptr;
};
Result<FoundGpu> gpu_named(
    const Desk& desk,
    const std::string& uuid);  // Errors: not_found; conflict: two hosts have one of that name.

api::GpuExplanation explain_gpu(const Desk& desk, const Host& host, const GpuFacts& gpu);

// Asks its host to test it. What is healthy needs none. Errors: conflict (gpu_under_test).
Result<> return_gpu(Desk& desk, const Host& host, const GpuFacts& gpu);
void note_test(Desk& desk, const HostCommand& command, const CommandAnswer& answer);

}  // namespace hostler::master
