// Quotas of simulated tenants: never exceeded, whatever is asked at once and however often, and the checker's
// deliberate mistakes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "mistakes.h"
#include "roles/master/run/places.h"
#include "roles/master/run/stop_start.h"
#include "seeds.h"

namespace hostler::simulation {

namespace {

constexpr int calls_at_once = 64, limit = 5;

// Many callers at one moment at the edge of a quota; their calls are lost, and come again.
class Rush {
public:
    explicit Rush(std::uint64_t seed) : cloud_{seed}, dice_(cloud_.world.dice.fork("rush")) {}
    ~Rush() { cloud_.end(); }

    void ride() {
        ASSERT_TRUE(cloud_.begin({"red-team"})) << cloud_.unsettled();
        ASSERT_EQ(status("POST", "/stocks",
                         R"({"number":1,"operationID":"s","specName":"one","cpu":"1","memory":"1Gi",)"
                         R"("gpuType":"H100 SXM5 80GB","gpuNum":1})"),
                  200);
        ASSERT_EQ(
            status("PUT", "/v1/quotas",
                   fmt::format(R"({{"tenantID":"red-team","limits":[{{"resource":"instances","limit":"{}"}},)"
                               R"({{"resource":"volumes","limit":"{}Gi"}}]}})",
                               limit, limit)),
            200);
        for (int i = 0; i < calls_at_once; ++i) {
            cloud_.clients.start("caller", create(fmt::format("red-team-{}", i)));
            cloud_.clients.start("caller", make_volume(fmt::format("red-team-vol-{}", i)));
        }
        constexpr int breaks = 20;  // Of connections, while all are under way.
        for (int round = 0; round < 200 && answered_ < 2 * calls_at_once; ++round) {
            cloud_.world.run(std::chrono::milliseconds{1 + dice_.below(round < breaks ? 4 : 200)});
            if (round < breaks) cloud_.world.network.break_connections("master", 0.5, dice_.fork("break"));
            if (round == 5 && dice_.chance(0.5)) cloud_.world.machine("master").crash();
            if (!cloud_.world.machine("master").up()) cloud_.world.machine("master").boot();
            if (round > breaks) cloud_.world.run(2s);
        }
        EXPECT_EQ(answered_, 2 * calls_at_once);
        EXPECT_EQ(created_, limit);
        EXPECT_EQ(volumes_, limit);
        EXPECT_FALSE(cloud_.found.any()) << cloud_.found.text();
        EXPECT_GT(again_, 0) << "no call was lost: nothing was tried";
    }

private:
    int status(const std::string& method, const std::string& target, const std::string& body) {
        const auto answer =
            cloud_.world.ask(cloud_.call(std::string{Cloud::operator_key}, method, target, body));
        return answer ? answer->status : 0;
    }
    Task<> create(std::string name) {
        const std::string body =
            fmt::format(R"({{"instanceID":"{}","tenantID":"red-team","tenantName":"r","specName":"one",)"
                        R"("image":"registry.example/app:1","template":{{"ports":[{{"port":8080}}]}}}})",
                        name);
        const auto answer = CO_TRY(co_await until_answered("/gpu-instances", body, ""));
        created_ += answer.status == 200;
        co_return Result<>{};
    }
    Task<> make_volume(std::string name) {
        const auto answer = CO_TRY(co_await until_answered(
            "/v1/volumes", fmt::format(R"({{"name":"{}","size":"1Gi"}})", name), name));
        volumes_ += answer.status == 201;
        co_return Result<>{};
    }
    Task<http::Response> until_answered(std::string target, std::string body, std::string idempotency) {
        while (true) {
            const auto answer =
                co_await cloud_.call(cloud_.keys.at("red-team"), "POST", target, body, idempotency);
            CO_TRY(co_await check_cancelled());
            if (answer && answer->status < 500 && answer->status != 429) {
                ++answered_;
                co_return *answer;
            }
            ++again_;
            CO_TRY(co_await sleep(cloud_.world.timers, 500ms));
        }
    }

    Cloud cloud_;
    sim::Dice dice_;
    int answered_ = 0, again_ = 0, created_ = 0, volumes_ = 0;
};

TEST(Quotas, ManyCallsAtOnceNeverTakeOneTooMany) {
    const Seeds range = seeds(4);
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        SCOPED_TRACE(replay_command(seed));
        Rush{seed}.ride();
    }
}

TEST(Quotas, TenantsMeetThemInAStorm) {
    int over = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const StormReport report = ride({.seed = seed, .weather = Weather::calm});
        EXPECT_FALSE(report.found.any()) << report.found.text() << replay_command(seed);
        over += report.over_quota;
    }
    EXPECT_GT(over, 0);
}

// ── Mistakes

Mistakes quota_mistake(std::uint64_t seed, double a_second,
                       std::function<void(master::Desk&, sim::Dice&)> rule) {
    Mistakes made = wrong_rule(seed, a_second, std::move(rule));
    made.only = Invariant::quota;
    return made;
}

TEST(Mistakes, AStartThatAsksNoQuota) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* rests = any_of(desk.estate.instances, [](const Instance& one) {
            return one.phase == InstancePhase::resting && one.reason != "drained";
        });
        if (rests) (void)master::wake_instance(desk, std::string{rests->id}, master::WantedBy::master);
    };
    EXPECT_NE(seeds_until(
                  Invariant::quota, Weather::calm, [&](auto seed) { return quota_mistake(seed, 1, rule); }, 1,
                  "and has had"),
              0u);
}

// Grows what is there, whatever it may be.
TEST(Mistakes, AVolumeThatGrowsBeyondItsQuota) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Volume* there =
            any_of(desk.estate.volumes, [](const Volume& one) { return one.phase == VolumePhase::unbound; });
        if (there) desk.estate.volumes.edit(std::string{there->id}).size_bytes += std::int64_t{1} << 30;
    };
    EXPECT_NE(seeds_until(
                  Invariant::quota, Weather::calm, [&](auto seed) { return quota_mistake(seed, 1, rule); }, 1,
                  "and has had"),
              0u);
}

// A row that changes, and whoever counts is not told.
TEST(Mistakes, AUseThatIsNotCounted) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, volume] : desk.estate.volumes.all())
            return void(const_cast<Volume&>(volume).size_bytes += 4096);
    };
    EXPECT_NE(seeds_until(
                  Invariant::quota, Weather::calm, [&](auto seed) { return quota_mistake(seed, 0.2, rule); },
                  1, "is counted with"),
              0u);
}

}  // namespace

}  // namespace hostler::simulation
