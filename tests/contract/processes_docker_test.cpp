// What the kernel tells of programs in real containers.
#include <gmock/gmock.h>

#include "containers.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;
using Addresses = std::vector<std::string>;

class InContainers : public Containers {
protected:
    Addresses listening(std::uint16_t port = 8080) {
        const auto told = run(rig().processes().listening(name(), port));
        EXPECT_TRUE(told) << told.error().message;
        return told.value_or(Addresses{});
    }
    Addresses listens_once_begun(const std::string& address) {
        const auto network = make_network(1);
        serve(network, 9, "a", [&](auto& spec) { spec.environment["LISTEN"] = address; });
        const auto end = rig().timers().now() + 10s;
        while (listening().empty() && rig().timers().now() < end)
            EXPECT_TRUE(run(sleep(rig().timers(), 20ms)));
        return listening();
    }
    MemoryKills kills() {
        const auto all = run(rig().processes().memory_kills({name()}));
        EXPECT_TRUE(all) << all.error().message;
        return all && all->contains(name()) ? all->at(name()) : MemoryKills{99, "not told"};
    }
    // Until so many were killed.
    MemoryKills wait_for_kills(std::uint64_t count) {
        const auto end = rig().timers().now() + 20s;
        MemoryKills seen;
        while ((seen = kills()).count < count && rig().timers().now() < end)
            EXPECT_TRUE(run(sleep(rig().timers(), 20ms)));
        return seen;
    }
};

INSTANTIATE_TEST_SUITE_P(Real, InContainers, engines, kind_name);

// Dockerd gives a container of such a network no IPv6, not even on its loopback.
class InContainersOfPodman : public InContainers {};
INSTANTIATE_TEST_SUITE_P(Real, InContainersOfPodman, ::testing::Values(podman), kind_name);

TEST_P(InContainers, TheLoopbackIsToldFromWhatOthersReach) {
    EXPECT_EQ(listens_once_begun("127.0.0.1"), Addresses{"127.0.0.1"});
    EXPECT_EQ(listening(8081), Addresses{});
    // Another container of this name is another one.
    ASSERT_TRUE(run(rig().engine().remove(name())));
    EXPECT_EQ(run(rig().processes().listening(name(), 8080)).error().code, Code::not_found);
    EXPECT_EQ(listens_once_begun("0.0.0.0"), Addresses{"0.0.0.0"});
}

TEST_P(InContainersOfPodman, TheLoopbackOfIPv6IsOne) {
    EXPECT_EQ(listens_once_begun("::1"), Addresses{"::1"});
}

TEST_P(InContainers, ChildrenThatAreKilledForMemoryAreCountedAndNamed) {
    const auto network = make_network(1);
    const auto at = serve(network, 9);
    EXPECT_EQ(rig().get(at, "/healthz"), "ok\n");
    EXPECT_EQ(kills(), MemoryKills{});
    EXPECT_EQ(rig().get(at, "/alloc?mib=200&child=loader"), "begun\n");
    EXPECT_EQ(wait_for_kills(1), (MemoryKills{1, "loader"}));
    EXPECT_EQ(rig().get(at, "/alloc?mib=200&child=a%2Ctask%3Db%C3%A9"), "begun\n");
    EXPECT_EQ(wait_for_kills(2), (MemoryKills{2, "a,task=b\xc3\xa9"}));
    EXPECT_EQ(rig().get(at, "/healthz"), "ok\n") << "its program lives on";
    // One of the same name that is started later begins with none.
    ASSERT_TRUE(run(rig().engine().remove(name())));
    serve(network, 9);
    (void)run(rig().processes().memory_kills({name()}));
    EXPECT_EQ(kills(), MemoryKills{});
}

}  // namespace
}  // namespace hostler::contract
