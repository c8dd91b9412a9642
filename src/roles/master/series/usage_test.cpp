// What GPUs do, as the master shows it: to operators, to tenants, to Prometheus.
#include "roles/master/series/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "api/types_host.h"
#include "api/types_usage.h"
#include "core/testing/run.h"
#include "domain/inventory/metrics.h"
#include "proto/uplink.pb.h"
#include "roles/master/http/api.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/series/series.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/host_rig.h"
#include "roles/master/uplink/messages.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using hostler::testing::try_run;
using ::testing::HasSubstr;
using ::testing::Not;

struct Usage : ::testing::Test, testing::DeskRig {
    Usage() {
        host("a", "nj", 2);
        HOSTLER_ASSERT(stock(1));
        mine = running("one");
        gpu = estate.claims.at(instance(mine).claim).gpus.front();
        other = gpu == "GPU-a-0" ? "GPU-a-1" : "GPU-a-0";
    }
    static GpuSample sample(const std::string& uuid) {
        GpuSample made;
        made.uuid = uuid;
        made.utilisation_percent = 61;
        made.memory_used_bytes = std::int64_t{40} << 30;
        made.memory_total_bytes = std::int64_t{80} << 30;
        made.memory_reserved_bytes = std::int64_t{1} << 30;
        made.power_mw = 412'500;
        made.energy_mj = 1'234'567;
        made.temperature_celsius = 58;
        made.clock_sm_mhz = 1980;
        made.last_xid = 0;
        made.tensor_active_ppm = 370'000;
        made.throttle_reasons = throttle_idle | throttle_power_cap;
        return made;
    }
    HostTelemetryTold told() const {
        HostTelemetryTold made;
        for (const std::string& uuid : {gpu, other}) made.gpus[uuid] = sample(uuid);
        made.host.emplace().cpu_busy_percent = 12;
        made.uses = {
            {.instance = mine, .gpu = gpu, .processes = 2, .memory_bytes = 39, .utilisation_percent = 60},
            {.gpu = gpu, .processes = 1}};
        return made;
    }
    std::string page(const std::string& zone = "") {
        MetricsPage made;
        HOSTLER_ASSERT(write_gpu_metrics(made, desk, zone));
        return made.text();
    }
    std::string mine, gpu, other;
};

TEST_F(Usage, WhatIsOfNoGpuOrInstanceOfTheHostIsNotBelieved) {
    host("b", "nj", 1);
    auto made = told();
    made.gpus["GPU-b-0"] = sample("GPU-b-0");
    made.uses.push_back({.instance = mine, .gpu = "GPU-b-0", .processes = 1});
    made.uses.push_back({.instance = "i-nobody", .gpu = gpu, .processes = 1});
    note_telemetry(desk, "h-a", made);
    EXPECT_EQ(live.hosts.at("h-a").samples.size(), 2u);
    EXPECT_EQ(live.hosts.at("h-a").uses.size(), 2u);
    auto theirs = told();
    note_telemetry(desk, "h-b", theirs);
    EXPECT_TRUE(live.hosts.at("h-b").samples.empty());
    EXPECT_TRUE(live.hosts.at("h-b").uses.empty());
}

TEST_F(Usage, ATenantSeesWhatItsOwnInstancesCost) {
    note_telemetry(desk, "h-a", told());
    const GpuHolders holders{desk};
    const Host& host = estate.hosts.at("h-a");
    const auto shown = [&](const std::string& tenant) {
        const auto facts = std::ranges::find(host.facts.gpus, gpu, &GpuFacts::uuid);
        return usage_of(desk, host, *facts, holders.of("h-a", gpu), tenant);
    };
    const api::GpuUsage all = shown("");
    EXPECT_EQ(all.instance_id, "one");
    EXPECT_EQ(all.tenant_id, "acme");
    EXPECT_EQ(all.use, api::GpuUse::instance);
    EXPECT_EQ(all.power_watts, 412.5);
    EXPECT_EQ(all.tensor_active_percent, 37);
    EXPECT_EQ(all.throttled, std::vector<std::string>{"power_cap"})
        << "having nothing to do is no throttling";
    ASSERT_EQ(all.shares.size(), 2u);
    EXPECT_EQ(all.shares[0].instance_id, "one");
    EXPECT_EQ(all.shares[0].memory_used_bytes, 39);
    EXPECT_EQ(shown("acme").shares.size(), 1u);
    EXPECT_EQ(usage_of(desk, host, holders).gpus_used, 1);
    EXPECT_EQ(usage_of(desk, host, holders).cpu_percent, 12);
    desk.live.hosts.at("h-a").sample->load_milli = 470;
    EXPECT_EQ(usage_of(desk, host, holders).load, 0.47) << "and not 0.47000000000000003";
}

