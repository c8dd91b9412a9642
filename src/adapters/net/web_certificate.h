// The certificate that a listener shows to browsers and programs, from files that others renew.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/metrics.h"
#include "core/stream.h"

namespace hostler::net {

class WebCertificate {
public:
    // `certificate_path`: with its chain, the server's own first. Errors: invalid, with the file and what is
    // wrong; a certificate that has expired is used, with a warning.
    static Result<std::unique_ptr<WebCertificate>> open(std::string certificate_path, std::string key_path,
                                                        Timers& timers);

    std::shared_ptr<const Credentials> credentials() const { return credentials_; }
    WallTime ends() const { return ends_; }  // When it expires.
    // Takes what the files hold when they change. A pair that cannot be used is logged, and the one before
    // stays. Runs until cancelled.
    Task<> watch();
    // `prefix`: as "hostler_master".
    void write_metrics(MetricsPage& page, const std::string& prefix) const;

private:
    // Size, change and place of both files, by which a look costs two calls.
    using Stamp = std::string;
    WebCertificate(std::string certificate_path, std::string key_path, Timers& timers);
    Stamp look() const;
    Result<> read();

    const std::string certificate_path_, key_path_;
    Timers& timers_;
    std::shared_ptr<const Credentials> credentials_;
    Stamp taken_;  // Of what was read last, also of what could not be used.
    WallTime ends_{};
    std::uint64_t failures_ = 0;
};

}  // namespace hostler::net
