// Each checker finds the mistake that it is there for, within the seeds of every run. A mistake stands before
// a port, or changes the estate as a wrong rule would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "forgetful.h"
#include "mistakes.h"
#include "proto/uplink.pb.h"
#include "roles/master/run/places.h"
#include "roles/master/run/runs.h"
#include "roles/master/run/stop_start.h"
#include "series_behind.h"
#include "sessions.h"
#include "storm.h"

namespace hostler::simulation {

namespace {

TEST(Mistakes, AGpuInTwoClaims) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, claim] : desk.estate.claims.all())
            for (const auto& [other_id, other] : desk.estate.claims.all())
                if (id != other_id && claim.host == other.host && !claim.gpus.empty() && !other.gpus.empty())
                    return void(desk.estate.claims.edit(other_id).gpus = claim.gpus);
    };
    EXPECT_NE(seeds_until(Invariant::gpu_once, Weather::calm,
                          [&](auto seed) { return wrong_rule(seed, 0.05, rule); }),
              0u);
}

// A broken GPU taken for a good one.
TEST(Mistakes, WorkOnAGpuThatIsKnownToBeBroken) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, host] : desk.estate.hosts.all())
            for (const auto& [gpu, state] : host.gpu_states) {
                if (is_fit(state.health)) continue;
                const Claim* other = any_of(desk.estate.claims, [&](const Claim& one) {
                    return one.host == id && !one.gpus.empty() && one.gpus.front() != gpu;
                });
                if (other) return void(desk.estate.claims.edit(std::string{other->id}).gpus = {gpu});
            }
    };
    EXPECT_NE(seeds_until(Invariant::fit, Weather::everything,
                          [&](auto seed) {
                              Mistakes mistakes = wrong_rule(seed, 0.3, rule);
                              mistakes.only = Invariant::fit;
                              return mistakes;
                          }),
              0u);
}

// A place is found anew, and not by what its owner wishes.
TEST(Mistakes, APlaceThatItsOwnerDidNotWishFor) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* placed = any_of(desk.estate.instances, [](const Instance& one) {
            return one.phase == InstancePhase::running && one.spec.placement && !one.claim.empty();
        });
        if (!placed) return;
        Instance& moved = desk.estate.instances.edit(std::string{placed->id});
        moved.spec.placement->terms.hosts = {"another"};
        Claim anew = desk.estate.claims.at(moved.claim);
        anew.id = new_id(desk.random, "c");
        desk.estate.release(moved.claim);
        moved.claim = desk.estate.hold(std::move(anew)).id;
        if (desk.estate.slots.find(moved.slot)) desk.estate.slots.edit(moved.slot).claim = moved.claim;
    };
    EXPECT_NE(seeds_until(Invariant::terms, Weather::calm,
                          [&](auto seed) {
                              Mistakes mistakes = wrong_rule(seed, 0.1, rule);
                              mistakes.only = Invariant::terms;
                              return mistakes;
                          }),
              0u);
}

// Silence taken for death: what runs loses its place, and somebody else gets it.
TEST(Mistakes, APlaceGivenAwayUnderARunningInstance) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* running = any_of(
            desk.estate.instances, [](const Instance& one) { return one.phase == InstancePhase::running; });
        if (!running) return;
        const std::string id = running->id;
        master::note(desk, id, InstanceEvent::host_gone, "host_lost", "its host was silent for a moment");
        master::let_go(desk, id);
    };
    std::uint64_t seed = 0;
    for (std::uint64_t one = 1; one <= seeds_max && seed == 0; ++one) {
        const auto report =
            ride({.seed = one, .weather = Weather::calm, .calm_max = 1s}, wrong_rule(one, 0.2, rule));
        for (const Finding& finding : report.found.all())
            if (finding.invariant == Invariant::gpu_once &&
                finding.text.find("is used by") != std::string::npos)
                seed = one;
    }
    EXPECT_NE(seed, 0u) << "two containers on one GPU are seen at the engine";
}

