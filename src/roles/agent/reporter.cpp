#include "roles/agent/reporter.h"

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "core/safe_text.h"
#include "domain/image/image.h"
#include "domain/volume/volume.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"
#include "roles/agent/uses.h"
#include "roles/agent/within.h"

namespace hostler::agent {

namespace {

constexpr std::size_t instances_max = 1024;  // More than a host can run.

// What changes by itself all the time is not worth telling all facts again for.
std::string worth_telling(uplink::HostFacts facts) {
    constexpr std::uint64_t disk_step = 1ULL << 30;
    facts.set_disk_free_bytes(facts.disk_free_bytes() / disk_step);
    const auto room = static_cast<std::int64_t>(facts.volume_bytes());
    facts.set_volume_bytes(static_cast<std::uint64_t>(room - room % room_step(room)));
    for (auto& gpu : *facts.mutable_gpus()) {
        gpu.clear_pcie_generation();
        gpu.clear_pcie_width();
    }
    return facts.SerializeAsString();
}

}  // namespace

Reporter::Reporter(const Settings& settings, const Ports& ports, Workloads& workloads, Activity& activity,
                   Sampler& sampler, const Leases& leases, const CommandBook& book, const LayersAhead& ahead,
                   const MemoryWatch& memory, PodGpus& pods)
    : settings_(settings),
      ports_(ports),
      workloads_(workloads),
      activity_(activity),
      sampler_(sampler),
      leases_(leases),
      book_(book),
      ahead_(ahead),
      memory_(memory),
      pods_(pods),
      queue_(ports.journal, settings.reports_max),
      next_(ports.timers.now()) {}

void Reporter::note(const Workload& changed) {
    changed_[changed.instance] = changed;
    if (changed.state != WorkloadState::exited)
        ended_by_itself_.erase(changed.instance);
    else if (leases_.holds(changed.instance, changed.generation))
        ended_by_itself_[changed.instance] = changed.generation;
    touch();
}

void Reporter::note_image(const std::string& image) {
    if (images_ && images_->insert(full_image_name(image)).second) touch();
}

void Reporter::touch() {
    touched_ = true;
    wake_.notify_all();
}

void Reporter::greeted() {
    queue_.grow_old(hello_.after);
    facts_told_ = hello_.facts;
    next_ = ports_.timers.now();
    touch();
}

void Reporter::pace(Duration interval) {
    constexpr Duration interval_min = milliseconds{100}, interval_max = minutes{5};
    interval_ = std::clamp(interval, interval_min, interval_max);
    next_ = std::min(next_, ports_.timers.now() + interval_);
}

Task<> Reporter::run() {
    while (true) {
        CO_TRY(co_await wait());
        // First, so that nothing is taken from where it is kept before there is a place for it.
        if (const auto room = co_await queue_.reserve(); !room) {
            if (room.error().code == Code::cancelled) co_return room;
            if (!std::exchange(stuck_, true)) log_warn("reports wait: {}", room.error().message);
            CO_TRY(co_await sleep(ports_.timers, seconds{1}));
            continue;
        }
        stuck_ = false;
        if (std::exchange(touched_, false)) CO_TRY(co_await sleep(ports_.timers, settings_.coalesce));
        touched_ = false;
        const bool due = ports_.timers.now() >= next_;
        if (due) next_ = ports_.timers.now() + interval_;
        uplink::Report report;
        if (due) CO_TRY(co_await add_everything(report));
        // Last, so that nothing is awaited between looking and the report's place in the queue.
        if (!add_changes(report) && !due) continue;
        report.set_time(ports_.timers.wall().time_since_epoch().count());
        report.set_made_us(leases_.stamp_us());
        const std::uint64_t dropped = queue_.dropped();
        CO_TRY(co_await queue_.push(std::move(report)));
        if (dropped == 0 && queue_.dropped() > 0)
            log_warn("{} reports wait, which is the limit: the oldest samples go, changes are merged",
                     queue_.size());
        grown_.notify_all();
    }
}

Task<> Reporter::wait() {
    const Deadline deadline{ports_.timers, std::max<Duration>(next_ - ports_.timers.now(), Duration{0}),
                            [this] { wake_.notify_all(); }};
    while (!touched_ && ports_.timers.now() < next_) {
        if (deadline.expired()) break;
        CO_TRY(co_await wake_.wait());
    }
    co_return Result<>{};
}

bool Reporter::add_changes(uplink::Report& report) {
    for (const auto& [instance, workload] : std::exchange(changed_, {})) {
        // A complete list has it already, unless it is gone.
        if (report.workloads_complete() && workload.state != WorkloadState::absent) continue;
        *report.add_workloads() = with_use(workload);
    }
    for (const auto& [fault, at] : sampler_.take_faults()) *report.add_faults() = fault_message(fault, at);
    uplink::HostFacts now = facts(workloads_.engine_error());
    if (std::string told = worth_telling(now); told != facts_told_) {
        facts_told_ = std::move(told);
        *report.mutable_facts() = std::move(now);
    }
    return report.has_facts() || !report.workloads().empty() || !report.faults().empty();
}

Task<> Reporter::add_everything(uplink::Report& report) {
    auto samples = CO_TRY(co_await sampler_.sample());
    CO_TRY(co_await pods_.name_pods(samples.gpus));
    for (const auto& gpu : samples.gpus) *report.add_gpus() = sample_message(gpu);
    if (samples.host) *report.mutable_host() = sample_message(*samples.host);
    for (const auto& use : uses_of(samples, workloads_.all())) *report.add_uses() = use_message(use);
    if (const auto told = pods_.told()) *report.mutable_pod_devices() = *told;
    CO_TRY(co_await describe_engine());
    // A host whose disk or engine is busy is there all the same: what they do not tell in time is in a later
    // report.
    const Instant end = ports_.timers.now() + std::min<Duration>(settings_.engine_deadline,
                                                                 std::max<Duration>(interval_, seconds{1}));
    const auto left = [&] { return std::max<Duration>(end - ports_.timers.now(), milliseconds{1}); };
    const auto volumes =
        co_await within(ports_.loop, ports_.timers, left(), "volumes", ports_.volumes.list());
    if (auto room = co_await within(ports_.loop, ports_.timers, left(), "volumes", ports_.volumes.room()))
        room_ = std::move(*room);
    CO_TRY(co_await add_disk_uses(report, left()));
    CO_TRY(co_await count_processes(left()));
    CO_TRY(co_await add_instance_samples(report, left()));
    const auto networks =
        co_await within(ports_.loop, ports_.timers, left(), "networks", ports_.networks.list());
    std::optional<Result<std::vector<KeptLayer>>> layers;
    if (ports_.layers)
        layers = co_await within(ports_.loop, ports_.timers, left(), "kept layers", ports_.layers->kept());
    CO_TRY(co_await check_cancelled());
    CO_TRY(co_await list_images(left()));
    // What is not known is not told as if nothing were there.
    if (!workloads_.complete() || !volumes || !networks) co_return Result<>{};
    report.set_workloads_complete(true);
    for (const auto& [instance, workload] : workloads_.all()) *report.add_workloads() = with_use(workload);
    for (const auto& volume : *volumes) report.add_volumes(clean_text(volume, 256));
    for (const auto& network : *networks) report.add_networks(clean_text(network, 256));
    if (layers && *layers) {
        report.set_layers_told(true);
        report.set_layers_ahead(static_cast<std::uint32_t>(ahead_.made()));
        for (const auto& layer : **layers) {
            const std::string instance = instance_of(layer.name);
            if (instance.empty()) continue;
            auto& told = *report.add_layers();
            told.set_instance(clean_text(instance, 256));
            told.set_bytes(layer.bytes);
            told.set_kept_at(layer.kept_at);
            told.set_generation(book_.generation(instance));
        }
    }
    co_return Result<>{};
}

// All of them or none: one that is missing would look as if it were not mounted.
Task<> Reporter::add_disk_uses(uplink::Report& report, Duration allowed) {
    const Instant end = ports_.timers.now() + allowed;
    const auto volumes =
        co_await within(ports_.loop, ports_.timers, allowed, "volumes", ports_.volumes.uses());
    if (!volumes) co_return Result<>{};
    std::map<std::string, DiskUse> layers;
    if (ports_.layers) {
        const auto left = std::max<Duration>(end - ports_.timers.now(), milliseconds{1});
        auto told = co_await within(ports_.loop, ports_.timers, left, "layers", ports_.layers->uses());
        if (!told) co_return Result<>{};
        layers = std::move(*told);
    }
    auto& disks = *report.mutable_disks();
    for (const auto& [volume, use] : *volumes) {
        auto& one = *disks.add_of() = disk_use_message(use);
        one.set_volume(clean_text(volume, 256));
    }
    for (const auto& [container, use] : layers) {
        const std::string instance = instance_of(container);
        if (instance.empty()) continue;
        auto& one = *disks.add_of() = disk_use_message(use);
        one.set_instance(clean_text(instance, 256));
    }
    co_return Result<>{};
}

std::vector<std::string> Reporter::running_containers() const {
    std::vector<std::string> running;
    for (const auto& [instance, workload] : workloads_.all())
        if (workload.state == WorkloadState::running && !workload.container_id.empty())
            running.push_back(workload.container_id);
    return running;
}

Task<> Reporter::count_processes(Duration allowed) {
    std::vector<std::string> running = running_containers();
    processes_.clear();
    if (running.empty()) co_return Result<>{};
    auto counted = co_await within(ports_.loop, ports_.timers, allowed, "processes",
                                   ports_.host.processes_of(std::move(running)));
    CO_TRY(co_await check_cancelled());
    if (counted) processes_ = std::move(*counted);
    co_return Result<>{};
}

// Of the kernel's files alone: an engine that does not answer is not waited for.
Task<> Reporter::add_instance_samples(uplink::Report& report, Duration allowed) {
    std::vector<std::string> running = running_containers();
    if (running.empty()) co_return Result<>{};
    const auto told = co_await within(ports_.loop, ports_.timers, allowed, "use of containers",
                                      ports_.host.samples_of(std::move(running)));
    CO_TRY(co_await check_cancelled());
    if (!told) co_return Result<>{};
    for (const auto& [instance, workload] : workloads_.all()) {
        const auto sample = told->find(workload.container_id);
        if (sample == told->end() || std::cmp_greater_equal(report.instances_size(), instances_max)) continue;
        *report.add_instances() = sample_message(instance, sample->second);
    }
    co_return Result<>{};
}

Task<uplink::Telemetry> Reporter::telemetry() {
    auto samples = CO_TRY(co_await sampler_.sample());
    CO_TRY(co_await pods_.name_pods(samples.gpus));
    uplink::Telemetry made;
    made.set_time(ports_.timers.wall().time_since_epoch().count());
    for (const auto& gpu : samples.gpus) *made.add_gpus() = sample_message(gpu);
    if (samples.host) *made.mutable_host() = sample_message(*samples.host);
    for (const auto& use : uses_of(samples, workloads_.all())) *made.add_uses() = use_message(use);
    co_return made;
}

uplink::Workload Reporter::with_use(const Workload& workload) {
    uplink::Workload made = workload_message(workload);
    const auto by_itself = ended_by_itself_.find(workload.instance);
    made.set_lease_ended(workload.state == WorkloadState::exited &&
                         leases_.ended(workload.instance, workload.generation) &&
                         (by_itself == ended_by_itself_.end() || by_itself->second != workload.generation));
    if (const auto kills = memory_.of(workload.instance, workload.generation)) {
        constexpr std::size_t name_max = 64;
        made.mutable_memory_kills()->set_count(kills->count);
        made.mutable_memory_kills()->set_process(
            safe_line(std::string_view{kills->process}.substr(0, name_max)));
    }
    if (const auto counted = processes_.find(workload.container_id); counted != processes_.end()) {
        const auto number = [](std::int64_t value) {
            return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, 1 << 30));
        };
        made.set_processes(number(counted->second.now));
        made.set_processes_max(number(counted->second.max));
    }
    const auto use = activity_.of(workload.instance, workload.generation);
    if (!use) return made;
    made.set_unused_ms(
        static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(use->unused).count()));
    made.set_used_by(use->by);
    return made;
}

