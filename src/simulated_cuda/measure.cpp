// What `hostler-agent gpu measure` and `gpu prove` are, by themselves. Beyond that it plays one that goes
// wrong.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "adapters/cuda/measure.h"

int main(int count, char** arguments) {
    hostler::cuda::MeasureSettings settings;
    hostler::GpuChallenge challenge;
    for (int i = 1; i + 1 < count; ++i) {
        const std::string_view name = arguments[i];
        const auto number = static_cast<std::uint32_t>(std::strtoul(arguments[i + 1], nullptr, 10));
        if (name == "--words") challenge.words = number;
        if (name == "--seed") challenge.seed = number;
        if (name == "--rounds") challenge.rounds = number;
        if (name == "--steps") challenge.steps = number;
        if (name == "--walkers") challenge.walkers = number;
        if (name == "--cuda-lib") settings.library = arguments[i + 1];
        if (name == "--gpu") settings.gpu = arguments[i + 1];
        if (name == "--seconds") settings.seconds = std::atof(arguments[i + 1]);
        if (name == "--play" && std::string_view{arguments[i + 1]} == "chatter")
            for (;;) fmt::print("GPU-0 fault it never ends\n");
    }
    if (count > 1 && std::string_view{arguments[1]} == "prove")
        return hostler::cuda::prove_gpus(settings.library, challenge, stdin, stdout);
    return hostler::cuda::measure_gpus(settings, stdout);
}
