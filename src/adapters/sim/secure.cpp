#include <fmt/format.h>

#include "adapters/sim/authority.h"
#include "adapters/sim/network.h"

namespace hostler::sim {

namespace {

constexpr std::string_view magic = "SIMTLS1\n";
constexpr std::size_t hello_max = 64 * 1024;

struct Peer {
    std::string identity{};  // Empty: it needs none.
    bool expired = false;
};

class SecureStream final : public Stream {
public:
    SecureStream(StreamPtr below, Peer peer) : below_(std::move(below)), peer_(std::move(peer)) {}
    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        return below_->try_read(into);
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        return below_->try_write(from);
    }
    Task<> readable() override { return below_->readable(); }
    Task<> writable() override { return below_->writable(); }
    Task<> finish() override { return below_->finish(); }
    void close() override { below_->close(); }
    std::string_view identity() const override { return peer_.identity; }
    bool expired() const override { return peer_.expired; }
    std::string_view address() const override { return below_->address(); }

private:
    StreamPtr below_;
    Peer peer_;
};

Task<> say(Stream& stream, std::string text) {
    std::string message{magic};
    for (int shift = 24; shift >= 0; shift -= 8) message += static_cast<char>(text.size() >> shift & 0xff);
    message += text;
    co_return co_await write_all(stream, message);
}

Task<std::string> hear(Stream& stream) {
    std::string head(magic.size() + 4, '\0');
    CO_TRY(co_await read_exactly(stream, head));
    if (!head.starts_with(magic))
        co_return fail(Code::unauthenticated, fmt::format("{} does not speak TLS 1.3", stream.address()));
    std::size_t size = 0;
    for (const char c : head.substr(magic.size())) size = size << 8 | static_cast<unsigned char>(c);
    if (size > hello_max)
        co_return fail(Code::unavailable, fmt::format("{} says too much", stream.address()));
    std::string text(size, '\0');
    CO_TRY(co_await read_exactly(stream, text));
    co_return text;
}

// Who showed this.
Result<Peer> judge(const std::string& shown, const Secure& how, Side side, WallTime now) {
    const bool checked = how.own && !how.own->authority.empty();
    if (!checked) return Peer{};
    const auto line = shown.find('\n');
    const std::string key = shown.substr(0, line);
    const std::string certificate = line == std::string::npos ? "" : shown.substr(line + 1);
    const auto refuse = [](std::string why) { return fail(Code::unauthenticated, std::move(why)); };
    if (certificate.empty()) {
        if (side == Side::client || how.peer_required || !how.expect.empty())
            return refuse("it has no certificate");
        return Peer{};
    }
    const auto facts = SimKeys{Dice{0}}.read(certificate);
    if (!facts) return refuse(facts.error().message);
    std::string who = facts->identity.text();
    if (hash_hex(key) != facts->key_fingerprint)
        return refuse(fmt::format("it does not hold the key of {}", who));
    if (!signed_by(certificate, how.own->authority))
        return refuse(fmt::format("the certificate of {} is not signed by our authority", who));
    const bool expired = now >= facts->not_after;
    if (expired && (how.grace == Duration{0} || now > facts->not_after + how.grace))
        return refuse(fmt::format("the certificate of {} expired at {} (now: {}); renew it", who,
                                  rfc3339(facts->not_after), rfc3339(now)));
    if (now < facts->not_before)
        return refuse(fmt::format("the certificate of {} is not valid before {} (now: {}); check both clocks",
                                  who, rfc3339(facts->not_before), rfc3339(now)));
    const bool fits =
        how.expect.empty() || (how.expect.ends_with('/') ? who.starts_with(how.expect) : who == how.expect);
    if (!fits) return refuse(fmt::format("expected {} but it is {}", how.expect, who));
    return Peer{who, expired};
}

std::string hello_of(const Secure& how) {
    if (!how.own || how.own->certificate.empty()) return {};
    return public_part(how.own->key) + "\n" + how.own->certificate;
}

Task<Peer> shake(Stream& stream, Secure how, Side side, WallTime now) {
    const auto refused_us = [&](const std::string& verdict) {
        return fail(Code::unauthenticated, fmt::format("{} refused us: {}", stream.address(), verdict));
    };
    const auto refusal = [&](const Error& why) {
        return fail(Code::unauthenticated, fmt::format("{}: {}", stream.address(), why.message));
    };
    if (side == Side::client) {
        CO_TRY(co_await say(stream, hello_of(how)));
        const std::string verdict = CO_TRY(co_await hear(stream));
        if (!verdict.empty()) co_return refused_us(verdict);
        const auto who = judge(CO_TRY(co_await hear(stream)), how, side, now);
        CO_TRY(co_await say(stream, who ? "" : who.error().message));
        if (!who) co_return refusal(who.error());
        co_return *who;
    }
    const auto who = judge(CO_TRY(co_await hear(stream)), how, side, now);
    CO_TRY(co_await say(stream, who ? "" : who.error().message));
    if (!who) co_return refusal(who.error());
    CO_TRY(co_await say(stream, hello_of(how)));
    const std::string verdict = CO_TRY(co_await hear(stream));
    if (!verdict.empty()) co_return refused_us(verdict);
    co_return *who;
}

}  // namespace

Task<StreamPtr> secure_stream(Timers& timers, StreamPtr raw, Secure how, Side side, Duration deadline) {
    const bool checked = how.own && !how.own->authority.empty();
    if (!checked && !how.expect.empty())
        co_return fail(Code::invalid,
                       fmt::format("{} cannot be expected without an authority to believe", how.expect));
    if (side == Side::server && (!how.own || how.own->certificate.empty()))
        co_return fail(Code::invalid, "the server's end of TLS needs a certificate and a key");
    Deadline limit{timers, deadline, [&] { raw->close(); }};
    auto who = co_await shake(*raw, std::move(how), side, timers.wall());
    if (limit.expired())
        co_return fail(Code::timeout,
                       fmt::format("the TLS handshake with {} did not end in time", raw->address()));
    if (!who) co_return std::unexpected(std::move(who).error());
    co_return std::make_unique<SecureStream>(std::move(raw), std::move(*who));
}

}  // namespace hostler::sim
