// One of each role is restarted in its turn, as for an upgrade, under calls by the command line, requests to
// an instance, a download and a forwarded port: nobody who tries again as the design says is refused, and
// what is under way goes on to its end.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "adapters/postgres/testing/server.h"
#include "cloud.h"

namespace hostler::cloud {
namespace {

// A program that goes on in the background, with all that it starts; what it says is in a file.
class Background {
public:
    Background(std::vector<std::string> words, const std::map<std::string, std::string>& environment,
               const std::string& out)
        : process_(::fork()) {
        if (process_ > 0) ::setpgid(process_, process_);
        if (process_ != 0) return;
        ::setpgid(0, 0);
        const int file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ::dup2(file, 1);
        for (const auto& [key, value] : environment) ::setenv(key.c_str(), value.c_str(), 1);
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::execvp(arguments[0], arguments.data());
        ::_exit(126);
    }
    ~Background() {
        if (process_ <= 0) return;
        ::kill(-process_, SIGTERM);
        for (int i = 0; i < 100 && alive(process_); ++i) std::this_thread::sleep_for(50ms);
        ::kill(-process_, SIGKILL);
        wait();
    }
    Background(const Background&) = delete;

    void wait() {
        if (process_ > 0) ::waitpid(process_, nullptr, 0);
        process_ = 0;
    }

private:
    pid_t process_;
};

// An answer that is read in two parts: the first bytes now, the rest when it is asked for.
class Download {
public:
    Download(Web& web, const std::string& url) : web_(web) {
        const Url to{url};
        auto dialled = web.go(web.net->dial(to.address, 30s));
        if (!dialled) return;
        stream_ = std::move(*dialled);
        const std::string request =
            fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", to.target, to.authority);
        if (web.go(write_all(*stream_, request))) more();
    }
    // All of it, head included, or as much as came.
    std::string finish() {
        while (stream_ && more()) {
        }
        return std::move(bytes_);
    }

private:
    bool more() {
        std::vector<char> into(64 << 10);
        const std::size_t size = web_.go(read_some(*stream_, into)).value_or(0);
        bytes_.append(into.data(), size);
        return size > 0;
    }

    Web& web_;
    StreamPtr stream_;
    std::string bytes_;
};

class Rolling : public ::testing::Test {
protected:
    std::map<std::string, std::string> environment() {
        return {{"HOSTLER_CONFIG", cloud.data + "/config.toml"}, {"HOSTLER_KEY", cloud.tenant("acme").key}};
    }
    Page health(const std::string& master) {
        boost::system::error_code error;
        const auto told = json::parse(read_file(cloud.data + "/" + master + "/addresses.json"), error);
        return cloud.web.fetch("GET", "http://" + at(told, "/api") + "/healthz");
    }
    // The master that leads; "" when none does.
    std::string leader() {
        for (const std::string master : masters)
            if (const Page page = health(master); page.status == 200 && page.body.starts_with("ok\n"))
                return master;
        return {};
    }
    // All masters are there, and one leads; hosts are ready and have both access points.
    bool whole() {
        for (const std::string master : masters)
            if (health(master).status != 200) return false;
        if (leader().empty()) return false;
        const json::value hosts = cloud.api("GET", "/v1/hosts?limit=100").json();
        if (!hosts.is_object() || hosts.at("items").as_array().size() != 2) return false;
        return std::ranges::all_of(hosts.at("items").as_array(), [](const json::value& host) {
            return at(host, "/state") == "ready" && !at(host, "/standbyAccessPoints/0").empty();
        });
    }

    static constexpr std::array masters{"master", "master-2", "master-3"};
    postgres::testing::Server server;
    Cloud cloud{{"--masters", "3", "--store", server.url(server.new_database())}};
};

TEST_F(Rolling, EachRoleIsRestartedAndNothingIsLost) {
    cloud.make_stock(1);
    const std::string url = cloud.run({.id = "rolling", .env = {{"DATA_DIR", "/tmp"}}});
    const std::string file = pattern(4 << 20);
    ASSERT_EQ(cloud.web.fetch("PUT", url + "/files/big", {}, file).status, 201);
    const std::string forwarded = cloud.folder + "/forwarded", refused = cloud.folder + "/refused",
                      done = cloud.folder + "/done";
    const Background forward{{HOSTLER, "port-forward", "rolling", "0:8080"}, environment(), forwarded};
    std::string address;
    ASSERT_TRUE(cloud.until([&] { return static_cast<bool>(std::ifstream{forwarded} >> address); }, 60s));
    auto socket = cloud.web.web_socket("http://" + address + "/ws");
    ASSERT_TRUE(socket && socket->echoes(WebSocket::Kind::text, "before"));
    Background calls{
        {"sh", "-c",
         fmt::format("until [ -e {2} ]; do i=$((i+1)); for verb in 'create --size 1Gi' 'delete --yes'; do "
                     "{0} volume $verb v-$i >/dev/null 2>{1}.said || "
                     "{{ echo v-$i $verb; cat {1}.said; }} >>{1}; done; echo $i; done",
                     HOSTLER, refused, done)},
        environment(),
        cloud.folder + "/calls"};
    const auto calls_made = [&] { return lines(read_file(cloud.folder + "/calls")).size(); };
    ASSERT_TRUE(cloud.until([&] { return whole(); }, 60s));
    const std::string leading = leader();
    ASSERT_NE(leading, "");
    for (const std::string& role : {std::string{"gateway"}, std::string{"access-nj"}, leading}) {
        SCOPED_TRACE(role);
        const pid_t was = cloud.find(role);
        ASSERT_NE(was, 0);
        Download download{cloud.web, url + "/files/big"};
        ::kill(was, SIGTERM);
        EXPECT_TRUE(download.finish().ends_with(file)) << "what is under way goes on to its end";
        const std::size_t calls_before = calls_made();
        EXPECT_TRUE(cloud.until(
            [&] {
                const Page page = cloud.web.fetch("GET", url + "/healthz");
                // The only gateway is away for a moment: nobody answers, or it says that it has just started.
                EXPECT_TRUE(page.status == 200 ||
                            (role == "gateway" && (page.status == 0 || page.status == 503)))
                    << page.body;
                const pid_t now = cloud.find(role);
                return now != was && now != 0 && page.status == 200 && calls_made() > calls_before;
            },
            60s));
        ASSERT_TRUE(socket->send(WebSocket::Kind::text, "after " + role));
        const auto back = socket->receive(60s);
        ASSERT_TRUE(back) << "the forwarded connection is gone";
        EXPECT_EQ(back->bytes, "after " + role);
        // The next one goes when all is whole again: an upgrade takes one at a time.
        ASSERT_TRUE(cloud.until([&] { return whole(); }, 60s));
    }
    std::ofstream{done};
    calls.wait();
    EXPECT_EQ(read_file(refused), "") << "a call failed";
    socket = nullptr;
    cloud.end("rolling");
}

}  // namespace
}  // namespace hostler::cloud
