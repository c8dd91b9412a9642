#include "http/client.h"

#include "http/pool.h"

namespace hostler::http {

namespace {

// The credentials are held while their address is part of a key.
std::string key_of(const Endpoint& endpoint) {
    if (!endpoint.secure) return endpoint.address + '\n';
    return fmt::format("{}\n{} {}", endpoint.address, endpoint.secure->expect,
                       static_cast<const void*>(endpoint.secure->own.get()));
}

bool is_idempotent(std::string_view method) {
    for (const std::string_view one : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"})
        if (method == one) return true;
    return false;
}

// Nothing of a caller's strings can end a line early or begin another request.
Result<> check(const Request& request) {
    if (!is_token(request.method)) return fail(Code::invalid, "the request's method is not a token");
    if (request.target.empty()) return fail(Code::invalid, "the request's target is empty");
    for (const char c : request.target)
        if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '#')
            return fail(Code::invalid,
                        fmt::format("the target of {} holds a character that must be percent-encoded",
                                    request.method));
    for (const auto& [name, value] : request.headers)
        if (!is_token(name) || !is_field_value(value))
            return fail(Code::invalid,
                        fmt::format("the header '{}' holds a character that it may not", name));
    return {};
}

void complete(Call& call, const std::string& address) {
    auto& headers = call.request.headers;
    const auto& method = call.request.method;
    if (!headers.has("Host")) headers.add("Host", address.starts_with("unix:") ? "localhost" : address);
    headers.remove("Content-Length");
    headers.remove("Transfer-Encoding");
    if (call.source && !call.source_size)
        headers.add("Transfer-Encoding", "chunked");
    else if (call.source)
        headers.add("Content-Length", std::to_string(*call.source_size));
    else if (!call.request.body.empty() || method == "POST" || method == "PUT" || method == "PATCH")
        headers.add("Content-Length", std::to_string(call.request.body.size()));
}

// The time that is left for one wait.
struct Clock {
    Timers& timers;
    Instant end;

    static Clock start(Timers& timers, Duration total) {
        const Instant now = timers.now();
        return {timers, total > Instant::max() - now ? Instant::max() : now + total};
    }
    Result<Duration> left(Duration wanted) const {
        if (end == Instant::max()) return wanted;
        const Duration rest = end - timers.now();
        if (rest <= Duration::zero()) return fail(Code::timeout, "the server took too long");
        return std::min(wanted, rest);
    }
};

// A body on its way. It outlives the Reply while its task winds down.
struct Upload {
    BodySource source;
    std::optional<std::uint64_t> size;
    bool done = false;
    std::optional<Error> error;  // Of the source: ours, so the connection was closed.
};

Task<> upload_pieces(Outlet& outlet, Upload& upload, Patience patience) {
    constexpr std::size_t piece_max = 32 * 1024;
    const std::unique_ptr<char[]> piece{new char[piece_max]};
    std::uint64_t sent = 0;
    while (true) {
        auto size = co_await upload.source({piece.get(), piece_max});
        if (size && upload.size && sent + *size > *upload.size)
            size = fail(Code::internal, "the request's body is longer than was said");
        if (size && *size == 0 && upload.size && sent < *upload.size)
            size = fail(Code::internal, "the request's body is shorter than was said");
        if (!size) {
            upload.error = size.error();
            outlet.conn().close();
            co_return Result<>{};
        }
        sent += *size;
        outlet.conn().prolong(patience.head);
        if (upload.size) {
            if (*size == 0) co_return Result<>{};
            CO_TRY(co_await outlet.conn().send({piece.get(), *size}, patience.idle));
            continue;
        }
        std::array<char, 20> line{};
        const auto end = fmt::format_to(line.data(), "{:x}\r\n", *size);
        const std::array buffers{asio::const_buffer{line.data(), static_cast<std::size_t>(end - line.data())},
                                 asio::const_buffer{piece.get(), *size}, asio::const_buffer{"\r\n", 2}};
        CO_TRY(co_await outlet.conn().send(buffers, patience.idle));
        if (*size == 0) co_return Result<>{};
    }
}

// A server that stops taking the body may still answer: what it says decides, not that we could not send all.
Task<> run_upload(OutletPtr outlet, std::shared_ptr<Upload> upload, Patience patience) {
    const auto sent = co_await upload_pieces(*outlet, *upload, patience);
    upload->done = sent && !upload->error;
    outlet->conn().prolong(patience.head);
    upload->source = nullptr;
    co_return Result<>{};
}

}  // namespace

// What outlives the Client while replies are still read.
struct Client::Shared {
    Net& net;
    Timers& timers;
    std::size_t head_bytes_max;
    Pool pool;

