// Each checker finds the mistake that it is there for, within the seeds of every run. A mistake stands before
// a port, or changes the estate as a wrong rule would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "forgetful.h"
#include "programs.h"
#include "proto/uplink.pb.h"
#include "roles/master/instance_rules.h"
#include "roles/master/rest_rules.h"
#include "sessions.h"
#include "storm.h"

namespace hostler::simulation {

namespace {

constexpr std::uint64_t seeds_max = 50;

// Rides until the checker reports, in words with `saying` in them. 0: it never does.
std::uint64_t seeds_until(Invariant invariant, Weather weather,
                          const std::function<Mistakes(std::uint64_t)>& mistakes, int masters = 1,
                          const std::string& saying = "") {
    for (std::uint64_t seed = 1; seed <= seeds_max; ++seed) {
        const StormReport report =
            ride({.seed = seed, .weather = weather, .masters = masters, .calm_max = 2min}, mistakes(seed));
        if (std::ranges::none_of(report.found.all(), [&](const Finding& finding) {
                return finding.invariant == invariant && finding.text.contains(saying);
            }))
            continue;
        fmt::print("found by seed {}: {}\n", seed, report.found.all().front().text.substr(0, 160));
        return seed;
    }
    return 0;
}

Mistakes wrong_rule(std::uint64_t seed, double a_second,
                    std::function<void(master::Desk&, sim::Dice&)> rule) {
    Mistakes mistakes;
    auto dice = std::make_shared<sim::Dice>(sim::Dice{seed}.fork("mistake"));
    mistakes.each_second = [dice, a_second, rule = std::move(rule)](Cloud&, master::Term& term) {
        if (!dice->chance(a_second)) return;
        rule(term.desk("mistake"), *dice);
        term.commit_then(nullptr);
    };
    return mistakes;
}

template <class Row, class Which>
const Row* any_of(const master::Table<Row>& table, Which which) {
    for (const auto& [id, row] : table.all())
        if (which(row)) return &row;
    return nullptr;
}

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

// What a wrapped store does beside what is wrong with it.
class StoreBehind : public Store {
public:
    explicit StoreBehind(Store& store) : store_(store) {}
    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
        return store_.lead(std::move(who), length, above);
    }
    Task<> renew() override { return store_.renew(); }
    Task<> resign() override { return store_.resign(); }
    Task<std::optional<Leader>> leader() override { return store_.leader(); }
    Task<> commit(Changes changes) override { return store_.commit(std::move(changes)); }
    Task<Snapshot> load() override { return store_.load(); }
    Task<Page> list(ListQuery query) override { return store_.list(std::move(query)); }
    Task<Object> find(std::string kind, std::string id) override {
        return store_.find(std::move(kind), std::move(id));
    }
    Task<std::vector<EventRecord>> events(EventQuery query) override {
        return store_.events(std::move(query));
    }
    Task<> prune(WallTime before) override { return store_.prune(before); }
    Task<std::unique_ptr<Backup>> backup(WallTime taken, const Digest& digest) override {
        return store_.backup(taken, digest);
    }

protected:
    Store& store_;
};

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
class ForgetfulSeries final : public SeriesStore {
public:
    explicit ForgetfulSeries(SeriesStore& store) : store_(store) {}
    Task<DeviceNumber> describe(series::Device device, series::Millis from) override {
        return store_.describe(std::move(device), from);
    }
    Task<> append(SampleBatch batch) override {
        if (++appends_ % 5 == 0) return []() -> Task<> { co_return Result<>{}; }();
        return store_.append(std::move(batch));
    }
    Task<std::vector<series::Line>> query(series::Query query) override {
        return store_.query(std::move(query));
    }
    Task<> keep(SeriesPolicy policy, WallTime now) override { return store_.keep(policy, now); }
    Task<> flush() override { return store_.flush(); }
    Task<SeriesStats> stats() override { return store_.stats(); }

private:
    SeriesStore& store_;
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

// A store that says nothing of how long one may lead.
class EndlessLease final : public StoreBehind {
public:
    using StoreBehind::StoreBehind;
    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
        Lease lease = CO_TRY(co_await store_.lead(std::move(who), length, above));
        lease.runs_out = false;
        co_return lease;
    }
};

Mistakes endless(Invariant only) {
    Mistakes made;
    made.only = only;
    made.store = [](Store& store) { return std::make_unique<EndlessLease>(store); };
    return made;
}

TEST(Mistakes, AMasterThatTellsFromMemoryForEver) {
    const auto mistakes = [](auto) { return endless(Invariant::fresh); };
    EXPECT_NE(seeds_until(Invariant::fresh, Weather::everything, mistakes, 3), 0u);
}

TEST(Mistakes, AMasterThatLeadsForEver) {
    const auto mistakes = [](auto) { return endless(Invariant::one_leader); };
    EXPECT_NE(seeds_until(Invariant::one_leader, Weather::everything, mistakes, 3), 0u);
}

TEST(Mistakes, AMasterThatOutlivesItsLease) {
    const auto mistakes = [](auto) { return endless(Invariant::lease); };
    EXPECT_NE(seeds_until(Invariant::lease, Weather::calm, mistakes, 3), 0u);
}

// And is not: another is given it.
TEST(Mistakes, ALeaseThatIsSaidToBeRenewed) {
    class Liar final : public StoreBehind {
    public:
        using StoreBehind::StoreBehind;
        Task<> renew() override { co_return Result<>{}; }
    };
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.only = Invariant::one_leader;
        made.store = [](Store& store) { return std::make_unique<Liar>(store); };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::one_leader, Weather::calm, mistakes, 3), 0u);
}

