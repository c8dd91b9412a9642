// Hosts whose GPUs are not what they say never sell, and those that are do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types_stock.h"
#include "cloud.h"
#include "roles/master/stock/slots.h"

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
    // The twin joins when the others have.
    bool begin_in_turn() {
        hosts.pop_back();
        if (!begin({"acme"})) return false;
        hosts.emplace_back(twin);
        join(std::string{twin}, "nj");
        return world.run_until([&] { return unsettled().empty() && row(twin)->admission.measured_at > 0; },
                               1min);
    }
    // How many slots found a place, one by one.
    int stock(int wanted) {
        const auto now = term();
        HOSTLER_ASSERT(now);
        int placed = 0;
        for (int i = 0; i < wanted; ++i)
            placed += master::create_stock(now->desk("operator"), {.number = 1,
                                                                   .spec_name = "small",
                                                                   .cpu = "1",
                                                                   .memory = "1Gi",
                                                                   .gpu_type = "H100 SXM5 80GB",
                                                                   .gpu_num = 1})
                          .has_value();
        now->commit_then(nullptr);
        return placed;
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
        ASSERT_TRUE(cloud.begin_in_turn()) << cloud.unsettled();
        EXPECT_EQ(cloud.stock(6), 4) << "all GPUs of the honest one";
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
    ASSERT_TRUE(cloud.begin_in_turn()) << cloud.unsettled();
    cloud.stock(6);
    cloud.world.run(1min);
    EXPECT_TRUE(cloud.found.has(Invariant::sells));
}

}  // namespace
}  // namespace hostler::simulation
