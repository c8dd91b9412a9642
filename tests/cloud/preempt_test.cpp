// A job that gives its room to another one, and continues from its checkpoint, though agent and master die
// meanwhile.
#include <fmt/format.h>

#include <fstream>

#include "jobs.h"

namespace hostler::cloud {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// The first attempt counts until it is preempted, and writes its number only after SIGTERM, once the test
// lets it: SIGKILL loses the number. The second one counts a little further.
constexpr const char* counting = R"(
at=$(cat /data/step || echo 0)
echo begins at $at
to=1000000
[ $HOSTLER_JOB_ATTEMPT = 1 ] || to=$((at + 10))
trap "notice=1" TERM
while [ $at -lt $to ]; do
    at=$((at + 1))
    echo step $at
    sleep 0.1
    if [ "$notice" ]; then
        echo $at > /data/notice
        until [ -e /data/may_write ]; do sleep 0.1; done
        echo $at > /data/step
        exit 0
    fi
done)";

class Preempted : public ::testing::Test, protected Jobs {
protected:
    static constexpr const char* gpus_of_host = "all-of-a-host";

    static void SetUpTestSuite() {
        one = std::make_unique<Cloud>(std::vector<std::string>{"--job-min-run", "1"});
        make_image(*one, "count", "sh echo sleep cat");
        const Page made = one->api("POST", "/v1/specs",
                                   {{"name", gpus_of_host},
                                    {"cpu", "1"},
                                    {"memory", "256Mi"},
                                    {"gpuType", "H100 SXM5 80GB"},
                                    {"gpuNum", 8}});
        ASSERT_EQ(made.status / 100, 2) << made.body;
    }
    static void TearDownTestSuite() { one.reset(); }
    Preempted() : Jobs{*one, "localhost/count:latest"} {}

    // In the zone of one host, of which each takes all GPUs.
    void submit_there(const std::string& name, const std::string& script, json::object more) {
        more["specName"] = gpus_of_host;
        more["zone"] = "nj";
        submit(name, script, std::move(more));
    }
    // The folder that containers have as the cloud's only volume; "": there is none so far.
    std::string volume() const {
        for (const auto& host : fs::directory_iterator{cloud.data + "/hosts"})
            for (const auto& volume : fs::directory_iterator{host.path() / "volumes"})
                return (volume.path() / "fs/data").string();
        return {};
    }
    std::string seen_at() {  // When the host reported last.
        const Page hosts = cloud.api("GET", "/v1/hosts?limit=100");
        for (const json::value& host : hosts.json().at("items").as_array())
            if (at(host, "/name") == "nj-1") return at(host, "/seenAt");
        return {};
    }
    // The numbers of "step N" in what an attempt wrote.
    std::vector<int> steps(const std::string& attempt) {
        std::vector<int> all;
        for (const std::string& line : lines(logs("low", {"--attempt", attempt})))
            if (line.starts_with("step ")) all.push_back(std::stoi(line.substr(5)));
        return all;
    }

    static std::unique_ptr<Cloud> one;
    Cloud& cloud = *one;
};
std::unique_ptr<Cloud> Preempted::one;

TEST_F(Preempted, ContinuesFromItsCheckpointThoughAgentAndMasterDie) {
    ASSERT_EQ(
        cloud.api("POST", "/v1/volumes", {{"name", "kept"}, {"size", "300Mi"}, {"tenantID", "acme"}}).status,
        201);
    submit_there("low", counting,
                 {{"volumes", json::array{json::object{{"name", "kept"}, {"mountPath", "/data"}}}},
                  {"stopGraceSeconds", 120}});
    wait_for("low", "running");
    submit_there("high", "echo begun; sleep 4; echo ended", {{"priority", 5}});

    // The agent dies during the notice.
    ASSERT_TRUE(cloud.until([&] { return !read_file(volume() + "/notice").empty(); }, 60s))
        << job("low").body << job("high").body;
    EXPECT_EQ(job("low").at("/state"), "preempting");
    EXPECT_EQ(job("high").at("/state"), "pending");
    const pid_t agent = cloud.kill9("host-nj-1");
    cloud.wait_for_another("host-nj-1", agent);
    const std::string seen = seen_at();
    EXPECT_TRUE(cloud.until([&] { return seen_at() > seen; }, 30s)) << "the agent is back";
    (void)cloud.web.go(sleep(*cloud.web.timers, 2s));
    const Page waits = job("low");
    EXPECT_EQ(waits.at("/state"), "preempting") << "it has two minutes";
    EXPECT_EQ(job("high").at("/state"), "pending");
    std::ofstream{volume() + "/may_write"} << "now\n";

    // The master dies while the other one runs.
    wait_for("high", "running");
    EXPECT_EQ(job("low").at("/state"), "pending");
    cloud.wait_for_another("master", cloud.kill9("master"));
    const Page high = wait_for("high", "succeeded");
    EXPECT_EQ(logs("high"), "begun\nended\n") << "it ran once";
    EXPECT_EQ(high.json().at("ends").as_array().size(), 1u);

    const Page low = wait_for("low", "succeeded");
    EXPECT_EQ(low.at("/exitCode"), "0");
    ASSERT_EQ(low.json().at("ends").as_array().size(), 2u) << low.body;
    EXPECT_EQ(low.at("/ends/0/reason"), "preempted");
    EXPECT_EQ(low.at("/ends/1/reason"), "completed");
    EXPECT_EQ(low.at("/ends/1/attempt"), "2");
    EXPECT_GE(low.at("/ends/1/startedAt"), high.at("/endedAt"));
    const std::vector<int> first = steps("1"), second = steps("2");
    EXPECT_EQ(second.size(), 10u);
    std::vector<int> all = first, wanted;
    all.insert(all.end(), second.begin(), second.end());
    for (int step = 1; step <= std::ssize(all); ++step) wanted.push_back(step);
    EXPECT_EQ(all, wanted) << "none is lost, and none is done twice";

    // Nothing of both stays.
    expect_gone(low), expect_gone(high);
    Page deleted;  // Refused until the host has said that nothing uses it.
    EXPECT_TRUE(cloud.until([&] {
        deleted = cloud.api("DELETE", "/v1/volumes/kept?tenantID=acme");
        return deleted.status / 100 == 2 || deleted.at("/code") != "volume_in_use";
    }));
    EXPECT_EQ(deleted.status / 100, 2) << deleted.body;
    EXPECT_TRUE(cloud.until([&] { return cloud.gpus_free() == 16; }));
    EXPECT_TRUE(cloud.until([&] { return cloud.networks().empty(); }));
    EXPECT_TRUE(cloud.until([&] { return volume().empty(); }));
}

}  // namespace
}  // namespace hostler::cloud
