#include "domain/inventory/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hostler {

namespace {

bool can_be_lent(const GpuFacts& gpu) { return !gpu.cdi_name.empty(); }

std::string of_gpu(const GpuFacts& gpu, std::string_view what) {
    return fmt::format("GPU {} ({}): {}", gpu.uuid, gpu.model, what);
}

std::string evidence_of(const RatedGpu& gpu) {
    const auto& evidence = gpu.rating.evidence;
    return fmt::format("it is {}{}{}", boost::describe::enum_to_string(gpu.rating.verdict, ""),
                       evidence.empty() ? "" : ": ", evidence.empty() ? std::string{} : evidence.front());
}

bool failed(GpuVerdict verdict) {
    switch (verdict) {
        case GpuVerdict::slow:
        case GpuVerdict::wrong_model:
        case GpuVerdict::faulty: return true;
        case GpuVerdict::as_expected:
        case GpuVerdict::unrated: break;
    }
    return false;
}

// What it failed in.
std::vector<std::string> failures(const HostFacts& facts, const HostAdmission& known,
                                  const std::string& twin) {
    std::vector<std::string> found;
    if (!twin.empty()) found.push_back(twin);
    for (const GpuFacts& gpu : facts.gpus) {
        for (const std::string& sentence : identity_conflicts(gpu)) found.push_back(of_gpu(gpu, sentence));
        if (const RatedGpu* measured = rated(known, gpu.uuid); measured && failed(measured->rating.verdict))
            found.push_back(of_gpu(gpu, evidence_of(*measured)));
    }
    found.insert(found.end(), known.unproven.begin(), known.unproven.end());
    return found;
}

// What it could not be tested in, now or ever.
std::vector<std::string> untested(const HostFacts& facts, const HostAdmission& known) {
    if (!facts.measures) return {"Its agent measures nothing: upgrade it."};
    if (!facts.unmeasurable.empty()) return {facts.unmeasurable};
    std::vector<std::string> found;
    for (const GpuFacts& gpu : facts.gpus)
        if (const RatedGpu* measured = rated(known, gpu.uuid);
            can_be_lent(gpu) && measured && measured->rating.verdict == GpuVerdict::unrated)
            found.push_back(of_gpu(gpu, evidence_of(*measured)));
    return found;
}

bool awaits_figures(const HostFacts& facts, const HostAdmission& known) {
    return facts.measures && facts.unmeasurable.empty() &&
           std::ranges::any_of(
               facts.gpus, [&](const GpuFacts& gpu) { return can_be_lent(gpu) && !rated(known, gpu.uuid); });
}

}  // namespace

const RatedGpu* rated(const HostAdmission& admission, const std::string& gpu) {
    const auto found =
        std::ranges::find(admission.gpus, gpu, [](const RatedGpu& one) { return one.figures.uuid; });
    return found == admission.gpus.end() ? nullptr : &*found;
}

std::vector<RatedGpu> rate_host(const HostFacts& facts, const HostFigures& figures) {
    std::vector<RatedGpu> all;
    for (const GpuFacts& gpu : facts.gpus) {
        const auto found = std::ranges::find(figures.gpus, gpu.uuid, &GpuFigures::uuid);
        if (found != figures.gpus.end()) {
            RatedGpu& one = all.emplace_back(*found, rate_gpu(gpu, *found));
            if (!found->product.empty() && !gpu.product.empty() && found->product != gpu.product)
                one.rating.evidence.push_back(
                    fmt::format("its driver calls it \"{}\", CUDA \"{}\"", gpu.product, found->product));
        } else if (can_be_lent(gpu)) {
            RatedGpu& one = all.emplace_back();
            one.figures.uuid = gpu.uuid;
            one.rating.evidence.push_back(
                figures.problems.empty()
                    ? "nothing was measured of it"
                    : fmt::format("nothing was measured of it: {}", fmt::join(figures.problems, "; ")));
        }
    }
    return all;
}

