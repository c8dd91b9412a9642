// The load of ./dev bench agents, against the shipped access point and master.
#include "bench/agents/fleet.h"

#include "adapters/series/memory.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "bench/agents/load.h"
#include "core/worker.h"
#include "ports/testing/played_outgoing.h"
#include "ports/testing/quick_passwords.h"
#include "rig.h"
#include "roles/master/server/master.h"

namespace hostler::rig {
namespace {

constexpr std::size_t agents = 20, gpus = 2;

class FleetOfAgents : public ::testing::Test, public World {
protected:
    FleetOfAgents() {
        store_ = open_sqlite(folder.path() + "/store.db", *worker_).value();
        auto hosts = go(bench::join_hosts(*store_, *authority, *random, *timers, "nj", agents)).value();
        first_ = hosts.front().id;
        master::Settings settings;
        settings.zones = {{"nj", "New Jersey"}};
        settings.report_interval = 500ms;
        settings.operator_key_hash = digest.sha256("hk_operator");
        master_ = std::make_unique<master::Master>(
            settings, master::Ports{loop, *timers, *net, *random, *store_, *authority, digest,
                                    certified("master", "m"), series_, outgoing_, *sealer_, passwords_});
        master_tasks_.start("master", master_->run());
        EXPECT_TRUE(go(master_->ready()));
        begin_access("127.0.0.1:0");
        fleet_ = std::make_unique<bench::Fleet>(
            loop, *timers, *net, *random,
            bench::FleetSettings{.access = uplink_, .connects_per_second = 500, .gpus = gpus},
            std::move(hosts));
        fleet_->start();
    }
    ~FleetOfAgents() override {
        (void)go(fleet_->close());
        end_access();
        (void)go(master_tasks_.close());
    }

    void begin_access(const std::string& uplink) {
        access::Settings settings;
        settings.masters = {master_->wire_address()};
        settings.uplink_listen = uplink;
        settings.tunnel_listen = settings.control_listen = "127.0.0.1:0";
        settings.zone = "nj";
        access_ = std::make_unique<access::Access>(
            settings, access::Ports{loop, *timers, *net, *random, journal_, certified("access", "ap-1")});
        access_tasks_ = std::make_unique<TaskGroup>(loop);
        access_tasks_->start("access", access_->run());
        EXPECT_TRUE(eventually([this] { return access_->linked(); }));
        uplink_ = access_->addresses().uplink;
    }
    void end_access() {
        (void)go(access_tasks_->close());
        access_tasks_.reset();
        access_.reset();
    }
    bool all_welcomed() {
        return eventually([this] { return fleet_->count().welcomed == agents; });
    }
    std::size_t rows_stored() const {
        std::size_t all = 0;
        for (const auto& device : rows_.devices) all += device.rows.size();
        return all;
    }

    std::unique_ptr<Worker> worker_ = make_worker(loop, "store");
    std::unique_ptr<Store> store_;
    std::unique_ptr<Sealer> sealer_ = sodium::open_sealer(folder.path() + "/sealing.keys").value();
    series::MemoryRows rows_;
    series::MemoryStore series_{rows_};
    hostler::testing::PlayedOutgoing outgoing_{*timers};
    hostler::testing::QuickPasswords passwords_;
    std::unique_ptr<master::Master> master_;
    TaskGroup master_tasks_{loop};
    MemoryJournal journal_;
    std::unique_ptr<access::Access> access_;
    std::unique_ptr<TaskGroup> access_tasks_;
    std::string uplink_, first_;
    std::unique_ptr<bench::Fleet> fleet_;
    http::Client client_{*net, *timers};
};

// Whoever shows a GPU that another host has shown is kept out.
TEST(HostLoad, NoTwoHostsShowTheSameGpu) {
    constexpr std::size_t hosts = 500, each = 8;
    std::set<std::string> ids, serials;
    for (std::size_t i = 0; i < hosts; ++i)
        for (const GpuFacts& gpu : bench::HostLoad{i, each, 1}.facts().gpus) {
            ids.insert(gpu.uuid);
            serials.insert(gpu.serial);
        }
    EXPECT_EQ(ids.size(), hosts * each);
    EXPECT_EQ(serials.size(), hosts * each);
}

TEST_F(FleetOfAgents, SaysWhatAgentsSay) {
    ASSERT_TRUE(all_welcomed());
    ASSERT_TRUE(eventually([this] { return fleet_->count().acknowledged >= 2 * agents; }));
    EXPECT_EQ(rows_.devices.size(), agents * (gpus + 1));
    http::Request request{.method = "GET", .target = "/v1/hosts/" + first_};
    request.headers.set("Authorization", "Bearer hk_operator");
    const auto host = go(client_.fetch({.address = master_->api_address()}, request)).value();
    EXPECT_THAT(host.body, ::testing::AllOf(::testing::HasSubstr(R"("state":"ready")"),
                                            ::testing::HasSubstr("H100 SXM5 80GB")));
    EXPECT_EQ(fleet_->count().lost, 0u);
}

TEST_F(FleetOfAgents, AMarkedReportIsFoundInTheSeries) {
    ASSERT_TRUE(all_welcomed());
    const auto marked = go(fleet_->mark()).value();
    const auto stored = [&] {
        for (const auto& device : rows_.devices) {
            if (device.facts.id != "host/" + marked.host || device.rows.empty()) continue;
            const auto column =
                std::ranges::find(device.facts.columns, "host_disk_busy_ms", &series::Column::name);
            const auto place = static_cast<std::size_t>(column - device.facts.columns.begin());
            for (const auto& [time, cells] : device.rows)
                if (cells.at(place) == marked.marker)
                    return std::chrono::abs(WallTime{std::chrono::milliseconds{time}} - marked.sampled) < 1ms;
        }
        return false;
    };
    EXPECT_TRUE(eventually(stored));
}

// Whoever loses its access point comes back, and what it had no answer for is sent again.
TEST_F(FleetOfAgents, EveryReportIsAcknowledgedInTheEnd) {
    ASSERT_TRUE(all_welcomed());
    end_access();
    EXPECT_TRUE(eventually([this] { return fleet_->count().welcomed == 0; }));
    const auto made = fleet_->count().made;
    ASSERT_TRUE(eventually([&] { return fleet_->count().made > made + agents; }));
    begin_access(uplink_);
    ASSERT_TRUE(all_welcomed());
    fleet_->rest();
    ASSERT_TRUE(eventually([this] { return fleet_->count().acknowledged == fleet_->count().made; }));
    EXPECT_GE(fleet_->count().sent_again, agents);
    EXPECT_EQ(rows_stored(), fleet_->count().made * (gpus + 1));
}

}  // namespace
}  // namespace hostler::rig
