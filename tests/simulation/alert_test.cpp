// Alerts in bad weather: each firing is told once, whoever leads, and nothing of what is silenced.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "cloud.h"
#include "seeds.h"

namespace hostler::simulation {
namespace {

class Watchman {
public:
    explicit Watchman(std::uint64_t seed, Mistakes mistakes = {})
        : cloud{seed, std::move(mistakes)}, dice_(cloud.world.dice.fork("alerts")) {}

    bool begin() {
        return cloud.begin({"red-team"}) &&
               post("/v1/alert-receivers",
                    R"({"name":"ops","type":"webhook","url":"https://hooks.example/ops","groupBy":["host"],)"
                    R"("groupWaitSeconds":0,"groupIntervalSeconds":0,"repeatSeconds":86400,)"
                    R"("where":["alertname=host-silent"]})");
    }
    // A host is off for longer than an alert takes, and the rest of the world is not well either.
    void round(const std::string& host) {
        cloud.world.machine(host).crash(Death::power);
        run(std::chrono::seconds{static_cast<std::int64_t>(60 + dice_.below(60))});
        strike();
        run(std::chrono::seconds{static_cast<std::int64_t>(60 + dice_.below(60))});
        cloud.inbox.away = cloud.inbox.deaf = false;
        cloud.world.machine(host).boot();
        run(dice_.chance(0.5) ? 45s : 3min);  // Sometimes it is off again before that is over.
    }
    void calm() { run(10min); }
    bool silence(const std::string& host) {
        return post(
            "/v1/silences",
            fmt::format(R"({{"matchers":["host_name={}"],"comment":"known","forSeconds":86400}})", host));
    }
    std::size_t words_about(const std::string& host) const {
        return static_cast<std::size_t>(std::ranges::count(cloud.inbox.words, host, &AlertInbox::Word::host));
    }
    std::size_t fired() const { return seen_.size(); }
    // What was not told, or was told twice; empty: nothing.
    std::string wrong() const {
        std::map<std::pair<std::string, std::string>, std::set<std::string>> notices;
        for (const AlertInbox::Word& word : cloud.inbox.words)
            if (word.status == "firing") notices[{word.fingerprint, word.starts_at}].insert(word.notice);
        for (const auto& [key, ids] : notices)
            if (ids.size() > 1)
                return fmt::format("{} of {} was told {} times", key.first, key.second, ids.size());
        for (const auto& [id, firing] : seen_)
            if (firing.seconds >= durable_s && !notices.contains({firing.fingerprint, firing.starts_at}))
                return fmt::format("{} of {} was never told", firing.fingerprint, firing.starts_at);
        return {};
    }

    Cloud cloud;

private:
    struct Firing {
        std::string fingerprint, starts_at;
        int seconds = 0;  // So long it was there to be seen.
    };
    static constexpr int durable_s = 20;  // By then it is written down.

    void strike() {
        switch (dice_.below(4)) {
            case 0:
                return cloud.world.machine("master").crash(Death::kill), run(2s),
                       cloud.world.machine("master").boot();
            case 1: cloud.inbox.away = true; return;
            case 2: cloud.inbox.deaf = true; return;
            case 3:
                cloud.inbox.deaf = true;
                run(25s);
                cloud.world.machine("master").crash(Death::power);
                run(5s);
                cloud.world.machine("master").boot();
                return;
        }
    }
    void run(Duration time) {
        for (Duration at{}; at < time; at += 1s) {
            cloud.world.run(1s);
            const auto term = cloud.term();
            if (!term) continue;
            for (const auto& [id, alert] : term->look().estate.alerts.all()) {
                if (alert.rule != "host-silent") continue;
                Firing& firing = seen_[id];
                firing.fingerprint = alert.fingerprint;
                firing.starts_at = rfc3339(WallTime{std::chrono::microseconds{alert.fired_at}});
                ++firing.seconds;
            }
        }
    }
    bool post(const std::string& target, const std::string& body) {
        const auto answer =
            cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, "POST", target, body));
        return answer && answer->status < 300;
    }

    sim::Dice dice_;
    std::map<std::string, Firing> seen_;  // By alert.
};

TEST(Alerts, EachFiringIsToldOnceWhoeverLeads) {
    const auto [first, last] = seeds(5);
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        SCOPED_TRACE(replay_command(seed));
        Watchman watchman{seed};
        ASSERT_TRUE(watchman.begin());
        for (const char* host : {"host-0", "host-1", "host-0"}) watchman.round(host);
        watchman.calm();
        EXPECT_GE(watchman.fired(), 2u);
        EXPECT_EQ(watchman.wrong(), "");
        ASSERT_TRUE(watchman.silence("host-1"));
        const std::size_t before = watchman.words_about("host-1");
        watchman.round("host-1");
        watchman.calm();
        EXPECT_EQ(watchman.words_about("host-1"), before) << "it is silenced";
        EXPECT_EQ(watchman.cloud.found.all().size(), 0u);
    }
}

// Messages are forgotten before they have arrived: the checker sees it.
TEST(Alerts, AForgottenMessageIsFound) {
    Mistakes mistakes;
    mistakes.each_second = [](Cloud& cloud, master::Term& term) {
        if (!cloud.inbox.away) return;
        master::Desk& desk = term.desk("mistake");
        std::vector<std::string> ids;
        for (const auto& [id, delivery] : desk.estate.alert_deliveries.all()) ids.push_back(id);
        for (const std::string& id : ids) desk.estate.alert_deliveries.erase(id);
        term.commit_then(nullptr);
    };
    Watchman watchman{1, mistakes};
    ASSERT_TRUE(watchman.begin());
    watchman.cloud.inbox.away = true;
    watchman.round("host-0");
    watchman.calm();
    EXPECT_NE(watchman.wrong(), "");
}

}  // namespace
}  // namespace hostler::simulation
