#include "adapters/intel/intel.h"

#include <fmt/format.h>

#include "adapters/intel/files.h"
#include "domain/inventory/unresponsive.h"

namespace hostler {

Intel::Intel(Loop& loop, Timers& timers, IntelSettings settings)
    : loop_(loop),
      timers_(timers),
      settings_(std::move(settings)),
      lane_(loop, "intel"),
      process_lane_(loop, "intel-processes"),
      clients_(std::make_shared<DrmClients>(settings_.roots.proc)) {}

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
    struct Seen {
        GpuSample sample;
        std::vector<DrmUse> uses;
    };
    std::vector<GpuSample> samples;
    if (gpus_.empty()) co_return samples;
    std::vector<Question<Seen>> questions;
    questions.reserve(gpus_.size() + 1);
    for (const auto& gpu : gpus_) {
        questions.push_back({gpu.lane.get(), [folder = gpu.folder] {
                                 return Result<Seen>{{intel::read_sample(folder), {}}};
                             }});
    }
    questions.push_back({&process_lane_, [clients = clients_, now = timers_.now()] {
                             return Result<Seen>{{{}, clients->look(now)}};
                         }});
    auto answers = CO_TRY(co_await ask<Seen>(timers_, settings_.timeout, std::move(questions)));
    const auto uses = answers.back() ? std::move(answers.back()->uses) : std::vector<DrmUse>{};
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
        Gpu& gpu = gpus_[i];
        GpuSample sample = answers[i] ? std::move(answers[i]->sample) : unresponsive(answers[i].error());
        sample.uuid = gpu.facts.uuid;
        if (sample.condition == GpuCondition::ok) intel::add_processes(sample, uses, gpu.facts.pci_address);
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
