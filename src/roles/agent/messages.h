// Between our values and what travels.
#pragma once

#include <string>
#include <string_view>

#include "domain/health/book.h"
#include "domain/inventory/challenge.h"
#include "domain/inventory/host.h"
#include "domain/inventory/measured.h"
#include "domain/inventory/sample.h"
#include "roles/agent/messages_fwd.h"
#include "roles/agent/workloads.h"

namespace hostler::agent {

// Protobuf carries UTF-8 only: what is not becomes '?', as do control characters but tab and line feed. Of
// more than `bytes_max` the middle goes.
std::string clean_text(std::string_view text, std::size_t bytes_max);

uplink::HostFacts facts_message(const HostFacts& facts, const health::Book& health);
uplink::Gpu gpu_message(const GpuFacts& gpu, const GpuState& state);
// What a message says of one: who it is, and how it was.
GpuFacts facts_of(const uplink::Gpu& gpu);
GpuState state_of(const uplink::Gpu& gpu);
uplink::GpuSample sample_message(const GpuSample& sample);
uplink::HostSample sample_message(const HostSample& sample);
uplink::InstanceSample sample_message(const std::string& instance, const InstanceSample& sample);
uplink::Measured measured_message(const HostFigures& figures);
uplink::GpuProof proof_message(const GpuProof& proof);
uplink::Fault fault_message(const GpuFault& fault, WallTime at);
uplink::WorkloadUse use_message(const WorkloadUse& use);
uplink::DiskUse disk_use_message(const DiskUse& use);
// The order of the values in every sample.
void name_metrics(uplink::AgentHello& hello);
uplink::Workload workload_message(const Workload& workload);

}  // namespace hostler::agent
