// An access point killed -9 under all that goes through it, and not started again for a while: what survives,
// and in what time. And one that is drained.
#include <signal.h>

#include "cloud.h"

namespace hostler::cloud {
namespace {

class AccessPoints : public Shared {
protected:
    // The host that the instance is on, as the API shows it now.
    Page host_of(const std::string& instance) {
        return cloud.api("GET", "/v1/hosts/" + cloud.instance(instance).at("/host"));
    }
    static std::string role_of(const std::string& access) {  // "nj-1" runs as "access-nj".
        return "access-" + access.substr(0, access.rfind('-'));
    }
    // Every host has a standby; the sum of reports that never came.
    bool whole() {
        const auto hosts = cloud.api("GET", "/v1/hosts?limit=100").json();
        if (!hosts.is_object()) return false;
        for (const json::value& host : hosts.at("items").as_array())
            if (at(host, "/standbyAccessPoints/0").empty()) return false;
        return true;
    }
    void expect_no_report_lost() {
        const auto hosts = cloud.api("GET", "/v1/hosts?limit=100").json();
        for (const json::value& host : hosts.at("items").as_array()) {
            EXPECT_EQ(at(host, "/reportsLost"), "0") << at(host, "/name");
            EXPECT_EQ(at(host, "/state"), "ready") << at(host, "/name");
        }
    }
    long ms_since(Instant begun) { return (cloud.web.timers->now() - begun) / 1ms; }
    bool answers(const std::string& url) {
        return cloud.web.fetch("GET", url + "/healthz", {}, "", 3s).body == "ok\n";
    }
};

TEST_F(AccessPoints, KilledUnderADownloadAWebSocketAndABurstOfReports) {
    const std::string url = cloud.run({.id = "through-1", .env = {{"DATA_DIR", "/tmp"}}});
    const std::string file = pattern(24 << 20);
    ASSERT_EQ(cloud.web.fetch("PUT", url + "/files/big", {}, file).status, 201);
    ASSERT_TRUE(cloud.until([&] { return whole(); }));
    const std::string victim = host_of("through-1").at("/accessPoint");
    EXPECT_TRUE(cloud.until([&] {
        return host_of("through-1").at("/accessRttMs").find('.') != std::string::npos;
    })) << "the round trip is shown";
    auto socket = cloud.web.web_socket(url + "/ws");
    ASSERT_TRUE(socket && socket->echoes(WebSocket::Kind::text, "before"));
    // A download that nobody reads goes on for as long as one likes.
    const Url to{url + "/files/big"};
    auto download = cloud.web.go(cloud.web.net->dial(to.address, 5s));
    ASSERT_TRUE(download);
    ASSERT_TRUE(
        cloud.web.go(write_all(**download, "GET /files/big HTTP/1.1\r\nHost: " + to.authority + "\r\n\r\n")));
    std::vector<char> into(64 << 10);
    ASSERT_TRUE(cloud.web.go(read_exactly(**download, into)));
    for (const char* more : {"burst-1", "burst-2"}) ASSERT_EQ(cloud.begin({.id = more}).status, 200);

    const pid_t up = cloud.find("up"), access = cloud.find(role_of(victim));
    ASSERT_TRUE(up != 0 && access != 0);
    ::kill(up, SIGSTOP);  // Or it would be there again at once.
    const Instant struck = cloud.web.timers->now();
    ::kill(access, SIGKILL);
    const bool reached = cloud.until([&] { return answers(url); }, 5s);
    const long again_ms = ms_since(struck);
    EXPECT_TRUE(reached) << "not reachable through the other within 5 s";
    const bool socket_lives = socket->echoes(WebSocket::Kind::text, "after");
    EXPECT_TRUE(cloud.until([&] {
        socket = cloud.web.web_socket(url + "/ws");
        return socket && socket->echoes(WebSocket::Kind::text, "again");
    }));
    const long socket_ms = ms_since(struck);
    std::size_t read = into.size();
    while (const auto more = cloud.web.go(read_some(**download, into)).value_or(0)) read += more;
    EXPECT_EQ(cloud.web.fetch("GET", url + "/files/big").body, file) << "asked for again, it comes whole";
    Page host;
    EXPECT_TRUE(cloud.until([&] {
        host = host_of("through-1");
        return host.at("/accessPoint") != victim && !host.at("/accessPoint").empty();
    })) << host.body;
    const long moved_ms = ms_since(struck);
    for (const char* more : {"burst-1", "burst-2"}) cloud.wait_for(more, "running");
    expect_no_report_lost();
    fmt::print(
        "access point {} killed -9: a new request answered after {} ms; the WebSocket {}, a new one after {} "
        "ms; the "
        "download broke at {} of {} bytes; commands and reports through {} after {} ms at most, none lost\n",
        victim, again_ms, socket_lives ? "lived" : "broke", socket_ms, read, file.size(),
        host.at("/accessPoint"), moved_ms);
    ::kill(up, SIGCONT);
    cloud.wait_for_another(role_of(victim), access);
    EXPECT_TRUE(cloud.until([&] { return whole(); }, 60s)) << "a standby again";
    expect_no_report_lost();
    for (const char* name : {"through-1", "burst-1", "burst-2"}) cloud.end(name);
}

TEST_F(AccessPoints, DrainedIsLeftByEveryHostAndTunnelsGoOn) {
    const std::string url = cloud.run({.id = "drained-1"});
    ASSERT_TRUE(cloud.until([&] { return whole(); }));
    const std::string from = host_of("drained-1").at("/accessPoint");
    auto socket = cloud.web.web_socket(url + "/ws");
    ASSERT_TRUE(socket && socket->echoes(WebSocket::Kind::text, "before"));
    EXPECT_EQ(cloud.cli({"access", "drain", from}).code, 0);
    const auto shown = [&] { return cloud.api("GET", "/v1/access-points/" + from); };
    EXPECT_TRUE(cloud.until([&] {
        EXPECT_TRUE(answers(url));
        return shown().at("/hosts") == "0" && shown().at("/standbys") == "0";
    })) << shown().body;
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::text, "still")) << "what is open goes on to its end";
    EXPECT_EQ(shown().at("/state"), "draining");
    socket.reset();
    EXPECT_NE(host_of("drained-1").at("/accessPoint"), from);
    const Page last = cloud.api(
        "POST", "/v1/access-points/" + host_of("drained-1").at("/accessPoint") + "/drain", json::object{});
    EXPECT_EQ(last.status, 409) << last.body;
    EXPECT_EQ(cloud.cli({"access", "undrain", from}).code, 0);
    EXPECT_TRUE(cloud.until([&] { return whole(); }, 60s)) << "it is a standby again";
    expect_no_report_lost();
    cloud.end("drained-1");
}

}  // namespace
}  // namespace hostler::cloud
