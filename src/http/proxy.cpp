#include "http/proxy.h"

#include "core/signal.h"
#include "core/suspend.h"
#include "core/task_group.h"
#include "http/pipe.h"

namespace hostler::http {

namespace {

bool may_repeat(const RequestHead& head) {
    const auto method = head.method;
    return head.framing.kind == Framing::Kind::none &&
           (method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" ||
            method == "DELETE" || method == "TRACE");
}

enum class Relayed { whole, source_broke, sink_broke, malformed };

struct Times {
    Duration read;
    Duration write;
    Duration answer{};  // While the body moves, whoever waits for the other side's answer waits anew; 0: no
                        // one does.
};

// Moves a body from one connection to the other: as it is but for trailers, or (content) without its chunk
// lines. Reads no more than the other side takes.
Task<Relayed> relay(Conn& from, Conn& to, BodyWalker& body, bool content, Times times, std::uint64_t& bytes) {
    std::string rest;  // What `to` did not take at once.
    while (!body.done()) {
        std::string_view seen = from.ahead();
        const bool direct = seen.empty();
        if (direct) {
            const auto into = scratch();
            const auto size = from.try_read(into);
            if (!size) co_return Relayed::source_broke;
            if (!*size) {
                if (!co_await from.readable(times.read)) co_return Relayed::source_broke;
                continue;
            }
            if (**size == 0) co_return body.end() ? Relayed::whole : Relayed::source_broke;
            seen = {into.data(), **size};
        }
        const auto step = content ? body.step(seen) : body.walk(seen);
        if (!step) co_return Relayed::malformed;
        const auto out = content         ? step->content
                         : step->trailer ? std::string_view{}
                                         : seen.substr(0, step->taken);
        bytes += out.size();
        const auto taken = to.try_send(out);
        if (taken) rest.assign(out.substr(*taken));
        if (direct)
            from.keep(seen.substr(step->taken));
        else
            from.consume(step->taken);
        if (times.answer > Duration::zero()) to.prolong(times.answer);
        if (!taken || (!rest.empty() && !co_await to.send(rest, times.write))) co_return Relayed::sink_broke;
    }
    co_return Relayed::whole;
}

// One request on its way through. Its parts run side by side while the request has a body.
class Passage {
public:
    Passage(Inlet& inlet, Outlet& upstream, const Rewrite& request, const Rewrite& response,
            const ProxyLimits& limits)
        : inlet_(inlet),
          client_(inlet.conn()),
          upstream_(upstream),
          server_(upstream.conn()),
          request_(request),
          response_(response),
          limits_(limits),
          text_(inlet.text()) {}

    Task<Outcome> run() {
        upstream_.begin();
        const auto good = send_request();
        if (good && (!inlet_.body().done() || !unsent_.empty())) {
            group_.emplace(static_cast<Loop&>((co_await asio::this_coro::executor).context()));
            group_->start("request body", send_body());
        }
        // A server that does not take the request may have said why.
        if (good || good.error().code == Code::unavailable) {
            if (!bad_request_) watch();
            auto answered = co_await answer();
            if (!answered && !outcome_.error) outcome_.error = std::move(answered).error();
        } else {
            outcome_.error = good.error();
        }
        client_.unwatch();
        // An answer that came before the request's end: what is left of the request is not for us to read.
        if (group_) co_await group_->close();
        if (!inlet_.body().done() && (outcome_.request_bytes > 0 || outcome_.error)) inlet_.last_one();
        if (!inlet_.body().done() || !unsent_.empty()) server_.close();
        CO_TRY(unless_cancelled(co_await asio::this_coro::cancellation_state));
        finish();
        co_return std::move(outcome_);
    }

private:
    Times inward() const { return {inlet_.limits().body_time, limits_.write_time, limits_.answer_time}; }
    Times outward() const { return {limits_.body_time, inlet_.limits().write_time}; }

