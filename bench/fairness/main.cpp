// bench-fairness: jobs of a trace share GPUs, under domain/order and under other policies; `--help` lists the
// options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>

#include "bench/fairness/simulation.h"

namespace {

using namespace hostler;
using namespace hostler::bench;

struct Options {
    std::string trace, json;
    double contention = 3.75;
    std::int64_t round_s = 30, resume_s = 30;
    World world;
    OrderSettings order;
    bool neighbours = true;
};

struct Outcome {
    double average_s = 0, makespan_s = 0, worst = 0, unfair_percent = 0;
    int preemptions = -1;  // -1: not published.
};

constexpr double no_gate = 1e9;
constexpr double unfair_above = 1.05;

// Finish-time fairness of a job: its completion time over that alone on 1/contention of the cluster.
Outcome measure(const JobTrace& trace, const std::vector<std::int64_t>& jct_us, double contention,
                int preemptions) {
    Outcome outcome{.preemptions = preemptions};
    const auto count = static_cast<double>(trace.jobs.size());
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const TraceJob& job = trace.jobs[i];
        const auto jct = static_cast<double>(jct_us[i]);
        const double ftf = jct / (static_cast<double>(job.exclusive_us) * contention);
        outcome.average_s += jct / 1e6 / count;
        outcome.makespan_s =
            std::max(outcome.makespan_s, static_cast<double>(job.arrival_us + jct_us[i]) / 1e6);
        outcome.worst = std::max(outcome.worst, ftf);
        if (ftf > unfair_above) outcome.unfair_percent += 100 / count;
    }
    return outcome;
}

Outcome measure(const JobTrace& trace, const Run& run, double contention) {
    return measure(trace, run.jct_us, contention, run.preemptions);
}

void print(const std::string& name, const Outcome& of) {
    fmt::print("{:<36} {:>10.0f} {:>10.0f} {:>10.2f} {:>9.1f} {:>12}\n", name, of.average_s, of.makespan_s,
               of.worst, of.unfair_percent, of.preemptions < 0 ? "-" : std::to_string(of.preemptions));
}

struct Row {
    std::string name, unit;
    double ours = 0, gate = 0, goal = 0;
    bool gate_included = true;  // Otherwise it has to be below.
    const char* met() const {
        if (ours <= goal) return "goal";
        if (gate >= no_gate) return "miss";
        return ours < gate || (gate_included && ours == gate) ? "gate" : "miss";
    }
};