// A subnet is looked up by its tenant and its host alone.
TEST(Mistakes, TwoProjectsOfATenantInOneSubnet) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, instance] : desk.estate.instances.all()) {
            if (instance.subnet.empty()) continue;
            const Subnet* other = any_of(desk.estate.subnets, [&](const Subnet& one) {
                return one.tenant == instance.tenant && one.host == instance.host &&
                       one.project != instance.project && !one.leaving;
            });
            if (other) return void(desk.estate.instances.edit(std::string{id}).subnet = other->id);
        }
    };
    EXPECT_NE(seeds_until(Invariant::networks, Weather::calm,
                          [&](auto seed) { return wrong_rule(seed, 0.3, rule); }),
              0u);
}

// An attachment forgotten: the next one may write beside who still does.
TEST(Mistakes, AVolumeWithTwoWriters) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* writer = any_of(desk.estate.instances, [](const Instance& one) {
            return one.phase == InstancePhase::running && !one.spec.volumes.empty();
        });
        if (writer) desk.estate.instances.edit(std::string{writer->id}).spec.volumes.clear();
    };
    EXPECT_NE(seeds_until(Invariant::one_writer, Weather::calm,
                          [&](auto seed) { return wrong_rule(seed, 0.2, rule); }),
              0u);
}

// A growth that the master believes, and its host has not done.
TEST(Mistakes, AVolumeSmallerThanItsOwnerWasTold) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Volume* there = any_of(desk.estate.volumes,
                                     [](const Volume& one) { return one.phase == VolumePhase::available; });
        if (there) desk.estate.volumes.edit(std::string{there->id}).size_bytes += std::int64_t{1} << 30;
    };
    EXPECT_NE(
        seeds_until(Invariant::durable, Weather::calm, [&](auto seed) { return wrong_rule(seed, 1, rule); }),
        0u);
}

// One volume is taken for another of its host.
TEST(Mistakes, AVolumeShownToBeAsFullAsAnother) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (auto& [id, host] : desk.live.hosts)
            if (host.disks && host.disks->volumes.size() > 1)
                std::swap(host.disks->volumes.begin()->second, host.disks->volumes.rbegin()->second);
    };
    EXPECT_NE(
        seeds_until(Invariant::use, Weather::calm, [&](auto seed) { return wrong_rule(seed, 0.1, rule); }),
        0u);
}

// Keeps volumes, and never says how full they are.
class SilentVolumes final : public HostVolumes {
public:
    explicit SilentVolumes(HostVolumes& volumes) : volumes_(volumes) {}
    Task<> create(std::string id, std::uint64_t size_bytes) override {
        return volumes_.create(std::move(id), size_bytes);
    }
    Task<Attached> attach(std::string id, IdRange ids) override {
        return volumes_.attach(std::move(id), ids);
    }
    Task<> remove(std::string id) override { return volumes_.remove(std::move(id)); }
    Task<std::vector<std::string>> list() override { return volumes_.list(); }
    Task<Room> room() override { return volumes_.room(); }
    Task<std::map<std::string, DiskUse>> uses() override { co_return std::map<std::string, DiskUse>{}; }

private:
    HostVolumes& volumes_;
};

TEST(Mistakes, AHostThatNeverSaysHowFullItsVolumesAre) {
    const auto silent = [](std::uint64_t) {
        return Mistakes{.agent_volumes = [](HostVolumes& volumes) -> std::unique_ptr<HostVolumes> {
            return std::make_unique<SilentVolumes>(volumes);
        }};
    };
    EXPECT_NE(seeds_until(Invariant::settled, Weather::calm, silent, 1, "does not say how full volume"), 0u);
}

// Does with what containers wrote what it likes, whatever it is told.
class StubbornEngine final : public Engine {
public:
    StubbornEngine(Engine& engine, LayerEnd always) : engine_(engine), always_(always) {}
    Task<EngineFacts> describe() override { return engine_.describe(); }
    Task<> pull(ImageWanted image, PullSeen seen) override {
        return engine_.pull(std::move(image), std::move(seen));
    }
    Task<Container> launch(ContainerSpec spec) override { return engine_.launch(std::move(spec)); }
    Task<StopEnd> stop(std::string name, Duration grace) override {
        return engine_.stop(std::move(name), grace);
    }
    Task<> remove(std::string name, LayerEnd) override { return engine_.remove(std::move(name), always_); }
    Task<std::vector<Container>> list(std::string label, std::string value) override {
        return engine_.list(std::move(label), std::move(value));
    }
    Task<LogPart> logs(std::string name, LogsWanted wanted) override {
        return engine_.logs(std::move(name), wanted);
    }

private:
    Engine& engine_;
    LayerEnd always_;
};

