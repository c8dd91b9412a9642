#include "domain/inventory/rating.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "domain/inventory/model.h"
#include "domain/inventory/speeds.h"

namespace hostler {

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

// Shares of the data sheet in percent. Below `good_min` a GPU is slow, above `same_max` it is another model.
// Below `same_min` it is another model if there is one of which its figures are usual.
struct Band {
    int same_min, good_min, same_max;
};
// The data sheet's is the rate of the pins. Seen: 84 % on an H100 SXM5.
constexpr Band memory_band{45, 75, 105};
// At the boost clock; cards with a higher one than the data sheet's exist. Seen: 96 % on an H100 SXM5.
constexpr Band fp32_band{45, 75, 130};
// mma.sync reaches the whole rate up to Ada. Hopper's needs other instructions for the whole: seen 67 % on an
// H100 SXM5. Blackwell's was never seen, so it is not judged.
constexpr Band tensor_band{35, 60, 130};
constexpr Band tensor_band_hopper{30, 50, 100};

// Of what a PCIe link carries, without its overhead: GB/s for each lane of a generation.
constexpr double lane_gb_s[] = {0, 0.25, 0.5, 0.985, 1.97, 3.94, 7.56};
constexpr int link_good_percent = 65;  // Seen: 87 % of a gen5 x16.

struct TierRow {
    GpuTier tier;
    double memory_gib, memory_gb_s, fp32_tflops, tensor_tflops;  // At least. The last two: either.
};
constexpr TierRow tier_rows[] = {
    {GpuTier::frontier, 64, 2500, 40, 350},
    {GpuTier::training, 30, 1100, 15, 100},
    {GpuTier::inference, 14, 450, 10, 40},
    {GpuTier::entry, 0, 0, 0, 0},
};

double share(double measured, double sheet) { return 100 * measured / sheet; }

enum class Finding { nothing, good, slow, very_slow, another };

struct Judged {
    std::string sentence;
    Finding finding = Finding::nothing;
};

Judged judge(std::string_view what, double measured, double sheet, std::string_view unit, Band band) {
    const double percent = share(measured, sheet);
    const Finding finding = percent > band.same_max   ? Finding::another
                            : percent < band.same_min ? Finding::very_slow
                            : percent < band.good_min ? Finding::slow
                                                      : Finding::good;
    return {fmt::format("{}: {:.4g} {} is {:.0f} % of the data sheet's {:.4g} (expected {} to {} %)", what,
                        measured, unit, percent, sheet, band.good_min, band.same_max),
            finding};
}

std::optional<Band> tensor_band_of(std::string_view architecture) {
    if (architecture == "ampere" || architecture == "ada") return tensor_band;
    if (architecture == "hopper") return tensor_band_hopper;
    return std::nullopt;
}

bool has_pci_id(const GpuModel& model, std::string_view pci_id) {
    for (std::string_view rest = model.pci_ids; !rest.empty();) {
        const auto end = std::min(rest.find(' '), rest.size());
        if (rest.substr(0, end) == pci_id) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

// What a GPU says of itself against the catalogue's row of the model that it says it is.
void judge_identity(const GpuFacts& facts, const GpuModel& model, std::vector<Judged>& into) {
    const GpuModel* on_bus = facts.pci_id.empty() ? nullptr : recognise_gpu({}, facts.pci_id, 0);
    if (on_bus && !has_pci_id(model, facts.pci_id))
        into.push_back({fmt::format("PCI: {} is a {}, and it says that it is a {}", facts.pci_id,
                                    on_bus->name, model.name),
                        Finding::another});
    // Others' drivers show the parts of a GPU that is divided.
    if (facts.vendor != GpuVendor::nvidia) return;
    const double told_gib = static_cast<double>(facts.memory_bytes) / gib;
    if (facts.memory_bytes > 0 && std::abs(told_gib - model.memory_gib) > model.memory_gib / 8.0)
        into.push_back(
            {fmt::format("memory: it has {:.1f} GiB, a {} has {}", told_gib, model.name, model.memory_gib),
             Finding::another});
    if (facts.core_count > 0 && model.cores > 0 && facts.core_count != model.cores)
        into.push_back(
            {fmt::format("cores: it has {}, a {} has {}", facts.core_count, model.name, model.cores),
             Finding::another});
    if (!facts.compute_capability.empty() && !model.capability.empty() &&
        facts.compute_capability != model.capability)
        into.push_back({fmt::format("compute capability: it has {}, a {} has {}", facts.compute_capability,
                                    model.name, model.capability),
                        Finding::another});
}

void judge_speeds(const GpuModel& model, const GpuSpeeds& sheet, const GpuFigures& figures,
                  std::vector<Judged>& into) {
    if (figures.memory_copy_mb_s)
        into.push_back(judge("memory", static_cast<double>(*figures.memory_copy_mb_s) / 1e3,
                             sheet.memory_gb_s, "GB/s", memory_band));
    if (figures.fp32_gflops && sheet.fp32_tflops > 0)
        into.push_back(judge("fp32", static_cast<double>(*figures.fp32_gflops) / 1e3, sheet.fp32_tflops,
                             "TFLOPS", fp32_band));
    const auto band = tensor_band_of(model.architecture);
    if (figures.tensor_gflops && sheet.bf16_tflops > 0 && band)
        into.push_back(judge("matrix units", static_cast<double>(*figures.tensor_gflops) / 1e3,
                             sheet.bf16_tflops, "TFLOPS", *band));
}

void judge_link(const GpuFacts& facts, const GpuFigures& figures, std::vector<Judged>& into) {
    const auto generation = static_cast<std::size_t>(std::max(0, facts.pcie_generation_max));
    if (generation == 0 || generation >= std::size(lane_gb_s) || facts.pcie_width_max <= 0) return;
    const double link = lane_gb_s[generation] * facts.pcie_width_max;
    const auto one = [&](std::string_view what, const Metric& mb_s) {
        if (!mb_s) return;
        const double gb_s = static_cast<double>(*mb_s) / 1e3;
        into.push_back(
            {fmt::format("{}: {:.3g} GB/s is {:.0f} % of PCIe gen{} x{} (expected at least {} %)", what, gb_s,
                         share(gb_s, link), generation, facts.pcie_width_max, link_good_percent),
             share(gb_s, link) < link_good_percent ? Finding::slow : Finding::good});
    };
    one("host to GPU", figures.host_to_gpu_mb_s);
    one("GPU to host", figures.gpu_to_host_mb_s);
}

GpuTier tier_of(const GpuFacts& facts, const GpuFigures& figures) {
    if (!figures.memory_copy_mb_s || !figures.fp32_gflops) return GpuTier::unrated;
    const double memory_gib = static_cast<double>(facts.memory_bytes) / gib;
    const double memory_gb_s = static_cast<double>(*figures.memory_copy_mb_s) / 1e3;
    const double fp32 = static_cast<double>(*figures.fp32_gflops) / 1e3;
    const double tensor = static_cast<double>(figures.tensor_gflops.value_or(0)) / 1e3;
    for (const TierRow& row : tier_rows)
        if (memory_gib >= row.memory_gib && memory_gb_s >= row.memory_gb_s &&
            (figures.tensor_gflops ? tensor >= row.tensor_tflops : fp32 >= row.fp32_tflops))
            return row.tier;
    return GpuTier::entry;
}

// What its worst finding makes of a GPU.
GpuVerdict verdict_of(Finding finding, bool is_another) {
    switch (finding) {
        case Finding::nothing: return GpuVerdict::unrated;
        case Finding::good: return GpuVerdict::as_expected;
        case Finding::slow: return GpuVerdict::slow;
        case Finding::very_slow: return is_another ? GpuVerdict::wrong_model : GpuVerdict::slow;
        case Finding::another: return GpuVerdict::wrong_model;
    }
    return GpuVerdict::unrated;
}

}  // namespace

std::string model_by_figures(const GpuFacts& facts, const GpuFigures& figures) {
    if (!figures.memory_copy_mb_s || !figures.fp32_gflops) return {};
    const GpuModel* best = nullptr;
    double best_distance = 0.5;  // Sum of the logarithms of the ratios: about 65 % too much in one of them.
    for (const GpuModel& model : gpu_models()) {
        const GpuSpeeds* sheet = find_gpu_speeds(model.name);
        const double memory_gib = static_cast<double>(facts.memory_bytes) / gib;
        if (!sheet || sheet->fp32_tflops == 0 || model.vendor != facts.vendor ||
            std::abs(memory_gib - model.memory_gib) > model.memory_gib / 8.0)
            continue;
        constexpr double memory_usual = 0.86;  // Of data sheets, when measured.
        constexpr double fp32_usual = 0.95;
        const double distance = std::abs(std::log(static_cast<double>(*figures.memory_copy_mb_s) / 1e3 /
                                                  (sheet->memory_gb_s * memory_usual))) +
                                std::abs(std::log(static_cast<double>(*figures.fp32_gflops) / 1e3 /
                                                  (sheet->fp32_tflops * fp32_usual)));
        if (distance < best_distance) {
            best = &model;
            best_distance = distance;
        }
    }
    return best ? std::string{best->name} : std::string{};
}

std::vector<std::string> identity_conflicts(const GpuFacts& facts) {
    std::vector<Judged> judged;
    if (const GpuModel* model = recognise_gpu(facts.product, facts.pci_id, facts.memory_bytes))
        judge_identity(facts, *model, judged);
    std::vector<std::string> sentences;
    for (Judged& one : judged) sentences.push_back(std::move(one.sentence));
    return sentences;
}

GpuRating rate_gpu(const GpuFacts& facts, const GpuFigures& figures) {
    GpuRating rating;
    rating.tier = tier_of(facts, figures);
    std::vector<Judged> judged;
    const GpuModel* model = recognise_gpu(facts.product, facts.pci_id, facts.memory_bytes);
    const GpuSpeeds* sheet = model ? find_gpu_speeds(model->name) : nullptr;
    if (model) judge_identity(facts, *model, judged);
    if (sheet) {
        judge_speeds(*model, *sheet, figures, judged);
        judge_link(facts, figures, judged);
    } else {
        judged.push_back({fmt::format("no data sheet of \"{}\" is known here", facts.model)});
    }
    std::ranges::sort(judged, std::greater{}, &Judged::finding);
    const std::string usual = model_by_figures(facts, figures);
    const bool is_another = !usual.empty() && model && usual != model->name;
    if (!judged.empty()) rating.verdict = verdict_of(judged.front().finding, is_another);
    if (rating.verdict == GpuVerdict::as_expected && (!figures.memory_copy_mb_s || !figures.fp32_gflops)) {
        rating.verdict = GpuVerdict::unrated;
        judged.insert(judged.begin(), {"its memory or its fp32 was not measured"});
    }
    if (!figures.faults.empty()) rating.verdict = GpuVerdict::faulty;
    rating.evidence = figures.faults;
    for (auto& one : judged) rating.evidence.push_back(std::move(one.sentence));
    if (rating.verdict == GpuVerdict::wrong_model) {
        rating.gpu_class = usual;
        if (is_another) rating.evidence.push_back(fmt::format("its figures are those of a {}", usual));
    } else if (sheet && rating.verdict != GpuVerdict::unrated) {
        rating.gpu_class = std::string{model->name};
    }
    return rating;
}

}  // namespace hostler
