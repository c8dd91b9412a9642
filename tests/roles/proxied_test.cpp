// A gateway behind the proxies that people run: nginx, which names its client in a header, and HAProxy, which
// does so by the PROXY protocol.
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/spawn.h"
#include "core/testing/metrics.h"
#include "rig.h"

namespace hostler::rig {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::uint32_t client_max = 300;
const std::string own_client = "127.0.0.2",
                  other_client = "127.0.0.3";  // Where the clients of two tenants are.

sockaddr_in at(const std::string& address, std::uint16_t port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(port);
    HOSTLER_ASSERT(::inet_pton(AF_INET, address.c_str(), &made.sin_addr) == 1);
    return made;
}

int new_socket(const std::string& address) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto from = at(address, 0);
    HOSTLER_ASSERT(made >= 0 && ::bind(made, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0);
    return made;
}

class ProxiedTest : public ::testing::Test {
protected:
    ProxiedTest() {
        rlimit files{};
        ::getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
        cloud_.master.keys = {{"hk_mine", "t-a"}, {"hk_theirs", "t-b"}};
        cloud_.add_route("open", "h-1", true);
        cloud_.add_route("mine", "h-1", false);
        cloud_.add_route("theirs", "h-1", false).set_tenant("t-b");
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.master.sessions.size() == 1; }));
    }
    ~ProxiedTest() override {
        for (const int one : sockets_) ::close(one);
        if (proxy_ > 0) {
            ::kill(-proxy_, SIGKILL);
            wait_end(proxy_);
        }
        ::close(listening_);
    }

    void trust(http::ProxyWord word) {
        cloud_.kill_gateway();
        cloud_.gateway_arrival.proxies =
            std::make_shared<http::TrustedProxies>(http::TrustedProxies::parse({"127.0.0.1"}, word).value());
        cloud_.begin_gateway();
        EXPECT_TRUE(cloud_.eventually([&] { return cloud_.gateway->linked(); }));
    }
    // The proxy gets the socket on which it listens from here: nobody can take its port meanwhile.
    void listen() {
        listening_ = new_socket("127.0.0.1");
        ASSERT_EQ(::listen(listening_, 1024), 0);
        sockaddr_in own{};
        socklen_t size = sizeof own;
        ASSERT_EQ(::getsockname(listening_, reinterpret_cast<sockaddr*>(&own), &size), 0);
        port_ = ntohs(own.sin_port);
    }
    void start(std::vector<std::string> words, std::vector<std::string> environment = {}) {
        const auto child = spawn(
            words, {.streams = {{listening_, 3}}, .own_group = true, .environment = std::move(environment)});
        ASSERT_TRUE(child) << words.front() << " of the package is needed";
        proxy_ = *child;
    }
    void start_nginx() {
        listen();
        const std::string folder = cloud_.folder.path() + "/nginx";
        std::filesystem::create_directory(folder);
        std::ofstream{folder + "/nginx.conf"} << fmt::format(
            R"(user root; worker_processes 1; daemon off; pid {0}/pid; error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
    access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy;
    map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
    upstream gateway {{ server {1}; keepalive 16; }}
    server {{
        listen 127.0.0.1:{2};
        location / {{
            proxy_pass http://gateway; proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto https;
        }}
    }}
}}
)",
            folder, cloud_.gateway->address(), port_);
        start({"/usr/sbin/nginx", "-p", folder, "-c", folder + "/nginx.conf"}, {"NGINX=3;"});
    }
    void start_haproxy(const std::string& word) {
        listen();
        const std::string file = cloud_.folder.path() + "/haproxy.cfg";
        std::ofstream{file} << fmt::format(
            R"(global
    maxconn 2000
defaults
    mode tcp
    timeout connect 10s
    timeout client 60s
    timeout server 60s
frontend clients
    bind fd@3
    default_backend gateway
backend gateway
    server gateway {} {}
)",
            cloud_.gateway->address(), word);
        start({"/usr/sbin/haproxy", "-db", "-q", "-f", file});
    }

    // A request from this address, to the proxy or to `port`.
    int ask(const std::string& from, const std::string& route, const std::string& headers,
            std::uint16_t port = 0) {
        return tell(from, port != 0 ? port : port_,
                    fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n{}\r\n", cloud_.host_header(route), headers));
    }
    int tell(const std::string& from, std::uint16_t port, const std::string& text) {
        const int one = sockets_.emplace_back(new_socket(from));
        const auto to = at("127.0.0.1", port);
        EXPECT_EQ(::connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
        EXPECT_EQ(::send(one, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        return one;
    }
    // What came there until `end` did.
    std::string heard(int socket, const std::string& end) {
        std::string all;
        EXPECT_TRUE(cloud_.eventually([&] {
            char into[4096];
            const auto size = ::recv(socket, into, sizeof into, MSG_DONTWAIT);
            if (size > 0) all.append(into, static_cast<std::size_t>(size));
            return size == 0 || all.contains(end);
        })) << all;
        return all;
    }
    std::string answer(const std::string& from, const std::string& route, const std::string& headers = "") {
        return heard(ask(from, route, headers + "Connection: close\r\n"), "\r\n\r\n\r\n");
    }
    // The line with which its answer begins.
    std::string web_socket(const std::string& from, const std::string& route, const std::string& key) {
        last_ =
            ask(from, route,
                fmt::format("X-Hostler-Key: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                            key));
        const auto all = heard(last_, "\r\n\r\n");
        return all.substr(0, all.find("\r\n"));
    }
    // A terminal in the instance of "mine": the line with which its answer begins.
    std::string terminal(const std::string& from, const std::string& query) {
        last_ =
            tell(from, port_,
                 fmt::format("GET /v1/instances/i-mine/exec?command=cat&{} HTTP/1.1\r\nHost: localhost:{}\r\n"
                             "Authorization: Bearer hk_mine\r\nConnection: Upgrade\r\n"
                             "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                             query, cloud_.port()));
        const auto all = heard(last_, "\r\n\r\n");
        return all.substr(0, all.find("\r\n"));
    }
    void close_one(std::size_t number) {
        ::close(sockets_[number]);
        sockets_.erase(sockets_.begin() + static_cast<std::ptrdiff_t>(number));
    }
    double metric(const std::string& name) {
        MetricsPage page;
        cloud_.gateway->write_metrics(page);
        const auto shown = testing::parse_metrics(page.text());
        return shown ? shown->at(name) : -1;
    }
    // One tenant has all the WebSockets that it may; another works meanwhile.
    void crowd() {
        for (std::uint32_t i = 0; i < client_max; ++i)
            ASSERT_THAT(web_socket(own_client, "mine", "hk_mine"), HasSubstr(" 101 ")) << i;
        EXPECT_THAT(web_socket(own_client, "mine", "hk_mine"), HasSubstr(" 429 "));
        for (int i = 0; i < 20; ++i)
            ASSERT_THAT(answer(other_client, "theirs", "X-Hostler-Key: hk_theirs\r\n"), HasSubstr(" 200 "))
                << i;
        ASSERT_THAT(web_socket(other_client, "theirs", "hk_theirs"), HasSubstr(" 101 "));
        EXPECT_EQ(::send(last_, "echo", 4, 0), 4);
        EXPECT_THAT(heard(last_, "echo"), HasSubstr("echo"));
        EXPECT_EQ(metric("hostler_gateway_connections_closed_total{why=\"address\"}"), 1);
        // What ends makes room.
        close_one(sockets_.size() - 50);  // One of the first tenant's.
        const Instant end = cloud_.timers->now() + 10s;
        bool room = false;
        while (!room && cloud_.timers->now() < end) {
            room = web_socket(own_client, "mine", "hk_mine").contains(" 101 ");
            if (!room) close_one(sockets_.size() - 1);
        }
        EXPECT_TRUE(room);
    }

    Cloud cloud_{
        [](access::Settings&, gateway::Settings& gateway) { gateway.client_connections_max = client_max; }};
    Agent agent_{cloud_, "h-1", cloud_.access->addresses().uplink};
    int listening_ = -1;
    std::uint16_t port_ = 0;
    pid_t proxy_ = 0;
    std::vector<int> sockets_;
    int last_ = -1;
};

// By no proxy: it is the gateway that says where a client is.
TEST_F(ProxiedTest, AKeyForOneAddressOpensFromThereAlone) {
    port_ = static_cast<std::uint16_t>(std::stoi(cloud_.port()));
    cloud_.master.bound = {{"hk_mine", own_client}};
    const std::string key = "X-Hostler-Key: hk_mine\r\n";
    EXPECT_THAT(answer(other_client, "mine", key), HasSubstr(" 401 "));
    EXPECT_THAT(answer(own_client, "mine", key), HasSubstr(" 200 "));
    EXPECT_THAT(answer(other_client, "mine", key), HasSubstr(" 401 "));
    ASSERT_THAT(web_socket(own_client, "mine", "hk_mine"), HasSubstr(" 101 "));
    const int own = last_;
    EXPECT_THAT(web_socket(other_client, "mine", "hk_mine"), HasSubstr(" 401 "));
    const int asked = cloud_.master.questions;
    cloud_.pass(6s);  // It is asked about what is open, by its own address.
    EXPECT_GT(cloud_.master.questions, asked);
    EXPECT_EQ(::send(own, "echo", 4, 0), 4);
    EXPECT_THAT(heard(own, "echo"), HasSubstr("echo"));
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    cloud_.pass(1100ms);  // Verdicts are good for a second.
    EXPECT_THAT(answer(own_client, "mine", key), HasSubstr(" 200 "));
    EXPECT_THAT(answer(other_client, "mine", key), HasSubstr(" 503 "));
}

TEST_F(ProxiedTest, AKeyForOneAddressOpensTerminalsFromThereAlone) {
    port_ = static_cast<std::uint16_t>(std::stoi(cloud_.port()));
    cloud_.master.bound = {{"hk_mine", own_client}};
    const std::string session = "session=0123456789abcdef0123456789abcdef";
    EXPECT_THAT(terminal(other_client, session), HasSubstr(" 401 "));
    ASSERT_THAT(terminal(own_client, session), HasSubstr(" 101 "));
    cloud_.master.vanish();
    ASSERT_TRUE(cloud_.eventually([&] { return !cloud_.gateway->linked(); }));
    EXPECT_THAT(terminal(other_client, session + "&resume=true"), HasSubstr(" 503 "));
    EXPECT_THAT(terminal(own_client, session + "&resume=true"), HasSubstr(" 101 "));
}

TEST_F(ProxiedTest, NginxNamesTheClient) {
    trust(http::ProxyWord::x_forwarded_for);
    start_nginx();
    const auto told = answer(own_client, "open", "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n");
    EXPECT_THAT(told, HasSubstr("X-Forwarded-For: 127.0.0.2\n"));
    EXPECT_THAT(told, HasSubstr("X-Forwarded-Proto: https\n"));
    EXPECT_THAT(told, HasSubstr("Forwarded: for=\"127.0.0.2\";"));
    EXPECT_THAT(told, Not(HasSubstr("6.6.6.6")));
    // Whoever comes around the proxy speaks for himself alone.
    const auto own = heard(ask(own_client, "open",
                               "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n"
                               "Connection: close\r\n",
                               static_cast<std::uint16_t>(std::stoi(cloud_.port()))),
                           "\r\n\r\n\r\n");
    EXPECT_THAT(own, HasSubstr("X-Forwarded-For: 127.0.0.2\n"));
    EXPECT_THAT(own, HasSubstr("X-Forwarded-Proto: http\n"));
}

TEST_F(ProxiedTest, LimitsCountTheClientBehindNginx) {
    trust(http::ProxyWord::x_forwarded_for);
    start_nginx();
    crowd();
}

TEST_F(ProxiedTest, LimitsCountTheClientBehindHaproxy) {
    trust(http::ProxyWord::proxy_protocol);
    start_haproxy("send-proxy-v2");
    EXPECT_THAT(answer(own_client, "open", "X-Forwarded-For: 6.6.6.6\r\n"),
                HasSubstr("X-Forwarded-For: 127.0.0.2\n"));
    crowd();
}

TEST_F(ProxiedTest, AProxyOfVersionOneIsRefused) {
    trust(http::ProxyWord::proxy_protocol);
    start_haproxy("send-proxy");
    EXPECT_EQ(answer(own_client, "open"), "");
    EXPECT_EQ(metric("hostler_gateway_proxy_refused_total"), 1);
}

}  // namespace
}  // namespace hostler::rig
