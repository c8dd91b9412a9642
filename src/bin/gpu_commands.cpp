#include "bin/gpu_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "adapters/cuda/benchmark.h"
#include "bin/described_json.h"
#include "domain/inventory/metrics.h"
#include "domain/inventory/rating.h"

namespace hostler::bin {

namespace {

namespace json = boost::json;

struct Seen {
    GpuFacts facts;
    GpuSample sample;
};

struct View {
    std::vector<Seen> gpus;
    std::vector<std::string> problems;
    bool blind = false;  // One of the eyes has no driver to ask.
};

Task<View> look(std::vector<Telemetry*> eyes) {
    View view;
    for (Telemetry* eye : eyes) {
        const auto found = co_await eye->discover();
        if (!found) {
            view.problems.push_back(fmt::format("{}: {}", eye->name(), found.error().message));
            view.blind = true;
            continue;
        }
        view.blind = view.blind || (found->gpus.empty() && found->driver_version.empty());
        std::ranges::copy(found->problems, std::back_inserter(view.problems));
        const auto samples = CO_TRY(co_await eye->sample());
        for (const auto& gpu : found->gpus) {
            // Of several eyes the first is the most telling.
            if (!gpu.pci_address.empty() && std::ranges::any_of(view.gpus, [&](const Seen& one) {
                    return one.facts.pci_address == gpu.pci_address;
                }))
                continue;
            const auto sample = std::ranges::find(samples, gpu.uuid, &GpuSample::uuid);
            view.gpus.push_back({gpu, sample == samples.end() ? GpuSample{.uuid = gpu.uuid} : *sample});
        }
    }
    co_return view;
}

void tell_problems(const std::vector<std::string>& problems) {
    for (const auto& problem : problems) fmt::print(stderr, "note: {}\n", problem);
}

struct Unit {
    std::string_view ending, unit;
    double divisor;
    int digits;
};
constexpr Unit units[] = {
    {"_percent", "%", 1, 0}, {"_bytes", "MiB", 1 << 20, 0}, {"_celsius", "°C", 1, 0},
    {"_mw", "W", 1e3, 1},    {"_mj", "kJ", 1e6, 1},         {"_mhz", "MHz", 1, 0},
    {"_us", "s", 1e6, 3},    {"_kb_s", "MB/s", 1e3, 1},     {"_kib", "MiB", 1024, 0},
    {"_ppm", "%", 1e4, 1},
};

constexpr std::pair<std::int64_t, std::string_view> reasons[] = {
    {throttle_idle, "idle"},
    {throttle_application_clocks, "application clocks"},
    {throttle_power_cap, "power limit"},
    {throttle_hardware, "hardware"},
    {throttle_sync_boost, "sync boost"},
    {throttle_thermal_software, "heat (driver)"},
    {throttle_thermal_hardware, "heat (hardware)"},
    {throttle_power_brake, "power brake"},
    {throttle_display, "display"},
};

std::string in_words(std::string_view name, std::int64_t value) {
    if (name == "throttle_reasons") {
        std::string text;
        for (const auto& [bit, word] : reasons)
            if (value & bit) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
        return text.empty() ? "none" : text;
    }
    for (const Unit& unit : units)
        if (name.ends_with(unit.ending))
            return fmt::format("{:.{}f} {}", static_cast<double>(value) / unit.divisor, unit.digits,
                               unit.unit);
    return std::to_string(value);
}

std::string title(std::string_view name) {
    for (const Unit& unit : units)
        if (name.ends_with(unit.ending)) name.remove_suffix(unit.ending.size());
    std::string text{name};
    std::ranges::replace(text, '_', ' ');
    return text;
}

std::string index_of(const GpuFacts& facts) { return facts.index < 0 ? "-" : std::to_string(facts.index); }

void print_gpu(const Seen& gpu) {
    const auto line = [](std::string_view name, const std::string& value) {
        if (!value.empty()) fmt::print("  {:<26} {}\n", name, value);
    };
    const GpuFacts& facts = gpu.facts;
    fmt::print("GPU {}  {}  {}\n", index_of(facts), facts.model, facts.uuid);
    line("product", facts.product);
    line("PCI", facts.pci_address.empty() ? "" : fmt::format("{} ({})", facts.pci_address, facts.pci_id));
    line("serial", facts.serial);
    line("VBIOS", facts.vbios);
    line("compute capability", facts.compute_capability);
    line("cores", facts.core_count > 0 ? std::to_string(facts.core_count) : "");
    line("PCIe at most", facts.pcie_generation_max > 0
                             ? fmt::format("gen{} x{}", facts.pcie_generation_max, facts.pcie_width_max)
                             : "");
    line("MIG", boost::describe::enum_to_string(facts.mig, ""));
    for (const GpuSlice& slice : facts.slices) {
        const auto part = std::ranges::find(gpu.sample.slices, slice.uuid, &SliceSample::uuid);
        const bool told = part != gpu.sample.slices.end();
        line("slice " + slice.profile,
             fmt::format("{}, GPU instance {}, compute instance {}{}{}", slice.uuid, slice.gpu_instance,
                         slice.compute_instance,
                         told && part->memory_used_bytes && part->memory_total_bytes
                             ? fmt::format(", {} of {} in use", in_words("_bytes", *part->memory_used_bytes),
                                           in_words("_bytes", *part->memory_total_bytes))
                             : "",
                         told && part->graphics_active_ppm
                             ? ", active " + in_words("_ppm", *part->graphics_active_ppm)
                             : ""));
    }
    if (gpu.sample.condition != GpuCondition::ok) {
        line(boost::describe::enum_to_string(gpu.sample.condition, ""), gpu.sample.reason);
        return;
    }
    detail::each_metric<GpuSample>([&](std::string_view name, auto member) {
        if (const Metric& value = gpu.sample.*member) line(title(name), in_words(name, *value));
    });
    for (const auto& process : gpu.sample.processes.value_or(std::vector<GpuProcess>{}))
        line("process " + std::to_string(process.pid),
             fmt::format(
                 "{}{}", process.memory_bytes ? in_words("_bytes", *process.memory_bytes) : "memory unknown",
                 process.utilisation_percent ? fmt::format(", {} % of the GPU, {} % of its memory's time",
                                                           *process.utilisation_percent,
                                                           process.memory_utilisation_percent.value_or(0))
                                             : ""));
}

// What a benchmark found, beside what the GPU says it is.
struct Rated {
    GpuFacts facts;
    GpuFigures figures;
    GpuRating rating;
};

// Who uses a GPU, or may, as a clause; empty: nobody.
std::string user_of(const Seen& gpu) {
    const auto& processes = gpu.sample.processes;
    if (!processes) return fmt::format("cannot tell whether GPU {} is in use", index_of(gpu.facts));
    if (processes->empty()) return {};
    return fmt::format("GPU {} is in use by process {}", index_of(gpu.facts), processes->front().pid);
}

// Errors: conflict (a GPU is in use, or may be); not_found (nothing sees GPUs).
Result<> unused(const View& view) {
    if (view.blind)
        return fail(Code::not_found,
                    fmt::format("NVIDIA's libnvidia-ml.so.1, which reports whether GPUs are in use, does not "
                                "answer{}{}; --in-use-too takes them all the same",
                                view.problems.empty() ? "" : ": ", fmt::join(view.problems, "; ")));
    for (const auto& gpu : view.gpus)
        if (const auto user = user_of(gpu); !user.empty())
            return fail(
                Code::conflict,
                fmt::format("{}: stop what runs there, or take it all the same with --in-use-too", user));
    return {};
}

// Its figures say nothing of how fast it is, for this reason.
void not_rated(GpuRating& rating, std::string reason) {
    if (rating.verdict != GpuVerdict::faulty) rating.verdict = GpuVerdict::unrated;
    rating.evidence.insert(rating.evidence.begin(), std::move(reason));
}

std::vector<Rated> rate_all(const std::vector<Seen>& seen, const cuda::BenchmarkReport& report) {
    std::vector<Rated> rated;
    for (const auto& figures : report.gpus) {
        const auto gpu =
            std::ranges::find(seen, figures.uuid, [](const Seen& one) { return one.facts.uuid; });
        Rated one{.figures = figures};
        one.facts = gpu == seen.end() ? GpuFacts{.uuid = figures.uuid,
                                                 .vendor = GpuVendor::nvidia,
                                                 .model = figures.product,
                                                 .product = figures.product}
                                      : gpu->facts;
        one.rating = rate_gpu(one.facts, figures);
        const std::string user = user_of(gpu == seen.end() ? Seen{one.facts, {}} : *gpu);
        if (!user.empty()) not_rated(one.rating, user + ": its figures say nothing of it");
        if (one.facts.mig == MigMode::enabled) not_rated(one.rating, "MIG is on: a slice was measured");
        if (!report.complete) not_rated(one.rating, "the measurement did not end");
        if (gpu != seen.end() && one.facts.product != figures.product)
            one.rating.evidence.push_back(
                fmt::format("NVML calls it \"{}\", CUDA \"{}\"", one.facts.product, figures.product));
        rated.push_back(std::move(one));
    }
    return rated;
}

std::string rate_in(const Metric& value, double divisor, std::string_view unit) {
    return value ? fmt::format("{:.{}f} {}", static_cast<double>(*value) / divisor,
                               static_cast<double>(*value) / divisor < 100 ? 1 : 0, unit)
                 : "-";
}

void print_rated(const std::vector<Rated>& gpus) {
    std::vector<std::vector<std::string>> rows{{"GPU", "MODEL", "MEMORY COPY", "FP32", "BF16 MATRIX",
                                                "TO GPU", "TO HOST", "CHECKED", "CLASS", "TIER", "VERDICT"}};
    for (const auto& gpu : gpus) {
        const auto& figures = gpu.figures;
        rows.push_back(
            {index_of(gpu.facts), gpu.facts.model, rate_in(figures.memory_copy_mb_s, 1e3, "GB/s"),
             rate_in(figures.fp32_gflops, 1e3, "TFLOPS"), rate_in(figures.tensor_gflops, 1e3, "TFLOPS"),
             rate_in(figures.host_to_gpu_mb_s, 1e3, "GB/s"), rate_in(figures.gpu_to_host_mb_s, 1e3, "GB/s"),
             rate_in(figures.memory_checked_bytes, 1 << 30, "GiB"),
             gpu.rating.gpu_class.empty() ? "-" : gpu.rating.gpu_class,
             boost::describe::enum_to_string(gpu.rating.tier, ""),
             boost::describe::enum_to_string(gpu.rating.verdict, "")});
    }
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += fmt::format("{:<{}}", row[i], i + 1 < row.size() ? widths[i] + 2 : 0);
        fmt::print("{}\n", line);
    }
    for (const auto& gpu : gpus) {
        fmt::print("\nGPU {}  {}\n", index_of(gpu.facts), gpu.facts.uuid);
        for (const auto& sentence : gpu.rating.evidence) fmt::print("  {}\n", sentence);
        for (const auto& peer : gpu.figures.peers)
            fmt::print("  to {}: {}{}\n", peer.uuid, rate_in(peer.copy_mb_s, 1e3, "GB/s"),
                       peer.direct ? "" : " through the host");
        for (const auto& sentence : gpu.figures.skipped) fmt::print("  skipped: {}\n", sentence);
    }
}

json::value rated_json(const std::vector<Rated>& gpus, const cuda::BenchmarkReport& report,
                       const std::vector<std::string>& problems) {
    json::object made;
    made["complete"] = report.complete;
    made["problems"] = to_json(problems);
    json::array all;
    for (const auto& gpu : gpus)
        all.push_back(json::object{{"uuid", gpu.facts.uuid},
                                   {"model", gpu.facts.model},
                                   {"figures", to_json(gpu.figures)},
                                   {"rating", to_json(gpu.rating)}});
    made["gpus"] = std::move(all);
    return made;
}

}  // namespace

