// GPUs of a cluster's nodes by pod: in the series, for people, for Prometheus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "roles/master/http/api.h"
#include "roles/master/series/series.h"
#include "roles/master/series/usage.h"
#include "roles/master/testing/callers.h"
#include "roles/master/testing/host_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using hostler::testing::try_run;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

const GpuPod pod_of_default{"default", "train-0", "main"}, pod_of_team{"team", "train-1", ""};

struct PodSeries : ::testing::Test, testing::HostRig {
    PodSeries() {
        run_term();
        link = &access();
        up(*link, 1, "h-a");
        greet(*link, 1, 1);
        EXPECT_TRUE(told(*link).has_agent_welcome());
        become_node("kn-1", "train-w1");
    }
    void become_node(const std::string& id, const std::string& name) {
        timers.advance(1s);
        Estate& estate = desk().estate;
        if (!estate.clusters.find("kc-1"))
            estate.clusters.add({.id = "kc-1", .name = "train", .tenant = "acme", .project = "lab"});
        estate.cluster_nodes.add({.id = id,
                                  .cluster = "kc-1",
                                  .tenant = "acme",
                                  .project = "lab",
                                  .name = name,
                                  .host = "h-a",
                                  .claim = "c-" + id});
        Claim claim{.id = "c-" + id,
                    .host = "h-a",
                    .zone = "nj",
                    .use = ClaimUse::node,
                    .tenant = "acme",
                    .project = "lab",
                    .holder = id,
                    .since = estate.micros()};
        for (const GpuFacts& gpu : estate.hosts.at("h-a").facts.gpus) claim.gpus.push_back(gpu.uuid);
        estate.claims.add(std::move(claim));
    }
    void leave(const std::string& id) {
        desk().estate.claims.erase("c-" + id);
        desk().estate.cluster_nodes.erase(id);
    }
    uplink::Frame sampled(std::uint64_t number, const std::optional<GpuPod>& pod) {
        uplink::Frame frame;
        auto& said = *frame.mutable_report();
        said.set_sequence(number);
        said.set_time(timers.wall().time_since_epoch().count());
        auto& gpu = *said.add_gpus();
        gpu.set_uuid("GPU-a-0");
        gpu.add_values(42);
        said.mutable_host()->add_values(7);
        if (!pod) return frame;
        gpu.mutable_pod()->set_pod_namespace(pod->pod_namespace);
        gpu.mutable_pod()->set_name(pod->name);
        gpu.mutable_pod()->set_container(pod->container);
        return frame;
    }
    // When it was.
    series::Millis tell(const std::optional<GpuPod>& pod, Duration after = 10s) {
        timers.advance(after);
        say(*link, 1, sampled(++sequence, pod));
        EXPECT_EQ(told(*link).report_ack().sequence(), sequence);
        return series_millis(timers.wall());
    }
    series::Labels labels_at(series::Millis time) const {
        const auto* device = series.find("gpu/h-a/GPU-a-0");
        return device ? testing::FakeSeries::labels_at(*device, time) : series::Labels{};
    }
    // "default/train-0/main"; empty: none.
    std::string pod_at(series::Millis time) const {
        const auto labels = labels_at(time);
        const auto pod = labels.find("pod");
        if (pod == labels.end()) return {};
        const auto container = labels.find("container");
        return labels.at("namespace") + "/" + pod->second + "/" +
               (container == labels.end() ? "" : container->second);
    }
    json::value ask(const std::string& tenant, const std::string& target) {
        auto answer = try_run(
            loop, [](const api::Handlers& handlers, std::string to, api::Caller who) -> Task<api::Reply> {
                co_return co_await handlers.answer({.method = "GET", .target = std::move(to)}, std::move(who),
                                                   nullptr);
            }(api.handlers(), target, caller_for(tenant)));
        HOSTLER_ASSERT(answer && *answer);
        EXPECT_EQ((*answer)->status, 200) << (*answer)->body;
        return json::parse((*answer)->body);
    }
    json::object gpu_of(const std::string& tenant, const std::string& target) {
        for (const json::value& gpu : ask(tenant, target).at("items").as_array())
            if (gpu.at("id") == "GPU-a-0") return gpu.as_object();
        return {};
    }
    wire::Link* link = nullptr;
    std::uint64_t sequence = 0;
    Api api{lead};
};

