// The machine around the GPUs, as Linux tells of it.
#pragma once

#include "adapters/sysfs/containers.h"
#include "core/kernel_files.h"
#include "core/lane.h"
#include "ports/telemetry.h"

namespace hostler {

struct LinuxHostSettings {
    KernelRoots roots;
    std::string disk = "/";  // A path on the file system that holds the workloads' data.
    // Of this machine's containers, also where its GPUs are simulated: their control groups, and the rest.
    std::string cgroups = "/sys/fs/cgroup";
    KernelRoots machine{};
    Duration timeout = std::chrono::seconds{5};
};

class LinuxHost : public HostTelemetry {
public:
    LinuxHost(Loop& loop, Timers& timers, LinuxHostSettings settings = {});
    Task<HostFacts> facts() override;
    Task<HostSample> sample() override;
    Task<std::map<std::int64_t, std::string>> containers_of(std::vector<std::int64_t> pids) override;
    Task<std::map<std::string, ProcessUse>> processes_of(std::vector<std::string> containers) override;
    Task<std::map<std::string, InstanceSample>> samples_of(std::vector<std::string> containers) override;

private:
    struct Ticks {  // Of all CPUs since boot.
        std::int64_t busy = 0;
        std::int64_t total = 0;
    };
    Timers& timers_;
    LinuxHostSettings settings_;
    Lane lane_;
    // Of the sample before, and of containers that were measured; touched by the lane only.
    std::shared_ptr<Ticks> before_ = std::make_shared<Ticks>();
    std::shared_ptr<Containers> containers_;
};

}  // namespace hostler
