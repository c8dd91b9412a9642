// Where a role's metrics are read.
#pragma once

#include <map>

#include "bin/process.h"
#include "bin/ready_file.h"
#include "core/metrics.h"
#include "http/server.h"

namespace hostler::bin {

class MetricsServer {
public:
    // `address`: HOST:PORT; empty: nothing is served.
    MetricsServer(Process& process, std::string address);
    // Pages apart from /metrics, by path; with the value of ?zone=, empty: none was given. Their errors are
    // the answer.
    using Pages = std::map<std::string, std::function<Result<>(MetricsPage&, const std::string& zone)>>;
    // Listens, and serves in `group`. `write` and `pages` outlive it. Errors: those of listening.
    Task<> start(TaskGroup& group, std::function<void(MetricsPage&)> write, Pages pages = {});
    Task<> stop() { return server_.stop({}); }
    // With where it listens, as "metrics".
    Addresses with(Addresses others) const;

private:
    Task<> answer(http::Exchange& exchange);
    static constexpr std::size_t connections_max = 16;

    Process& process_;
    std::string address_;
    std::function<void(MetricsPage&)> write_;
    Pages pages_;
    http::Server server_;
    const http::ServerLimits limits_;
    const http::Handler handler_ = [this](http::Exchange& exchange) { return answer(exchange); };
};

}  // namespace hostler::bin
