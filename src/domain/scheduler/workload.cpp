#include "domain/scheduler/workload.h"

#include <algorithm>
#include <cmath>

#include "core/result.h"

namespace hostler {

namespace {

constexpr std::int64_t unit = 64;  // One arrival: what is halved six times is gone.
constexpr std::int64_t prior = 8;  // Arrivals that the prior weighs.
constexpr Shape usual{.cpu_milli = 8000, .gpus = 1, .gpu_milli = gpu_whole};

double distance(const std::vector<Typical>& a, const std::vector<Typical>& b) {
    std::map<TypicalShape, double> difference;
    for (const Typical& typical : a) difference[typical.shape] += typical.share;
    for (const Typical& typical : b) difference[typical.shape] -= typical.share;
    double sum = 0;
    for (const auto& [shape, share] : difference) sum += std::abs(share);
    return sum;
}

}  // namespace

Workload::Workload() {
    count(usual, prior * unit);
    look();
}

void Workload::arrive(const Shape& shape) {
    HOSTLER_ASSERT(shape.sound());
    if (shape.gpus == 0) return;
    count(shape, unit);
    if (++arrivals_ < next_look_) return;
    next_look_ += std::min<std::int64_t>(next_look_, look_every);
    look();
}

void Workload::count(const Shape& shape, std::int64_t weight) {
    counts_[{shape.cpu_milli, shape.gpus, shape.gpu_milli}] += weight;
    total_ += weight;
    by_models_[shape.models] += weight * shape.gpus * shape.gpu_milli;
    gpu_milli_ += weight * shape.gpus * shape.gpu_milli;
    if (by_models_.size() > model_sets_max) {
        const auto least =
            std::ranges::min_element(by_models_, {}, [](const auto& set) { return set.second; });
        gpu_milli_ -= least->second;
        by_models_.erase(least);
    }
    if (total_ > remembered * unit || counts_.size() > shapes_max) halve();
}

void Workload::halve() {
    total_ = gpu_milli_ = 0;
    for (auto& [shape, count] : counts_) total_ += count /= 2;
    for (auto& [models, milli] : by_models_) gpu_milli_ += milli /= 2;
    std::erase_if(counts_, [](const auto& entry) { return entry.second == 0; });
    std::erase_if(by_models_, [](const auto& entry) { return entry.second == 0; });
}

void Workload::look() {
    std::vector<std::pair<std::int64_t, TypicalShape>> order;
    order.reserve(counts_.size());
    for (const auto& [shape, count] : counts_) order.emplace_back(-count, shape);
    std::ranges::sort(order);
    std::vector<Typical> seen;
    double sum = 0;
    for (const auto& [count, shape] : order) {
        if (sum >= covered * static_cast<double>(total_) || seen.size() == typical_max) break;
        sum += static_cast<double>(-count);
        seen.push_back({shape, static_cast<float>(-count)});
    }
    for (Typical& typical : seen) typical.share /= static_cast<float>(sum);
    if (distance(seen, sketch_) < drift) return;
    sketch_ = std::move(seen);
    ++generation_;
}

}  // namespace hostler
