#include "adapters/cuda/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "adapters/cuda/kit.h"

namespace hostler::cuda {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double batch_seconds = 0.05;  // Of runs that are timed together.
constexpr std::size_t batches_min = 3, batches_max = 400;

// Runs that were wrong are a fault, not a speed.
Error wrong_results(std::string sentence) { return {Code::internal, std::move(sentence), "wrong", {}, {}}; }

// One thing to be timed: `start` begins a run, `before` and `after` stand around a batch and are not timed.
struct Race {
    std::move_only_function<Result<>()> before;
    std::move_only_function<Result<>()> start;
    std::move_only_function<Result<>()> after;  // Errors: wrong_results.
};

Result<double> median_seconds(Gpu& gpu, double budget, Race race) {
    TRY(race.before());
    TRY(race.start());
    TRY(gpu.mark_begin());
    TRY(race.start());
    const double one = std::max(1e-6, TRY(gpu.seconds_since_begin()));
    TRY(race.after());
    const auto runs = static_cast<int>(std::clamp(std::min(batch_seconds, budget / 4) / one, 1.0, 1000.0));
    std::vector<double> times;
    const auto end = Clock::now() + std::chrono::duration<double>(budget);
    while (times.size() < batches_min || (times.size() < batches_max && Clock::now() < end)) {
        TRY(race.before());
        TRY(gpu.mark_begin());
        for (int run = 0; run < runs; ++run) TRY(race.start());
        times.push_back(TRY(gpu.seconds_since_begin()) / runs);
        TRY(race.after());
    }
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return std::max(1e-9, times[times.size() / 2]);
}

std::string rounded(double value) { return fmt::format("{:.0f}", value); }

Result<> right(std::uint64_t wrong, std::uint64_t all, std::string_view where) {
    if (wrong == 0) return {};
    return std::unexpected(wrong_results(fmt::format("{}: {} of {} words were wrong", where, wrong, all)));
}

class Measuring {
public:
    Measuring(Kit& kit, const MeasureSettings& settings, std::uint32_t seed, const Tell& tell)
        : kit_(kit),
          gpu_(kit.gpu),
          library_(*kit.gpu.library),
          settings_(settings),
          seed_(seed),
          tell_(tell) {}

    // Whether the GPU can still be used.
    bool all() {
        const double part = settings_.seconds / 5;
        step("memory", [this] { return check_memory(); });
        step("copying in memory", [&] { return copy(part); });
        step("fp32", [&] { return fma(part); });
        step("matrix units", [&] { return tensor(part); });
        step("transfers", [&] { return transfers(part); });
        return !broken_;
    }

private:
    // After an error that is not about room the GPU's context is lost: nothing more is asked of it.
    void step(std::string_view name, std::move_only_function<Result<>()> what) {
        if (broken_) return;
        const auto done = what();
        if (done) return;
        const Error& error = done.error();
        const bool room = error.code == Code::exhausted;
        tell_(room ? "skipped" : "fault",
              error.reason == "wrong" ? error.message : fmt::format("{}: {}", name, error.message));
        broken_ = !room && error.reason != "wrong";
    }

    Result<> check_memory() {
        const std::size_t free = TRY(gpu_.free_bytes());
        const auto memory =
            TRY(kit_.allocate_most(free / 100 * static_cast<std::size_t>(settings_.memory_percent)));
        const std::uint64_t words = memory->bytes / 4;
        TRY(kit_.fill(*memory, words, seed_, 1));
        const std::uint64_t wrong = TRY(kit_.wrong_words(*memory, words, seed_));
        TRY(right(wrong, words, "memory"));
        tell_("memory_checked_bytes", fmt::format("{}", memory->bytes));
        return {};
    }

    Result<> copy(double budget) {
        const std::size_t room = std::min(settings_.copy_bytes, TRY(gpu_.free_bytes()) / 4);
        const auto from = TRY(kit_.allocate_most(room));
        const auto to = TRY(gpu_.allocate(from->bytes));
        const std::uint64_t words = from->bytes / 4;
        TRY(kit_.fill(*from, words, seed_, 1));
        constexpr std::uint64_t words_each = 16;  // Of a thread: a block does one piece.
        const Grid grid{.blocks = static_cast<unsigned>((words / words_each + 255) / 256)};
        const double seconds = TRY(median_seconds(
            gpu_, budget,
            {.before = [&] { return poison(*to); },
             .start = [&] { return gpu_.start(kit_.copy, grid, to->at, from->at, words); },
             .after = [&] -> Result<> {
                 return right(TRY(kit_.wrong_words(*to, words, seed_)), words, "copying in memory");
             }}));
        tell_("memory_copy_mb_s", rounded(2.0 * static_cast<double>(from->bytes) / seconds / 1e6));
        return {};
    }

