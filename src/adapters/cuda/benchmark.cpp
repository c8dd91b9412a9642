#include "adapters/cuda/benchmark.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/cuda/lines.h"

namespace hostler::cuda {

namespace {

struct Key {
    std::string_view name;
    Metric GpuFigures::* member;
};
constexpr Key keys[] = {
    {"memory_checked_bytes", &GpuFigures::memory_checked_bytes},
    {"memory_copy_mb_s", &GpuFigures::memory_copy_mb_s},
    {"fp32_gflops", &GpuFigures::fp32_gflops},
    {"tensor_gflops", &GpuFigures::tensor_gflops},
    {"host_to_gpu_mb_s", &GpuFigures::host_to_gpu_mb_s},
    {"gpu_to_host_mb_s", &GpuFigures::gpu_to_host_mb_s},
};

void take_fact(GpuFigures& gpu, std::string_view key, std::string_view value) {
    if (const auto* row = std::ranges::find(keys, key, &Key::name); row != std::end(keys))
        gpu.*row->member = number(value);
    else if (key == "product")
        gpu.product = value;
    else if (key == "skipped")
        add_sentence(gpu.skipped, value);
    else if (key == "fault")
        add_sentence(gpu.faults, value);
    else if (key == "peer" && gpu.peers.size() < gpus_max) {
        GpuPeerFigure peer{.uuid = std::string{cut(value)}};
        peer.copy_mb_s = number(cut(value));
        peer.direct = value == "direct";
        gpu.peers.push_back(std::move(peer));
    }
}

}  // namespace

void take_line(std::string_view line, BenchmarkReport& into) {
    const auto subject = cut(line);
    if (subject == "end") {
        into.complete = true;
    } else if (subject == "problem" || subject == "absent") {
        into.absent |= subject == "absent";
        add_sentence(into.problems, line);
    } else if (subject.starts_with("GPU-")) {
        auto gpu = std::ranges::find(into.gpus, subject, &GpuFigures::uuid);
        if (gpu == into.gpus.end()) {
            if (into.gpus.size() >= gpus_max) return;
            gpu = into.gpus.insert(gpu, {.uuid = std::string{subject}});
        }
        const auto key = cut(line);
        take_fact(*gpu, key, line);
    }
}

Task<BenchmarkReport> run_benchmark(Timers& timers, BenchmarkSettings settings) {
    std::vector<std::string> arguments = settings.program;
    arguments.insert(arguments.end(),
                     {"--seconds", fmt::format("{}", std::chrono::duration<double>(settings.each).count())});
    if (!settings.library.empty()) arguments.insert(arguments.end(), {"--cuda-lib", settings.library});
    if (!settings.gpu.empty()) arguments.insert(arguments.end(), {"--gpu", settings.gpu});
    BenchmarkReport report;
    Child child;
    CO_TRY(child.start(std::move(arguments)));
    const Listening listening{.silence_max = settings.each + settings.silence_max,
                              .lines_max = settings.lines_max};
    const std::string trouble = CO_TRY(co_await listen(timers, child, listening, [&](std::string_view line) {
        take_line(line, report);
        return !report.complete;
    }));
    if (!trouble.empty()) report.problems.push_back(trouble);
    co_return report;
}

}  // namespace hostler::cuda