std::vector<Row> rows_of(const Outcome& ours) {
    return {{"average completion", "s", ours.average_s, 10'300, 9'958},
            {"worst finish-time fairness", "", ours.worst, 1.78, 1.05, false},
            {"unfair jobs", "%", ours.unfair_percent, 5, 0, false},
            {"makespan", "s", ours.makespan_s, no_gate, 24'197}};
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) {
        const std::string gate =
            row.gate < no_gate ? fmt::format(R"("gate": "<{} {}", )", row.gate_included ? "=" : "", row.gate)
                               : "";
        text += fmt::format(
            R"({}  {{"name": "{}", "unit": "{}", "ours": {:.3f}, {}"goal": "<= {}", "met": "{}"}})",
            text.empty() ? "" : ",\n", row.name, row.unit, row.ours, gate, row.goal, row.met());
    }
    std::ofstream{path} << fmt::format("{{\"bench\": \"fairness\", \"rows\": [\n{}\n]}}\n", text);
}

// How much the outcome depends on the settings: each of them a tenth less and more.
void print_neighbours(const JobTrace& trace, const Options& options) {
    std::vector<Outcome> all;
    for (int at = 0; at < 81; ++at) {
        const auto scaled = [&](auto value, int digit) {
            return static_cast<decltype(value)>(static_cast<double>(value) * (0.9 + 0.1 * (at / digit % 3)));
        };
        OrderSettings near = options.order;
        near.half_life_s = scaled(near.half_life_s, 1);
        near.slicing.slice_s = scaled(near.slicing.slice_s, 3);
        near.slicing.promise = scaled(near.slicing.promise, 9);
        near.slicing.grace_s = scaled(near.slicing.grace_s, 27);
        all.push_back(measure(trace, run_order(trace, options.world, near), options.contention));
    }
    const auto range = [&](double Outcome::* value) {
        std::ranges::sort(all, {}, value);
        return std::array{all.front().*value, all[all.size() / 2].*value, all.back().*value};
    };
    const auto average = range(&Outcome::average_s), worst = range(&Outcome::worst),
               unfair = range(&Outcome::unfair_percent);
    fmt::print(
        "with each setting ±10 % (81 runs), least, median, most:\n"
        "  average {:.0f} {:.0f} {:.0f} s, worst {:.2f} {:.2f} {:.2f}, unfair {:.1f} {:.1f} {:.1f} %\n",
        average[0], average[1], average[2], worst[0], worst[1], worst[2], unfair[0], unfair[1], unfair[2]);
}

Result<> run(const Options& options) {
    TRY(check(options.order.slicing));
    const JobTrace trace = TRY(read_jobs(options.trace));
    for (const TraceJob& job : trace.jobs)
        if (job.gpus > options.world.gpus)
            return fail(Code::invalid,
                        fmt::format("job {} needs {} GPUs of {}", job.id, job.gpus, options.world.gpus));
    const Slicing& slicing = options.order.slicing;
    fmt::print(
        "{} jobs, {} GPUs; run times unknown; {} s lost per preemption\n"
        "ours: half-life {} s, slice {} s, promise {}, grace {} s, a round each {} s\n\n",
        trace.jobs.size(), options.world.gpus, options.resume_s, options.order.half_life_s, slicing.slice_s,
        slicing.promise, slicing.grace_s, options.round_s);
    fmt::print("{:<36} {:>10} {:>10} {:>10} {:>9} {:>12}\n", "policy", "average s", "makespan s", "worst FTF",
               "unfair %", "preemptions");
    const Outcome ours = measure(trace, run_order(trace, options.world, options.order), options.contention);
    print("Hostler (domain/order)", ours);
    print("FIFO, computed here", measure(trace, run_fifo(trace, options.world), options.contention));
    World las = options.world;  // With our slice: its preemptions cost as much.
    las.round_us = slicing.slice_s * 1'000'000;
    print(fmt::format("LAS in rounds of {} s, computed here", slicing.slice_s),
          measure(trace, run_las(trace, las), options.contention));
    for (const auto& [policy, jct_us] : trace.others)
        print(policy + ", published", measure(trace, jct_us, options.contention, -1));
    fmt::print("\n");
    if (options.neighbours) print_neighbours(trace, options);
    const std::vector<Row> rows = rows_of(ours);
    for (const Row& row : rows)
        fmt::print("{:<28} {:>10.2f} {:<2} gate {:<8} goal {:<6} {}\n", row.name, row.ours, row.unit,
                   row.gate < no_gate ? fmt::format("<{} {}", row.gate_included ? "=" : "", row.gate) : "-",
                   fmt::format("<= {}", row.goal), row.met());
    if (!options.json.empty()) write_json(options.json, rows);
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    CLI::App app{"Fairness and completion times of the jobs of a trace, whose run times no scheduler knows."};
    app.add_option("--trace", options.trace,
                   "CSV file with job_id,arrival_s,gpus,exclusive_s[,jct_s_<policy>...], or its folder")
        ->required()
        ->check(CLI::ExistingPath);
    app.add_option("--json", options.json, "write the rows to this file too");
    const auto add = [&](const char* name, auto& value, const char* help, const CLI::Validator& range) {
        app.add_option(name, value, help)->capture_default_str()->check(range);
    };
    add("--gpus", options.world.gpus, "GPUs of the cluster", CLI::Range(1, 1'000'000));
    add("--contention", options.contention, "a fair job takes so many times as long as alone",
        CLI::Range(0.01, 1e6));
    add("--preemption", options.resume_s, "seconds lost per preemption", CLI::Range(0, 86'400));
    add("--round", options.round_s, "seconds between two rounds, at most", CLI::Range(1, 86'400));
    add("--half-life", options.order.half_life_s, "usage counts half after this time",
        CLI::Range(0, 315'360'000));
    add("--slice", options.order.slicing.slice_s, "a job runs for so many seconds before it yields",
        CLI::Range(1, 10'000'000));
    add("--promise", options.order.slicing.promise, "part of its time that a job is promised to run",
        CLI::Range(0.0, 1.0));
    add("--grace", options.order.slicing.grace_s, "seconds of credit of a new job",
        CLI::Range(0, 10'000'000));
    add("--neighbours", options.neighbours, "also run with each setting a tenth less and more",
        CLI::Range(0, 1));
    CLI11_PARSE(app, count, arguments);
    options.world.round_us = options.round_s * 1'000'000;
    options.world.resume_us = options.resume_s * 1'000'000;
    if (const auto done = run(options); !done) {
        fmt::print(stderr, "{}\n", done.error().message);
        return 1;
    }
    return 0;
}
