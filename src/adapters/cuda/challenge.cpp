#include "adapters/cuda/challenge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "adapters/cuda/lines.h"

namespace hostler::cuda {

namespace {

std::vector<std::uint32_t> answers_of(std::string_view text) {
    constexpr std::size_t digits = 8;
    std::vector<std::uint32_t> answers;
    for (; text.size() >= digits; text.remove_prefix(digits)) {
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, 16);
        if (error != std::errc{} || end != text.data() + digits) return {};
        answers.push_back(value);
    }
    return answers;
}

}  // namespace

void take_line(std::string_view line, ChallengeReport& into) {
    const auto subject = cut(line);
    if (subject == "end") into.complete = true;
    if (subject == "problem") add_sentence(into.problems, line);
    if (!subject.starts_with("GPU-")) return;
    auto gpu = std::ranges::find(into.gpus, subject, &GpuProof::uuid);
    if (gpu == into.gpus.end()) {
        if (into.gpus.size() >= gpus_max) return;
        gpu = into.gpus.insert(gpu, {.uuid = std::string{subject}});
    }
    const auto key = cut(line);
    if (key == "words") gpu->words = static_cast<std::uint64_t>(number(line).value_or(0));
    if (key == "fill_us") gpu->fill_us = number(line).value_or(-1);
    if (key == "walk_us") gpu->walk_us = number(line).value_or(-1);
    if (key == "answers") gpu->answers = answers_of(line);
    if (key == "skipped" || key == "fault") add_sentence(gpu->problems, line);
}

Task<ChallengeReport> run_challenge(Timers& timers, ChallengeSettings settings) {
    std::vector<std::string> arguments = settings.program;
    const GpuChallenge& challenge = settings.challenge;
    const std::pair<const char*, std::uint64_t> numbers[] = {{"--words", challenge.words},
                                                             {"--seed", challenge.seed},
                                                             {"--rounds", challenge.rounds},
                                                             {"--steps", challenge.steps},
                                                             {"--walkers", challenge.walkers}};
    for (const auto& [name, value] : numbers)
        arguments.insert(arguments.end(), {name, fmt::format("{}", value)});
    if (!settings.library.empty()) arguments.insert(arguments.end(), {"--cuda-lib", settings.library});
    ChallengeReport report;
    Child child;
    CO_TRY(child.start(std::move(arguments)));
    const Listening listening{.silence_max = settings.silence_max};
    bool filled = false;
    std::string trouble = CO_TRY(co_await listen(timers, child, listening, [&](std::string_view line) {
        take_line(line, report);
        filled = line == "filled";
        return !filled && !report.complete;
    }));
    if (filled) {
        const std::uint32_t path_seed =
            settings.path_seed ? CO_TRY(co_await settings.path_seed()) : challenge.path_seed;
        child.say(fmt::format("{}", path_seed));
        trouble = CO_TRY(co_await listen(timers, child, listening, [&](std::string_view line) {
            take_line(line, report);
            return !report.complete;
        }));
    }
    if (!trouble.empty()) report.problems.push_back(trouble);
    co_return report;
}

}  // namespace hostler::cuda