// Obeyed by an access point or a gateway; 0: nobody.
std::uint64_t obeyed_by(Machine& edge) {
    if (edge.name == "gw") {
        const auto& gateway = edge.role<GatewayProgram>().role;
        return gateway ? gateway->routes_epoch() : 0;
    }
    const auto& access = edge.role<AccessProgram>().role;
    return access ? access->obeyed_epoch() : 0;
}

// Two masters lead, and `name` meets the older one when it begins again after the newer one. true: it is
// found to obey.
bool goes_back(const std::string& name, bool forgets) {
    class Liar final : public StoreBehind {
    public:
        Liar(Store& store, std::shared_ptr<bool> lies) : StoreBehind(store), lies_(std::move(lies)) {}
        Task<> renew() override {
            if (*lies_) return []() -> Task<> { co_return Result<>{}; }();
            return store_.renew();
        }

    private:
        std::shared_ptr<bool> lies_;
    };
    const auto lies = std::make_shared<bool>(false);
    Mistakes made;
    made.only = Invariant::order;
    made.store = [lies](Store& store) { return std::make_unique<Liar>(store, lies); };
    if (forgets)
        made.edge_journal = [](Journal& journal) {
            return std::make_unique<ForgetfulJournal>(journal, std::vector<std::string>{"epoch"});
        };
    Cloud cloud{1, std::move(made), 1, 4, {.masters = 3}};
    EXPECT_TRUE(cloud.begin({"red-team"})) << cloud.unsettled();
    const std::string older = cloud.leader()->name;
    const std::uint64_t epoch = cloud.term()->epoch();
    *lies = cloud.database->admits_all = true;
    EXPECT_TRUE(cloud.world.run_until([&] { return cloud.term() && cloud.term()->epoch() > epoch; }, 1min));

    Machine& edge = cloud.world.machine(name);
    const auto begin_where = [&](auto reaches) {
        cloud.world.network.heal_all();
        for (const std::string& master : cloud.masters)
            if (!reaches(master)) cloud.world.network.partition(name, master);
        edge.crash(Death::kill);
        edge.boot();
    };
    begin_where([&](const std::string& master) { return master != older; });
    EXPECT_TRUE(cloud.world.run_until([&] { return obeyed_by(edge) > epoch; }, 1min));
    begin_where([&](const std::string& master) { return master == older; });
    const bool obeyed = cloud.world.run_until([&] { return obeyed_by(edge) == epoch; }, 1min);
    const bool found = std::ranges::any_of(cloud.found.all(), [&](const Finding& finding) {
        return finding.text.contains(name + " obeys a master");
    });
    EXPECT_EQ(obeyed, found);
    cloud.end();
    return found;
}

