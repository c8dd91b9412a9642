// Access points that die, vanish, are cut off or drain, one at a time: instances stay reachable, and no
// report is lost. Each checker here is shown the mistake that it is there for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "proto/uplink.pb.h"
#include "ride.h"
#include "seeds.h"
#include "wire/frame_cutter.h"

namespace hostler::simulation {

namespace {

TEST(Access, WhatRunsStaysReachableWhileOneOfThemLives) {
    const Seeds range = seeds(4);
    Duration worst{};
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
        Ride ride{seed};
        ASSERT_TRUE(ride.begin()) << replay_command(seed) << " " << ride.cloud.unsettled();
        for (int round = 0; round < 6 && !ride.cloud.found.any(); ++round) ride.round();
        EXPECT_FALSE(ride.cloud.found.any()) << ride.cloud.found.text() << replay_command(seed);
        if (ride.cloud.found.any() && std::getenv("HOSTLER_STORY"))
            for (const std::string& line : ride.cloud.world.story) fmt::print("{}\n", line);
        worst = std::max(worst, ride.worst);
    }
    fmt::print("reachable again after {} ms at worst\n", worst / 1ms);
}

TEST(Access, OneThatDrainsIsLeftWithoutAHiccup) {
    Ride ride{3};
    ASSERT_TRUE(ride.begin());
    for (const std::string from : {"nj", "lon"}) {
        ASSERT_EQ(ride.post("/v1/access-points/" + from + "/drain", "{}"), 200);
        const auto left = [&] {
            const auto& hosts = ride.cloud.term()->look().live.hosts;
            return std::ranges::none_of(hosts,
                                        [&](const auto& row) { return row.second.ways.contains(from); });
        };
        for (int i = 0; i < 60 && !left(); ++i) {
            EXPECT_TRUE(ride.opens(1s)) << "while hosts leave " << from;
            ride.cloud.world.run(500ms);
        }
        EXPECT_TRUE(left()) << from;
        EXPECT_TRUE(ride.opens(1s));
        ride.cloud.world.run(1min);
        EXPECT_TRUE(left()) << "nobody comes back to " << from;
        ASSERT_EQ(ride.post("/v1/access-points/" + from + "/undrain", "{}"), 200);
        EXPECT_TRUE(ride.whole());
    }
    EXPECT_FALSE(ride.cloud.found.any()) << ride.cloud.found.text();
}

// ── Mistakes

TEST(AccessMistakes, AHostWithoutAStandbyThatIsSlowToNotice) {
    Mistakes mistakes;
    mistakes.agent_settings = [](agent::Settings& settings) {
        settings.uplinks = 1;
        settings.ping_interval = settings.standby_ping_interval = 10s;
        settings.patience = settings.standby_patience = 35s;
    };
    Ride::ways = 1;
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 10 && !found; ++seed) {
        Ride ride{seed, mistakes};
        ASSERT_TRUE(ride.begin());
        for (int round = 0; round < 6 && !ride.cloud.found.any(); ++round) ride.round();
        found = ride.cloud.found.has(Invariant::reachable);
    }
    Ride::ways = 2;
    EXPECT_TRUE(found);
}

// Swallows each seventh report, as a queue that forgets would.
class LossyStream final : public Stream {
public:
    explicit LossyStream(StreamPtr under) : under_(std::move(under)) {}
    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        return under_->try_read(into);
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        std::string bytes;
        for (const auto& piece : from) bytes.append(static_cast<const char*>(piece.data()), piece.size());
        TRY(cutter_.feed(bytes, [this](std::string_view body) -> Result<> {
            uplink::Frame frame;
            const bool report =
                frame.ParseFromArray(body.data(), static_cast<int>(body.size())) && frame.has_report();
            if (report && frame.report().sequence() % 7 == 0) return {};
            const std::size_t begin = wire::append_header(pending_);
            pending_ += body;
            wire::complete_header(pending_, begin);
            return {};
        }));
        while (!pending_.empty()) {
            const asio::const_buffer rest{pending_.data(), pending_.size()};
            const auto written = TRY(under_->try_write({&rest, 1}));
            if (!written) break;
            pending_.erase(0, *written);
        }
        return bytes.size();
    }
    Task<> readable() override { return under_->readable(); }
    Task<> writable() override { return under_->writable(); }
    Task<> finish() override { return under_->finish(); }
    void close() override { under_->close(); }
    std::string_view identity() const override { return under_->identity(); }
    std::string_view address() const override { return under_->address(); }

private:
    StreamPtr under_;
    wire::FrameCutter cutter_{16 << 20};
    std::string pending_;
};

class LossyNet final : public Net {
public:
    explicit LossyNet(Net& net) : net_(net) {}
    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        return net_.dial(std::move(address), deadline);
    }
    Task<ListenerPtr> listen(std::string address) override { return net_.listen(std::move(address)); }
    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        auto stream = CO_TRY(co_await net_.secure(std::move(raw), std::move(how), side, deadline));
        if (!stream->identity().starts_with("master/")) co_return std::move(stream);
        co_return std::make_unique<LossyStream>(std::move(stream));
    }

private:
    Net& net_;
};

TEST(AccessMistakes, AReportThatIsSwallowed) {
    Mistakes mistakes;
    mistakes.agent_net = [](Net& net) { return std::make_unique<LossyNet>(net); };
    Ride ride{1, mistakes};
    (void)ride.begin();
    ride.cloud.world.run(2min);
    EXPECT_TRUE(ride.cloud.found.has(Invariant::reports));
}

}  // namespace

}  // namespace hostler::simulation
