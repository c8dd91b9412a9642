#include "telemetry_contract.h"

#include <gmock/gmock.h>

#include <set>

namespace hostler::contract {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> TelemetryContract::discover() {
    const auto seen = run(rig_->telemetry().discover());
    EXPECT_TRUE(seen) << seen.error().message;
    std::vector<std::string> uuids;
    if (seen)
        for (const auto& gpu : seen->gpus) uuids.push_back(gpu.uuid);
    return uuids;
}

std::vector<GpuSample> TelemetryContract::sample() {
    auto samples = run(rig_->telemetry().sample());
    EXPECT_TRUE(samples) << samples.error().message;
    return samples.value_or(std::vector<GpuSample>{});
}

TEST_P(TelemetryContract, EachGpuHasANameOfItsOwnThatStays) {
    const auto first = discover();
    EXPECT_THAT(first, SizeIs(3));
    EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 3U);
    EXPECT_THAT(first, ::testing::Each(::testing::Ne("")));
    EXPECT_EQ(discover(), first);
}

TEST_P(TelemetryContract, AnInventoryNamesItsSource) {
    const std::string name{rig_->telemetry().name()};
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(rig_->telemetry().name(), name);
    const auto seen = run(rig_->telemetry().discover());
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_EQ(seen->source, name);
    for (const auto& gpu : seen->gpus) EXPECT_THAT(gpu.sources, IsEmpty()) << "merging fills it in";
}

TEST_P(TelemetryContract, NothingIsSampledBeforeItWasFound) { EXPECT_THAT(sample(), IsEmpty()); }

TEST_P(TelemetryContract, OneSampleForEachGpuInOrder) {
    const auto uuids = discover();
    for (int round = 0; round < 2; ++round) {
        const auto samples = sample();
        ASSERT_EQ(samples.size(), uuids.size());
        for (std::size_t i = 0; i < samples.size(); ++i) {
            EXPECT_EQ(samples[i].uuid, uuids[i]);
            EXPECT_EQ(samples[i].condition, GpuCondition::ok) << samples[i].reason;
            EXPECT_EQ(samples[i].reason, "");
        }
    }
}

TEST_P(TelemetryContract, AGpuThatWentKeepsNoOtherFromBeingSampled) {
    const auto uuids = discover();
    ASSERT_THAT(uuids, SizeIs(3));
    rig_->lose_second();
    auto samples = sample();
    ASSERT_EQ(samples.size(), 3U);
    EXPECT_EQ(samples[1].uuid, uuids[1]);
    EXPECT_NE(samples[1].condition, GpuCondition::ok);
    EXPECT_NE(samples[1].reason, "");
    for (const std::size_t i : {0U, 2U}) {
        EXPECT_EQ(samples[i].uuid, uuids[i]);
        EXPECT_EQ(samples[i].condition, GpuCondition::ok) << samples[i].reason;
    }
    EXPECT_THAT(discover(), ElementsAre(uuids[0], uuids[2])) << "their names stay";
    samples = sample();
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[1].uuid, uuids[2]);
}

TEST_P(TelemetryContract, AMachineWithoutThemIsAnEmptyInventory) {
    const auto seen = run(rig_->nothing().discover());
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_THAT(seen->gpus, IsEmpty());
    EXPECT_THAT(run(rig_->nothing().sample()).value(), IsEmpty());
}

TEST_P(TelemetryContract, AFaultIsDeliveredOnce) {
    const auto uuids = discover();
    EXPECT_THAT(rig_->telemetry().take_faults(), IsEmpty());
    std::vector<GpuFault> faults;
    for (int tries = 0; faults.empty() && tries < 100; ++tries) {
        // A driver that is being registered with may miss one: then the next.
        if (tries % 20 == 0 && !rig_->fault()) return;
        ASSERT_TRUE(run(sleep(rig_->timers(), 25ms)));
        faults = rig_->telemetry().take_faults();
    }
    ASSERT_THAT(faults, SizeIs(1));
    EXPECT_EQ(faults[0].uuid, uuids.at(0));
    EXPECT_EQ(faults[0].kind, "xid");
    EXPECT_THAT(rig_->telemetry().take_faults(), IsEmpty());
}

TEST_P(HostTelemetryContract, TellsTheMachineWithoutItsGpus) {
    const auto facts = run(rig_->host().facts());
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_NE(facts->hostname, "");
    EXPECT_NE(facts->boot_id, "");
    EXPECT_GT(facts->cpus, 0);
    EXPECT_GT(facts->memory_bytes, 0);
    EXPECT_GT(facts->disk_bytes, 0);
    EXPECT_THAT(facts->gpus, IsEmpty());
    EXPECT_THAT(facts->topology, IsEmpty());
    const auto again = run(rig_->host().facts());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->boot_id, facts->boot_id);
    EXPECT_EQ(again->hostname, facts->hostname);
}

TEST_P(HostTelemetryContract, TellsNothingOfContainersThatAreNotThere) {
    const std::vector<std::string> none = {std::string(64, 'e'), "../../etc", ""};
    const auto samples = run(rig_->host().samples_of(none));
    ASSERT_TRUE(samples) << samples.error().message;
    EXPECT_THAT(*samples, IsEmpty());
    const auto processes = run(rig_->host().processes_of(none));
    ASSERT_TRUE(processes) << processes.error().message;
    EXPECT_THAT(*processes, IsEmpty());
}

TEST_P(HostTelemetryContract, SamplesWhatItCan) {
    for (int round = 0; round < 2; ++round) {
        const auto sample = run(rig_->host().sample());
        ASSERT_TRUE(sample) << sample.error().message;
        if (sample->memory_available_bytes && sample->memory_total_bytes)
            EXPECT_LE(*sample->memory_available_bytes, *sample->memory_total_bytes);
        if (sample->cpu_busy_percent) EXPECT_LE(*sample->cpu_busy_percent, 100);
    }
}

}  // namespace hostler::contract
