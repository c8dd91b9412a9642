#include "bin/metrics.h"

namespace hostler::bin {

namespace {

// Names of zones need no decoding.
std::string zone_of(const http::Request& request) {
    constexpr std::string_view key = "zone=";
    const std::string_view query = request.query();
    return query.starts_with(key) ? std::string{query.substr(key.size(), query.find('&') - key.size())} : "";
}

}  // namespace

MetricsServer::MetricsServer(Process& process, std::string address)
    : process_(process),
      address_(std::move(address)),
      server_(process.loop, *process.timers, connections_max) {}

Task<> MetricsServer::start(TaskGroup& group, std::function<void(MetricsPage&)> write, Pages pages) {
    pages_ = std::move(pages);
    if (address_.empty()) co_return Result<>{};
    write_ = std::move(write);
    ListenerPtr listener = CO_TRY(co_await process_.net->listen(address_));
    address_ = listener->address();
    group.start("metrics", server_.run(std::move(listener), [this](StreamPtr stream, http::Place& place) {
        return http::serve(std::move(stream), *process_.timers, limits_, handler_, &server_.drain(), &place);
    }));
    co_return Result<>{};
}

Task<> MetricsServer::answer(http::Exchange& exchange) {
    MetricsPage page;
    if (const auto other = pages_.find(std::string{exchange.request.path()}); other != pages_.end()) {
        if (const auto written = other->second(page, zone_of(exchange.request)); !written)
            co_return co_await exchange.respond(http::text_response(503, written.error().message));
    } else if (exchange.request.path() == "/metrics") {
        write_process_metrics(page);
        write_(page);
    } else {
        co_return co_await exchange.respond(http::text_response(404, "metrics are at /metrics"));
    }
    http::Response response{.body = page.text()};
    response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    co_return co_await exchange.respond(std::move(response));
}

Addresses MetricsServer::with(Addresses others) const {
    if (!address_.empty()) others.emplace("metrics", address_);
    return others;
}

}  // namespace hostler::bin