Task<> show_gpus(std::vector<Telemetry*> eyes, GpuFormat format) {
    const auto [seen, problems, blind] = CO_TRY(co_await look(std::move(eyes)));
    if (format == GpuFormat::json) {
        json::array all;
        for (const auto& gpu : seen)
            all.push_back(json::object{{"facts", to_json(gpu.facts)}, {"sample", to_json(gpu.sample)}});
        fmt::print("{}\n",
                   json::serialize(json::object{{"gpus", std::move(all)}, {"problems", to_json(problems)}}));
        co_return Result<>{};
    }
    if (seen.empty()) fmt::print("No GPUs.\n");
    for (const auto& gpu : seen) print_gpu(gpu);
    tell_problems(problems);
    co_return Result<>{};
}

Task<> see_unused(std::vector<Telemetry*> eyes) { co_return unused(CO_TRY(co_await look(std::move(eyes)))); }

Task<> benchmark_gpus(Timers& timers, std::vector<Telemetry*> eyes, BenchmarkWish wish) {
    View view = CO_TRY(co_await look(std::move(eyes)));
    if (!wish.in_use_too) CO_TRY(unused(view));
    auto report = CO_TRY(co_await cuda::run_benchmark(
        timers,
        {.program = {"/proc/self/exe", "gpu", measure_command}, .library = wish.cuda, .each = wish.each}));
    std::ranges::copy(report.problems, std::back_inserter(view.problems));
    const auto rated = rate_all(view.gpus, report);
    if (wish.format == GpuFormat::json) {
        fmt::print("{}\n", json::serialize(rated_json(rated, report, view.problems)));
    } else {
        if (!rated.empty()) print_rated(rated);
        tell_problems(view.problems);
    }
    if (!report.complete) co_return fail(Code::unavailable, "the measurement did not end");
    if (rated.empty()) co_return fail(Code::not_found, "nothing was measured");
    co_return Result<>{};
}

}  // namespace hostler::bin
