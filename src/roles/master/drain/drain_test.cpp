#include "roles/master/drain/drain.h"

#include <gmock/gmock.h>

#include "api/types_host.h"
#include "api/types_instance.h"
#include "api/types_stock.h"
#include "roles/master/host/lifecycle.h"
#include "roles/master/host/view.h"
#include "roles/master/run/failover.h"
#include "roles/master/run/stop_start.h"
#include "roles/master/stock/slots.h"
#include "roles/master/testing/desk_rig.h"

namespace hostler::master {
namespace {

using ::testing::HasSubstr;

// Hosts of four GPUs, and a spec of one.
struct DrainRig : testing::DeskRig {
    DrainRig() {
        a = host("a", "nj");
        HOSTLER_ASSERT(stock(1));
        HOSTLER_ASSERT(delete_stock(desk, {.number = 1, .spec_name = "small"}));
    }
    // One that runs on `a`.
    std::string running(const std::string& name, api::LossPolicy policy = api::LossPolicy::stay) {
        auto wanted = request(name);
        wanted.loss_policy = policy;
        live.hosts[a].keeps_leases = true;
        HOSTLER_ASSERT(start(wanted));
        const std::string id = find_instance(desk, "acme", name)->id;
        HOSTLER_ASSERT(instance(id).host == a);
        run(a, id);
        answer(id, {.done = true});
        return id;
    }
    // Its host says that nothing of it runs there any more.
    void stops(const std::string& id) {
        said[instance(id).host].erase(id);
        answer(id, {.done = true, .absent = true});
    }
    void wait(int seconds) {
        pass(seconds);
        sweep();
    }
    void sweep() {
        std::vector<std::string> ids;
        for (const auto& [id, row] : estate.instances.all()) ids.push_back(id);
        for (const std::string& id : ids) go_on_elsewhere(desk, id);
        follow_drains(desk);
    }
    api::HostState state() const { return view(desk, estate.hosts.at(a)).state; }
    bool told(const std::string& reason) {
        const auto events = take().events;
        return std::ranges::any_of(events, [&](const auto& event) { return event.reason == reason; });
    }
    std::string a;
};

TEST(Drains, TenantsAreToldAndWhatIsThereIsStoppedWhenTheNoticeIsOver) {
    DrainRig rig;
    const std::string one = rig.running("one");
    (void)rig.take();
    ASSERT_TRUE(drain_host(rig.desk, rig.a, {.host = rig.a, .notice_seconds = 600, .reason = "new memory"}));
    EXPECT_EQ(rig.state(), api::HostState::draining);
    EXPECT_THAT(drain_notice(rig.desk, rig.a), HasSubstr("new memory"));
    EXPECT_TRUE(rig.told("host_draining"));
    EXPECT_FALSE(rig.start(rig.request("two"))) << "it takes nothing new";
    rig.wait(599);
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::running);
    rig.wait(1);
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::halting);
    EXPECT_EQ(rig.instance(one).reason, drained);
    EXPECT_THAT(rig.instance(one).message, HasSubstr("new memory"));
    (void)rig.take();
    rig.stops(one);
    rig.sweep();
    EXPECT_EQ(rig.state(), api::HostState::drained);
    EXPECT_TRUE(rig.told("drained"));
    rig.host("b", "nj");
    rig.sweep();
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::resting) << "its loss policy is to stay";
    ASSERT_TRUE(undrain_host(rig.desk, rig.a));
    EXPECT_EQ(rig.state(), api::HostState::ready);
    EXPECT_TRUE(wake_instance(rig.desk, one));
}

TEST(Drains, OneOfLossPolicyMoveBeginsElsewhere) {
    DrainRig rig;
    const std::string one = rig.running("one", api::LossPolicy::move);
    ASSERT_TRUE(drain_host(rig.desk, rig.a, {.host = rig.a, .notice_seconds = 0}));
    rig.stops(one);
    rig.sweep();
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::resting) << "there is no room elsewhere";
    const std::string b = rig.host("b", "nj");
    rig.live.hosts[b].keeps_leases = true;
    rig.wait(5);
    EXPECT_EQ(rig.instance(one).host, b);
    EXPECT_EQ(rig.instance(one).phase, InstancePhase::placed);
}

TEST(Drains, IdleStockGoesToOtherHostsAtOnce) {
    DrainRig rig;
    ASSERT_TRUE(rig.stock(2));
    const std::string b = rig.host("b", "nj");
    ASSERT_TRUE(drain_host(rig.desk, rig.a, {.host = rig.a}));
    for (const auto& [id, slot] : rig.estate.slots.all())
        EXPECT_EQ(rig.estate.claims.at(slot.claim).host, b) << id;
    EXPECT_EQ(rig.state(), api::HostState::drained);
}

TEST(Drains, ARemovedHostLeavesNone) {
    DrainRig rig;
    EXPECT_EQ(drain_host(rig.desk, "h-none", {}).error().reason, "host_not_found");
    ASSERT_TRUE(drain_host(rig.desk, rig.a, {.host = rig.a}));
    ASSERT_TRUE(remove_host(rig.desk, rig.a, false));
    EXPECT_TRUE(rig.estate.drains.all().empty());
    EXPECT_EQ(undrain_host(rig.desk, rig.a).error().reason, "host_not_found");
}

}  // namespace
}  // namespace hostler::master
