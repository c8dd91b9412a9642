#include "roles/master/instance/owner.h"

#include <gmock/gmock.h>

#include "api/operation_list.h"
#include "roles/master/instance/archive.h"
#include "roles/master/instance/explain.h"
#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Owned : testing::ApiRig {
    Owned() {
        HOSTLER_ASSERT(call("", "POST", "/stocks", stocks(8)).status == 200);
        settings.repairable_tenant_max = 0;
    }
    static api::CreateInstance wanted(const std::string& name, const std::string& tenant = "acme") {
        api::CreateInstance request = testing::DeskRig::request(name, tenant);
        request.template_.ports = {{.port = 8080}};
        return request;
    }
    std::string made(const std::string& name, const std::optional<Owner>& owner,
                     const std::string& tenant = "acme") {
        const auto done = create_instance(desk(), wanted(name, tenant), "digest", owner);
        HOSTLER_ASSERT(done && *done == Started::now);
        (void)commit();
        return find_instance(desk(), tenant, name)->id;
    }
    const Instance& look(const std::string& id) { return term().look().estate.instances.at(id); }
    void enter_phase(const std::string& id, InstancePhase phase) {
        desk().estate.instances.edit(id).phase = phase;
        (void)commit();
    }
    void end(const std::string& id, InstanceEvent event) {
        note(desk(), id, event, "exited", "test");
        let_go(desk(), id);
        (void)commit();
    }
    std::vector<std::string> listed(const std::string& query, const std::string& tenant = "acme") {
        const api::Reply reply = call(tenant, "GET", "/v1/instances?" + query);
        EXPECT_EQ(reply.status, 200) << reply.body;
        std::vector<std::string> names;
        for (const auto& item : json::parse(reply.body).at("items").as_array())
            names.emplace_back(item.at("instanceID").as_string());
        return names;
    }
    const Owner job{"job", "j-1"}, other_job{"job", "j-2"}, service{"service", "j-1"};
};

// What a caller asks of an instance, and a phase in which that would be done to one without an owner.
struct Change {
    const char* operation;
    const char* method;
    const char* target;
    const char* body;
    InstancePhase phase;
};
constexpr Change changes[] = {
    {"deleteInstance", "DELETE", "/gpu-instances/{}", "", InstancePhase::placed},
    {"stopInstance", "POST", "/v1/instances/{}/stop", "{}", InstancePhase::placed},
    {"startInstance", "POST", "/v1/instances/{}/start", "", InstancePhase::placed},
    {"restartInstance", "POST", "/v1/instances/{}/restart", "", InstancePhase::placed},
    {"retryInstance", "POST", "/v1/instances/{}/retry", "", InstancePhase::placed},
    {"updateInstance", "PATCH", "/v1/instances/{}", R"({"labels":{"team":"ml"}})", InstancePhase::placed},
    {"updateInstance", "PATCH", "/v1/instances/{}", R"({"maxRunSeconds":60})", InstancePhase::placed},
    {"updateInstance", "PATCH", "/v1/instances/{}", R"({"image":"other:1"})", InstancePhase::resting},
};
constexpr Change uses[] = {
    {"keepInstanceAlive", "POST", "/v1/instances/{}/keep-alive", R"({"forSeconds":60})",
     InstancePhase::placed},
    {"createShare", "POST", "/v1/instances/{}/shares", R"({"port":8080})", InstancePhase::running},
};

TEST_F(Owned, InstancesAreChangedByTheirOwnerAlone) {
    const std::string owned = made("web-0", job), own = made("own", std::nullopt);
    for (const Change& change : changes) {
        SCOPED_TRACE(change.operation);
        enter_phase(owned, change.phase);
        enter_phase(own, change.phase);
        const auto before = store.done;
        for (const std::string& name : {std::string{"web-0"}, owned}) {
            const std::string target = fmt::format(fmt::runtime(change.target), name);
            for (const std::string& query : {"", "?dryRun=true"})
                for (const std::string& tenant : {"acme", ""}) {
                    const api::Reply refused = call(tenant, change.method, target + query, change.body);
                    EXPECT_EQ(refused.status, 409) << refused.body;
                    EXPECT_EQ(problem(refused), "owned");
                    EXPECT_THAT(refused.body, HasSubstr("instance web-0 belongs to job j-1"));
                    EXPECT_THAT(refused.body, HasSubstr("Change or delete the job instead."));
                }
        }
        EXPECT_TRUE(term().look().estate.unchanged());
        EXPECT_EQ(store.done, before);
        const api::Reply done =
            call("acme", change.method, fmt::format(fmt::runtime(change.target), "own") + "?dryRun=true",
                 change.body);
        EXPECT_EQ(done.status, 200) << "one without an owner: " << done.body;
    }
}

