#include "adapters/net/tls_stream.h"

#include <openssl/err.h>

#include <cstring>

#include "adapters/net/web_trust.h"

namespace hostler::net {

namespace {

constexpr std::size_t record_size_max = 16 * 1024;

using SslPtr = std::unique_ptr<SSL, Free<SSL_free>>;
using MethodPtr = std::unique_ptr<BIO_METHOD, Free<BIO_meth_free>>;

// What OpenSSL reads from and writes to: the stream below. Costs no buffer, unlike a BIO pair.
struct Below {
    StreamPtr stream;
    bool ended = false;
    std::optional<Error> error{};
};

Below& below_of(BIO* bio) { return *static_cast<Below*>(BIO_get_data(bio)); }

int bio_write(BIO* bio, const char* bytes, std::size_t size, std::size_t* written) {
    Below& below = below_of(bio);
    BIO_clear_retry_flags(bio);
    const asio::const_buffer buffer{bytes, size};
    const auto taken = below.stream->try_write({&buffer, 1});
    if (!taken) below.error = taken.error();
    if (taken && !*taken) BIO_set_retry_write(bio);
    if (!taken || !*taken) return 0;
    *written = **taken;
    return 1;
}

int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* read) {
    Below& below = below_of(bio);
    BIO_clear_retry_flags(bio);
    const auto taken = below.stream->try_read({into, size});
    if (!taken) below.error = taken.error();
    if (taken && !*taken) BIO_set_retry_read(bio);
    if (!taken || !*taken) return 0;
    below.ended = **taken == 0;
    *read = **taken;
    return below.ended ? 0 : 1;
}

long bio_control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF) return below_of(bio).ended ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO* make_bio(Below& below) {
    static const MethodPtr method = [] {
        MethodPtr made{BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hostler stream")};
        BIO_meth_set_write_ex(made.get(), bio_write);
        BIO_meth_set_read_ex(made.get(), bio_read);
        BIO_meth_set_ctrl(made.get(), bio_control);
        return made;
    }();
    BIO* bio = BIO_new(method.get());
    BIO_set_data(bio, &below);
    BIO_set_init(bio, 1);
    return bio;
}

// What went wrong, from the stream below, the peer's alert or OpenSSL, in this order.
Error trouble(const Below& below, std::string_view doing) {
    const unsigned long code = ERR_peek_last_error();
    const int reason = ERR_GET_REASON(code);
    const std::string words = ssl_words();
    const std::string_view address = below.stream->address();
    if (below.error) return *below.error;
    if (ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET &&
        reason < SSL_AD_REASON_OFFSET + 256)
        return {Code::unauthenticated, fmt::format("{} refused us: {}", address, words)};
    if (below.ended)
        return {Code::unavailable, fmt::format("{} cut the connection without saying goodbye", address)};
    return {Code::unavailable,
            fmt::format("{} {}: {}", doing, address, words.empty() ? "TLS failed" : words)};
}

Task<> at_once() { co_return Result<>{}; }

class TlsStream final : public Stream {
public:
    TlsStream(std::unique_ptr<Below> below, SslPtr ssl, PeerCheck peer)
        : below_(std::move(below)),
          ssl_(std::move(ssl)),
          identity_(std::move(peer.identity)),
          expired_(peer.expired) {}

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        if (broken_) return std::unexpected(*broken_);
        if (into.empty()) return std::size_t{0};
        ERR_clear_error();
        std::size_t size = 0;
        drained_ = false;
        if (SSL_read_ex(ssl_.get(), into.data(), into.size(), &size) == 1) return size;
        switch (SSL_get_error(ssl_.get(), 0)) {
            case SSL_ERROR_ZERO_RETURN: return std::size_t{0};
            case SSL_ERROR_WANT_READ: return wait_next(drained_, reading_waits_for_, Direction::read);
            case SSL_ERROR_WANT_WRITE: return wait_next(drained_, reading_waits_for_, Direction::write);
            default: return break_down("reading from");
        }
    }

    // One record a call. OpenSSL keeps a record that found no room, so that the next call has to offer the
    // same bytes: it takes exactly as many again.
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        if (broken_) return std::unexpected(*broken_);
        thread_local std::array<char, record_size_max> scratch;
        const std::size_t size_max = attempted_ > 0 ? attempted_ : record_size_max;
        while (!from.empty() && from.front().size() == 0) from = from.subspan(1);
        if (from.empty()) return std::size_t{0};
        const char* bytes = static_cast<const char*>(from.front().data());
        std::size_t size = std::min(from.front().size(), size_max);
        if (from.size() > 1 && size < size_max) {
            bytes = scratch.data();
            size = 0;
            for (const auto& buffer : from) {
                const std::size_t part = std::min(buffer.size(), size_max - size);
                if (part > 0) std::memcpy(scratch.data() + size, buffer.data(), part);
                size += part;
            }
        }
        HOSTLER_ASSERT(size >= attempted_ && "a write that waits must be tried again with the same bytes");
        ERR_clear_error();
        std::size_t written = 0;
        attempted_ = 0;
        if (SSL_write_ex(ssl_.get(), bytes, size, &written) == 1) return written;
        switch (SSL_get_error(ssl_.get(), 0)) {
            case SSL_ERROR_WANT_WRITE:
                attempted_ = size;
                return wait_next(stuck_, writing_waits_for_, Direction::write);
            case SSL_ERROR_WANT_READ:
                attempted_ = size;
                return wait_next(stuck_, writing_waits_for_, Direction::read);
            default: return break_down("writing to");
        }
    }

    Task<> readable() override {
        // Decrypted bytes may wait here while the socket is silent.
        if (!drained_ || broken_) return at_once();
        return wait_below(reading_waits_for_);
    }

    Task<> writable() override { return broken_ ? at_once() : wait_below(writing_waits_for_); }

    Task<> finish() override {
        if (broken_) co_return std::unexpected(*broken_);
        while (true) {
            ERR_clear_error();
            const int done = SSL_shutdown(ssl_.get());
            if (done >= 0) co_return Result<>{};
            const int error = SSL_get_error(ssl_.get(), done);
            if (error == SSL_ERROR_WANT_WRITE)
                CO_TRY(co_await below_->stream->writable());
            else
                co_return break_down("finishing towards");
        }
    }

    void close() override {
        if (!broken_) broken_ = Error{Code::unavailable, "the connection is closed"};
        below_->stream->close();
    }

    std::string_view identity() const override { return identity_; }
    bool expired() const override { return expired_; }
    std::string_view address() const override { return below_->stream->address(); }

