// Remote-write into a real Prometheus: what arrives is what was measured, whatever happens in between.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <set>

#include "adapters/curl/outgoing.h"
#include "adapters/net/net.h"
#include "adapters/remote_write/forwarded_store.h"
#include "adapters/remote_write/sender.h"
#include "adapters/series/memory.h"
#include "domain/inventory/metrics.h"
#include "tests/contract/program.h"
#include "tests/contract/rig.h"

namespace hostler::contract {
namespace {

using namespace std::chrono_literals;

class RemoteWriteRig : public RealRig<Rig> {
public:
    std::unique_ptr<Timers> real = net::make_timers(loop_);
    std::unique_ptr<Outgoing> outgoing = curl::make_outgoing(loop_, *real, {});
};

// A master's part in it: what it loses when it ends is all in here.
struct SenderProcess {
    SenderProcess(RemoteWriteRig& in, series::MemoryRows& rows, const std::string& folder, std::string url)
        : rig(in),
          store(rows),
          worker(make_worker(in.loop(), "outbox")),
          backlog(*worker, remote_write::Outbox::open(folder).value()),
          forwarded(store, backlog, 7),
          sender(*in.real, *in.outgoing, backlog, {.url = std::move(url), .backoff_max = 500ms}),
          group(in.loop()) {
        group.start("sender", sender.run());
    }
    ~SenderProcess() { EXPECT_TRUE(rig.run(group.close())); }

    RemoteWriteRig& rig;
    series::MemoryStore store;
    std::unique_ptr<Worker> worker;
    remote_write::Backlog backlog;
    remote_write::ForwardedStore forwarded;
    remote_write::Sender sender;
    TaskGroup group;
};

class RemoteWritePrometheus : public ::testing::Test {
protected:
    RemoteWritePrometheus() { std::ofstream{folder_.path() + "/p.yml"} << "global: {}\n"; }

    void start_server() {
        server_ = std::make_unique<Program>(
            std::vector<std::string>{"prometheus", "--config.file=" + folder_.path() + "/p.yml",
                                     "--storage.tsdb.path=" + folder_.path() + "/data",
                                     fmt::format("--web.listen-address=127.0.0.1:{}", port_),
                                     "--web.enable-remote-write-receiver"},
            folder_.path() + "/log");
        port_ = server_->number_after("msg=\"Listening on\" address=127.0.0.1:");
    }
    void start_sender() {
        process_ = std::make_unique<SenderProcess>(rig_, rows_, folder_.path() + "/outbox",
                                                   fmt::format("http://127.0.0.1:{}/api/v1/write", port_));
        for (int gpu = 0; gpu < gpus; ++gpu)
            numbers_[gpu] = rig_.run(process_->forwarded.describe({fmt::format("gpu/h/GPU-{}", gpu),
                                                                   columns_of(Measured::gpu),
                                                                   {{"host", "h"},
                                                                    {"host_name", "h.example"},
                                                                    {"gpu", fmt::format("GPU-{}", gpu)},
                                                                    {"index", std::to_string(gpu)},
                                                                    {"zone", "lon"}}},
                                                                  0))
                                .value();
    }
    // A report of all GPUs, ten seconds after the last.
    void report() {
        time_ += 10'000;
        SampleBatch batch;
        for (int gpu = 0; gpu < gpus; ++gpu) {
            GpuSample sample;
            sample.power_mw = 300'123 + static_cast<int>(time_ / 1000 % 977) * 7 + gpu;
            sample.temperature_celsius = 40 + gpu;
            batch.rows.push_back({numbers_[gpu], time_});
            for (const double value : pack_metrics(sample))
                batch.cells.push_back(std::isnan(value) ? series::absent : static_cast<series::Cell>(value));
            expected_[gpu].insert({time_, static_cast<double>(*sample.power_mw) * 1e-3});
            samples_ += 2;
        }
        ASSERT_TRUE(rig_.run(process_->forwarded.append(std::move(batch))));
    }
    void wait_until_sent() {
        rig_.drive([&] { return process_->backlog.count().samples == 0; });
    }
    // What Prometheus has of one GPU's power.
    std::set<std::pair<series::Millis, double>> stored(int gpu) {
        const std::string query = fmt::format(
            "DCGM_FI_DEV_POWER_USAGE%7Bgpu%3D%22{}%22%2Cinstance%3D%22h%22%2C"
            "UUID%3D%22GPU-{}%22%2CHostname%3D%22h.example%22%2Czone%3D%22lon%22%7D%5B1h%5D",
            gpu, gpu);
        const auto answer = rig_.run(
            rig_.outgoing->send({.method = "GET",
                                 .url = fmt::format("http://127.0.0.1:{}/api/v1/query?time={}&query={}",
                                                    port_, time_ / 1000 + 1, query),
                                 .reach = Reach::anywhere,
                                 .answer_bytes_max = 1 << 20}));
        std::set<std::pair<series::Millis, double>> all;
        const auto body = boost::json::parse(answer.value().body);
        for (const auto& series : body.at("data").at("result").as_array())
            for (const auto& pair : series.at("values").as_array())
                all.insert({std::llround(pair.at(0).to_number<double>() * 1000),
                            std::stod(std::string{pair.at(1).as_string()})});
        return all;
    }
    void expect_all_there() {
        wait_until_sent();
        for (int gpu = 0; gpu < gpus; ++gpu) EXPECT_EQ(stored(gpu), expected_[gpu]) << gpu;
    }

