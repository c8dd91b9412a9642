// What a call or a sweep looks at does not grow with the fleet. Rows are counted, since time is not the same
// twice.
#include <gtest/gtest.h>

#include "roles/master/testing/api_rig.h"

namespace hostler::master {
namespace {

using std::chrono::seconds;
using testing::DeskRig;

// A term that leads hosts of eight GPUs, on each of which four instances run, of some of fifty tenants.
struct Cloud : testing::ApiRig {
    explicit Cloud(int hosts) {
        Desk& now = desk();
        now.estate.specs.add({.name = "small",
                              .cpu_milli = 4000,
                              .memory_bytes = std::int64_t{16} << 30,
                              .gpu_type = "H100",
                              .gpu_count = 1});
        for (int i = 0; i < tenants; ++i)
            now.estate.networks.add({.id = fmt::format("n-{}", i), .tenant = tenant(i)});
        now.estate.quotas.add({.id = tenant(1),
                               .tenant = tenant(1),
                               .limits = {{"gpus", 1'000'000}, {"gpus:H100", 1'000'000}}});
        now.estate.quotas.add(
            {.id = tenant(1) + "/lab", .tenant = tenant(1), .project = "lab", .limits = {{"gpus", 10, 10}}});
        for (int i = 0; i < hosts; ++i) add_host(now, i);
        for (auto& [id, report] : reports) say_hello(now, id, std::move(report));
        (void)commit();
        running.start("run", [](TermPtr term) -> Task<> {
            (void)co_await term->run();
            co_return Result<>{};
        }(lead.term));
        timers.advance(seconds{3});  // At first everything is new to the sweep.
    }
    ~Cloud() override {
        term().end({Code::unavailable, "test"});
        timers.settle();
    }
    void TestBody() override {}

    static std::string tenant(int number) { return fmt::format("t-{}", number % tenants); }
    void add_host(Desk& now, int number) {
        const std::string id = fmt::format("h-{:04}", number);
        now.estate.hosts.add({.id = id, .zone = "nj", .facts = DeskRig::facts_of(id, 8)});
        HostReport& report = reports[id];
        report.complete = true;
        report.facts = now.estate.hosts.at(id).facts;
        for (int i = 0; i < 4; ++i) add_instance(now, id, number * 4 + i, report);
    }
    void say_hello(Desk& now, const std::string& id, HostReport report) {
        (void)host_connected(now, id, "access-nj", 1);
        (void)host_greets(now, id, "access-nj", 1, "", 0, 0);
        note_report(now, id, std::move(report), timers.now());
    }
    void add_instance(Desk& now, const std::string& host, int number, HostReport& report) {
        const std::string of = tenant(number);
        Subnet subnet{.id = fmt::format("sn-{}", number), .network = fmt::format("n-{}", number % tenants)};
        subnet.tenant = of;
        subnet.host = host;
        subnet.index = static_cast<std::uint32_t>(number);
        Instance one{.id = fmt::format("i-{}", number), .caller_id = "web", .tenant = of};
        one.caller_id = fmt::format("web-{}", number);
        one.spec_name = "small";
        one.phase = InstancePhase::running;
        one.host = host;
        one.zone = "nj";
        one.subnet = subnet.id;
        one.schedule.inactivity_s = 3600;
        Claim held{.id = fmt::format("c-{}", number), .host = host, .zone = "nj", .use = ClaimUse::instance};
        held.tenant = of;
        held.holder = one.id;
        held.gpus = {report.facts->gpus[static_cast<std::size_t>(number % 4)].uuid};
        held.address_index = 2 + number % 4;
        one.claim = held.id;
        one.address = now.pool.address(subnet.index, held.address_index);
        now.estate.hold(std::move(held));
        now.estate.subnets.add(std::move(subnet));
        now.estate.instances.add(one);
        report.workloads[one.id] = {.state = "running", .generation = 1, .ready = true, .unused_ms = 0};
    }

    std::uint64_t rows(auto act) {
        const std::uint64_t before = term().look().estate.rows_visited();
        act();
        return term().look().estate.rows_visited() - before;
    }
    std::uint64_t rows_of_call(const std::string& method, const std::string& target,
                               const std::string& body = "") {
        return rows([&] { EXPECT_EQ(call("t-1", method, target, body).status, 200) << method << target; });
    }

    static constexpr int tenants = 50;
    std::map<std::string, HostReport> reports;
    TaskGroup running{loop};
};

struct Counts {
    std::uint64_t sweep = 0, dry_run = 0, create = 0, sweep_after = 0, get = 0, remove = 0, overview = 0,
                  whoami = 0;
    bool operator==(const Counts&) const = default;
};

Counts counts_of(int hosts) {
    Cloud cloud{hosts};
    Counts counts;
    counts.sweep = cloud.rows([&] { cloud.timers.advance(seconds{5}); });
    const std::string wanted = Cloud::start("one-more", "t-1");
    counts.dry_run = cloud.rows_of_call("POST", "/gpu-instances?dryRun=true", wanted);
    counts.create = cloud.rows_of_call("POST", "/gpu-instances", wanted);
    counts.sweep_after = cloud.rows([&] { cloud.timers.advance(seconds{1}); });
    counts.get = cloud.rows_of_call("GET", "/gpu-instances/one-more");
    counts.remove = cloud.rows_of_call("DELETE", "/gpu-instances/one-more");
    EXPECT_EQ(cloud.call("", "GET", "/v1/overview").status, 200);  // The first one counts what there is.
    (void)cloud.rows_of_call("POST", "/gpu-instances", Cloud::start("two-more", "t-1"));
    counts.overview = cloud.rows([&] { EXPECT_EQ(cloud.call("", "GET", "/v1/overview").status, 200); });
    counts.whoami = cloud.rows_of_call("GET", "/v1/whoami");
    return counts;
}

void PrintTo(const Counts& counts, std::ostream* out) {
    *out << fmt::format(
        "rows of five sweeps {}, a dry run {}, a create {}, the sweep after it {}, a get {}, a "
        "delete {}, an overview {}, a whoami {}",
        counts.sweep, counts.dry_run, counts.create, counts.sweep_after, counts.get, counts.remove,
        counts.overview, counts.whoami);
}

TEST(Scans, NeitherCallsNorSweepsLookAtMoreInALargerFleet) {
    const Counts small = counts_of(100);
    EXPECT_EQ(small, counts_of(1000));
    EXPECT_GT(small.create, 0u) << "they are counted";
}

}  // namespace
}  // namespace hostler::master
