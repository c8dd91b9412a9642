// Series as a fleet of GPUs gives them: seeded, the same for whoever is measured.
#pragma once

#include <cmath>
#include <random>

#include "domain/series/sample.h"

namespace hostler::bench {

// Columns of domain/inventory/sample.h, with the units in which drivers give them. Modelled on what NVML
// documents and shows: power in mW (with its noise), energy as the integral of the second-by-second power in
// mJ, clocks in steps of 15 MHz, memory in pages of 2 MiB, temperatures in whole degrees behind a thermal
// lag, byte counters with the noise of real traffic (not of constant rates), ECC and replays rare. Of twenty
// columns eight say something new nearly each time.
inline const std::vector<series::Column>& gpu_columns() {
    using enum series::Kind;
    static const std::vector<series::Column> columns{{"utilisation_percent"},
                                                     {"memory_utilisation_percent"},
                                                     {"memory_used_bytes"},
                                                     {"temperature_celsius"},
                                                     {"memory_temperature_celsius"},
                                                     {"power_mw"},
                                                     {"energy_mj", counter},
                                                     {"clock_sm_mhz"},
                                                     {"clock_memory_mhz"},
                                                     {"performance_state"},
                                                     {"throttle_reasons"},
                                                     {"throttled_power_us", counter},
                                                     {"ecc_corrected", counter},
                                                     {"ecc_uncorrected", counter},
                                                     {"pcie_sent_bytes", counter},
                                                     {"pcie_received_bytes", counter},
                                                     {"pcie_replays", counter},
                                                     {"nvlink_sent_kib", counter},
                                                     {"nvlink_received_kib", counter},
                                                     {"encoder_percent"}};
    return columns;
}

// One GPU of an 8-GPU board. It trains, serves, computes now and then, or is idle, some half an hour each.
class Gpu {
public:
    explicit Gpu(std::uint64_t seed) : dice_(seed) {
        energy_ = std::floor(1e9 * chance() * 50);
        pcie_sent_ = std::floor(1e14 * chance());
        pcie_received_ = std::floor(1e14 * chance());
        nvlink_sent_ = std::floor(1e13 * chance());
        nvlink_received_ = std::floor(1e13 * chance());
        throttled_ = std::floor(1e11 * chance());
        begin_phase();
        power_ = target_;
        temperature_ = 30 + target_ / 17'500;
    }

