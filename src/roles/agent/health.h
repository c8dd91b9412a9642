// What samples and faults say about a GPU's fitness.
#pragma once

#include <map>
#include <string>

#include "core/timers.h"
#include "domain/inventory/sample.h"

namespace hostler::agent {

enum class Health { healthy, degraded, faulty, unresponsive, gone };
BOOST_DESCRIBE_ENUM(Health, healthy, degraded, faulty, unresponsive, gone)
std::string_view name(Health);

struct Verdict {
    Health health = Health::healthy;
    std::string reason;  // A sentence; empty when healthy.
    bool operator==(const Verdict&) const = default;
};

// What one fault means by itself; healthy: it is the application's, or only worth noting.
Verdict meaning(const GpuFault& fault);
// A sentence for people.
std::string describe(const GpuFault& fault);
// What one sample shows.
Verdict meaning(const GpuSample& sample);

// Remembers faults until the driver is loaded anew: a GPU that fell off the bus does not heal by silence. A
// sample that shows the energy counter starting over (a reset, a reload) clears what was held against its
// GPU. The counter is not read in every sample: it may tell late of a reset, and a fault that has come since
// it was read stays, unless the GPU was away after the fault.
class HealthBook {
public:
    void note(const GpuFault& fault);
    void note(const GpuSample& sample);
    Verdict of(const std::string& uuid) const;  // The worst of what is known.

private:
    struct Entry {
        Verdict fault;
        Verdict sample;
        Metric energy_mj;
        bool fault_is_new = false;  // Noted since `energy_mj` was read.
    };
    std::map<std::string, Entry> gpus_;
};

}  // namespace hostler::agent
