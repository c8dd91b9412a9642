// What instances write, as the command line shows it, with real containers.
#include <fstream>

#include "adapters/docker/image.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::EndsWith;

constexpr const char* box_image = "localhost/hostler-cloud-box";

// What `seq` writes.
std::string numbers(int last, int first = 1) {
    std::string text;
    for (int i = first; i <= last; ++i) text += fmt::format("{}\n", i);
    return text;
}

class Logs : public Shared {
protected:
    static void SetUpTestSuite() {
        Shared::SetUpTestSuite();
        Cloud& cloud = Cloud::shared();
        std::ifstream file{"/bin/busybox", std::ios::binary};
        ASSERT_TRUE(file) << "busybox-static is needed";
        const std::string program{std::istreambuf_iterator<char>{file}, {}};
        const Page made = cloud.web.unix_socket("POST", cloud.engine_socket,
                                                fmt::format("/images/create?fromSrc=-&repo={}", box_image),
                                                docker::rootfs_of_program("/busybox", program));
        ASSERT_EQ(made.status, 200) << made.body;
    }
    Page begin(const std::string& id, const std::string& script) {
        const Page begun = cloud.begin({.id = id,
                                        .image = box_image,
                                        .cmd = fmt::format("/busybox sh -c \"{}\"", script),
                                        .probe = false});
        EXPECT_EQ(begun.status, 200) << begun.body;
        return begun;
    }
};

TEST_F(Logs, TheEndOfManyLinesIsShownAlsoOnceTheContainerIsGone) {
    begin("writer-1", "/busybox seq 100000; echo WHY; exit 1");
    const Page failed = cloud.wait_for("writer-1", "failed");
    const std::string last = numbers(100'000, 99'802) + "WHY\n";
    EXPECT_EQ(cloud.cli({"logs", "writer-1"}).out, last);
    EXPECT_TRUE(cloud.until([&] { return cloud.containers(failed.at("/id")).empty(); }));
    const Ran kept = cloud.cli({"logs", "writer-1"});
    EXPECT_EQ(kept.out, last) << kept.err;
    EXPECT_EQ(cloud.api("GET", "/v1/instances/writer-1/logs?tenantID=acme").at("/truncated"), "true");
    EXPECT_THAT(cloud.cli({"logs", "writer-1", "--since", "10m", "-n", "10000"}).out, EndsWith(last));
    EXPECT_EQ(cloud.api("DELETE", "/gpu-instances/writer-1?tenantID=acme").status, 200);
}

TEST_F(Logs, ThatAreLongDoNotHoldUpAStop) {
    begin("writer-2",
          "trap 'exit 0' TERM; /busybox seq 100000; echo ready; while :; do /busybox sleep 1 & wait; done");
    cloud.wait_for("writer-2", "running");
    EXPECT_TRUE(cloud.until([&] { return cloud.cli({"logs", "writer-2", "-n", "1"}).out == "ready\n"; }));
    const auto begun = std::chrono::steady_clock::now();
    cloud.end("writer-2");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
}

// Byte by byte: lines of 8 KiB pieces, a bar that has no line break, and what is not UTF-8.
TEST_F(Logs, AFollowerIsGivenEveryByteOnce) {
    begin("writer-3",
          "for i in 1 2; do /busybox seq 3000; /busybox sleep 1; done; /busybox head -c 20000 /dev/zero | "
          "/busybox tr '\\\\000' x; printf '\\\\n10%%\\\\r'; /busybox sleep 1; printf "
          "'20%%\\\\r\\\\377\\\\303'; "
          "/busybox sleep 3");
    cloud.wait_for("writer-3", "running");
    const Ran followed = cloud.cli({"logs", "-f", "-n", "10000", "--since", "10m", "writer-3"});
    EXPECT_EQ(followed.code, 0) << followed.err;
    EXPECT_TRUE(followed.out ==
                numbers(3'000) + numbers(3'000) + std::string(20'000, 'x') + "\n10%\r20%\r\xff\xc3")
        << followed.out.size();
    EXPECT_EQ(followed.err, "instance/writer-3 does not run\n");
    cloud.end("writer-3");
}

TEST_F(Logs, AProgressBarIsShownWhileItGrows) {
    begin("writer-4", "printf '10%%'; trap 'exit 0' TERM; while :; do /busybox sleep 1 & wait; done");
    EXPECT_TRUE(cloud.until([&] { return cloud.cli({"logs", "writer-4"}).out == "10%"; }, 10s));
    cloud.end("writer-4");
}

}  // namespace
}  // namespace hostler::cloud
