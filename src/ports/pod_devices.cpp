#include "ports/pod_devices.h"

namespace hostler {

std::string pod_resource(const GpuFacts& gpu) {
    const auto equals = gpu.cdi_name.find('=');
    if (equals == std::string::npos) return {};
    // Intel's own plugin names it by its driver, i915 or xe, and manifests have that.
    if (gpu.vendor == GpuVendor::intel)
        return gpu.driver.empty() ? std::string{} : "gpu.intel.com/" + gpu.driver;
    return gpu.cdi_name.substr(0, equals);
}

}  // namespace hostler