    Task<OutletPtr> connect(Endpoint endpoint, Duration within) {
        const Instant end = timers.now() + within;
        auto stream = CO_TRY(co_await net.dial(endpoint.address, within));
        if (endpoint.secure)
            stream = CO_TRY(co_await net.secure(std::move(stream), std::move(*endpoint.secure), Side::client,
                                                std::max(end - timers.now(), Duration{1})));
        co_return std::make_shared<Outlet>(std::move(stream), timers);
    }
};

class Client::Pending : public Reply {
public:
    Pending(Loop& loop, std::shared_ptr<Shared> shared, Endpoint endpoint, Patience patience)
        : shared_(std::move(shared)),
          endpoint_(std::move(endpoint)),
          patience_(patience),
          clock_(Clock::start(shared_->timers, patience.total)),
          uploads_(loop) {}

    ~Pending() override {
        uploads_.cancel();
        if (outlet_) outlet_->conn().close();
    }

    Task<> run(Call call) {
        const bool may_repeat = is_idempotent(call.request.method) && !call.source;
        std::string text;
        write_head(text, call.request);
        outlet_ = shared_->pool.take(key_of(endpoint_));
        bool kept = outlet_ != nullptr;
        while (true) {
            if (!outlet_) {
                const Duration within = CO_TRY(clock_.left(patience_.connect));
                outlet_ = CO_TRY(co_await shared_->connect(endpoint_, within));
            }
            const auto answered = co_await attempt(text, call);
            if (answered) break;
            const auto& error = answered.error();
            if (kept && may_repeat && outlet_->silent() && error.code == Code::unavailable) {
                kept = false;
                outlet_ = nullptr;
                continue;
            }
            if (upload_ && upload_->error) co_return std::unexpected(*upload_->error);
            co_return answered;
        }
        status = outlet_->head().status;
        headers = owned(outlet_->head());
        if (outlet_->body().done() && status != 101) finish();
        co_return Result<>{};
    }

    Task<std::size_t> read(std::span<char> into) override {
        if (!outlet_) co_return std::size_t{0};
        auto size = co_await outlet_->read_body(into, CO_TRY(clock_.left(patience_.idle)));
        if (!size) {
            outlet_->conn().close();
            if (upload_ && upload_->error) co_return std::unexpected(*upload_->error);
        } else if (outlet_->body().done() && *size == 0 && !into.empty()) {
            finish();
        }
        co_return size;
    }

    Result<StreamPtr> take_stream() override {
        const bool open =
            outlet_ && (status == 101 || outlet_->head().framing.kind == Framing::Kind::until_close);
        if (!open)
            return fail(Code::unavailable, fmt::format("the server answered {} and did not switch", status));
        if (upload_ && !upload_->done) return fail(Code::conflict, "the request's body is still on its way");
        return std::exchange(outlet_, nullptr)->conn().release();
    }

