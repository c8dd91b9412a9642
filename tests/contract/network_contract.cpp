#include "network_contract.h"

#include <gmock/gmock.h>

namespace hostler::contract {

TEST_P(NetworkContract, NetworksAreMadeOnceAndRemovedOnce) {
    auto spec = make_network(1);
    EXPECT_TRUE(run(rig_->network().ensure(spec)));
    auto ids = run(rig_->network().list());
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_THAT(*ids, ::testing::Contains(spec.id).Times(1));
    EXPECT_TRUE(run(rig_->network().remove(spec.id)));
    EXPECT_TRUE(run(rig_->network().remove(spec.id)));
    ids = run(rig_->network().list());
    EXPECT_THAT(*ids, ::testing::Not(::testing::Contains(spec.id)));
}

TEST_P(NetworkContract, ANetworkKeepsItsSubnetAndSharesItWithNobody) {
    auto spec = make_network(1);
    auto other = spec;
    other.id = spec.id + "-x";
    const auto taken = run(rig_->network().ensure(other));
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Code::conflict);
    auto moved = spec;
    moved.subnet = rig_->subnet(2);
    moved.gateway = moved.subnet.substr(0, moved.subnet.rfind('.')) + ".1";
    const auto changed = run(rig_->network().ensure(moved));
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().code, Code::conflict);
}

TEST_P(NetworkContract, ANetworkWithContainersStays) {
    const auto network = make_network(1);
    auto spec = rig_->server(name());
    spec.network = network.id;
    spec.address = network.gateway.substr(0, network.gateway.rfind('.')) + ".9";
    const auto launched = launch(spec);
    ASSERT_TRUE(launched) << launched.error().message;
    const auto removed = run(rig_->network().remove(network.id));
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, Code::conflict);
    ASSERT_TRUE(run(rig_->engine().remove(name())));
    EXPECT_TRUE(run(rig_->network().remove(network.id)));
}

TEST_P(NetworkContract, AnAddressIsOfOneContainer) {
    const NetworkSpec network = make_network(7);
    const std::string address = network.gateway.substr(0, network.gateway.rfind('.')) + ".9";
    const auto with_address = [&](std::string_view suffix) {
        ContainerSpec spec = rig_->server(name(suffix));
        spec.network = network.id;
        spec.address = address;
        return spec;
    };
    ASSERT_TRUE(launch(with_address("a")));
    const auto other = launch(with_address("b"));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::conflict) << other.error().message;
    EXPECT_EQ(other.error().reason, Engine::address_taken) << other.error().message;
    EXPECT_THAT(list("b"), ::testing::IsEmpty());
}

TEST_P(NetworkContract, AGatewayIsPartOfANetwork) {
    auto spec = make_network(1);
    spec.gateway = spec.gateway.substr(0, spec.gateway.rfind('.')) + ".2";
    const auto moved = run(rig_->network().ensure(spec));
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code, Code::conflict);
}

TEST_P(NetworkContract, SubnetsDoNotOverlap) {
    auto spec = make_network(1);
    spec.id += "-x";
    spec.subnet = spec.subnet.substr(0, spec.subnet.find('/')) + "/25";
    const auto inside = run(rig_->network().ensure(spec));
    ASSERT_FALSE(inside);
    EXPECT_EQ(inside.error().code, Code::conflict);
    EXPECT_THAT(*run(rig_->network().list()), ::testing::Not(::testing::Contains(spec.id)));
}

TEST_P(NetworkContract, WhatIsNoNetworkIsRefusedAndLeavesNothing) {
    const auto good = NetworkSpec{"n-" + name(), "10.77.1.0/24", "10.77.1.1"};
    for (const auto& [id, subnet, gateway] :
         {NetworkSpec{"", good.subnet, good.gateway},
          NetworkSpec{std::string(129, 'n'), good.subnet, good.gateway},
          NetworkSpec{good.id, "10.77.1.1/24", good.gateway}, NetworkSpec{good.id, "10.77.1.0", good.gateway},
          NetworkSpec{good.id, "fd00::/64", "fd00::1"}, NetworkSpec{good.id, good.subnet, "10.77.2.1"},
          NetworkSpec{good.id, good.subnet, ""}}) {
        const auto refused = run(rig_->network().ensure({id, subnet, gateway}));
        ASSERT_FALSE(refused) << id << " " << subnet << " " << gateway;
        EXPECT_EQ(refused.error().code, Code::invalid) << refused.error().message;
    }
    EXPECT_THAT(*run(rig_->network().list()), ::testing::Not(::testing::Contains(good.id)));
    EXPECT_TRUE(run(rig_->network().remove(good.id)));
}

TEST_P(NetworkContract, NetworksStayWhenTheEngineCrashes) {
    const auto spec = make_network(1);
    rig_->crash();
    EXPECT_THAT(*run(rig_->network().list()), ::testing::Contains(spec.id).Times(1));
    EXPECT_TRUE(run(rig_->network().ensure(spec)));
}

}  // namespace hostler::contract
