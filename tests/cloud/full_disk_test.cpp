// Disks that are full: each ends in a named state with a sentence, frees what it held, and goes on once there
// is space.
#include "cloud.h"

namespace hostler::cloud {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class FullDisk : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        one = std::make_unique<Cloud>(
            std::vector<std::string>{},
            SmallDisks{
                {"master", "48m"}, {"engine", "64m"}, {"hosts/nj-1", "400m"}, {"hosts/lon-1", "400m"}});
        one->make_stock(2);
    }
    static void TearDownTestSuite() { one.reset(); }
    void TearDown() override {
        for (const std::string disk : {"master", "engine", "hosts/nj-1", "hosts/lon-1"})
            cloud.make_room(disk);
        EXPECT_TRUE(cloud.until([&] { return cloud.stock("small").at("/idle") == "2"; }))
            << cloud.stock("small").body;
        EXPECT_EQ(cloud.gpus_free(), 14);
        EXPECT_THAT(cloud.containers(), IsEmpty());
    }
    std::string host_of(const std::string& instance) {
        return cloud.api("GET", "/v1/hosts/" + cloud.instance(instance).at("/host")).at("/name");
    }
    void expect_answers(const std::string& url) {
        EXPECT_EQ(cloud.web.fetch("GET", url + "/healthz").body, "ok\n");
    }
    static std::unique_ptr<Cloud> one;
    Cloud& cloud = *one;
};
std::unique_ptr<Cloud> FullDisk::one;

TEST_F(FullDisk, TheEngineCannotMakeAContainer) {
    const std::string before = cloud.run({.id = "before-1"});
    cloud.fill("engine");
    ASSERT_EQ(cloud.begin({.id = "no-room-1"}).status, 200);
    const Page failed = cloud.wait_for("no-room-1", "failed");
    EXPECT_EQ(failed.at("/reason"), "disk_full") << failed.body;
    EXPECT_THAT(failed.at("/message"), HasSubstr("no space left"));
    expect_answers(before);
    cloud.make_room("engine");
    EXPECT_TRUE(cloud.until([&] { return cloud.containers(failed.at("/id")).empty(); }));
    expect_answers(cloud.run({.id = "room-1"}));
    cloud.end("room-1");
    cloud.end("before-1");
}

TEST_F(FullDisk, AHostRefusesVolumesAndGoesOnWithWhatItHas) {
    const std::string before = cloud.run({.id = "before-2"});
    const std::string host = host_of("before-2");
    const std::string zone = cloud.instance("before-2").at("/zone");
    cloud.fill("hosts/" + host);
    const auto make_volume = [&](const std::string& name) {
        return cloud.api("POST", "/v1/volumes",
                         {{"name", name}, {"size", "300Mi"}, {"tenantID", "acme"}, {"zone", zone}});
    };
    // It is made where the first instance that mounts it is placed.
    ASSERT_EQ(make_volume("data").status / 100, 2);
    // The master refuses it if the host has said by then how full it is, and the host itself otherwise.
    const Page begun = cloud.begin({.id = "no-room-2", .storage = "data", .mount = "/data"});
    if (begun.status == 200) {
        const Page failed = cloud.wait_for("no-room-2", "failed");
        EXPECT_EQ(failed.at("/reason"), "volume_failed") << failed.body;
        EXPECT_THAT(failed.at("/message"), HasSubstr("free on the host's disk for volumes"));
    } else {
        EXPECT_EQ(begun.at("/code"), "insufficient_capacity") << begun.body;
        EXPECT_THAT(begun.at("/detail"), HasSubstr("1 host lacks disk"));
    }
    EXPECT_TRUE(cloud.until(
        [&] { return cloud.api("GET", "/v1/volumes/data?tenantID=acme").at("/attachedTo") == "[]"; }));
    // What runs goes on, and can be ended to make room: the agent has kept some to write down what it is
    // told. Nothing new begins.
    expect_answers(before);
    const json::object long_one =
        cloud.body_of({.id = "remembered-2", .env = {{"LONG", std::string(9000, 'x')}}});
    ASSERT_EQ(cloud.api("POST", "/gpu-instances?zone=" + zone, long_one).status, 200);
    const Page refused = cloud.wait_for("remembered-2", "failed");
    EXPECT_EQ(host_of("remembered-2"), host);
    EXPECT_EQ(refused.at("/reason"), "disk_full") << refused.body;
    EXPECT_THAT(cloud.containers(refused.at("/id")), IsEmpty());
    cloud.end("before-2");
    cloud.make_room("hosts/" + host);
    // The host tells of the new room with its next report.
    const Wish roomy{.id = "room-2", .storage = "data", .mount = "/data"};
    EXPECT_TRUE(cloud.until([&] { return cloud.begin(roomy).status == 200; })) << cloud.begin(roomy).body;
    const std::string url = cloud.run(roomy);
    EXPECT_EQ(cloud.web.fetch("PUT", url + "/files/x", {}, "kept").status, 201);
    cloud.end("room-2");
    EXPECT_EQ(cloud.api("DELETE", "/v1/volumes/data?tenantID=acme").status / 100, 2);
}

