// What the API shows of hosts and their GPUs.
#pragma once

#include "roles/master/state/desk.h"

namespace hostler::api {
struct Gpu;
struct Host;
enum class HostState;
}  // namespace hostler::api

namespace hostler::master {

// As its machine calls itself; its id where that is not known.
std::string host_name(const Desk& desk, const std::string& id);

// In words, for those whose instance is there; empty: it is not drained.
std::string drain_notice(const Desk& desk, const std::string& host);

// The state by which hosts are counted.
api::HostState state_of(const Desk& desk, const Host& host);

api::Host view(const Desk& desk, const Host& host);
api::Gpu view(const Desk& desk, const Host& host, const GpuFacts& gpu);

}  // namespace hostler::master