private:
    enum class Direction { read, write };

    static std::nullopt_t wait_next(bool& flag, Direction& direction, Direction now) {
        flag = true;
        direction = now;
        return std::nullopt;
    }

    Task<> wait_below(Direction direction) {
        return direction == Direction::read ? below_->stream->readable() : below_->stream->writable();
    }

    std::unexpected<Error> break_down(std::string_view doing) {
        broken_ = trouble(*below_, doing);
        return std::unexpected(*broken_);
    }

    std::unique_ptr<Below> below_;
    SslPtr ssl_;
    std::string identity_;
    const bool expired_;
    std::optional<Error> broken_;
    std::size_t attempted_ = 0;  // Of the write that has to be repeated.
    Direction reading_waits_for_ = Direction::read;
    Direction writing_waits_for_ = Direction::write;
    bool drained_ = false;  // The last try_read found nothing.
    bool stuck_ = false;
};

// Why the handshake failed, in words about people and clocks rather than about alerts.
Error refusal_of(const Below& below, const PeerCheck& peer) {
    const std::string_view address = below.stream->address();
    if (!peer.refusal.empty()) {
        ERR_clear_error();
        return {Code::unauthenticated, fmt::format("{}: {}", address, peer.refusal), peer.reason};
    }
    const unsigned long code = ERR_peek_last_error();
    const bool from_ssl = ERR_GET_LIB(code) == ERR_LIB_SSL;
    if (from_ssl && ERR_GET_REASON(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        ERR_clear_error();
        if (peer.expect.empty())
            return {Code::unauthenticated, fmt::format("{} has no certificate", address)};
        return {Code::unauthenticated,
                fmt::format("{}: expected {} but it has no certificate", address, peer.expect)};
    }
    if (from_ssl && (ERR_GET_REASON(code) == SSL_R_UNSUPPORTED_PROTOCOL ||
                     ERR_GET_REASON(code) == SSL_R_UNKNOWN_PROTOCOL)) {
        ERR_clear_error();
        return {Code::unauthenticated,
                fmt::format("{} does not speak TLS {}", address, peer.older ? "1.2 or 1.3" : "1.3")};
    }
    if (peer.web && from_ssl && ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) {
        ERR_clear_error();
        return {Code::unavailable, fmt::format("{} does not speak TLS", address)};
    }
    return trouble(below, "securing the connection with");
}

// Runs the handshake. Errors: those of the stream below; unauthenticated; unavailable.
Task<> shake(Below& below, SSL& ssl, const PeerCheck& peer) {
    while (true) {
        ERR_clear_error();
        const int done = SSL_do_handshake(&ssl);
        if (done == 1) co_return Result<>{};
        switch (SSL_get_error(&ssl, done)) {
            case SSL_ERROR_WANT_READ: CO_TRY(co_await below.stream->readable()); break;
            case SSL_ERROR_WANT_WRITE: CO_TRY(co_await below.stream->writable()); break;
            default: co_return std::unexpected(refusal_of(below, peer));
        }
    }
}

}  // namespace