TEST_F(FullDisk, TheMasterRefusesChangesAndForgetsNothing) {
    const std::string before = cloud.run({.id = "before-3"});
    const auto make_key = [&](const std::string& name) {
        return cloud.api("POST", "/v1/api-keys", {{"name", name}, {"tenantID", "acme"}});
    };
    std::set<std::string> acknowledged, refused;
    ASSERT_EQ(make_key("key-before").status / 100, 2);
    acknowledged.insert("key-before");
    cloud.fill("master");
    // A few may still fit into what is there.
    Page no;
    int number = 0;
    EXPECT_TRUE(cloud.until([&] {
        const std::string name = fmt::format("key-{}", number++);
        no = make_key(name);
        (no.status / 100 == 2 ? acknowledged : refused).insert(name);
        return no.at("/code") == "disk_full";
    })) << no.body;
    EXPECT_EQ(no.status, 507);
    EXPECT_THAT(no.at("/detail"), HasSubstr("full"));
    // What is there is there to be read, and used, for as long as it lasts.
    EXPECT_TRUE(cloud.until([&] { return cloud.instance("before-3").status == 200; }, 5s));
    for (int tries = 0; tries < 30; ++tries) {
        const Page seen = cloud.instance("before-3");
        EXPECT_EQ(seen.at("/state"), "running") << seen.body;
        const Page refusal = cloud.begin({.id = "no-room-3"});
        EXPECT_EQ(refusal.status, 507) << refusal.body;
        EXPECT_EQ(refusal.at("/code"), "disk_full");
        (void)cloud.web.go(sleep(*cloud.web.timers, 100ms));
    }
    expect_answers(before);
    cloud.make_room("master");
    EXPECT_TRUE(cloud.until([&] { return make_key("key-after").status / 100 == 2; }));
    acknowledged.insert("key-after");
    const auto expect_all = [&] {
        std::set<std::string> names;
        for (const json::value& item :
             cloud.api("GET", "/v1/api-keys?limit=1000").json().at("items").as_array())
            names.insert(at(item, "/name"));
        for (const std::string& name : acknowledged) EXPECT_THAT(names, Contains(name));
        for (const std::string& name : refused) EXPECT_THAT(names, Not(Contains(name)));
    };
    expect_all();
    // Nor when it has only its disk to remember from.
    const pid_t was = cloud.kill9("master");
    cloud.wait_for_another("master", was);
    EXPECT_TRUE(cloud.until([&] { return cloud.api("GET", "/v1/whoami").status == 200; }, 30s));
    expect_all();
    EXPECT_EQ(cloud.instance("no-room-3").status, 404);
    expect_answers(cloud.run({.id = "room-3"}));
    cloud.end("room-3");
    cloud.end("before-3");
}

}  // namespace
}  // namespace hostler::cloud
