#include "pods_check.h"

#include <fmt/format.h>

#include "proto/uplink.pb.h"
#include "roles/agent/reports.h"

namespace hostler::simulation {

namespace {

std::vector<series::Cell> cells_of(const uplink::GpuSample& sample) {
    std::vector<series::Cell> cells;
    for (const double value : sample.values())
        cells.push_back(std::isnan(value) ? series::absent : static_cast<series::Cell>(value));
    return cells;
}

}  // namespace

void PodsCheck::look(const sim::Machine& machine, const agent::Agent* agent) {
    Host& host = hosts_[machine.name];
    const Instant now = world_.clock.now();
    if (machine.up() && !machine.awake()) host.slept = now;
    const bool clean = !machine.node_host.cleaned.empty();
    if (!std::exchange(host.clean, clean) && clean) host.cleaned = now;
    const agent::ReportQueue* queue = agent ? agent->reports() : nullptr;
    if (!queue || queue->last() == host.last) return;
    for (const auto* report = queue->after(host.last); report; report = queue->after(report->sequence()))
        for (const auto& gpu : report->gpus())
            if (gpu.has_pod()) {
                samples_.insert({gpu.uuid(), gpu.pod().name(), cells_of(gpu)});
                look_at_sample(machine, host, gpu.uuid(), gpu.pod().name());
            }
    host.last = queue->last();
}

void PodsCheck::look_at_sample(const sim::Machine& machine, const Host& host, const std::string& gpu,
                               const std::string& name) {
    const Instant now = world_.clock.now();
    const auto wrong = [&](const std::string& why) {
        found_.report(Invariant::pods,
                      fmt::format("{} says that pod {} has {}, {}", machine.name, name, gpu, why));
    };
    const ClusterPods::Pod* pod = pods_.find(name);
    if (!pod) return wrong("which never was");
    if (pod->node.machine != machine.name || !pod->gpus.contains(gpu))
        return wrong("which it never had there");
    // A process that is stopped goes on with what it knew.
    const bool slept = host.slept != Instant::min() && now - host.slept < lag_max;
    const Duration pause = slept ? sim::Faults{}.pause_max : Duration{};
    if (host.cleaned && pod->since < *host.cleaned && now - *host.cleaned > report_max + pause)
        return wrong("which is one of before the host was cleaned");
    if (pod->until && now - *pod->until > lag_max + pause)
        return wrong(fmt::format("which ended {} s ago", (now - *pod->until) / std::chrono::seconds{1}));
}

void PodsCheck::look_at_row(const series::Labels& labels, const std::vector<series::Cell>& cells) {
    if (!labels.contains("pod")) return;
    ++stored;
    const Sample sample{labels.at("gpu"), labels.at("pod"), cells};
    const ClusterPods::Pod* pod = pods_.find(sample.pod);
    const auto wrong = [&](const char* why) {
        found_.report(Invariant::pods,
                      fmt::format("a sample of {} of {} is stored with pod {} of node {}, {}", sample.gpu,
                                  labels.at("host_name"), sample.pod, labels.at("node"), why));
    };
    if (!samples_.contains(sample)) return wrong("which no report says");
    if (!pod || pod->node.node != labels.at("node")) wrong("which is one of another node");
}

}  // namespace hostler::simulation
