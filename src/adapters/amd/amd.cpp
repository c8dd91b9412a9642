#include "adapters/amd/amd.h"

#include <fmt/format.h>

#include "adapters/amd/files.h"
#include "domain/inventory/unresponsive.h"

namespace hostler {

Amd::Amd(Loop& loop, Timers& timers, AmdSettings settings)
    : loop_(loop),
      timers_(timers),
      settings_(std::move(settings)),
      lane_(loop, "amd"),
      process_lane_(loop, "amd-processes"),
      clients_(std::make_shared<DrmClients>(settings_.roots.proc)) {}

Task<GpuInventory> Amd::discover() {
    GpuInventory seen;
    seen.source = name();
    auto found = CO_TRY(co_await ask<amd::Cards>(
        timers_, settings_.timeout, lane_, [roots = settings_.roots] { return amd::find_cards(roots); }));
    const auto limit = static_cast<std::size_t>(settings_.gpus_max);
    if (found.cards.size() > limit) {
        seen.problems.push_back(
            fmt::format("{} GPUs are more than the limit of {}", found.cards.size(), limit));
        found.cards.resize(limit);
    }
    std::vector<Gpu> before = std::exchange(gpus_, {});
    for (auto& card : found.cards) {
        seen.gpus.push_back(card.facts);
        Gpu gpu{.folder = std::move(card.folder), .kfd_id = card.kfd_id, .facts = std::move(card.facts)};
        // A lane that is stuck stays with its GPU.
        for (auto& old : before) {
            if (old.facts.uuid == gpu.facts.uuid) gpu.lane = std::move(old.lane);
        }
        if (!gpu.lane) gpu.lane = std::make_unique<Lane>(loop_, fmt::format("amd-{}", gpu.facts.index));
        gpus_.push_back(std::move(gpu));
    }
    seen.topology = std::move(found.links);
    co_return seen;
}

Task<std::vector<GpuSample>> Amd::sample() {
    struct Seen {
        GpuSample sample;
        std::vector<DrmUse> uses;
    };
    std::vector<GpuSample> samples;
    if (gpus_.empty()) co_return samples;
    std::vector<Question<Seen>> questions;
    questions.reserve(gpus_.size() + 1);
    for (const auto& gpu : gpus_) {
        questions.push_back({gpu.lane.get(), [roots = settings_.roots, folder = gpu.folder, id = gpu.kfd_id] {
                                 return Result<Seen>{{amd::read_sample(roots, folder, id), {}}};
                             }});
    }
    questions.push_back({&process_lane_, [clients = clients_, now = timers_.now()] {
                             return Result<Seen>{{{}, clients->look(now)}};
                         }});
    auto answers = CO_TRY(co_await ask<Seen>(timers_, settings_.timeout, std::move(questions)));
    const auto uses = answers.back() ? std::move(answers.back()->uses) : std::vector<DrmUse>{};
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
        GpuSample sample = answers[i] ? std::move(answers[i]->sample) : unresponsive(answers[i].error());
        sample.uuid = gpus_[i].facts.uuid;
        if (sample.condition == GpuCondition::ok)
            amd::add_processes(sample, uses, gpus_[i].facts.pci_address);
        samples.push_back(std::move(sample));
    }
    co_return samples;
}

}  // namespace hostler