TEST_F(Usage, ThePageHasTheExportersNamesUnitsAndLabels) {
    note_telemetry(desk, "h-a", told());
    const std::string text = page();
    const std::string labels = "{gpu=\"" + std::string(1, gpu.back()) + "\",UUID=\"" + gpu + "\",pci_bus_id=";
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"DEV_GPU_UTIL", "61"},
                                            {"DEV_FB_USED", "40960"},
                                            {"DEV_FB_FREE", "39936"},
                                            {"DEV_POWER_USAGE", "412.5"},
                                            {"DEV_TOTAL_ENERGY_CONSUMPTION", "1234567"},
                                            {"DEV_GPU_TEMP", "58"},
                                            {"DEV_SM_CLOCK", "1980"},
                                            {"DEV_XID_ERRORS", "0"},
                                            {"PROF_PIPE_TENSOR_ACTIVE", "0.37"}}) {
        const auto at = text.find("DCGM_FI_" + name + labels);
        ASSERT_NE(at, std::string::npos) << name << "\n" << text;
        const std::string line = text.substr(at, text.find('\n', at) - at);
        EXPECT_TRUE(line.ends_with(" " + value)) << line;
        EXPECT_THAT(line, HasSubstr("modelName=\"H100"));
        EXPECT_THAT(line, HasSubstr("Hostname=\"a\""));
        EXPECT_THAT(line, HasSubstr("instance=\"h-a\""));
        EXPECT_THAT(line, HasSubstr("tenant=\"acme\",workload=\"one\""));
    }
    EXPECT_THAT(text, HasSubstr("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n"));
    EXPECT_THAT(text,
                HasSubstr("hostler_host_cpu_busy_ratio{instance=\"h-a\",Hostname=\"a\",zone=\"nj\"} 0.12\n"));
    EXPECT_THAT(text, Not(HasSubstr("DCGM_FI_DEV_FAN_SPEED"))) << "what nobody measured is not there";
    EXPECT_THAT(text, Not(HasSubstr("NaN")));
}

TEST_F(Usage, SlicesHaveTheLabelsOfDcgm) {
    auto& facts = estate.hosts.edit("h-a").facts.gpus;
    std::ranges::find(facts, gpu, &GpuFacts::uuid)->slices = {
        {.uuid = "MIG-1", .profile = "1g.10gb", .gpu_instance = 9}};
    auto made = told();
    SliceSample& slice = made.gpus[gpu].slices.emplace_back();
    slice.uuid = "MIG-1";
    slice.memory_total_bytes = std::int64_t{9856} << 20, slice.memory_used_bytes = 56 << 20;
    slice.graphics_active_ppm = 750'000;
    made.gpus[gpu].slices.emplace_back().uuid = "MIG-of-another";
    note_telemetry(desk, "h-a", made);
    const std::string text = page();
    const std::string own = "GPU_I_PROFILE=\"1g.10gb\",GPU_I_ID=\"9\",slice=\"MIG-1\"} ";
    EXPECT_THAT(text, HasSubstr("workload=\"one\"," + own + "56\n")) << "DCGM_FI_DEV_FB_USED";
    EXPECT_THAT(text, HasSubstr(own + "9800\n")) << "DCGM_FI_DEV_FB_FREE";
    EXPECT_THAT(text, HasSubstr(own + "0.75\n")) << "DCGM_FI_PROF_GR_ENGINE_ACTIVE";
    EXPECT_THAT(text, Not(HasSubstr("MIG-of-another")));
    std::istringstream lines{text};
    std::set<std::string> heads;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("# TYPE ")) EXPECT_TRUE(heads.insert(line).second) << line;
}

