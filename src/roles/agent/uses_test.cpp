#include "roles/agent/uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/agent/pulse.h"

namespace hostler::agent {
namespace {

using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

GpuProcess process(std::int64_t pid, Metric memory, Metric percent = {}) {
    return {.pid = pid, .memory_bytes = memory, .utilisation_percent = percent};
}

TEST(Uses, ProcessesAreTheirContainersAndContainersTheirInstances) {
    Sampler::Samples samples;
    GpuSample first, second, untold;
    first.uuid = "GPU-1";
    first.processes = {process(10, 100, 30), process(11, 50, 90), process(12, 7), process(13, 1)};
    second.uuid = "GPU-2";
    second.processes = {process(10, 3), process(14, std::nullopt)};
    untold.uuid = "GPU-3";
    samples.gpus = {first, second, untold};
    samples.containers = {{10, "aa"}, {11, "aa"}, {12, "bb"}, {14, "cc"}};
    std::map<std::string, Workload> workloads;
    workloads["i-1"] = {.instance = "i-1", .container_id = "aa"};
    workloads["i-2"] = {.instance = "i-2", .container_id = "cc"};
    workloads["i-3"] = {.instance = "i-3"};
    EXPECT_THAT(uses_of(samples, workloads),
                UnorderedElementsAre(
                    WorkloadUse{.instance = "i-1",
                                .gpu = "GPU-1",
                                .processes = 2,
                                .memory_bytes = 150,
                                .utilisation_percent = 100},
                    WorkloadUse{.gpu = "GPU-1", .processes = 2, .memory_bytes = 8},
                    WorkloadUse{.instance = "i-1", .gpu = "GPU-2", .processes = 1, .memory_bytes = 3},
                    WorkloadUse{.instance = "i-2", .gpu = "GPU-2", .processes = 1}));
}

TEST(Pulse, IsFasterWhileSomebodyLooks) {
    const Instant start{1h};
    Pulse pulse;
    EXPECT_EQ(pulse.left(start), Duration::max()) << "nobody wants any";
    pulse.watch(1s, 15s, start);
    EXPECT_EQ(pulse.left(start), 0s);
    pulse.beat(start);
    EXPECT_EQ(pulse.left(start), 1s);
    EXPECT_EQ(pulse.left(start + 400ms), 600ms);
    EXPECT_EQ(pulse.left(start + 2s), 0s);
    EXPECT_EQ(pulse.left(start + 15s), Duration::max());
    pulse.pace(10s);
    pulse.beat(start + 20s);
    EXPECT_EQ(pulse.left(start + 21s), 9s);
    pulse.watch(1ms, 24h, start + 21s);
    EXPECT_EQ(pulse.left(start + 20s), Pulse::interval_min) << "nobody makes it as fast as they like,";
    EXPECT_EQ(pulse.left(start + 21s + Pulse::watched_max), 0s);
    pulse.beat(start + 21s + Pulse::watched_max);
    EXPECT_EQ(pulse.left(start + 21s + Pulse::watched_max), 10s) << "or for as long";
}

}  // namespace
}  // namespace hostler::agent
