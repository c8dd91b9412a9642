// What a host does with secrets and logins that come with a start: uses them, and writes them nowhere down.
#include <gtest/gtest.h>

#include "roles/agent/agent.h"
#include "roles/agent/private_images.h"
#include "roles/agent/testing/world.h"

namespace hostler::agent {
namespace {

using namespace testing;

constexpr const char* of_acme = "r.lan:5000/acme/model:1";

struct Secrets : ::testing::Test {
    Secrets() {
        world.serve("10.201.3.5:8080");
        world.engine.images.insert(of_acme);
        world.engine.private_images[of_acme] = "opensesame";
        world.join();
    }
    bool is_written_down(std::string_view text) {
        for (const auto& [key, value] : world.journal.all())
            if (value.contains(text)) return true;
        return false;
    }
    // Starts instance `id` for the tenant and returns the outcome.
    std::string start(const std::string& id, const std::string& tenant, const std::string& password = "") {
        auto command = world.start();
        command.set_id(id);
        command.set_subject("i-" + id);
        auto& wanted = *command.mutable_start_workload();
        wanted.set_instance("i-" + id);
        wanted.set_tenant(tenant);
        wanted.set_image(of_acme);
        if (!password.empty()) {
            wanted.set_has_secrets(true);
            wanted.mutable_login()->set_server("r.lan:5000");
            wanted.mutable_login()->set_username("puller");
            wanted.mutable_login()->set_password(password);
        }
        world.master.order(command);
        world.timers.advance(10s);
        const auto* answer = world.master.answer(id);
        return !answer ? "none" : answer->state() == "done" ? "done" : answer->reason();
    }
    World world;
};

TEST_F(Secrets, AreGivenAndNotWrittenDown) {
    EXPECT_TRUE(world.master.hellos.back().takes_secrets());
    auto command = world.start();
    auto& wanted = *command.mutable_start_workload();
    wanted.set_has_secrets(true);
    auto& variable = *wanted.add_secrets();
    variable.set_variable("TOKEN");
    variable.set_value("t0k3n-of-acme");
    auto& file = *wanted.add_secrets();
    file.set_path("/run/token");
    file.set_value("f1l3-of-acme");
    bool written = false;
    world.engine.on_launch = [&](const ContainerSpec&) {
        written = is_written_down("t0k3n-of-acme") || is_written_down("f1l3-of-acme");
    };
    world.master.order(command);
    world.timers.advance(5s);
    ASSERT_NE(world.master.answer("c-1"), nullptr);
    EXPECT_EQ(world.master.answer("c-1")->state(), "done");
    const auto& spec = world.engine.specs.at("hostler-i-1");
    EXPECT_EQ(spec.environment.at("TOKEN"), "t0k3n-of-acme");
    EXPECT_EQ(spec.secret_files, (std::vector<SecretFileSpec>{{"/run/token", "f1l3-of-acme"}}));
    for (const auto& [name, value] : spec.labels) EXPECT_FALSE(value.contains("of-acme")) << name;
    EXPECT_FALSE(written);
    EXPECT_FALSE(is_written_down("of-acme"));
}

TEST_F(Secrets, AStartThatABeginningHasLostThemAsksForAnother) {
    auto command = world.start();
    auto& wanted = *command.mutable_start_workload();
    wanted.set_has_secrets(true);
    wanted.add_secrets()->set_variable("TOKEN");
    world.engine.pull_hangs = true;
    world.master.order(command);
    world.timers.advance(1s);
    EXPECT_EQ(world.master.answer("c-1"), nullptr);
    world.engine.pull_hangs = false;
    world.crash();
    world.boot();
    world.timers.advance(5s);
    const auto* answer = world.master.answer("c-1");
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->reason(), "secrets_lost");
    EXPECT_TRUE(world.engine.containers.empty()) << "it did not start without";
    command.set_id("c-2");
    world.master.order(command);
    world.timers.advance(5s);
    ASSERT_NE(world.master.answer("c-2"), nullptr);
    EXPECT_EQ(world.master.answer("c-2")->state(), "done");
}

TEST_F(Secrets, AnImageThatCameByALoginIsNobodyElses) {
    EXPECT_EQ(start("1", "globex"), "image_unauthorized");
    EXPECT_EQ(start("2", "acme", "wrong"), "image_unauthorized");
    ASSERT_EQ(start("3", "acme", "opensesame"), "done");
    EXPECT_TRUE(world.engine.present.contains(of_acme));
    EXPECT_EQ(start("4", "globex"), "image_unauthorized") << "though it lies here";
    EXPECT_EQ(start("5", "globex", "wrong"), "image_unauthorized");
    EXPECT_EQ(start("6", "acme"), "done") << "it has been let in";
    world.crash();
    world.boot();
    world.timers.advance(5s);
    EXPECT_EQ(start("7", "globex"), "image_unauthorized") << "nor after the agent's end";
    EXPECT_EQ(start("8", "globex", "opensesame"), "done") << "by a login of its own";
    EXPECT_EQ(start("9", "globex"), "done");
    EXPECT_FALSE(is_written_down("opensesame"));
    world.engine.private_images.clear();
    EXPECT_EQ(start("10", "initech"), "done") << "its registry gives it to everybody by now";
    const auto asked = world.engine.asked.size();
    EXPECT_EQ(start("11", "umbrella"), "done");
    EXPECT_EQ(world.engine.asked.size(), asked) << "which is remembered";
}

TEST(PrivateImages, AreClosedByRepository) {
    EXPECT_EQ(repository_of("nginx"), "docker.io/library/nginx");
    EXPECT_EQ(repository_of("r.lan:5000/a/b:1"), "r.lan:5000/a/b");
    EXPECT_EQ(repository_of("r.lan:5000/a/b@sha256:00"), "r.lan:5000/a/b");
    EXPECT_EQ(repository_of("r.lan:5000/a/b"), "r.lan:5000/a/b");
}

}  // namespace
}  // namespace hostler::agent
