// The command line against an API behind real TLS, on real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "adapters/net/net.h"
#include "adapters/net/testing/web_certificates.h"
#include "cli/cli.h"
#include "core/task_group.h"
#include "core/testing/real_timers.h"
#include "core/testing/temp_folder.h"
#include "http/server.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class CliTls : public ::testing::Test {
protected:
    CliTls() {
        std::ofstream{ca()} << authority.pem();
        world.env = [](const std::string&) { return std::nullopt; };
        world.out = [this](std::string_view text) { out += text; };
        world.err = [this](std::string_view text) { err += text; };
    }
    std::string ca() const { return folder.path() + "/ca.pem"; }

    static Task<> answer(http::Exchange& exchange) {
        const bool known = exchange.request.headers.find("Authorization") == "Bearer hk_1";
        http::Response response{
            known ? 200 : 401, {{"Content-Type", "application/json"}}, R"({"actor": "key/k-1"})"};
        co_return co_await exchange.respond(std::move(response));
    }
    static Task<> serve(CliTls& me, Listener& at, std::shared_ptr<const Credentials> own) {
        auto raw = CO_TRY(co_await at.accept());
        auto stream = CO_TRY(
            co_await me.net->secure(std::move(raw), {.own = own, .peer_required = false}, Side::server, 5s));
        const http::ServerLimits limits;
        co_return co_await http::serve(std::move(stream), *me.timers, limits,
                                       [&me](http::Exchange& exchange) {
                                           ++me.asked;
                                           return answer(exchange);
                                       });
    }
    static Task<int> visit(CliTls& me, Credentials server, std::string host, std::vector<std::string> more) {
        const auto listener = CO_TRY(co_await me.net->listen("127.0.0.1:0"));
        const std::string address{listener->address()};
        TaskGroup group{me.loop};
        group.start("serve", serve(me, *listener, std::make_shared<Credentials>(std::move(server))));
        std::vector<std::string> args{"whoami", "--key", "hk_1", "--api",
                                      "https://" + host + address.substr(address.rfind(':'))};
        args.insert(args.end(), more.begin(), more.end());
        const int code = CO_TRY(co_await cli::cli(std::move(args), me.world));
        group.cancel();
        CO_TRY(co_await group.close());
        co_return code;
    }
    int run(Credentials server, std::string host, std::vector<std::string> more) {
        out.clear();
        err.clear();
        const auto code =
            testing::run_real(loop, visit(*this, std::move(server), std::move(host), std::move(more)));
        return code.value_or(-1);
    }

    Loop loop;
    std::unique_ptr<Net> net = net::make_net(loop);
    std::unique_ptr<Timers> timers = net::make_timers(loop);
    cli::CliWorld world{.loop = loop, .net = *net, .timers = *timers};
    net::testing::WebAuthority authority;
    testing::TempFolder folder;
    std::string out, err;
    int asked = 0;
};

TEST_F(CliTls, TalksToAServerWhoseAuthorityItIsTold) {
    EXPECT_EQ(run(authority.issue("DNS:localhost,IP:127.0.0.1"), "localhost", {"--ca", ca()}), 0) << err;
    EXPECT_THAT(out, HasSubstr("key/k-1"));
    EXPECT_EQ(run(authority.issue("IP:127.0.0.1"), "127.0.0.1", {"--ca", ca()}), 0) << err;
    EXPECT_EQ(asked, 2);
}

TEST_F(CliTls, NoKeyGoesToAServerThatIsNotTrusted) {
    const auto refused = [&](Credentials server, std::vector<std::string> more, std::string_view words) {
        EXPECT_EQ(run(std::move(server), "localhost", std::move(more)), 8);
        EXPECT_THAT(err, HasSubstr("is not to be trusted"));
        EXPECT_THAT(err, HasSubstr(std::string(words)));
        EXPECT_EQ(out, "");
    };
    refused(authority.issue("DNS:localhost"), {},
            "signed by an authority that is not known here\n  would help: ");
    refused(authority.issue("DNS:localhost", -7200, -3600), {"--ca", ca()},
            "the certificate of localhost expired at ");
    refused(authority.issue("DNS:api.test,IP:127.0.0.1"), {"--ca", ca()},
            "the certificate there is for api.test, 127.0.0.1, not for localhost");
    EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace hostler
