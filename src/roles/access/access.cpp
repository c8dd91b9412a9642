#include "roles/access/access.h"

#include "core/log.h"

namespace hostler::access {

namespace {

std::string reached_at(const std::string& set, const Listener& listener) {
    return set.empty() ? std::string{listener.address()} : set;
}

}  // namespace

Access::Access(Settings settings, Ports ports)
    : settings_(std::move(settings)),
      ports_(std::move(ports)),
      remembered_(ports_.journal),
      relay_({.sessions_max = settings_.sessions_max,
              .per_host_max = settings_.sessions_per_host_max,
              .up_bytes_max = settings_.session_up_bytes_max,
              .down_bytes_max = settings_.session_down_bytes_max}),
      guard_({.faults = {.per_second = settings_.faults_per_minute / 60.0,
                         .burst = static_cast<double>(settings_.faults_burst)},
              .ban = std::chrono::seconds{settings_.ban_s},
              .peers_max = settings_.guarded_max}),
      tunnels_(ports_.loop, ports_.timers, ports_.random, settings_, guard_),
      speeds_(ports_, settings_, relay_),
      uplink_(ports_, settings_, remembered_, relay_, guard_),
      control_(ports_, settings_, relay_, tunnels_),
      master_(
          ports_, settings_, remembered_, relay_, speeds_,
          [this](std::string_view host) {
              tunnels_.cut(host);
              speeds_.cut(host);
          },
          [this] {
              const Counters now = counters();
              return AccessStatus{now.tunnels_open, now.banned_addresses + now.banned_hosts};
          }) {
    tunnels_.offer_to(
        [this](std::string_view line, StreamPtr& stream) { return speeds_.meet(line, stream); });
}

Task<> Access::run() {
    const auto ended = co_await serve();
    listening_ = false;
    co_await control_.close();
    co_await uplink_.close();
    co_await tunnels_.close();
    co_return ended;
}

Task<> Access::serve() {
    const auto uplink = CO_TRY(co_await ports_.net.listen(settings_.uplink_listen));
    const auto tunnel = CO_TRY(co_await ports_.net.listen(settings_.tunnel_listen));
    const auto control = CO_TRY(co_await ports_.net.listen(settings_.control_listen));
    addresses_ = {reached_at(settings_.uplink_address, *uplink),
                  reached_at(settings_.tunnel_address, *tunnel),
                  reached_at(settings_.control_address, *control)};
    log_info("access: serving uplink={} tunnel={} control={}", addresses_.uplink, addresses_.tunnel,
             addresses_.control);
    speeds_.reached_at(addresses_.tunnel);
    TaskGroup tasks{ports_.loop};
    tasks.start("uplink", uplink_.serve(*uplink));
    tasks.start("tunnels", tunnels_.serve(*tunnel));
    tasks.start("control", control_.serve(*control, addresses_.tunnel));
    listeners_ = {uplink.get(), control.get()};
    listening_ = true;
    changed_.notify_all();
    const auto ended = co_await master_.run(addresses_);
    co_await tasks.close();
    listeners_.clear();
    co_return ended;
}

Task<> Access::leave(Duration patience) {
    constexpr Duration look = std::chrono::milliseconds{20}, farewell = std::chrono::seconds{2};
    if (!listening_) co_return Result<>{};
    log_info("access: it leaves: {} agents, {} tunnels", relay_.all().size(), tunnels_.open());
    const Instant begun = ports_.timers.now();
    for (Listener* listener : listeners_) listener->close();
    relay_.leave();
    uplink_.say_goodbye();
    // Tunnels are not the agents' sessions: what is open stays, and what has its tickets is opened.
    const auto waits = [&](Duration time) { return ports_.timers.now() - begun < time; };
    while (!relay_.all().empty() && waits(std::min(farewell, patience)))
        CO_TRY(co_await sleep(ports_.timers, look));
    while (tunnels_.open() + tunnels_.tickets() > 0 && waits(patience))
        CO_TRY(co_await sleep(ports_.timers, look));
    co_return Result<>{};
}

Task<> Access::ready() {
    while (!listening_) CO_TRY(co_await changed_.wait());
    co_return Result<>{};
}

Counters Access::counters() const {
    return {relay_.all().size(),    tunnels_.open(),
            tunnels_.counters(),    guard_.banned_now(ports_.timers.now()),
            uplink_.banned_hosts(), speeds_.measured(),
            speeds_.failed()};
}

}  // namespace hostler::access
