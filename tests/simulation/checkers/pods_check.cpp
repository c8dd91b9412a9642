#include "pods_check.h"

#include <fmt/format.h>

#include "proto/uplink.pb.h"
#include "roles/agent/reports.h"
#include "roles/master/series/recorder.h"

namespace hostler::simulation {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// Between the clocks of two masters, and between that of one and itself after a jump.
constexpr Duration clocks_differ_max =
    2 * (std::chrono::seconds{30} + sim::Faults{}.jump_max) + master::clock_error_max;

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
            if (gpu.has_pod()) look_at_sample(machine, host, gpu.uuid(), gpu.pod().name());
    host.last = queue->last();
}

void PodsCheck::look_at_sample(const sim::Machine& machine, const Host& host, const std::string& gpu,
                               const std::string& name) {
    ++reported;
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

void PodsCheck::look_at_row(const series::Labels& labels, series::Millis time) {
    const auto label = [&](const char* name) {
        const auto found = labels.find(name);
        return found == labels.end() ? std::string{} : found->second;
    };
    const std::string name = label("pod");
    if (name.empty()) return;
    ++stored;
    const auto wrong = [&](const std::string& why) {
        found_.report(Invariant::pods,
                      fmt::format("a sample of {} of {}, node {}, is stored with pod {}, {}", label("gpu"),
                                  label("host_name"), label("node"), name, why));
    };
    const ClusterPods::Pod* pod = pods_.find(name);
    if (!pod) return wrong("which never was");
    if (pod->node.machine != label("host_name") || !pod->gpus.contains(label("gpu")))
        return wrong("which never had it");
    if (pod->node.node != label("node")) return wrong(fmt::format("which is one of node {}", pod->node.node));
    const series::Millis wall = duration_cast<milliseconds>(world_.timers.wall().time_since_epoch()).count();
    const Instant moment = world_.clock.now() + milliseconds{time - wall};
    if (moment < pod->since - clocks_differ_max)
        wrong("which was not there yet");
    else if (pod->until && moment > *pod->until + lag_max + clocks_differ_max)
        wrong("which had ended long before");
}

}  // namespace hostler::simulation
