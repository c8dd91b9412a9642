// An amount of each resource that queues share.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hostler {

struct Amount {
    std::int64_t gpu_milli = 0;  // Thousandths of a GPU.
    std::int64_t cpu_milli = 0;  // Thousandths of a core.
    std::int64_t memory_bytes = 0;

    // One resource of an amount needs at most this; more is refused where it enters. As a limit: unlimited.
    static constexpr std::int64_t most = std::int64_t{1} << 50;
    static constexpr Amount unlimited() { return {most, most, most}; }

    bool operator==(const Amount&) const = default;
    constexpr Amount& operator+=(const Amount& more) {
        gpu_milli += more.gpu_milli;
        cpu_milli += more.cpu_milli;
        memory_bytes += more.memory_bytes;
        return *this;
    }
    constexpr Amount& operator-=(const Amount& less) {
        gpu_milli -= less.gpu_milli;
        cpu_milli -= less.cpu_milli;
        memory_bytes -= less.memory_bytes;
        return *this;
    }
    friend constexpr Amount operator+(Amount a, const Amount& b) { return a += b; }
    friend constexpr Amount operator-(Amount a, const Amount& b) { return a -= b; }

    // Each resource within [0, most].
    constexpr bool valid() const {
        const auto in = [](std::int64_t value) { return value >= 0 && value <= most; };
        return in(gpu_milli) && in(cpu_milli) && in(memory_bytes);
    }
    // No resource exceeds that of `limit`; a resource of Amount::most there is not limited.
    constexpr bool fits(const Amount& limit) const {
        const auto in = [](std::int64_t value, std::int64_t to) { return to >= most || value <= to; };
        return in(gpu_milli, limit.gpu_milli) && in(cpu_milli, limit.cpu_milli) &&
               in(memory_bytes, limit.memory_bytes);
    }
    // The share in [0, 1] of the resource of which it takes most (dominant resource fairness, NSDI'11). A
    // resource without capacity does not count.
    constexpr double dominant(const Amount& capacity) const;
};

// Averages and sums of averages.
struct Mean {
    double gpu_milli = 0;
    double cpu_milli = 0;
    double memory_bytes = 0;

    constexpr Mean() = default;
    constexpr Mean(double gpu, double cpu, double memory)
        : gpu_milli(gpu), cpu_milli(cpu), memory_bytes(memory) {}
    constexpr explicit Mean(const Amount& amount)
        : gpu_milli(static_cast<double>(amount.gpu_milli)),
          cpu_milli(static_cast<double>(amount.cpu_milli)),
          memory_bytes(static_cast<double>(amount.memory_bytes)) {}

    friend constexpr Mean operator*(const Mean& a, double by) {
        return {a.gpu_milli * by, a.cpu_milli * by, a.memory_bytes * by};
    }
    friend constexpr Mean operator+(const Mean& a, const Mean& b) {
        return {a.gpu_milli + b.gpu_milli, a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes};
    }
    friend constexpr Mean operator-(const Mean& a, const Mean& b) { return a + b * -1; }
    constexpr double dominant(const Amount& capacity) const {
        const auto share = [](double value, std::int64_t of) {
            return value > 0 && of > 0 ? std::min(1.0, value / static_cast<double>(of)) : 0.0;
        };
        return std::max({share(gpu_milli, capacity.gpu_milli), share(cpu_milli, capacity.cpu_milli),
                         share(memory_bytes, capacity.memory_bytes)});
    }
};

constexpr double Amount::dominant(const Amount& capacity) const { return Mean{*this}.dominant(capacity); }

}  // namespace hostler
