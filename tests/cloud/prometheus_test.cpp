// A real Prometheus reads what a cloud shows of itself and of its GPUs.
#include <fcntl.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "cloud.h"
#include "core/spawn.h"
#include "core/testing/temp_folder.h"

namespace hostler::cloud {
namespace {

using ::testing::IsEmpty;

std::string encoded(std::string_view text) {
    std::string out;
    for (const char c : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return out;
}

bool until(Web& web, const std::function<bool()>& so) {
    for (int left = 1000; left > 0; --left) {
        if (so()) return true;
        static_cast<void>(web.go(sleep(*web.timers, 30ms)));
    }
    return false;
}

class Prometheus {
public:
    // In a folder of its own; `more` are options.
    Prometheus(Web& web, const std::string& folder, const std::string& configuration,
               std::vector<std::string> more = {})
        : web_(web) {
        std::filesystem::create_directories(folder);
        std::ofstream{folder + "/prometheus.yml"} << configuration;
        std::vector<std::string> words{"prometheus", "--config.file=" + folder + "/prometheus.yml",
                                       "--storage.tsdb.path=" + folder + "/data",
                                       "--web.listen-address=127.0.0.1:0"};
        words.insert(words.end(), more.begin(), more.end());
        const std::string log = folder + "/log";
        const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        auto child = spawn(words, {.streams = {{to, 1}, {to, 2}}});
        ::close(to);
        EXPECT_TRUE(child) << "the package prometheus is not installed";
        child_ = child.value_or(0);
        const std::string before = "msg=\"Listening on\" address=";
        EXPECT_TRUE(until(web, [&] {
            const std::string text = read_file(log);
            const auto at = text.find(before);
            if (at == std::string::npos || !text.contains("Server is ready")) return false;
            address = text.substr(at + before.size(), text.find('\n', at) - at - before.size());
            return true;
        })) << read_file(log);
    }
    ~Prometheus() {
        if (child_ == 0) return;
        ::kill(child_, SIGKILL);
        wait_end(child_);
    }
    Prometheus(const Prometheus&) = delete;

    json::array query(std::string_view what) {
        const Page page = web_.fetch("GET", "http://" + address + "/api/v1/query?query=" + encoded(what));
        EXPECT_EQ(page.at("/status"), "success") << what << ": " << page.body;
        return page.status == 200 ? page.json().at("data").at("result").as_array() : json::array{};
    }

    std::string address;

private:
    Web& web_;
    pid_t child_ = 0;
};

bool is_style_of_dcgm(std::string_view line) {
    return line.starts_with("DCGM_") && (line.ends_with(" counter metrics should have \"_total\" suffix") ||
                                         line.ends_with(" metric name should not include type 'counter'"));
}

class Scraped : public ::testing::Test {
protected:
    std::string target() const {
        return std::string{
            json::parse(read_file(cloud_.data + "/master/addresses.json")).at("metrics").as_string()};
    }
    // What promtool says of a page, "" when it is all right. Names that are DCGM's are not for us to choose:
    // of them it may dislike the style, and it does not see the label modelName, which all of its rows have.
    std::string complaints(const std::string& path) {
        const Page page = cloud_.web.fetch("GET", "http://" + target() + path);
        EXPECT_EQ(page.status, 200) << page.body;
        EXPECT_GT(page.body.size(), 1000U) << page.body;
        std::ofstream{cloud_.folder + "/page"} << page.body;
        const Ran ran = run_program(
            {"sh", "-c", "sed s/modelName=/model=/ " + cloud_.folder + "/page | promtool check metrics"});
        std::string said;
        for (const std::string& line : lines(ran.out + ran.err))
            if (!is_style_of_dcgm(line)) said += line + "\n";
        // It ends with 3 when all it has to say is of style.
        return said.empty() && (ran.code == 0 || ran.code == 3) ? ""
                                                                : fmt::format("exit {}: {}", ran.code, said);
    }

    Web web_;
    testing::TempFolder folder_;
    Prometheus receiver_{
        web_, folder_.path() + "/receiver", "global: {}\n", {"--web.enable-remote-write-receiver"}};
    Cloud cloud_{
        {"--metrics", "127.0.0.1:0", "--remote-write", "http://" + receiver_.address + "/api/v1/write"}};
};

TEST_F(Scraped, DashboardsMadeForDcgmHaveTheirData) {
    EXPECT_THAT(complaints("/metrics"), IsEmpty());
    EXPECT_TRUE(cloud_.until([&] {
        return cloud_.web.fetch("GET", "http://" + target() + "/metrics/gpus")
            .body.contains("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{");
    })) << cloud_.web.fetch("GET", "http://" + target() + "/metrics/gpus").body;
    EXPECT_THAT(complaints("/metrics/gpus"), IsEmpty());

    // As docs/operate/metrics.md has it.
    Prometheus prometheus{web_, folder_.path() + "/reader",
                          fmt::format("global: {{scrape_interval: 1s}}\nscrape_configs:\n"
                                      "- {{job_name: hostler-gpus, metrics_path: /metrics/gpus, "
                                      "honor_labels: true, static_configs: [{{targets: ['{0}']}}]}}\n"
                                      "- {{job_name: hostler, static_configs: [{{targets: ['{0}']}}]}}\n",
                                      target())};
    std::size_t gpus = 0;
    ASSERT_TRUE(cloud_.until([&] { return (gpus = prometheus.query("DCGM_FI_DEV_GPU_TEMP").size()) > 0; }));
    EXPECT_EQ(gpus, 16U);
    const auto series = prometheus.query("DCGM_FI_DEV_GPU_TEMP");
    const std::string instance{series.at(0).at("metric").at("instance").as_string()};
    const std::string gpu{series.at(0).at("metric").at("gpu").as_string()};
    EXPECT_TRUE(instance.starts_with("h-")) << "the host, not where it was read: " << instance;
    // The queries of Grafana's dashboard 12239, with its variables as a person picks them.
    const auto of = [&](std::string_view metric) {
        return fmt::format("{}{{instance=~\"{}\", gpu=~\"{}\"}}", metric, instance, gpu);
    };
    for (const std::string& query :
         {of("DCGM_FI_DEV_GPU_TEMP"), "avg(" + of("DCGM_FI_DEV_GPU_TEMP") + ")",
          of("DCGM_FI_DEV_POWER_USAGE"), "sum(" + of("DCGM_FI_DEV_POWER_USAGE") + ")",
          of("DCGM_FI_DEV_SM_CLOCK") + " * 1000000", of("DCGM_FI_DEV_GPU_UTIL"),
          of("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), of("DCGM_FI_DEV_FB_USED")})
        EXPECT_EQ(prometheus.query(query).size(), 1U) << query;
    EXPECT_TRUE(cloud_.until([&] { return prometheus.query("hostler_master_leads == 1").size() == 1; }));
    EXPECT_THAT(prometheus.query("up == 0"), IsEmpty()) << "both pages are read whole";

    // What is pushed has the same names.
    EXPECT_TRUE(cloud_.until([&] { return receiver_.query("DCGM_FI_DEV_GPU_TEMP").size() == 16; }));
    EXPECT_EQ(receiver_.query(of("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE")).size(), 1U);
    EXPECT_EQ(receiver_.query("hostler_host_cpu_busy_ratio").size(), 2U);
    EXPECT_EQ(prometheus.query("sum(hostler_remote_write_dropped_total) == 0").size(), 1U);
}

}  // namespace
}  // namespace hostler::cloud
