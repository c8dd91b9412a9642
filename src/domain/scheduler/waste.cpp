#include "domain/scheduler/waste.h"

#include <algorithm>
#include <cmath>

#include "core/result.h"

namespace hostler {

namespace {

// Points for so many thousandths of a GPU less waste: 100 / (1 + e^-x), rounded down. That small differences
// tie, and ties go to the first host, packs hosts one after the other.
constexpr int curve_reach = 6000;

std::array<std::int8_t, 2 * curve_reach + 1> make_curve() {
    std::array<std::int8_t, 2 * curve_reach + 1> curve{};
    for (int i = -curve_reach; i <= curve_reach; ++i)
        curve[static_cast<std::size_t>(i + curve_reach)] =
            static_cast<std::int8_t>(std::floor(100 / (1 + std::exp(-i / 1000.0))));
    return curve;
}

int points(float less_waste) {
    static const auto curve = make_curve();
    const float clamped =
        std::clamp(less_waste, -static_cast<float>(curve_reach), static_cast<float>(curve_reach));
    return curve[static_cast<std::size_t>(clamped + static_cast<float>(curve_reach))];
}

// More copies than any machine takes are as good as that many.
float whole_part(float value) { return static_cast<float>(static_cast<int>(std::min(value, 1e9F))); }

}  // namespace

Waste::Waste(const std::vector<Typical>& sketch) : groups_((sketch.size() + lanes - 1) / lanes) {
    HOSTLER_ASSERT(sketch.size() <= Workload::typical_max);
    for (auto* of_shapes : {&weight_, &cpu_, &cpu_inverse_, &gpus_inverse_, &unit_})
        of_shapes->assign(groups_, {});
    for (std::size_t i = 0; i < sketch.size(); ++i) {
        const auto& [shape, share] = sketch[i];
        const auto group = i / lanes, lane = i % lanes;
        const auto cpu = static_cast<float>(std::max<std::int64_t>(shape.cpu_milli, 1));
        weight_[group][lane] = shape.gpus > 1 ? share * several_gpus : share;
        cpu_[group][lane] = cpu;
        cpu_inverse_[group][lane] = 1 / cpu;
        gpus_inverse_[group][lane] = 1 / static_cast<float>(shape.gpus);
        unit_[group][lane] = static_cast<float>(shape.gpus * shape.gpu_milli);
        shapes_.push_back(shape);
    }
    row_of_.fill(-1);
}

const Waste::Row& Waste::row(int free) {
    auto& index = row_of_[static_cast<std::size_t>(free)];
    if (index >= 0) return rows_[static_cast<std::size_t>(index)];
    Row made{std::vector<Lanes>(groups_), std::vector<Lanes>(groups_)};
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
        const int milli = shapes_[i].gpu_milli;
        made.small[i / lanes][i % lanes] = static_cast<float>(free < milli ? free : 0);
        made.copies[i / lanes][i % lanes] = static_cast<float>(free / milli);
    }
    index = static_cast<std::int16_t>(rows_.size());
    rows_.push_back(std::move(made));
    return rows_.back();
}

void Waste::clear(Sums& sums) const {
    for (std::size_t group = 0; group < groups_; ++group) sums.small[group] = sums.copies[group] = Lanes{};
}

void Waste::add(Sums& sums, int free) {
    const Row& of_gpu = row(free);
    for (std::size_t group = 0; group < groups_; ++group)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sums.small[group][lane] += of_gpu.small[group][lane];
            sums.copies[group][lane] += of_gpu.copies[group][lane];
        }
}

// One GPU's free part changes. Whole numbers this small are exact in floats: the sums are as if added anew.
void Waste::move(Sums& sums, int from, int to) {
    row(from), row(to);  // Both made before either is held.
    const Row &old = row(from), &fresh = row(to);
    for (std::size_t group = 0; group < groups_; ++group)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sums.small[group][lane] += fresh.small[group][lane] - old.small[group][lane];
            sums.copies[group][lane] += fresh.copies[group][lane] - old.copies[group][lane];
        }
}

float Waste::weigh(const Sums& sums, int free_milli, std::int64_t cpu_milli) const {
    const auto all = static_cast<float>(free_milli);
    const auto cpu = static_cast<float>(cpu_milli);
    Lanes wasted{};
    for (std::size_t group = 0; group < groups_; ++group)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const float by_gpu = whole_part((sums.copies[group][lane] + 0.25F) * gpus_inverse_[group][lane]);
            const float by_cpu = whole_part((cpu + 0.5F) * cpu_inverse_[group][lane]);
            const float copies = std::min(by_gpu, by_cpu);
            const float left = all - unit_[group][lane] * copies;
            const float some = too_small * sums.small[group][lane] + (1 - too_small) * left;
            wasted[lane] += weight_[group][lane] * (copies >= 1 ? some : all);
        }
    float sum = 0;
    for (const float part : wasted) sum += part;
    return sum;
}

float Waste::of(const Machine& machine) {
    const int free_milli = machine.free_milli();
    if (free_milli == 0) return 0;
    Sums sums;
    clear(sums);
    for (int i = 0; i < machine.gpus; ++i)
        if (const int free = machine.free[static_cast<std::size_t>(i)]; free > 0) add(sums, free);
    return weigh(sums, free_milli, machine.cpu_milli);
}

Waste::Score Waste::score(const Shape& shape, const Machine& machine, float before) {
    if (!fits(shape, machine)) return {};
    const int free_milli = machine.free_milli();
    if (free_milli == 0) return {points(0), -1};
    Sums sums;
    clear(sums);
    int to_take = shape.shares() ? 0 : shape.gpus;
    for (int i = 0; i < machine.gpus; ++i) {
        const int free = machine.free[static_cast<std::size_t>(i)];
        if (to_take > 0 && free == gpu_whole)
            --to_take;
        else if (free > 0)
            add(sums, free);
    }
    if (shape.shares()) return share(shape, machine, before, sums, free_milli);
    const int left = free_milli - shape.gpus * gpu_whole;
    return {points(before - weigh(sums, left, machine.cpu_milli - shape.cpu_milli)), -1};
}

// The best of its GPUs; of equals the first. GPUs with as much free are as good.
Waste::Score Waste::share(const Shape& shape, const Machine& machine, float before, Sums& sums,
                          int free_milli) {
    Score best;
    for (int i = 0; i < machine.gpus; ++i) {
        const int free = machine.free[static_cast<std::size_t>(i)];
        const auto* begin = machine.free.data();
        if (free < shape.gpu_milli || std::find(begin, begin + i, free) != begin + i) continue;
        move(sums, free, free - shape.gpu_milli);
        const int worth =
            points(before - weigh(sums, free_milli - shape.gpu_milli, machine.cpu_milli - shape.cpu_milli));
        move(sums, free - shape.gpu_milli, free);
        if (worth > best.points) best = {worth, i};
    }
    return best;
}

}  // namespace hostler