TEST_F(Owned, InstancesAreUsedAsAnyOther) {
    const std::string id = made("web-0", job);
    for (const Change& use : uses) {
        enter_phase(id, use.phase);
        const api::Reply done =
            call("acme", use.method, fmt::format(fmt::runtime(use.target), "web-0"), use.body);
        EXPECT_LT(done.status, 300) << use.operation << done.body;
    }
    for (const char* part : {"", "/events", "/explain"})
        EXPECT_EQ(call("acme", "GET", fmt::format("/v1/instances/web-0{}", part)).status, 200) << part;
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/web-0").status, 200);
}

// A new operation on an instance is in one of the tables.
TEST_F(Owned, EachOperationThatWritesChangesOrUses) {
    std::set<std::string_view> known = {"createInstance", "createTicket"};
    for (const Change& change : changes) known.insert(change.operation);
    for (const Change& use : uses) known.insert(use.operation);
    for (const api::Operation* operation : api::operations())
        if (operation->writes() &&
            (operation->path.starts_with("/gpu-instances") || operation->path.starts_with("/v1/instances")))
            EXPECT_TRUE(known.contains(operation->name)) << operation->name;
}

TEST_F(Owned, InstancesAreListedAmongTheOthersAndByOwner) {
    made("own", std::nullopt), made("a-0", job), made("a-1", job), made("b-0", other_job);
    made("s-0", service), made("theirs", job, "globex");
    EXPECT_THAT(listed(""), ElementsAre("own", "a-0", "a-1", "b-0", "s-0"));
    EXPECT_THAT(listed("owner=job"), ElementsAre("a-0", "a-1", "b-0"));
    EXPECT_THAT(listed("owner=job/j-1"), ElementsAre("a-0", "a-1"));
    EXPECT_THAT(listed("owner=job%2Fj-1&instance=a-1"), ElementsAre("a-1"));
    EXPECT_THAT(listed("owner=job/j-2&instance=a-1"), ElementsAre());
    EXPECT_THAT(listed("owner=service/j-1"), ElementsAre("s-0"));
    EXPECT_THAT(listed("owner=service/j-2"), ElementsAre());
    EXPECT_THAT(listed("owner=job", ""), ElementsAre("a-0", "a-1", "b-0", "theirs"));
    EXPECT_THAT(listed("owner=job&tenantID=globex", ""), ElementsAre("theirs"));
    EXPECT_THAT(listed("owner=job/j-1&limit=1"), ElementsAre("a-0"));
    EXPECT_THAT(listed("owner=job/j-1&all=true"), ElementsAre("a-0", "a-1")) << "from the store";
    const auto shown = json::parse(call("acme", "GET", "/v1/instances/a-0").body);
    EXPECT_EQ(shown.at("owner"), (json::value{{"kind", "job"}, {"id", "j-1"}}));
    EXPECT_FALSE(json::parse(call("acme", "GET", "/v1/instances/own").body).as_object().contains("owner"));
    for (const char* wrong : {"", "job/", "/j-1", "Job", "job/j-1/x", "job,service"}) {
        const api::Reply reply = call("acme", "GET", fmt::format("/v1/instances?owner={}", wrong));
        EXPECT_EQ(reply.status, 400) << wrong;
        EXPECT_THAT(reply.body, HasSubstr(R"("field":"owner")")) << wrong;
    }
}

// The rows that a call looks at, beside as many instances of others.
std::uint64_t rows_beside(int others, const std::string& query) {
    struct Few : Owned {
        void TestBody() override {}
    } rig;
    rig.made("a-0", rig.job), rig.made("a-1", rig.job), rig.made("b-0", rig.other_job);
    for (int i = 0; i < others; ++i) {
        Instance one{.id = fmt::format("i-{}", i), .caller_id = fmt::format("one-{}", i), .tenant = "acme"};
        one.phase = InstancePhase::running;
        if (i % 2 == 0) one.owner = Owner{"service", fmt::format("s-{}", i)};
        if (i % 4 == 0) one.tenant = "globex", one.owner = Owner{"job", fmt::format("g-{}", i)};
        rig.desk().estate.instances.add(std::move(one));
    }
    (void)rig.commit();
    EXPECT_FALSE(rig.listed(query).empty());  // What was changed is in the indexes by then.
    const std::uint64_t before = rig.term().look().estate.rows_visited();
    EXPECT_FALSE(rig.listed(query).empty());
    return rig.term().look().estate.rows_visited() - before;
}

TEST_F(Owned, InstancesAreFoundWithoutALookAtOthers) {
    for (const char* query : {"owner=job/j-1", "owner=job"}) {
        const std::uint64_t few = rows_beside(8, query);
        EXPECT_GT(few, 0u) << "they are counted";
        EXPECT_EQ(few, rows_beside(800, query)) << query;
    }
}

