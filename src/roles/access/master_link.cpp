#include "roles/access/master_link.h"

#include "core/log.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"
#include "wire/link.h"
#include "wire/redial.h"
#include "wire/renewal.h"

namespace hostler::access {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration dial_time = seconds{5};
constexpr Duration hello_time = seconds{10};
constexpr std::size_t asked_max = 16;  // Questions for the speed of a way that are under way.
// Little is queued behind the relay's turns, or a loud agent's frames would stand before everybody's.
constexpr wire::LinkLimits limits{.frame_size_max = 4 << 20, .sending_bytes_max = 1 << 20};

uplink::Frame frame_of(Relay::Item item) {
    uplink::Frame frame;
    if (const auto* begun = std::get_if<Relay::Begun>(&item)) {
        auto& up = *frame.mutable_session_up();
        up.set_session(begun->session->number);
        up.set_host(begun->session->host);
        up.set_address(begun->session->address);
    } else if (const auto* ended = std::get_if<Relay::Ended>(&item)) {
        frame.mutable_session_down()->set_session(ended->number);
        frame.mutable_session_down()->set_why(ended->why);
    } else {
        auto& said = std::get<Relay::Said>(item);
        frame.mutable_relayed()->set_session(said.number);
        frame.mutable_relayed()->set_frame(std::move(said.frame));
    }
    return frame;
}

}  // namespace

MasterLink::MasterLink(const Ports& ports, const Settings& settings, Remembered& remembered, Relay& relay,
                       Speeds& speeds, std::function<void(std::string_view)> cut,
                       std::function<AccessStatus()> status)
    : ports_(ports),
      settings_(settings),
      remembered_(remembered),
      relay_(relay),
      speeds_(speeds),
      cut_(std::move(cut)),
      status_(std::move(status)) {}

Task<> MasterLink::run(Addresses addresses) {
    return wire::keep_linked(
        ports_.timers, ports_.random,
        {"access", settings_.masters, milliseconds{settings_.redial_ms},
         milliseconds{settings_.redial_max_ms}},
        [this, addresses = std::move(addresses)](std::string master) {
            return once(std::move(master), addresses);
        },
        [this] {
            relay_.link_down();
            obeyed_ = 0;
            return wire::Dialled{std::exchange(linked_, false), std::exchange(leader_, "")};
        });
}

Task<> MasterLink::once(std::string master, Addresses addresses) {
    auto raw = CO_TRY(co_await ports_.net.dial(master, dial_time));
    Secure secure{.own = ports_.own.credentials(), .peer_required = true, .expect = "master/"};
    auto stream =
        CO_TRY(co_await ports_.net.secure(std::move(raw), std::move(secure), Side::client, dial_time));
    wire::Link link{ports_.loop, ports_.timers, std::move(stream), limits};
    if (ports_.own.expired(ports_.timers.wall())) {
        CO_TRY(co_await wire::renew(link, ports_.own));
        co_return fail(Code::unavailable, "the certificate is new, this link is not");
    }
    uplink::Frame frame;
    auto& hello = *frame.mutable_access_hello();
    hello.set_version(ports_.version);
    hello.set_uplink_address(addresses.uplink);
    hello.set_tunnel_address(addresses.tunnel);
    hello.set_control_address(addresses.control);
    hello.set_epoch(remembered_.epoch());
    hello.set_zone(settings_.zone);
    hello.set_sessions_max(settings_.sessions_max);
    hello.set_measures_speed(true);
    CO_TRY(co_await link.send(std::move(frame)));
    {
        const Deadline deadline{ports_.timers, hello_time, [&] { link.close(); }};
        const auto first = CO_TRY(co_await link.receive());
        if (first.has_failure()) {
            leader_ = first.failure().leader();
            co_return std::unexpected(wire::error_of(first.failure()));
        }
        CO_TRY(co_await welcome(first.access_welcome()));
    }
    linked_ = true;
    log_info("access: linked to master {} zone={} epoch={}", master, zone_, remembered_.epoch());
    relay_.link_up();
    wire::RenewalWish wish;
    TaskGroup tasks{ports_.loop};
    const Duration silence =
        wire::patience_with_masters(settings_.masters.size(), seconds{settings_.master_silence_s});
    tasks.start("master's keep-alive", [](wire::Link& of, Duration patience) -> Task<> {
        co_await of.keep_alive(patience / 3, patience);
        co_return Result<>{};
    }(link, silence));
    tasks.start("master's news", tell(link));
    tasks.start("status", tell_status(link));
    tasks.start("revocations", remember());
    tasks.start("certificate", wire::keep_renewed(ports_.timers, link, ports_.own, wish));
    Result<> ended;
    while (ended) {
        auto order = co_await link.receive();
        if (!order)
            ended = std::unexpected(order.error());
        else if (order->has_goodbye())
            break;
        else if (order->has_renew_wanted())
            wish.make();
        else if (order->has_speed_request() && asked_ < asked_max)
            tasks.start("speed", answer_speed(link, std::move(*order)));
        else
            ended = co_await obey(std::move(*order));
    }
    link.close();
    co_await tasks.close();
    co_return ended;
}

