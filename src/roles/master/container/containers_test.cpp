#include "roles/master/container/containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_instance.h"
#include "roles/master/instance/auto_stop.h"
#include "roles/master/instance/explain.h"
#include "roles/master/instance/view.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::HasSubstr;

constexpr std::int64_t container_gib = std::int64_t{1} << 30;

struct Container : ::testing::Test, DeskRig {
    Container() {
        a = host("a");
        HOSTLER_ASSERT(stock(4));  // Of 16Gi each.
    }
    // "field: what", of each that is wrong.
    std::vector<std::string> wrong(const api::CreateInstance& wanted) {
        const auto made = start(wanted);
        std::vector<std::string> all;
        if (!made)
            for (const FieldError& one : made.error().fields) all.push_back(one.path + ": " + one.message);
        return all;
    }
    // Its host has stopped it.
    void stopped(const std::string& id, std::int64_t killed_after_s = 0, std::uint64_t generation = 1) {
        ASSERT_TRUE(halt_instance(desk, id, "stopped_by_owner", "its owner stopped it"));
        said[a].erase(id);
        CommandAnswer done{.done = true, .absent = true};
        if (killed_after_s > 0) done.killed_generation = generation, done.killed_after_s = killed_after_s;
        answer(id, done);
        ASSERT_EQ(instance(id).phase, InstancePhase::resting);
    }
    std::string a;
};

TEST_F(Container, WhatItsOwnerAsksForIsChecked) {
    auto wanted = request("one");
    wanted.entrypoint = "tini -- 'my program'";
    wanted.shm_size = "4Gi";
    wanted.stop_grace_seconds = 120;
    wanted.no_init = true;
    ASSERT_TRUE(start(wanted));
    const Instance& made = *find_instance(desk, "acme", "one");
    EXPECT_TRUE(made.spec.replaces_entrypoint && made.spec.no_init);
    EXPECT_EQ(made.spec.entrypoint, (std::vector<std::string>{"tini", "--", "my program"}));
    EXPECT_EQ(made.spec.shm_bytes, 4 * container_gib);
    EXPECT_EQ(view(desk, made).shm_size, "4Gi");
    EXPECT_EQ(view(desk, made).stop_grace_seconds, 120);

    wanted = request("two");
    wanted.entrypoint = "'half";
    wanted.shm_size = "17Gi";
    wanted.stop_grace_seconds = 301;
    EXPECT_THAT(
        wrong(wanted),
        ::testing::ElementsAre(HasSubstr("entrypoint: "), "shmSize: must not be larger than its memory, 16Gi",
                               "stopGraceSeconds: must be at most 300 s here (--stop-grace-max)"));
    wanted = request("two");
    wanted.shm_size = "-1";
    EXPECT_THAT(wrong(wanted), ::testing::ElementsAre("shmSize: must not be negative"));
    wanted.shm_size.reset();
    wanted.entrypoint = "";
    EXPECT_THAT(wrong(wanted), ::testing::ElementsAre(HasSubstr("template.cmd: is required")));
    wanted.template_.cmd = "sleep 1";
    EXPECT_TRUE(start(wanted));
    EXPECT_TRUE(find_instance(desk, "acme", "two")->spec.entrypoint.empty());
}

TEST_F(Container, SharedMemoryIsHalfOfItsMemory) {
    const std::string id = running("one");
    EXPECT_EQ(shm_bytes_of(desk, instance(id)), 8 * container_gib);
    estate.instances.edit(id).spec.shm_bytes = 20 * container_gib;
    EXPECT_EQ(shm_bytes_of(desk, instance(id)), 16 * container_gib) << "its spec became smaller";
    estate.instances.edit(id).spec.shm_bytes = 0;
    estate.claims.edit(instance(id).claim).memory_bytes = 0;
    EXPECT_EQ(shm_bytes_of(desk, instance(id)), 256 * container_gib) << "half of its host's";
}

