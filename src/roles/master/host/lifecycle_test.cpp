#include "roles/master/host/lifecycle.h"
#include "api/types_stock.h"
#include "roles/master/stock/slots.h"
#include "roles/master/zone/access_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roles/master/host/view.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;

HostToken token(DeskRig& rig, const std::string& id = "t-1") {
    HostToken made{.id = id,
                   .hash = "hash of " + id,
                   .zone = "nj",
                   .owner = "us",
                   .created_at = rig.estate.micros(),
                   .expires_at = rig.estate.micros() + 3'600'000'000};
    rig.estate.host_tokens.add(made);
    return made;
}

TEST(JoinHost, ATokenIsGoodForOneHost) {
    DeskRig rig;
    token(rig);
    const auto joined = join_host(rig.desk, "hash of t-1", "csr", "node1");
    ASSERT_TRUE(joined);
    EXPECT_EQ(joined->zone, "nj");
    EXPECT_TRUE(joined->certificate.empty());
    EXPECT_EQ(rig.estate.hosts.at(joined->host).phase, HostPhase::joining);
    keep_certificate(rig.desk, "hash of t-1", "PEM");
    rig.pass(7200);
    const auto again = join_host(rig.desk, "hash of t-1", "csr", "node1");
    ASSERT_TRUE(again) << "the answer may have been lost";
    EXPECT_EQ(again->host, joined->host);
    EXPECT_EQ(again->certificate, "PEM");
    EXPECT_EQ(join_host(rig.desk, "hash of t-1", "another csr", "node2").error().reason, "token_used");
    EXPECT_EQ(rig.estate.hosts.all().size(), 1u);
}

TEST(JoinHost, OnlyTheKeyThatJoinedIsCertifiedAnew) {
    DeskRig rig;
    token(rig);
    const std::string host = join_host(rig.desk, "hash of t-1", "its key", "node1")->host;
    EXPECT_TRUE(check_renewal(rig.desk, host, "its key"));
    const auto stolen = check_renewal(rig.desk, host, "another key");
    ASSERT_FALSE(stolen);
    EXPECT_EQ(stolen.error().code, Code::forbidden);
    EXPECT_EQ(stolen.error().reason, "key_differs");
}

TEST(JoinHost, RefusesWhatIsWorthNothing) {
    DeskRig rig;
    token(rig);
    EXPECT_EQ(join_host(rig.desk, "hash of t-2", "csr", "n").error().reason, "token_unknown");
    rig.pass(3600);
    EXPECT_EQ(join_host(rig.desk, "hash of t-1", "csr", "n").error().reason, "token_expired");
    token(rig, "t-3");
    rig.estate.zones.erase("nj");
    EXPECT_EQ(join_host(rig.desk, "hash of t-3", "csr", "n").error().reason, "zone_deleted");
    EXPECT_TRUE(rig.estate.hosts.all().empty());
}

TEST(Report, RoomForVolumesIsKeptToAPartOfIt) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    constexpr std::int64_t mib = 1 << 20;
    const auto known_after = [&](std::int64_t told) {
        HostReport report{.facts = DeskRig::facts_of("a", 2)};
        report.facts->volume_bytes = told;
        note_report(rig.desk, a, report, rig.now);
        return rig.estate.hosts.at(a).facts.volume_bytes;
    };
    EXPECT_EQ(known_after(150 * mib), 150 * mib);
    EXPECT_EQ(known_after(380 * mib), 380 * mib) << "it was measured while the disk was emptied";
    EXPECT_EQ(known_after(370 * mib), 380 * mib);
    EXPECT_EQ(known_after(100'000 * mib), 100'000 * mib);
    EXPECT_EQ(known_after(100'200 * mib), 100'000 * mib);
    EXPECT_EQ(known_after(100'300 * mib), 100'300 * mib);
}

TEST(Report, FactsAreKeptAndChangesAreEvents) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    (void)rig.take();
    rig.report(a);
    EXPECT_TRUE(rig.estate.unchanged()) << "what is as it was is not written";
    HostReport report{.facts = DeskRig::facts_of("a", 2)};
    report.gpu_states["GPU-a-0"] = {GpuHealth::faulty, "XID 79"};
    report.engine_error = "no answer";
    note_report(rig.desk, a, report, rig.now);
    auto events = rig.take().events;
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].kind + " " + events[0].reason + " " + events[0].message, "gpu faulty XID 79");
    EXPECT_EQ(events[1].kind + " " + events[1].reason, "host engine_down");
    EXPECT_FALSE(rig.stock(1)) << "nothing goes where no engine is";
    report.engine_error.clear();
    note_report(rig.desk, a, report, rig.now);
    EXPECT_EQ(rig.take().events.at(0).reason, "engine_back");
    EXPECT_FALSE(rig.stock(2)) << "a faulty GPU is lent to nobody";
    EXPECT_TRUE(rig.stock(1));
    (void)rig.take();
    report.gpu_states.clear();
    note_report(rig.desk, a, report, rig.now);
    EXPECT_EQ(rig.take().events.at(0).reason, "healthy");
    EXPECT_TRUE(rig.stock(1)) << "and by itself again when it is well";
}

