#include "roles/master/state/feature.h"
#include "roles/master/benchmark/qualification.h"
#include "roles/master/command/commands.h"
#include "roles/master/leader/term.h"

namespace hostler::master {

void add_measuring(Api& service);

static constexpr ApiPart benchmark_api[] = {add_measuring};
static constexpr VerbRow benchmark_verbs[] = {
    {Verb::measure_host, note_measured},
    {Verb::prove_gpus, note_proving_ended},
};
extern const Feature benchmark_feature{
    .name = "benchmark",
    .api = benchmark_api,
    .verbs = benchmark_verbs,
    .sweep = [](Term& term, Desk& desk) { watch_measuring(desk, term.ports().checker != nullptr); },
    .host_described = judge_host,
    .host_gone = forget_gpus,
};

}  // namespace hostler::master