    // The next sample, ten seconds after the one before.
    void next(std::span<series::Cell> cells) {
        if (--left_ <= 0) begin_phase();
        double watts = 0;
        const double level = activity();
        for (int second = 0; second < 10; ++second) {
            // The board's power follows within seconds, and is never still.
            const double aim = 70'000 + (target_ - 70'000) * level;
            power_ += 0.5 * (aim - power_) + noise(phase_ == idle ? 120 : 9'000 * std::max(level, 0.1));
            power_ = std::min(std::max(power_, 60'000.0), 702'000 + noise(1'500));
            watts += power_;
        }
        energy_ += std::floor(watts);
        temperature_ += 0.25 * (30 + power_ / 17'500 - temperature_) + noise(0.15);
        const bool capped = watts / 10 > 685'000;
        if (capped) throttled_ += std::floor(10e6 * std::min(1.0, std::max(0.0, 0.6 + noise(0.1))));
        move_bytes(level);
        if (chance() < 2e-5) ++ecc_;
        if (chance() < 1e-5) ++replays_;
        std::size_t i = 0;
        const auto put = [&](double value) { cells[i++] = static_cast<series::Cell>(std::llround(value)); };
        const double busy =
            phase_ == idle ? 0
                           : std::min(100.0, std::max(0.0, 100 * level + noise(phase_ == train ? 0.6 : 6)));
        put(std::floor(busy));
        put(std::floor(std::min(100.0, std::max(0.0, busy * bandwidth_ + (busy > 0 ? noise(1.5) : 0)))));
        put(memory_pages_ * 2097152.0);
        put(std::floor(temperature_));
        put(std::floor(temperature_ + 9 + 0.00001 * power_ + noise(0.3)));
        put(power_);
        put(energy_);
        put(phase_ == idle ? 345 : capped ? 15 * std::floor((1755 + noise(45)) / 15) : 1980);
        put(phase_ == idle ? 1593 : 2619);
        put(0);
        put(phase_ == idle ? 1 : capped ? 4 : 0);
        put(throttled_);
        put(ecc_);
        put(0);
        put(pcie_sent_);
        put(pcie_received_);
        put(replays_);
        put(nvlink_sent_);
        put(nvlink_received_);
        put(0);
    }

private:
    enum Phase { idle, train, serve, compute };
    double chance() { return std::uniform_real_distribution<double>{0, 1}(dice_); }
    double noise(double deviation) { return normal_(dice_) * deviation; }

    void begin_phase() {
        const double drawn = chance();
        phase_ = drawn < 0.2 ? idle : drawn < 0.65 ? train : drawn < 0.9 ? serve : compute;
        left_ = static_cast<int>(30 - 180 * std::log(1 - chance()));
        target_ = phase_ == train  ? 560'000 + 130'000 * chance()
                  : phase_ == idle ? 70'000
                                   : 300'000 + 250'000 * chance();
        bandwidth_ = 0.2 + 0.5 * chance();
        load_ = chance();
        memory_pages_ = phase_ == idle ? 2 : std::floor(4'000 + 35'000 * chance());
        traffic_ = phase_ == train ? 0.5 + chance() : phase_ == serve ? 0.05 * chance() : 0.01;
        checkpoint_ = 60 + static_cast<int>(120 * chance());
    }

    double activity() {
        ++age_;
        switch (phase_) {
            case idle: return 0;
            case train: return age_ % checkpoint_ < 2 ? 0.2 * chance() : 0.99;
            case serve:
                load_ = std::min(1.0, std::max(0.02, load_ + noise(0.05)));
                if (chance() < 0.02) memory_pages_ += std::floor(8 * chance());
                return load_;
            case compute: return chance() < 0.3 ? 0 : 0.9 * chance();
        }
        return 0;
    }

    // Some hundred GB a second between the GPUs of a training, some GB to and from the host; an idle one is
    // only polled.
    void move_bytes(double level) {
        const auto moved = [&](double mean, double deviation) {
            return std::floor(std::max(0.0, mean * (1 + noise(deviation))));
        };
        if (phase_ == idle) {
            pcie_sent_ += moved(180'000, 0.02);
            pcie_received_ += moved(90'000, 0.02);
            return;
        }
        pcie_sent_ += moved(1e10 * traffic_ * level, 0.08);
        pcie_received_ += moved(2.5e10 * traffic_ * level, 0.08);
        if (phase_ != train) return;
        nvlink_sent_ += moved(2.4e9 * traffic_ * level, 0.03);
        nvlink_received_ += moved(2.4e9 * traffic_ * level, 0.03);
    }

    std::mt19937_64 dice_;
    std::normal_distribution<double> normal_{0, 1};
    Phase phase_ = idle;
    int left_ = 0;
    int age_ = 0;
    int checkpoint_ = 100;
    double target_ = 0, power_ = 0, temperature_ = 0, energy_ = 0, load_ = 0, bandwidth_ = 0, traffic_ = 0;
    double memory_pages_ = 0, throttled_ = 0, ecc_ = 0, replays_ = 0;
    double pcie_sent_ = 0, pcie_received_ = 0, nvlink_sent_ = 0, nvlink_received_ = 0;
};

inline std::string gpu_id(std::size_t gpu) {
    // As NVIDIA's: nothing that compresses.
    std::mt19937_64 dice{gpu * 7919 + 1};
    constexpr std::string_view digits = "0123456789abcdef";
    std::string id = "GPU-";
    for (int i = 0; i < 32; ++i) {
        if (i == 8 || i == 12 || i == 16 || i == 20) id += '-';
        id += digits[dice() % 16];
    }
    return id;
}

inline series::Labels gpu_labels(std::size_t gpu) {
    const auto host = gpu / 8;
    return {{"fleet", "main"},
            {"zone", "z" + std::to_string(host % 5)},
            {"host", "h-" + std::to_string(host)},
            {"gpu", gpu_id(gpu)},
            {"class", "h100-sxm5-80"},
            {"tenant", "t-" + std::to_string(host % 40)},
            {"project", "p-" + std::to_string(host % 130)},
            {"workload", "i-" + std::to_string(host % 400)}};
}

}  // namespace hostler::bench
