#include "adapters/remote_write/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <fstream>

#include "adapters/remote_write/forwarded_store.h"
#include "core/testing/manual_timers.h"
#include "core/testing/run.h"
#include "core/testing/temp_folder.h"
#include "domain/inventory/metrics.h"
#include "ports/testing/played_outgoing.h"
#include "proto/remote_write.pb.h"

namespace hostler::remote_write {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Does at once what it is given.
class PromptWorker final : public Worker {
public:
    explicit PromptWorker(Loop& loop) : loop_(loop) {}
    void post(std::move_only_function<void()> job, std::move_only_function<void()> done) override {
        job();
        asio::post(loop_, [then = std::move(done)]() mutable { then(); });
    }
    std::size_t backlog() const override { return 0; }

private:
    Loop& loop_;
};

// A store that keeps nothing and takes everything.
class OpenStore final : public SeriesStore {
public:
    Task<DeviceNumber> describe(series::Device device, series::Millis) override {
        const auto [at, fresh] = numbers.try_emplace(device.id, static_cast<DeviceNumber>(numbers.size()));
        co_return at->second;
    }
    Task<> append(SampleBatch) override {
        if (failure) co_return std::unexpected(*failure);
        co_return Result<>{};
    }
    Task<std::vector<series::Line>> query(series::Query) override { co_return std::vector<series::Line>{}; }
    Task<> keep(SeriesPolicy, WallTime) override { co_return Result<>{}; }
    Task<> flush() override { co_return Result<>{}; }
    Task<SeriesStats> stats() override { co_return SeriesStats{}; }
    std::map<std::string, DeviceNumber> numbers;
    std::optional<Error> failure;
};

WriteRequest request_of(const HttpCall& call) {
    std::string plain;
    EXPECT_TRUE(snappy::Uncompress(call.body.data(), call.body.size(), &plain));
    WriteRequest request;
    EXPECT_TRUE(request.ParseFromString(plain));
    return request;
}

// "name{a=1,b=2} value@time", as they came.
std::vector<std::string> said(const WriteRequest& request) {
    std::vector<std::string> all;
    for (const TimeSeries& series : request.timeseries()) {
        std::string labels;
        for (const Label& label : series.labels())
            labels += fmt::format("{}{}={}", labels.empty() ? "" : ",", label.name(), label.value());
        for (const Sample& sample : series.samples())
            all.push_back(fmt::format("{} {}@{}", labels, sample.value(), sample.timestamp()));
    }
    return all;
}

class RemoteWrite : public ::testing::Test {
protected:
    RemoteWrite() {
        outgoing_.servers["http://db/"] = [this](const HttpCall& call) { return answer_(call); };
        open();
    }
    ~RemoteWrite() override { close(); }

    void open(OutboxLimits limits = {}) {
        backlog_ = std::make_unique<Backlog>(worker_, Outbox::open(folder_.path() + "/out", limits).value());
        sender_ = std::make_unique<Sender>(timers_, outgoing_, *backlog_, target_);
        forwarded_ = std::make_unique<ForwardedStore>(store_, *backlog_, 3);
        group_ = std::make_unique<TaskGroup>(loop_);
        group_->start("sender", sender_->run());
        timers_.settle();
    }
    void close() {
        group_->cancel();
        timers_.settle();
        group_.reset();
    }
    DeviceNumber device(const std::string& host, const std::string& zone, series::Millis from = 0) {
        return testing::run(loop_, forwarded_->describe(
                                       {"host/" + host,
                                        columns_of(Measured::host),
                                        {{"host", host}, {"host_name", host + ".example"}, {"zone", zone}}},
                                       from))
            .value();
    }
    // One sample of a host, of one metric.
    Result<> put(DeviceNumber device, series::Millis time, std::int64_t load_milli) {
        HostSample sample;
        sample.load_milli = load_milli;
        SampleBatch batch;
        batch.rows.push_back({device, time});
        for (const double value : pack_metrics(sample))
            batch.cells.push_back(std::isnan(value) ? series::absent : static_cast<series::Cell>(value));
        auto put = testing::try_run(loop_, forwarded_->append(std::move(batch)));
        return put ? *put : fail(Code::internal, "it waits");
    }
    std::vector<std::string> heard() {
        std::vector<std::string> all;
        for (const HttpCall& call : outgoing_.sent)
            for (const std::string& one : said(request_of(call))) all.push_back(one);
        return all;
    }
    std::string metrics() const {
        MetricsPage page;
        sender_->write_metrics(page);
        return page.text();
    }
    static std::string row(series::Millis time, std::string value) {
        return fmt::format("Hostname=h.example,__name__=hostler_host_load1,instance=h,zone=lon {}@{}", value,
                           time);
    }

