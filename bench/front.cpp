// The gateway's front as shipped, with every limit and check, over plain TCP to one origin: for comparing
// proxies alone. bench-front LISTEN ORIGIN; the host name to ask for is bench.localhost.
#include <boost/asio/co_spawn.hpp>
#include <cstdio>

#include "adapters/net/authority.h"
#include "adapters/net/digest.h"
#include "adapters/net/net.h"
#include "http/server.h"
#include "roles/gateway/front.h"

namespace {

using namespace hostler;

// Nothing is remembered: there is no master whose epoch might go back.
class NoJournal final : public Journal {
public:
    const std::map<std::string, std::string>& all() const override { return none_; }
    Task<> put_all(std::vector<Entry>) override { co_return Result<>{}; }
    Task<> erase(std::string) override { co_return Result<>{}; }

private:
    std::map<std::string, std::string> none_;
};

Task<> serve(Loop& loop, std::string listen, std::string origin) {
    const auto timers = net::make_timers(loop);
    const auto net = net::make_net(loop);
    const auto random = net::make_random();
    NoJournal journal;
    const net::OpenSslDigest digest;
    const auto keys = net::make_keys();
    Certified nobody{std::make_shared<const Credentials>(), *keys, nullptr};
    const gateway::Ports ports{loop, *timers, *net, *random, journal, digest, nobody, "bench"};
    const gateway::Settings settings;
    gateway::RouteTable routes{settings.routes_max};
    routes.replace({{.name = "bench",
                     .tenant = "bench",
                     .instance = "bench",
                     .generation = 1,
                     .port = 80,
                     .open_to_all = true,
                     .state = gateway::State::running,
                     .host = "bench"}});
    gateway::MasterLink master{ports, settings, routes, [] {}, [](const auto&) {}};
    gateway::Gatekeeper keeper{ports, settings, master};
    gateway::Front front{
        ports,  settings,
        routes, master,
        keeper, [&](const gateway::RoutePtr&) {
                             return net->dial(origin, std::chrono::seconds{5}); }};
    http::Server server{loop, *timers, settings.connections_max};
    auto listener = CO_TRY(co_await net->listen(listen));
    co_return co_await server.run(std::move(listener), [&](StreamPtr stream, http::Place& place) {
        return front.connection(std::move(stream), 0, server.drain(), place);
    });
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: bench-front LISTEN ORIGIN, both as ADDRESS:PORT\n");
        return 2;
    }
    Loop loop{1};
    asio::co_spawn(loop, serve(loop, arguments[1], arguments[2]), [](const auto&, const Result<>& ended) {
        if (ended) return;
        std::fprintf(stderr, "bench-front: %s\n", ended.error().message.c_str());
        std::exit(1);
    });
    loop.run();
}
