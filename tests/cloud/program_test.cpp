// How the program of an instance is run, and how long it has to end: the way through all roles.
#include <fmt/format.h>

#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// Instances of an image with busybox, whose ENTRYPOINT is `echo entry`.
class Programs : public Shared {
protected:
    static constexpr const char* image = "localhost/program:latest";

    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        Cloud& cloud = Cloud::shared();
        const std::string root = cloud.folder + "/program";
        ASSERT_EQ(
            run_program({"/bin/sh", "-c",
                         fmt::format("mkdir -p {0}/bin && cp $(command -v busybox) {0}/bin/busybox && "
                                     "for a in sh echo sleep df env; do ln -s busybox {0}/bin/$a; done && "
                                     "tar -C {0} -cf {0}.tar .",
                                     root)})
                .code,
            0);
        const Page made = cloud.web.unix_socket(
            "POST", cloud.data + "/engine/podman.sock",
            "/v1.41/images/create?fromSrc=-&repo=localhost/program&tag=latest&changes=ENV%20PATH%3D/bin&"
            "changes=ENTRYPOINT%20%5B%22/bin/echo%22%2C%22entry%22%5D",
            read_file(root + ".tar"));
        ASSERT_EQ(made.status, 200) << made.body;
    }
    Ran create(const std::string& name, std::vector<std::string> more, const std::string& spec = "small") {
        std::vector<std::string> words{"instance", "create", name,      "--tenant", "acme",
                                       "--spec",   spec,     "--image", image};
        words.insert(words.end(), more.begin(), more.end());
        return cloud.cli(std::move(words));
    }
    std::string logs(const std::string& name) {
        return cloud.cli({"instance", "logs", name, "--tenant", "acme"}).out;
    }
    bool writes(const std::string& name, const std::string& text) {
        return cloud.until([&] { return logs(name).contains(text); });
    }
};

TEST_F(Programs, AreRunAsTheirOwnerSays) {
    ASSERT_EQ(create("program-1", {"--cmd", "given"}).code, 0);
    cloud.wait_for("program-1", "stopped");
    EXPECT_EQ(logs("program-1"), "entry given\n");
    cloud.end("program-1");

    const Ran nothing = create("program-2", {"--entrypoint", ""});
    EXPECT_NE(nothing.code, 0);
    EXPECT_THAT(nothing.err, HasSubstr("cmd"));
    const Ran large = create("program-2", {"--shm-size", "1Ti", "--stop-grace", "10m"});
    EXPECT_THAT(large.err, HasSubstr("must not be larger than its memory"));
    EXPECT_THAT(large.err, HasSubstr("must be at most 300 s"));

    // Of 256Mi of memory and one CPU.
    ASSERT_EQ(create("program-2", {"--entrypoint", "sh -c", "--cmd",
                                   "'df -k /dev/shm; env; echo \"process $$\"; exec sleep 1000'"})
                  .code,
              0);
    ASSERT_TRUE(writes("program-2", "process ")) << logs("program-2");
    EXPECT_THAT(logs("program-2"), HasSubstr(" 131072 "));
    EXPECT_THAT(logs("program-2"), HasSubstr("OMP_NUM_THREADS=1\n"));
    EXPECT_THAT(logs("program-2"), ::testing::Not(HasSubstr("process 1\n")));
    EXPECT_EQ(cloud.instance("program-2").at("/shmSize"), "128Mi");
    EXPECT_EQ(cloud.instance("program-2").at("/stopGraceSeconds"), "30");
    cloud.end("program-2");

    ASSERT_EQ(create("program-3", {"--entrypoint", "", "--no-init", "--shm-size", "16Mi", "--cmd",
                                   "sh -c 'df -k /dev/shm; echo \"process $$\"'"})
                  .code,
              0);
    cloud.wait_for("program-3", "stopped");
    EXPECT_THAT(logs("program-3"), HasSubstr(" 16384 "));
    EXPECT_THAT(logs("program-3"), HasSubstr("process 1\n"));
    cloud.end("program-3");
}