    Result<> fma(double budget) {
        constexpr std::uint32_t rounds = 64;
        std::array<std::uint32_t, 32> answers{};
        for (std::uint32_t lane = 0; lane < 32; ++lane) answers[lane] = fma_answer(lane, rounds);
        const double seconds = TRY(compute(budget, "fp32", kit_.wide, answers, [&](Address out) {
            return gpu_.start(kit_.fma32, kit_.wide, out, rounds);
        }));
        const double flops = 2.0 * static_cast<double>(kit_.wide.all()) * fma_chains * fma_unrolled * rounds;
        tell_("fp32_gflops", rounded(flops / seconds / 1e9));
        return {};
    }

    Result<> tensor(double budget) {
        constexpr int capability_min = 80;
        constexpr std::uint32_t rounds = 8192;
        if (gpu_.capability < capability_min) {
            tell_("skipped",
                  fmt::format("matrix units: bf16 needs compute capability 8.0, this GPU has {}.{}",
                              gpu_.capability / 10, gpu_.capability % 10));
            return {};
        }
        const Module module = TRY(gpu_.load(tensor_kernels()));
        const Function kernel = TRY(gpu_.find(module, "tensor_bf16"));
        const Grid grid{.blocks = static_cast<unsigned>(gpu_.multiprocessors) * 4};
        const double seconds =
            TRY(compute(budget, "matrix units", grid, tensor_answers(seed_, rounds),
                        [&](Address out) { return gpu_.start(kernel, grid, out, rounds, seed_); }));
        const double flops = static_cast<double>(grid.all()) / 32 * tensor_flops * rounds;
        tell_("tensor_gflops", rounded(flops / seconds / 1e9));
        return {};
    }

    // A kernel that writes one word for each thread, the same for the same lane of each warp.
    Result<double> compute(double budget, std::string_view name, Grid grid,
                           const std::array<std::uint32_t, 32>& answers,
                           std::move_only_function<Result<>(Address)> start) {
        const auto out = TRY(gpu_.allocate(grid.all() * 4));
        std::vector<std::uint32_t> seen(grid.all());
        return median_seconds(gpu_, budget,
                              {.before = [&] { return poison(*out); },
                               .start = [&] { return start(out->at); },
                               .after = [&] -> Result<> {
                                   TRY(read(seen.data(), *out));
                                   std::uint64_t wrong = 0;
                                   for (std::size_t i = 0; i < seen.size(); ++i)
                                       wrong += seen[i] != answers[i % 32];
                                   return right(wrong, seen.size(), name);
                               }});
    }

    Result<> transfers(double budget) {
        const std::size_t room = std::min(settings_.transfer_bytes, TRY(gpu_.free_bytes()) / 4);
        const auto memory = TRY(kit_.allocate_most(room));
        const auto host = TRY(gpu_.allocate_pinned(memory->bytes));
        const std::uint64_t words = memory->bytes / 4;
        const auto rate = [&](double seconds) {
            return rounded(static_cast<double>(memory->bytes) / seconds / 1e6);
        };
        TRY(kit_.fill(*memory, words, seed_, 1));
        const double back = TRY(median_seconds(
            gpu_, budget / 2,
            {.before = [&] -> Result<> {
                 std::fill_n(host->at, words, 0U);
                 return {};
             },
             .start =
                 [&] {
                     return library_.ok(library_.call.to_host(host->at, memory->at, memory->bytes, nullptr),
                                        "no transfer to the host");
                 },
             .after = [&] -> Result<> {
                 std::uint64_t wrong = 0;
                 for (std::uint64_t i = 0; i < words; ++i)
                     wrong += host->at[i] != challenge_word(i, seed_, 1);
                 return right(wrong, words, "transfer to the host");
             }}));
        tell_("gpu_to_host_mb_s", rate(back));
        const double forth = TRY(median_seconds(
            gpu_, budget / 2,
            {.before = [&] { return poison(*memory); },
             .start =
                 [&] {
                     return library_.ok(library_.call.to_gpu(memory->at, host->at, memory->bytes, nullptr),
                                        "no transfer to the GPU");
                 },
             .after = [&] -> Result<> {
                 return right(TRY(kit_.wrong_words(*memory, words, seed_)), words, "transfer to the GPU");
             }}));
        tell_("host_to_gpu_mb_s", rate(forth));
        return {};
    }

    Result<> poison(Memory& memory) {
        return library_.ok(library_.call.fill_bytes(memory.at, 0xa5, memory.bytes),
                           "its memory is not written");
    }
    Result<> read(void* into, Memory& memory) {
        TRY(library_.ok(library_.call.to_host(into, memory.at, memory.bytes, nullptr),
                        "its memory is not read"));
        return gpu_.wait();
    }

