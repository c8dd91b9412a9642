#include "roles/agent/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/log.h"
#include "domain/inventory/merge.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"
#include "roles/agent/within.h"

namespace hostler::agent {

namespace {

constexpr std::string_view kept_prefix = "gpu/";
constexpr Duration wake_wait = minutes{1};
constexpr Duration discover_wait = seconds{5};
constexpr Duration hung_after = seconds{5};  // A driver that takes longer for one answer does not work.

}  // namespace

Sampler::Sampler(const Settings& settings, const Ports& ports, std::function<void()> changed)
    : settings_(settings),
      ports_(ports),
      changed_(std::move(changed)),
      health_(settings.gpu_test, ports.gpu_bench != nullptr),
      begun_(ports.timers.now()),
      tasks_(ports.loop) {
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
        const bool seen = std::exchange(fault_seen_, false);
        const bool faulty = take_new_faults() || seen;
        mark_hung();
        // Samples that nobody reports.
        if (ports_.timers.now() - looked_ >= settings_.gpu_look_interval)
            CO_TRY(co_await sample_in_turn(Of::gpus));
        if (!keeping_) {
            keeping_ = true;
            tasks_.start("the record of the GPUs", keep());
        }
        if (!faulty && ports_.timers.now() < next) continue;
        if (faulty) changed_();
        CO_TRY(co_await discover());
        next = ports_.timers.now() + settings_.discover_interval;
    }
}

Task<Sampler::Samples> Sampler::sample() { return sample_in_turn(Of::everything); }