    Loop loop_;
    testing::ManualTimers timers_{loop_};
    PromptWorker worker_{loop_};
    testing::TempFolder folder_;
    testing::PlayedOutgoing outgoing_{timers_};
    std::function<Result<HttpAnswer>(const HttpCall&)> answer_ = [](const HttpCall&) {
        return HttpAnswer{.status = 204};
    };
    Target target_{.url = "http://db/write", .headers = {{"X-Scope-OrgID", "us"}}};
    OpenStore store_;
    std::unique_ptr<Backlog> backlog_;
    std::unique_ptr<Sender> sender_;
    std::unique_ptr<ForwardedStore> forwarded_;
    std::unique_ptr<TaskGroup> group_;
};

TEST_F(RemoteWrite, WhatIsDurableIsSentAsTheSpecificationSays) {
    const auto host = device("h", "lon");
    ASSERT_TRUE(put(host, 1'800'000'000'123, 1500));
    timers_.settle();
    ASSERT_EQ(outgoing_.sent.size(), 1U);
    const std::map<std::string, std::string> headers{outgoing_.sent[0].headers.begin(),
                                                     outgoing_.sent[0].headers.end()};
    EXPECT_EQ(headers, (std::map<std::string, std::string>{{"X-Scope-OrgID", "us"},
                                                           {"Content-Type", "application/x-protobuf"},
                                                           {"Content-Encoding", "snappy"},
                                                           {"X-Prometheus-Remote-Write-Version", "0.1.0"}}));
    EXPECT_EQ(heard(), std::vector{row(1'800'000'000'123, "1.5")}) << "labels by name, capitals first";
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_sent_total 1\n"));
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_lag_seconds 0\n"));
}

TEST_F(RemoteWrite, GpusHaveTheNamesOfDcgm) {
    GpuSample sample;
    sample.power_mw = 250'500;
    sample.memory_total_bytes = 80LL << 30;
    sample.memory_used_bytes = 30LL << 30;
    std::vector<series::Cell> cells;
    for (const double value : pack_metrics(sample))
        cells.push_back(std::isnan(value) ? series::absent : static_cast<series::Cell>(value));
    const auto number = testing::run(loop_, forwarded_->describe({"gpu/h/GPU-1",
                                                                  columns_of(Measured::gpu),
                                                                  {{"host", "h"},
                                                                   {"gpu", "GPU-1"},
                                                                   {"index", "3"},
                                                                   {"model", "H100"},
                                                                   {"tenant", "acme"},
                                                                   {"use", "instance"}}},
                                                                 0))
                            .value();
    SampleBatch batch;
    batch.rows.push_back({number, 5});
    batch.cells = cells;
    ASSERT_TRUE(testing::run(loop_, forwarded_->append(batch)));
    timers_.settle();
    const auto of = [](std::string name, std::string value) {
        return fmt::format("UUID=GPU-1,__name__={},gpu=3,instance=h,modelName=H100,tenant=acme {}@5", name,
                           value);
    };
    EXPECT_THAT(heard(), ::testing::UnorderedElementsAre(
                             of("DCGM_FI_DEV_POWER_USAGE", "250.5"), of("DCGM_FI_DEV_FB_USED", "30720"),
                             of("DCGM_FI_DEV_FB_TOTAL", "81920"), of("DCGM_FI_DEV_FB_FREE", "51200")));
    EXPECT_EQ(outgoing_.sent.size(), 2U) << "three samples a request at most";
}

TEST_F(RemoteWrite, SlicesHaveTheLabelsOfDcgm) {
    SliceSample sample;
    sample.memory_total_bytes = 10LL << 30;
    sample.memory_used_bytes = 4LL << 30;
    SampleBatch batch;
    for (const double value : pack_metrics(sample))
        batch.cells.push_back(std::isnan(value) ? series::absent : static_cast<series::Cell>(value));
    const series::Labels labels{
        {"host", "h"}, {"gpu", "GPU-1"}, {"slice", "MIG-1"}, {"profile", "1g.10gb"}, {"gpu_instance", "9"}};
    const auto number =
        testing::run(loop_, forwarded_->describe({"slice/h/MIG-1", columns_of(Measured::slice), labels}, 0))
            .value();
    batch.rows.push_back({number, 5});
    ASSERT_TRUE(testing::run(loop_, forwarded_->append(batch)));
    timers_.settle();
    const auto of = [](std::string name, std::string value) {
        return fmt::format(
            "GPU_I_ID=9,GPU_I_PROFILE=1g.10gb,UUID=GPU-1,__name__={},instance=h,slice=MIG-1 {}@5", name,
            value);
    };
    EXPECT_THAT(heard(), ::testing::UnorderedElementsAre(of("DCGM_FI_DEV_FB_USED", "4096"),
                                                         of("DCGM_FI_DEV_FB_TOTAL", "10240"),
                                                         of("DCGM_FI_DEV_FB_FREE", "6144")));
}

TEST_F(RemoteWrite, RowsHaveTheLabelsOfTheirTime) {
    const auto host = device("h", "lon", 0);
    ASSERT_EQ(device("h", "fra", 1000), host);
    ASSERT_TRUE(put(host, 999, 1000));
    ASSERT_TRUE(put(host, 1000, 2000));
    timers_.settle();
    EXPECT_THAT(heard(), ::testing::ElementsAre(HasSubstr("zone=lon 1@999"), HasSubstr("zone=fra 2@1000")));
}

TEST_F(RemoteWrite, WhileTheReceiverIsAwayAllIsKeptInOrder) {
    bool away = true;
    int tried = 0;
    answer_ = [&](const HttpCall&) -> Result<HttpAnswer> {
        ++tried;
        if (away) return fail(Code::unavailable, "refused");
        return HttpAnswer{.status = 200};
    };
    const auto host = device("h", "lon");
    std::vector<std::string> expected;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(put(host, i, i * 1000));
        expected.push_back(row(i, std::to_string(i)));
    }
    timers_.advance(10min);
    EXPECT_GT(tried, 15);
    EXPECT_LT(tried, 40) << "it waits longer from time to time, up to 30 s";
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_backlog_samples 20\n"));
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_sent_total 0\n"));
    const auto forwarding = [&] {
        return testing::run(loop_, forwarded_->stats()).value().forwarding.value();
    };
    EXPECT_EQ(forwarding().oldest, 0) << "the first has not gone";
    EXPECT_GT(forwarding().bytes, 0u);
    EXPECT_EQ(forwarding().bytes_max, OutboxLimits{}.bytes_max);
    away = false;
    outgoing_.sent.clear();
    timers_.advance(31s);
    EXPECT_EQ(heard(), expected);
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_backlog_samples 0\n"));
    EXPECT_EQ(forwarding().oldest, std::nullopt);
}

