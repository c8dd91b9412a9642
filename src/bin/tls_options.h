// How a role's listener speaks TLS: options, and what they come to.
#pragma once

#include <memory>
#include <string>

#include "adapters/net/web_certificate.h"
#include "bin/process.h"
#include "http/arrival.h"

namespace CLI {
class App;
}

namespace hostler::bin {

struct TlsOptions {
    std::string certificate;  // Empty: no TLS.
    std::string key;

    void add_to(CLI::App& app);
    // To be called once the arguments are read; `url`: what others reach it by, of the option `url_option`.
    // Errors: invalid, with the option.
    Result<> check(std::string_view url_option, std::string_view url) const;
};

// The certificate of one listener, while a role runs.
class TlsListener {
public:
    // Errors: invalid: the files cannot be used.
    static Result<TlsListener> open(const TlsOptions& options, Process& process);
    http::Arrival arrival() const;  // It outlives whoever has this.
    void start(TaskGroup& group);   // Takes what the files hold when they change.
    void write_metrics(MetricsPage& page, const std::string& prefix) const;

private:
    std::unique_ptr<net::WebCertificate> certificate_;  // Null: no TLS.
};

}  // namespace hostler::bin