Task<Sampler::Samples> Sampler::sample_in_turn(Of of) {
    while (sampling_) {
        const Of under_way = *sampling_;
        const std::uint64_t before = taken_;
        CO_TRY(co_await sampled_.wait());
        // Who took them may have been cancelled.
        if (taken_ != before && (under_way == of || under_way == Of::everything)) co_return latest_;
    }
    struct Turn {
        Sampler& taker;
        Turn(Sampler& sampler, Of what) : taker(sampler) { taker.sampling_ = what; }
        ~Turn() {
            taker.sampling_.reset();
            taker.sampled_.notify_all();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
    } const turn{*this, of};
    latest_ = CO_TRY(co_await take_samples(of));
    ++taken_;
    co_return latest_;
}

// What they show of a GPU's health is told at once.
Task<Sampler::Samples> Sampler::take_samples(Of of) {
    looked_ = ports_.timers.now();
    for (auto& source : sources_) {
        source.samples.clear();
        if (!source.busy) begin(source, sample_one(source));
    }
    if (of == Of::everything) host_sample_.reset();
    if (of == Of::everything && !host_busy_) {
        host_busy_ = true;
        tasks_.start("sample of the host", sample_of_host());
    }
    CO_TRY(co_await settle(settings_.sample_wait));
    if (take_new_faults()) {
        fault_seen_ = true;
        changed_();
    }
    Samples all;
    all.host = host_sample_;
    std::set<std::string> taken;
    std::map<std::string, const GpuFacts*> known;
    for (const auto& gpu : facts_.gpus) known[gpu.uuid] = &gpu;
    // The sources stand in the order in which they are believed.
    for (const auto& source : sources_)
        for (const auto& sample : source.samples) {
            if (!known.contains(sample.uuid) || !taken.insert(sample.uuid).second) continue;
            const GpuState before = health_.of(sample.uuid);
            health_.note(sample, known[sample.uuid], moment());
            if (health_.of(sample.uuid) != before) changed_();
            all.gpus.push_back(sample);
            if (source.telemetry->name() == "nvml" && sample.condition == GpuCondition::ok)
                all.gpus.back().last_xid = xids_[sample.uuid];
        }
    mark_hung();
    if (of == Of::everything) CO_TRY(co_await find_containers(all));
    co_return all;
}

Task<> Sampler::find_containers(Samples& all) {
    std::set<std::int64_t> pids;
    for (const auto& gpu : all.gpus)
        if (gpu.processes)
            for (const auto& process : *gpu.processes) pids.insert(process.pid);
    if (pids.empty()) co_return Result<>{};
    auto containers =
        co_await within(ports_.loop, ports_.timers, settings_.sample_wait, "processes",
                        ports_.host.containers_of(std::vector<std::int64_t>(pids.begin(), pids.end())));
    CO_TRY(co_await check_cancelled());
    if (containers) all.containers = std::move(*containers);
    co_return Result<>{};
}

Result<> Sampler::test_gpu(const std::string& uuid) {
    if (gone_.contains(uuid)) {
        log_info("GPU {} is gone for good", uuid);
        gone_.erase(uuid);
        health_.forget(uuid);
        std::erase_if(facts_.gpus, [&](const GpuFacts& gpu) { return gpu.uuid == uuid; });
    } else if (std::ranges::count(facts_.gpus, uuid, &GpuFacts::uuid) > 0) {
        health_.test(uuid, moment());
    } else {
        return fail(Code::not_found, fmt::format("this host has no GPU {}", uuid), "gpu_not_found");
    }
    changed_();
    return {};
}

void Sampler::note_retest(const std::string& uuid, const health::Retest& retest) {
    log_info("GPU {}: {}", uuid, retest.sentence);
    health_.note(uuid, retest, moment());
    changed_();
}

std::string Sampler::gpu_user(std::string_view uuid) const {
    for (const GpuSample& gpu : latest_.gpus)
        if ((uuid.empty() || gpu.uuid == uuid) && gpu.processes && !gpu.processes->empty())
            return fmt::format("process {} has GPU {}", gpu.processes->front().pid, gpu.uuid);
    return {};
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
    recall();
    std::set<std::string> here;
    for (const auto& gpu : merged.gpus) here.insert(gpu.uuid);
    // A driver that is slow to wake has not lost anything.
    if (ports_.timers.now() - begun_ >= wake_wait ||
        std::ranges::all_of(sources_, [](const Source& source) { return source.inventory.has_value(); }))
        for (auto& [uuid, gpu] : std::exchange(missing_, {}))
            if (!here.contains(uuid) && gone_.emplace(uuid, gpu).second)
                log_warn("GPU {} ({}) has disappeared", uuid, gpu.model);
    note_unseen(merged.gpus);
    for (const auto& gpu : facts_.gpus)
        if (!here.contains(gpu.uuid) && gone_.emplace(gpu.uuid, gpu).second)
            log_warn("GPU {} ({}) has disappeared", gpu.uuid, gpu.model);
    for (const auto& uuid : here)
        if (gone_.erase(uuid) > 0) {
            log_info("GPU {} is back", uuid);
            GpuSample back;
            back.uuid = uuid;
            health_.note(back, nullptr, moment());
        }
    for (const auto& [uuid, gpu] : gone_) {
        GpuSample last;
        last.uuid = uuid;
        last.condition = GpuCondition::gone;
        health_.note(last, nullptr, moment());
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
            if (health_.of(gpu.uuid).health >= GpuHealth::unresponsive) continue;
            GpuSample hung;
            hung.uuid = gpu.uuid;
            hung.condition = GpuCondition::unresponsive;
            hung.reason = "a call to its driver does not come back";
            log_warn("GPU {}: {}", gpu.uuid, hung.reason);
            health_.note(hung, nullptr, moment());
            changed_();
        }
    }
}

bool Sampler::take_new_faults() {
    bool any = false;
    for (auto& source : sources_)
        for (const auto& told : source.telemetry->take_faults())
            for (const auto& fault : placed(told)) {
                any = true;
                log_warn("GPU {}: {}", fault.uuid, health::meaning(fault).sentence);
                health_.note(fault, moment());
                if (fault.kind == "xid") xids_[fault.uuid] = fault.code;
                faults_.push_back({fault, ports_.timers.wall()});
            }
    if (faults_.size() > faults_max) faults_.erase(faults_.begin(), faults_.end() - faults_max);
    return any;
}