    // Sends the head with what is there of the body, or what the upstream takes of it at once.
    Result<> send_request() {
        const auto& head = inlet_.head();
        std::string_view seen = client_.ahead(), body;
        std::size_t used = 0;
        if (!inlet_.body().done()) {
            const auto step = inlet_.body().walk(seen);
            if (!step) {
                bad_request_ = true;
                inlet_.last_one();
                return fail(Code::invalid, std::string{step.error().what});
            }
            used = step->taken;
            if (!step->trailer) body = seen.substr(0, used);
        }
        text_.clear();
        write_head(text_, head, request_);
        const std::array buffers{asio::const_buffer{text_.data(), text_.size()},
                                 asio::const_buffer{body.data(), body.size()}};
        const std::size_t taken = TRY(server_.try_send(buffers));
        if (taken < text_.size()) unsent_ = text_.substr(taken);
        if (taken < text_.size() + body.size())
            unsent_ += body.substr(taken < text_.size() ? 0 : taken - text_.size());
        outcome_.request_bytes = body.size();
        if (used > 0) inlet_.got_body();
        client_.consume(used);
        return {};
    }

    Task<> send_body() {
        if (!unsent_.empty()) {
            if (!co_await server_.send(unsent_, limits_.write_time)) co_return Result<>{};
            unsent_.clear();
        }
        const auto relayed =
            co_await relay(client_, server_, inlet_.body(), false, inward(), outcome_.request_bytes);
        if (outcome_.request_bytes > 0) inlet_.got_body();
        // An answer that came before the request's end has ended this, not the client.
        CO_TRY(unless_cancelled(co_await asio::this_coro::cancellation_state));
        switch (relayed.value_or(Relayed::source_broke)) {
            case Relayed::whole: server_.prolong(limits_.answer_time); break;
            case Relayed::sink_broke: break;  // The upstream may still answer: that is awaited elsewhere.
            case Relayed::malformed:
                outcome_.error = Error{Code::invalid, "the chunked body is malformed"};
                bad_request_ = true;
                inlet_.last_one();
                server_.close();
                break;
            case Relayed::source_broke:
                outcome_.client_gone = true;
                server_.close();
                break;
        }
        co_return Result<>{};
    }

    void watch() {
        client_.watch(inlet_.limits().watch_every, [this] {
            outcome_.client_gone = true;
            server_.close();
        });
    }

    Task<> answer() {
        constexpr int interim_max = 32;
        for (int interim = 0; interim < interim_max; ++interim) {
            CO_TRY(co_await upstream_.read_head(inlet_.head().method, limits_.head, limits_.answer_time));
            const auto& head = upstream_.head();
            if (head.status == 101) co_return co_await switch_protocols();
            if (head.status >= 200) {
                if (CO_TRY(begin_answer())) co_return co_await finish_answer();
                co_return Result<>{};
            }
            if (inlet_.head().minor == 0) continue;  // HTTP/1.0 does not know them.
            text_.clear();
            write_head(text_, head, response_, {}, false);
            CO_TRY(co_await send_head());
        }
        co_return fail(Code::unavailable, "the server sends interim answers without end",
                       std::string{bad_response});
    }

    // Writes the answer's head with what is there of its body; what the client does not take at once, and
    // the body's rest, are left for finish_answer(). false: nothing is left.
    Result<bool> begin_answer() {
        const auto& head = upstream_.head();
        const auto kind = head.framing.kind;
        decode_ = kind == Framing::Kind::chunked && inlet_.head().minor == 0;
        std::string_view body;
        std::size_t used = 0;
        if (!upstream_.body().done() && !decode_) {
            const auto seen = server_.ahead();
            const auto step = upstream_.body().walk(seen);
            if (!step) return malformed(step.error());
            used = step->taken;
            if (!step->trailer) body = seen.substr(0, used);
        }
        inlet_.forwarded_answer();
        if (decode_ || kind == Framing::Kind::until_close || !inlet_.body().done()) inlet_.last_one();
        text_.clear();
        const std::string_view kept = inlet_.head().minor == 0 ? "keep-alive" : "";
        // Also for HEAD, whose answer says how the body would come.
        const bool chunked =
            inlet_.head().minor == 1 && head.status != 204 && !head.find("Transfer-Encoding").empty();
        write_head(text_, head, response_, inlet_.over() ? "close" : kept, chunked);
        outcome_.status = head.status;
        outcome_.response_bytes = body.size();
        const auto taken = client_.try_send(std::array{asio::const_buffer{text_.data(), text_.size()},
                                                       asio::const_buffer{body.data(), body.size()}});
        if (!taken) return client_went(taken.error());
        if (*taken < text_.size() + body.size()) {
            untaken_ = text_.substr(std::min(*taken, text_.size()));
            untaken_ += body.substr(*taken < text_.size() ? 0 : *taken - text_.size());
        }
        server_.consume(used);
        return !untaken_.empty() || !upstream_.body().done();
    }

