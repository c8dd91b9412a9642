// Hosts whose GPUs are not what they say never sell, and those that are do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cloud.h"
#include "roles/master/stock_rules.h"

namespace hostler::simulation {
namespace {

constexpr std::string_view honest = "host-0", slow = "host-1", twin = "host-2";

// One is half as fast as its name; one says that it has a GPU of the honest one, which joined before.
struct LyingCloud : Cloud {
    explicit LyingCloud(std::uint64_t seed, Mistakes with = {}) : Cloud(seed, std::move(with), 3) {
        liars = {std::string{slow}, std::string{twin}};
        world.machine(std::string{slow}).gpus.speed_percent = 50;
        auto& forged = world.machine(std::string{twin}).gpus.inventory.gpus.front();
        forged.uuid = world.machine(std::string{honest}).gpus.inventory.gpus.front().uuid;
    }
    void stock() {
        const auto now = term();
        HOSTLER_ASSERT(now);
        (void)master::create_stock(now->desk("operator"), {.number = 6,
                                                           .spec_name = "small",
                                                           .cpu = "1",
                                                           .memory = "1Gi",
                                                           .gpu_type = "H100",
                                                           .gpu_num = 1});
        now->commit_then(nullptr);
    }
    const Host* row(std::string_view machine) {
        const auto now = term();
        for (const auto& [id, host] : now->look().estate.hosts.all())
            if (host.facts.hostname == machine) return &host;
        return nullptr;
    }
};

TEST(Admission, WhoLiesNeverSells) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(seed);
        LyingCloud cloud{seed};
        ASSERT_TRUE(cloud.begin({"acme"}));
        cloud.stock();
        cloud.world.run(1min);
        cloud.master().crash();
        cloud.world.run(2s);
        cloud.master().boot();
        cloud.world.run(2min);
        EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
        ASSERT_TRUE(cloud.row(honest));
        EXPECT_EQ(cloud.row(honest)->admission.state, Admission::admitted);
        EXPECT_GT(cloud.row(honest)->admission.measured_at, 0);
        EXPECT_EQ(cloud.row(slow)->admission.state, Admission::refused);
        EXPECT_EQ(cloud.row(twin)->admission.state, Admission::refused);
        std::size_t held = 0;
        for (const auto& [id, claim] : cloud.term()->look().estate.claims.all()) held += claim.gpus.size();
        EXPECT_EQ(held, 4u) << "all GPUs of the honest one";
    }
}

// It passed the benchmark, and has not the memory.
TEST(Admission, WhoHasNotTheMemoryIsFoundByAChallenge) {
    Cloud cloud{7, {}, 2};
    cloud.world.machine("host-1").gpus.has_memory = false;
    ASSERT_TRUE(cloud.begin({"acme"}));
    cloud.world.run(20min);
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
    for (const auto& [id, host] : cloud.term()->look().estate.hosts.all()) {
        const bool lies = host.facts.hostname == "host-1";
        EXPECT_EQ(host.admission.state, lies ? Admission::refused : Admission::admitted)
            << host.facts.hostname;
        EXPECT_EQ(host.admission.proved_at > 0, !lies) << host.facts.hostname;
    }
}

// A test of which nobody looks at the outcome.
TEST(Mistakes, AHostThatSellsWhateverWasMeasured) {
    Mistakes mistakes;
    mistakes.master_settings = [](master::Settings& settings) {
        settings.host_admission = AdmissionRule::off;
    };
    LyingCloud cloud{1, std::move(mistakes)};
    ASSERT_TRUE(cloud.begin({"acme"}));
    cloud.stock();
    cloud.world.run(1min);
    EXPECT_TRUE(cloud.found.has(Invariant::sells));
}

}  // namespace
}  // namespace hostler::simulation