Task<StreamPtr> handshake(Timers& timers, TlsContexts& contexts, StreamPtr raw, Secure how, Side side,
                          Duration deadline) {
    const std::string web{side == Side::client ? web_host(how.expect) : ""};
    const Peers peers = side == Side::server ? (how.web ? Peers::web_clients : Peers::clients)
                        : web.empty()        ? Peers::servers
                                             : Peers::web_servers;
    const auto context = CO_TRY(contexts.of(how.own, peers));
    PeerCheck peer{.checked = !web.empty() || (!how.web && how.own && !how.own->authority.empty()),
                   .expect = how.expect,
                   .web = !web.empty(),
                   .older = how.web || !web.empty(),
                   .now = timers.wall(),
                   .grace = how.grace};
    if (!peer.checked && !peer.expect.empty())
        co_return fail(Code::invalid,
                       fmt::format("{} cannot be expected without an authority to believe", peer.expect));
    auto below = std::make_unique<Below>(std::move(raw));
    SslPtr ssl{SSL_new(context.get())};
    HOSTLER_ASSERT(ssl != nullptr);
    BIO* bio = make_bio(*below);
    SSL_set_bio(ssl.get(), bio, bio);
    if (peer.web) CO_TRY(expect_web_host(*ssl, web));
    SSL_set_app_data(ssl.get(), &peer);
    const bool required = side == Side::client || how.peer_required || !how.expect.empty();
    SSL_set_verify(ssl.get(),
                   !peer.checked ? SSL_VERIFY_NONE
                   : required    ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                                 : SSL_VERIFY_PEER,
                   nullptr);
    side == Side::client ? SSL_set_connect_state(ssl.get()) : SSL_set_accept_state(ssl.get());

    Deadline limit{timers, deadline, [&] { below->stream->close(); }};
    const auto shaken = co_await shake(*below, *ssl, peer);
    SSL_set_app_data(ssl.get(), nullptr);
    if (limit.expired())
        co_return fail(Code::timeout, fmt::format("the TLS handshake with {} did not end in time",
                                                  below->stream->address()));
    CO_TRY(shaken);
    co_return std::make_unique<TlsStream>(std::move(below), std::move(ssl), std::move(peer));
}

}  // namespace hostler::net
