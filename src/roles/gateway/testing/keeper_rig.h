// For tests: a gatekeeper, and a master that hears what it is asked.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/manual_timers.h"
#include "core/testing/memory_stream.h"
#include "core/testing/run.h"
#include "proto/uplink.pb.h"
#include "roles/gateway/gatekeeper.h"
#include "wire/link.h"

namespace hostler::gateway::testing {

using namespace std::chrono_literals;
using hostler::testing::ManualTimers, hostler::testing::memory_pair, hostler::testing::try_run;

class MemoryJournal final : public Journal {
public:
    const std::map<std::string, std::string>& all() const override { return entries; }
    Task<> put_all(std::vector<Entry> more) override {
        for (auto& [key, value] : more) entries[key] = value;
        co_return Result<>{};
    }
    Task<> erase(std::string key) override {
        entries.erase(key);
        co_return Result<>{};
    }
    std::map<std::string, std::string> entries;
};

struct PlainDigest final : Digest {
    std::string sha256(std::string_view text) const override { return "#" + std::string{text}; }
};

struct NoKeys final : Keys {
    Result<KeyRequest> make(Identity) override { return fail(Code::invalid, "no keys"); }
    Result<KeyRequest> renew(std::string, Identity) override { return fail(Code::invalid, "no keys"); }
    Result<CertificateFacts> read(std::string) const override { return fail(Code::invalid, "no keys"); }
    Result<std::vector<std::string>> fingerprints(std::string) const override {
        return fail(Code::invalid, "no keys");
    }
};

struct NoRandom final : Random {
    void fill(std::span<std::uint8_t> into) override { std::ranges::fill(into, std::uint8_t{0}); }
};

// A master that hears what it is asked, and answers when the test does.
class PlayedMaster final : public Net {
public:
    PlayedMaster(Loop& loop, Timers& timers) : loop_(loop), timers_(timers), tasks_(loop) {}
    Task<StreamPtr> dial(std::string, Duration) override {
        auto [client, server] = memory_pair();
        link = std::make_shared<wire::Link>(loop_, timers_, StreamPtr{std::move(server)});
        tasks_.start("master", listen(link));
        co_return std::move(client);
    }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::internal, "not here"); }
    Task<StreamPtr> secure(StreamPtr stream, Secure, Side, Duration) override { co_return std::move(stream); }

    void answer(const uplink::Frame& question, uplink::Frame with) {
        with.set_answer_to(question.call());
        EXPECT_TRUE(link->try_send(with));
        settle();
    }
    void say(const uplink::Frame& frame) {
        EXPECT_TRUE(link->try_send(frame));
        settle();
    }
    void settle() { static_cast<ManualTimers&>(timers_).settle(); }
    Task<> close() { return tasks_.close(); }

    std::shared_ptr<wire::Link> link;
    std::vector<uplink::Frame> asked;  // Questions about credentials, and about marks.

private:
    Task<> listen(std::shared_ptr<wire::Link> from) {
        while (auto frame = co_await from->receive())
            if (frame->has_authenticate_request() || frame->has_trusted_marks())
                asked.push_back(std::move(*frame));
        co_return Result<>{};
    }
    Loop& loop_;
    Timers& timers_;
    TaskGroup tasks_;
};

// A gatekeeper whose master is played by the test.
struct KeeperRig : ::testing::Test {
    KeeperRig() {
        settings.masters = {"master:1"};
        settings.redial_ms = 10;
        group.start("link", link.run("http://gw"));
        group.start("what ended", keeper.catch_up());
        come();
    }
    ~KeeperRig() override {
        group.cancel();
        timers.settle();
        master.link = nullptr;
        (void)try_run(loop, master.close());
        (void)try_run(loop, group.close());
    }
    // A master has told all routes: there are none.
    void come() {
        timers.advance(1s);
        uplink::Frame told;
        told.mutable_routes()->set_epoch(1);
        told.mutable_routes()->set_complete(true);
        master.say(told);
        ASSERT_TRUE(link.linked());
    }
    void leave() {
        master.link->close();
        timers.settle();
        ASSERT_FALSE(link.linked());
    }
    static uplink::Frame word(bool good) {
        uplink::Frame frame;
        auto& said = *frame.mutable_authenticate_answer();
        said.set_known(good);
        said.set_allowed(good);
        said.set_principal("key/k-1");
        return frame;
    }
    static uplink::Frame over(std::string mark) {
        uplink::Frame frame;
        frame.mutable_credentials_ended()->add_marks(std::move(mark));
        return frame;
    }

    Loop loop;
    ManualTimers timers{loop};
    PlayedMaster master{loop, timers};
    MemoryJournal journal;
    PlainDigest digest;
    NoRandom random;
    NoKeys keys;
    Certified own{std::make_shared<const Credentials>(), keys, {}};
    Ports ports{loop, timers, master, random, journal, digest, own};
    Settings settings;
    RouteTable routes{8};
    MasterLink link{ports, settings, routes, [] {},
                    [this](const std::vector<std::string>& marks) { keeper.end(marks); }};
    Gatekeeper keeper{ports, settings, link};
    TaskGroup group{loop};
};

}  // namespace hostler::gateway::testing
