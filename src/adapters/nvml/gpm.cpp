#include "adapters/nvml/gpm.h"

#include <algorithm>
#include <cmath>

namespace hostler::nvml {

namespace {

struct Wanted {
    GpmMetricId metric;
    Metric GpuActivity::* into;
};
constexpr Wanted wanted[] = {{gpm_graphics, &GpuActivity::graphics_active_ppm},
                             {gpm_sm, &GpuActivity::sm_active_ppm},
                             {gpm_tensor, &GpuActivity::tensor_active_ppm},
                             {gpm_memory, &GpuActivity::memory_active_ppm}};

}  // namespace

Gpm::~Gpm() {
    for (const GpmSample sample : {before_, now_})
        if (sample) session_->call.gpm_free(sample);
}

bool Gpm::prepare(Reader& gpu) {
    if (can_ != Can::unknown) return can_ == Can::yes;
    const Functions& call = gpu.call;
    GpmSupport support{.version = 1, .supported = 0};
    can_ = Can::no;
    if (!call.gpm_alloc || !call.gpm_free || !call.gpm_sample || !call.gpm_metrics) return false;
    if (gpu_instance_ && !call.gpm_mig_sample) return false;
    if (!gpu.ask(call.gpm_support, &support) || support.supported == 0) return false;
    if (call.gpm_alloc(&before_) != success || call.gpm_alloc(&now_) != success) return false;
    can_ = Can::yes;
    return true;
}

bool Gpm::take(Reader& gpu) {
    return gpu_instance_ ? gpu.ask(gpu.call.gpm_mig_sample, *gpu_instance_, now_)
                         : gpu.ask(gpu.call.gpm_sample, now_);
}

void Gpm::read(Reader& gpu, GpuActivity& activity) {
    if (!prepare(gpu)) return;
    if (!take(gpu)) {
        has_before_ = false;
        return;
    }
    if (has_before_) {
        const auto get = std::make_unique<GpmMetricsGet>();
        get->version = 1;
        get->count = std::size(wanted);
        get->before = before_;
        get->after = now_;
        for (std::size_t i = 0; i < std::size(wanted); ++i) get->metrics[i].metric = wanted[i].metric;
        if (gpu.call.gpm_metrics(get.get()) == success)
            for (std::size_t i = 0; i < std::size(wanted); ++i) {
                const GpmMetric& metric = get->metrics[i];
                if (metric.status != success || !std::isfinite(metric.value)) continue;
                constexpr double ppm_of_percent = 10'000;
                activity.*wanted[i].into =
                    std::llround(std::clamp(metric.value, 0.0, 100.0) * ppm_of_percent);
            }
    }
    std::swap(before_, now_);
    has_before_ = true;
}

}  // namespace hostler::nvml
