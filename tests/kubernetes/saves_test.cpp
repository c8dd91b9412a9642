// A cluster is saved, deleted and restored as its tenant asks, by master and agents as they are shipped.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "cloud_on_nodes.h"
#include "walk.h"

namespace hostler::kube {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SavedCluster : public OnNodes {
protected:
    SavedCluster() : OnNodes({"one"}) {}
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
    Ran kubectl(Words words) { return OnNodes::kubectl((*nodes_)[0], std::move(words)); }
    std::vector<std::string> files() {
        std::vector<std::string> names;
        for (const auto& one : std::filesystem::directory_iterator{cloud_->saves()})
            names.push_back(one.path().filename());
        return names;
    }
};

TEST_F(SavedCluster, ComesBackWithWhatItHad) {
    ASSERT_NO_FATAL_FAILURE(
        succeeds(cloud_->create_cluster("train", {"--control", "1", "--value", "networkPolicies=enforced"})));
    ASSERT_NO_FATAL_FAILURE(is_ready("train"));
    EXPECT_THAT(kubectl({"get", "daemonsets", "-n", "kube-system", "-o", "name"}).out,
                HasSubstr("daemonset.apps/kube-router"));
    EXPECT_EQ(kubectl({"get", "networkpolicies", "-A", "-o", "name"}).out, "");
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

    ASSERT_NO_FATAL_FAILURE(
        succeeds(cloud_->cli({"cluster", "restore", save, "again", "--tenant-id", "acme", "--control", "1",
                              "--value", "networkPolicies=namespaces"})));
    const Ran used = cloud_->cli({"cluster", "delete-save", save, "--yes"});
    EXPECT_THAT(used.err, HasSubstr("is being made of save"));
    ASSERT_NO_FATAL_FAILURE(is_ready("again"));
    EXPECT_EQ(kubectl({"get", "configmap", "kept", "-o", "jsonpath={.data.word}"}).out, "hello");
    EXPECT_EQ(kubectl({"get", "nodes", "-o", "name"}).out, "node/again-c1\n");
    EXPECT_TRUE(eventually(Seconds{60}, [&] {
        return kubectl({"get", "networkpolicies", "-n", "default", "-o", "name"}).out ==
               "networkpolicy.networking.k8s.io/hostler-namespace\n";
    }));
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->cli({"cluster", "delete-save", save, "--yes"})));
    EXPECT_TRUE(eventually(Seconds{120}, [&] { return files().empty(); }));
    EXPECT_TRUE(eventually(Seconds{60}, [&] { return look({"cluster", "show-save", save}).is_null(); }));
    ASSERT_NO_FATAL_FAILURE(is_deleted("again"));
}

}  // namespace
}  // namespace hostler::kube
