// A store that is lost and made anew of a backup, while everything that has happened since runs on.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <boost/json.hpp>

#include "adapters/sqlite/store.h"
#include "checkers/estate_check.h"
#include "cloud.h"
#include "roles/master/instance/lifecycle.h"
#include "roles/master/unmanaged/unmanaged.h"
#include "seeds.h"
#include "sql/check.h"
#include "sql/copy.h"

namespace hostler::simulation {

namespace {

class Restored : public ::testing::TestWithParam<std::uint64_t> {
protected:
    http::Response ask(const std::string& method, const std::string& target, const std::string& body = {}) {
        const auto answer =
            cloud.world.ask(cloud.call(std::string{Cloud::operator_key}, method, target, body));
        return answer ? *answer : http::Response{.status = 0, .body = answer.error().message};
    }
    void create(const std::string& name) {
        const auto made =
            ask("POST", "/gpu-instances",
                fmt::format(R"({{"instanceID":"{}","tenantID":"red-team","tenantName":"r","image":"demo:1",)"
                            R"("specName":"one","template":{{"ports":[{{"port":8080,"isProbe":true}}]}}}})",
                            name));
        ASSERT_EQ(made.status, 200) << made.body;
    }
    const Instance* instance(const std::string& name) {
        const auto now = cloud.term();
        return now ? master::find_instance(now->look(), "red-team", name) : nullptr;
    }
    bool is(const std::string& name, InstancePhase phase) {
        const Instance* found = instance(name);
        return found && found->phase == phase;
    }
    void running(const std::string& name) {
        create(name);
        ASSERT_TRUE(cloud.world.run_until([&] { return is(name, InstancePhase::running); }, 5min)) << name;
        ids[name] = instance(name)->id;
    }
    bool stands(const std::string& name) {
        for (const std::string& host : cloud.hosts)
            for (const auto& container : cloud.world.machine(host).engine.standing())
                if (container.spec.name == "hostler-" + ids.at(name) &&
                    container.state == ContainerState::running)
                    return true;
        return false;
    }
    bool foreign(const std::string& name) {
        const auto now = cloud.term();
        return now && master::find_foreign(now->look(), ids.at(name)).has_value();
    }
    // The disk of the store is lost, and another put in its place.
    void restore(const std::string& backup) {
        auto& vfs = cloud.master().vfs;
        cloud.master().crash(Death::kill);
        cloud.world.settle();
        auto* files = sqlite3_vfs_find(vfs.name().c_str());
        for (const char* file : {"store.db", "store.db-wal", "store.db-journal", "store.db-reserve"})
            files->xDelete(files, file, 1);
        auto store = open_sqlite_alone("store.db", IfMissing::make, vfs.name()).value();
        sql::BackupReader reader{[text = backup, done = false]() mutable -> Result<std::string> {
                                     return std::exchange(done, true) ? std::string{} : text;
                                 },
                                 cloud.world.hasher};
        const auto head = sql::restore(reader, *store, cloud.world.hasher,
                                       {.time = cloud.world.timers.wall().time_since_epoch().count()});
        ASSERT_TRUE(head) << head.error().message;
        const auto wrong = sql::check(*store);
        ASSERT_TRUE(wrong && wrong->empty());
        store.reset();
        cloud.store_ledger.restored();
        cloud.master().boot();
    }
    void begin() {
        ASSERT_TRUE(cloud.begin({"red-team"})) << cloud.unsettled();
        ASSERT_EQ(ask("POST", "/stocks",
                      R"({"number":4,"operationID":"s","specName":"one","cpu":"8","memory":"32Gi",)"
                      R"("gpuType":"H100 SXM5 80GB","gpuNum":1})")
                      .status,
                  200);
    }
    static constexpr const char* of_red = R"({"tenantID":"red-team"})";
    Cloud cloud{GetParam()};
    std::map<std::string, std::string> ids;
};

TEST_P(Restored, NothingIsKilledAndWhatIsNotKnownIsSettledByPeople) {
    begin();
    running("old"), running("gone"), running("rested");
    ASSERT_EQ(ask("POST", "/v1/instances/rested/stop", of_red).status, 200);
    ASSERT_TRUE(cloud.world.run_until([&] { return is("rested", InstancePhase::resting); }, 5min));
    create("unborn");  // The backup has it while it is being started.
    ids["unborn"] = instance("unborn")->id;
    const auto backup = ask("GET", "/v1/backup");
    ASSERT_EQ(backup.status, 200) << backup.body;

    ASSERT_TRUE(cloud.world.run_until([&] { return is("unborn", InstancePhase::running); }, 5min));
    ASSERT_EQ(ask("DELETE", "/gpu-instances/gone?tenantID=red-team").status, 200);
    ASSERT_EQ(ask("DELETE", "/gpu-instances/unborn?tenantID=red-team").status, 200);
    ASSERT_TRUE(cloud.world.run_until([&] { return cloud.unsettled().empty(); }, 5min)) << cloud.unsettled();
    ASSERT_EQ(ask("POST", "/v1/instances/rested/start", of_red).status, 200);
    ASSERT_TRUE(cloud.world.run_until([&] { return is("rested", InstancePhase::running); }, 5min));
    running("new"), running("unwanted"), running("kept");
    const std::vector<std::string> alive{"old", "rested", "new", "unwanted", "kept"};
    std::uint64_t epoch = cloud.term()->epoch();

    restore(backup.body);
    bool killed = false;
    ASSERT_TRUE(cloud.world.run_until(
        [&] {
            for (const std::string& name : alive) killed = killed || !stands(name);
            return killed || (foreign("new") && foreign("unwanted") && foreign("kept") && foreign("rested"));
        },
        5min));
    cloud.world.run(1min);
    for (const std::string& name : alive) EXPECT_TRUE(stands(name)) << name;
    EXPECT_FALSE(killed);
    EXPECT_GT(cloud.term()->epoch(), epoch) << "hosts have obeyed epochs of the lost time";
    EXPECT_TRUE(is("old", InstancePhase::running));
    EXPECT_TRUE(is("gone", InstancePhase::failed));
    EXPECT_TRUE(is("unborn", InstancePhase::failed));
    EXPECT_FALSE(stands("gone") || stands("unborn"));

    const auto review = ask("GET", "/v1/foreign-workloads?decision=open");
    for (const std::string name : {"new", "unwanted", "kept", "rested"})
        EXPECT_TRUE(review.body.contains(ids.at(name))) << review.body;
    const auto settle = [&](const std::string& name, const std::string& how) {
        return ask("POST", fmt::format("/v1/foreign-workloads/{}/{}", ids.at(name), how),
                   R"({"why":"so be it"})");
    };
    const auto adopted = ask("POST", fmt::format("/v1/foreign-workloads/{}/adopt", ids.at("new")));
    EXPECT_EQ(adopted.status, 200) << adopted.body;
    EXPECT_EQ(ask("POST", fmt::format("/v1/foreign-workloads/{}/adopt", ids.at("rested"))).status, 200);
    EXPECT_EQ(settle("unwanted", "remove").status, 200);
    EXPECT_EQ(settle("kept", "keep").status, 200);
    ASSERT_TRUE(cloud.world.run_until([&] { return !stands("unwanted") && !foreign("unwanted"); }, 5min));
    cloud.world.run(1min);
    EXPECT_TRUE(is("new", InstancePhase::running));
    EXPECT_EQ(instance("new")->id, ids.at("new"));
    EXPECT_TRUE(is("rested", InstancePhase::running));
    EXPECT_TRUE(foreign("kept") && stands("kept"));

    // They are instances like others: they end, and nothing stays behind.
    EXPECT_EQ(settle("kept", "remove").status, 200);
    for (const std::string name : {"new", "rested", "old"})
        EXPECT_EQ(ask("DELETE", fmt::format("/gpu-instances/{}?tenantID=red-team", name)).status, 200);
    EXPECT_TRUE(cloud.world.run_until([&] { return cloud.unsettled().empty(); }, 5min)) << cloud.unsettled();
    for (const std::string& host : cloud.hosts)
        EXPECT_TRUE(cloud.world.machine(host).engine.standing().empty());
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

TEST_P(Restored, AHostThatJoinedSinceComesBackWithWhatRunsThere) {
    begin();
    const auto backup = ask("GET", "/v1/backup");
    ASSERT_EQ(backup.status, 200);
    cloud.hosts.push_back("host-late");
    cloud.world.machine("host-late", 4);
    cloud.obedience.emplace("host-late", Obedience{"host-late", cloud.found}).first->second.tell =
        [](const auto&) {};
    cloud.join("host-late", "nj");
    ASSERT_TRUE(
        cloud.world.run_until([&] { return cloud.unsettled().empty() && cloud.all_are_judged(); }, 5min))
        << cloud.unsettled();
    for (const char* other : {"host-0", "host-1"})
        ASSERT_EQ(ask("POST", fmt::format("/v1/hosts/{}/cordon", other)).status, 200);
    const std::string there = "late";
    running(there);

    restore(backup.body);
    ASSERT_TRUE(cloud.world.run_until([&] { return foreign(there); }, 5min));
    EXPECT_TRUE(stands(there));
    const auto claim = *master::find_foreign(cloud.term()->look(), ids.at(there)).value();
    EXPECT_TRUE(cloud.term()->look().estate.hosts.at(claim.host).cordoned);
    EXPECT_EQ(ask("POST", fmt::format("/v1/foreign-workloads/{}/adopt", ids.at(there))).status, 200);
    EXPECT_TRUE(is(there, InstancePhase::running));
    cloud.world.run(1min);
    EXPECT_TRUE(is(there, InstancePhase::running));
    EXPECT_FALSE(cloud.found.any()) << cloud.found.text();
}

std::vector<std::uint64_t> some_seeds() {
    std::vector<std::uint64_t> all;
    const Seeds range = seeds(3);
    for (std::uint64_t seed = range.first; seed <= range.last; ++seed) all.push_back(seed);
    return all;
}
INSTANTIATE_TEST_SUITE_P(Seeds, Restored, ::testing::ValuesIn(some_seeds()));

}  // namespace

}  // namespace hostler::simulation
