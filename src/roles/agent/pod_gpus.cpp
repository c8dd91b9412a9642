#include "roles/agent/pod_gpus.h"

#include <utility>

#include "core/log.h"
#include "domain/health/state.h"
#include "proto/uplink.pb.h"

namespace hostler::agent {

namespace {

constexpr const char* node_key = "node";  // In the journal.

}  // namespace

void PodGpus::load() {
    const auto kept = ports_.journal.all().find(node_key);
    if (kept != ports_.journal.all().end()) node_ = kept->second;
}

Task<> PodGpus::begin(std::string node) {
    if (!ports_.pod_devices || node_ == node) co_return Result<>{};
    CO_TRY(co_await ports_.journal.put(node_key, node));
    node_ = std::move(node);
    answer_.reset();
    ++turn_;
    co_return Result<>{};
}

// A node that another agent made without a journal's entry may be offered nothing, and is ended all the same.
Task<> PodGpus::end() {
    if (!ports_.pod_devices) co_return Result<>{};
    if (!node_.empty()) log_info("GPUs are no longer offered to pods of node {}", node_);
    node_.clear();
    answer_.reset();
    ++turn_;
    CO_TRY(co_await ports_.pod_devices->end());
    if (ports_.journal.all().contains(node_key)) CO_TRY(co_await ports_.journal.erase(node_key));
    co_return Result<>{};
}

Task<> PodGpus::run(Duration interval) {
    while (true) {
        if (!node_.empty()) ports_.pod_devices->offer(seen());
        CO_TRY(co_await sleep(ports_.timers, interval));
    }
}

PodOffer PodGpus::seen() const {
    PodOffer offer{.topology = sampler_.facts().topology};
    for (const GpuFacts& gpu : sampler_.gpus())
        if (!gpu.cdi_name.empty()) offer.gpus.push_back({gpu, is_fit(sampler_.health().of(gpu.uuid).health)});
    return offer;
}

Task<> PodGpus::close() { return tasks_.close(); }

Task<> PodGpus::name_pods(std::vector<GpuSample>& gpus) {
    if (!ports_.pod_devices || node_.empty()) co_return Result<>{};
    if (!std::exchange(asking_, true)) tasks_.start("pods with GPUs", ask());
    const Deadline deadline{ports_.timers, settings_.sample_wait, [this] { answered_.notify_all(); }};
    while (asking_ && !deadline.expired()) CO_TRY(co_await answered_.wait());
    if (!known()) co_return Result<>{};
    for (GpuSample& gpu : gpus)
        if (const auto holder = answer_->holders.find(gpu.uuid); holder != answer_->holders.end())
            gpu.pod = holder->second;
    co_return Result<>{};
}

Task<> PodGpus::ask() {
    const std::uint64_t turn = turn_;
    const Instant asked = ports_.timers.now();
    auto holders = co_await ports_.pod_devices->holders();
    CO_TRY(co_await check_cancelled());
    asking_ = false;
    if (turn == turn_) {
        if (holders) answer_ = {std::move(*holders), asked};
        const std::string trouble = holders ? "" : holders.error().message;
        if (std::exchange(trouble_, trouble) != trouble && !holders) log_info("{}", trouble);
    }
    answered_.notify_all();
    co_return Result<>{};
}

std::optional<uplink::PodDevices> PodGpus::told() const {
    if (!ports_.pod_devices || node_.empty()) return std::nullopt;
    uplink::PodDevices made;
    std::uint32_t offered = 0;
    for (const GpuFacts& gpu : sampler_.gpus())
        if (!gpu.cdi_name.empty() && is_fit(sampler_.health().of(gpu.uuid).health)) ++offered;
    made.set_offered(offered);
    if (known()) made.set_allocated(static_cast<std::uint32_t>(answer_->holders.size()));
    const PodDeviceCounts counts = ports_.pod_devices->counts();
    made.set_allocations(counts.allocations);
    made.set_refused(counts.refused);
    return made;
}

}  // namespace hostler::agent