    Task<> finish_answer() {
        const auto sent = co_await client_.send(untaken_, inlet_.limits().write_time);
        if (!sent) co_return client_went(sent.error());
        const auto relayed =
            co_await relay(server_, client_, upstream_.body(), decode_, outward(), outcome_.response_bytes);
        if (relayed && *relayed == Relayed::whole) co_return Result<>{};
        inlet_.abandon();  // The client must not take it for whole.
        if (!relayed || *relayed == Relayed::sink_broke) outcome_.client_gone = true;
        co_return fail(Code::unavailable, outcome_.client_gone
                                              ? "the client went in the middle of the answer"
                                              : "the server broke off in the middle of its answer");
    }

    std::unexpected<Error> client_went(const Error& error) {
        outcome_.client_gone = true;
        inlet_.abandon();
        return std::unexpected(error);
    }

    Task<> switch_protocols() {
        if (!inlet_.head().upgrade || !inlet_.body().done())
            co_return fail(Code::unavailable, "the server switched protocols unasked",
                           std::string{bad_response});
        client_.unwatch();
        inlet_.forwarded_answer();
        inlet_.last_one();
        text_.clear();
        write_head(text_, upstream_.head(), response_, "Upgrade", false);
        outcome_.status = 101;
        outcome_.upgraded = true;
        CO_TRY(co_await send_head());
        const auto client = client_.release(), server = server_.release();
        const auto piped = CO_TRY(co_await pipe(*client, *server, client_.timers(), limits_.pipe_time));
        outcome_.request_bytes += piped.forth;
        outcome_.response_bytes += piped.back;
        co_return Result<>{};
    }

    Task<> send_head() {
        const auto sent = co_await client_.send(text_, inlet_.limits().write_time);
        if (!sent) outcome_.client_gone = true;
        co_return sent;
    }

    void finish() {
        if (outcome_.client_gone) inlet_.abandon();
        if (outcome_.client_gone && !outcome_.error)
            outcome_.error = Error{Code::cancelled, "the client went away"};
        outcome_.may_retry = outcome_.status == 0 && outcome_.error &&
                             outcome_.error->code == Code::unavailable && !outcome_.client_gone &&
                             upstream_.silent() && may_repeat(inlet_.head());
    }

    Inlet& inlet_;
    Conn& client_;
    Outlet& upstream_;
    Conn& server_;
    const Rewrite& request_;
    const Rewrite& response_;
    const ProxyLimits& limits_;
    Outcome outcome_;
    std::string& text_;
    std::string unsent_;   // Of the request's first bytes: the upstream was slow to take them.
    std::string untaken_;  // Of the answer's first bytes, by the client.
    bool decode_ = false;  // Chunks are taken apart for a client of HTTP/1.0.
    bool bad_request_ = false;
    std::optional<TaskGroup> group_;
};

}  // namespace

int gateway_status(const Error& error) {
    switch (error.code) {
        case Code::invalid: return 400;
        case Code::timeout: return 504;
        case Code::unauthenticated:
        case Code::forbidden:
        case Code::not_found:
        case Code::conflict:
        case Code::exhausted:
        case Code::unavailable:
        case Code::cancelled:
        case Code::internal: break;
    }
    return 502;
}

Task<Outcome> Proxy::pass(Inlet& inlet, const std::string& key, const Dial& dial, const Rewrite& request,
                          const Rewrite& response) {
    auto upstream = pool_.take(key, may_repeat(inlet.head()) ? Pool::Look::trust : Pool::Look::always);
    while (true) {
        const bool kept = upstream != nullptr;
        if (!kept) {
            auto stream = co_await dial();
            if (!stream && stream.error().code == Code::cancelled) co_return std::unexpected(stream.error());
            if (!stream) {
                Outcome outcome;
                outcome.error = std::move(stream).error();
                co_return outcome;
            }
            upstream = std::make_shared<Outlet>(std::move(*stream), timers_);
        }
        Passage passage{inlet, *upstream, request, response, limits_};
        auto outcome = CO_TRY(co_await passage.run());
        if (kept && outcome.may_retry) {
            upstream = nullptr;
            continue;
        }
        if (outcome.status != 0 && !outcome.upgraded && !outcome.error) pool_.put(key, std::move(upstream));
        co_return outcome;
    }
}

}  // namespace hostler::http
