// A host that a cluster has left something on: a real agent finds each kind, and nothing is offered there
// until it is gone. What is looked for is the shipped driver's; the steps are of a driver that cleans
// nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "cloud_on_nodes.h"
#include "walk.h"

namespace hostler::kube {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

std::string leftovers_of_kubeadm() {
    const std::string all = read_file(HOSTLER_SOURCE "/drivers/kubeadm/driver.toml");
    const auto begin = all.find("[leftovers]\n");
    return begin == all.npos ? "" : all.substr(begin, all.find("\n# ──", begin) - begin);
}

constexpr const char* removed = R"(pkill -KILL -x kubelet
umount /var/lib/kubelet/pods/x
rm -rf /var/lib/kubelet /var/lib/etcd /etc/kubernetes /usr/libexec/kubernetes /root/planted
ip link del veth0
nft delete table ip kube-proxy
iptables -D FORWARD -j KUBE-PLANTED
iptables -F KUBE-PLANTED
iptables -X KUBE-PLANTED
ipset destroy KUBE-SRC-PLANTED
ipset destroy inet6:KUBE-DST-PLANTED
find /sys/fs/cgroup/ -depth -type d -path '*/kubepods*' -exec rmdir {} +
ctr -n k8s.io images rm --sync $(ctr -n k8s.io images ls -q) >/dev/null)";

class UntidyHost : public OnNodes {
protected:
    UntidyHost() : OnNodes({"one"}, {"one"}) {}
    std::string more_drivers() override {
        std::string drivers = nodes_->folder().in("drivers");
        std::filesystem::create_directories(drivers + "/untidy");
        std::string text = read_file(HOSTLER_SOURCE "/tests/kubernetes/drivers/echo/driver.toml");
        text.replace(text.find("\"echo\""), 6, "\"untidy\"");
        write_file(drivers + "/untidy/driver.toml", text + "\n" + leftovers_of_kubeadm());
        return drivers;
    }
    Node& node() { return (*nodes_)[0]; }
    void plant() { succeeds(plant_leftovers(node(), nodes_->archive())); }
    void remove_planted() { succeeds(node().run({"sh", "-c", removed}, Seconds{60})); }
    // Of its one node; "" when the cluster has none.
    std::string shown_node() {
        const json::value now = cloud_->told({"cluster", "get", "untidy", "--tenant-id", "acme"});
        const json::value* nodes = now.is_object() ? now.get_object().if_contains("nodes") : nullptr;
        return nodes && nodes->is_array() && !nodes->get_array().empty()
                   ? json::serialize(nodes->get_array()[0])
                   : "";
    }
    void comes_to(const std::string& word) {
        ASSERT_TRUE(eventually(Seconds{90}, [&] { return shown_node().contains(word); })) << shown_node();
    }
};

TEST_F(UntidyHost, IsOfferedForNothingUntilItIsClean) {
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->cli(
        {"cluster", "create", "untidy", "--driver", "untidy", "--control", "1", "--tenant-id", "acme"})));
    ASSERT_NO_FATAL_FAILURE(comes_to(R"("state":"ready")"));
    ASSERT_NO_FATAL_FAILURE(plant());
    const Words deletion{"cluster", "delete", "untidy", "--tenant-id", "acme", "--yes"};
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->cli(deletion)));
    ASSERT_NO_FATAL_FAILURE(comes_to(R"("state":"unclean")"));
    for (const char* one : {"process kubelet", "mount /var/lib/kubelet/pods/x", "interface veth0",
                            "table ip kube-proxy", "table chain KUBE-PLANTED", "file /etc/kubernetes",
                            "cgroup kubepods", "image hostler.test/hello:1"})
        EXPECT_THAT(shown_node(), HasSubstr(one));
    EXPECT_THAT(cloud_->cli({"cluster", "explain", "untidy", "--tenant-id", "acme"}).out,
                HasSubstr("is not clean: "));

    // Neither a cluster nor an instance gets it.
    const Ran dry = cloud_->cli({"cluster", "create", "next", "--driver", "untidy", "--control", "1",
                                 "--control-host", "one", "--tenant-id", "acme", "--dry-run"});
    EXPECT_THAT(dry.out + dry.err, HasSubstr("no host is free")) << dry.code;
    EXPECT_THAT(cloud_->run_plain_instance(node()), HasSubstr("not created: "));

    ASSERT_NO_FATAL_FAILURE(remove_planted());
    ASSERT_NO_FATAL_FAILURE(succeeds(cloud_->cli(deletion)));
    EXPECT_TRUE(eventually(Seconds{90}, [&] { return shown_node().empty(); })) << shown_node();
    EXPECT_EQ(cloud_->run_plain_instance(node()), "");
}

}  // namespace
}  // namespace hostler::kube