TEST_F(Owned, InstancesAreDeletedTogetherAndNothingElseIs) {
    const std::vector<std::string> owned = {made("a-0", job), made("a-1", job), made("a-2", job),
                                            made("a-3", job)};
    const std::vector<std::string> others = {made("own", std::nullopt), made("b-0", other_job),
                                             made("s-0", service)};
    end(owned[1], InstanceEvent::fail);
    enter_phase(owned[2], InstancePhase::running);
    const std::size_t commits = store.done.size();
    delete_owned(desk(), job);
    (void)commit();
    EXPECT_EQ(store.done.size(), commits + 1);
    for (const std::string& id : owned) {
        EXPECT_TRUE(look(id).deleted) << look(id).caller_id;
        EXPECT_TRUE(is_final(look(id).phase) || look(id).phase == InstancePhase::stopping);
    }
    EXPECT_EQ(look(owned[2]).message, "job j-1 was deleted");
    for (const std::string& id : others) {
        EXPECT_FALSE(look(id).deleted) << look(id).caller_id;
        EXPECT_EQ(look(id).phase, InstancePhase::placed);
    }
    delete_owned(desk(), job);
    EXPECT_TRUE(term().look().estate.unchanged()) << "again: it is done";
    EXPECT_EQ(call("acme", "DELETE", "/gpu-instances/a-0").status, 200) << "its owner has deleted it";
    EXPECT_EQ(problem(call("acme", "POST", "/v1/instances/a-0/stop", "{}")), "instance_ended");
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("a-1")).status, 200) << "its name is free";
}

TEST_F(Owned, InstancesKeepTheirOwnerWhenAnotherMasterLeads) {
    const std::string id = made("web-0", job);
    made("own", std::nullopt);
    finish();
    begin(2);
    ASSERT_TRUE(term().estate().load(hostler::testing::try_run(loop, store.load())->value().live));
    EXPECT_EQ(look(id).owner, job);
    EXPECT_THAT(listed("owner=job/j-1"), ElementsAre("web-0"));
    EXPECT_EQ(problem(call("acme", "DELETE", "/gpu-instances/web-0")), "owned");
    delete_owned(desk(), job);
    EXPECT_TRUE(look(id).deleted);
    EXPECT_FALSE(find_instance(desk(), "acme", "own")->deleted);
}

TEST_F(Owned, TheSameRequestIsTheSameInstanceForTheSameOwnerOnly) {
    made("web-0", job);
    const auto again = [&](const std::optional<Owner>& owner) {
        const auto done = create_instance(desk(), wanted("web-0"), "digest", owner);
        return done ? *done == Started::before ? "before" : "now" : done.error().reason;
    };
    EXPECT_EQ(again(job), "before");
    EXPECT_EQ(again(other_job), "instance_exists");
    EXPECT_EQ(again(std::nullopt), "instance_exists");
    EXPECT_EQ(problem(call("acme", "POST", "/gpu-instances", start("web-0"))), "instance_exists");
    made("own", std::nullopt);
    const auto taken = create_instance(desk(), wanted("own"), "digest", job);
    EXPECT_EQ(taken.error().reason, "instance_exists") << "a caller's own does not become an owner's";
    EXPECT_TRUE(term().look().estate.unchanged());
}

TEST_F(Owned, NamesOfEndedInstancesAreFreeOnceTheyLeaveMemory) {
    const std::string id = made("web-0", job);
    end(id, InstanceEvent::fail);
    const api::Reply taken = call("acme", "POST", "/gpu-instances", start("web-0"));
    EXPECT_EQ(problem(taken), "instance_exists");
    EXPECT_THAT(taken.body, Not(HasSubstr("hostler instance delete"))) << "that would be refused";
    timers.advance(std::chrono::minutes{2});
    EXPECT_FALSE(archive_instances(desk()));
    (void)commit();
    ASSERT_EQ(term().look().estate.instances.find(id), nullptr);
    EXPECT_THAT(listed("owner=job/j-1&all=true"), ElementsAre("web-0"));
    EXPECT_EQ(call("acme", "GET", "/gpu-instances/web-0").body, R"({"state":"failed"})");
    EXPECT_EQ(problem(call("acme", "DELETE", "/gpu-instances/web-0")), "owned");
    EXPECT_EQ(problem(call("acme", "POST", "/v1/instances/web-0/retry")), "owned");
    EXPECT_EQ(call("acme", "POST", "/gpu-instances", start("web-0")).status, 200);
    EXPECT_FALSE(find_instance(desk(), "acme", "web-0")->owner);
}

TEST_F(Owned, InstancesNameTheirOwner) {
    const std::string id = made("web-0", job);
    const auto placed = std::ranges::find(store.log, "placed", &EventRecord::reason);
    ASSERT_NE(placed, store.log.end());
    EXPECT_THAT(placed->message, HasSubstr("Instance web-0 of job j-1 was placed on host h-a"));
    EXPECT_THAT(explain_instance(term().look(), look(id)).sentence, HasSubstr("It belongs to job j-1."));
    end(id, InstanceEvent::fail);
    EXPECT_THAT(explain_instance(term().look(), look(id)).would_help.value_or(""),
                HasSubstr("Change job j-1 for that"));
}

}  // namespace
}  // namespace hostler::master
