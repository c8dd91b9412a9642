#include "bin/gpu_options.h"

namespace hostler::bin {

GpuOptions::GpuOptions(CLI::App& app, Hardware& hardware) {
    CLI::App* gpu = app.add_subcommand("gpu", "Show the GPUs of this host and their features");
    gpu->require_subcommand(1);
    show = gpu->add_subcommand("show", "Show all that each GPU tells at this moment");
    benchmark = gpu->add_subcommand(
        "benchmark",
        "Measure each GPU (memory, computing, transfers) and say whether it is what it claims to be");
    measure = gpu->add_subcommand(measure_command, "What `benchmark` starts")->group("");
    measure->add_option("--gpu", only, "UUID of the only GPU to measure");
    for (CLI::App* one : {show, benchmark}) {
        one->add_flag("--json", json, "As JSON, for programs");
        add_hardware_options(*one, hardware);
    }
    for (CLI::App* one : {benchmark, measure}) {
        one->add_option("--seconds", seconds, "About how long to measure each GPU")
            ->check(CLI::Range(0.1, 600.0))
            ->capture_default_str();
        one->add_option("--cuda-lib", wish.cuda, "CUDA's libcuda.so.1, where it is not where drivers put it");
    }
    challenge = gpu->add_subcommand(
        "challenge", "Have all GPUs prove at the same time that they have the memory that they claim");
    prove = gpu->add_subcommand(prove_command, "What `challenge` starts")->group("");
    challenge->add_flag("--json", json, "As JSON, for programs");
    add_hardware_options(*challenge, hardware);
    challenge->add_flag("--in-use-too", dare.in_use_too,
                        "Also when processes hold a GPU: it takes memory that they may want");
    prove->add_option("--seed", seed, "Of the words that fill the memory");
    for (CLI::App* one : {challenge, prove}) {
        one->add_option("--words", dare.words,
                        "Of 32 bits, to be filled on each GPU; 0: nine tenths of what is free")
            ->capture_default_str();
        one->add_option("--rounds", dare.rounds, "Steps that each word takes to make")
            ->check(CLI::Range(1, 1 << 20))
            ->capture_default_str();
        one->add_option("--steps", dare.steps, "Words that each walker reads")
            ->check(CLI::Range(1, 1 << 20))
            ->capture_default_str();
        one->add_option("--walkers", dare.walkers, "How many walk at the same time")
            ->check(CLI::Range(1, 1 << 16))
            ->capture_default_str();
        one->add_option("--cuda-lib", dare.cuda, "CUDA's libcuda.so.1, where it is not where drivers put it");
    }
    benchmark->add_flag("--in-use-too", wish.in_use_too,
                        "Also when processes hold a GPU: figures are lower then, and theirs too");
}

}  // namespace hostler::bin
