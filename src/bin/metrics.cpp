#include "bin/metrics.h"

namespace hostler::bin {

MetricsServer::MetricsServer(Process& process, std::string address)
    : process_(process),
      address_(std::move(address)),
      server_(process.loop, *process.timers, connections_max) {}

Task<> MetricsServer::start(TaskGroup& group, std::function<void(MetricsPage&)> write) {
    if (address_.empty()) co_return Result<>{};
    write_ = std::move(write);
    ListenerPtr listener = CO_TRY(co_await process_.net->listen(address_));
    address_ = listener->address();
    group.start("metrics", server_.run(std::move(listener), [this](StreamPtr stream) {
        return http::serve(std::move(stream), *process_.timers, limits_, handler_, &server_.drain());
    }));
    co_return Result<>{};
}

Task<> MetricsServer::answer(http::Exchange& exchange) {
    if (exchange.request.path() != "/metrics")
        co_return co_await exchange.respond(http::text_response(404, "metrics are at /metrics"));
    MetricsPage page;
    write_process_metrics(page);
    write_(page);
    http::Response response{.body = page.text()};
    response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    co_return co_await exchange.respond(std::move(response));
}

Addresses MetricsServer::with(Addresses others) const {
    if (!address_.empty()) others.emplace("metrics", address_);
    return others;
}

}  // namespace hostler::bin
