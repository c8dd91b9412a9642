// What is said on a connection, and what is heard.
#include <algorithm>

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"
#include "roles/agent/session.h"
#include "wire/renewal.h"

namespace hostler::agent {

namespace {

constexpr Duration acknowledge_max =
    seconds{30};  // Reports without an answer for so long: we say hello again.

Result<LogsWanted> wanted_of(const uplink::LogRequest& request) {
    using std::chrono::microseconds;
    constexpr std::size_t bytes_default = 64 * 1024;
    LogsWanted wanted{.bytes_max = Session::logs_max};
    if (!request.pieces()) {
        const auto asked = request.tail_bytes() == 0 ? bytes_default : request.tail_bytes();
        wanted.bytes_max = std::min<std::size_t>(asked, Session::logs_max);
        wanted.since = WallTime{seconds{request.since_s()}};
        return wanted;
    }
    if (request.lines() > 0) wanted.lines_max = request.lines();
    wanted.since = WallTime{microseconds{request.since_us()}};
    if (!request.after().empty()) wanted.after = TRY(parse_log_place(request.after()));
    return wanted;
}

// For a master that does not know pieces.
std::string lines_of(const LogPart& log, bool timed) {
    std::string text;
    bool begins = !log.inside;
    for (const LogPiece& piece : log_pieces(log.pieces)) {
        text += timed && begins ? with_time(piece.time, piece.text) : std::string{piece.text};
        begins = piece.text.ends_with('\n');
    }
    return text;
}

}  // namespace

// From the access point: orders of its own, and what it passes on. It has nothing else to say to us.
Task<> Session::handle(Slot& slot, uplink::Frame frame) {
    using Body = uplink::Frame::BodyCase;
    const auto master = slot.master;
    if (frame.body_case() == Body::kSealed) {
        co_return co_await master->feed(std::move(*frame.mutable_sealed()));
    } else if (frame.body_case() == Body::kInvite) {
        master->invite(frame.invite());
        if (active_ == &slot) active_ = nullptr;
        changed_.notify_all();
    } else if (frame.body_case() == Body::kTunnelOrder) {
        hooks_.tunnel(std::move(*frame.mutable_tunnel_order()));
    } else if (frame.body_case() == Body::kSpeedOrder) {
        hooks_.speed(std::move(*frame.mutable_speed_order()));
    } else if (frame.body_case() == Body::kGoodbye) {
        co_return fail(Code::unavailable,
                       fmt::format("{} says goodbye: {}", slot.link->identity(), frame.goodbye().why()));
    } else {
        log_warn("{} sent a frame of kind {}, which is not for it to send", slot.link->identity(),
                 static_cast<int>(frame.body_case()));
    }
    co_return Result<>{};
}

// From the master, to the end of what is said there.
Task<> Session::hear(Slot& slot, std::shared_ptr<wire::Link> link) {
    Result<> ended{};
    while (ended) {
        auto frame = co_await link->receive();
        ended = frame ? co_await obey(slot, link, std::move(*frame)) : std::unexpected(frame.error());
    }
    CO_TRY(co_await check_cancelled());
    if (!slot.master || (slot.master->link() && slot.master->link() != link)) co_return Result<>{};
    slot.master->hang_up();
    if (active_ == &slot) active_ = nullptr;
    changed_.notify_all();
    co_return Result<>{};
}

Task<> Session::obey(Slot& slot, std::shared_ptr<wire::Link> link, uplink::Frame frame) {
    using Body = uplink::Frame::BodyCase;
    const std::uint64_t call = frame.call();
    if (frame.body_case() == Body::kCommand) {
        hooks_.command(std::move(*frame.mutable_command()));
    } else if (frame.body_case() == Body::kChallengePath) {
        hooks_.path(std::move(*frame.mutable_challenge_path()));
    } else if (frame.body_case() == Body::kCommandAck) {
        CO_TRY(co_await book_.acknowledge(frame.command_ack().id()));
    } else if (frame.body_case() == Body::kReportAck) {
        reporter_.queue().acknowledge(frame.report_ack().sequence());
        reporter_.grown().notify_all();
        hooks_.confirmed(std::move(*frame.mutable_report_ack()));
    } else if (frame.body_case() == Body::kLogRequest) {
        slot.tasks->start("logs", answer_logs(link, call, std::move(*frame.mutable_log_request())));
    } else if (frame.body_case() == Body::kWatchTelemetry) {
        pulse_.watch(milliseconds{frame.watch_telemetry().interval_ms()},
                     milliseconds{frame.watch_telemetry().for_ms()}, ports_.timers.now());
    } else if (frame.body_case() == Body::kAgentWelcome) {
        // It knows nothing of what only the hello has told.
        CO_TRY(co_await accept(std::move(*frame.mutable_agent_welcome())));
        if (active_ == &slot) active_ = nullptr;
        changed_.notify_all();
    } else if (frame.body_case() == Body::kRenewWanted) {
        slot.tasks->start("renewal", renew_as_wished(link));
    } else if (frame.body_case() == Body::kAccessList) {
        CO_TRY(co_await ways_.learn(frame.access_list()));
        changed_.notify_all();
    } else if (call != 0) {
        co_return co_await link->answer(
            call, wire::failure_frame({.code = Code::invalid,
                                       .message = "this agent does not know such a request",
                                       .reason = "unknown_request"}));
    }
    co_return Result<>{};
}

void Session::send(const uplink::CommandUpdate& update) {
    if (!active_ || !active_->master || !active_->master->speaks()) return;
    uplink::Frame frame;
    *frame.mutable_command_update() = update;
    if (const auto sent = active_->master->link()->try_send(frame); !sent)
        log_warn("an answer to command {} waits: {}", update.id(), sent.error().message);
}

Task<> Session::send_reports(Slot& slot, std::uint64_t turn) {
    std::uint64_t sent = 0;
    Instant acknowledged = ports_.timers.now();
    std::uint64_t answers = 0;
    const auto& queue = reporter_.queue();
    const auto link = slot.master->link();
    while (speaks(slot, turn)) {
        while (const auto* report = queue.after(sent)) {
            uplink::Frame frame;
            *frame.mutable_report() = *report;
            frame.mutable_report()->set_turn(turn);
            frame.mutable_report()->set_stamp_us(hooks_.stamp());
            frame.mutable_report()->set_dropped(queue.dropped());
            if (const Way* way = ways_.find(slot.address); way && way->rtt)
                frame.mutable_report()->set_rtt_us(static_cast<std::uint32_t>(
                    std::clamp<std::int64_t>(way->rtt->count() / 1000, 1, UINT32_MAX)));
            sent = report->sequence();
            CO_TRY(co_await link->send(std::move(frame)));
            if (!speaks(slot, turn)) co_return Result<>{};
        }
        {
            const Deadline deadline{ports_.timers, acknowledge_max,
                                    [this] { reporter_.grown().notify_all(); }};
            CO_TRY(co_await reporter_.grown().wait());
        }
        // An answer that settles nothing says that it is heard and is to wait.
        if (answers != std::exchange(answers, queue.answers()) || queue.size() == 0)
            acknowledged = ports_.timers.now();
        if (ports_.timers.now() - acknowledged < acknowledge_max || !speaks(slot, turn)) continue;
        log_warn("{} reports have no answer; saying hello again", queue.size());
        active_ = nullptr;
        changed_.notify_all();
    }
    co_return Result<>{};
}

// What does not fit now is old by the time that it would.
Task<> Session::send_telemetry(Slot& slot, std::uint64_t turn) {
    const auto link = slot.master->link();
    while (speaks(slot, turn)) {
        if (const Duration left = pulse_.left(ports_.timers.now()); left > Duration{0}) {
            std::optional<Deadline> due;
            if (left < Duration::max())
                due.emplace(ports_.timers, left, [this] { pulse_.changed().notify_all(); });
            CO_TRY(co_await pulse_.changed().wait());
            continue;
        }
        pulse_.beat(ports_.timers.now());
        uplink::Frame frame;
        *frame.mutable_telemetry() = CO_TRY(co_await reporter_.telemetry());
        if (!speaks(slot, turn)) break;
        frame.mutable_telemetry()->set_dropped(telemetry_dropped_);
        if (!link->try_send(frame)) ++telemetry_dropped_;
    }
    co_return Result<>{};
}

Task<> Session::send_answers(Slot& slot, std::uint64_t turn) {
    const auto link = slot.master->link();
    while (speaks(slot, turn)) {
        for (auto& answer : book_.unacknowledged()) {
            uplink::Frame frame;
            *frame.mutable_command_update() = std::move(answer);
            CO_TRY(co_await link->send(std::move(frame)));
        }
        CO_TRY(co_await sleep(ports_.timers, settings_.answer_interval));
    }
    co_return Result<>{};
}

Task<> Session::watch_certificate(Slot& slot, std::uint64_t turn) {
    const auto link = slot.master->link();
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, settings_.renewal_check));
        if (!speaks(slot, turn)) co_return Result<>{};
        if (!member_.renewal_due()) continue;
        const auto renewed = co_await member_.renew(link);
        if (!renewed && renewed.error().code == Code::cancelled) co_return renewed;
        if (!renewed) log_warn("the certificate is not renewed yet: {}", renewed.error().message);
    }
}