TEST_F(PodSeries, SamplesHaveTheLabelsOfThePodThatHadTheGpu) {
    const auto none = tell(std::nullopt);
    const auto one = tell(pod_of_default);
    const auto still = tell(pod_of_default);
    const auto two = tell(pod_of_team);
    const auto after = tell(std::nullopt);
    EXPECT_EQ(labels_at(none).at("cluster"), "train");
    EXPECT_EQ(labels_at(none).at("node"), "train-w1");
    EXPECT_EQ(labels_at(none).at("tenant"), "acme");
    EXPECT_EQ(labels_at(none).at("project"), "lab");
    EXPECT_EQ(labels_at(none).at("use"), "instance") << "it is metered as it was";
    EXPECT_EQ(pod_at(none), "");
    EXPECT_EQ(pod_at(one), "default/train-0/main");
    EXPECT_EQ(pod_at(still), "default/train-0/main");
    EXPECT_EQ(pod_at(two), "team/train-1/");
    EXPECT_EQ(pod_at(after), "");
    EXPECT_EQ(series.find("gpu/h-a/GPU-a-0")->eras.size(), 4u) << "only what changes is told";
    EXPECT_FALSE(testing::FakeSeries::labels_at(*series.find("host/h-a"), two).contains("pod"));
}

TEST_F(PodSeries, AnotherNodeBeginsWithoutThePodsOfTheOneBefore) {
    const auto before = tell(pod_of_default);
    leave("kn-1");
    const auto idle = tell(pod_of_default);
    become_node("kn-2", "train-w2");
    const auto after = tell(std::nullopt);
    EXPECT_EQ(pod_at(before), "default/train-0/main");
    EXPECT_EQ(labels_at(before).at("node"), "train-w1");
    EXPECT_EQ(pod_at(idle), "") << "a host that is no node has no pods, whatever it says";
    EXPECT_FALSE(labels_at(idle).contains("cluster"));
    EXPECT_EQ(labels_at(after).at("node"), "train-w2");
    EXPECT_EQ(pod_at(after), "");
}

// The report comes again, after a later one that says something else.
TEST_F(PodSeries, AReportThatComesAgainChangesNoPod) {
    timers.advance(10s);
    const uplink::Frame early = sampled(++sequence, pod_of_default);
    say(*link, 1, early);
    (void)told(*link);
    const auto one = series_millis(timers.wall());
    const auto two = tell(pod_of_team);
    say(*link, 1, early);
    timers.advance(1s);
    EXPECT_EQ(told(*link).report_ack().sequence(), 1u);
    const auto later = tell(pod_of_team);
    EXPECT_EQ(pod_at(one), "default/train-0/main");
    EXPECT_EQ(pod_at(two), "team/train-1/");
    EXPECT_EQ(pod_at(later), "team/train-1/");
}

TEST_F(PodSeries, NamesThatAreNoneAreLeftOut) {
    EXPECT_EQ(pod_at(tell(GpuPod{"default", "a\nb", "main"})), "");
    EXPECT_EQ(pod_at(tell(GpuPod{"default", std::string(300, 'a'), "main"})), "");
    EXPECT_EQ(pod_at(tell(GpuPod{"", "a", "main"})), "");
    EXPECT_EQ(pod_at(tell(pod_of_default)), "default/train-0/main");
}

TEST_F(PodSeries, PodsThatComeAndGoTooFastAreNotNamed) {
    std::size_t named = 0;
    for (int i = 0; i < 300; ++i)
        named += pod_at(tell(GpuPod{"default", fmt::format("job-{}", i), "main"}, 1s)).empty() ? 0 : 1;
    EXPECT_GE(named, 60u);
    EXPECT_LE(named, 66u) << "the budget, and what it gains in five minutes";
    EXPECT_LE(series.find("gpu/h-a/GPU-a-0")->eras.size(), 2 * named + 1);
    timers.advance(2min);
    EXPECT_EQ(pod_at(tell(pod_of_default)), "default/train-0/main");
    EXPECT_EQ(gpu_of("", "/v1/gpu-usage")["pod"], "train-0");
}

