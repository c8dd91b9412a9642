// Volumes that end: full inside a real container, grown under it, shared, and there after everything was
// killed.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "cloud.h"

namespace hostler::cloud {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SizedVolume : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        one = std::make_unique<Cloud>();
        one->make_stock(4);
    }
    static void TearDownTestSuite() { one.reset(); }
    void make(const std::string& name, const std::string& bytes = "300Mi") {
        const Page made =
            cloud.api("POST", "/v1/volumes", {{"name", name}, {"size", bytes}, {"tenantID", "acme"}});
        ASSERT_EQ(made.status, 201) << made.body;
    }
    Page volume(const std::string& name) {
        return cloud.api("GET", "/v1/volumes/" + name + "?tenantID=acme");
    }
    Page resize(const std::string& name, const std::string& bytes) {
        return cloud.api("PATCH", "/v1/volumes/" + name, {{"size", bytes}, {"tenantID", "acme"}});
    }
    Page done(const Page& operation) {
        Page now;
        EXPECT_TRUE(cloud.until([&] {
            now = cloud.api("GET", "/v1/operations/" + operation.at("/id"));
            return now.at("/state") != "running";
        })) << now.body;
        return now;
    }
    void remove(const std::string& name) {
        const Page removal = cloud.api("DELETE", "/v1/volumes/" + name + "?tenantID=acme");
        EXPECT_EQ(removal.status, 202) << removal.body;
        EXPECT_EQ(done(removal).at("/state"), "done");
        EXPECT_THAT(volumes_on_disk(), IsEmpty());
    }
    // Bytes in use as `volume get` has them, once they are within these bounds.
    std::int64_t used_when_told(const std::string& name, std::int64_t least,
                                std::int64_t below = std::numeric_limits<std::int64_t>::max()) {
        std::int64_t used = 0;
        EXPECT_TRUE(cloud.until([&] {
            const Ran shown = cloud.cli({"volume", "get", name, "--tenant-id", "acme", "-o", "json"});
            boost::system::error_code wrong;
            const json::value parsed = json::parse(shown.out, wrong);
            const auto* told = wrong ? nullptr : parsed.as_object().if_contains("usedBytes");
            used = told ? told->as_int64() : 0;
            return used >= least && used < below;
        })) << used;
        return used;
    }
    // The folders that containers have mounted, by the host's own names.
    std::vector<std::string> volumes_on_disk() const {
        std::vector<std::string> found;
        for (const auto& host : fs::directory_iterator{cloud.data + "/hosts"})
            for (const auto& one_there : fs::directory_iterator{host.path() / "volumes"})
                found.push_back(one_there.path() / "fs/data");
        return found;
    }
    // All but a few bytes of what is left there.
    static void fill(const std::string& folder) {
        const int file = ::open((folder + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ASSERT_GE(file, 0) << folder;
        off_t at = 0;
        for (off_t step = off_t{64} << 20; step >= 4096; step /= 2)
            while (::fallocate(file, 0, at, step) == 0) at += step;
        ::close(file);
    }
    int put(const std::string& url, const std::string& name, const std::string& what) {
        return cloud.web.fetch("PUT", url + "/files/" + name, {}, what).status;
    }
    std::string kept(const std::string& url, const std::string& name) {
        return cloud.web.fetch("GET", url + "/files/" + name).body;
    }
    static std::unique_ptr<Cloud> one;
    Cloud& cloud = *one;
};
std::unique_ptr<Cloud> SizedVolume::one;

TEST_F(SizedVolume, EndsWhereItWasAskedToAndGrowsUnderARunningInstance) {
    make("sized");
    const std::string url = cloud.run({.id = "sized-1", .storage = "sized", .mount = "/data"});
    EXPECT_EQ(put(url, "before", "kept"), 201);
    ASSERT_EQ(volumes_on_disk().size(), 1U);
    const std::string four_mebibytes = pattern(std::size_t{4} << 20);
    const std::int64_t first = used_when_told("sized", 1);
    EXPECT_EQ(put(url, "known", four_mebibytes), 201);
    // XFS takes room ahead of a file that is written and gives it back after the file is closed. So either
    // figure can hold some of it.
    constexpr std::int64_t size = 4 << 20, ahead = 1 << 20;
    used_when_told("sized", first + size - ahead, first + size + ahead);
    fill(volumes_on_disk().front());
    EXPECT_EQ(put(url, "more", four_mebibytes), 503) << "no space left, says the kernel to the container";
    EXPECT_TRUE(cloud.until([&] { return cloud.instance("sized-1").at("/reason") == "volume_full"; }))
        << volume("sized").body;
    EXPECT_THAT(cloud.cli({"explain", "sized-1"}).out, HasSubstr("hostler volume resize sized --size 600Mi"));
    EXPECT_THAT(cloud.cli({"volume", "explain", "sized", "--tenant-id", "acme"}).out,
                HasSubstr("volume_full"));
    const Page smaller = resize("sized", "299Mi");
    EXPECT_EQ(smaller.status, 400) << smaller.body;
    const Page operation = resize("sized", "400Mi");
    ASSERT_EQ(operation.status, 202) << operation.body;
    EXPECT_EQ(done(operation).at("/state"), "done");
    EXPECT_EQ(volume("sized").at("/size"), "400Mi");
    EXPECT_EQ(put(url, "more", four_mebibytes), 201);
    EXPECT_EQ(kept(url, "more"), four_mebibytes);
    EXPECT_TRUE(cloud.until([&] { return cloud.instance("sized-1").at("/reason") != "volume_full"; }));
    const Page shrunk = resize("sized", "300Mi");
    EXPECT_EQ(shrunk.status, 400);
    EXPECT_THAT(shrunk.at("/detail"), HasSubstr("has 400Mi, and volumes do not shrink"));
    const Ran typed =
        cloud.cli({"volume", "resize", "sized", "--tenant-id", "acme", "--size", "420Mi", "--wait"});
    EXPECT_EQ(typed.code, 0) << typed.err;
    EXPECT_THAT(typed.err, HasSubstr("volume/sized resized"));
    EXPECT_EQ(kept(url, "before"), "kept");
    cloud.end("sized-1");
    remove("sized");
}

TEST_F(SizedVolume, HasOneWriterOrManyReaders) {
    make("shared");
    const std::string writer = cloud.run({.id = "writer-1", .storage = "shared", .mount = "/data"});
    EXPECT_EQ(put(writer, "x", "for all"), 201);
    for (const bool read_only : {false, true}) {
        const Page refused =
            cloud.begin({.id = "writer-2", .storage = "shared", .mount = "/data", .read_only = read_only});
        EXPECT_EQ(refused.status, 409);
        EXPECT_EQ(refused.at("/code"), "volume_in_use");
        EXPECT_THAT(refused.at("/detail"), HasSubstr("for writing by instance writer-1"));
    }
    cloud.end("writer-1");
    const Wish first{.id = "reader-1", .storage = "shared", .mount = "/data", .read_only = true};
    Wish second = first;
    second.id = "reader-2";
    const std::string one_reader = cloud.run(first), another = cloud.run(second);
    EXPECT_EQ(kept(one_reader, "x"), "for all");
    EXPECT_EQ(kept(another, "x"), "for all");
    EXPECT_EQ(put(one_reader, "y", "no"), 503) << "a read-only file system";
    EXPECT_THAT(cloud.begin({.id = "writer-3", .storage = "shared", .mount = "/data"}).at("/detail"),
                HasSubstr("read-only by instance reader-"));
    cloud.end("reader-1"), cloud.end("reader-2");
    remove("shared");
}

TEST_F(SizedVolume, IsThereAfterEverythingWasKilled) {
    make("kept");
    const Wish wish{.id = "killed-1", .storage = "kept", .mount = "/data"};
    const std::string url = cloud.run(wish);
    EXPECT_EQ(put(url, "x", "kept"), 201);
    for (const std::string role : {"host-nj-1", "host-lon-1", "engine"})
        cloud.wait_for_another(role, cloud.kill9(role));
    ASSERT_EQ(resize("kept", "320Mi").status, 202);
    EXPECT_TRUE(cloud.until([&] { return volume("kept").at("/size") == "320Mi"; })) << volume("kept").body;
    // An agent that was started anew has to find its containers first.
    EXPECT_TRUE(cloud.until([&] { return kept(url, "x") == "kept"; })) << kept(url, "x");
    cloud.kill9("up");
    EXPECT_TRUE(cloud.until([&] { return cloud.find("master") == 0 && cloud.find("host-nj-1") == 0; }));
    cloud.start();
    EXPECT_TRUE(cloud.until([&] { return kept(url, "x") == "kept"; })) << "at the same URL";
    cloud.end("killed-1");
    EXPECT_EQ(kept(cloud.run({.id = "killed-2", .storage = "kept", .mount = "/data"}), "x"), "kept");
    cloud.end("killed-2");
    remove("kept");
}

}  // namespace
}  // namespace hostler::cloud
