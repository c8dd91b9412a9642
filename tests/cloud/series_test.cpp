// Samples of real agents in the real store: they are asked for, and kill -9 of the master loses none.
#include <signal.h>

#include "cloud.h"

namespace hostler::cloud {
namespace {

class Series : public Shared {
protected:
    json::value query(const std::string& parameters) {
        const Page page = cloud.api("GET", "/v1/series?" + parameters);
        EXPECT_EQ(page.status, 200) << page.body;
        return page.status == 200 ? page.json() : json::value{};
    }
    static std::string escaped(const std::string& time) {
        std::string text;
        for (const char c : time) text += c == ':' ? "%3A" : c == '+' ? "%2B" : std::string{&c, 1};
        return text;
    }
};

TEST_F(Series, OfAFreshCloudAreALine) {
    ASSERT_TRUE(cloud.until(
        [&] { return !query("metric=gpu_utilization&since=600&by=zone").at("lines").as_array().empty(); },
        20s));
    const Ran table = cloud.cli({"metrics", "query", "gpu_utilization", "--by", "zone", "--since", "10m"});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_NE(table.out.find("gpu_utilization_percent in %"), std::string::npos) << table.out;
    const Ran csv = cloud.cli({"metrics", "query", "host_load", "--since", "10m", "-o", "csv"});
    EXPECT_EQ(csv.code, 0) << csv.err;
    EXPECT_TRUE(csv.out.starts_with("time,host_load_milli,")) << csv.out;
    EXPECT_EQ(cloud
                  .raw("GET", "/v1/series?metric=gpu_power&format=csv",
                       [&] {
                           http::Headers headers;
                           headers.set("Authorization", "Bearer " + cloud.key);
                           return headers;
                       }())
                  .body.substr(0, 18),
              "time,gpu_power_mw,");
    EXPECT_NE(cloud.cli({"metrics", "list"}).out.find("gpu_power_mw"), std::string::npos);
}

// Hosts report five times a second, whether a master is there or not, and keep what has no answer. So in each
// two seconds there are samples of each of them, also of those in which no master was.
TEST_F(Series, AreAllThereAfterKill9) {
    constexpr int rounds = 4;
    const auto count = [&](int since) {
        return query(fmt::format("metric=host_load&over=count&step=2&since={}", since));
    };
    ASSERT_TRUE(cloud.until([&] { return count(10).at("lines").as_array().size() == 2; }));
    const auto begin = std::chrono::system_clock::now() + 2s;
    for (int round = 0; round < rounds; ++round) {
        std::this_thread::sleep_for(700ms +
                                    round * 310ms);  // So that it dies at different moments of a report.
        const pid_t was = cloud.kill9("master");
        cloud.wait_for_another("master", was);
        ASSERT_TRUE(cloud.until([&] { return cloud.api("GET", "/v1/whoami").status == 200; }, 30s));
    }
    const auto end = std::chrono::system_clock::now() - 2s;
    const auto text = [&](auto time) {
        return escaped(rfc3339(std::chrono::time_point_cast<std::chrono::microseconds>(time)));
    };
    const std::string window =
        fmt::format("metric=host_load&over=count&step=2&from={}&to={}", text(begin), text(end));
    std::string missing;
    // What waits at the hosts comes within a moment.
    EXPECT_TRUE(cloud.until(
        [&] {
            missing.clear();
            const json::value answer = query(window);
            if (answer.at("lines").as_array().size() != 2) return false;
            for (const json::value& line : answer.at("lines").as_array()) {
                const auto& values = line.at("values").as_array();
                for (std::size_t i = 1; i + 1 < values.size(); ++i)
                    if (values[i].is_null() || values[i].to_number<double>() < 5)
                        missing +=
                            fmt::format("step {} of {}: {}; ", i, values.size(), json::serialize(values[i]));
            }
            return missing.empty();
        },
        30s))
        << missing;
    const Page hosts = cloud.api("GET", "/v1/hosts");
    for (const json::value& host : hosts.json().at("items").as_array())
        EXPECT_EQ(at(host, "/reportsLost"), "0") << at(host, "/name");
}

}  // namespace
}  // namespace hostler::cloud