TEST(Report, DamagedFilesOfAnAgentAreToldOnce) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    (void)rig.take();
    HostReport report{.facts = DeskRig::facts_of("a", 2)};
    report.facts->files_damaged = "55 bytes of /var/lib/hostler/journal";
    note_report(rig.desk, a, report, rig.now);
    const auto events = rig.take().events;
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].reason + ": " + events[0].message,
              "files_damaged: Files of its agent were damaged: 55 bytes of /var/lib/hostler/journal");
    EXPECT_THAT(
        view(rig.desk, rig.estate.hosts.at(a)).problems,
        ::testing::ElementsAre("files of its agent were damaged: 55 bytes of /var/lib/hostler/journal"));
    report.facts = DeskRig::facts_of("a", 2);  // Its agent has begun again.
    note_report(rig.desk, a, report, rig.now);
    EXPECT_TRUE(rig.take().events.empty());
}

TEST(Report, ForeignWorkloadsHoldWhatTheyHold) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    rig.host("b", "nj", 1);
    ASSERT_TRUE(rig.stock(2, "small", {}, 1));
    ASSERT_TRUE(delete_stock(rig.desk, {.number = 2, .spec_name = "small"}));
    rig.said[a]["i-stranger"] = {.state = "running",
                                 .tenant = "globex",
                                 .gpus = {"GPU-a-0"},
                                 .cpu_milli = 8000,
                                 .memory_bytes = 1 << 30};
    rig.report(a, false);
    EXPECT_TRUE(rig.estate.claims.all().empty()) << "an incomplete report makes no claim";
    rig.report(a), rig.report(a);
    ASSERT_EQ(rig.estate.claims.all().size(), 1u);
    const Claim claim = rig.estate.claims.all().begin()->second;
    EXPECT_EQ(claim.use, ClaimUse::foreign);
    EXPECT_EQ(claim.holder, "i-stranger");
    EXPECT_EQ(claim.gpus, (std::vector<std::string>{"GPU-a-0"}));
    EXPECT_TRUE(rig.estate.commands.all().empty()) << "it is never killed";
    EXPECT_TRUE(rig.stock(2));
    EXPECT_FALSE(rig.stock(1)) << "its GPU is taken";
    rig.said[a].clear();
    rig.report(a);
    for (const auto& [id, other] : rig.estate.claims.all()) EXPECT_EQ(other.use, ClaimUse::stock);
    EXPECT_TRUE(rig.stock(1));
}

TEST(Report, StockMakesWayForWhatRunsThereAlready) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(2));
    const auto mine = rig.running("one");
    const std::string held = rig.estate.claims.at(rig.instance(mine).claim).gpus.at(0);
    rig.said[a]["i-stranger"] = {.state = "running", .gpus = {"GPU-a-0", "GPU-a-1"}};
    rig.report(a);
    std::multiset<std::string> gpus;
    int pending = 0;
    for (const auto& [id, claim] : rig.estate.claims.all()) gpus.insert(claim.gpus.begin(), claim.gpus.end());
    for (const auto& [id, slot] : rig.estate.slots.all()) pending += slot.phase == SlotPhase::pending ? 1 : 0;
    EXPECT_EQ(gpus, (std::multiset<std::string>{"GPU-a-0", "GPU-a-1"})) << "each in one claim";
    EXPECT_EQ(pending, 1);
    EXPECT_EQ(rig.estate.claims.at(rig.instance(mine).claim).gpus, (std::vector<std::string>{held}))
        << "an instance keeps its own";
}

TEST(Report, AnInstanceThatWasLetGoAndRunsAllTheSameIsStopped) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    rig.said[a].clear();
    rig.report(a), rig.report(a);
    ASSERT_TRUE(rig.instance(id).claim.empty());
    rig.said[a][id] = {.state = "running", .gpus = {"GPU-a-0"}};
    rig.report(a);
    ASSERT_NE(rig.command_of(id), nullptr);
    EXPECT_EQ(rig.command_of(id)->verb, Verb::stop_workload);
    const auto foreign = [&] {
        return std::ranges::count_if(rig.estate.claims.all(),
                                     [](const auto& row) { return row.second.use == ClaimUse::foreign; });
    };
    EXPECT_EQ(foreign(), 1) << "until then its GPU is nobody else's";
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    rig.report(a);
    EXPECT_EQ(foreign(), 0);
}

TEST(Silence, UnreachableThenLostThenBack) {
    DeskRig rig;
    const auto a = rig.host("a");
    const auto phase = [&] { return rig.estate.hosts.at(a).phase; };
    EXPECT_EQ(phase(), HostPhase::ready);
    rig.pass(34), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(phase(), HostPhase::ready);
    rig.pass(1), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(phase(), HostPhase::unreachable);
    EXPECT_FALSE(rig.stock(1));
    rig.report(a);
    EXPECT_EQ(phase(), HostPhase::ready);
    EXPECT_TRUE(rig.estate.hosts.at(a).message.empty());
    rig.pass(300), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(phase(), HostPhase::lost);
    rig.pass(100000), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(phase(), HostPhase::lost);
    rig.report(a);
    EXPECT_EQ(phase(), HostPhase::ready);
}

