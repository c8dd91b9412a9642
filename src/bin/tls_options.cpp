#include "bin/tls_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/task_group.h"

namespace hostler::bin {

void TlsOptions::add_to(CLI::App& app) {
    app.add_option("--tls-cert", certificate,
                   "File of its TLS certificate with its chain, as PEM; read again when it changes. Empty: "
                   "plain HTTP");
    app.add_option("--tls-key", key, "File of the private key of --tls-cert, as PEM");
}

Result<> TlsOptions::check(std::string_view url_option, std::string_view url) const {
    if (certificate.empty() != key.empty())
        return fail(Code::invalid, certificate.empty() ? "--tls-key also needs --tls-cert"
                                                       : "--tls-cert also needs --tls-key");
    if (!certificate.empty() && url.starts_with("http://"))
        return fail(Code::invalid, fmt::format("{} {}: with --tls-cert it is https://", url_option, url));
    return {};
}

Result<TlsListener> TlsListener::open(const TlsOptions& options, Process& process) {
    TlsListener listener;
    if (!options.certificate.empty())
        listener.certificate_ =
            TRY(net::WebCertificate::open(options.certificate, options.key, *process.timers));
    return listener;
}

http::Arrival TlsListener::arrival() const {
    http::Arrival arrival;
    if (certificate_) arrival.certificate = [own = certificate_.get()] { return own->credentials(); };
    return arrival;
}

void TlsListener::start(TaskGroup& group) {
    if (certificate_) group.start("certificate files", certificate_->watch());
}

void TlsListener::write_metrics(MetricsPage& page, const std::string& prefix) const {
    if (certificate_) certificate_->write_metrics(page, prefix);
}

}  // namespace hostler::bin