TEST_F(RemoteWrite, ARestartGoesOnWithWhatWasNotTaken) {
    const auto host = device("h", "lon");
    ASSERT_TRUE(put(host, 1, 1000));
    timers_.settle();
    answer_ = [](const HttpCall&) -> Result<HttpAnswer> { return HttpAnswer{.status = 503}; };
    for (int i = 2; i < 6; ++i) ASSERT_TRUE(put(host, i, i * 1000));
    timers_.settle();
    close();
    outgoing_.sent.clear();
    answer_ = [](const HttpCall&) -> Result<HttpAnswer> { return HttpAnswer{.status = 200}; };
    open();
    ASSERT_TRUE(put(device("h", "lon"), 6, 6000));
    timers_.settle();
    EXPECT_EQ(heard(), (std::vector{row(2, "2"), row(3, "3"), row(4, "4"), row(5, "5"), row(6, "6")}));
}

TEST_F(RemoteWrite, ABusyReceiverIsLeftAloneForAsLongAsItAsks) {
    std::vector<Instant> tried;
    answer_ = [&](const HttpCall&) -> Result<HttpAnswer> {
        tried.push_back(timers_.now());
        if (tried.size() > 1) return HttpAnswer{.status = 200};
        return HttpAnswer{.status = 429, .headers = {{"Retry-After", "77"}}};
    };
    ASSERT_TRUE(put(device("h", "lon"), 1, 1));
    timers_.advance(76s);
    EXPECT_EQ(tried.size(), 1U);
    timers_.advance(2s);
    ASSERT_EQ(tried.size(), 2U);
    EXPECT_EQ(tried[1] - tried[0], 77s);
}

TEST_F(RemoteWrite, WhatIsRefusedIsDroppedAndItsNeighboursAreNot) {
    answer_ = [](const HttpCall& call) -> Result<HttpAnswer> {
        for (const std::string& one : said(request_of(call)))
            if (one.ends_with("@2")) return HttpAnswer{.status = 400, .body = "out of order"};
        return HttpAnswer{.status = 200};
    };
    const auto host = device("h", "lon");
    HostSample sample;
    sample.load_milli = 1000;
    SampleBatch batch;
    for (const series::Millis time : {1, 2, 3}) {
        batch.rows.push_back({host, time});
        for (const double value : pack_metrics(sample))
            batch.cells.push_back(std::isnan(value) ? series::absent : static_cast<series::Cell>(value));
    }
    ASSERT_TRUE(testing::run(loop_, forwarded_->append(batch)));
    timers_.settle();
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_sent_total 2\n"));
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_dropped_total{reason=\"refused\"} 1\n"));
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_failed_total 0\n"));
}

TEST_F(RemoteWrite, AWrongKeyLosesNothing) {
    const std::string file = folder_.path() + "/token";
    std::ofstream{file} << "old\n";
    target_.token_file = file;
    close();
    open();
    answer_ = [](const HttpCall& call) -> Result<HttpAnswer> {
        for (const auto& [name, value] : call.headers)
            if (name == "Authorization" && value == "Bearer new") return HttpAnswer{.status = 200};
        return HttpAnswer{.status = 401};
    };
    ASSERT_TRUE(put(device("h", "lon"), 1, 1000));
    timers_.advance(60s);
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_sent_total 0\n"));
    std::ofstream{file} << "new\n";
    timers_.advance(31s);
    EXPECT_THAT(metrics(), HasSubstr("hostler_remote_write_sent_total 1\n"));
}

TEST_F(RemoteWrite, WhatTheStoreDidNotTakeIsNotSent) {
    store_.failure = Error{Code::exhausted, "full"};
    EXPECT_FALSE(put(device("h", "lon"), 1, 1));
    timers_.settle();
    EXPECT_TRUE(outgoing_.sent.empty());
}

}  // namespace
}  // namespace hostler::remote_write
