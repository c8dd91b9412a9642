#include "adapters/intel/intel.h"

#include <fmt/format.h>

#include "adapters/intel/files.h"
#include "domain/inventory/unresponsive.h"

namespace hostler {

Intel::Intel(Loop& loop, Timers& timers, IntelSettings settings)
    : loop_(loop), timers_(timers), settings_(std::move(settings)), lane_(loop, "intel") {}

Task<GpuInventory> Intel::discover() {
    GpuInventory seen;
    seen.source = name();
    auto cards = CO_TRY(co_await ask<std::vector<intel::Card>>(
        timers_, settings_.timeout, lane_, [roots = settings_.roots] { return intel::find_cards(roots); }));
    const auto limit = static_cast<std::size_t>(settings_.gpus_max);
    if (cards.size() > limit) {
        seen.problems.push_back(fmt::format("{} GPUs are more than the limit of {}", cards.size(), limit));
        cards.resize(limit);
    }
    std::vector<Gpu> before = std::exchange(gpus_, {});
    for (auto& card : cards) {
        seen.gpus.push_back(card.facts);
        Gpu gpu;
        // A lane that is stuck stays with its GPU.
        for (auto& old : before) {
            if (old.facts.uuid == card.facts.uuid) gpu = std::move(old);
        }
        gpu.folder = std::move(card.folder);
        gpu.facts = std::move(card.facts);
        if (!gpu.lane) gpu.lane = std::make_unique<Lane>(loop_, fmt::format("intel-{}", gpu.facts.index));
        gpus_.push_back(std::move(gpu));
    }
    co_return seen;
}

Task<std::vector<GpuSample>> Intel::sample() {
    std::vector<Question<GpuSample>> questions;
    questions.reserve(gpus_.size());
    for (const auto& gpu : gpus_) {
        questions.push_back({gpu.lane.get(), [folder = gpu.folder] {
                                 return Result<GpuSample>{intel::read_sample(folder)};
                             }});
    }
    auto answers = CO_TRY(co_await ask<GpuSample>(timers_, settings_.timeout, std::move(questions)));
    std::vector<GpuSample> samples;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        Gpu& gpu = gpus_[i];
        GpuSample sample = answers[i] ? std::move(*answers[i]) : unresponsive(answers[i].error());
        sample.uuid = gpu.facts.uuid;
        const Instant now = timers_.now();
        const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now - gpu.sampled).count();
        // A counter that went back began anew: the driver was loaded again.
        if (sample.energy_mj && gpu.energy_mj && *sample.energy_mj >= *gpu.energy_mj && passed > 0) {
            sample.power_mw = (*sample.energy_mj - *gpu.energy_mj) * 1'000'000 / passed;
        }
        gpu.energy_mj = sample.energy_mj;
        gpu.sampled = now;
        samples.push_back(std::move(sample));
    }
    co_return samples;
}

}  // namespace hostler
