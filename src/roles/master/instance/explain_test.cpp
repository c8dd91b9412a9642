#include "roles/master/instance/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types_host.h"
#include "api/types_instance.h"
#include "roles/master/host/view.h"
#include "roles/master/instance/view.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using testing::DeskRig;
using ::testing::HasSubstr;
using ::testing::Not;

struct Explain : ::testing::Test, DeskRig {
    Explain() {
        a = host("a");
        HOSTLER_ASSERT(stock(1));
    }
    std::string failed(const std::string& name, const std::string& reason) {
        const std::string id = started(name);
        answer(id, {.code = "invalid", .reason = reason, .message = "it failed", .absent = true});
        HOSTLER_ASSERT(instance(id).phase == InstancePhase::failed);
        return id;
    }
    std::string help(const std::string& id) {
        return explain_instance(desk, instance(id)).would_help.value_or("");
    }
    std::string a;
};

TEST_F(Explain, ARunningInstanceWhoseGpuIsDeadSaysSo) {
    const std::string id = running("one");
    const std::string gpu = estate.claims.at(instance(id).claim).gpus.front();
    EXPECT_THAT(explain_instance(desk, instance(id)).sentence, HasSubstr("It is running"));
    estate.hosts.edit(a).gpu_states[gpu] = {
        .health = GpuHealth::faulty, .reason = "XID 79: it has fallen off the bus", .remedy = Remedy::reboot};
    const auto why = explain_instance(desk, instance(id));
    EXPECT_EQ(why.token, "gpu_faulty");
    EXPECT_THAT(why.sentence, HasSubstr("GPU " + gpu + " is faulty: XID 79: it has fallen off the bus"));
    ASSERT_EQ(why.blocking.size(), 1u);
    EXPECT_THAT(why.would_help.value_or(""), HasSubstr("hostler instance stop one --wait"));
    const auto shown = view(desk, instance(id));
    EXPECT_EQ(shown.state, api::InstanceState::running) << "its container runs";
    EXPECT_EQ(shown.reason, "gpu_faulty");
    EXPECT_THAT(shown.message, HasSubstr("XID 79"));
    estate.hosts.edit(a).gpu_states[gpu].health = GpuHealth::degraded;
    EXPECT_EQ(view(desk, instance(id)).reason, "running") << "it works";
}

TEST_F(Explain, WhatWouldHelpLeadsSomewhere) {
    for (const char* reason :
         {"image_unavailable", "registry_unreachable", "image_architecture", "image_user", "image_command"}) {
        const std::string help_text = help(failed(reason, reason));
        EXPECT_THAT(help_text, HasSubstr("hostler instance update " + std::string{reason} + " --image"));
        EXPECT_THAT(help_text, HasSubstr("hostler instance retry"));
        EXPECT_THAT(help_text, Not(HasSubstr("logs"))) << "it wrote none";
    }
    const std::string refused = help(failed("refused", "registry_refused"));
    EXPECT_THAT(refused, HasSubstr("hostler instance update refused --image"));
    EXPECT_THAT(refused, HasSubstr("--registries"));
    EXPECT_THAT(refused, HasSubstr("hostler instance retry refused"));
    EXPECT_THAT(help(failed("untrusted", "registry_untrusted")),
                HasSubstr("let its host's engine trust the registry"));
    EXPECT_THAT(help(failed("full", "disk_full")), HasSubstr("make room on the disk of its host"));
    const std::string closed = help(failed("closed", "gpu_unreachable"));
    EXPECT_THAT(closed, HasSubstr("cannot open their GPUs"));
    EXPECT_THAT(closed, HasSubstr("hostler instance retry closed"));
    EXPECT_THAT(closed, Not(HasSubstr("logs")));
    EXPECT_THAT(help(failed("many", "private_images_max")),
                HasSubstr("hostler instance update many --image"));
    EXPECT_THAT(help(failed("launch", "launch_failed")), Not(HasSubstr("logs")));
    const std::string id = running("ran");
    said[a][id] = {.state = "exited", .generation = 1, .exit_code = 3};
    report(a);
    EXPECT_THAT(help(id), HasSubstr("hostler instance logs ran"));
    estate.instances.edit(id).exit_code = 127;
    EXPECT_THAT(help(id), HasSubstr("hostler instance update ran --cmd COMMAND"));
    delete_instance(desk, id, "test");
    EXPECT_THAT(help(id), HasSubstr("the name ran is free"));
}

TEST_F(Explain, AProbedInstanceSaysHowLongItsProbesHave) {
    auto wanted = request("one");
    wanted.template_.ports = {{.port = 80, .is_probe = true}};
    ASSERT_TRUE(start(wanted));
    const std::string id = find_instance(desk, "acme", "one")->id;
    note_progress(desk, a, command_of(id)->id, "probing", "port 80: connection refused");
    pass(40);
    const auto why = explain_instance(desk, instance(id));
    EXPECT_THAT(why.sentence, HasSubstr("port 80: connection refused"));
    EXPECT_THAT(why.sentence, HasSubstr("asked for 40 s; after 300 s"));
}

TEST_F(Explain, MoreStockThanFitsSaysHowMuchWouldAndHowMuchIsMissing) {
    const auto refused = stock(100);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("3 of 100 slots fit"));
    EXPECT_THAT(refused.error().help, ::testing::StartsWith("Ask for 3. Room for 97 more is needed"));
}

TEST_F(Explain, NobodyButAnOperatorUncordonsAHost) {
    for (int i = 0; i < 3; ++i) started("n" + std::to_string(i));
    estate.hosts.edit(a).cordoned = true;
    const auto refused = start(request("one"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().help, HasSubstr("ave an operator uncordon host h-a"));
}

TEST_F(Explain, AHostWithoutAnEngineOrGpusIsNotSimplyReady) {
    EXPECT_EQ(view(desk, estate.hosts.at(a)).state, api::HostState::ready);
    estate.hosts.edit(a).engine_error = "the engine's socket refuses";
    EXPECT_EQ(view(desk, estate.hosts.at(a)).state, api::HostState::faulty);
    EXPECT_EQ(view(desk, estate.hosts.at(a)).reason, "engine_down");
    const std::string bare = host("bare", "nj", 0);
    EXPECT_EQ(view(desk, estate.hosts.at(bare)).reason, "no_gpus");
    EXPECT_THAT(view(desk, estate.hosts.at(bare)).message, HasSubstr("it has no GPUs"));
    const auto refused = stock(1);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("has too few GPUs"));
    EXPECT_THAT(refused.error().message, Not(HasSubstr("another model")));
}

}  // namespace
}  // namespace hostler::master
