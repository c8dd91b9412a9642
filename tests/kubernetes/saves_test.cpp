// A cluster is saved, deleted and restored as its tenant asks, by master and agents as they are shipped.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "cloud_on_nodes.h"
#include "driver_file.h"
#include "parts.h"
#include "walk.h"

namespace hostler::kube {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SavedCluster : public ::testing::Test {
protected:
    void SetUp() override {
        HOSTLER_NEEDS_KUBERNETES(Needs::nodes);
        auto nodes = Nodes::start({"one"}, Seconds{180}, NodeImages::archive);
        ASSERT_TRUE(nodes) << nodes.error().message;
        nodes_ = std::move(*nodes);
        auto cloud = CloudOnNodes::start(*nodes_);
        ASSERT_TRUE(cloud) << cloud.error().message;
        cloud_ = std::move(*cloud);
        auto driver = read_driver(HOSTLER_SOURCE "/drivers/kubeadm");
        ASSERT_TRUE(driver) << driver.error().message;
        driver_ = std::move(*driver);
    }
    void TearDown() override {
        if (cloud_ && HasFailure()) fmt::print("{}\n", cloud_->logs());
        cloud_ = nullptr;
        const std::string name = nodes_ ? nodes_->folder().name() : "";
        nodes_ = nullptr;
        if (!name.empty()) EXPECT_THAT(left_of(name), IsEmpty());
    }
    void succeeds(const Ran& ran) { ASSERT_EQ(ran.code, 0) << ran.out << ran.err; }
    // Each call starts the command line as a process: without a pause that uses a whole CPU.
    json::value look(Words words) {
        std::this_thread::sleep_for(std::chrono::seconds{1});
        return cloud_->told(std::move(words));
    }
    void is_ready(const std::string& name) {
        ASSERT_TRUE(eventually(Seconds{900}, [&] {
            return text_at(look({"cluster", "get", name, "--tenant-id", "acme"}), "state") == "ready";
        })) << cloud_->cli({"cluster", "explain", name, "--tenant-id", "acme"}).out;
    }
    void is_deleted(const std::string& name) {
        succeeds(cloud_->cli({"cluster", "delete", name, "--tenant-id", "acme", "--yes"}));
        ASSERT_TRUE(eventually(Seconds{600}, [&] {
            const json::value now = look({"cluster", "get", name, "--tenant-id", "acme"});
            return now.is_null() || text_at(now, "state") == "deleted";
        })) << cloud_->cli({"cluster", "explain", name, "--tenant-id", "acme"}).out;
        EXPECT_THAT(left_on((*nodes_)[0], driver_.leftovers), IsEmpty());
    }
    Ran kubectl(Words words) {
        words.insert(words.begin(), {"kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"});
        return (*nodes_)[0].run(std::move(words), Seconds{130});
    }
    std::vector<std::string> files() {
        std::vector<std::string> names;
        for (const auto& one : std::filesystem::directory_iterator{cloud_->saves()})
            names.push_back(one.path().filename());
        return names;
    }

    std::unique_ptr<Nodes> nodes_;
    std::unique_ptr<CloudOnNodes> cloud_;
    Driver driver_;
};

TEST_F(SavedCluster, ComesBackWithWhatItHad) {
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->cli({"tenant", "create", "acme"})));
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->create_cluster("train", {"--control", "1"})));
    ASSERT_NO_FATAL_FAILURE(is_ready("train"));
    ASSERT_NO_FATAL_FAILURE(succeeds(kubectl({"create", "configmap", "kept", "--from-literal=word=hello"})));
    const std::string save = text_at(cloud_->told({"cluster", "save", "train", "--tenant-id", "acme"}), "id");
    ASSERT_NE(save, "");
    cloud_->kill_agent((*nodes_)[0]);
    cloud_->kill_master();
    json::value saved;
    ASSERT_TRUE(eventually(Seconds{400}, [&] {
        saved = look({"cluster", "show-save", save});
        return text_at(saved, "state") == "saved";
    })) << json::serialize(saved);
    EXPECT_GT(saved.at("bytes").as_int64(), 100'000);
    EXPECT_THAT(files(), ::testing::ElementsAre(save + ".save"));
    EXPECT_EQ(std::filesystem::status(cloud_->saves() + "/" + save + ".save").permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    ASSERT_NO_FATAL_FAILURE(is_deleted("train"));

    ASSERT_NO_FATAL_FAILURE(succeeds(
        cloud_->cli({"cluster", "restore", save, "again", "--tenant-id", "acme", "--control", "1"})));
    const Ran used = cloud_->cli({"cluster", "delete-save", save, "--yes"});
    EXPECT_THAT(used.err, HasSubstr("is being made of save"));
    ASSERT_NO_FATAL_FAILURE(is_ready("again"));
    EXPECT_EQ(kubectl({"get", "configmap", "kept", "-o", "jsonpath={.data.word}"}).out, "hello");
    EXPECT_EQ(kubectl({"get", "nodes", "-o", "name"}).out, "node/again-c1\n");
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->cli({"cluster", "delete-save", save, "--yes"})));
    EXPECT_TRUE(eventually(Seconds{120}, [&] { return files().empty(); }));
    EXPECT_TRUE(eventually(Seconds{60}, [&] { return look({"cluster", "show-save", save}).is_null(); }));
    ASSERT_NO_FATAL_FAILURE(is_deleted("again"));
}

}  // namespace
}  // namespace hostler::kube