// Who signs changes; the master counts on what it is told here.
Task<> Session::renew_as_wished(std::shared_ptr<wire::Link> link) {
    wished_ = std::move(link);
    if (renewing_) co_return Result<>{};
    struct Busy {
        Session& self;
        explicit Busy(Session& session) : self(session) { self.renewing_ = true; }
        ~Busy() {
            self.renewing_ = false;
            self.wished_ = nullptr;
        }
        Busy(const Busy&) = delete;
    } const busy{*this};
    while (const auto to = std::exchange(wished_, nullptr)) {
        auto done = co_await member_.renew(to);
        if (done) {
            const Credentials& own = *member_.member().credentials;
            done = co_await wire::tell_holding(*to, own.certificate, own.authority);
        }
        CO_TRY(co_await check_cancelled());
        if (!done) log_warn("the certificate is not renewed yet: {}", done.error().message);
    }
    co_return Result<>{};
}

Task<> Session::answer_logs(std::shared_ptr<wire::Link> link, std::uint64_t call,
                            uplink::LogRequest request) {
    if (log_requests_ >= log_requests_max)
        co_return co_await link->answer(
            call, wire::failure_frame({.code = Code::exhausted,
                                       .message = "too many requests for logs at the same time",
                                       .reason = "too_many_log_requests"}));
    struct Count {
        std::size_t& of;
        explicit Count(std::size_t& counted) : of(counted) { ++of; }
        ~Count() { --of; }
        Count(const Count&) = delete;
    } const count{log_requests_};
    uplink::Frame frame;
    const auto wanted = wanted_of(request);
    auto log = wanted ? co_await hooks_.logs(request.instance(), *wanted) : std::unexpected(wanted.error());
    CO_TRY(co_await check_cancelled());
    if (log && request.pieces()) {
        auto& answer = *frame.mutable_log_answer();
        answer.set_pieces(request.streams() ? std::move(log->pieces)
                                            : without_streams(std::move(log->pieces)));
        answer.set_truncated(log->truncated);
        answer.set_inside(log->inside);
        answer.set_next(to_text(log->next));
    } else if (log) {
        auto& answer = *frame.mutable_log_answer();
        answer.set_text(clean_text(lines_of(*log, request.timed()), logs_max));
        answer.set_truncated(log->truncated);
        answer.set_timed(request.timed());
    } else {
        frame = wire::failure_frame(log.error());
    }
    co_return co_await link->answer(call, std::move(frame));
}

}  // namespace hostler::agent