Mistakes stubborn(LayerEnd always, Invariant only) {
    Mistakes mistakes;
    mistakes.agent_engine = [always](Engine& engine) {
        return std::make_unique<StubbornEngine>(engine, always);
    };
    mistakes.only = only;
    return mistakes;
}

TEST(Mistakes, WhatAStoppedInstanceWroteIsNotThere) {
    EXPECT_NE(seeds_until(Invariant::layer, Weather::calm,
                          [](auto) { return stubborn(LayerEnd::lost, Invariant::layer); }),
              0u);
}

TEST(Mistakes, WhatADeletedInstanceWroteStays) {
    EXPECT_NE(seeds_until(
                  Invariant::settled, Weather::calm,
                  [](auto) { return stubborn(LayerEnd::kept, Invariant::settled); }, 1, "nobody wants it"),
              0u);
}

// The clock is believed, and not the host that knows better.
TEST(Mistakes, WhatIsUsedIsStoppedForBeingUnused) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* running = any_of(desk.estate.instances, [](const Instance& one) {
            return one.phase == InstancePhase::running && one.schedule.inactivity_s > 0;
        });
        if (running)
            (void)master::halt_instance(desk, std::string{running->id}, "unused", "so the clock says");
    };
    EXPECT_NE(
        seeds_until(Invariant::idle, Weather::calm, [&](auto seed) { return wrong_rule(seed, 0.1, rule); }),
        0u);
}

// A rule that never comes to its end is as wrong.
TEST(Mistakes, WhatIsUnusedRunsOn) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        for (const auto& [id, instance] : desk.estate.instances.all())
            if (instance.phase == InstancePhase::running && instance.schedule.inactivity_s > 0)
                desk.estate.instances.edit(id).schedule.kept_until = desk.estate.micros() + 60'000'000;
    };
    EXPECT_NE(
        seeds_until(Invariant::settled, Weather::calm, [&](auto seed) { return wrong_rule(seed, 1, rule); }),
        0u);
}

TEST(Mistakes, AClaimThatNobodyHolds) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* living =
            any_of(desk.estate.instances, [](const Instance& one) { return !one.claim.empty(); });
        if (living) desk.estate.instances.edit(living->id).claim.clear();
    };
    EXPECT_NE(seeds_until(Invariant::claim_identity, Weather::calm,
                          [&](auto seed) { return wrong_rule(seed, 0.05, rule); }),
              0u);
}

TEST(Mistakes, AChangeThatTheLedgerDoesNotTell) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        if (const Claim* claim = any_of(desk.estate.claims, [](const Claim&) { return true; }))
            desk.estate.claims.edit(claim->id).cpu_milli -= 1000;
    };
    EXPECT_NE(seeds_until(Invariant::ledger, Weather::calm,
                          [&](auto seed) { return wrong_rule(seed, 0.05, rule); }),
              0u);
}

// Says now and then that a commit is durable, and has not written it.
class ForgetfulStore final : public StoreBehind {
public:
    using StoreBehind::StoreBehind;
    Task<> commit(Changes changes) override {
        if (++commits_ % 20 == 0) return []() -> Task<> { co_return Result<>{}; }();
        return store_.commit(std::move(changes));
    }

private:
    int commits_ = 0;
};

TEST(Mistakes, AStoreThatForgetsWhatItAcknowledged) {
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.store = [](Store& store) { return std::make_unique<ForgetfulStore>(store); };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::durable, Weather::deaths, mistakes), 0u);
}

// Says now and then that samples are durable, and has not written them.
class ForgetfulSeries final : public SeriesBehind {
public:
    using SeriesBehind::SeriesBehind;
    Task<> append(SampleBatch batch) override {
        if (++appends_ % 5 == 0) return []() -> Task<> { co_return Result<>{}; }();
        return store_.append(std::move(batch));
    }

private:
    int appends_ = 0;
};

TEST(Mistakes, SamplesThatAreForgottenAfterTheirReportWasAcknowledged) {
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.only = Invariant::samples;
        made.series = [](SeriesStore& store) { return std::make_unique<ForgetfulSeries>(store); };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::samples, Weather::calm, mistakes), 0u);
}

