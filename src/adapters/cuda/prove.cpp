#include <fmt/format.h>

#include <chrono>
#include <latch>
#include <mutex>
#include <string>
#include <thread>

#include "adapters/cuda/kit.h"
#include "adapters/cuda/measure.h"

namespace hostler::cuda {

namespace {

using Clock = std::chrono::steady_clock;

std::string microseconds_since(Clock::time_point begin) {
    return fmt::format("{:.0f}", std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
}

// What all GPUs wait for before they walk.
struct Start {
    std::latch filled, told{1};
    std::uint32_t path_seed = 0;
};

// One GPU's part. Counts `filled` down once, whatever happens.
class Prover {
public:
    Prover(Gpu& gpu, const GpuChallenge& challenge, const Tell& tell)
        : gpu_(gpu), challenge_(challenge), tell_(tell) {}

    Result<> fill() {
        kit_ = std::make_unique<Kit>(TRY(Kit::make(gpu_)));
        const std::size_t free = TRY(gpu_.free_bytes());
        memory_ = challenge_.words > 0 ? TRY(gpu_.allocate(challenge_.words * 4))
                                       : TRY(kit_->allocate_most(free / 100 * share_percent));
        challenge_.words = memory_->bytes / 4;
        grid_.blocks = (challenge_.walkers + grid_.threads - 1) / grid_.threads;
        out_ = TRY(gpu_.allocate(grid_.all() * 4));
        TRY(gpu_.wait());
        const auto begin = Clock::now();
        TRY(kit_->fill(*memory_, challenge_.words, challenge_.seed, challenge_.rounds));
        TRY(gpu_.wait());
        tell_("words", fmt::format("{}", challenge_.words));
        tell_("fill_us", microseconds_since(begin));
        return {};
    }

    Result<> walk(std::uint32_t path_seed) {
        const auto begin = Clock::now();
        TRY(gpu_.start(kit_->walk, grid_, memory_->at, challenge_.words, path_seed, challenge_.steps,
                       out_->at));
        TRY(gpu_.wait());
        const std::string took = microseconds_since(begin);
        std::vector<std::uint32_t> answers(grid_.all());
        TRY(gpu_.library->ok(gpu_.library->call.to_host(answers.data(), out_->at, out_->bytes, nullptr),
                             "its answers are not read"));
        TRY(gpu_.wait());
        std::string text;
        for (std::uint32_t walker = 0; walker < challenge_.walkers; ++walker)
            text += fmt::format("{:08x}", answers[walker]);
        tell_("walk_us", took);
        tell_("answers", text);
        return {};
    }

private:
    static constexpr std::size_t share_percent = 90;
    Gpu& gpu_;
    GpuChallenge challenge_;
    const Tell& tell_;
    std::unique_ptr<Kit> kit_;
    MemoryPtr memory_, out_;
    Grid grid_;
};

void prove(Gpu& gpu, const GpuChallenge& challenge, Start& start, const Tell& tell) {
    Prover prover{gpu, challenge, tell};
    const auto filled = prover.fill();
    start.filled.count_down();
    start.told.wait();
    const auto done = filled ? prover.walk(path_seed_of(start.path_seed, gpu.uuid)) : filled;
    if (!done) tell(done.error().code == Code::exhausted ? "skipped" : "fault", done.error().message);
}

// A number on a line; 0 if there is none.
std::uint32_t read_number(std::FILE* in) {
    char text[32] = {};
    if (!std::fgets(text, sizeof text, in)) return 0;
    return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace

int prove_gpus(const std::string& library_path, const GpuChallenge& challenge, std::FILE* in,
               std::FILE* out) {
    std::mutex mutex;
    const auto line = [&](const std::string& text) {
        const std::scoped_lock lock{mutex};
        fmt::print(out, "{}\n", text);
        std::fflush(out);
    };
    const auto library = Library::open(library_path);
    if (!library) {
        line("problem " + library.error().message);
        line("end");
        return library.error().code == Code::not_found ? 3 : 1;
    }
    const auto gpus = open_all(*library, [&](const std::string& problem) { line("problem " + problem); });
    Start start{.filled = std::latch{static_cast<std::ptrdiff_t>(gpus.size())}};
    {
        std::vector<std::jthread> threads;
        for (const auto& gpu : gpus)
            threads.emplace_back([&] {
                prove(*gpu, own_challenge(challenge, gpu->uuid), start,
                      [&](const std::string& key, const std::string& value) {
                          line(fmt::format("{} {} {}", gpu->uuid, key, value));
                      });
            });
        start.filled.wait();
        line("filled");
        start.path_seed = read_number(in);
        start.told.count_down();
    }
    line("end");
    return 0;
}

}  // namespace hostler::cuda
