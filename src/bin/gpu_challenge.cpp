// `hostler-agent gpu challenge`, and the processes that use CUDA.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "adapters/cuda/challenge.h"
#include "adapters/cuda/measure.h"
#include "bin/described_json.h"
#include "bin/gpu_commands.h"

namespace hostler::bin {

namespace {

namespace json = boost::json;

struct Verified {
    GpuProof proof;
    bool right = false;
    std::size_t asked = 0;  // Walkers whose ways were walked again.
};

Verified verify(GpuChallenge challenge, const GpuProof& proof, Random& random) {
    constexpr std::size_t asked_count = 4;
    challenge = own_challenge(challenge, proof.uuid);
    const bool as_large = challenge.words == 0 || challenge.words == proof.words;
    challenge.words = proof.words;
    std::vector<std::uint32_t> asked;
    for (std::size_t i = 0; i < asked_count; ++i)
        asked.push_back(static_cast<std::uint32_t>(random_number(random) % challenge.walkers));
    return {proof, as_large && proof.words > 0 && answers_challenge(challenge, proof.answers, asked),
            asked.size()};
}

void print_json(const std::vector<Verified>& gpus, const cuda::ChallengeReport& report) {
    json::array all;
    for (const auto& [proof, right, asked] : gpus)
        all.push_back(json::object{{"uuid", proof.uuid},
                                   {"bytes", proof.words * 4},
                                   {"fillUs", proof.fill_us},
                                   {"walkUs", proof.walk_us},
                                   {"walkers", proof.answers.size()},
                                   {"verified", asked},
                                   {"right", right},
                                   {"problems", to_json(proof.problems)}});
    fmt::print("{}\n", json::serialize(json::object{{"complete", report.complete},
                                                    {"problems", to_json(report.problems)},
                                                    {"gpus", std::move(all)}}));
}

std::string milliseconds(std::int64_t us) {
    return us < 0 ? std::string{"-"} : fmt::format("{:.1f} ms", static_cast<double>(us) / 1e3);
}

void print_table(const std::vector<Verified>& gpus, const cuda::ChallengeReport& report) {
    if (!gpus.empty())
        fmt::print("{:<40}  {:>9}  {:>9}  {:>9}  {:>7}  {}\n", "GPU", "MEMORY", "FILL", "WALK", "WALKERS",
                   "ANSWERS");
    for (const auto& [proof, right, asked] : gpus) {
        fmt::print("{:<40}  {:>9}  {:>9}  {:>9}  {:>7}  {}\n", proof.uuid,
                   fmt::format("{:.1f} GiB", static_cast<double>(proof.words) * 4 / (1 << 30)),
                   milliseconds(proof.fill_us), milliseconds(proof.walk_us), proof.answers.size(),
                   right                   ? fmt::format("right ({} walked again)", asked)
                   : proof.answers.empty() ? std::string{"none"}
                                           : std::string{"wrong"});
        for (const auto& problem : proof.problems) fmt::print("  {}\n", problem);
    }
    for (const auto& problem : report.problems) fmt::print(stderr, "note: {}\n", problem);
}

// For processes that use CUDA: gone when their parent is, all GPUs, and nothing left behind on the disk.
void settle() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::setenv("CUDA_CACHE_DISABLE", "1", 1);
}

}  // namespace

Task<> challenge_gpus(Timers& timers, Random& random, std::vector<Telemetry*> eyes, ChallengeWish wish) {
    if (!wish.in_use_too) CO_TRY(co_await see_unused(std::move(eyes)));
    const GpuChallenge challenge{.words = wish.words / 4 * 4,
                                 .seed = static_cast<std::uint32_t>(random_number(random)),
                                 .rounds = wish.rounds,
                                 .path_seed = static_cast<std::uint32_t>(random_number(random)),
                                 .steps = wish.steps,
                                 .walkers = wish.walkers};
    const auto report = CO_TRY(co_await cuda::run_challenge(
        timers,
        {.program = {"/proc/self/exe", "gpu", prove_command}, .library = wish.cuda, .challenge = challenge}));
    std::vector<Verified> verified;
    for (const GpuProof& proof : report.gpus) verified.push_back(verify(challenge, proof, random));
    if (wish.format == GpuFormat::json)
        print_json(verified, report);
    else
        print_table(verified, report);
    if (!report.complete) co_return fail(Code::unavailable, "the challenge did not end");
    if (verified.empty()) co_return fail(Code::not_found, "nothing answered");
    if (!std::ranges::all_of(verified, &Verified::right))
        co_return fail(Code::conflict, "not every GPU has proven what it claims");
    co_return Result<>{};
}

int prove_main(const ChallengeWish& wish, std::uint32_t seed) {
    settle();
    return cuda::prove_gpus(wish.cuda,
                            {.words = wish.words,
                             .seed = seed,
                             .rounds = wish.rounds,
                             .steps = wish.steps,
                             .walkers = wish.walkers},
                            stdin, stdout);
}

int measure_main(const std::string& cuda, const std::string& gpu, double seconds) {
    settle();
    return cuda::measure_gpus({.library = cuda, .gpu = gpu, .seconds = seconds}, stdout);
}

}  // namespace hostler::bin
