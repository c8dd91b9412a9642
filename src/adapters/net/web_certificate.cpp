#include "adapters/net/web_certificate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "adapters/net/tls_context.h"
#include "core/log.h"

namespace hostler::net {

namespace {

constexpr std::chrono::seconds look_every{1};

std::string stamp_of(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return fmt::format("none {}", errno);
    return fmt::format("{} {} {} {}.{} {}.{}", found.st_dev, found.st_ino, found.st_size,
                       found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ctim.tv_sec,
                       found.st_ctim.tv_nsec);
}

Result<std::string> read_pem(const std::string& path) {
    const auto failed = [&path](std::string_view why) {
        return fail(Code::invalid, fmt::format("{}: {}", path, why));
    };
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // A FIFO makes nobody wait.
    if (fd < 0) return failed(std::generic_category().message(errno));
    std::string text(pem_size_max + 1, '\0');
    std::size_t size = 0;
    ssize_t more = 0;
    while (size < text.size() && (more = ::read(fd, text.data() + size, text.size() - size)) > 0)
        size += static_cast<std::size_t>(more);
    const int error = errno;
    ::close(fd);
    if (more < 0) return failed(std::generic_category().message(error));
    if (size > pem_size_max) return failed(fmt::format("it is larger than {} bytes", pem_size_max));
    text.resize(size);
    return text;
}

template <class T>
Result<T> about(const std::string& path, Result<T> read) {
    if (!read) read.error().message = fmt::format("{}: {}", path, read.error().message);
    return read;
}

}  // namespace

WebCertificate::WebCertificate(std::string certificate_path, std::string key_path, Timers& timers)
    : certificate_path_(std::move(certificate_path)), key_path_(std::move(key_path)), timers_(timers) {}

Result<std::unique_ptr<WebCertificate>> WebCertificate::open(std::string certificate_path,
                                                             std::string key_path, Timers& timers) {
    std::unique_ptr<WebCertificate> made{
        new WebCertificate(std::move(certificate_path), std::move(key_path), timers)};
    made->taken_ = made->look();
    TRY(made->read());
    return made;
}

WebCertificate::Stamp WebCertificate::look() const {
    return stamp_of(certificate_path_) + "|" + stamp_of(key_path_);
}

Result<> WebCertificate::read() {
    Credentials read{
        .certificate = TRY(read_pem(certificate_path_)), .key = TRY(read_pem(key_path_)), .authority = {}};
    const auto chain = TRY(about(certificate_path_, parse_certificates(read.certificate)));
    const auto key = TRY(about(key_path_, parse_key(read.key)));
    X509& own = *chain.front();
    if (X509_check_private_key(&own, key.get()) != 1) {
        ERR_clear_error();
        return fail(
            Code::invalid,
            fmt::format("{} is not the key of {}; of a chain the server's own certificate stands first",
                        key_path_, certificate_path_));
    }
    auto fresh = std::make_shared<const Credentials>(std::move(read));
    TRY(about(certificate_path_, TlsContexts{}.of(fresh, Peers::web_clients)));  // Its key may be too short.
    credentials_ = std::move(fresh);
    ends_ = wall_of(*X509_get0_notAfter(&own));
    if (ends_ <= timers_.wall())
        log_warn("{}: this certificate expired at {}; clients refuse it", certificate_path_, rfc3339(ends_));
    return {};
}

Task<> WebCertificate::watch() {
    Stamp before = taken_;
    while (true) {
        CO_TRY(co_await sleep(timers_, look_every));
        Stamp now = look();
        // Both files are written one after the other: they are read once they are still.
        const bool still = std::exchange(before, now) == now;
        if (!still || now == taken_) continue;
        taken_ = std::move(now);
        if (const auto again = read()) {
            log_info("{}: it is read again, and good until {}", certificate_path_, rfc3339(ends_));
        } else {
            ++failures_;
            log_error("the certificate stays unchanged until {}: {}", rfc3339(ends_), again.error().message);
        }
    }
}

void WebCertificate::write_metrics(MetricsPage& page, const std::string& prefix) const {
    page.add(prefix + "_tls_certificate_end_seconds", "When its TLS certificate expires, as Unix time.",
             MetricsPage::Type::gauge,
             std::chrono::floor<std::chrono::seconds>(ends_).time_since_epoch().count());
    page.add(prefix + "_tls_reload_failures_total", "Changes of its TLS files that could not be used.",
             MetricsPage::Type::counter, failures_);
}

}  // namespace hostler::net
