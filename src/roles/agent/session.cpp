#include "roles/agent/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"

namespace hostler::agent {

namespace {

constexpr Duration ping_interval = seconds{10};
constexpr Duration patience = seconds{35};         // Silence after which the access point counts as gone.
constexpr Duration steady = seconds{30};           // A connection that lasted so long was a good one.
constexpr Duration acknowledge_max = seconds{30};  // Reports without an answer for so long are sent again.

}  // namespace

Session::Session(const Settings& settings, const Ports& ports, MemberBook& member, CommandBook& book,
                 Reporter& reporter, Hooks hooks)
    : settings_(settings),
      ports_(ports),
      member_(member),
      book_(book),
      reporter_(reporter),
      hooks_(std::move(hooks)) {}

Task<> Session::run() {
    if (settings_.access.empty()) co_return fail(Code::invalid, "no access point is given");
    Backoff backoff{settings_, ports_.timers, ports_.random};
    std::string said;
    for (std::size_t tries = 0;; ++tries) {
        const std::string address = settings_.access[tries % settings_.access.size()];
        const Instant begun = ports_.timers.now();
        Result<> ended{};
        auto stream = co_await member_.dial(address);
        if (stream)
            ended = co_await serve(std::move(*stream));
        else
            ended = std::unexpected(stream.error());
        CO_TRY(co_await check_cancelled());
        const std::string why = ended ? "it ended" : ended.error().message;
        if (std::exchange(said, why) != why) log_warn("no connection to {}: {}", address, why);
        if (ports_.timers.now() - begun >= steady) backoff.reset();
        if (ended) backoff.reset();  // It ended for the sake of a new one.
        CO_TRY(co_await backoff.wait());
    }
}

Task<> Session::serve(StreamPtr stream) {
    wire::Link link{ports_.loop, ports_.timers, std::move(stream)};
    TaskGroup tasks{ports_.loop};
    tasks.start("uplink", [](wire::Link& on) -> Task<> {
        (void)co_await on.keep_alive(ping_interval, patience);
        co_return Result<>{};
    }(link));
    auto ended = co_await receive(link, tasks);
    welcomed_ = nullptr;
    link.close();
    (void)co_await tasks.close();
    co_return ended;
}

Task<> Session::receive(wire::Link& link, TaskGroup& tasks) {
    const bool expired = member_.expired();
    if (member_.renewal_due()) {
        const auto renewed = co_await member_.renew(link);
        if (!renewed) log_warn("the certificate is not renewed yet: {}", renewed.error().message);
        if (expired) co_return renewed;  // With an expired one nothing else is possible.
    }
    CO_TRY(co_await greet(link));
    log_info("connected to {} at {}, epoch {}", link.identity(), link.address(), book_.epoch());
    welcomed_ = &link;
    reporter_.queue().grow_old();
    reporter_.report_all();
    tasks.start("reports", send_reports(link));
    tasks.start("answers", send_answers(link));
    tasks.start("certificate", watch_certificate(link));
    while (true) {
        uplink::Frame frame = CO_TRY(co_await link.receive());
        CO_TRY(co_await handle(link, tasks, std::move(frame)));
    }
}

Task<> Session::greet(wire::Link& link) {
    uplink::Frame frame;
    *frame.mutable_agent_hello() = CO_TRY(co_await reporter_.hello(book_.epoch()));
    frame = CO_TRY(co_await link.ask(std::move(frame), settings_.call_deadline));
    if (!frame.has_agent_welcome()) co_return fail(Code::unavailable, "the master did not welcome this host");
    co_return co_await accept(std::move(*frame.mutable_agent_welcome()));
}

Task<> Session::accept(uplink::AgentWelcome welcome) {
    if (welcome.epoch() < book_.epoch())
        co_return fail(Code::conflict,
                       fmt::format("the master's epoch is {}; this host already obeys epoch {}",
                                   welcome.epoch(), book_.epoch()),
                       "stale_epoch");
    CO_TRY(co_await book_.raise_epoch(welcome.epoch()));
    if (welcome.report_interval_ms() > 0) reporter_.pace(milliseconds{welcome.report_interval_ms()});
    co_return Result<>{};
}

Task<> Session::handle(wire::Link& link, TaskGroup& tasks, uplink::Frame frame) {
    using Body = uplink::Frame::BodyCase;
    const std::uint64_t call = frame.call();
    if (frame.body_case() == Body::kCommand) {
        hooks_.command(std::move(*frame.mutable_command()));
    } else if (frame.body_case() == Body::kCommandAck) {
        CO_TRY(co_await book_.acknowledge(frame.command_ack().id()));
    } else if (frame.body_case() == Body::kReportAck) {
        reporter_.queue().acknowledge(frame.report_ack().sequence());
        reporter_.grown().notify_all();
    } else if (frame.body_case() == Body::kTunnelOrder) {
        hooks_.tunnel(std::move(*frame.mutable_tunnel_order()));
    } else if (frame.body_case() == Body::kLogRequest) {
        tasks.start("logs", answer_logs(link, call, std::move(*frame.mutable_log_request())));
    } else if (frame.body_case() == Body::kAgentWelcome) {
        // Another master leads, and knows nothing of what only the hello has told.
        CO_TRY(co_await accept(std::move(*frame.mutable_agent_welcome())));
        co_return fail(Code::unavailable, "another master leads; saying hello again");
    } else if (frame.body_case() == Body::kGoodbye) {
        co_return fail(Code::unavailable,
                       fmt::format("{} says goodbye: {}", link.identity(), frame.goodbye().why()));
    } else if (call != 0) {
        co_return co_await link.answer(
            call, wire::failure_frame({.code = Code::invalid,
                                       .message = "this agent does not know such a request",
                                       .reason = "unknown_request"}));
    }
    co_return Result<>{};
}

void Session::send(const uplink::CommandUpdate& update) {
    if (!welcomed_) return;
    uplink::Frame frame;
    *frame.mutable_command_update() = update;
    if (const auto sent = welcomed_->try_send(frame); !sent)
        log_warn("an answer to command {} waits: {}", update.id(), sent.error().message);
}

Task<> Session::send_reports(wire::Link& link) {
    std::uint64_t sent = 0;
    Instant acknowledged = ports_.timers.now();
    std::size_t size = 0;
    const auto& queue = reporter_.queue();
    while (true) {
        while (const auto* report = queue.after(sent)) {
            uplink::Frame frame;
            *frame.mutable_report() = *report;
            sent = report->sequence();
            CO_TRY(co_await link.send(std::move(frame)));
        }
        {
            const Deadline deadline{ports_.timers, acknowledge_max,
                                    [this] { reporter_.grown().notify_all(); }};
            CO_TRY(co_await reporter_.grown().wait());
        }
        if (queue.size() < std::exchange(size, queue.size()) || queue.size() == 0)
            acknowledged = ports_.timers.now();
        if (ports_.timers.now() - acknowledged < acknowledge_max) continue;
        log_warn("{} reports have no answer; they are sent again", queue.size());
        acknowledged = ports_.timers.now();
        sent = 0;
    }
}

Task<> Session::send_answers(wire::Link& link) {
    while (true) {
        for (auto& answer : book_.unacknowledged()) {
            uplink::Frame frame;
            *frame.mutable_command_update() = std::move(answer);
            CO_TRY(co_await link.send(std::move(frame)));
        }
        CO_TRY(co_await sleep(ports_.timers, settings_.answer_interval));
    }
}

Task<> Session::watch_certificate(wire::Link& link) {
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, settings_.renewal_check));
        if (!member_.renewal_due()) continue;
        const auto renewed = co_await member_.renew(link);
        if (!renewed && renewed.error().code == Code::cancelled) co_return renewed;
        if (!renewed) log_warn("the certificate is not renewed yet: {}", renewed.error().message);
    }
}

Task<> Session::answer_logs(wire::Link& link, std::uint64_t call, uplink::LogRequest request) {
    if (log_requests_ >= log_requests_max)
        co_return co_await link.answer(
            call, wire::failure_frame({.code = Code::exhausted,
                                       .message = "too many requests for logs at one time",
                                       .reason = "too_many_log_requests"}));
    struct Count {
        std::size_t& of;
        explicit Count(std::size_t& counted) : of(counted) { ++of; }
        ~Count() { --of; }
        Count(const Count&) = delete;
    } const count{log_requests_};
    const std::size_t bytes =
        request.tail_bytes() == 0 ? logs_default : std::min<std::size_t>(request.tail_bytes(), logs_max);
    auto text = co_await hooks_.logs(request.instance(), bytes);
    CO_TRY(co_await check_cancelled());
    uplink::Frame frame;
    if (text) {
        frame.mutable_log_answer()->set_truncated(text->size() >= bytes);
        if (text->size() > bytes) text->erase(0, text->size() - bytes);
        frame.mutable_log_answer()->set_text(clean_text(*text, logs_max));
    } else {
        frame = wire::failure_frame(text.error());
    }
    co_return co_await link.answer(call, std::move(frame));
}

}  // namespace hostler::agent
