// What a benchmark says of a GPU on its way back.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/health/state.h"
#include "domain/inventory/figures.h"
#include "domain/inventory/host.h"

namespace hostler::health {

struct Retest {
    enum class Outcome {
        passed,
        failed,
        skipped,  // There is nothing to measure it with; silence has to do.
    };
    Outcome outcome = Outcome::skipped;
    Remedy remedy = Remedy::none;  // Of one that failed.
    std::string sentence;
};

// GpuEvidence::kind of what it said.
inline constexpr std::string_view retest_kind = "retest";

Retest skipped_retest(std::string_view why);

struct Benchmarked {
    std::span<const GpuFigures> gpus;
    std::span<const std::string> problems;
    bool complete = false;  // It got to its end.
    bool absent = false;    // There is nothing to measure GPUs with.
};
Retest judge_retest(const GpuFacts& gpu, const Benchmarked& found);

}  // namespace hostler::health