Admitted judge_admission(const HostFacts& facts, const HostAdmission& known, AdmissionRule rule, bool trusted,
                         const std::string& twin) {
    if (rule == AdmissionRule::off) return {};
    const bool by_word = !known.let_in.empty() && std::ranges::all_of(facts.gpus, [&](const GpuFacts& gpu) {
        return std::ranges::count(known.let_in, gpu.uuid) > 0;
    });
    auto against = failures(facts, known, twin);
    if (by_word) {
        against.insert(against.begin(), "An operator has let it in.");
        return {Admission::admitted, std::move(against)};
    }
    if (!against.empty()) return {Admission::refused, std::move(against)};
    if (std::ranges::none_of(facts.gpus, can_be_lent)) return {};
    if (awaits_figures(facts, known)) {
        // One that sold before it could be measured goes on until it is.
        const bool sold =
            known.state == Admission::admitted && known.measured_at == 0 && rule != AdmissionRule::required;
        return {sold ? Admission::admitted : Admission::unmeasured,
                {known.failure.empty() ? "It was not measured so far."
                                       : "It could not be measured: " + known.failure}};
    }
    auto open = untested(facts, known);
    if (open.empty() || (trusted && rule == AdmissionRule::standard))
        return {Admission::admitted, std::move(open)};
    open.insert(open.begin(), "It could not be tested.");
    return {Admission::refused, std::move(open)};
}

bool measuring_due(const HostFacts& facts, const HostAdmission& known) {
    if (!facts.measures || (facts.simulated && !facts.unmeasurable.empty())) return false;
    return known.wanted || known.measured_at == 0 || awaits_figures(facts, known) ||
           (facts.unmeasurable.empty() && known.driver_version != facts.driver_version);
}

GpuTier tier_of(const HostFacts& facts, const HostAdmission& known) {
    std::optional<GpuTier> lowest;
    for (const GpuFacts& gpu : facts.gpus) {
        if (!can_be_lent(gpu)) continue;
        const RatedGpu* measured = rated(known, gpu.uuid);
        const bool sure = measured && measured->rating.verdict == GpuVerdict::as_expected;
        const GpuTier tier = sure ? measured->rating.tier : GpuTier::unrated;
        lowest = std::max(lowest.value_or(tier), tier);
    }
    return lowest.value_or(GpuTier::unrated);
}

bool can_prove(const HostAdmission& known, const GpuFacts& gpu) {
    const RatedGpu* measured = rated(known, gpu.uuid);
    return can_be_lent(gpu) && measured && measured->rating.verdict == GpuVerdict::as_expected;
}

std::vector<std::string> doubts(const std::vector<GpuFacts>& gpus, const GpuChallenge& challenge,
                                const std::vector<GpuProof>& proofs, std::span<const std::uint32_t> asked) {
    constexpr int filled_min_percent =
        75;  // Of the memory that it says it has. Nine tenths of what is free are.
    std::vector<std::string> found;
    for (const GpuFacts& gpu : gpus) {
        const auto proof = std::ranges::find(proofs, gpu.uuid, &GpuProof::uuid);
        if (proof == proofs.end() || proof->answers.empty()) {
            found.push_back(of_gpu(gpu, proof == proofs.end() || proof->problems.empty()
                                            ? "it gave no answer to a challenge"
                                            : proof->problems.front()));
            continue;
        }
        const auto filled = static_cast<double>(proof->words) * 4;
        if (filled * 100 < static_cast<double>(gpu.memory_bytes) * filled_min_percent)
            found.push_back(of_gpu(
                gpu, fmt::format("it filled {:.1f} GiB of the {:.1f} that it says it has", filled / (1 << 30),
                                 static_cast<double>(gpu.memory_bytes) / (1 << 30))));
        GpuChallenge own = own_challenge(challenge, gpu.uuid);
        own.words = proof->words;
        if (!answers_challenge(own, proof->answers, asked))
            found.push_back(of_gpu(gpu,
                                   "its answer to a challenge is wrong: it has not the memory, or has not "
                                   "computed"));
    }
    return found;
}

}  // namespace hostler