Task<> Reporter::describe_engine() {
    if (!workloads_.known()) engine_may_differ_ = true;
    if (!workloads_.known() || !engine_may_differ_) co_return Result<>{};
    const auto facts = co_await within(ports_.loop, ports_.timers, settings_.engine_deadline,
                                       "the container engine", ports_.engine.describe());
    CO_TRY(co_await check_cancelled());
    if (facts) {
        engine_ = *facts;
        engine_may_differ_ = false;
        keeps_layers_ = ports_.layers && facts->disk_unlimited.empty();
    }
    co_return Result<>{};
}

// What is pulled meanwhile may be missing from the answer: it is here at the latest with the next one.
Task<> Reporter::list_images(Duration allowed) {
    if (!ports_.images || !workloads_.known() || ports_.timers.now() < images_due_) co_return Result<>{};
    const auto names =
        co_await within(ports_.loop, ports_.timers, allowed, "images", ports_.images->image_names());
    CO_TRY(co_await check_cancelled());
    if (!names) co_return Result<>{};
    images_due_ = ports_.timers.now() + settings_.images_interval;
    images_.emplace(names->begin(), names->end());
    co_return Result<>{};
}

uplink::HostFacts Reporter::facts(const std::string& engine_error) const {
    uplink::HostFacts made = facts_message(sampler_.facts(), sampler_.health());
    if (engine_error.empty() && engine_) {
        made.set_engine(clean_text(engine_->name, 256));
        made.set_programs(engine_->programs);
        made.set_user_namespaces(engine_->user_namespaces != UserNamespaces::none);
        made.set_limits_disk(true);
        made.set_disk_unlimited(clean_text(engine_->disk_unlimited, 1024));
    }
    made.set_clusters(settings_.clusters && ports_.node_steps);
    made.set_cluster_saves(made.clusters() && !settings_.cluster_saves.empty());
    made.set_keeps_layers(keeps_layers_);
    made.set_engine_error(clean_text(engine_error, 1024));
    made.set_measures(ports_.gpu_bench != nullptr);
    if (ports_.gpu_bench) made.set_unmeasurable(clean_text(ports_.gpu_bench->unable(sampler_.facts()), 1024));
    made.set_files_damaged(clean_text(ports_.journal.damage(), 1024));
    made.set_volume_bytes(room_.bytes);
    made.set_volumes_refused(clean_text(room_.refused, 1024));
    if (images_) {
        auto& told = *made.mutable_images();
        for (const auto& name : *images_) {
            if (std::cmp_greater_equal(told.names_size(), settings_.images_max)) break;
            told.add_names(clean_text(name, 512));
        }
        told.set_truncated(std::cmp_less(told.names_size(), images_->size()));
    }
    return made;
}

Task<uplink::AgentHello> Reporter::hello(std::uint64_t epoch) {
    if (boot_id_.empty()) boot_id_ = new_id(ports_.random, "boot");
    CO_TRY(co_await describe_engine());
    uplink::Report everything;
    CO_TRY(co_await add_everything(everything));
    uplink::AgentHello made;
    made.set_version(settings_.version);
    made.set_boot_id(sampler_.facts().boot_id.empty() ? boot_id_ : clean_text(sampler_.facts().boot_id, 256));
    made.set_epoch(epoch);
    made.set_keeps_leases(leases_.kept());
    made.set_takes_secrets(true);
    made.set_stamp_us(leases_.stamp_us());
    // Without an answer of the engine: what was last seen, and engine_error says that it is no more than
    // that, grace or none.
    *made.mutable_facts() = facts(workloads_.silence());
    for (const auto& [instance, workload] : workloads_.all()) *made.add_workloads() = with_use(workload);
    *made.mutable_volumes() = std::move(*everything.mutable_volumes());
    *made.mutable_networks() = std::move(*everything.mutable_networks());
    name_metrics(made);
    hello_ = {.facts = worth_telling(made.facts()), .after = queue_.last()};
    co_return made;
}

}  // namespace hostler::agent
