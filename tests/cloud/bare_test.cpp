// Jobs that run programs of the host without containers: who may, what they see, and that nothing of them
// stays.
#include <fmt/format.h>

#include <filesystem>

#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

// `bare`: a tenant that may run programs.
class BarePrograms : public Shared {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        Cloud& cloud = Cloud::shared();
        EXPECT_EQ(cloud.cli({"tenant", "create", "bare", "--programs"}).code, 0);
    }
    Ran run(const std::string& script, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"run", "--program", "--tenant-id", "bare", "--spec", "small"};
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {"--", "/bin/sh", "-c", script});
        return cloud.cli(std::move(words));
    }
    void submit(const std::string& name, const std::string& script, json::object more = {}) {
        json::object body{{"name", name},          {"tenantID", "bare"},
                          {"program", true},       {"specName", "small"},
                          {"stopGraceSeconds", 1}, {"cmd", fmt::format("/bin/sh -c '{}'", script)}};
        for (auto& [key, value] : more) body[key] = value;
        const Page made = cloud.api("POST", "/v1/jobs", body);
        ASSERT_EQ(made.status, 201) << made.body;
    }
    Page job(const std::string& name) {
        return cloud.api("GET", fmt::format("/v1/jobs/{}?tenantID=bare", name));
    }
    // What programs of this cloud have on this machine: processes, mounts, control groups, folders.
    std::string left() {
        return run_program(
                   {"/bin/sh", "-c",
                    fmt::format(
                        "ps -eo uid,args | awk '$1 >= 1800000000 && $1 < 1800008192'; "
                        "ps -eo args | grep '[h]old-program'; grep -h {0}/hosts/.*/programs /proc/mounts; "
                        "find /sys/fs/cgroup -path '*hostler-programs/*' -type d 2>/dev/null; "
                        "ls {0}/hosts/*/programs/programs 2>/dev/null | grep -v ':$' | grep .; true",
                        cloud.data)})
            .out;
    }
};

TEST_F(BarePrograms, AreForTenantsThatMay) {
    cloud.tenant("acme");
    const Ran refused =
        cloud.cli({"run", "--program", "--tenant-id", "acme", "--spec", "small", "--", "/bin/true"});
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.err, HasSubstr("hostler tenant edit acme --programs"));
    const Ran both = cloud.cli({"job", "submit", "both", "--program", "--image", "demo", "--gang", "--spec",
                                "small", "--tenant", "bare"});
    EXPECT_NE(both.code, 0);
    for (const char* field : {"image", "gang", "cmd"}) EXPECT_THAT(both.err, HasSubstr(field));
}

TEST_F(BarePrograms, RunAsNobodyKnownAndSeeTheirDevicesAlone) {
    const Ran ran =
        run("echo user $(id -u) of $HOSTLER_JOB_NAME; grep CapEff /proc/self/status; "
            "echo \"gpu:$HOSTLER_GPUS\"; ls /home | wc -l; "
            "touch /usr/x 2>/dev/null || echo read-only; echo kept > /tmp/x && cat /tmp/x; "
            "cat " +
            cloud.data + "/master/store.db >/dev/null 2>&1 || echo hidden; exit 5");
    EXPECT_EQ(ran.code, 5) << ran.err;
    EXPECT_THAT(ran.out, ContainsRegex("user 18000[0-9]+ of sh-"));
    EXPECT_THAT(ran.out, HasSubstr("CapEff:\t0000000000000000"));
    EXPECT_THAT(ran.out, ContainsRegex("gpu:GPU-[0-9a-f-]+\n0\nread-only\nkept\nhidden\n"));
    EXPECT_EQ(left(), "");
}

TEST_F(BarePrograms, EndWholeHoweverTheyResist) {
    submit("resists",
           R"(trap "" TERM; setsid sleep 1000 & setsid sh -c "trap : TERM; sleep 1000" & wait; sleep 1000)");
    ASSERT_TRUE(cloud.until([&] { return job("resists").at("/state") == "running"; })) << job("resists").body;
    EXPECT_NE(left(), "") << "this sees nothing at all";
    EXPECT_EQ(cloud.cli({"job", "cancel", "resists", "--tenant", "bare", "--yes"}).code, 0);
    EXPECT_TRUE(cloud.until([&] { return left().empty(); }, 60s)) << left();
    submit("bomb", "bomb() { bomb | bomb & }; bomb; sleep 1000", {{"timeLimitSeconds", 3}});
    EXPECT_TRUE(cloud.until([&] { return job("bomb").at("/state") == "failed"; }, 60s)) << job("bomb").body;
    EXPECT_THAT(job("bomb").at("/reason"), AnyOf("time_limit", "out_of_memory"));
    EXPECT_TRUE(cloud.until([&] { return left().empty(); }, 60s)) << left();
}

TEST_F(BarePrograms, OfAnArrayOf200NothingStaysThoughMasterAndAgentDie) {
    submit("many", "sleep 0.2; echo index $HOSTLER_ARRAY_INDEX", {{"array", "0-199"}});
    ASSERT_TRUE(cloud.until([&] { return std::stoi("0" + job("many").at("/succeeded")) >= 20; }, 120s))
        << job("many").body;
    const pid_t agent = cloud.kill9("host-nj-1");
    cloud.wait_for_another("host-nj-1", agent);
    const pid_t master = cloud.kill9("master");
    cloud.wait_for_another("master", master);
    Page done;
    EXPECT_TRUE(cloud.until(
        [&] {
            done = job("many");
            return done.at("/state") == "succeeded";
        },
        240s))
        << done.body;
    EXPECT_EQ(done.at("/succeeded"), "200");
    for (const std::string index : {"0", "77", "199"})
        EXPECT_EQ(cloud.cli({"job", "logs", "many", "--tenant", "bare", "--index", index}).out,
                  "index " + index + "\n");
    EXPECT_TRUE(cloud.until([&] { return left().empty(); }, 30s)) << left();
}

}  // namespace
}  // namespace hostler::cloud
