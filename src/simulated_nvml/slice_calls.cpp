// GPUs that are cut (MIG): their slices, and what each is. A slice's handle answers some functions of GPUs
// too.
#include "simulated_nvml/call.h"

using namespace hostler::simulated;

namespace {

constexpr unsigned slices_max = 7;  // Of one GPU.

GpuInstance instance_handle(const std::string& gpu, unsigned id) {
    return reinterpret_cast<GpuInstance>(handle_of("gpu instance " + std::to_string(id) + " of " + gpu));
}

}  // namespace

SIMULATED Status nvmlDeviceGetMigMode(Device device, unsigned* mode, unsigned* pending) {
    BEGIN("nvmlDeviceGetMigMode", device);
    const std::string mig = call.gpu->text("mig", "unsupported");
    if (mig == "unsupported") return not_supported;
    if (!mode || !pending) return invalid_argument;
    *pending = mig == "enabled";
    return put(mode, mig == "enabled");
}

SIMULATED Status nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
    BEGIN("nvmlDeviceGetMaxMigDeviceCount", device);
    return put(count, call.gpu->text("mig", "unsupported") == "unsupported" ? 0 : slices_max);
}

SIMULATED Status nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* slice) {
    BEGIN("nvmlDeviceGetMigDeviceHandleByIndex", device);
    if (call.gpu->text("mig", "unsupported") == "unsupported") return not_supported;
    if (index >= slices_max) return invalid_argument;
    const auto slices = slices_of(*call.gpu);
    if (index >= slices.size()) return not_found;
    if (!slice) return invalid_argument;
    *slice = handle_of(slices[index].uuid);
    return success;
}

SIMULATED Status nvmlDeviceIsMigDeviceHandle(Device device, unsigned* is_slice) {
    BEGIN_EITHER("nvmlDeviceIsMigDeviceHandle", device);
    return put(is_slice, call.slice ? 1 : 0);
}

SIMULATED Status nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device slice, Device* gpu) {
    BEGIN_EITHER("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", slice);
    if (!call.slice || !gpu) return invalid_argument;
    *gpu = handle_of(call.gpu->text("uuid"));
    return success;
}

SIMULATED Status nvmlDeviceGetGpuInstanceId(Device slice, unsigned* id) {
    BEGIN_EITHER("nvmlDeviceGetGpuInstanceId", slice);
    return call.slice ? put(id, call.slice->gpu_instance) : not_supported;
}

SIMULATED Status nvmlDeviceGetComputeInstanceId(Device slice, unsigned* id) {
    BEGIN_EITHER("nvmlDeviceGetComputeInstanceId", slice);
    return call.slice ? put(id, call.slice->compute_instance) : not_supported;
}

SIMULATED Status nvmlDeviceGetAttributes_v2(Device slice, Attributes* attributes) {
    BEGIN_EITHER("nvmlDeviceGetAttributes_v2", slice);
    if (!call.slice) return not_supported;
    if (!attributes) return invalid_argument;
    const unsigned media = call.slice->media ? 1 : 0;
    *attributes = {.multiprocessors = call.slice->multiprocessors,
                   .copy_engines = call.slice->gpu_slices,
                   .decoders = call.slice->gpu_slices,
                   .encoders = 0,
                   .jpeg_units = media,
                   .flow_units = media,
                   .gpu_slices = call.slice->gpu_slices,
                   .compute_slices = call.slice->compute_slices,
                   .memory_mib = call.slice->memory_mib};
    return success;
}

SIMULATED Status nvmlDeviceGetGpuInstanceById(Device device, unsigned id, GpuInstance* instance) {
    BEGIN("nvmlDeviceGetGpuInstanceById", device);
    if (!instance) return invalid_argument;
    for (const Slice& slice : slices_of(*call.gpu))
        if (slice.gpu_instance == id) {
            *instance = instance_handle(call.gpu->text("uuid"), id);
            return success;
        }
    return not_found;
}

SIMULATED Status nvmlGpuInstanceGetInfo(GpuInstance instance, GpuInstanceInfo* info) {
    BEGIN("nvmlGpuInstanceGetInfo");
    if (!info) return invalid_argument;
    for (const Section* gpu : call.state->present())
        for (const Slice& slice : slices_of(*gpu)) {
            const std::string uuid = gpu->text("uuid");
            if (instance_handle(uuid, slice.gpu_instance) != instance) continue;
            *info = {.device = handle_of(uuid),
                     .id = slice.gpu_instance,
                     .profile = 0,
                     .placement = {slice.start, slice.size}};
            return success;
        }
    return invalid_argument;
}