TEST_F(Programs, HaveTheTimeToEndThatTheirOwnerGave) {
    // It saves for 7 s, which is more than the 5 s that there once were.
    ASSERT_EQ(create("saves-1",
                     {"--entrypoint", "sh -c", "--cmd",
                      "'trap \"sleep 7; echo saved; exit 0\" TERM; echo up; while :; do sleep 0.2; done'"})
                  .code,
              0);
    ASSERT_TRUE(writes("saves-1", "up"));
    ASSERT_EQ(cloud.cli({"instance", "stop", "saves-1", "--tenant", "acme", "--wait"}).code, 0);
    EXPECT_THAT(logs("saves-1"), HasSubstr("saved"));
    EXPECT_EQ(cloud.instance("saves-1").at("/runs/0/killedAfterSeconds"), "");
    cloud.end("saves-1");

    ASSERT_EQ(create("stubborn-1", {"--stop-grace", "2s", "--entrypoint", "sh -c", "--cmd",
                                    "'trap \"\" TERM; echo up; while :; do sleep 0.2; done'"})
                  .code,
              0);
    ASSERT_TRUE(writes("stubborn-1", "up"));
    ASSERT_EQ(cloud.cli({"instance", "restart", "stubborn-1", "--tenant", "acme", "--wait"}).code, 0);
    ASSERT_TRUE(cloud.until([&] {
        return cloud.instance("stubborn-1").at("/runs/0/killedAfterSeconds") == "2";
    })) << cloud.instance("stubborn-1").body;
    ASSERT_EQ(cloud.cli({"instance", "update", "stubborn-1", "--tenant", "acme", "--stop-grace", "3s"}).code,
              0)
        << "also while it runs";
    ASSERT_EQ(cloud.cli({"instance", "stop", "stubborn-1", "--tenant", "acme", "--wait"}).code, 0);
    EXPECT_EQ(cloud.instance("stubborn-1").at("/runs/1/killedAfterSeconds"), "3");
    EXPECT_THAT(cloud.cli({"instance", "explain", "stubborn-1", "--tenant", "acme"}).out,
                HasSubstr("killed after 3 s"));
    EXPECT_THAT(cloud.cli({"instance", "events", "stubborn-1", "--tenant", "acme"}).out,
                HasSubstr("SIGKILL"));
    cloud.end("stubborn-1");
}

// From its control group and network namespace into the series, where its tenant and nobody else's sees it.
TEST_F(Programs, WhatOneUsesIsASeriesOfItsTenant) {
    ASSERT_EQ(create("burns-1", {"--entrypoint", "sh -c", "--cmd", "'echo up; while :; do :; done'"}).code,
              0);
    ASSERT_TRUE(writes("burns-1", "up"));
    const auto most = [&](const std::string& query, const std::string& tenant) {
        const Page page =
            cloud.api("GET", fmt::format("/v1/series?where=workload%3Dburns-1&since=60&step=5&{}", query),
                      nullptr, cloud.tenant(tenant).key);
        EXPECT_EQ(page.status, 200) << page.body;
        std::optional<double> highest;
        if (page.status != 200) return highest;
        const json::value answer = page.json();
        for (const json::value& line : answer.at("lines").as_array())
            for (const json::value& value : line.at("values").as_array())
                if (!value.is_null()) highest = std::max(highest.value_or(0), value.to_number<double>());
        return highest;
    };
    // Of the one CPU that it may use, in thousandths.
    std::optional<double> cpu;
    EXPECT_TRUE(cloud.until(
        [&] {
            cpu = most("metric=instance_cpu", "acme");
            return cpu && *cpu > 500;
        },
        60s))
        << "at most " << cpu.value_or(-1) << " ms/s";
    EXPECT_LT(cpu.value_or(0), 1500);
    EXPECT_GT(most("metric=instance_memory&over=max", "acme").value_or(0), 0);
    EXPECT_TRUE(cloud.until(
        [&] { return most("metric=instance_network_received&over=increase", "acme").has_value(); }, 30s))
        << "it has a network";
    EXPECT_FALSE(most("metric=instance_cpu", "globex"));
    EXPECT_THAT(
        cloud.cli({"metrics", "query", "instance_cpu", "--since", "1m"}, cloud.tenant("acme").key).out,
        HasSubstr("instance_cpu_ms in ms/s"));
    cloud.end("burns-1");
}

TEST_F(Programs, AFullProcessLimitIsExplained) {
    cloud.make_stock(1, "forks", "2Gi");  // Each process takes some of it.
    ASSERT_EQ(create("forks-1",
                     {"--entrypoint", "sh -c", "--cmd",
                      "'(while :; do sleep 1000 & done) 2>/dev/null; exec sleep 1000'"},
                     "forks")
                  .code,
              0);
    const auto explained = [&] {
        return cloud.cli({"instance", "explain", "forks-1", "--tenant", "acme"}).out;
    };
    ASSERT_TRUE(cloud.until([&] { return explained().contains("processes_full"); }, 120s)) << explained();
    EXPECT_THAT(explained(), HasSubstr("of the 4096 processes and threads"));
    EXPECT_EQ(cloud.instance("forks-1").at("/reason"), "processes_full");
    cloud.end("forks-1");
    ASSERT_TRUE(cloud.until([&] { return cloud.stock("forks").at("/idle") == "1"; }));
    EXPECT_EQ(cloud.api("DELETE", "/stocks?number=1&operationID=forks-2&specName=forks").status, 200);
}

TEST_F(Programs, ACommandThatIsNotThereIsExplained) {
    ASSERT_EQ(create("nothing-1", {"--entrypoint", "", "--cmd", "no-such-command"}).code, 0);
    cloud.wait_for("nothing-1", "failed");
    EXPECT_EQ(cloud.instance("nothing-1").at("/reason"), "image_command")
        << cloud.cli({"logs", "nothing-1", "--tenant", "acme"}).out;
    EXPECT_THAT(cloud.instance("nothing-1").at("/message"),
                HasSubstr("its command no-such-command is not in it"));
    EXPECT_EQ(cloud.cli({"instance", "delete", "nothing-1", "--tenant", "acme"}).code, 0);
}

}  // namespace
}  // namespace hostler::cloud
