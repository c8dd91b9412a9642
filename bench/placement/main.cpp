// bench-placement: the published placement experiment on any trace in its form; `--help` lists the options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "bench/placement/experiment.h"

namespace {

using namespace hostler;
using namespace hostler::bench;

struct Options {
    std::string nodes, pods, seeds = "42..51", policy = "hostler", json, decisions;
    std::uint32_t ties = 1;
    bool scale = false;
};

// One line for each task, in the order in which they came.
class Log {
public:
    explicit Log(const std::string& path) : file_(path) {
        file_ << "arrival,task,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,node,gpus,allocated_milli\n";
    }
    void write(const Trace& trace, const Decided& decided) {
        const auto& [arrival, task, choice, allocated] = decided;
        const Shape& shape = task->shape;
        std::string gpus;
        if (*choice)
            for (const int gpu : (*choice)->gpus) gpus += fmt::format("{}{}", gpus.empty() ? "" : "-", gpu);
        file_ << fmt::format("{},{},{},{},{},{},{},{},{},{}\n", arrival, task->name, shape.cpu_milli,
                             shape.memory_bytes >> 20, shape.gpus, shape.gpu_milli, task->gpu_spec,
                             *choice ? trace.names[(*choice)->host] : "", gpus, allocated);
    }

private:
    std::ofstream file_;
};

void print(const std::vector<Row>& rows) {
    for (const Row& row : rows)
        fmt::print("{:<22} {:>12.3f} {}{}\n", row.name, row.value, row.unit,
                   row.deviation < 0 ? "" : fmt::format(" ± {:.3f}", row.deviation));
}

void write_json(const std::string& path, const std::string& policy, const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows)
        text += fmt::format(R"({}  {{"name": "{}", "unit": "{}", "ours": {:.3f}{}}})",
                            text.empty() ? "" : ",\n", row.name, row.unit, row.value,
                            row.deviation < 0 ? "" : fmt::format(R"(, "deviation": {:.3f})", row.deviation));
    std::ofstream{path} << fmt::format(
        "{{\"bench\": \"placement\", \"policy\": \"{}\", \"rows\": [\n{}\n]}}\n", policy, text);
}

Result<std::vector<Row>> run(const Options& options) {
    Trace trace = TRY(read_trace(options.nodes, options.pods));
    if (options.ties) shuffle_hosts(trace, options.ties);
    if (options.scale) return run_scale(trace, {1'213, 10'000, 100'000});
    unsigned first = 0, last = 0;
    if (std::sscanf(options.seeds.c_str(), "%u..%u", &first, &last) != 2 || last < first)
        return fail(Code::invalid, "--seeds is as in 42..51");
    std::optional<Log> log;
    if (!options.decisions.empty()) log.emplace(options.decisions);
    std::vector<Outcome> outcomes;
    for (unsigned seed = first; seed <= last; ++seed)
        outcomes.push_back(run_experiment(trace, options.policy, seed, [&](const Decided& decided) {
            if (log && seed == first) log->write(trace, decided);
        }));
    return summarize(outcomes);
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    CLI::App app{
        "The placement experiment of \"Beware of Fragmentation\" (USENIX ATC'23) on a trace in its form."};
    app.add_option("--nodes", options.nodes, "hosts: CSV with sn,cpu_milli,memory_mib,gpu,model")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--pods", options.pods,
                   "tasks: CSV with name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec]")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--seeds", options.seeds, "one run for each, as 42..51")->capture_default_str();
    app.add_option("--policy", options.policy, "who places")
        ->capture_default_str()
        ->check(CLI::IsMember(std::vector<std::string>(std::begin(policies), std::end(policies))));
    app.add_option("--ties", options.ties,
                   "seed of the order of hosts, which decides between equals; 0: as in the file")
        ->capture_default_str();
    app.add_option("--decisions", options.decisions,
                   "write each decision of the first seed to this CSV file");
    app.add_option("--json", options.json, "write the rows to this file too");
    app.add_flag("--scale", options.scale,
                 "decision time and memory at 1,213, 10,000 and 100,000 hosts instead");
    CLI11_PARSE(app, count, arguments);
    const auto rows = run(options);
    if (!rows) {
        fmt::print(stderr, "{}\n", rows.error().message);
        return 1;
    }
    print(*rows);
    if (!options.json.empty()) write_json(options.json, options.policy, *rows);
    return 0;
}
