// Secrets in the database of a simulated cloud: a sealer that seals nothing is found, and one key takes the
// place of another while masters die.
#include <gtest/gtest.h>

#include "mistakes.h"
#include "ride.h"
#include "roles/master/sealing/count.h"

namespace hostler::simulation {

namespace {

// Says that it seals.
class OpenSealer final : public Sealer {
public:
    explicit OpenSealer(Sealer& under) : under_(under) {}
    std::vector<std::string> keys() const override { return under_.keys(); }
    Result<std::string> make() override { return under_.make(); }
    Result<> forget(std::string key) override { return under_.forget(std::move(key)); }
    Result<> read() override { return under_.read(); }
    Result<std::string> seal(std::string_view, std::string_view, std::string_view plain) const override {
        return std::string{plain};
    }
    Result<std::string> open(std::string_view, std::string_view, std::string_view sealed) const override {
        return std::string{sealed};
    }

private:
    Sealer& under_;
};

TEST(Mistakes, ASecretThatIsNotSealed) {
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.sealer = [](Sealer& under) { return std::make_unique<OpenSealer>(under); };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::sealed, Weather::calm, mistakes), 0u);
}

class Sealing : public ::testing::TestWithParam<int> {
protected:
    std::string ask(const std::string& method, const std::string& target, const std::string& body = {}) {
        for (int tries = 0; tries < 30; ++tries) {
            const auto answer =
                cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, method, target, body));
            if (answer && answer->status < 500) return answer->body;
            cloud.world.run(1s);
        }
        return "no answer";
    }
    std::string phases() {
        std::string text;
        if (const auto term = cloud.term())
            for (const auto& [id, key] : term->look().estate.sealing_keys.all())
                text += (text.empty() ? "" : " ") + master::text_of(key.phase);
        return text;
    }
    bool whole() {
        const auto term = cloud.term();
        return term && term->look().live.part<master::SealingCount>().whole();
    }
    Cloud cloud{11, {}, 2, 4, {.masters = GetParam()}};
};

TEST_P(Sealing, AnotherKeyTakesOverWhileMastersDie) {
    ASSERT_TRUE(cloud.begin({"red-team"}));
    for (int i = 0; i < 3; ++i)
        ask("POST", "/v1/alert-receivers",
            fmt::format(
                R"({{"name":"r-{}","type":"webhook","url":"https://hooks.example/{}","secret":"{}"}})", i, i,
                Cloud::secret));
    ASSERT_EQ(cloud.sealer.keys().size(), 1u);
    const std::string first = cloud.sealer.keys()[0];
    for (const char* step : {"begin", "finish"}) {
        ask("POST", "/v1/sealing-keys/rotate", fmt::format(R"({{"step":"{}"}})", step));
        Machine* const leads = cloud.leader();
        ASSERT_TRUE(leads);
        leads->crash(Death::kill);
        cloud.world.run(2s);
        leads->boot();
        ASSERT_TRUE(cloud.world.run_until([&] { return cloud.term() != nullptr; }, 1min));
    }
    EXPECT_EQ(cloud.sealer.keys().size(), 2u);
    ASSERT_TRUE(cloud.world.run_until([&] { return whole(); }, 2min));
    ask("POST", fmt::format("/v1/sealing-keys/{}/forget", first));
    ASSERT_TRUE(cloud.world.run_until([&] { return cloud.sealer.keys().size() == 1; }, 1min));
    EXPECT_NE(cloud.sealer.keys()[0], first);
    cloud.leader()->crash(Death::power);
    cloud.world.run(2s);
    cloud.forget_faults();
    ASSERT_TRUE(cloud.world.run_until([&] { return cloud.term() != nullptr; }, 1min));
    const auto& receivers = cloud.term()->look().estate.alert_receivers.all();
    ASSERT_EQ(receivers.size(), 3u);
    for (const auto& [id, receiver] : receivers) EXPECT_EQ(receiver.secret, Cloud::secret);
    EXPECT_TRUE(phases() == "forgotten current" || phases() == "current forgotten") << phases();
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

INSTANTIATE_TEST_SUITE_P(Masters, Sealing, ::testing::Values(1, 3));

}  // namespace

}  // namespace hostler::simulation
