// What every way of seeing GPUs and hosts promises (ports/telemetry.h).
#pragma once

#include "ports/telemetry.h"
#include "rig.h"

namespace hostler::contract {

class TelemetryRig : public Rig {
public:
    virtual Telemetry& telemetry() = 0;     // Of a machine with three GPUs of its kind,
    virtual void lose_second() = 0;         // of which this takes the second away.
    virtual Telemetry& nothing() = 0;       // Of a machine that has none of its kind.
    virtual bool fault() { return false; }  // Makes one at the first GPU, where the adapter tells of faults.
};

class TelemetryContract : public Contract<TelemetryRig> {
protected:
    std::vector<std::string> discover();  // The UUIDs.
    std::vector<GpuSample> sample();
};

class HostTelemetryRig : public Rig {
public:
    virtual HostTelemetry& host() = 0;
};

class HostTelemetryContract : public Contract<HostTelemetryRig> {};

}  // namespace hostler::contract
