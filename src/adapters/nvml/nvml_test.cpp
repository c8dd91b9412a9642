#include "adapters/nvml/nvml.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "adapters/nvml/simulated_state.h"
#include "core/testing/real_timers.h"
#include "domain/inventory/merge.h"
#include "domain/scheduler/mig.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t mib = 1 << 20;

class NvmlTest : public ::testing::Test {
protected:
    // The library keeps its state for as long as it is loaded. Unloaded, that would count as leaked.
    static void SetUpTestSuite() {
        ASSERT_TRUE(dlopen(SIMULATED_NVML, RTLD_NOW | RTLD_NODELETE)) << dlerror();
        ASSERT_TRUE(dlopen(SPARSE_NVML, RTLD_NOW | RTLD_NODELETE)) << dlerror();
    }
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "nvml-test-XXXXXX").string();
        folder = mkdtemp(pattern.data());
        setenv("HOSTLER_SIMULATED_NVML", path().c_str(), 1);
    }
    void TearDown() override {
        change([](std::string state) { return with_setting(state, -1, "hang", ""); });
        nvml.reset();
        std::filesystem::remove_all(folder);
    }

    std::string path() const { return folder + "/state"; }
    void make(SimulatedHost host, NvmlSettings settings = {}, Duration slow_interval = {}) {
        state = simulated_state(host).value();
        ASSERT_TRUE(write_simulated_state(path(), state));
        settings.library = SIMULATED_NVML;
        settings.slow_interval = slow_interval;
        nvml = std::make_unique<Nvml>(loop, timers, settings);
    }
    template <class F>
    void change(F&& edit) {
        if (state.empty()) return;
        state = edit(state).value();
        ASSERT_TRUE(write_simulated_state(path(), state));
    }
    void set(int gpu, std::string_view key, std::string_view value) {
        change([&](const std::string& s) { return with_setting(s, gpu, key, value); });
    }
    template <class T>
    Result<T> run(Task<T> task) {
        return testing::run_real(loop, std::move(task));
    }
    GpuInventory discover() { return run(nvml->discover()).value(); }
    std::vector<GpuSample> sample() { return run(nvml->sample()).value(); }

    Loop loop;
    testing::RealTimers timers{loop};
    std::string folder;
    std::string state;
    std::unique_ptr<Nvml> nvml;
};