// Errors: conflict: a master whose time is over.
Task<> MasterLink::welcome(const uplink::AccessWelcome& welcome) {
    if (welcome.epoch() == 0 || welcome.epoch() < remembered_.epoch())
        co_return fail(Code::conflict, fmt::format("it leads epoch {}, but epoch {} has begun; it is refused",
                                                   welcome.epoch(), remembered_.epoch()));
    CO_TRY(co_await remembered_.raise(welcome.epoch()));
    obeyed_ = welcome.epoch();
    zone_ = welcome.zone();
    for (const auto& host : welcome.revoked()) {
        relay_.close_host(host, "it was removed");
        cut_(host);
        remembered_.revoke(host);
    }
    relay_.drain(welcome.draining());
    CO_TRY(co_await write_down());
    co_return Result<>{};
}

Task<> MasterLink::tell(wire::Link& link) {
    while (true) {
        while (auto item = relay_.next()) {
            if (const auto sent = co_await link.send(frame_of(std::move(*item))); !sent) {
                link.close();
                co_return Result<>{};
            }
        }
        CO_TRY(co_await relay_.filled().wait());
    }
}

// Once a second at most, and only news.
Task<> MasterLink::tell_status(wire::Link& link) {
    AccessStatus told;
    while (true) {
        if (const AccessStatus now = status_(); now != told) {
            uplink::Frame frame;
            frame.mutable_access_status()->set_tunnels(static_cast<std::uint32_t>(now.tunnels));
            frame.mutable_access_status()->set_banned(static_cast<std::uint32_t>(now.banned));
            if (link.try_send(frame)) told = now;
        }
        CO_TRY(co_await sleep(ports_.timers, seconds{1}));
    }
}

// A full disk keeps nobody in, and does not cost us the master: what is revoked holds in memory, the master
// says it again at each hello, and it is written once there is room.
Task<> MasterLink::write_down() {
    const auto kept = co_await remembered_.write();
    CO_TRY(co_await check_cancelled());
    if (!kept) log_error("access: a revocation is not written down yet: {}", kept.error().message);
    co_return Result<>{};
}

Task<> MasterLink::remember() {
    while (true) {
        CO_TRY(co_await sleep(ports_.timers, seconds{10}));
        (void)co_await remembered_.write();
        CO_TRY(co_await check_cancelled());
    }
}

Task<> MasterLink::answer_speed(wire::Link& link, uplink::Frame asked) {
    struct Count {
        std::size_t& of;
        explicit Count(std::size_t& counted) : of(counted) { ++of; }
        ~Count() { --of; }
        Count(const Count&) = delete;
    } const count{asked_};
    const auto& request = asked.speed_request();
    const auto measured = co_await speeds_.measure(request.host(), request.busy_kbit_s());
    CO_TRY(co_await check_cancelled());
    uplink::Frame frame;
    if (measured) {
        auto& answer = *frame.mutable_speed_answer();
        answer.set_round_trip_us(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(measured->round_trip).count()));
        answer.set_down_kbit_s(static_cast<std::uint64_t>(measured->down_kbit_s));
        answer.set_up_kbit_s(static_cast<std::uint64_t>(measured->up_kbit_s));
    } else {
        frame = wire::failure_frame(measured.error());
    }
    co_return co_await link.answer(asked.call(), std::move(frame));
}

Task<> MasterLink::obey(uplink::Frame frame) {
    if (frame.has_relayed()) {
        relay_.push_down(frame.relayed().session(), std::move(*frame.mutable_relayed()->mutable_frame()));
    } else if (frame.has_cut_off()) {
        CO_TRY(co_await cut_off(frame.cut_off()));
    } else if (frame.has_session_down()) {
        if (const auto session = relay_.find(frame.session_down().session()))
            relay_.close(session, frame.session_down().why());
    } else if (frame.has_drain()) {
        relay_.drain(frame.drain().draining());
        log_info("access: {}", relay_.draining() ? "it drains" : "it takes hosts again");
    } else if (frame.has_access_welcome()) {
        CO_TRY(co_await welcome(frame.access_welcome()));
    } else {
        log_debug("access: the master sent a frame of kind {}, which means nothing here",
                  static_cast<int>(frame.body_case()));
    }
    co_return Result<>{};
}

Task<> MasterLink::cut_off(const uplink::CutOff& order) {
    const auto& host = order.host();
    log_info("access: host {} is cut off revoked={} why=\"{}\"", host, order.revoked(), order.why());
    const std::string why = order.why().empty() ? "the master cut it off" : order.why();
    relay_.close_host(host, why);
    cut_(host);
    if (!order.revoked()) co_return Result<>{};
    remembered_.revoke(host);
    co_return co_await write_down();
}

}  // namespace hostler::access
