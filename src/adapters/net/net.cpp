#include "adapters/net/net.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "adapters/net/endpoint.h"
#include "adapters/net/socket.h"
#include "adapters/net/tls_context.h"
#include "adapters/net/tls_stream.h"
#include "core/task_group.h"

namespace hostler::net {

namespace {

constexpr int backlog_max = 1024;
constexpr std::chrono::seconds keepalive_idle{60};
constexpr std::chrono::seconds keepalive_interval{15};
constexpr int keepalive_probes_max = 4;
// Of connections that we dial. They lead to our own machines and to containers: whatever is not acknowledged
// for so long was sent to one that is gone.
constexpr std::chrono::seconds dialled_idle{15};
constexpr std::chrono::milliseconds dialled_patience{10'000};
constexpr std::chrono::milliseconds exhausted_pause{100};

void set(int fd, int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); }

// Small writes leave at once; a peer whose machine has gone is noticed within two minutes.
void tune(int fd, int family) {
    if (family == AF_UNIX) return;
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(keepalive_idle.count()));
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(keepalive_interval.count()));
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes_max);
}

void be_impatient(int fd, int family) {
    if (family == AF_UNIX) return;
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(dialled_idle.count()));
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(dialled_patience.count()));
}

int open_socket(int family) { return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// An accepter may still wait when its listener goes, so both hold this.
struct Listening {
    Listening(Loop& on, Timers& by, int fd, Endpoint endpoint)
        : loop(on), timers(by), watch(on, fd), at(endpoint), address(at.text()) {}
    Loop& loop;
    Timers& timers;
    Watch watch;
    Endpoint at;
    std::string address;
};

Task<StreamPtr> accept_from(std::shared_ptr<Listening> from) {
    while (from->watch.open()) {
        Endpoint peer;
        peer.size = sizeof peer.storage;
        const int fd = ::accept4(from->watch.fd(), peer.raw(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            tune(fd, from->at.family());
            co_return std::make_unique<Socket>(from->loop, fd,
                                               from->at.family() == AF_UNIX ? from->address : peer.text());
        }
        const int error = errno;
        if (error == EAGAIN || error == EWOULDBLOCK) {
            from->watch.drained();
            CO_TRY(co_await from->watch.readable());
        } else if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
            // The connection stays in the queue: without a pause the caller would spin until something frees
            // up.
            CO_TRY(co_await sleep(from->timers, exhausted_pause));
            co_return socket_failure("accepting at", from->address, error);
        }
        // Whatever else accept(2) tells is about a connection that has gone already.
    }
    co_return fail(Code::cancelled, "the listener was closed");
}

class SocketListener final : public Listener {
public:
    explicit SocketListener(std::shared_ptr<Listening> state) : state_(std::move(state)) {}
    ~SocketListener() override { close(); }
    Task<StreamPtr> accept() override { return accept_from(state_); }
    std::string_view address() const override { return state_->address; }
    void close() override {
        if (!state_->watch.open()) return;
        state_->watch.close();
        if (state_->at.family() == AF_UNIX)
            ::unlink(reinterpret_cast<sockaddr_un&>(state_->at.storage).sun_path);
    }

private:
    std::shared_ptr<Listening> state_;
};

// A socket file outlives the process that made it. It may go when nobody answers there.
void remove_stale(const Endpoint& at) {
    const char* path = reinterpret_cast<const sockaddr_un&>(at.storage).sun_path;
    struct stat found{};
    if (::lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) return;
    const int fd = open_socket(AF_UNIX);
    if (fd < 0) return;
    if (::connect(fd, at.raw(), at.size) != 0 && errno == ECONNREFUSED) ::unlink(path);
    ::close(fd);
}

class LoopNet final : public Net {
public:
    explicit LoopNet(Loop& loop) : loop_(loop), timers_(make_timers(loop)) {}

    Task<StreamPtr> dial(std::string address, Duration deadline) override {
        CO_TRY(co_await check_cancelled());
        const Instant end = timers_->now() + deadline;
        const auto endpoints = CO_TRY(co_await resolve(loop_, *timers_, address, deadline));
        Result<StreamPtr> stream =
            fail(Code::unavailable, fmt::format("the name in '{}' has no address", address));
        for (std::size_t i = 0; i < endpoints.size(); ++i) {
            const auto share = (end - timers_->now()) / static_cast<std::int64_t>(endpoints.size() - i);
            stream = co_await connect(endpoints[i], share);
            if (stream || stream.error().code == Code::cancelled) break;
        }
        co_return stream;
    }

    Task<ListenerPtr> listen(std::string address) override {
        constexpr std::chrono::seconds resolve_deadline{10};
        auto endpoint = CO_TRY(co_await resolve(loop_, *timers_, address, resolve_deadline)).front();
        const int fd = open_socket(endpoint.family());
        if (fd < 0) co_return socket_failure("listening at", address, errno);
        Watch owner{loop_, fd};
        if (endpoint.family() == AF_UNIX)
            remove_stale(endpoint);
        else
            set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
        if (::bind(fd, endpoint.raw(), endpoint.size) != 0 || ::listen(fd, backlog_max) != 0) {
            const int error = errno;
            auto failed = socket_failure("listening at", address, error);
            if (error == EADDRINUSE) failed.error().reason = "address_in_use";  // Of another listener.
            co_return failed;
        }
        if (endpoint.family() != AF_UNIX) {
            endpoint.size = sizeof endpoint.storage;
            ::getsockname(fd, endpoint.raw(), &endpoint.size);
        }
        owner.release();
        co_return std::make_unique<SocketListener>(
            std::make_shared<Listening>(loop_, *timers_, fd, endpoint));
    }

    Task<StreamPtr> secure(StreamPtr raw, Secure how, Side side, Duration deadline) override {
        return handshake(*timers_, contexts_, std::move(raw), std::move(how), side, deadline);
    }

private:
    Task<StreamPtr> connect(Endpoint to, Duration deadline) {
        const std::string address = to.text();
        const int fd = open_socket(to.family());
        if (fd < 0) co_return socket_failure("dialling", address, errno);
        auto stream = std::make_unique<Socket>(loop_, fd, address);
        tune(fd, to.family());
        if (::connect(fd, to.raw(), to.size) != 0) {
            if (errno != EINPROGRESS) co_return socket_failure("dialling", address, errno);
            Deadline limit{*timers_, deadline, [&] { stream->close(); }};
            const auto waited = co_await stream->writable();
            if (limit.expired())
                co_return fail(Code::timeout, fmt::format("dialling {}: no answer in time", address));
            CO_TRY(waited);
            int error = 0;
            socklen_t size = sizeof error;
            ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
            if (error != 0) co_return socket_failure("dialling", address, error);
        }
        be_impatient(fd, to.family());
        co_return stream;
    }

    Loop& loop_;
    std::unique_ptr<Timers> timers_;
    TlsContexts contexts_;
};

}  // namespace

std::unique_ptr<Net> make_net(Loop& loop) { return std::make_unique<LoopNet>(loop); }

}  // namespace hostler::net
