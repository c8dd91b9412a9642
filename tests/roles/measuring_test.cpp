// A host from its token to what it sells: the shipped agent, access point and master on real sockets, and
// GPUs that CUDA measures – the simulated one, in which the processor does what our kernels do.
#include <cstdlib>

#include "adapters/cuda/bench.h"
#include "adapters/series/memory.h"
#include "adapters/sodium/sealer.h"
#include "adapters/sqlite/store.h"
#include "core/worker.h"
#include "ports/testing/played_outgoing.h"
#include "ports/testing/quick_passwords.h"
#include "rig.h"
#include "roles/agent/agent.h"
#include "roles/agent/testing/fakes.h"
#include "roles/master/server/master.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// As simulated_cuda names its first one.
constexpr const char* gpu_uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";

class MeasuredHost : public ::testing::Test, public World {
protected:
    MeasuredHost() {
        ::unsetenv("HOSTLER_SIMULATED_CUDA");
        master::Settings settings;
        settings.zones = {{"nj", "New Jersey"}};
        settings.report_interval = 500ms;
        settings.operator_key_hash = digest.sha256("hk_operator");
        master_ = std::make_unique<master::Master>(
            settings, master::Ports{loop, *timers, *net, *random, *store_, *authority, digest,
                                    certified("master", "m"), series_, outgoing_, *sealer_, passwords_});
        master_tasks_.start("master", master_->run());
        EXPECT_TRUE(go(master_->ready()));
        access::Settings of_access;
        of_access.masters = {master_->wire_address()};
        of_access.uplink_listen = of_access.tunnel_listen = of_access.control_listen = "127.0.0.1:0";
        of_access.zone = "nj";
        of_access.speed_bytes_max = 1 << 20;
        access_ = std::make_unique<access::Access>(
            of_access, access::Ports{loop, *timers, *net, *random, journal_, certified("access", "ap-1")});
        access_tasks_.start("access", access_->run());
        EXPECT_TRUE(eventually([this] { return access_->linked(); }));
        GpuFacts& gpu = telemetry_.inventory.gpus.front();
        gpu.uuid = gpu_uuid;
        gpu.model = gpu.product = "Simulated GPU";  // No data sheet says how fast it has to be.
        gpu.cdi_name = "nvidia.com/gpu=" + gpu.uuid;
        telemetry_.shown.uuid = gpu_uuid;
        telemetry_.shown.energy_mj = 1'000'000;
        agent_settings_.gpu_test = 1s;
        agent_settings_.gpu_look_interval = 500ms;
        agent_settings_.busy_look = 100ms;
    }
    ~MeasuredHost() override {
        ::unsetenv("HOSTLER_SIMULATED_CUDA");
        (void)go(agent_tasks_.close());
        agent_.reset();
        (void)go(access_tasks_.close());
        access_.reset();
        (void)go(master_tasks_.close());
    }

    void join() {
        const auto token = call("POST", "/v1/host-tokens", R"({"zone": "nj"})");
        agent_settings_.token = text_of(token, "token");
        agent_settings_.access = {access_->addresses().uplink};
        agent_settings_.version = "0.1";
        agent_ = std::make_unique<agent::Agent>(agent_settings_, agent::Ports{loop,
                                                                              *timers,
                                                                              *net,
                                                                              *random,
                                                                              engine_,
                                                                              networks_,
                                                                              volumes_,
                                                                              agent_journal_,
                                                                              logs_,
                                                                              {&telemetry_},
                                                                              host_,
                                                                              *keys,
                                                                              nullptr,
                                                                              nullptr,
                                                                              nullptr,
                                                                              nullptr,
                                                                              &bench_});
        agent_tasks_.start("agent", [](agent::Agent& role) -> Task<> {
            (void)co_await role.run();
            co_return Result<>{};
        }(*agent_));
        ASSERT_TRUE(eventually([this] { return agent_->connected(); }));
    }
    std::string call(const std::string& method, const std::string& target, const std::string& body = "") {
        http::Request request{.method = method, .target = target};
        request.headers.set("Authorization", "Bearer hk_operator");
        if (!body.empty()) request.headers.set("Content-Type", "application/json");
        request.body = body;
        const auto answer = go(client_.fetch({.address = master_->api_address()}, request));
        return answer ? answer->body : answer.error().message;
    }
    static std::string text_of(const std::string& json, const std::string& member) {
        const std::string key = "\"" + member + "\":\"";
        const auto begin = json.find(key);
        if (begin == std::string::npos) return {};
        return json.substr(begin + key.size(), json.find('"', begin + key.size()) - begin - key.size());
    }
    // Until the API says so. Benchmarks take their time on a busy machine.
    bool comes(const std::string& target, const std::string& text) {
        for (int i = 0; i < 120; ++i) {
            last_ = call("GET", target);
            if (last_.find(text) != std::string::npos) return true;
            pass(250ms);
        }
        return false;
    }
    std::string host() const { return "/v1/hosts/" + agent_->host(); }
    static std::string gpu(const std::string& what = "") {
        return std::string{"/v1/gpus/"} + gpu_uuid + what;
    }
    // A fault, and what heals it; it is read once before.
    void break_and_reset() {
        telemetry_.faults.push_back({.uuid = gpu_uuid, .kind = "xid", .code = 48});
        ASSERT_TRUE(comes(gpu("/explain"), R"("state":"faulty")")) << last_;
        pass(1s);
        telemetry_.shown.energy_mj = 1;
    }

