// `hostler up --tls`: everything by https, with an authority of the cloud's own.
#include <fstream>

#include "cloud.h"

namespace hostler::cloud {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Tls : public ::testing::Test {
protected:
    Ran curl(const std::string& url, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"curl", "-sS", "--max-time", "20", "-w", "\n%{http_code}", url};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(std::move(words));
    }
    Cloud cloud{{"--tls"}};
};

TEST_F(Tls, AnInstanceIsMadeOpenedAndEnteredByHttps) {
    ASSERT_THAT(cloud.api_url, StartsWith("https://127.0.0.1:"));
    ASSERT_THAT(cloud.gateway_url, StartsWith("https://hostler.localhost:"));
    cloud.make_stock(2);
    const std::string open = cloud.run({.id = "open"});
    const std::string closed = cloud.run({.id = "closed", .open_to_all = false});
    ASSERT_THAT(open, StartsWith("https://8080-i-"));

    // A client of another make verifies both.
    const std::vector<std::string> believing{"--cacert", cloud.ca};
    EXPECT_THAT(curl(cloud.api_url + "/healthz", believing).out, HasSubstr("\n200"));
    EXPECT_THAT(curl(open + "/", believing).out, HasSubstr("\n200"));
    EXPECT_THAT(curl(cloud.api_url + "/healthz").err, HasSubstr("SSL certificate problem"));
    std::string plain = cloud.api_url;
    plain.erase(4, 1);
    const Ran told = curl(plain + "/");
    EXPECT_THAT(told.out, HasSubstr("this port speaks TLS; use https://"));
    EXPECT_THAT(told.out, HasSubstr("\n400"));

    // A browser signs in, and comes back with a cookie for this name over TLS alone.
    const Page sent = cloud.web.fetch("GET", closed + "/env?a=1", {{"Accept", "text/html"}});
    ASSERT_EQ(sent.status, 302) << sent.body;
    const std::string sign_in = sent.header("Location");
    ASSERT_THAT(sign_in, StartsWith(cloud.api_url + "/sign-in?return=https%3A%2F%2F8080-i-"));
    const Page accepted =
        cloud.web.fetch("POST", cloud.api_url + "/sign-in",
                        {{"Content-Type", "application/x-www-form-urlencoded"}, {"Origin", cloud.api_url}},
                        sign_in.substr(sign_in.find("return=")) + "&key=" + cloud.tenant("acme").key);
    ASSERT_EQ(accepted.status, 303) << accepted.body;
    const Page redeemed = cloud.web.fetch("GET", accepted.header("Location"));
    ASSERT_EQ(redeemed.status, 303) << redeemed.body;
    const std::string set = redeemed.header("Set-Cookie");
    EXPECT_THAT(set, StartsWith("__Host-hostler_session="));
    EXPECT_THAT(set, HasSubstr("; Secure"));
    const http::Headers cookie{{"Cookie", set.substr(0, set.find(';'))}};
    EXPECT_EQ(cloud.web.fetch("GET", closed + "/healthz", cookie).body, "ok\n");

    const auto socket = cloud.web.web_socket(open + "/ws");
    ASSERT_TRUE(socket);
    EXPECT_TRUE(socket->echoes(WebSocket::Kind::binary, pattern(1 << 20)));

    // The command line: API, and a session by the gateway.
    EXPECT_THAT(cloud.cli({"instance", "list", "-o", "name"}).out, HasSubstr("open"));
    const std::string& acme = cloud.tenant("acme").key;
    const Ran missing = cloud.cli({"exec", "open", "--", "/no/such/program"}, acme);
    EXPECT_THAT(missing.out + missing.err, HasSubstr("/no/such/program")) << "the host's engine says so";
    const Ran shared = cloud.cli({"instance", "share", "closed", "8080", "--for", "1h", "-o", "json"}, acme);
    EXPECT_EQ(shared.code, 0) << shared.err;
    EXPECT_THAT(shared.out, HasSubstr("https://8080-i-"));
}

TEST_F(Tls, TheAuthorityStaysAndTheCertificateIsRenewed) {
    const std::string authority = read_file(cloud.ca), folder = cloud.data + "/tls";
    const std::string certificate = read_file(folder + "/certificate.pem");
    cloud.stop();
    cloud.start();
    EXPECT_EQ(read_file(cloud.ca), authority);
    EXPECT_EQ(read_file(folder + "/certificate.pem"), certificate);
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
    cloud.stop();
    fs::remove(folder + "/certificate.pem");
    cloud.start();
    EXPECT_EQ(read_file(cloud.ca), authority);
    EXPECT_NE(read_file(folder + "/certificate.pem"), certificate);
    EXPECT_EQ(cloud.web.fetch("GET", cloud.api_url + "/healthz").status, 200);

    // What somebody puts there is shown without a restart.
    const pid_t master = cloud.find("master");
    fs::rename(folder + "/certificate.pem", folder + "/kept.pem");
    std::ofstream{folder + "/certificate.pem"} << read_file(folder + "/kept.pem") << authority;
    const std::string log = cloud.data + "/logs/master.log";
    EXPECT_TRUE(cloud.until([&] { return read_file(log).contains("it is read again, and good until"); }));
    EXPECT_EQ(cloud.web.fetch("GET", cloud.api_url + "/healthz").status, 200);
    EXPECT_EQ(cloud.find("master"), master);
}

}  // namespace
}  // namespace hostler::cloud