TEST(Silence, ANewTermGivesEveryoneTheSamePatience) {
    DeskRig rig;
    const auto a = rig.host("a");
    rig.live = {};
    rig.pass(1000), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(rig.estate.hosts.at(a).phase, HostPhase::ready);
    rig.pass(35), watch_silence(rig.desk, rig.now);
    EXPECT_EQ(rig.estate.hosts.at(a).phase, HostPhase::unreachable);
}

TEST(RemoveHost, NotWhileItIsInUseButByForce) {
    DeskRig rig;
    const auto a = rig.host("a", "nj", 2);
    ASSERT_TRUE(rig.stock(2));
    const auto v = rig.volume("data");
    auto wanted = rig.request("one");
    wanted.template_.volumes = {{"data", "/data"}};
    ASSERT_TRUE(rig.start(wanted));
    const auto id = find_instance(rig.desk, "acme", "one")->id;
    rig.said[a]["i-stranger"] = {.state = "running"};
    rig.report(a);
    (void)rig.take();
    const auto refused = remove_host(rig.desk, a, false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "host_in_use");
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("1 instance and 1 volume are"));
    EXPECT_TRUE(rig.estate.unchanged());
    ASSERT_TRUE(remove_host(rig.desk, a, true));
    EXPECT_EQ(rig.estate.hosts.at(a).phase, HostPhase::retired);
    EXPECT_EQ(rig.instance(id).phase, InstancePhase::failed);
    EXPECT_EQ(rig.instance(id).reason, "host_removed");
    EXPECT_TRUE(rig.estate.claims.all().empty());
    EXPECT_TRUE(rig.estate.subnets.all().empty());
    EXPECT_TRUE(rig.estate.commands.all().empty());
    EXPECT_EQ(rig.estate.volumes.find(v), nullptr);
    for (const auto& [slot, row] : rig.estate.slots.all()) EXPECT_EQ(row.phase, SlotPhase::pending);
    EXPECT_EQ(remove_host(rig.desk, a, true).error().code, Code::not_found);
    EXPECT_FALSE(host_connected(rig.desk, a, "access-nj", 9));
    rig.report(a);
    EXPECT_EQ(rig.estate.hosts.at(a).phase, HostPhase::retired);
    EXPECT_FALSE(cordon_host(rig.desk, a, true));
}

TEST(RemoveHost, AnEmptyOneGoesQuietly) {
    DeskRig rig;
    const auto a = rig.host("a");
    ASSERT_TRUE(rig.stock(1));
    const auto id = rig.running("one");
    delete_instance(rig.desk, id, "test");
    rig.said[a].clear();
    rig.answer(id, {.done = true});
    EXPECT_TRUE(remove_host(rig.desk, a, false));
    EXPECT_TRUE(rig.estate.claims.all().empty());
}

TEST(Sessions, OnlyTheNewestCounts) {
    DeskRig rig;
    const auto a = rig.host("a");
    const auto old = rig.live.hosts[a].session;
    rig.connect(a);
    host_disconnected(rig.desk, a, "access-nj", old);
    EXPECT_TRUE(rig.live.hosts[a].connected);
    host_disconnected(rig.desk, a, "access-lon", rig.live.hosts[a].session);
    EXPECT_TRUE(rig.live.hosts[a].connected);
    rig.disconnect(a);
    EXPECT_FALSE(rig.live.hosts[a].connected);
}

TEST(JoinCommand, NamesWhatOtherMachinesReach) {
    const std::string begin = "hostler-agent run --data /var/lib/hostler-agent --access ";
    EXPECT_EQ(
        join_command({"nj.example.com:7441", "127.0.0.1:7441", "0.0.0.0:7441", "10.1.2.3:7441"}, "ht_1"),
        begin + "nj.example.com:7441,10.1.2.3:7441 --token ht_1");
    for (const char* local : {"127.0.0.1:7441", "[::1]:7441", "localhost:7441"}) {
        const std::string command = join_command({local}, "ht_1");
        EXPECT_TRUE(command.starts_with(begin + local + " --token ht_1  # ")) << command;
        EXPECT_TRUE(command.contains("--uplink-address") && command.contains("--listen")) << command;
    }
    for (const char* nowhere : {"0.0.0.0:7441", "[::]:7441", ":7441"}) {
        const std::string command = join_command({nowhere}, "ht_1");
        EXPECT_TRUE(command.starts_with(begin + "ADDRESS:PORT --token ht_1  # ")) << command;
        EXPECT_TRUE(command.contains("--uplink-address")) << command;
    }
    EXPECT_TRUE(join_command({}, "ht_1").contains("hostler access list"));
}

}  // namespace
}  // namespace hostler::master
