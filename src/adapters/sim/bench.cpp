#include "adapters/sim/bench.h"

#include "domain/inventory/speeds.h"

namespace hostler::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What measurements usually show of the figures of a data sheet.
constexpr double memory_usual = 0.88, fp32_usual = 0.95, tensor_usual = 0.65, link_usual = 0.87;
constexpr double pcie5_gb_s = 3.94 * 16;

Metric thousands(double value, int percent) { return static_cast<std::int64_t>(value * 10 * percent); }

}  // namespace

std::string SimGpuBench::unable(const HostFacts& facts) const {
    return facts.gpus.empty() ? "It has no GPUs." : "";
}

Task<GpuBench::Figures> SimGpuBench::measure(std::string only) {
    Figures figures;
    for (std::size_t i = 0; i < gpus_.inventory.gpus.size(); ++i) {
        if (!only.empty() && gpus_.inventory.gpus[i].uuid != only) continue;
        CO_TRY(co_await sleep(timers_, seconds{1}));
        const GpuFacts& gpu = gpus_.inventory.gpus[i];
        if (gpus_.conditions[i] != GpuCondition::ok) {
            figures.problems.push_back(gpu.uuid + " does not answer");
            continue;
        }
        GpuFigures& one = figures.gpus.emplace_back(GpuFigures{.uuid = gpu.uuid, .product = gpu.product});
        const GpuSpeeds* sheet = find_gpu_speeds(gpu.model);
        if (!sheet) continue;
        one.memory_checked_bytes = gpu.memory_bytes / 10 * 9;
        one.memory_copy_mb_s = thousands(sheet->memory_gb_s * memory_usual, gpus_.speed_percent);
        one.fp32_gflops = thousands(sheet->fp32_tflops * fp32_usual, gpus_.speed_percent);
        one.tensor_gflops = thousands(sheet->bf16_tflops * tensor_usual, gpus_.speed_percent);
        one.host_to_gpu_mb_s = one.gpu_to_host_mb_s = thousands(pcie5_gb_s * link_usual, 100);
    }
    figures.complete = true;
    co_return figures;
}

Task<GpuBench::Proofs> SimGpuBench::prove(GpuChallenge challenge, PathSeed path_seed) {
    CO_TRY(co_await sleep(timers_, seconds{3}));
    challenge.path_seed = CO_TRY(co_await path_seed());
    CO_TRY(co_await sleep(timers_, milliseconds{130}));
    Proofs proofs;
    for (std::size_t i = 0; i < gpus_.inventory.gpus.size(); ++i) {
        if (gpus_.conditions[i] != GpuCondition::ok) continue;
        const GpuFacts& gpu = gpus_.inventory.gpus[i];
        GpuProof& proof = proofs.gpus.emplace_back(GpuProof{.uuid = gpu.uuid});
        proof.words = static_cast<std::uint64_t>(gpu.memory_bytes) / 10 * 9 / 16 * 4;
        GpuChallenge own = own_challenge(challenge, gpu.uuid);
        own.words = proof.words;
        for (std::uint32_t walker = 0; walker < own.walkers; ++walker)
            proof.answers.push_back(challenge_answer(own, walker) + (gpus_.has_memory ? 0 : 1));
    }
    proofs.complete = true;
    co_return proofs;
}

Task<DiskFigures> SimDiskBench::measure() {
    CO_TRY(co_await sleep(timers_, seconds{1}));
    co_return DiskFigures{.write_mb_s = 2100, .read_mb_s = 3400};
}

}  // namespace hostler::sim