    Task<> close() override {
        if (outlet_) outlet_->conn().close();
        co_return co_await uploads_.close();
    }

private:
    // Sends the request and reads on to the first answer that is not interim.
    Task<> attempt(const std::string& text, Call& call) {
        outlet_->begin();
        auto& conn = outlet_->conn();
        const std::array buffers{asio::const_buffer{text.data(), text.size()},
                                 asio::const_buffer{call.request.body.data(), call.request.body.size()}};
        const auto sent = co_await conn.send(buffers, CO_TRY(clock_.left(patience_.idle)));
        if (!sent && sent.error().code != Code::unavailable) co_return sent;
        if (sent && call.source) {
            upload_ = std::make_shared<Upload>(std::move(call.source), call.source_size);
            uploads_.start("request body", run_upload(outlet_, upload_, patience_));
        }
        constexpr int interim_max = 32;
        for (int interim = 0; interim < interim_max; ++interim) {
            const HeadLimits limits{.bytes_max = shared_->head_bytes_max};
            const auto read =
                co_await outlet_->read_head(call.request.method, limits, CO_TRY(clock_.left(patience_.head)));
            if (!read) co_return read;
            const auto& head = outlet_->head();
            if (head.status >= 200 || head.status == 101) co_return Result<>{};
            if (call.on_interim) call.on_interim({head.status, owned(head), {}});
        }
        co_return fail(Code::unavailable, "the server sends interim answers without end",
                       std::string{bad_response});
    }

    void finish() {
        auto outlet = std::exchange(outlet_, nullptr);
        const bool sent = !upload_ || upload_->done;
        if (!sent) return outlet->conn().close();
        shared_->pool.put(key_of(endpoint_), std::move(outlet),
                          endpoint_.secure ? endpoint_.secure->own : nullptr);
    }

    std::shared_ptr<Shared> shared_;
    Endpoint endpoint_;
    Patience patience_;
    Clock clock_;
    OutletPtr outlet_;  // Null when the answer is over.
    std::shared_ptr<Upload> upload_;
    TaskGroup uploads_;
};

Client::Client(Net& net, Timers& timers, ClientLimits limits)
    : shared_(new Shared{net, timers, limits.head_bytes_max,
                         Pool{timers, {limits.idle_max, limits.addresses_max, limits.idle_time}}}) {}
Client::~Client() = default;

Task<ReplyPtr> Client::start(Endpoint endpoint, Call call) {
    CO_TRY(check(call.request));
    // A large body goes out beside the wait for the answer, as the server may not take all of it before it
    // answers.
    constexpr std::size_t inline_max = 64 * 1024;
    if (!call.source && call.request.body.size() > inline_max) {
        call.source_size = call.request.body.size();
        call.source = [body = std::move(call.request.body),
                       at = std::size_t{0}](std::span<char> into) mutable -> Task<std::size_t> {
            const std::size_t size = body.copy(into.data(), into.size(), at);
            at += size;
            co_return size;
        };
        call.request.body.clear();
    }
    complete(call, endpoint.address);
    auto& loop = static_cast<Loop&>((co_await asio::this_coro::executor).context());
    auto pending = std::make_unique<Pending>(loop, shared_, std::move(endpoint), call.patience);
    const auto answered = co_await pending->run(std::move(call));
    if (!answered) {
        (void)co_await pending->close();
        co_return std::unexpected(answered.error());
    }
    co_return pending;
}

Task<Response> Client::fetch(Endpoint endpoint, Request request, Patience patience, std::size_t bytes_max) {
    auto reply =
        CO_TRY(co_await start(std::move(endpoint), {.request = std::move(request), .patience = patience}));
    auto body = co_await reply->read_all(bytes_max);
    (void)co_await reply->close();
    if (!body) co_return std::unexpected(body.error());
    co_return Response{reply->status, std::move(reply->headers), std::move(*body)};
}

std::size_t Client::idle_connections() const { return shared_->pool.size(); }
void Client::forget(std::string_view address) {
    shared_->pool.forget_if([&](std::string_view key) {
        return key.starts_with(address) && key.substr(address.size()).starts_with('\n');
    });
}

Task<std::string> Reply::read_all(std::size_t bytes_max) {
    std::string body;
    while (true) {
        constexpr std::size_t piece = 16 * 1024;
        const std::size_t size = body.size();
        body.resize(size + piece);
        const auto more = co_await read(std::span{body}.subspan(size));
        if (!more) co_return std::unexpected(more.error());
        body.resize(size + *more);
        if (*more == 0) co_return body;
        if (body.size() > bytes_max)
            co_return fail(Code::exhausted,
                           fmt::format("the server's answer is larger than {} bytes", bytes_max));
    }
}

}  // namespace hostler::http
