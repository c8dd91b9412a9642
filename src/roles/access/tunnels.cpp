#include "roles/access/tunnels.h"

#include "core/log.h"
#include "http/pipe.h"
#include "roles/access/accept.h"

namespace hostler::access {

namespace {

// The first line of a stream without its end. Errors: invalid when it is too long, or when anything follows
// it: the peer has to wait for our answer.
Task<std::string> read_line(Stream& stream) {
    std::string line;
    std::array<char, tunnel_line_max> bytes;  // NOLINT: small enough for a frame that lives for one line.
    while (true) {
        const std::size_t room = tunnel_line_max - line.size();
        if (room == 0) co_return fail(Code::invalid, "the first line is too long");
        const std::size_t taken = CO_TRY(co_await read_some(stream, {bytes.data(), room}));
        if (taken == 0) co_return fail(Code::invalid, "the connection ended before its first line did");
        const std::string_view piece{bytes.data(), taken};
        const auto end = piece.find('\n');
        line += piece.substr(0, end);
        if (end == std::string_view::npos) continue;
        if (end + 1 != taken) co_return fail(Code::invalid, "something follows the first line");
        co_return line;
    }
}

}  // namespace

Tunnels::Tunnels(Loop& loop, Timers& timers, Random& random, const Settings& settings, Guard& guard)
    : timers_(timers),
      random_(random),
      settings_(settings),
      guard_(guard),
      tickets_({.pending_max = settings.tickets_max,
                .pending_per_host_max = settings.tickets_per_host_max,
                .life = std::chrono::seconds{settings.ticket_s}}),
      tasks_(loop) {}

Task<> Tunnels::serve(Listener& listener) {
    tasks_.start("expired tickets", sweep());
    co_return co_await accept_all(listener, timers_, [this](StreamPtr stream) {
        const std::string address = without_port(stream->address());
        const bool banned = guard_.banned(address, timers_.now()) && !guard_.vouched(address, timers_.now());
        if (greetings_ >= settings_.tunnel_greetings_max || banned) {
            ++counters_.refused;
            return;
        }
        tasks_.start("tunnel", greet(std::move(stream)));
    });
}

Task<> Tunnels::close() {
    CO_TRY(co_await tasks_.close());
    waiting_.clear();
    co_return Result<>{};
}

Result<Tickets::Pair> Tunnels::mint(const std::string& host) {
    if (!room_for(host))
        return fail(Code::exhausted,
                    fmt::format("host {} has too many open tunnels; close some connections", host));
    return tickets_.mint(host, random_, timers_.now());
}

void Tunnels::cut(std::string_view host) {
    tickets_.forget_host(host);
    std::erase_if(waiting_, [&](const auto& waiting) { return waiting.second.host == host; });
    for (auto& [tunnel, ends] : open_) {
        if (ends.host != host) continue;
        ends.agent->close();
        ends.gateway->close();
    }
}

bool Tunnels::room_for(const std::string& host) const {
    const auto of_host = open_per_host_.find(host);
    return open_.size() < settings_.tunnels_max &&
           (of_host == open_per_host_.end() || of_host->second < settings_.tunnels_per_host_max);
}

// A fresh connection: its ticket decides whose end it is.
Task<> Tunnels::greet(StreamPtr stream) {
    std::optional<Tickets::Taken> taken;
    const std::string address = without_port(stream->address());
    {
        ++greetings_;
        std::optional<Deadline> deadline;
        deadline.emplace(timers_, std::chrono::seconds{settings_.tunnel_greeting_s},
                         [raw = stream.get()] { raw->close(); });
        const auto line = co_await read_line(*stream);
        deadline.reset();
        --greetings_;
        if (line && other_ && other_(*line, stream)) {
            guard_.vouch(address, timers_.now());
            co_return Result<>{};
        }
        if (line)
            if (const auto ticket = ticket_of(*line)) taken = tickets_.take(*ticket, timers_.now());
    }
    if (taken)
        guard_.vouch(address, timers_.now());
    else if (guard_.fault(address, timers_.now()))
        log_warn("tunnels: {} is banned for {} s: it has no ticket", address, settings_.ban_s);
    if (!taken || !room_for(taken->host)) {
        ++counters_.refused;
        co_return Result<>{};
    }
    auto other = waiting_.find(taken->tunnel);
    if (other == waiting_.end()) {
        waiting_.emplace(taken->tunnel, Waiting{taken->host, std::move(stream), taken->end, taken->expires});
        co_return Result<>{};
    }
    Open ends{taken->host, std::move(stream), std::move(other->second.stream)};
    if (taken->end == End::gateway) std::swap(ends.agent, ends.gateway);
    waiting_.erase(other);
    co_return co_await join(taken->tunnel, std::move(ends));
}

Task<> Tunnels::join(std::uint64_t tunnel, Open moved) {
    Open& ends = open_.emplace(tunnel, std::move(moved)).first->second;
    ++open_per_host_[ends.host];
    ++counters_.opened;
    auto said = co_await write_all(*ends.agent, tunnel_answer);
    if (said) said = co_await write_all(*ends.gateway, tunnel_answer);
    if (said) {
        const Duration idle = std::chrono::seconds{settings_.tunnel_idle_s};
        const auto piped = co_await http::pipe(*ends.agent, *ends.gateway, timers_, idle);
        if (piped) counters_.bytes += piped->forth + piped->back;
    }
    if (const auto of_host = open_per_host_.find(ends.host); --of_host->second == 0)
        open_per_host_.erase(of_host);
    open_.erase(tunnel);
    co_return Result<>{};
}

Task<> Tunnels::sweep() {
    while (true) {
        CO_TRY(co_await sleep(timers_, std::chrono::seconds{1}));
        const Instant now = timers_.now();
        tickets_.expire(now);
        counters_.abandoned +=
            std::erase_if(waiting_, [&](const auto& waiting) { return waiting.second.expires <= now; });
    }
}

}  // namespace hostler::access
