// What GPUs and hosts do, for people and for Prometheus.
#pragma once

#include <map>
#include <string>

#include "core/metrics.h"
#include "roles/master/state/desk.h"

namespace hostler::api {
struct GpuUsage;
struct HostUsage;
}  // namespace hostler::api

namespace hostler::master {

// What holds each GPU, looked up once for all.
class GpuHolders {
public:
    explicit GpuHolders(const Desk& desk);
    const Claim* of(const std::string& host, const std::string& gpu) const;  // Null: nothing does.

private:
    std::map<std::pair<std::string_view, std::string_view>, const Claim*> claims_;
};

// `tenant`: who looks; processes that are not of its instances are left out. Empty: an operator.
api::GpuUsage usage_of(const Desk& desk, const Host& host, const GpuFacts& gpu, const Claim* claim,
                       const std::string& tenant);
api::HostUsage usage_of(const Desk& desk, const Host& host, const GpuHolders& holders);

// The last samples of a zone's GPUs and hosts (empty: of all), with the names, units and labels of NVIDIA's
// DCGM exporter. Errors: exhausted (more GPUs and uses than a page has room for).
Result<> write_gpu_metrics(MetricsPage& page, const Desk& desk, const std::string& zone);
inline constexpr std::size_t page_gpus_max = 2'000;

}  // namespace hostler::master
