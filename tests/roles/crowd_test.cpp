// More connections than a gateway takes, of strangers who say nothing, while somebody with a key comes.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/testing/metrics.h"
#include "rig.h"

namespace hostler::rig {
namespace {

constexpr std::size_t connections_max = 24, client_max = 12, strangers = 60;

class CrowdTest : public ::testing::Test {
protected:
    CrowdTest() {
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
        cloud_.master.keys = {{"hk_mine", "t-a"}};
        cloud_.add_route("closed", "h-1", false);
    }
    ~CrowdTest() override {
        for (const int one : sockets_) ::close(one);
    }
    // A stranger's connection from this address of the loopback network.
    void connect_from(const std::string& address) {
        const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_GE(one, 0);
        sockets_.push_back(one);
        sockaddr_in from{}, to{};
        from.sin_family = to.sin_family = AF_INET;
        ::inet_pton(AF_INET, address.c_str(), &from.sin_addr);
        ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
        to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(cloud_.port())));
        ASSERT_EQ(::bind(one, reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
        ASSERT_EQ(::connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    }
    double metric(const std::string& name) {
        MetricsPage page;
        cloud_.gateway->write_metrics(page);
        const auto shown = testing::parse_metrics(page.text());
        return shown ? shown->at(name) : -1;
    }
    double made_room() { return metric("hostler_gateway_connections_closed_total{why=\"room\"}"); }
    int status_with_key() {
        auto request = cloud_.request("closed");
        request.headers.add("X-Hostler-Key", "hk_mine");
        return cloud_.fetch(std::move(request)).status;
    }

    Cloud cloud_{[](access::Settings&, gateway::Settings& gateway) {
        gateway.connections_max = connections_max;
        gateway.client_connections_max = client_max;
    }};
    Agent agent_{cloud_, "h-1", cloud_.access->addresses().uplink};
    std::vector<int> sockets_;
};

TEST_F(CrowdTest, AKeyGetsItsAnswerAmongSilentConnectionsOfItsOwnAddress) {
    for (std::size_t i = 0; i < strangers; ++i) connect_from("127.0.0.1");
    ASSERT_TRUE(cloud_.eventually([&] { return made_room() == double{strangers - client_max}; }));
    EXPECT_EQ(metric("hostler_gateway_connections"), client_max);
    EXPECT_EQ(status_with_key(), 200);
}

TEST_F(CrowdTest, AKeyGetsItsAnswerAmongSilentConnectionsOfManyAddresses) {
    for (std::size_t i = 0; i < strangers; ++i) connect_from("127.0.1." + std::to_string(i + 1));
    ASSERT_TRUE(cloud_.eventually([&] { return made_room() == double{strangers - connections_max}; }));
    EXPECT_EQ(metric("hostler_gateway_connections"), connections_max);
    EXPECT_EQ(status_with_key(), 200);
    // Whoever was let in by a key keeps his connection through the next flood.
    for (std::size_t i = 0; i < strangers; ++i) connect_from("127.0.2." + std::to_string(i + 1));
    ASSERT_TRUE(cloud_.eventually([&] { return made_room() >= double{2 * strangers - connections_max}; }));
    const int tunnels = agent_.tunnels;
    EXPECT_EQ(status_with_key(), 200);
    EXPECT_EQ(agent_.tunnels, tunnels);
}

}  // namespace
}  // namespace hostler::rig