TEST_F(NvmlTest, HowBusyPartsAreIsTheRateBetweenTwoSamples) {
    make({.hostname = "nj-1", .gpus = 2});
    for (int gpu : {0, 1}) set(gpu, "graphics_active", "80");
    set(0, "tensor_active", "37");
    set(0, "memory_active", "21");
    set(1, "sm_active", "");
    discover();
    EXPECT_EQ(sample().at(0).tensor_active_ppm, std::nullopt) << "there is nothing to compare with";
    const auto second = sample();
    EXPECT_EQ(second.at(0).graphics_active_ppm, 800'000);
    EXPECT_EQ(second.at(0).tensor_active_ppm, 370'000);
    EXPECT_EQ(second.at(0).memory_active_ppm, 210'000);
    EXPECT_EQ(second.at(0).sm_active_ppm, 0);
    EXPECT_EQ(second.at(1).sm_active_ppm, std::nullopt)
        << "one that is not told is absent, the others are there";
    EXPECT_EQ(second.at(1).graphics_active_ppm, 800'000);
}

TEST_F(NvmlTest, GpusThatDoNotTellHowBusyTheirPartsAre) {
    make({.hostname = "nj-1", .gpus = 1, .model = "A100 SXM4 80GB"});
    discover();
    sample();
    EXPECT_EQ(sample().at(0).graphics_active_ppm, std::nullopt);
    EXPECT_TRUE(sample().at(0).utilisation_percent);
}

TEST_F(NvmlTest, WhatIsSlowToReadIsReadSeldom) {
    make({.hostname = "nj-1", .gpus = 1}, {}, std::chrono::hours{1});
    discover();
    EXPECT_EQ(sample().at(0).ecc_corrected, 0);
    set(0, "ecc_corrected", "5");
    set(0, "utilisation", "50");
    const auto between = sample().at(0);
    EXPECT_EQ(between.ecc_corrected, 0) << "as it was read last";
    EXPECT_EQ(between.utilisation_percent, 50);
}

TEST_F(NvmlTest, FindsEightGpusAsTheyAre) {
    make({.hostname = "nj-1"});
    const auto seen = discover();
    EXPECT_TRUE(seen.simulated);
    EXPECT_TRUE(nvml->simulated());
    EXPECT_EQ(seen.source, "nvml");
    EXPECT_EQ(seen.driver_version, "570.86.15");
    EXPECT_EQ(seen.cuda_version, "12.8");
    EXPECT_THAT(seen.problems, IsEmpty());
    ASSERT_THAT(seen.gpus, SizeIs(8));
    std::set<std::string> uuids;
    for (const auto& gpu : seen.gpus) uuids.insert(gpu.uuid);
    EXPECT_THAT(uuids, SizeIs(8));
    const GpuFacts& third = seen.gpus[2];
    EXPECT_EQ(third.vendor, GpuVendor::nvidia);
    EXPECT_EQ(third.model, "H100 SXM5 80GB");
    EXPECT_EQ(third.product, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(third.index, 2);
    EXPECT_EQ(third.minor, 2);
    EXPECT_EQ(third.pci_address, "f000:52:00.0");
    EXPECT_EQ(third.pci_id, "10de:2330");
    EXPECT_EQ(third.memory_bytes, 81920 * mib);
    EXPECT_EQ(third.core_count, 16896);
    EXPECT_EQ(third.serial.size(), 13u);
    EXPECT_EQ(third.architecture, "hopper");
    EXPECT_EQ(third.compute_capability, "9.0");
    EXPECT_EQ(third.numa_node, 0);
    EXPECT_EQ(seen.gpus[7].numa_node, 1);
    EXPECT_EQ(third.pcie_generation, 5);
    EXPECT_EQ(third.pcie_width_max, 16);
    EXPECT_EQ(third.power_limit_mw, 700'000);
    EXPECT_EQ(third.power_limit_min_mw, 200'000);
    EXPECT_EQ(third.clock_graphics_max_mhz, 1980);
    EXPECT_EQ(third.mig, MigMode::disabled);
    EXPECT_EQ(third.driver, "nvidia");
    EXPECT_EQ(third.cdi_name, "nvidia.com/gpu=" + third.uuid);
    EXPECT_THAT(third.device_nodes, ElementsAre("/dev/nvidia2"));
    ASSERT_THAT(third.nvlinks, SizeIs(18));
    EXPECT_TRUE(third.nvlinks[5].active && third.nvlinks[5].remote_switch);
    EXPECT_EQ(third.nvlinks[5].remote_pci, "0000:91:00.0");
}

TEST_F(NvmlTest, UuidsFollowFromTheHostName) {
    make({.hostname = "nj-1", .gpus = 2});
    const auto first = discover().gpus;
    make({.hostname = "nj-1", .gpus = 2});
    EXPECT_THAT(compare_gpus(first, discover().gpus), IsEmpty());
    make({.hostname = "lon-1", .gpus = 2});
    EXPECT_NE(discover().gpus[0].uuid, first[0].uuid);
}

TEST_F(NvmlTest, NvLinksJoinAllPairs) {
    make({.hostname = "a"});
    const auto seen = discover();
    EXPECT_THAT(seen.topology, SizeIs(28));
    EXPECT_THAT(seen.topology, Each(Field(&GpuLink::kind, GpuLinkKind::nvlink)));
    EXPECT_THAT(seen.topology, Each(Field(&GpuLink::width, 18)));
    for (const auto& link : seen.topology) EXPECT_LT(link.a, link.b);
}

TEST_F(NvmlTest, FewerLinksWhereSomeAreDown) {
    make({.hostname = "a", .gpus = 2});
    set(1, "nvlinks_down", "0 3 17");
    const auto seen = discover();
    EXPECT_FALSE(seen.gpus[1].nvlinks[3].active);
    EXPECT_THAT(seen.topology, ElementsAre(Field(&GpuLink::width, 15)));
    EXPECT_EQ(sample()[1].nvlinks_active, 15);
}

TEST_F(NvmlTest, PcieKindsWithoutNvLink) {
    make({.hostname = "a", .model = "L40S"});
    const auto seen = discover();
    std::map<GpuLinkKind, int> kinds;
    for (const auto& link : seen.topology) ++kinds[link.kind];
    EXPECT_EQ(kinds[GpuLinkKind::pix], 4) << "two behind each switch";
    EXPECT_EQ(kinds[GpuLinkKind::node], 8);
    EXPECT_EQ(kinds[GpuLinkKind::sys], 16);
}

TEST_F(NvmlTest, SamplesShowWhatChanges) {
    make({.hostname = "a", .gpus = 2});
    discover();
    EXPECT_EQ(sample()[0].utilisation_percent, 0);
    set(0, "utilisation", "87");
    set(0, "temperature", "71");
    set(0, "ecc_corrected", "5");
    set(0, "rows_pending", "1");
    set(0, "recovery_action", "4");
    set(0, "process", "4711 1024 66 12");
    set(0, "encoder", "3");
    set(0, "power_instant_mw", "612345");
    set(0, "throttled_power_us", "17");
    set(0, "nvlink_crc_errors", "6");
    set(0, "nvlink_replays", "7");
    const auto now = sample();
    EXPECT_EQ(now[0].condition, GpuCondition::ok);
    EXPECT_EQ(now[0].utilisation_percent, 87);
    EXPECT_EQ(now[0].temperature_celsius, 71);
    EXPECT_EQ(now[0].temperature_slowdown_celsius, 87);
    EXPECT_EQ(now[0].ecc_corrected, 5);
    EXPECT_EQ(now[0].rows_pending, 1);
    EXPECT_EQ(now[0].recovery_action, 4);
    EXPECT_EQ(now[0].memory_total_bytes, 81920 * mib);
    EXPECT_EQ(now[0].memory_used_bytes, 1024 * mib);
    EXPECT_EQ(now[0].memory_reserved_bytes, 529 * mib);
    EXPECT_EQ(now[0].power_limit_mw, 700'000);
    EXPECT_EQ(now[0].clock_graphics_mhz, 345);
    EXPECT_EQ(now[0].throttle_reasons, throttle_idle);
    EXPECT_EQ(now[0].fan_percent, std::nullopt) << "an SXM board has no fan";
    EXPECT_EQ(now[0].pages_retired, std::nullopt) << "since Ampere rows are remapped instead";
    ASSERT_TRUE(now[0].processes);
    EXPECT_THAT(*now[0].processes, ElementsAre(GpuProcess{4711, 1024 * mib, 66, 12}));
    EXPECT_EQ(now[0].encoder_percent, 3);
    EXPECT_EQ(now[0].power_instant_mw, 612'345);
    EXPECT_EQ(now[0].throttled_power_us, 17);
    EXPECT_EQ(now[0].throttled_thermal_us, 0);
    EXPECT_EQ(now[0].pcie_sent_kb_s, 870'000);
    EXPECT_EQ(now[0].pcie_received_kb_s, 1'740'000);
    EXPECT_EQ(now[0].nvlink_errors, 13) << "the fields that are told, together";
    EXPECT_EQ(now[1].utilisation_percent, 0);
    EXPECT_THAT(*now[1].processes, IsEmpty());
    const auto later = sample();
    EXPECT_GE(later[0].energy_mj, now[0].energy_mj);
    EXPECT_EQ(later[0].pcie_sent_bytes, std::nullopt) << "NVML's counter wraps within a tenth of a second";
}

TEST_F(NvmlTest, LoadsMaySwing) {
    make({.hostname = "a", .gpus = 1});
    set(0, "utilisation", "wave 20 60 0.05");
    discover();
    std::set<std::int64_t> seen;
    for (int i = 0; i < 200 && seen.size() < 3; ++i) {
        const auto value = sample()[0].utilisation_percent.value();
        EXPECT_TRUE(value >= 20 && value <= 60) << value;
        seen.insert(value);
    }
    EXPECT_GE(seen.size(), 3u);
}

TEST_F(NvmlTest, ALostGpuIsLostAndTheOthersGoOn) {
    make({.hostname = "a", .gpus = 3});
    const auto before = discover();
    set(1, "lost", "yes");
    auto samples = sample();
    EXPECT_EQ(samples[1].condition, GpuCondition::lost);
    EXPECT_EQ(samples[1].uuid, before.gpus[1].uuid);
    EXPECT_EQ(samples[1].temperature_celsius, std::nullopt);
    EXPECT_EQ(samples[2].condition, GpuCondition::ok);
    EXPECT_THAT(nvml->take_faults(), ElementsAre(GpuFault{before.gpus[1].uuid, "lost", 0}));
    sample();
    EXPECT_THAT(nvml->take_faults(), IsEmpty()) << "told once";

    const auto again = discover();
    EXPECT_THAT(again.gpus, SizeIs(3)) << "what is lost is still in the machine";
    EXPECT_THAT(again.problems, SizeIs(1));
    set(1, "lost", "");
    discover();
    EXPECT_EQ(sample()[1].condition, GpuCondition::ok);
}

TEST_F(NvmlTest, ARemovedGpuIsGone) {
    make({.hostname = "a", .gpus = 3});
    const auto before = discover();
    set(0, "absent", "yes");
    EXPECT_EQ(sample()[0].condition, GpuCondition::gone);
    const auto after = discover();
    EXPECT_THAT(after.gpus, SizeIs(2));
    const auto changes = compare_gpus(before.gpus, after.gpus);
    const GpuChange gone{GpuChangeKind::gone, before.gpus[0].uuid, {}};
    EXPECT_THAT(changes, ::testing::Contains(gone));
    EXPECT_THAT(sample(), Each(Field(&GpuSample::condition, GpuCondition::ok)));
}

TEST_F(NvmlTest, WhatIsSlowToReadIsReadAnewAfterAGpuWasGone) {
    make({.hostname = "a", .gpus = 1});
    nvml = std::make_unique<Nvml>(loop, timers, NvmlSettings{.library = SIMULATED_NVML});
    discover();
    sample();
    set(0, "pcie_replays", "77");
    EXPECT_NE(sample()[0].pcie_replays, 77) << "not read in every sample";
    set(0, "absent", "yes");
    EXPECT_EQ(sample()[0].condition, GpuCondition::gone);
    set(0, "absent", "");
    EXPECT_EQ(sample()[0].pcie_replays, 77);
}

TEST_F(NvmlTest, AHungCallCostsOneGpu) {
    make({.hostname = "a", .gpus = 3}, {.discover_timeout = 300ms, .sample_timeout = 300ms});
    discover();
    set(1, "hang", "nvmlDeviceGetPowerUsage");
    const auto start = std::chrono::steady_clock::now();
    auto samples = sample();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
    EXPECT_EQ(samples[1].condition, GpuCondition::unresponsive);
    EXPECT_EQ(samples[1].power_mw, std::nullopt);
    EXPECT_EQ(samples[0].condition, GpuCondition::ok);
    EXPECT_EQ(samples[2].condition, GpuCondition::ok);
    EXPECT_TRUE(samples[2].power_mw);

    samples = sample();  // The stuck GPU is not asked again: nobody waits for it.
    EXPECT_EQ(samples[1].condition, GpuCondition::unresponsive);
    const auto seen = discover();
    EXPECT_THAT(seen.gpus, SizeIs(3)) << "it is kept in the picture";
    EXPECT_THAT(seen.problems, SizeIs(1));

    set(1, "hang", "");
    while (sample()[1].condition != GpuCondition::ok) std::this_thread::sleep_for(5ms);
}

TEST_F(NvmlTest, AHungLibraryIsAnErrorInTime) {
    make({.hostname = "a", .gpus = 1}, {.discover_timeout = 200ms, .sample_timeout = 200ms});
    set(-1, "hang", "nvmlDeviceGetCount_v2");
    auto seen = run(nvml->discover());
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, Code::timeout);
    seen = run(nvml->discover());
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, Code::unavailable);
    set(-1, "hang", "");
    while (!run(nvml->discover())) std::this_thread::sleep_for(5ms);
}

TEST_F(NvmlTest, XidsAreDeliveredOnce) {
    make({.hostname = "a", .gpus = 2});
    change([](const std::string& s) { return with_line(s, 1, "event", "1 xid 31"); });
    const auto seen = discover();
    // A set that is being registered takes no event: wait until one sent to the first GPU has come through.
    std::vector<GpuFault> faults;
    const auto wait_for = [&](std::size_t size, int rounds) {
        for (int i = 0; i < rounds && faults.size() < size; ++i) {
            std::this_thread::sleep_for(10ms);
            for (auto& fault : nvml->take_faults()) faults.push_back(std::move(fault));
        }
    };
    for (int number = 10; faults.empty(); ++number) {
        set(0, "event", fmt::format("{} xid 43", number));
        wait_for(1, 50);
    }
    change([](const std::string& s) { return with_line(s, 1, "event", "2 xid 79"); });
    change([](const std::string& s) { return with_line(s, 1, "event", "3 dbe 1"); });
    wait_for(3, 1000);
    wait_for(4, 20);
    EXPECT_THAT(faults, ::testing::UnorderedElementsAre(GpuFault{seen.gpus[0].uuid, "xid", 43},
                                                        GpuFault{seen.gpus[1].uuid, "xid", 79},
                                                        GpuFault{seen.gpus[1].uuid, "ecc_uncorrected", 1}))
        << "31 was there before anyone listened";
}

TEST_F(NvmlTest, ErrorsOfOneFunctionCostOneMetric) {
    make({.hostname = "a", .gpus = 1});
    discover();
    set(0, "error", "nvmlDeviceGetTemperature 3");
    auto sampled = sample();
    EXPECT_TRUE(sampled[0].temperature_celsius) << "there is a newer function";
    change([](const std::string& s) { return with_line(s, 0, "error", "nvmlDeviceGetTemperatureV 999"); });
    change([](const std::string& s) { return with_line(s, 0, "error", "nvmlDeviceGetMemoryInfo_v2 25"); });
    sampled = sample();
    EXPECT_EQ(sampled[0].temperature_celsius, std::nullopt);
    EXPECT_EQ(sampled[0].memory_reserved_bytes, std::nullopt);
    EXPECT_EQ(sampled[0].memory_used_bytes, 529 * mib) << "the first version counts what is reserved as used";
    EXPECT_TRUE(sampled[0].power_mw);
}

TEST_F(NvmlTest, AGpuThatIsCutTellsItsSlices) {
    make({.hostname = "nj-1", .gpus = 2});
    change([](const std::string& s) { return with_setting(s, 0, "mig", "enabled"); });
    // As nvidia-smi mig -lgi shows them on such a board, one of them shared by two compute instances.
    for (const char* slice : {"MIG-a gi=1 ci=0 start=0 size=4 g=4 c=4 sms=64 mib=40320 used=1024 active=75",
                              "MIG-b gi=9 ci=0 start=4 size=2 g=2 c=1 sms=16 mib=20096",
                              "MIG-c gi=9 ci=1 start=4 size=2 g=2 c=1 sms=16 mib=20096",
                              "MIG-d gi=13 ci=0 start=6 size=1 g=1 c=1 sms=16 mib=9856 media=yes",
                              "MIG-e gi=11 ci=0 start=7 size=1 g=1 c=1 sms=16 mib=9856"})
        change([&](const std::string& s) { return with_line(s, 0, "slice", slice); });
    const auto seen = discover();
    EXPECT_EQ(seen.gpus[0].mig, MigMode::enabled);
    EXPECT_EQ(seen.gpus[0].cdi_name, "") << "nobody is given it for a whole one";
    EXPECT_NE(seen.gpus[1].cdi_name, "");
    EXPECT_THAT(seen.gpus[1].slices, IsEmpty());
    std::map<std::string, GpuSlice> slices;
    for (const GpuSlice& slice : seen.gpus[0].slices) slices[slice.uuid] = slice;
    ASSERT_THAT(slices, SizeIs(5));
    EXPECT_EQ(slices["MIG-a"], (GpuSlice{.uuid = "MIG-a",
                                         .profile = "4g.40gb",
                                         .gpu_instance = 1,
                                         .compute_instance = 0,
                                         .start = 0,
                                         .size = 4,
                                         .multiprocessors = 64,
                                         .memory_bytes = 40320 * mib}));
    EXPECT_EQ(slices["MIG-b"].profile, "1c.2g.20gb");
    EXPECT_EQ(slices["MIG-c"].compute_instance, 1);
    EXPECT_EQ(slices["MIG-d"].profile, "1g.10gb+me");
    EXPECT_EQ(slices["MIG-e"].profile, "1g.10gb");
    EXPECT_EQ(slices["MIG-e"].start, 7);
    for (const auto& [uuid, slice] : slices)
        if (!slice.profile.starts_with("1c."))
            EXPECT_NE(mig_profile_number(slice.profile), 0)
                << slice.profile << " is in the table of what is placed";

    sample();
    const GpuSample second = sample().at(0);
    EXPECT_EQ(second.utilisation_percent, std::nullopt) << "the driver does not tell it of a GPU that is cut";
    EXPECT_EQ(second.graphics_active_ppm, std::nullopt);
    EXPECT_TRUE(second.temperature_celsius);
    ASSERT_THAT(second.slices, SizeIs(5));
    const auto a = std::ranges::find(second.slices, "MIG-a", &SliceSample::uuid);
    EXPECT_EQ(a->memory_total_bytes, 40320 * mib);
    EXPECT_EQ(a->memory_used_bytes, 1024 * mib);
    EXPECT_EQ(a->graphics_active_ppm, 750'000);
    EXPECT_EQ(std::ranges::find(second.slices, "MIG-b", &SliceSample::uuid)->graphics_active_ppm, 0);

    // Cut in another way: until it is looked for anew the slices that are gone tell nothing.
    set(0, "slice", "MIG-f gi=0 ci=0 start=0 size=8 g=7 c=7 sms=132 mib=81920 media=yes");
    const GpuSample stale = sample().at(0);
    for (const SliceSample& gone : stale.slices)
        EXPECT_EQ(gone.memory_used_bytes, std::nullopt) << gone.uuid;
    const auto whole = discover().gpus[0].slices;
    ASSERT_THAT(whole, SizeIs(1));
    EXPECT_EQ(whole[0].profile, "7g.80gb");
    EXPECT_EQ(sample().at(0).slices.at(0).memory_total_bytes, 81920 * mib);
}

TEST_F(NvmlTest, AnOldLibraryLacksMetricsAndNothingElse) {
    nvml = std::make_unique<Nvml>(loop, timers, NvmlSettings{.library = SPARSE_NVML, .slow_interval = {}});
    const auto seen = discover();
    EXPECT_FALSE(seen.simulated);
    ASSERT_THAT(seen.gpus, SizeIs(1));
    EXPECT_EQ(seen.gpus[0].uuid, "GPU-0ld");
    EXPECT_EQ(seen.gpus[0].memory_bytes, 16384 * mib);
    const auto sampled = sample();
    ASSERT_THAT(sampled, SizeIs(1));
    EXPECT_EQ(sampled[0].condition, GpuCondition::ok);
    EXPECT_EQ(sampled[0].temperature_celsius, std::nullopt);
    EXPECT_EQ(sampled[0].memory_used_bytes, 3072 * mib);
    EXPECT_EQ(sampled[0].throttle_reasons, throttle_power_cap);
    ASSERT_TRUE(sampled[0].processes);
    ASSERT_THAT(*sampled[0].processes, SizeIs(70));
    EXPECT_EQ(sampled[0].processes->front(), (GpuProcess{1001, mib})) << "by PID";
    EXPECT_EQ(sampled[0].processes->back(), (GpuProcess{1070, std::nullopt})) << "memory not available";
}

TEST_F(NvmlTest, NoLibraryMeansNoGpus) {
    nvml = std::make_unique<Nvml>(loop, timers, NvmlSettings{.library = "/nowhere/libnvidia-ml.so.1"});
    auto seen = run(nvml->discover());
    ASSERT_FALSE(seen) << "a path that somebody named is an error";
    EXPECT_EQ(seen.error().code, Code::unavailable);
    EXPECT_THAT(run(nvml->sample()).value(), IsEmpty());
}

TEST_F(NvmlTest, ADriverThatIsNotLoadedSaysWhatToDo) {
    make({.hostname = "a", .gpus = 1});
    set(-1, "error", "nvmlInit_v2 18");
    auto seen = run(nvml->discover());
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, Code::unavailable);
    EXPECT_THAT(seen.error().message, ::testing::HasSubstr("reboot"));
    set(-1, "error", "");
    EXPECT_THAT(discover().gpus, SizeIs(1)) << "tried again at the next look";
}

TEST(SimulatedState, RefusesWhatItCannotMakeUp) {
    EXPECT_EQ(simulated_state({.hostname = "a", .model = "voodoo"}).error().code, Code::invalid);
    EXPECT_EQ(simulated_state({.hostname = "a", .model = "MI300X"}).error().code, Code::invalid);
    EXPECT_EQ(simulated_state({.hostname = "a", .gpus = 17}).error().code, Code::invalid);
    EXPECT_EQ(simulated_state({.hostname = "a", .gpus = -1}).error().code, Code::invalid);
    EXPECT_TRUE(simulated_state({.hostname = "a", .gpus = 0}));
    EXPECT_EQ(with_setting("[system]\n", 3, "lost", "yes").error().code, Code::not_found);
}

}  // namespace
}  // namespace hostler
