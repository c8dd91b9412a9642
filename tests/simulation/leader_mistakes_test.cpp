// Each checker of who leads finds the mistake that it is there for: leases, epochs, databases of two.
#include <gtest/gtest.h>

#include "forgetful.h"
#include "mistakes.h"
#include "programs.h"

namespace hostler::simulation {

namespace {

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

}  // namespace

}  // namespace hostler::simulation