    Kit& kit_;
    Gpu& gpu_;
    const Library& library_;
    const MeasureSettings& settings_;
    std::uint32_t seed_;
    const Tell& tell_;
    bool broken_ = false;
};

// From `a` to `b`: MB/s and whether they reach each other without the host.
Result<std::string> peer_copy(Kit& a, Kit& b, std::size_t bytes, double budget, std::uint32_t seed) {
    const auto& call = a.gpu.library->call;
    if (!call.peer_copy) return fail(Code::exhausted, "this driver does not copy between GPUs");
    TRY(b.gpu.use());
    const std::size_t room = TRY(b.gpu.free_bytes()) / 4;
    const auto to = TRY(b.allocate_most(std::min(bytes, room)));
    bytes = to->bytes;
    TRY(a.gpu.use());
    const auto from = TRY(a.gpu.allocate(bytes));
    TRY(a.fill(*from, bytes / 4, seed, 1));
    int possible = 0;
    if (call.peer_possible && call.peer_possible(&possible, a.gpu.device, b.gpu.device) == success &&
        possible != 0 && call.peer_enable) {
        const Status status = call.peer_enable(b.gpu.context, 0);
        possible = status == success || status == peer_access_already_enabled;
    }
    const double seconds = TRY(median_seconds(
        a.gpu, budget,
        {.before = [&] -> Result<> {
             TRY(b.gpu.use());
             TRY(b.gpu.library->ok(call.fill_bytes(to->at, 0xa5, bytes), "its memory is not written"));
             TRY(b.gpu.wait());
             return a.gpu.use();
         },
         .start =
             [&] {
                 return a.gpu.library->ok(
                     call.peer_copy(to->at, b.gpu.context, from->at, a.gpu.context, bytes, nullptr),
                     "no copy between GPUs");
             },
         .after = [&] -> Result<> {
             TRY(b.gpu.use());
             const auto wrong = TRY(b.wrong_words(*to, bytes / 4, seed));
             TRY(a.gpu.use());
             return right(wrong, bytes / 4, "copying to " + b.gpu.uuid);
         }}));
    return fmt::format("{} {} {}", b.gpu.uuid, rounded(static_cast<double>(bytes) / seconds / 1e6),
                       possible ? "direct" : "staged");
}

// Each to each other. An error that is neither a wrong result nor about room is not known to be of the one or
// the other, and contexts may be lost: it is the last.
void copy_between(const std::vector<std::unique_ptr<Kit>>& kits, const MeasureSettings& settings,
                  std::uint32_t seed, const std::function<void(const std::string&)>& line) {
    for (const auto& from : kits)
        for (const auto& to : kits) {
            if (from == to) continue;
            const auto told = peer_copy(*from, *to, settings.transfer_bytes, settings.seconds / 20, seed);
            const std::string& uuid = from->gpu.uuid;
            if (told) {
                line(fmt::format("{} peer {}", uuid, *told));
            } else if (told.error().reason == "wrong") {
                line(fmt::format("{} fault {}", uuid, told.error().message));
            } else if (told.error().code == Code::exhausted) {
                line(fmt::format("{} skipped {}", uuid, told.error().message));
            } else {
                line(fmt::format("problem copying from {} to {}: {}", uuid, to->gpu.uuid,
                                 told.error().message));
                return;
            }
        }
}

}  // namespace

int measure_gpus(const MeasureSettings& settings, std::FILE* out) {
    const auto line = [out](const std::string& text) {
        fmt::print(out, "{}\n", text);
        std::fflush(out);
    };
    const auto library = Library::open(settings.library);
    if (!library) {
        line((library.error().reason == "no_cuda" ? "absent " : "problem ") + library.error().message);
        line("end");
        return library.error().code == Code::not_found ? 3 : 1;
    }
    const auto gpus = open_all(*library, [&](const std::string& problem) { line("problem " + problem); });
    std::random_device dice;
    const std::uint32_t seed = dice();
    std::vector<std::unique_ptr<Kit>> kits;
    for (const auto& gpu : gpus) {
        if (!settings.gpu.empty() && gpu->uuid != settings.gpu) continue;
        const Tell tell = [&](const std::string& key, const std::string& value) {
            line(fmt::format("{} {} {}", gpu->uuid, key, value));
        };
        tell("product", gpu->product);
        auto kit = Kit::make(*gpu);
        if (!kit) {
            tell("fault", kit.error().message);
            continue;
        }
        auto kept = std::make_unique<Kit>(std::move(*kit));
        if (Measuring{*kept, settings, seed, tell}.all()) kits.push_back(std::move(kept));
    }
    copy_between(kits, settings, seed, line);
    line("end");
    return 0;
}

}  // namespace hostler::cuda
