// What gateways and access points remember, on a real disk: journals that are written anew, and crashes in
// the middle of that.
#include <filesystem>
#include <fstream>

#include "adapters/disk/journal.h"
#include "core/testing/manual_timers.h"
#include "core/worker.h"
#include "rig.h"
#include "roles/access/remembered.h"
#include "roles/gateway/remembered_routes.h"
#include "roles/gateway/trust.h"

namespace hostler::rig {
namespace {

namespace fs = std::filesystem;
using gateway::Trust;

class Journals : public ::testing::Test {
protected:
    static constexpr std::size_t waste_max = 4096;

    std::unique_ptr<Journal> open(const std::string& path) {
        auto opened = disk::open_journal(*worker, path, {.waste_bytes_max = waste_max});
        EXPECT_TRUE(opened) << opened.error().message;
        return opened ? std::move(*opened) : nullptr;
    }
    // Lets role and disk go on; the roles' pauses pass at once.
    bool eventually(const std::function<bool()>& so) {
        for (int i = 0; i < 20'000; ++i) {
            timers.advance(1s);
            loop.restart();
            loop.run_for(1ms);
            if (so()) return true;
        }
        return false;
    }
    static std::string bytes(const std::string& path) {
        std::ifstream file{path, std::ios::binary};
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::string path(const std::string& name) const { return folder.path() + "/" + name; }
    // As a crash leaves it: the journal, and beside it what was to take its place.
    std::string crashed(const std::string& name, const std::string& fresh) {
        fs::copy_file(path("j"), path(name), fs::copy_options::overwrite_existing);
        std::ofstream{path(name) + ".new", std::ios::binary} << fresh;
        return path(name);
    }

    Loop loop;
    hostler::testing::ManualTimers timers{loop};
    std::unique_ptr<Worker> worker = make_worker(loop, "disk");
    testing::TempFolder folder;
    net::OpenSslDigest digest;
    const WallTime now = timers.wall();
};

TEST_F(Journals, AGatewayForgetsNothingWhenItsJournalIsWrittenAnew) {
    const auto question = [](int number) {
        return gateway::Question{fmt::format("hk_{}", number), "t-a", ""};
    };
    const auto route = [](int number, std::uint64_t generation) {
        return gateway::Route{.name = fmt::format("8080-i-{}", number),
                              .tenant = "t-a",
                              .instance = fmt::format("i-{}", number),
                              .generation = generation,
                              .port = 8080,
                              .state = gateway::State::running,
                              .host = "h-1"};
    };
    constexpr int rounds = 60, keys = 20;
    std::string older;  // A whole journal of an earlier time.
    std::map<std::string, std::string> at_the_end;
    {
        const auto journal = open(path("j"));
        Trust trust{*journal, digest, 100, 12h, now};
        gateway::RouteTable table{100};
        gateway::RememberedRoutes remembered{*journal, timers, table};
        TaskGroup tasks{loop};
        tasks.start("trust", trust.run(timers));
        tasks.start("routes", remembered.run());
        std::size_t written = 0;
        for (int round = 1; round <= rounds; ++round) {
            std::vector<gateway::Route> all;
            for (int i = 0; i < keys; ++i) {
                trust.keep(question(i), {.principal = "key/k-1", .marks = {fmt::format("round/{}", round)}},
                           now);
                all.push_back(route(i, static_cast<std::uint64_t>(round)));
            }
            table.replace(std::move(all));
            remembered.replaced("http://api/sign-in");
            const std::string mark = fmt::format("round/{}", round);
            ASSERT_TRUE(eventually([&] {
                int marked = 0;
                for (const auto& [key, value] : journal->all()) marked += value.ends_with(mark) ? 1 : 0;
                return marked == keys && remembered.unwritten() == 0;
            })) << round;
            for (const auto& [key, value] : journal->all()) written += key.size() + value.size();
            if (round == rounds / 2) older = bytes(path("j"));
        }
        trust.forget(question(0));
        ASSERT_TRUE(eventually([&] {
            int kept = 0;
            for (const auto& [key, value] : journal->all()) kept += key.starts_with("trust/") ? 1 : 0;
            return kept == keys - 1;
        }));
        EXPECT_LT(bytes(path("j")).size(), written / 4) << "it was written anew, and more than once";
        at_the_end = journal->all();
        tasks.cancel();
        (void)eventually([&] { return tasks.size() == 0; });
    }
    const std::string whole = bytes(path("j"));
    for (const std::string& at : {crashed("c-1", ""), crashed("c-2", whole.substr(0, whole.size() / 2)),
                                  crashed("c-3", older), path("j")}) {
        const auto journal = open(at);
        EXPECT_EQ(journal->all(), at_the_end) << at;
        EXPECT_FALSE(fs::exists(at + ".new"));
        const Trust trust{*journal, digest, 100, 12h, now};
        EXPECT_EQ(trust.believes(question(0), now), Trust::Belief::unknown);
        for (int i = 1; i < keys; ++i) EXPECT_EQ(trust.believes(question(i), now), Trust::Belief::yes) << i;
        EXPECT_THAT(trust.marks(), ::testing::ElementsAre("key/k-1", fmt::format("round/{}", rounds)));
        gateway::RouteTable table{100};
        gateway::RememberedRoutes remembered{*journal, timers, table};
        EXPECT_EQ(remembered.recall(), "http://api/sign-in");
        ASSERT_EQ(table.all().size(), static_cast<std::size_t>(keys));
        for (const auto& [name, one] : table.all()) EXPECT_EQ(one->generation, std::uint64_t{rounds}) << name;
    }
}

TEST_F(Journals, AnAccessPointForgetsNobodyWhoIsCutOff) {
    constexpr std::uint64_t epochs = 400;
    constexpr int hosts = 40;
    const auto run = [&](Task<> task) {
        bool done = false;
        TaskGroup tasks{loop};
        tasks.start("write", [](Task<> inner, bool& ended) -> Task<> {
            const auto written = co_await std::move(inner);
            EXPECT_TRUE(written);
            ended = true;
            co_return Result<>{};
        }(std::move(task), done));
        EXPECT_TRUE(eventually([&] { return done && tasks.size() == 0; }));
    };
    std::string older;
    {
        const auto journal = open(path("j"));
        access::Remembered remembered{*journal};
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
            run(remembered.raise(epoch));
            if (epoch <= hosts) {
                remembered.revoke(fmt::format("h-{}", epoch));
                run(remembered.write());
            }
            if (epoch == epochs / 2) older = bytes(path("j"));
        }
        EXPECT_LT(bytes(path("j")).size(), 3 * waste_max) << "it was written anew";
    }
    const std::string whole = bytes(path("j"));
    for (const std::string& at : {crashed("c-1", ""), crashed("c-2", whole.substr(0, whole.size() / 2)),
                                  crashed("c-3", older), path("j")}) {
        const auto journal = open(at);
        const access::Remembered remembered{*journal};
        EXPECT_EQ(remembered.epoch(), epochs) << at;
        for (int i = 1; i <= hosts; ++i) EXPECT_TRUE(remembered.revoked(fmt::format("h-{}", i))) << at << i;
        EXPECT_FALSE(remembered.revoked("h-0"));
    }
}

}  // namespace
}  // namespace hostler::rig
