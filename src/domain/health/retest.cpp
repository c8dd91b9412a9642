#include "domain/health/retest.h"

#include <fmt/format.h>

#include <algorithm>

#include "domain/inventory/rating.h"

namespace hostler::health {

namespace {

Retest failed(Remedy remedy, std::string_view why) {
    return {Retest::Outcome::failed, remedy, fmt::format("its benchmark after the reset: {}", why)};
}

std::string_view first(std::span<const std::string> sentences, std::string_view otherwise) {
    return sentences.empty() ? otherwise : std::string_view{sentences.front()};
}

std::string in_words(const GpuFigures& figures, const GpuRating& rating) {
    const auto shown = [](std::string_view what, const Metric& value, double divisor, std::string_view unit) {
        return value ? fmt::format(", {} {:.3g} {}", what, static_cast<double>(*value) / divisor, unit)
                     : std::string{};
    };
    return fmt::format("its benchmark after the reset was right ({}{}{}{}{})",
                       boost::describe::enum_to_string(rating.verdict, ""),
                       shown("memory checked", figures.memory_checked_bytes, 1 << 30, "GiB"),
                       shown("copied", figures.memory_copy_mb_s, 1e3, "GB/s"),
                       shown("fp32", figures.fp32_gflops, 1e3, "TFLOPS"),
                       shown("matrix units", figures.tensor_gflops, 1e3, "TFLOPS"));
}

}  // namespace

Retest skipped_retest(std::string_view why) {
    return {Retest::Outcome::skipped, Remedy::none,
            fmt::format("it came back without a benchmark, which was skipped: {}", why)};
}

Retest judge_retest(const GpuFacts& gpu, const Benchmarked& found) {
    if (found.absent) return skipped_retest(first(found.problems, "there is no CUDA"));
    const auto figures = std::ranges::find(found.gpus, gpu.uuid, &GpuFigures::uuid);
    if (figures == found.gpus.end())
        return failed(Remedy::drain_and_reset, first(found.problems, "CUDA does not see it"));
    if (!figures->faults.empty()) return failed(Remedy::replace, figures->faults.front());
    if (!found.complete) return failed(Remedy::drain_and_reset, first(found.problems, "it did not end"));
    const GpuRating rating = rate_gpu(gpu, *figures);
    switch (rating.verdict) {
        case GpuVerdict::faulty: return failed(Remedy::replace, first(rating.evidence, "it is faulty"));
        case GpuVerdict::slow:
        case GpuVerdict::wrong_model:
            return failed(Remedy::service, first(rating.evidence, "it is too slow"));
        case GpuVerdict::as_expected:
        case GpuVerdict::unrated: break;
    }
    return {Retest::Outcome::passed, Remedy::none, in_words(*figures, rating)};
}

}  // namespace hostler::health
