#include "roles/access/uplink.h"

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/access/accept.h"
#include "roles/access/peek.h"
#include "wire/frame_cutter.h"
#include "wire/link.h"

namespace hostler::access {

namespace {

using std::chrono::seconds;

constexpr std::string_view host_role = "host/";
constexpr std::size_t host_id_max = 128;
constexpr std::size_t visit_bytes_max = 64 * 1024;
constexpr std::size_t join_peers_max = 10'000;
constexpr Duration handshake_time = seconds{10};
constexpr Duration last_words_time = seconds{2};
// How long after its end a host's certificate lets it in to ask for the next one.
constexpr Duration renewable = std::chrono::hours{180 * 24};

std::span<char> scratch() {
    thread_local std::vector<char> bytes(32 * 1024);
    return bytes;
}

std::string pong_to(std::uint64_t call) {
    uplink::Frame frame;
    frame.set_answer_to(call);
    frame.mutable_pong();
    return frame.SerializeAsString();
}

std::string ping() {
    uplink::Frame frame;
    frame.mutable_ping();
    return frame.SerializeAsString();
}

std::string goodbye(std::string_view why) {
    uplink::Frame frame;
    frame.mutable_goodbye()->set_why(std::string{why});
    return frame.SerializeAsString();
}

}  // namespace

Uplink::Uplink(const Ports& ports, const Settings& settings, const Remembered& remembered, Relay& relay,
               Guard& guard)
    : ports_(ports),
      settings_(settings),
      remembered_(remembered),
      relay_(relay),
      join_rates_({.per_second = settings.joins_per_minute / 60.0,
                   .burst = static_cast<double>(settings.joins_per_minute)},
                  join_peers_max),
      guard_(guard),
      hosts_({.faults = {.per_second = 1.0 / 60, .burst = static_cast<double>(settings.host_faults_burst)},
              .ban = seconds{settings.ban_s},
              .peers_max = settings.guarded_max}),
      host_sessions_({.per_second = settings.host_sessions_per_minute / 60.0,
                      .burst = static_cast<double>(settings.host_sessions_burst)},
                     settings.sessions_max * 2),
      trickle_({.per_second = static_cast<double>(settings.banned_trickle_per_second),
                .burst = static_cast<double>(settings.banned_trickle_per_second)},
               settings.guarded_max),
      tasks_(ports.loop) {}

Task<> Uplink::serve(Listener& listener) {
    tasks_.start("silent agents", watch());
    co_return co_await accept_all(listener, ports_.timers, [this](StreamPtr raw) {
        if (handshakes_ < settings_.handshakes_max && !refused(without_port(raw->address())))
            tasks_.start("agent", greet(std::move(raw)));
    });
}

Task<> Uplink::close() { return tasks_.close(); }

void Uplink::say_goodbye() {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, session] : relay_.all()) numbers.push_back(number);
    for (const std::uint64_t number : numbers)
        relay_.push_down(number, goodbye("this access point is about to end"));
}

// From a banned address nobody is listened to, but where hosts of ours have come from lately: there a few
// are, for one of them may be behind each.
bool Uplink::refused(const std::string& address) {
    const Instant now = ports_.timers.now();
    if (!guard_.banned(address, now)) return false;
    return !guard_.vouched(address, now) || !trickle_.take(address, now);
}

bool Uplink::welcome(const std::string& host) {
    const Instant now = ports_.timers.now();
    if (hosts_.banned(host, now)) return false;
    if (host_sessions_.take(host, now)) return true;
    for (double faults = 0; faults <= settings_.host_faults_burst && !hosts_.banned(host, now); ++faults)
        hosts_.fault(host, now);
    log_warn("uplink: host {} comes and goes too often; it is banned for {} s", host, settings_.ban_s);
    return false;
}

// It has proved who it is, so that it alone is to blame, and not its address.
void Uplink::blame(const std::string& host, const Error& error) {
    if (error.code != Code::invalid || !hosts_.fault(host, ports_.timers.now())) return;
    log_warn("uplink: host {} is banned for {} s: {}", host, settings_.ban_s, error.message);
    relay_.close_host(host, "it is banned for a while");
}

