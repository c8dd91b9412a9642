// The Telemetry and HostTelemetry ports: NVML (simulated, and really loaded), the files of drivers in a tree
// of the test's own, the real host, and the simulation.
#include <dlfcn.h>

#include "adapters/amd/amd.h"
#include "adapters/intel/intel.h"
#include "adapters/nvml/nvml.h"
#include "adapters/nvml/simulated_state.h"
#include "adapters/sysfs/host.h"
#include "adapters/sysfs/pci.h"
#include "core/testing/file_tree.h"
#include "telemetry_contract.h"
#include "world_rig.h"

namespace hostler::contract {

namespace {

class NvmlRig : public RealRig<TelemetryRig> {
public:
    NvmlRig() {
        // The library keeps its state for as long as it is loaded. Unloaded, that would count as leaked.
        HOSTLER_ASSERT(::dlopen(SIMULATED_NVML, RTLD_NOW | RTLD_NODELETE) != nullptr);
        write(simulated_state({.hostname = "contract", .gpus = 3}));
        ::setenv("HOSTLER_SIMULATED_NVML", path().c_str(), 1);
        present_.emplace(loop_, timers_, NvmlSettings{.library = SIMULATED_NVML});
        absent_.emplace(loop_, timers_, NvmlSettings{.library = SIMULATED_NVML});
    }
    Telemetry& telemetry() override { return *present_; }
    Telemetry& nothing() override {
        write(simulated_state({.hostname = "contract", .gpus = 0}));
        return *absent_;
    }
    void lose_second() override { write(with_setting(state_, 1, "absent", "yes")); }
    bool fault() override {
        write(with_line(state_, 0, "event", std::to_string(++events_) + " xid 79"));
        return true;
    }

private:
    std::string path() const { return folder_.path("state"); }
    void write(const Result<std::string>& state) {
        state_ = state.value();
        HOSTLER_ASSERT(write_simulated_state(path(), state_).has_value());
    }
    testing::FileTree folder_;
    std::string state_;
    int events_ = 0;
    std::optional<Nvml> present_, absent_;
};

// Cards as a driver shows them below /sys.
template <class Adapter, class Settings>
class FilesRig : public RealRig<TelemetryRig> {
public:
    FilesRig(std::string_view vendor, std::string_view device, const std::string& driver) {
        for (int number = 0; number < 3; ++number) {
            const std::string address = "0000:0" + std::to_string(number + 1) + ":00.0";
            const std::string folder = "sys/devices/pci0000:00/" + address;
            const std::string card = std::to_string(number);
            tree_.write(folder + "/class", "0x030200\n");
            tree_.write(folder + "/vendor", vendor);
            tree_.write(folder + "/device", device);
            tree_.write(folder + "/unique_id", "ebfbe4e1dbd6b5c" + card + "\n");
            tree_.write(folder + "/drm/card" + card + "/x", "");
            tree_.write(folder + "/drm/renderD" + std::to_string(128 + number) + "/x", "");
            tree_.write("sys/bus/pci/drivers/" + driver + "/x", "");
            tree_.link(folder + "/driver", "sys/bus/pci/drivers/" + driver);
            tree_.link("sys/class/drm/card" + card + "/device", folder);
            tree_.link("sys/bus/pci/devices/" + address, folder);
        }
        Settings settings;
        settings.roots.sys = tree_.path("sys");
        present_.emplace(loop_, timers_, settings);
        settings.roots.sys = empty_.path("sys");
        absent_.emplace(loop_, timers_, settings);
    }
    Telemetry& telemetry() override { return *present_; }
    Telemetry& nothing() override { return *absent_; }
    void lose_second() override {
        for (const char* gone :
             {"class/drm/card1", "bus/pci/devices/0000:02:00.0", "devices/pci0000:00/0000:02:00.0"})
            tree_.remove("sys/" + std::string{gone});
    }

private:
    testing::FileTree tree_, empty_;
    std::optional<Adapter> present_, absent_;
};

class SimRig : public WorldRig<TelemetryRig> {
public:
    Telemetry& telemetry() override { return present_; }
    Telemetry& nothing() override { return absent_; }
    void lose_second() override { gpus_.conditions[1] = GpuCondition::gone; }
    bool fault() override {
        gpus_.faults.push_back({gpus_.inventory.gpus[0].uuid, "xid", 79});
        return true;
    }

private:
    sim::Gpus gpus_{"host", 3}, none_{"host", 0};
    sim::SimTelemetry present_{gpus_, sim::Dice{1}}, absent_{none_, sim::Dice{1}};
};

using Gpus = Kind<TelemetryRig>;
INSTANTIATE_TEST_SUITE_P(
    All, TelemetryContract,
    ::testing::Values(
        Gpus{"nvml", [] { return std::make_unique<NvmlRig>(); }},
        Gpus{"amd",
             [] { return std::make_unique<FilesRig<Amd, AmdSettings>>("0x1002\n", "0x74a1\n", "amdgpu"); }},
        Gpus{"intel",
             [] { return std::make_unique<FilesRig<Intel, IntelSettings>>("0x8086\n", "0xe20b\n", "xe"); }},
        Gpus{
            "pci",
            [] { return std::make_unique<FilesRig<PciBus, PciSettings>>("0x10de\n", "0x2330\n", "nvidia"); }},
        Gpus{"sim", [] { return std::make_unique<SimRig>(); }}),
    kind_name);

class LinuxRig : public RealRig<HostTelemetryRig> {
public:
    HostTelemetry& host() override { return host_; }

private:
    LinuxHost host_{loop_, timers_};
};

class SimHostRig : public WorldRig<HostTelemetryRig> {
public:
    HostTelemetry& host() override { return life().host; }
};

using Host = Kind<HostTelemetryRig>;
INSTANTIATE_TEST_SUITE_P(All, HostTelemetryContract,
                         ::testing::Values(Host{"linux", [] { return std::make_unique<LinuxRig>(); }},
                                           Host{"sim", [] { return std::make_unique<SimHostRig>(); }}),
                         kind_name);

}  // namespace

}  // namespace hostler::contract
