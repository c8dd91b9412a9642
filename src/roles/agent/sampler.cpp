#include "roles/agent/sampler.h"

#include <algorithm>
#include <set>

#include "core/log.h"
#include "domain/inventory/merge.h"
#include "roles/agent/messages.h"

namespace hostler::agent {

namespace {

constexpr Duration discover_wait = seconds{5};
constexpr Duration hung_after = seconds{5};  // A driver that takes longer for one answer does not work.

}  // namespace

Sampler::Sampler(const Settings& settings, const Ports& ports, std::function<void()> changed)
    : settings_(settings), ports_(ports), changed_(std::move(changed)), tasks_(ports.loop) {
    for (Telemetry* telemetry : ports_.telemetry) sources_.push_back({.telemetry = telemetry});
}

Sampler::~Sampler() = default;

Task<> Sampler::close() { return tasks_.close(); }

Task<> Sampler::discover() {
    for (auto& source : sources_)
        if (!source.busy) begin(source, discover_one(source));
    if (!host_busy_) {
        host_busy_ = true;
        tasks_.start("facts of the host", facts_of_host());
    }
    CO_TRY(co_await settle(discover_wait));
    merge();
    co_return Result<>{};
}

Task<> Sampler::watch() {
    Instant next = ports_.timers.now() + settings_.discover_interval;
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, settings_.watch_interval));
        const bool faulty = take_new_faults();
        mark_hung();
        if (!faulty && ports_.timers.now() < next) continue;
        if (faulty) changed_();
        CO_TRY(co_await discover());
        next = ports_.timers.now() + settings_.discover_interval;
    }
}

Task<Sampler::Samples> Sampler::sample() {
    for (auto& source : sources_) {
        source.samples.clear();
        if (!source.busy) begin(source, sample_one(source));
    }
    host_sample_.reset();
    if (!host_busy_) {
        host_busy_ = true;
        tasks_.start("sample of the host", sample_of_host());
    }
    CO_TRY(co_await settle(settings_.sample_wait));
    (void)take_new_faults();
    Samples all;
    all.host = host_sample_;
    std::set<std::string> known, taken;
    for (const auto& gpu : facts_.gpus) known.insert(gpu.uuid);
    // The sources stand in the order in which they are believed.
    for (const auto& source : sources_)
        for (const auto& sample : source.samples) {
            if (!known.contains(sample.uuid) || !taken.insert(sample.uuid).second) continue;
            health_.note(sample);
            all.gpus.push_back(sample);
        }
    mark_hung();
    co_return all;
}

std::string Sampler::cdi_name(const std::string& uuid) const {
    if (gone_.contains(uuid)) return {};
    const auto found = std::ranges::find(facts_.gpus, uuid, &GpuFacts::uuid);
    return found == facts_.gpus.end() ? std::string{} : found->cdi_name;
}

void Sampler::begin(Source& source, Task<> task) {
    source.busy = true;
    source.since = ports_.timers.now();
    tasks_.start(std::string{source.telemetry->name()}, std::move(task));
}

Task<> Sampler::discover_one(Source& source) {
    auto found = co_await source.telemetry->discover();
    source.busy = false;
    answered_.notify_all();
    if (!found) {
        // What does not answer has not taken its GPUs away.
        if (found.error().code == Code::cancelled) co_return std::unexpected(found.error());
        if (std::exchange(source.trouble, found.error().message) != found.error().message)
            log_warn("{}: {}", source.telemetry->name(), source.trouble);
        co_return Result<>{};
    }
    source.trouble.clear();
    if (!source.inventory || source.inventory->problems != found->problems)
        for (const auto& problem : found->problems) log_warn("{}: {}", source.telemetry->name(), problem);
    source.inventory = std::move(*found);
    co_return Result<>{};
}

Task<> Sampler::sample_one(Source& source) {
    auto samples = co_await source.telemetry->sample();
    source.busy = false;
    if (samples) source.samples = std::move(*samples);
    answered_.notify_all();
    co_return Result<>{};
}

Task<> Sampler::facts_of_host() {
    auto facts = co_await ports_.host.facts();
    host_busy_ = false;
    if (facts)
        host_ = std::move(*facts);
    else
        log_warn("facts of the host: {}", facts.error().message);
    answered_.notify_all();
    co_return Result<>{};
}

Task<> Sampler::sample_of_host() {
    auto sample = co_await ports_.host.sample();
    host_busy_ = false;
    if (sample) host_sample_ = *sample;
    answered_.notify_all();
    co_return Result<>{};
}

bool Sampler::busy() const { return host_busy_ || std::ranges::any_of(sources_, &Source::busy); }

Task<> Sampler::settle(Duration time) {
    const Deadline deadline{ports_.timers, time, [this] { answered_.notify_all(); }};
    while (busy() && !deadline.expired()) CO_TRY(co_await answered_.wait());
    co_return Result<>{};
}

void Sampler::merge() {
    std::vector<GpuInventory> seen;
    for (const auto& source : sources_)
        if (source.inventory) seen.push_back(*source.inventory);
    HostFacts merged = merge_inventories(host_, seen);
    std::set<std::string> here;
    for (const auto& gpu : merged.gpus) here.insert(gpu.uuid);
    for (const auto& gpu : facts_.gpus)
        if (!here.contains(gpu.uuid) && gone_.emplace(gpu.uuid, gpu).second)
            log_warn("GPU {} ({}) is not there any more", gpu.uuid, gpu.model);
    for (const auto& uuid : here)
        if (gone_.erase(uuid) > 0) {
            log_info("GPU {} is there again", uuid);
            GpuSample back;
            back.uuid = uuid;
            health_.note(back);
        }
    for (const auto& [uuid, gpu] : gone_) {
        GpuSample last;
        last.uuid = uuid;
        last.condition = GpuCondition::gone;
        health_.note(last);
        merged.gpus.push_back(gpu);
    }
    if (merged == facts_) return;
    facts_ = std::move(merged);
    changed_();
}

void Sampler::mark_hung() {
    for (const auto& source : sources_) {
        if (!source.busy || !source.inventory || ports_.timers.now() - source.since < hung_after) continue;
        for (const auto& gpu : source.inventory->gpus) {
            if (health_.of(gpu.uuid).health >= Health::unresponsive) continue;
            GpuSample hung;
            hung.uuid = gpu.uuid;
            hung.condition = GpuCondition::unresponsive;
            hung.reason = "a call to its driver does not come back";
            log_warn("GPU {}: {}", gpu.uuid, hung.reason);
            health_.note(hung);
            changed_();
        }
    }
}

bool Sampler::take_new_faults() {
    bool any = false;
    for (auto& source : sources_)
        for (const auto& fault : source.telemetry->take_faults()) {
            any = true;
            log_warn("GPU {}: {}", fault.uuid, describe(fault));
            health_.note(fault);
            faults_.push_back({fault, ports_.timers.wall()});
        }
    if (faults_.size() > faults_max) faults_.erase(faults_.begin(), faults_.end() - faults_max);
    return any;
}

}  // namespace hostler::agent