    static constexpr int gpus = 5;
    RemoteWriteRig rig_;
    testing::TempFolder folder_;
    int port_ = 0;  // Kept when the server starts again.
    std::unique_ptr<Program> server_;
    series::MemoryRows rows_;
    std::unique_ptr<SenderProcess> process_;
    DeviceNumber numbers_[gpus] = {};
    series::Millis time_ =
        std::chrono::duration_cast<std::chrono::milliseconds>((rig_.real->wall() - 30min).time_since_epoch())
            .count();
    std::set<std::pair<series::Millis, double>> expected_[gpus];
    std::uint64_t samples_ = 0;
};

TEST_F(RemoteWritePrometheus, HasExactlyWhatWasMeasured) {
    start_server();
    start_sender();
    for (int i = 0; i < 10; ++i) report();
    expect_all_there();
    EXPECT_EQ(process_->sender.count().sent, samples_);
    EXPECT_EQ(process_->sender.count().refused, 0U);
}

TEST_F(RemoteWritePrometheus, LosesNothingWhileItOrTheSenderIsAway) {
    start_server();
    start_sender();
    for (int i = 0; i < 5; ++i) report();
    expect_all_there();
    server_->stop(SIGKILL);
    for (int i = 0; i < 5; ++i) report();
    rig_.drive([&] { return process_->sender.count().failed >= 2; });
    process_.reset();
    start_sender();
    for (int i = 0; i < 5; ++i) report();
    start_server();
    for (int i = 0; i < 5; ++i) report();
    expect_all_there();
    EXPECT_EQ(process_->sender.count().refused, 0U);
    EXPECT_EQ(process_->backlog.count().samples_dropped, 0U);
}

// The cursor of before is that of a power cut: what was sent since is sent again, and refused where it is
// older than what the server has. Nothing else goes with it.
TEST_F(RemoteWritePrometheus, WhatIsSentTwiceCostsNothing) {
    start_server();
    start_sender();
    for (int i = 0; i < 3; ++i) report();
    wait_until_sent();
    const auto cursor = folder_.path() + "/outbox/cursor";
    std::filesystem::copy_file(cursor, cursor + ".before");
    for (int i = 0; i < 3; ++i) report();
    wait_until_sent();
    process_.reset();
    std::filesystem::rename(cursor + ".before", cursor);
    start_sender();
    for (int i = 0; i < 3; ++i) report();
    expect_all_there();
}

}  // namespace
}  // namespace hostler::contract
