// `hostler top`: what it shows, and that it leaves the terminal as it was.
#include "cli/top.h"

#include <csignal>

#include "api/operations_usage.h"
#include "api/operations_whoami.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

api::GpuUsage gpu(int index, double percent) {
    return {.id = fmt::format("GPU-{}", index),
            .host = "h-1",
            .host_name = "gpu-07",
            .zone = "nj",
            .index = index,
            .model = "H100 SXM5 80GB",
            .use = api::GpuUse::instance,
            .instance_id = "notebook-1",
            .tenant_id = "acme",
            .utilization_percent = percent,
            .memory_used_bytes = std::int64_t{40} << 30,
            .memory_total_bytes = std::int64_t{80} << 30,
            .power_watts = 412.4,
            .power_limit_watts = 700,
            .temperature_celsius = 58,
            .sampled_at = WallTime{}};
}

api::HostUsage host() {
    return {.id = "h-1",
            .name = "gpu-07",
            .zone = "nj",
            .state = api::HostState::ready,
            .gpus = 8,
            .gpus_used = 2,
            .cpu_percent = 12,
            .load = 3.25};
}

std::string joined(const std::vector<std::string>& lines) {
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

TEST(TopLines, HostsGpusAndInstances) {
    const Top top{.gpus = {gpu(0, 100), gpu(1, 20)}, .hosts = {host()}, .at = WallTime{}, .trouble = ""};
    EXPECT_EQ(
        joined(top_lines(top, {})),
        "Hostler  1 host  2 GPUs, 2 held  60% busy  0.8 kW  00:00:00Z\n"
        "\n"
        "HOST    ZONE  STATE  CPU              LOAD  GPUS\n"
        "gpu-07  nj    ready  |.........  12%   3.2   2/8\n"
        "\n"
        "HOST    GPU  MODEL           BUSY                    MEMORY      POWER  TEMP  HELD BY     TENANT\n"
        "gpu-07    0  H100 SXM5 80GB  |||||||||| 100%  40.0/80.0 GiB  412/700 W  58 C  notebook-1  acme\n"
        "gpu-07    1  H100 SXM5 80GB  ||........  20%  40.0/80.0 GiB  412/700 W  58 C  notebook-1  acme\n"
        "\n"
        "INSTANCE    TENANT  GPUS  BUSY                     MEMORY  POWER  PROCESSES\n"
        "notebook-1  acme       2  ||||||....  60%  80.0/160.0 GiB  825 W          0\n");
}

TEST(TopLines, APodOrItsNodeHoldsAGpu) {
    auto one = gpu(0, 50), two = gpu(1, 0);
    for (api::GpuUsage* of : {&one, &two}) {
        of->use = api::GpuUse::cluster;
        of->instance_id.clear();
        of->cluster = "train";
        of->node = "train-w1";
    }
    one.pod_namespace = "default";
    one.pod = "job-0\x1b[2J";
    const auto lines = top_lines({.gpus = {one, two}, .hosts = {}, .at = WallTime{}, .trouble = ""}, {});
    EXPECT_THAT(joined(lines), HasSubstr("58 C  default/job-0\\x1b[2J  acme"));
    EXPECT_THAT(joined(lines), HasSubstr("58 C  node train-w1"));
    EXPECT_THAT(joined(lines), Not(HasSubstr("INSTANCE")));
}

TEST(TopLines, FitTheTerminal) {
    Top top{.gpus = {}, .hosts = {}, .at = WallTime{}, .trouble = ""};
    for (int i = 0; i < 100; ++i) top.gpus.push_back(gpu(i, i));
    for (int i = 0; i < 40; ++i) top.hosts.push_back(host());
    for (const int rows : {4, 10, 24, 60})
        for (const int columns : {20, 80, 200}) {
            const auto lines = top_lines(top, {.rows = rows, .columns = columns, .first = 30});
            EXPECT_LE(lines.size(), static_cast<std::size_t>(std::max(rows, 14))) << rows;
            for (const auto& line : lines)
                EXPECT_LE(line.size(), static_cast<std::size_t>(columns) + 2) << line;
        }
    const std::string seen = joined(top_lines(top, {.rows = 24, .columns = 120, .first = 30}));
    EXPECT_THAT(seen, HasSubstr("… 34 more hosts"));
    EXPECT_THAT(seen, HasSubstr("gpu-07   30  H100"));
    EXPECT_THAT(seen, Not(HasSubstr("gpu-07   29  H100")));
    EXPECT_THAT(seen, HasSubstr("more GPUs"));
    EXPECT_THAT(seen, HasSubstr("INSTANCE"));
}

TEST(TopLines, NamesDoNotMoveTheCursor) {
    auto one = gpu(0, 3);
    one.host_name = "gpu\x1b[2Jé\u009b2J";
    one.throttled = {"power_cap"};
    one.state = api::GpuState::faulty;
    const auto lines = top_lines({.gpus = {one}, .hosts = {}, .at = WallTime{}, .trouble = "gone\r\n"},
                                 {.columns = 200, .colour = true});
    EXPECT_THAT(joined(lines), HasSubstr("gpu\\x1b[2Jé\\u009b2J"));
    EXPECT_THAT(joined(lines), HasSubstr("faulty power_cap"));
    EXPECT_THAT(joined(lines), HasSubstr("gone  "));
}

class TopTest : public CliTest {
protected:
    TopTest() {
        api.handlers.on<api::ops::whoami>([](api::Call call, api::Empty) -> Task<api::Whoami> {
            co_return api::Whoami{.is_operator = call.caller.tenant.empty(), .tenant_id = call.caller.tenant};
        });
        api.handlers.on<api::ops::list_gpu_usage>(
            [this](api::Call, api::ListGpuUsage request) -> Task<api::List<api::GpuUsage>> {
                asked.push_back(request);
                if (fails) co_return fail(Code::invalid, "the sky falls");
                api::List<api::GpuUsage> page;
                page.items = {gpu(1, 20), gpu(0, percent)};
                co_return page;
            });
        api.handlers.on<api::ops::list_host_usage>(
            [](api::Call, api::ListHostUsage) -> Task<api::List<api::HostUsage>> {
                api::List<api::HostUsage> page;
                page.items = {host()};
                co_return page;
            });
    }
    void sit() {
        world.in_is_terminal = world.out_is_terminal = true;
        world.window_size = [] { return WindowSize{30, 120}; };
        world.raw_terminal = [this] {
            return std::shared_ptr<void>(nullptr, [this](void*) { restored = true; });
        };
        world.stdio = [this] {
            auto [ours, theirs] = hostler::testing::memory_pair();
            keys = std::move(theirs);
            return StreamPtr{std::move(ours)};
        };
    }
    void type(std::string_view typed) {
        group.start("keys", [](Stream& to, std::string text) -> Task<> {
            co_return co_await write_all(to, text);
        }(*keys, std::string{typed}));
        timers.settle();
    }
    std::vector<api::ListGpuUsage> asked;
    StreamPtr keys;
    double percent = 100;
    bool fails = false;
    bool restored = false;
};

TEST_F(TopTest, OnAPipeItLooksOnce) {
    EXPECT_EQ(run({"top", "--zone", "nj", "--tenant", "acme"}), 0) << err;
    EXPECT_THAT(out, HasSubstr("gpu-07    0  H100 SXM5 80GB  |||||||||| 100%"));
    EXPECT_LT(out.find("gpu-07    0"), out.find("gpu-07    1")) << "in the order of hosts and numbers";
    EXPECT_THAT(out, Not(HasSubstr("\x1b")));
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_TRUE(asked[0].live);
    EXPECT_EQ(asked[0].zone, "nj");
    EXPECT_EQ(asked[0].tenant_id, "acme");
}

TEST_F(TopTest, AsJsonAndWithATenantsKey) {
    env["HOSTLER_KEY"] = "acme-key";
    EXPECT_EQ(run({"top", "-o", "json"}), 0) << err;
    const auto seen = json::parse(out).as_object();
    EXPECT_EQ(seen.at("gpus").as_array().size(), 2u);
    EXPECT_TRUE(seen.at("hosts").as_array().empty()) << "hosts are the operator's";
    EXPECT_EQ(run({"top", "-o", "csv"}), 2);
}

TEST_F(TopTest, InATerminalItGoesOnUntilQ) {
    sit();
    start({"top"});
    EXPECT_FALSE(code);
    EXPECT_THAT(out, StartsWith("\x1b[?1049h"));
    EXPECT_THAT(out, HasSubstr("100%"));
    percent = 77;
    timers.advance(1s);
    EXPECT_THAT(out, HasSubstr(" 77%"));
    fails = true;
    timers.advance(1s);
    EXPECT_THAT(out, HasSubstr("the sky falls"));
    EXPECT_FALSE(code) << "what it has is shown on";
    type("\x1b[B");
    EXPECT_FALSE(code);
    type("q");
    EXPECT_EQ(code, 0);
    EXPECT_THAT(out, EndsWith("\x1b[?1049l"));
    EXPECT_TRUE(restored);
}

TEST_F(TopTest, ASignalAndTheEndOfInputLeaveToo) {
    sit();
    start({"top"});
    keys->close();
    timers.settle();
    EXPECT_EQ(code, 0);
    Signal came;
    world.next_signal = [&came]() -> Task<int> {
        CO_TRY(co_await came.wait());
        co_return SIGTERM;
    };
    start({"top"});
    EXPECT_FALSE(code);
    came.notify_all();
    timers.settle();
    EXPECT_EQ(code, 0);
    EXPECT_THAT(out, EndsWith("\x1b[?1049l"));
}

}  // namespace
}  // namespace hostler::cli
