#include "roles/agent/pod_gpus.h"

#include "core/log.h"
#include "domain/health/state.h"

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
    co_return Result<>{};
}

// A node that another agent made without a journal's entry may be offered nothing, and is ended all the same.
Task<> PodGpus::end() {
    if (!ports_.pod_devices) co_return Result<>{};
    if (!node_.empty()) log_info("GPUs are no longer offered to pods of node {}", node_);
    node_.clear();
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

}  // namespace hostler::agent
