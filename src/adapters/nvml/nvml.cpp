#include "adapters/nvml/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "adapters/nvml/events.h"
#include "adapters/nvml/gpm.h"
#include "adapters/nvml/read.h"
#include "core/lane.h"
#include "core/log.h"
#include "domain/inventory/unresponsive.h"

namespace hostler {

using namespace nvml;

namespace {

// What the lane keeps of a GPU between two samples: metrics that are slow to read, and the last moment of
// those that are rates.
struct Slow {
    GpuSample sample;
    std::optional<Instant> read_at;
    std::unique_ptr<Gpm> gpm;
    std::map<std::string, Gpm> slices;  // By UUID.
    std::atomic<bool> stale = false;    // Something happened to the GPU: to be read at the next sample.
};

struct System {
    std::string driver_version;
    std::string cuda_version;
    unsigned count = 0;
};

Result<System> read_system(const Session& session) {
    System system;
    char text[version_size + 1] = {};
    const auto& call = session.call;
    if (call.driver_version && call.driver_version(text, version_size) == success)
        system.driver_version = text;
    int cuda = 0;
    if (call.cuda_version && call.cuda_version(&cuda) == success) {
        system.cuda_version = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
    }
    if (!call.count) return fail(Code::unavailable, "this NVML cannot count GPUs");
    if (const Status status = call.count(&system.count); status != success) {
        return fail(Code::unavailable, "NVML cannot count the GPUs: " + session.library->words(status));
    }
    return system;
}

void read_slices(Reader& gpu, const std::shared_ptr<const Session>& opened, const Found& found, Slow& slow,
                 GpuSample& sample) {
    std::erase_if(slow.slices, [&](const auto& row) {
        return std::ranges::find(found.facts.slices, row.first, &GpuSlice::uuid) == found.facts.slices.end();
    });
    for (std::size_t i = 0; i < found.slices.size(); ++i) {
        const GpuSlice& facts = found.facts.slices[i];
        SliceSample& slice = sample.slices.emplace_back();
        slice.uuid = facts.uuid;
        Reader reader{*opened, found.slices[i]};
        read_memory(reader, slice);
        slow.slices.try_emplace(facts.uuid, opened, static_cast<unsigned>(facts.gpu_instance))
            .first->second.read(gpu, slice);
    }
}

GpuSample read_sample(const std::shared_ptr<const Session>& opened, const Found& found, Slow& slow,
                      Instant now, Duration slow_interval) {
    const Session& session = *opened;
    GpuSample sample = found.constants;
    Reader reader{session, found.device};
    if (!reader.number(reader.call.index) &&
        (reader.last() == invalid_argument || reader.last() == gpu_not_found || reader.last() == not_found)) {
        sample = {};
        sample.condition = GpuCondition::gone;
        sample.reason = "the driver does not know it: " + session.library->words(reader.last());
        slow.stale = true;
        return sample;
    }
    if (slow.stale.exchange(false) || !slow.read_at || now - *slow.read_at >= slow_interval) {
        slow.sample = found.constants;
        read_slow(reader, slow.sample);
        slow.read_at = now;
    }
    sample = slow.sample;
    read_fast(reader, sample);
    if (!slow.gpm) slow.gpm = std::make_unique<Gpm>(opened);
    slow.gpm->read(reader, sample);
    read_slices(reader, opened, found, slow, sample);
    if (reader.lost()) {
        sample = {};
        sample.condition = GpuCondition::lost;
        sample.reason = "it has fallen off the bus: " + session.library->words(gpu_is_lost);
        slow.stale = true;
    }
    return sample;
}

}  // namespace

struct Nvml::Gpu {
    Gpu(Loop& loop, unsigned number) : lane(loop, fmt::format("nvml-{}", number)) {}
    Lane lane;
    std::optional<Found> found;  // As of the last time it answered; nullopt: it never did.
    bool answered = false;       // At the last discovery.
    std::shared_ptr<Slow> slow = std::make_shared<Slow>();
    GpuCondition condition = GpuCondition::ok;
};

struct Nvml::State {
    State(Loop& on, Timers& clock, NvmlSettings with)
        : loop(on), timers(clock), settings(std::move(with)), system(on, "nvml"), events(on, faults) {}
    Loop& loop;
    Timers& timers;
    NvmlSettings settings;
    std::shared_ptr<Faults> faults = std::make_shared<Faults>();
    std::shared_ptr<const Session> session;
    Lane system;
    Events events;
    std::vector<std::unique_ptr<Gpu>> gpus;  // By NVML's index.
};

Nvml::Nvml(Loop& loop, Timers& timers, NvmlSettings settings)
    : state_(std::make_unique<State>(loop, timers, std::move(settings))) {}

// The last reference to the session shuts NVML down, which may hang: that is done on a lane too.
Nvml::~Nvml() {
    state_->events.stop();
    state_->gpus.clear();
    if (state_->session) {
        auto last = std::make_shared<std::shared_ptr<const Session>>(std::move(state_->session));
        state_->system.start([last] { last->reset(); }, [] {});
    }
}

bool Nvml::simulated() const { return state_->session && state_->session->library->simulated; }

std::string Nvml::library() const { return state_->session ? state_->session->library->path : std::string{}; }

// Whether a fault is from before a reset is seen by the energy: that is looked at next.
std::vector<GpuFault> Nvml::take_faults() {
    auto faults = state_->faults->take();
    for (const auto& fault : faults)
        for (const auto& gpu : state_->gpus)
            if (gpu->found && gpu->found->facts.uuid == fault.uuid) gpu->slow->stale = true;
    return faults;
}

Task<> Nvml::open() {
    if (state_->session) co_return Result<>{};
    const auto& settings = state_->settings;
    state_->session = CO_TRY(co_await ask<std::shared_ptr<const Session>>(
        state_->timers, settings.discover_timeout, state_->system,
        [path = settings.library] { return Session::open(path); }));
    log_info("nvml: opened {}{}", library(), simulated() ? " (simulated: no such GPUs exist)" : "");
    co_return Result<>{};
}

Task<GpuInventory> Nvml::discover() {
    GpuInventory seen;
    seen.source = name();
    if (auto opened = co_await open(); !opened) {
        if (opened.error().code == Code::not_found) co_return seen;  // No driver: nothing of this kind here.
        co_return std::unexpected(std::move(opened).error());
    }
    const auto session = state_->session;
    const auto system =
        CO_TRY(co_await ask<System>(state_->timers, state_->settings.discover_timeout, state_->system,
                                    [session] { return read_system(*session); }));
    seen.simulated = simulated();
    seen.driver_version = system.driver_version;
    seen.cuda_version = system.cuda_version;
    CO_TRY(co_await discover_gpus(seen, system.count));
    CO_TRY(co_await discover_links(seen));
    std::vector<Events::Watched> watched;
    for (const auto& gpu : state_->gpus) {
        if (gpu->answered) watched.push_back({gpu->found->device, gpu->found->facts.uuid});
    }
    state_->events.watch(session, std::move(watched));
    co_return seen;
}

// A GPU that answered before and does not now stays in the picture with what was known of it.
Task<> Nvml::discover_gpus(GpuInventory& into, unsigned count) {
    auto& gpus = state_->gpus;
    const auto limit = static_cast<unsigned>(state_->settings.gpus_max);
    if (count > limit)
        into.problems.push_back(fmt::format("{} GPUs are more than the limit of {}", count, limit));
    while (gpus.size() < std::min(count, limit)) {
        gpus.push_back(std::make_unique<Gpu>(state_->loop, static_cast<unsigned>(gpus.size())));
    }
    gpus.resize(std::min(count, limit));
    std::vector<Question<Found>> questions;
    for (unsigned index = 0; index < gpus.size(); ++index) {
        questions.push_back(
            {&gpus[index]->lane, [session = state_->session, index] { return read_facts(*session, index); }});
    }
    auto answers =
        CO_TRY(co_await ask<Found>(state_->timers, state_->settings.discover_timeout, std::move(questions)));
    std::vector<std::string> told;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        gpus[i]->answered = answers[i].has_value();
        if (!answers[i]) continue;
        // Another GPU at this index: what was kept of the one before does not hold.
        if (!gpus[i]->found || gpus[i]->found->facts.uuid != answers[i]->facts.uuid) {
            gpus[i]->slow = std::make_shared<Slow>();
            gpus[i]->condition = GpuCondition::ok;
        }
        told.push_back(answers[i]->facts.uuid);
        gpus[i]->found = std::move(*answers[i]);
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!answers[i]) {
            into.problems.push_back(fmt::format("GPU {}: {}", i, answers[i].error().message));
            // Indices have moved and it was seen elsewhere.
            if (gpus[i]->found && std::ranges::count(told, gpus[i]->found->facts.uuid) > 0)
                gpus[i]->found.reset();
        }
        if (gpus[i]->found) into.gpus.push_back(gpus[i]->found->facts);
    }
    co_return Result<>{};
}