TEST_F(PodSeries, AQueryAsksByPod) {
    series.asked.clear();
    (void)ask("acme",
              "/v1/series?metric=gpu_power&where=cluster%3Dtrain%20namespace%3Ddefault&by=pod,container");
    ASSERT_EQ(series.asked.size(), 1u);
    const series::Query& query = series.asked.front();
    ASSERT_EQ(query.where.size(), 3u);
    EXPECT_EQ(query.where[0].label, "cluster");
    EXPECT_EQ(query.where[1].label, "namespace");
    EXPECT_EQ(query.where[2].label, "tenant") << "a tenant's key asks of its own clusters";
    EXPECT_EQ(query.by, (std::vector<std::string>{"pod", "container"}));
}

TEST_F(PodSeries, UsageNamesThePodToOperatorsAndToTheClustersTenant) {
    tell(pod_of_default);
    for (const char* caller : {"", "acme"}) {
        json::object gpu = gpu_of(caller, "/v1/gpu-usage");
        EXPECT_EQ(gpu["use"], "cluster") << caller;
        EXPECT_EQ(gpu["instanceID"], "");
        EXPECT_EQ(gpu["cluster"], "train");
        EXPECT_EQ(gpu["node"], "train-w1");
        EXPECT_EQ(gpu["podNamespace"], "default");
        EXPECT_EQ(gpu["pod"], "train-0");
        EXPECT_EQ(gpu["container"], "main");
        EXPECT_EQ(gpu["tenantID"], "acme");
    }
    EXPECT_THAT(ask("globex", "/v1/gpu-usage").at("items").as_array(), IsEmpty());
    json::object gpu = gpu_of("", "/v1/gpus");
    EXPECT_EQ(gpu["use"], "cluster");
    EXPECT_EQ(gpu["cluster"], "kc-1");
    EXPECT_EQ(gpu["holder"], "train-w1");
    EXPECT_EQ(gpu["podNamespace"], "default");
    EXPECT_EQ(gpu["pod"], "train-0");
    tell(std::nullopt);
    EXPECT_EQ(gpu_of("", "/v1/gpus")["pod"], "");
    EXPECT_EQ(gpu_of("acme", "/v1/gpu-usage")["pod"], "");
}

TEST_F(PodSeries, PrometheusHasTheSameLabels) {
    tell(pod_of_default);
    MetricsPage page;
    ASSERT_TRUE(write_gpu_metrics(page, desk(), ""));
    EXPECT_THAT(page.text(), HasSubstr("tenant=\"acme\",workload=\"\",cluster=\"train\",node=\"train-w1\","
                                       "namespace=\"default\",pod=\"train-0\",container=\"main\"} 42\n"));
    leave("kn-1");
    MetricsPage without;
    ASSERT_TRUE(write_gpu_metrics(without, desk(), ""));
    EXPECT_THAT(without.text(), Not(HasSubstr("pod=")));
}

TEST_F(PodSeries, CountsOfDevicePluginsAreSummedOverATerm) {
    const auto count = [&](std::uint64_t allocations, std::uint64_t refused,
                           std::optional<std::uint32_t> held) {
        timers.advance(10s);
        uplink::Frame frame = sampled(++sequence, pod_of_default);
        auto& said = *frame.mutable_report()->mutable_pod_devices();
        said.set_offered(8);
        if (held) said.set_allocated(*held);
        said.set_allocations(allocations);
        said.set_refused(refused);
        say(*link, 1, frame);
        (void)told(*link);
    };
    count(5, 1, 2);
    EXPECT_EQ(desk().live.pod_allocations, 0u) << "they were before this term, or not: it is not known";
    count(7, 1, 3);
    count(1, 1, std::nullopt);
    EXPECT_EQ(desk().live.pod_allocations, 3u) << "the agent was started again";
    EXPECT_EQ(desk().live.pod_refusals, 0u);
    count(1, 4, 1);
    EXPECT_EQ(desk().live.pod_refusals, 3u);
    ASSERT_TRUE(live().pod_devices);
    EXPECT_EQ(live().pod_devices->offered, 8u);
    EXPECT_EQ(live().pod_devices->allocated, 1u);
    tell(std::nullopt);
    EXPECT_FALSE(live().pod_devices) << "it is no node any more";
}

}  // namespace
}  // namespace hostler::master
