#include "ports/discover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/run.h"

namespace hostler {
namespace {

class Source : public Telemetry {
public:
    explicit Source(Result<GpuInventory> answer) : answer_(std::move(answer)) {}
    std::string_view name() const override { return "fake"; }
    Task<GpuInventory> discover() override { co_return answer_; }
    Task<std::vector<GpuSample>> sample() override { co_return std::vector<GpuSample>{}; }

private:
    Result<GpuInventory> answer_;
};

class Host : public HostTelemetry {
public:
    Task<HostFacts> facts() override {
        HostFacts facts;
        facts.hostname = "gpu-7";
        co_return facts;
    }
    Task<HostSample> sample() override { co_return HostSample{}; }
    Task<std::map<std::int64_t, std::string>> containers_of(std::vector<std::int64_t>) override {
        co_return std::map<std::int64_t, std::string>{};
    }
    Task<std::map<std::string, ProcessUse>> processes_of(std::vector<std::string>) override {
        co_return std::map<std::string, ProcessUse>{};
    }
    Task<std::map<std::string, InstanceSample>> samples_of(std::vector<std::string>) override {
        co_return std::map<std::string, InstanceSample>{};
    }
};

GpuInventory one(std::string uuid, std::string model) {
    GpuFacts gpu;
    gpu.uuid = std::move(uuid);
    gpu.model = std::move(model);
    gpu.pci_address = "0000:07:00.0";
    GpuInventory seen;
    seen.source = "fake";
    seen.gpus.push_back(std::move(gpu));
    return seen;
}

TEST(DiscoverHost, ASourceThatFailsIsTold) {
    Loop loop;
    Host host;
    Source works{one("GPU-1", "H100 SXM5 80GB")};
    Source broken{fail(Code::unavailable, "the driver is not loaded")};
    Source bus{one("pci-0000:07:00.0", "something")};
    const auto facts = testing::run(loop, discover_host({&broken, &works, &bus}, host)).value();
    EXPECT_EQ(facts.hostname, "gpu-7");
    ASSERT_EQ(facts.gpus.size(), 1u);
    EXPECT_EQ(facts.gpus[0].uuid, "GPU-1");
    EXPECT_EQ(facts.gpus[0].model, "H100 SXM5 80GB");
    EXPECT_THAT(facts.problems, ::testing::ElementsAre("fake: the driver is not loaded"));
}

TEST(DiscoverHost, WhoIsCancelledStops) {
    Loop loop;
    Host host;
    Source cancelled{fail(Code::cancelled, "cancelled")};
    EXPECT_EQ(testing::run(loop, discover_host({&cancelled}, host)).error().code, Code::cancelled);
}

}  // namespace
}  // namespace hostler
