// Masters that do not lead follow the leader's series: whoever leads next has what was acknowledged before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/series/mirror.h"
#include "domain/inventory/catalogue.h"
#include "programs.h"

namespace hostler::simulation {

namespace {

constexpr auto lag_max = 10s;  // Two questions, and one that is lost in between.

// Which seconds of a device a master's series have a sample of.
using Seconds = std::map<std::string, std::set<series::Millis>>;

Seconds seconds_of(Cloud& cloud, Machine& master, series::Millis from, series::Millis to) {
    Seconds found;
    for (const Measured of : {Measured::gpu, Measured::host})
        for (const auto& column : columns_of(of)) {
            const auto lines = cloud.world.ask(master.role<MasterProgram>().series->query(
                {.metric = column.name, .from = from, .to = to, .step = 1000, .over = series::Over::count}));
            EXPECT_TRUE(lines) << lines.error().message;
            if (!lines) return found;
            for (const auto& line : *lines)
                for (std::size_t i = 0; i < line.values.size(); ++i)
                    if (line.values[i] > 0)
                        found[line.labels.at("device")].insert(from / 1000 + static_cast<series::Millis>(i));
        }
    return found;
}

// What was acknowledged and is not in the series of the master that leads after others have died.
std::string lacking(std::uint64_t seed, Mistakes mistakes, int deaths) {
    Cloud cloud{seed, std::move(mistakes), 2, 4, {.masters = 3}};
    if (!cloud.begin({"red-team"})) return "it did not begin: " + cloud.unsettled();
    const auto now = [&] {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
                   cloud.world.timers.wall().time_since_epoch())
            .count();
    };
    constexpr series::Millis clocks_differ_max = 60;  // Seconds.
    const series::Millis from = (now() / 1000 - 600) * 1000;
    StoredRows alone;  // On the disk of a leader that died.
    for (int death = 0; death < deaths; ++death) {
        cloud.world.run(45s);
        const StoredRows stored = cloud.stored_rows;
        cloud.world.run(lag_max);
        const std::uint64_t epoch = cloud.term()->epoch();
        Machine* dead = cloud.leader();
        dead->crash();
        const StoredRows late = cloud.stored_rows;
        if (!cloud.world.run_until([&] { return cloud.term() && cloud.term()->epoch() > epoch; }, 30s))
            return "nobody leads";
        const Seconds there =
            seconds_of(cloud, *cloud.leader(), from, (now() / 1000 + clocks_differ_max) * 1000);
        for (const auto& [device, times] : stored)
            for (const auto time : times)
                if (!alone[device].contains(time) &&
                    (!there.contains(device) || !there.at(device).contains(time / 1000)))
                    return fmt::format("{} at {} is not in the series of {}, which leads after death {}",
                                       device, time, cloud.leader()->name, death + 1);
        if (there.size() < 3) return "nothing was measured";
        for (const auto& [device, times] : late)
            for (const auto time : times)
                if (!stored.contains(device) || !stored.at(device).contains(time)) alone[device].insert(time);
        dead->boot();
    }
    if (cloud.found.any()) return cloud.found.text();
    cloud.end();
    return "";
}

// Says that it has taken a piece, and has not.
class SkippingMirror final : public SeriesMirror {
public:
    explicit SkippingMirror(SeriesMirror& mirror) : mirror_(mirror) {}
    Task<std::string> ask(std::string master) override { return mirror_.ask(std::move(master)); }
    Task<std::string> answer(std::string question) override {
        // Whoever asks goes on behind rows that it was not told.
        std::string told = CO_TRY(co_await mirror_.answer(std::move(question)));
        if (++pieces_ % 5 != 0) co_return told;
        auto answer = CO_TRY(series::read_answer(told));
        if (answer.of == series::Answer::Of::log) answer.of = series::Answer::Of::nothing;
        answer.body.clear();
        co_return series::encode(answer);
    }
    Task<Mirrored> take(std::string master, std::string answer) override {
        return mirror_.take(std::move(master), std::move(answer));
    }

private:
    SeriesMirror& mirror_;
    int pieces_ = 0;
};

TEST(FollowedSeries, WhoeverLeadsNextHasWhatWasAcknowledged) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) EXPECT_EQ(lacking(seed, {}, 4), "") << "seed " << seed;
}

TEST(Mistakes, AFollowerOfSeriesThatSkipsAPiece) {
    Mistakes made;
    made.mirror = [](SeriesMirror& mirror) { return std::make_unique<SkippingMirror>(mirror); };
    const std::string found = lacking(1, std::move(made), 4);
    EXPECT_TRUE(found.contains("is not in the series")) << found;
}

}  // namespace

}  // namespace hostler::simulation