TEST_F(Container, ItsTimeToEndMayChangeWhileItRuns) {
    const std::string id = running("one");
    EXPECT_EQ(stop_grace_of(desk, instance(id)), std::chrono::seconds{30});
    ASSERT_TRUE(update_instance(desk, id, {.instance = "one", .stop_grace_seconds = 90}));
    EXPECT_EQ(stop_grace_of(desk, instance(id)), std::chrono::seconds{90});
    EXPECT_FALSE(update_instance(desk, id, {.instance = "one", .stop_grace_seconds = 301}));
    EXPECT_EQ(update_instance(desk, id, {.instance = "one", .entrypoint = "x"}).error().reason, "still_runs");
    EXPECT_EQ(update_instance(desk, id, {.instance = "one", .shm_size = "1Gi"}).error().reason, "still_runs");
}

TEST_F(Container, WhatIsStoppedGetsAnotherEntryPoint) {
    const std::string id = running("one");
    stopped(id);
    ASSERT_TRUE(update_instance(
        desk, id, {.instance = "one", .cmd = "serve", .entrypoint = "", .shm_size = "2Gi", .no_init = true}));
    const InstanceSpec& spec = instance(id).spec;
    EXPECT_TRUE(spec.replaces_entrypoint && spec.entrypoint.empty() && spec.no_init);
    EXPECT_EQ(spec.shm_bytes, 2 * container_gib);
    EXPECT_FALSE(update_instance(desk, id, {.instance = "one", .cmd = ""})) << "nothing would be left to run";
    EXPECT_FALSE(update_instance(desk, id, {.instance = "one", .shm_size = "17Gi"}));
    ASSERT_TRUE(update_instance(desk, id, {.instance = "one", .shm_size = "0", .no_init = false}));
    EXPECT_EQ(instance(id).spec.shm_bytes, 0);
    EXPECT_FALSE(instance(id).spec.no_init);
}

TEST_F(Container, AKilledRunSaysSo) {
    const std::string id = running("one");
    pass(60);
    stopped(id, 30);
    ASSERT_EQ(instance(id).runs.size(), 1u);
    EXPECT_EQ(instance(id).runs[0].killed_after_s, 30);
    EXPECT_EQ(instance(id).runs[0].reason, "stopped_by_owner");
    const auto shown = view(desk, instance(id));
    ASSERT_EQ(shown.runs.size(), 1u);
    EXPECT_EQ(shown.runs[0].killed_after_seconds, 30);
    const auto why = explain_instance(desk, instance(id));
    EXPECT_THAT(why.sentence, HasSubstr("killed after 30 s"));
    EXPECT_THAT(why.sentence, HasSubstr("hostler instance update one --stop-grace TIME"));
}

// Its host may have said that it is gone before the answer came.
TEST_F(Container, AKilledRunThatIsOverAlreadySaysSoToo) {
    const std::string id = running("one");
    ASSERT_TRUE(restart_instance(desk, id));
    ASSERT_EQ(instance(id).runs.size(), 1u);
    said[a][id] = {.state = "running", .generation = instance(id).run_generation, .ready = true};
    answer(id, {.done = true, .killed_generation = 1, .killed_after_s = 45});
    EXPECT_EQ(instance(id).runs.size(), 1u);
    EXPECT_EQ(instance(id).runs[0].killed_after_s, 45);
    EXPECT_EQ(instance(id).runs[0].reason, "restarted");
    stopped(id);
    ASSERT_EQ(instance(id).runs.size(), 2u);
    EXPECT_EQ(instance(id).runs[1].killed_after_s, 0);
    EXPECT_THAT(explain_instance(desk, instance(id)).sentence, ::testing::Not(HasSubstr("killed")));
}

TEST_F(Container, AFullProcessLimitIsExplained) {
    const std::string id = running("one");
    const auto report_processes = [&](int now) {
        said[a][id].processes = now;
        said[a][id].processes_max = 4096;
        report(a);
    };
    report_processes(4000);
    EXPECT_FALSE(full_processes(desk, instance(id)));
    EXPECT_EQ(view(desk, instance(id)).reason, "running");
    report_processes(4090);
    EXPECT_EQ(view(desk, instance(id)).reason, "processes_full");
    const auto why = explain_instance(desk, instance(id));
    EXPECT_EQ(why.token, "processes_full");
    EXPECT_THAT(why.sentence, HasSubstr("4090 of the 4096 processes and threads"));
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("hostler instance restart one"));
    report_processes(12);
    EXPECT_EQ(explain_instance(desk, instance(id)).token, "running");
}

}  // namespace
}  // namespace hostler::master
