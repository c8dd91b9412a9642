// Recorded GPUs: what a host of a common make says, with loads that move.
#pragma once

#include "adapters/sim/dice.h"
#include "adapters/sim/engine.h"
#include "ports/telemetry.h"

namespace hostler::sim {

struct GpuKind {
    std::string model = "H100 SXM5 80GB";
    std::string product = "NVIDIA H100 80GB HBM3";
    std::string pci_id = "10de:2330";
    std::int64_t memory_bytes = 85'520'809'984;
    std::int64_t power_limit_mw = 700'000;
    int core_count = 16'896;
    std::string architecture = "hopper";
    std::string compute_capability = "9.0";
};

// What is in a machine. Shared by all processes that ever look at it.
struct Gpus {
    Gpus(const std::string& machine, int count, GpuKind kind = {});
    GpuInventory inventory;
    std::vector<GpuCondition> conditions;  // One for each GPU; set to break it.
    std::vector<GpuFault> faults;          // Told once.
    std::vector<std::int64_t> energy_mj;   // Of each, as it was last sampled.
    int speed_percent = 100;               // Of what its model does; less: it is not what it says.
    bool has_memory = true;                // As much as it says.

    // Breaks one of them in one of the ways in which GPUs break.
    std::size_t break_one(std::uint64_t dice);
    // As its driver would see a reset: faults are past, the energy starts over.
    void reset(std::size_t gpu);
};

class SimTelemetry final : public Telemetry {
public:
    SimTelemetry(Gpus& gpus, Dice dice) : gpus_(gpus), dice_(dice) {}
    std::string_view name() const override { return "sim"; }
    Task<GpuInventory> discover() override;
    Task<std::vector<GpuSample>> sample() override;
    std::vector<GpuFault> take_faults() override { return std::exchange(gpus_.faults, {}); }

private:
    Gpus& gpus_;
    Dice dice_;
    std::vector<std::string> known_;
};

class SimHostTelemetry final : public HostTelemetry {
public:
    SimHostTelemetry(std::string machine, std::string boot_id, const SimEngine& engine)
        : machine_(std::move(machine)), boot_id_(std::move(boot_id)), engine_(engine) {}
    Task<HostFacts> facts() override;
    Task<HostSample> sample() override;
    Task<std::map<std::int64_t, std::string>> containers_of(std::vector<std::int64_t> pids) override;
    Task<std::map<std::string, ProcessUse>> processes_of(std::vector<std::string> containers) override;
    Task<std::map<std::string, InstanceSample>> samples_of(std::vector<std::string> containers) override;

private:
    std::string machine_;
    std::string boot_id_;
    const SimEngine& engine_;
};

}  // namespace hostler::sim