TEST_F(Usage, ThePageHasRoomForSoManyGpusAndUses) {
    note_telemetry(desk, "h-a", told());
    auto& uses = live.hosts.at("h-a").uses;
    uses.resize(page_gpus_max, uses.front());
    MetricsPage full;
    EXPECT_EQ(write_gpu_metrics(full, desk, "").error().reason, "too_many_gpus");
    uses.resize(page_gpus_max - live.hosts.at("h-a").samples.size());
    EXPECT_NE(page(), "");
}

TEST_F(Usage, ThePageOfAZoneAndOfSilentHosts) {
    note_telemetry(desk, "h-a", told());
    EXPECT_EQ(page("lon"), "");
    EXPECT_THAT(page("nj"), HasSubstr("DCGM_FI_DEV_GPU_TEMP"));
    disconnect("h-a");
    pass(60);
    watch_silence(desk, now);
    EXPECT_EQ(page(), "") << "what a silent host said is not how it is";
}

TEST_F(Usage, ValuesInAnOrderOfTheHostsOwn) {
    uplink::AgentHello hello;
    hello.add_gpu_metrics("temperature_celsius");
    hello.add_gpu_metrics("of_a_later_release");
    hello.add_gpu_metrics("utilisation_percent");
    hello.add_host_metrics("load_milli");
    HostLive from;
    learn_order(hello, from);
    uplink::Telemetry telemetry;
    auto& said = *telemetry.add_gpus();
    said.set_uuid(gpu);
    for (const double value : {58.0, 1.0, 97.0}) said.add_values(value);
    telemetry.mutable_host()->add_values(700);
    auto& use = *telemetry.add_uses();
    use.set_gpu(gpu);
    use.set_instance(mine);
    use.set_processes(3);
    use.set_memory_bytes(-4);
    const auto heard = telemetry_of(telemetry, from);
    EXPECT_EQ(heard.gpus.at(gpu).temperature_celsius, 58);
    EXPECT_EQ(heard.gpus.at(gpu).utilisation_percent, 97);
    EXPECT_EQ(heard.host->load_milli, 700);
    EXPECT_EQ(heard.uses.at(0).memory_bytes, 0);
    EXPECT_EQ(heard.uses.at(0).utilisation_percent, std::nullopt);
    // One of before that order was told.
    learn_order({}, from);
    EXPECT_EQ(telemetry_of(telemetry, from).gpus.at(gpu).utilisation_percent, 58);
}

// ── On the wire, and asked for

struct UsageAsked : ::testing::Test, testing::HostRig {
    json::value ask(const std::string& tenant, const std::string& target, int status = 200) {
        auto caller = caller_for(tenant);
        auto answer = try_run(
            loop, [](const api::Handlers& handlers, std::string to, api::Caller who) -> Task<api::Reply> {
                co_return co_await handlers.answer({.method = "GET", .target = std::move(to)}, std::move(who),
                                                   nullptr);
            }(api.handlers(), target, std::move(caller)));
        HOSTLER_ASSERT(answer && *answer);
        EXPECT_EQ((*answer)->status, status) << (*answer)->body;
        return json::parse((*answer)->body);
    }
    std::size_t count(const std::string& tenant, const std::string& target) {
        return ask(tenant, target).at("items").as_array().size();
    }
    void tell(wire::Link& link) {
        uplink::Frame frame;
        for (const GpuFacts& gpu : term().look().estate.hosts.at("h-a").facts.gpus) {
            auto& sample = *frame.mutable_telemetry()->add_gpus();
            sample.set_uuid(gpu.uuid);
            sample.add_values(42);
        }
        frame.mutable_telemetry()->set_dropped(3);
        say(link, 1, frame);
        (void)told(link);
    }
    Api api{lead};
};

