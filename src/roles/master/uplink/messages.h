// Between the uplink's messages and the trade's values. Protobuf stays in its two sources and the links'
// sources.
#pragma once

#include "roles/master/command/commands.h"
#include "roles/master/host/lifecycle.h"

namespace hostler::uplink {
class AgentHello;
class Command;
class CommandUpdate;
class Report;
class Routes;
class Telemetry;
}  // namespace hostler::uplink

namespace hostler::master {

HostReport report_of(const uplink::AgentHello& hello);
// `live`: of the host, which said in its hello what the values of its samples are.
HostReport report_of(const uplink::Report& report, const HostLive& live = {});
HostTelemetryTold telemetry_of(const uplink::Telemetry& telemetry, const HostLive& live);
void learn_order(const uplink::AgentHello& hello, HostLive& live);
CommandAnswer answer_of(const uplink::CommandUpdate& update);
std::vector<GpuProof> proofs_of(const uplink::CommandUpdate& update);

// What is sent for a command, made from what it is about. nullopt: that has gone, and the command with it.
bool write_command(const Desk& desk, std::uint64_t epoch, const HostCommand& command, uplink::Command& into);

// The gateway's routes to one instance, into `routes`; an instance that is kept no more into `gone` is the
// caller's.
void write_routes(const Desk& desk, const Instance& instance, uplink::Routes& routes);

}  // namespace hostler::master