    std::unique_ptr<Worker> worker_ = make_worker(loop, "store");
    std::unique_ptr<Store> store_ = open_sqlite(folder.path() + "/store.db", *worker_).value();
    std::unique_ptr<Sealer> sealer_ = sodium::open_sealer(folder.path() + "/sealing.keys").value();
    series::MemoryRows rows_;
    series::MemoryStore series_{rows_};
    hostler::testing::PlayedOutgoing outgoing_{*timers};
    hostler::testing::QuickPasswords passwords_;
    std::unique_ptr<master::Master> master_;
    TaskGroup master_tasks_{loop};
    MemoryJournal journal_;
    std::unique_ptr<access::Access> access_;
    TaskGroup access_tasks_{loop};
    cuda::CudaBench bench_{*timers,
                           {.measure = {CUDA_MEASURE, "measure"},
                            .prove = {CUDA_MEASURE, "prove"},
                            .library = SIMULATED_CUDA,
                            .each = 200ms}};
    agent::Settings agent_settings_;
    agent::testing::FakeEngine engine_;
    agent::testing::FakeNetworks networks_;
    agent::testing::FakeVolumes volumes_;
    agent::testing::FakeLogs logs_;
    agent::testing::FakeTelemetry telemetry_;
    agent::testing::FakeHost host_;
    agent::testing::FakeJournal agent_journal_;
    std::unique_ptr<agent::Agent> agent_;
    TaskGroup agent_tasks_{loop};
    http::Client client_{*net, *timers};
    std::string last_;
};

TEST_F(MeasuredHost, IsMeasuredWhenItJoinsAndAdmitted) {
    join();
    ASSERT_TRUE(comes(host(), R"("admission":"admitted")")) << last_;
    EXPECT_THAT(last_, HasSubstr(R"("state":"ready")"));
    const std::string shown = call("GET", gpu());
    for (const char* figure : {"memoryCopyGbS", "fp32Tflops", "tensorTflops", "hostToGpuGbS", "gpuToHostGbS"})
        EXPECT_THAT(shown, HasSubstr(std::string{"\""} + figure + "\":"));
    EXPECT_THAT(shown, HasSubstr(R"("verdict":"unrated")"));
}

TEST_F(MeasuredHost, IsRefusedWhereAGpuComputesWrongly) {
    ::setenv("HOSTLER_SIMULATED_CUDA", "wrong-fma", 1);
    join();
    ASSERT_TRUE(comes(host(), R"("state":"refused")")) << last_;
    EXPECT_THAT(last_, HasSubstr("it is faulty"));
    EXPECT_THAT(call("GET", gpu()), HasSubstr(R"("verdict":"faulty")"));
    // Mended, and measured again by an operator's word.
    ::unsetenv("HOSTLER_SIMULATED_CUDA");
    call("POST", host() + "/measure");
    EXPECT_TRUE(comes(host(), R"("state":"ready")")) << last_;
}

TEST_F(MeasuredHost, AGpuComesBackOnceItsRetestWasRight) {
    join();
    ASSERT_TRUE(comes(host(), R"("admission":"admitted")"));
    break_and_reset();
    ASSERT_TRUE(comes(gpu("/explain"), R"("state":"healthy","sentence")")) << last_;
    EXPECT_THAT(last_, HasSubstr("its benchmark after the reset was right"));
}

TEST_F(MeasuredHost, AGpuThatFailsItsRetestStaysOut) {
    join();
    ASSERT_TRUE(comes(host(), R"("admission":"admitted")"));
    ::setenv("HOSTLER_SIMULATED_CUDA", "wrong-memory", 1);
    break_and_reset();
    ASSERT_TRUE(comes(gpu("/explain"), "its benchmark after the reset: ")) << last_;
    pass(3s);
    last_ = call("GET", gpu("/explain"));
    EXPECT_THAT(last_, HasSubstr(R"("state":"faulty","sentence")"));
    EXPECT_THAT(last_, HasSubstr(R"("remedy":"replace")"));
    EXPECT_THAT(last_, HasSubstr("were wrong"));
}

TEST_F(MeasuredHost, ItsWayToTheAccessPointIsMeasured) {
    join();
    ASSERT_TRUE(comes(host(), R"("downMbitS":)")) << last_;
    EXPECT_THAT(last_, HasSubstr(R"("accessPoint":"ap-1")"));
    for (const char* figure : {"roundTripMs", "upMbitS"})
        EXPECT_THAT(last_, HasSubstr(std::string{"\""} + figure + "\":"));
    EXPECT_EQ(access_->counters().speeds_measured, 1u);
}

}  // namespace
}  // namespace hostler::rig
