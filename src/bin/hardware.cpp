#include "bin/hardware.h"

namespace hostler::bin {

Eyes::Eyes(Process& process, const Hardware& hardware)
    : nvml(process.loop, *process.timers, {.library = hardware.nvml}),
      amd(process.loop, *process.timers, {.roots = hardware.roots}),
      intel(process.loop, *process.timers, {.roots = hardware.roots}),
      pci(process.loop, *process.timers, {.roots = hardware.roots}),
      kernel(hardware.roots),
      host(process.loop, *process.timers, {.roots = hardware.roots, .disk = hardware.disk}) {}

void add_hardware_options(CLI::App& app, Hardware& hardware) {
    app.add_option("--nvml-lib", hardware.nvml,
                   "NVIDIA's libnvidia-ml.so.1, where it is not where drivers put it");
    app.add_option("--sysfs-root", hardware.roots.sys, "Where the kernel shows devices")
        ->capture_default_str();
    app.add_option("--proc-root", hardware.roots.proc, "Where the kernel shows processes")
        ->capture_default_str();
    app.add_option("--dev-root", hardware.roots.dev, "Where device nodes are")->capture_default_str();
    app.add_option("--etc-root", hardware.roots.etc, "Where the system says what it is")
        ->capture_default_str();
}

}  // namespace hostler::bin
