// Profiling metrics, of GPUs whose section names them.
#include "simulated_nvml/call.h"

using namespace hostler::simulated;

namespace hostler::nvml {
struct GpmSampleHandle {
    Device device = nullptr;  // Null: nothing was sampled into it.
    std::optional<unsigned> gpu_instance;
};
}  // namespace hostler::nvml

SIMULATED Status nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
    BEGIN("nvmlGpmQueryDeviceSupport", device);
    if (!support) return invalid_argument;
    if (support->version != 1) return argument_version_mismatch;
    return put(&support->supported, call.gpu->has("graphics_active") ? 1 : 0);
}

SIMULATED Status nvmlGpmSampleAlloc(GpmSample* sample) {
    BEGIN("nvmlGpmSampleAlloc");
    if (!sample) return invalid_argument;
    *sample = new hostler::nvml::GpmSampleHandle;
    return success;
}

SIMULATED Status nvmlGpmSampleFree(GpmSample sample) {
    delete sample;
    return success;
}

SIMULATED Status nvmlGpmSampleGet(Device device, GpmSample sample) {
    BEGIN("nvmlGpmSampleGet", device);
    NEEDS("graphics_active");
    if (call.gpu->text("mig") == "enabled") return not_supported;
    if (!sample) return invalid_argument;
    *sample = {.device = device};
    return success;
}

SIMULATED Status nvmlGpmMigSampleGet(Device device, unsigned gpu_instance, GpmSample sample) {
    BEGIN("nvmlGpmMigSampleGet", device);
    NEEDS("graphics_active");
    if (!sample) return invalid_argument;
    for (const Slice& slice : slices_of(*call.gpu))
        if (slice.gpu_instance == gpu_instance) {
            *sample = {.device = device, .gpu_instance = gpu_instance};
            return success;
        }
    return not_found;
}

SIMULATED Status nvmlGpmMetricsGet(GpmMetricsGet* get) {
    if (!get || !get->before || !get->after || get->count > gpm_metrics_max) return invalid_argument;
    if (get->version != 1) return argument_version_mismatch;
    if (!get->before->device || get->before->device != get->after->device ||
        get->before->gpu_instance != get->after->gpu_instance)
        return invalid_argument;
    BEGIN("nvmlGpmMetricsGet", get->after->device);
    static constexpr struct {
        GpmMetricId metric;
        const char* key;
    } keys[] = {{gpm_graphics, "graphics_active"},
                {gpm_sm, "sm_active"},
                {gpm_tensor, "tensor_active"},
                {gpm_memory, "memory_active"}};
    std::optional<double> of_slice;
    for (const Slice& slice : slices_of(*call.gpu))
        if (slice.gpu_instance == get->after->gpu_instance) of_slice = slice.active_percent;
    for (unsigned i = 0; i < get->count; ++i) {
        GpmMetric& metric = get->metrics[i];
        metric.status = not_supported;
        for (const auto& [number, key] : keys)
            if (metric.metric == number && call.gpu->has(key)) {
                metric.value = of_slice.value_or(static_cast<double>(call.value(key)));
                metric.status = success;
            }
    }
    return success;
}
