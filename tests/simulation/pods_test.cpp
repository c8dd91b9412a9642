// Pods of simulated clusters in what a master shows of GPUs; then their checker finds the mistakes that it is
// there for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mistakes.h"
#include "roles/master/cluster/clusters.h"
#include "series_behind.h"

namespace hostler::simulation {
namespace {

class PodView {
public:
    PodView() : cloud_(1, {}, 2) {}
    bool begin() { return cloud_.begin({"red-team"}) && ask("POST", "/v1/clusters", body) == 201; }
    bool is(ClusterPhase phase) {
        const auto term = cloud_.term();
        const Cluster* cluster =
            term ? master::find_cluster(term->look(), "red-team", "default", "train") : nullptr;
        if (cluster) id_ = cluster->id;
        return cluster ? cluster->phase == phase : phase == ClusterPhase::deleted;
    }
    bool comes_to(ClusterPhase phase) {
        return cloud_.world.run_until([&] { return is(phase); }, 3min);
    }
    // Its answer's status; the body is in `told`.
    int ask(const std::string& method, const std::string& target, const std::string& what = {}) {
        const auto answer = cloud_.world.ask(cloud_.call(cloud_.keys["red-team"], method, target, what));
        told = answer ? answer->body : "";
        return answer ? answer->status : 0;
    }
    // Whether the answer has a pod of the cluster.
    bool shows_pods(const std::string& target) {
        EXPECT_EQ(ask("GET", target), 200) << told;
        return told.contains(fmt::format("\"pod\":\"{}-", id_));
    }
    std::string target() const { return "/v1/clusters/" + id_; }
    Cloud& cloud() { return cloud_; }

    std::string told;

private:
    static constexpr const char* body =
        R"({"name":"train","driver":"simulated","control":1,"pools":[{"name":"all","count":1}]})";
    Cloud cloud_;
    std::string id_;
};

constexpr const char* series_of_a_minute = "/v1/series?metric=gpu_power&since=60&by=pod";

TEST(Pods, SeriesAndUsageNameThemUntilTheirClusterGoes) {
    PodView view;
    ASSERT_TRUE(view.begin()) << view.told;
    ASSERT_TRUE(view.comes_to(ClusterPhase::ready));
    view.cloud().world.run(1min);
    EXPECT_TRUE(view.shows_pods(series_of_a_minute)) << view.told;
    EXPECT_TRUE(view.shows_pods("/v1/gpu-usage")) << view.told;
    EXPECT_GT(view.cloud().pods_check.stored, 10U);

    EXPECT_LT(view.ask("DELETE", view.target()), 300) << view.told;
    ASSERT_TRUE(view.comes_to(ClusterPhase::deleted));
    const std::size_t begun = view.cloud().pods.begun();
    view.cloud().world.run(90s);
    EXPECT_FALSE(view.shows_pods(series_of_a_minute)) << view.told;
    EXPECT_FALSE(view.shows_pods("/v1/gpu-usage")) << view.told;
    EXPECT_EQ(view.cloud().pods.begun(), begun) << "hosts that are no nodes have pods";
    EXPECT_FALSE(view.cloud().found.any()) << view.cloud().found.text();
}

// Rides until the checker says so. 0: it never does.
std::uint64_t seed_that_finds_pods(const Mistakes& mistakes, const std::string& saying) {
    constexpr std::uint64_t tries = 4;
    for (std::uint64_t seed = 1; seed <= tries; ++seed) {
        const StormReport report = ride({.seed = seed,
                                         .weather = Weather::calm,
                                         .hosts = 5,
                                         .tenants = 1,
                                         .clusters = true,
                                         .storm = 240s,
                                         .calm_max = 1s},
                                        mistakes);
        for (const Finding& finding : report.found.all())
            if (finding.invariant == Invariant::pods && finding.text.contains(saying)) {
                fmt::print("found by seed {}: {}\n", seed, finding.text.substr(0, 200));
                return seed;
            }
    }
    return 0;
}

// Answers with what it was told first of this node, or last of the one before.
class OldHolders final : public PodDevices {
public:
    enum class Of { this_node, node_before };
    OldHolders(PodDevices& devices, Of of) : devices_(devices), of_(of) {}
    void offer(PodOffer offer) override { devices_.offer(std::move(offer)); }
    Task<> end() override {
        old_ = of_ == Of::node_before ? last_ : std::map<std::string, GpuPod>{};
        return devices_.end();
    }
    Task<std::map<std::string, GpuPod>> holders() override {
        last_ = CO_TRY(co_await devices_.holders());
        if (of_ == Of::this_node && old_.empty()) old_ = last_;
        if (of_ == Of::node_before && !last_.empty()) old_.clear();
        co_return old_.empty() ? last_ : old_;
    }
    PodDeviceCounts counts() const override { return devices_.counts(); }

private:
    PodDevices& devices_;
    const Of of_;
    std::map<std::string, GpuPod> last_, old_;
};

Mistakes old_holders(OldHolders::Of of) {
    Mistakes made;
    made.only = Invariant::pods;
    made.agent_pod_devices = [of](PodDevices& devices) { return std::make_unique<OldHolders>(devices, of); };
    return made;
}

TEST(PodMistakes, HoldersOfLongAgo) {
    EXPECT_NE(seed_that_finds_pods(old_holders(OldHolders::Of::this_node), "which ended"), 0U);
}

TEST(PodMistakes, HoldersOfTheNodeBefore) {
    EXPECT_NE(seed_that_finds_pods(old_holders(OldHolders::Of::node_before), "before the host was cleaned"),
              0U);
}

// Stores samples of one GPU with the pod that has another one.
class MixedSeries final : public SeriesBehind {
public:
    using SeriesBehind::SeriesBehind;
    Task<DeviceNumber> describe(series::Device device, series::Millis from) override {
        if (device.labels.contains("pod")) {
            std::swap(device.labels["pod"], last_);
            if (device.labels["pod"].empty()) device.labels.erase("pod");
        }
        return store_.describe(std::move(device), from);
    }

private:
    std::string last_;
};

TEST(PodMistakes, SamplesThatAreStoredWithAnotherPod) {
    Mistakes made;
    made.only = Invariant::pods;
    made.series = [](SeriesStore& store) { return std::make_unique<MixedSeries>(store); };
    EXPECT_NE(seed_that_finds_pods(made, "which no report says"), 0U);
}

}  // namespace
}  // namespace hostler::simulation