Task<> Uplink::greet(StreamPtr raw) {
    ++handshakes_;
    const std::string address = without_port(raw->address());
    Secure secure{.own = ports_.own.credentials(), .peer_required = false, .grace = renewable};
    auto stream = co_await ports_.net.secure(std::move(raw), std::move(secure), Side::server, handshake_time);
    --handshakes_;
    if (!stream) {
        log_debug("uplink: refused a connection: {}", stream.error().message);
        // One that ends at once may only have measured how far we are.
        const double weight = stream.error().code == Code::unavailable ? 0.1 : 1;
        if (guard_.fault(address, ports_.timers.now(), weight))
            log_warn("uplink: {} is banned for {} s: {}", address, settings_.ban_s, stream.error().message);
        co_return Result<>{};
    }
    const std::string identity{(*stream)->identity()};
    if (identity.empty()) co_return co_await visit(std::move(*stream));
    const bool is_host = identity.starts_with(host_role) && identity.size() > host_role.size() &&
                         identity.size() <= host_role.size() + host_id_max;
    const auto host = is_host ? identity.substr(host_role.size()) : "";
    if (!is_host || remembered_.revoked(host)) {
        log_warn("uplink: refused {} from {}: {}", identity, (*stream)->address(),
                 is_host ? "revoked" : "not a host");
        co_return Result<>{};
    }
    if ((*stream)->expired()) co_return co_await visit(std::move(*stream));
    guard_.vouch(address, ports_.timers.now());
    if (!welcome(host)) {
        const Deadline deadline{ports_.timers, last_words_time, [raw = stream->get()] { raw->close(); }};
        (void)co_await say(**stream, goodbye("this host is banned for a while"));
        co_return Result<>{};
    }
    co_return co_await session(std::move(*stream), host);
}

Task<> Uplink::session(StreamPtr stream, std::string host) {
    auto opened = relay_.open(host, std::string{stream->address()}, ports_.timers.now());
    if (!opened) {
        log_warn("uplink: refused host {}: {}", host, opened.error().message);
        const Deadline deadline{ports_.timers, last_words_time, [raw = stream.get()] { raw->close(); }};
        co_await say(*stream, goodbye(opened.error().message));
        co_return Result<>{};
    }
    const auto session = std::move(*opened);
    session->hang_up = [raw = stream.get()] { raw->close(); };
    log_info("uplink: host {} is here from {} session={}", host, session->address, session->number);
    TaskGroup writer{ports_.loop};
    writer.start("agent", write_down(*stream, session));
    const auto ended = co_await read_up(*stream, session, SIZE_MAX);
    if (!ended) blame(host, ended.error());
    relay_.close(session, ended ? "it ended" : ended.error().message);
    co_await writer.close();
    log_info("uplink: host {} has gone session={} why=\"{}\"", host, session->number, session->why);
    co_return Result<>{};
}

Task<> Uplink::read_up(Stream& stream, SessionPtr session, std::size_t bytes_max) {
    wire::FrameCutter cutter{settings_.frame_bytes_max};
    Rate frames{
        {static_cast<double>(settings_.frames_per_second), static_cast<double>(settings_.frames_burst)}};
    Rate bytes{{static_cast<double>(settings_.bytes_per_second), static_cast<double>(settings_.bytes_burst)}};
    std::vector<std::string> whole;
    while (true) {
        CO_TRY(co_await stream.readable());
        const auto taken = CO_TRY(stream.try_read(scratch()));
        if (!taken) continue;
        if (*taken == 0) co_return fail(Code::unavailable, "the agent closed the connection");
        if (*taken > bytes_max) co_return fail(Code::invalid, "the agent says more than it may");
        bytes_max -= *taken;
        CO_TRY(cutter.feed({scratch().data(), *taken}, [&](std::string_view frame) -> Result<> {
            whole.emplace_back(frame);
            return {};
        }));
        const Instant now = ports_.timers.now();
        session->heard = now;
        const Duration rest = std::max(bytes.owe(now, static_cast<double>(*taken)),
                                       frames.owe(now, static_cast<double>(whole.size())));
        for (auto& frame : whole)
            if (CO_TRY(is_for_master(*session, frame)))
                CO_TRY(co_await relay_.push_up(session, std::move(frame)));
        whole.clear();
        if (rest > Duration{0}) {
            CO_TRY(co_await sleep(ports_.timers, rest));
            session->heard = ports_.timers.now();  // It was us who did not listen.
        }
    }
}