TEST_F(UsageAsked, HostsTellMoreOftenWhileSomebodyLooks) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    hello(link, 1);
    ASSERT_TRUE(told(link).has_agent_welcome());
    tell(link);
    EXPECT_EQ(live().samples.size(), 8u);
    EXPECT_EQ(live().telemetry_dropped, 3u);
    EXPECT_EQ(ask("", "/v1/gpu-usage").at("items").at(0).at("utilizationPercent"), 42);
    EXPECT_FALSE(told(link).has_watch_telemetry()) << "who just asks changes nothing";
    EXPECT_EQ(count("", "/v1/gpu-usage?live=true"), 16u);
    const auto asked = told(link);
    ASSERT_TRUE(asked.has_watch_telemetry());
    EXPECT_EQ(asked.watch_telemetry().interval_ms(), 1000u);
    EXPECT_EQ(asked.watch_telemetry().for_ms(), 15'000u);
    EXPECT_EQ(count("", "/v1/host-usage?live=true"), 2u);
    EXPECT_FALSE(told(link).has_watch_telemetry()) << "it has been asked a moment ago";
    timers.advance(std::chrono::seconds{10});
    EXPECT_EQ(count("", "/v1/gpu-usage?live=true"), 16u);
    EXPECT_TRUE(told(link).has_watch_telemetry());
}

TEST_F(UsageAsked, ATenantsKeySeesTheGpusOfItsOwnInstances) {
    wire::Link& link = access();
    up(link, 1, "h-a");
    hello(link, 1);
    (void)told(link);
    started("one");
    (void)commit();
    tell(link);
    EXPECT_EQ(count("", "/v1/gpu-usage"), 16u);
    EXPECT_EQ(count("", "/v1/gpu-usage?tenantID=acme"), 1u);
    EXPECT_EQ(count("acme", "/v1/gpu-usage"), 1u);
    EXPECT_EQ(count("acme", "/v1/gpu-usage?instance=one"), 1u);
    EXPECT_EQ(count("globex", "/v1/gpu-usage"), 0u);
    ask("globex", "/v1/gpu-usage?instance=one", 404);
    ask("globex", "/v1/gpu-usage?tenantID=acme", 403);
    ask("acme", "/v1/host-usage", 403);
    const auto page = ask("", "/v1/gpu-usage?limit=10");
    EXPECT_EQ(page.at("items").as_array().size(), 10u);
    EXPECT_EQ(count("", "/v1/gpu-usage?limit=10&cursor=" + std::string{page.at("nextCursor").as_string()}),
              6u);
}

// What has not run yet, and a restart, as the series tell of them.
TEST_F(Usage, AGpuIsItsTenantsFromTheFirstRunOn) {
    const auto labels = [&](const std::string& id) {
        const Host& host = estate.hosts.at("h-a");
        const Claim& held = estate.claims.at(instance(id).claim);
        const auto facts = std::ranges::find(host.facts.gpus, held.gpus.front(), &GpuFacts::uuid);
        return series_labels(desk, host, *facts, &held);
    };
    EXPECT_EQ(labels(mine).labels.at("use"), "instance");
    const std::string slow = started("slow");
    note_progress(desk, "h-a", command_of(slow)->id, "pulling", "making image hostler/jupyter");
    const auto before = labels(slow);
    EXPECT_EQ(before.labels.at("use"), "preparing");
    EXPECT_EQ(before.labels.at("workload"), "slow");
    pass(900);
    run("h-a", slow);
    answer(slow, {.done = true});
    const auto after = labels(slow);
    EXPECT_EQ(after.labels.at("use"), "instance");
    EXPECT_EQ(after.from - before.from, 900'000) << "its time begins when it runs";
    ASSERT_TRUE(restart_instance(desk, slow));
    pass(60);
    EXPECT_EQ(labels(slow).labels.at("use"), "instance");
    EXPECT_EQ(labels(slow).from, after.from);
}

}  // namespace
}  // namespace hostler::master
