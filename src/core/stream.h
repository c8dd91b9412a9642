// Bytes both ways, and where they come from. Everything under `http`, `wire` and the roles runs on these, so
// that the simulation can be the network.
#pragma once

#include <boost/asio/buffer.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/timers.h"

namespace hostler {

// One reader and one writer at a time. Reading costs no memory while nothing comes: wait with readable(),
// then read into scratch. Closing or destroying a stream ends both directions at once.
class Stream {
public:
    virtual ~Stream() = default;

    // Bytes read, at most into.size(); 0: the peer has finished; nullopt: nothing yet. Errors: unavailable.
    virtual Result<std::optional<std::size_t>> try_read(std::span<char> into) = 0;
    // Bytes taken from the front of `from`; nullopt: no room yet. Errors: unavailable.
    virtual Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) = 0;
    // Return when the try_ call is worth repeating. Errors: cancelled (also when closed meanwhile),
    // unavailable.
    virtual Task<> readable() = 0;
    virtual Task<> writable() = 0;

    virtual Task<> finish() = 0;  // No more from us; the peer may still send.
    virtual void close() = 0;     // Both directions, now; those who wait are woken. May be called twice.

    // Who is at the other end: "host/h-4f2a", "" without TLS or without a certificate.
    virtual std::string_view identity() const { return {}; }
    // Its certificate's time is over, and Secure::grace let it in all the same: it may ask for a new one.
    virtual bool expired() const { return false; }
    virtual std::string_view address() const = 0;  // For people: "10.0.0.7:4411".
};

using StreamPtr = std::unique_ptr<Stream>;

// Reads at least one byte; 0: the peer has finished.
Task<std::size_t> read_some(Stream& stream, std::span<char> into);
// Errors: unavailable when the stream ends before `into` is full.
Task<> read_exactly(Stream& stream, std::span<char> into);
Task<> write_all(Stream& stream, std::string_view bytes);
Task<> write_all(Stream& stream, std::span<const asio::const_buffer> buffers);  // At most 16 buffers.

class Listener {
public:
    virtual ~Listener() = default;
    virtual Task<StreamPtr> accept() = 0;  // Errors: cancelled; unavailable for passing trouble: go on.
    virtual std::string_view address() const = 0;  // With the port that was picked for port 0.
    virtual void close() = 0;
};

using ListenerPtr = std::unique_ptr<Listener>;

// A key and what vouches for it, as PEM (or whatever the adapter at hand understands).
struct Credentials {
    std::string certificate;  // With its chain. Empty: we do not say who we are.
    std::string key;
    std::string authority;  // Who we believe. Empty: nobody is checked (only ever before joining).
};

// How one end of a stream is secured.
struct Secure {
    std::shared_ptr<const Credentials> own;
    bool peer_required = true;  // Refuse a peer without a certificate.
    std::string expect{};       // The identity the peer must have; a trailing '/' means any of that role.
    Duration grace{};           // A peer's certificate may have expired up to so long ago: Stream::expired().
    bool web = false;           // A server's: for browsers and programs, which need no certificate.
};

enum class Side { client, server };

// The network. Addresses: "127.0.0.1:8080", "[::1]:0", "name:443", "unix:/run/x.sock".
class Net {
public:
    virtual ~Net() = default;
    // Errors: unavailable (refused, unreachable), timeout.
    virtual Task<StreamPtr> dial(std::string address, Duration deadline) = 0;
    virtual Task<ListenerPtr> listen(std::string address) = 0;
    // TLS 1.3 over a connected stream, or 1.2 with Secure::web. Errors: unauthenticated (no certificate, not
    // of ours, not who we expect), unavailable, timeout.
    virtual Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) = 0;
};

}  // namespace hostler