// Whose it is, where the kernel knows only places: a switch's is that of all GPUs behind switches.
std::vector<GpuFault> Sampler::placed(const GpuFault& fault) const {
    if (!fault.uuid.empty()) return {fault};
    std::vector<GpuFault> all;
    for (const GpuFacts& gpu : facts_.gpus) {
        const bool behind =
            fault.pci_address.empty() && std::ranges::any_of(gpu.nvlinks, &NvLink::remote_switch);
        if (!behind && (fault.pci_address.empty() || gpu.pci_address != fault.pci_address)) continue;
        all.push_back(fault);
        all.back().uuid = gpu.uuid;
    }
    if (all.empty())
        log_warn("{} at {}: no GPU is known there", health::meaning(fault).sentence,
                 fault.pci_address.empty() ? "a switch" : fault.pci_address);
    return all;
}

void Sampler::note_unseen(const std::vector<GpuFacts>& gpus) {
    const auto on_bus_only = [](const GpuFacts& gpu) {
        return gpu.sources == std::vector<std::string>{"pci"};
    };
    for (const GpuFacts& gpu : gpus) {
        const bool served = gpu.driver == "nvidia" || gpu.driver == "amdgpu" || gpu.driver == "xe";
        health_.note_unseen(
            gpu.uuid,
            served && on_bus_only(gpu) &&
                std::ranges::any_of(
                    gpus,
                    [&](const GpuFacts& other) { return other.driver == gpu.driver && !on_bus_only(other); }),
            moment());
    }
}

uplink::KeptGpu Sampler::kept_of(const GpuFacts& gpu) const {
    uplink::KeptGpu made;
    GpuState state;
    if (const auto memory = health_.memory(gpu.uuid, host_.boot_id)) {
        state = memory->state;
        made.set_boot_id(clean_text(memory->boot_id, 256));
        made.set_energy_known(memory->energy_mj.has_value());
        made.set_energy_mj(memory->energy_mj.value_or(0));
    }
    *made.mutable_gpu() = gpu_message(gpu, state);
    return made;
}

// One entry for each GPU that is or was here: a fault outlives the agent, and so does who is missing.
Task<> Sampler::keep() {
    std::vector<Journal::Entry> entries;
    std::map<std::string, std::string> now;
    for (const GpuFacts& gpu : facts_.gpus) {
        uplink::KeptGpu made = kept_of(gpu);
        std::string entry = made.SerializeAsString();
        made.clear_energy_mj();  // Rises all the time.
        made.mutable_gpu()->clear_pcie_generation();
        made.mutable_gpu()->clear_pcie_width();
        std::string& kept = now[gpu.uuid] = made.SerializeAsString();
        if (const auto before = kept_.find(gpu.uuid); before == kept_.end() || before->second != kept)
            entries.push_back({std::string{kept_prefix} + gpu.uuid, std::move(entry)});
    }
    Result<> done{};
    if (recalled_ && !entries.empty()) done = co_await ports_.journal.put_all(std::move(entries));
    if (recalled_ && missing_.empty())
        for (const auto& [uuid, entry] : kept_)
            if (done && !now.contains(uuid))
                done = co_await ports_.journal.erase(std::string{kept_prefix} + uuid);
    keeping_ = false;
    if (done) kept_ = std::move(now);
    co_return Result<>{};
}

void Sampler::recall() {
    if (std::exchange(recalled_, true)) return;
    for (auto at = ports_.journal.all().lower_bound(std::string{kept_prefix});
         at != ports_.journal.all().end() && at->first.starts_with(kept_prefix); ++at) {
        uplink::KeptGpu kept;
        if (!kept.ParseFromString(at->second) || kept.gpu().uuid().empty()) continue;
        const std::string uuid = kept.gpu().uuid();
        kept_[uuid];
        missing_[uuid] = facts_of(kept.gpu());
        if (kept.gpu().evidence().empty()) continue;
        const health::Memory memory{
            .boot_id = kept.boot_id(),
            .energy_mj = kept.energy_known() ? Metric{kept.energy_mj()} : std::nullopt,
            .state = state_of(kept.gpu())};
        health_.recall(uuid, memory, host_.boot_id.empty() ? memory.boot_id : host_.boot_id, moment());
    }
}

}  // namespace hostler::agent