// Each GPU asks for those before it, and only those that have just answered.
Task<> Nvml::discover_links(GpuInventory& into) {
    std::vector<Peer> peers;
    std::vector<Question<std::vector<GpuLink>>> questions;
    for (const auto& gpu : state_->gpus) {
        if (!gpu->answered) continue;
        const GpuFacts& facts = gpu->found->facts;
        Peer self{.device = gpu->found->device, .uuid = facts.uuid, .pci_address = facts.pci_address};
        for (const NvLink& link : facts.nvlinks) {
            self.switch_links += link.active && link.remote_switch;
        }
        questions.push_back({&gpu->lane, [session = state_->session, self, facts, peers] {
                                 return read_links(*session, self, facts, peers);
                             }});
        peers.push_back(std::move(self));
    }
    auto answers = CO_TRY(co_await ask<std::vector<GpuLink>>(
        state_->timers, state_->settings.discover_timeout, std::move(questions)));
    for (auto& answer : answers) {
        if (answer) into.topology.insert(into.topology.end(), answer->begin(), answer->end());
    }
    std::ranges::sort(into.topology, {}, [](const GpuLink& link) { return std::pair(link.a, link.b); });
    co_return Result<>{};
}

Task<std::vector<GpuSample>> Nvml::sample() {
    std::vector<Gpu*> asked;
    std::vector<Question<GpuSample>> questions;
    for (const auto& gpu : state_->gpus) {
        if (!gpu->found) continue;
        asked.push_back(gpu.get());
        questions.push_back(
            {&gpu->lane, [session = state_->session, found = *gpu->found, slow = gpu->slow,
                          now = state_->timers.now(), interval = state_->settings.slow_interval] {
                 return read_sample(session, found, *slow, now, interval);
             }});
    }
    auto answers = CO_TRY(
        co_await ask<GpuSample>(state_->timers, state_->settings.sample_timeout, std::move(questions)));
    std::vector<GpuSample> samples;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!answers[i]) asked[i]->slow->stale = true;
        GpuSample sample = answers[i] ? std::move(*answers[i]) : unresponsive(answers[i].error());
        sample.uuid = asked[i]->found->facts.uuid;
        if (sample.condition == GpuCondition::lost && asked[i]->condition != GpuCondition::lost) {
            state_->faults->add({.uuid = sample.uuid, .kind = "lost", .code = 0});
        }
        asked[i]->condition = sample.condition;
        samples.push_back(std::move(sample));
    }
    co_return samples;
}

}  // namespace hostler
