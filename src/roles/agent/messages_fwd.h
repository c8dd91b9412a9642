// The messages of proto/uplink.proto by name: what protoc made of them is included in sources only.
#pragma once

namespace hostler::uplink {

class AccessList;
class AgentHello;
class AgentWelcome;
class ChallengePath;
class Command;
class CommandUpdate;
class Fault;
class Frame;
class Gpu;
class GpuEvidence;
class GpuProof;
class GpuSample;
class HostFacts;
class HostSample;
class InstanceSample;
class Invite;
class KeptGpu;
class Lease;
class LogRequest;
class Measured;
class PodDevices;
class Port;
class Report;
class ReportAck;
class Sealed;
class SpeedOrder;
class Telemetry;
class TunnelOpen;
class TunnelOrder;
class WatchTelemetry;
class Workload;
class WorkloadUse;
class DiskUse;

}  // namespace hostler::uplink