// false: it was between agent and us. Errors: it may not say that.
Result<bool> Uplink::is_for_master(Session& session, std::string_view frame) {
    const auto seen = peek(frame);
    if (!seen) return fail(Code::invalid, "the agent sent what is not a frame");
    if (seen->kind == uplink::Frame::kPing) {
        relay_.push_down(session.number, pong_to(seen->call));
        return false;
    }
    if (seen->kind == uplink::Frame::kPong) return false;
    if (seen->kind == uplink::Frame::kGoodbye) return fail(Code::unavailable, "the agent said goodbye");
    if (seen->kind != uplink::Frame::kSealed)
        return fail(
            Code::invalid,
            fmt::format("the agent sent a frame of kind {}, which is not for it to send", seen->kind));
    return true;
}

Task<> Uplink::write_down(Stream& stream, SessionPtr session) {
    while (true) {
        const std::string frame = CO_TRY(co_await relay_.pop_down(session));
        const Deadline stall{ports_.timers, seconds{settings_.write_stall_s},
                             [this, session] { relay_.close(session, "it takes frames too slowly"); }};
        const auto said = co_await say(stream, frame);
        if (said) continue;
        relay_.close(session, said.error().message);
        co_return Result<>{};
    }
}

Task<> Uplink::say(Stream& stream, std::string_view frame) {
    std::string bytes;
    bytes.reserve(wire::frame_header_size + frame.size());
    const std::size_t begin = wire::append_header(bytes);
    bytes += frame;
    wire::complete_header(bytes, begin);
    co_return co_await write_all(stream, bytes);
}

// Who has no certificate, or one whose time is over, may ask the master for one within a short while, and for
// nothing else: it has no tunnels, and it is nobody's host.
Task<> Uplink::visit(StreamPtr stream) {
    if (visits_ >= settings_.joins_max) co_return Result<>{};
    Result<SessionPtr> opened =
        fail(Code::exhausted, "too many attempts to join from this address; try again in a minute");
    if (join_rates_.take(without_port(stream->address()), ports_.timers.now()))
        opened = relay_.open("", std::string{stream->address()}, ports_.timers.now());
    if (!opened) {
        const Deadline deadline{ports_.timers, last_words_time, [raw = stream.get()] { raw->close(); }};
        co_await say(*stream, goodbye(opened.error().message));
        co_return Result<>{};
    }
    const auto session = std::move(*opened);
    session->hang_up = [raw = stream.get()] { raw->close(); };
    ++visits_;
    {
        const Deadline deadline{ports_.timers, seconds{settings_.join_s},
                                [&] { relay_.close(session, "it had its time"); }};
        TaskGroup writer{ports_.loop};
        writer.start("visitor", write_down(*stream, session));
        const auto ended = co_await read_up(*stream, session, visit_bytes_max);
        relay_.close(session, ended ? "it ended" : ended.error().message);
        co_await writer.close();
    }
    --visits_;
    co_return Result<>{};
}

// Asks the silent whether they are there, and gives up on those that do not say so.
Task<> Uplink::watch() {
    const Duration silence = seconds{settings_.session_silence_s};
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, silence / 6));
        const Instant now = ports_.timers.now();
        guard_.sweep(now);
        hosts_.sweep(now);
        const auto sessions = relay_.all();  // A copy: closing one changes it.
        for (const auto& [number, session] : sessions) {
            if (session->host.empty()) continue;
            if (now - session->heard >= silence)
                relay_.close(session, "it was silent for too long");
            else if (now - session->heard >= silence / 3 && session->down.empty())
                relay_.push_down(number, ping());
        }
    }
}

}  // namespace hostler::access
