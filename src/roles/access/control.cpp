#include "roles/access/control.h"

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/access/accept.h"
#include "wire/link.h"

namespace hostler::access {

namespace {

using std::chrono::seconds;

constexpr Duration handshake_time = seconds{10};
constexpr Duration ping_after = seconds{15};
constexpr Duration silence_max = seconds{45};
constexpr wire::LinkLimits limits{
    .frame_size_max = 16 * 1024, .sending_bytes_max = 1 << 20, .received_bytes_max = 1 << 20};

}  // namespace

Control::Control(const Ports& ports, const Settings& settings, Relay& relay, Tunnels& tunnels)
    : ports_(ports), settings_(settings), relay_(relay), tunnels_(tunnels), tasks_(ports.loop) {}

Task<> Control::serve(Listener& listener, std::string tunnel_address) {
    tunnel_address_ = std::move(tunnel_address);
    co_return co_await accept_all(listener, ports_.timers, [this](StreamPtr raw) {
        if (gateways_ < settings_.gateways_max) tasks_.start("gateway", gateway(std::move(raw)));
    });
}

Task<> Control::gateway(StreamPtr raw) {
    struct Count {
        std::size_t& of;
        ~Count() { --of; }
    } count{++gateways_};
    Secure secure{.own = ports_.own.credentials(), .peer_required = true, .expect = "gateway/"};
    auto stream = co_await ports_.net.secure(std::move(raw), std::move(secure), Side::server, handshake_time);
    if (!stream) {
        log_debug("control: refused a connection: {}", stream.error().message);
        co_return Result<>{};
    }
    wire::Link link{ports_.loop, ports_.timers, std::move(*stream), limits};
    TaskGroup tasks{ports_.loop};
    tasks.start("gateway's keep-alive", [](wire::Link& of) -> Task<> {
        co_await of.keep_alive(ping_after, silence_max);
        co_return Result<>{};
    }(link));
    while (true) {
        const auto asked = co_await link.receive();
        if (!asked || !asked->has_tunnel_request()) break;
        const auto minted = ticket(asked->tunnel_request().host());
        uplink::Frame answer;
        if (minted) {
            answer.mutable_tunnel_ticket()->set_ticket(*minted);
            answer.mutable_tunnel_ticket()->set_tunnel_address(tunnel_address_);
        } else {
            answer = wire::failure_frame(minted.error());
        }
        if (!co_await link.answer(asked->call(), std::move(answer))) break;
    }
    link.close();
    co_return co_await tasks.close();
}

Result<std::string> Control::ticket(const std::string& host) {
    if (relay_.leaving()) return fail(Code::unavailable, "this access point is about to end");
    const auto session = relay_.newest(host);
    if (!session)
        return fail(Code::not_found, "the host is not connected to this access point", "host_not_connected");
    const auto pair = TRY(tunnels_.mint(host));
    uplink::Frame order;
    order.mutable_tunnel_order()->set_ticket(pair.agent);
    order.mutable_tunnel_order()->set_tunnel_address(tunnel_address_);
    if (!relay_.push_down(session->number, order.SerializeAsString())) {
        tunnels_.forget(pair.tunnel);
        return fail(Code::unavailable, "the host takes no orders at the moment");
    }
    return pair.gateway;
}

}  // namespace hostler::access