TEST(Mistakes, AnAccessPointThatForgetsWhichEpochItObeyed) {
    EXPECT_TRUE(goes_back("nj", true));
    EXPECT_FALSE(goes_back("nj", false)) << "else it refuses";
}

TEST(Mistakes, AGatewayThatForgetsWhoseRoutesItHas) {
    EXPECT_TRUE(goes_back("gw", true));
    EXPECT_FALSE(goes_back("gw", false)) << "else it refuses";
}

// What a leader of an older epoch has decided is written under the feet of the one that leads.
TEST(Mistakes, ADatabaseThatBelievesWhoeverCommits) {
    const auto mistakes = [](std::uint64_t) {
        Mistakes made = endless(Invariant::durable);
        made.database = [](Database& database) { database.admits_all = true; };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::durable, Weather::everything, mistakes, 3), 0u);
}

TEST(Mistakes, ADatabaseThatTakesCommitsOfTwo) {
    const auto mistakes = [](std::uint64_t) {
        Mistakes made = endless(Invariant::order);
        made.database = [](Database& database) { database.admits_all = true; };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::order, Weather::everything, mistakes, 3, "the database takes commit"),
              0u);
}

// The clock of the database says why two lead, and else nothing does.
TEST(Mistakes, ALeaseThatIsGivenTwice) {
    using namespace std::chrono_literals;
    const Leading first{"m-1", 1}, second{"m-2", 2};
    Findings found;
    LeaseWatch leases{found};
    leases.led(first, 1s, Instant{10s});
    leases.put_forward(Instant{10s} + 100ms);
    leases.led(second, 1s, Instant{10s} + 200ms);
    leases.look({first, second}, Instant{10s} + 900ms);
    EXPECT_FALSE(found.any()) << found.text();
    EXPECT_TRUE(leases.may_be_old(Instant{10s}, Instant{11s}));
    EXPECT_FALSE(leases.may_be_old(Instant{12s}, Instant{13s}));

    leases.renewed(second, 1s, Instant{11s});
    leases.led({"m-3", 3}, 1s, Instant{11s} + 100ms);
    leases.look({second, {"m-3", 3}}, Instant{11s} + 200ms);
    EXPECT_TRUE(found.has(Invariant::one_leader));
    leases.look({second}, Instant{12s});
    EXPECT_TRUE(found.has(Invariant::lease));
    EXPECT_FALSE(found.has(Invariant::order));
    leases.led({"m-1", 3}, 1s, Instant{13s});
    EXPECT_TRUE(found.has(Invariant::order));
}

TEST(Mistakes, AStandbyThatForgetsAnEpochThatHasLed) {
    Findings found;
    LeaseWatch leases{found};
    leases.led({"m-1", 7}, std::chrono::seconds{1}, Instant{});
    leases.rewound(6, 0, true);
    EXPECT_FALSE(found.any()) << "nobody was told of it";
    leases.led({"m-1", 7}, std::chrono::seconds{1}, Instant{});
    leases.look({{"m-1", 7}}, Instant{});
    leases.rewound(6, 0, true);
    EXPECT_TRUE(found.has(Invariant::order));
}

TEST(Mistakes, ADatabaseThatDoesNotWaitForItsStandby) {
    const auto mistakes = [](std::uint64_t) {
        Mistakes made;
        made.database = [](Database& database) { database.acknowledges_early = true; };
        return made;
    };
    EXPECT_NE(seeds_until(Invariant::durable, Weather::everything, mistakes, 3), 0u);
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
