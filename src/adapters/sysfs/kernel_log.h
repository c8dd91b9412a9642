// What the kernel's log says of GPUs: the faults that a driver cannot tell any more.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kernel_files.h"
#include "ports/telemetry.h"

namespace hostler {

// The fault that the text of one line of the log tells of, if it does. Formats: NVIDIA's driver ("NVRM: Xid
// (PCI:0000:9a:00): 79, …", "… GPU 0000:9a:00.0: GPU has fallen off the bus", "SXid (PCI:0000:c1:00.0):
// 22013, Non-fatal, …").
std::optional<GpuFault> fault_of_line(std::string_view line);

// It finds no GPU and samples none; its faults say where, not which. Begins with what is logged from now on.
// A log that may not be read is no log.
class KernelLog : public Telemetry {
public:
    explicit KernelLog(KernelRoots roots = {}) : path_(roots.dev + "/kmsg") {}
    ~KernelLog() override;
    KernelLog(const KernelLog&) = delete;
    KernelLog& operator=(const KernelLog&) = delete;
    std::string_view name() const override { return "kernel"; }
    Task<GpuInventory> discover() override;
    Task<std::vector<GpuSample>> sample() override;
    std::vector<GpuFault> take_faults() override;

private:
    bool open();

    std::string path_;
    int file_ = -1;
};

}  // namespace hostler
