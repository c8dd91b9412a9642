#include "roles/gateway/gateway.h"

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/gateway/origin.h"

namespace hostler::gateway {

namespace {

using std::chrono::seconds;

constexpr Duration retry_listening = seconds{5};
constexpr Duration grace = seconds{5};

// Names compare in lower case, without a dot at either end.
Settings normal(Settings settings) {
    auto& domain = settings.domain;
    std::transform(domain.begin(), domain.end(), domain.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    while (domain.starts_with('.')) domain.erase(0, 1);
    while (domain.ends_with('.')) domain.pop_back();
    return settings;
}

std::shared_ptr<const uplink::TunnelOpen> cluster_opening() {
    auto open = std::make_shared<uplink::TunnelOpen>();
    open->set_kind("cluster");
    return open;
}

}  // namespace

Gateway::Gateway(Settings settings, Ports ports)
    : settings_(normal(std::move(settings))),
      ports_(std::move(ports)),
      routes_(settings_.routes_max),
      master_(
          ports_, settings_, routes_,
          [this] {
              front_.routes_changed();
              clusters_.routes_changed();
              routes_changed_.notify_all();
          },
          [this](std::vector<std::string> marks) { keeper_.end(marks); }),
      keeper_(ports_, settings_, master_),
      upstreams_(ports_, settings_),
      entrance_(ports_, settings_, master_, keeper_,
                [this](RoutePtr route, std::shared_ptr<const uplink::TunnelOpen> session) {
                    return upstreams_.dial(std::move(route), std::move(session));
                }),
      clusters_(ports_, settings_, routes_, keeper_,
                [this, open = cluster_opening()](RoutePtr route) {
                    return upstreams_.dial(std::move(route), open);
                }),
      front_(ports_, settings_, routes_, master_, keeper_,
             [this](RoutePtr route) { return upstreams_.dial(std::move(route)); }),
      server_(ports_.loop, ports_.timers, settings_.connections_max, settings_.client_connections_max) {
    front_.set_entrance(entrance_);
    front_.set_clusters(clusters_);
}

Task<> Gateway::run() {
    const auto ended = co_await serve();
    listening_ = false;
    for (auto& [port, group] : own_ports_) co_await group->close();
    own_ports_.clear();
    co_await server_.stop(grace);
    co_await upstreams_.close();
    co_return ended;
}

Task<> Gateway::serve() {
    auto listener = CO_TRY(co_await ports_.net.listen(settings_.listen));
    address_ = listener->address();
    const auto colon = address_.rfind(':');
    const std::string host = address_.substr(0, colon);
    url_ = settings_.address;
    if (url_.empty())
        url_ = (ports_.arrival.certificate ? "https://" : "http://") +
               (settings_.domain.empty() ? address_ : settings_.domain + address_.substr(colon));
    front_.set_scheme(url_.starts_with("https://") ? "https" : "http");
    log_info("gateway: serving {} as {} domain={}", address_, url_, settings_.domain);
    TaskGroup tasks{ports_.loop};
    tasks.start("gateway", server_.run(std::move(listener), served(0), arrival()));
    if (settings_.domain.empty()) tasks.start("ports of their own", keep_own_ports(host));
    tasks.start("sign-outs", keeper_.run());
    tasks.start("what is open", keeper_.watch());
    tasks.start("the end of an outage", keeper_.catch_up());
    tasks.start("whom to believe", keeper_.remember());
    tasks.start("routes", master_.remember());
    listening_ = true;
    changed_.notify_all();
    const auto ended = co_await master_.run(url_);
    co_await tasks.close();
    co_return ended;
}

Task<> Gateway::leave(Duration patience) {
    log_info("gateway: it leaves: {} connections", server_.connections());
    front_.leave();
    entrance_.leave();
    co_return co_await server_.stop(patience);
}

Task<> Gateway::ready() {
    while (!listening_) CO_TRY(co_await changed_.wait());
    co_return Result<>{};
}

http::Server::Connection Gateway::served(std::uint16_t own_port) {
    return [this, own_port](StreamPtr stream, http::Place& place) {
        return front_.connection(std::move(stream), own_port, server_.drain(), place);
    };
}

http::Arrival Gateway::arrival() const {
    http::Arrival arrival = ports_.arrival;
    arrival.net = &ports_.net;
    return arrival;
}

// Ports open and close as routes come and go.
Task<> Gateway::keep_own_ports(std::string host) {
    while (true) {
        const auto& wanted = routes_.own_ports();
        for (auto open = own_ports_.begin(); open != own_ports_.end();) {
            if (wanted.contains(open->first)) {
                ++open;
                continue;
            }
            const auto gone = std::move(open->second);
            open = own_ports_.erase(open);
            co_await gone->close();
        }
        for (const auto& [port, name] : wanted) {
            if (own_ports_.contains(port)) continue;
            auto& group = own_ports_[port] = std::make_unique<TaskGroup>(ports_.loop);
            group->start("an instance's own port", own_port(host, port));
        }
        CO_TRY(co_await routes_changed_.wait());
    }
}

Task<> Gateway::own_port(std::string host, std::uint16_t port) {
    const std::string address = fmt::format("{}:{}", host, port);
    while (true) {
        auto listener = co_await ports_.net.listen(address);
        if (listener) co_return co_await server_.run(std::move(*listener), served(port), arrival());
        log_warn("gateway: cannot listen on {} for an instance: {}", address, listener.error().message);
        CO_TRY(co_await sleep(ports_.timers, retry_listening));
    }
}

}  // namespace hostler::gateway