TEST(Mistakes, AnInstanceThatIsForgotten) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* over = any_of(desk.estate.instances, [](const Instance& one) {
            return is_final(one.phase) && one.claim.empty();
        });
        if (over) desk.estate.instances.erase(std::string{over->id});
    };
    EXPECT_NE(seeds_until(Invariant::durable, Weather::calm,
                          [&](auto seed) { return wrong_rule(seed, 0.1, rule); }),
              0u);
}

TEST(Mistakes, AnEpochThatComesTwice) {
    class SameEpoch final : public StoreBehind {
    public:
        using StoreBehind::StoreBehind;
        Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
            Lease lease = CO_TRY(co_await store_.lead(std::move(who), length, above));
            lease.epoch = 1;
            co_return lease;
        }
    };
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.store = [](Store& store) { return std::make_unique<SameEpoch>(store); };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::order, Weather::deaths, mistakes), 0u);
}

TEST(Mistakes, AnAgentThatForgetsWhichGenerationItObeyed) {
    EXPECT_NE(seeds_until(Invariant::order, Weather::everything,
                          [](auto) {
                              Mistakes made = forgetful_agent({"generation/", "command/"});
                              made.only = Invariant::order;
                              return made;
                          }),
              0u);
}

TEST(Mistakes, AnAgentThatForgetsWhatItHasDone) {
    EXPECT_NE(
        seeds_until(Invariant::once, Weather::everything, [](auto) { return forgetful_agent({"command/"}); }),
        0u);
}

TEST(Mistakes, AnAgentThatForgetsWhoseUsersAreWhose) {
    EXPECT_NE(
        seeds_until(Invariant::tenancy, Weather::everything, [](auto) { return forgetful_agent({"ids/"}); }),
        0u);
}

// An agent hears the newest epoch before any command, so that only the checker itself can be shown an older
// one.
TEST(Mistakes, ACommandOfAnOlderEpoch) {
    Findings found;
    Obedience obedience{"host", found};
    obedience.tell = [](const std::string&) {};
    const auto begin = [&](const std::string& id, std::uint64_t epoch) {
        uplink::Command command;
        command.set_id(id);
        command.set_subject("i-1");
        command.set_epoch(epoch);
        const std::string value = "B 1 0\n" + command.SerializeAsString();
        obedience.writing("command/" + id, value);
        obedience.written("command/" + id, value);
    };
    begin("cmd-1", 3);
    EXPECT_FALSE(found.any());
    begin("cmd-2", 2);
    EXPECT_TRUE(found.has(Invariant::order));
}

// All keys of tenants look alike to it: whoever comes is taken for the first.
class BlurredDigest final : public Digest {
public:
    std::string sha256(std::string_view text) const override {
        return sim::hash_hex(text.starts_with("hk_") && text != Cloud::operator_key ? "hk_" : text);
    }
};

TEST(Mistakes, ATenantTakenForAnother) {
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.digest = std::make_shared<BlurredDigest>();
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::tenancy, Weather::calm, mistakes), 0u);
}

// A session that is joined again, and is not told all that it has missed.
TEST(Mistakes, AReplayThatLosesThreeBytes) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= seeds_max && !found; ++seed) {
        SessionRide ride{seed, forgetful_net};
        ASSERT_TRUE(ride.begin());
        for (int round = 0; round < 5 && !ride.cloud.found.any(); ++round) ride.round();
        ride.finish();
        found = ride.cloud.found.has(Invariant::session);
        if (found)
            fmt::print("found by seed {}: {}\n", seed, ride.cloud.found.all().front().text.substr(0, 160));
    }
    EXPECT_TRUE(found);
}

TEST(Mistakes, AnEndWithoutAReason) {
    const auto rule = [](master::Desk& desk, sim::Dice&) {
        const Instance* over = any_of(desk.estate.instances, [](const Instance& one) {
            return is_final(one.phase) && !one.reason.empty();
        });
        if (over) desk.estate.instances.edit(std::string{over->id}).reason.clear();
    };
    EXPECT_NE(seeds_until(Invariant::settled, Weather::calm,
                          [&](auto seed) { return wrong_rule(seed, 0.2, rule); }),
              0u);
}

}  // namespace

}  // namespace hostler::simulation
