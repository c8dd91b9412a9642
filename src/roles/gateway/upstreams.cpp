#include "roles/gateway/upstreams.h"

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "wire/frame_cutter.h"
#include "wire/link.h"

namespace hostler::gateway {

namespace {

using std::chrono::seconds;

constexpr std::size_t access_tries_max = 4;
constexpr std::size_t ready_bytes_max = 16 * 1024;
constexpr Duration refused_time = seconds{1};
// What did not work a moment ago is tried last for so long; nobody waits long for it while there is another
// way.
constexpr Duration doubtful_time = seconds{10};
constexpr Duration hedge_time = std::chrono::milliseconds{1500};
// Few links, each of many instances: silence on one is worth noticing soon.
constexpr Duration ping_after = seconds{1};
constexpr Duration silence_max = seconds{3};
// Who asked and left after so long has waited in vain.
constexpr Duration too_long = std::chrono::milliseconds{500};
constexpr wire::LinkLimits limits{
    .frame_size_max = 64 * 1024, .sending_bytes_max = 1 << 20, .received_bytes_max = 1 << 20};

// In place of `error`, a sentence that names the hop; whether it was too slow stays.
std::unexpected<Error> broke(const Error& error, std::string sentence) {
    if (error.code == Code::cancelled) return std::unexpected(error);
    const Code code = error.code == Code::timeout ? Code::timeout : Code::unavailable;
    return fail(code, std::move(sentence), error.reason);
}

// One length-delimited frame and not a byte more: what follows is the instance's.
Task<uplink::Frame> read_frame(Stream& stream) {
    std::array<char, wire::frame_header_size> header;
    CO_TRY(co_await read_exactly(stream, header));
    std::size_t size = 0;
    for (const char byte : header) size = size << 8 | static_cast<unsigned char>(byte);
    if (size > ready_bytes_max) co_return fail(Code::unavailable, "the host answered with too large a frame");
    std::string body(size, '\0');
    CO_TRY(co_await read_exactly(stream, body));
    uplink::Frame frame;
    if (!frame.ParseFromString(body))
        co_return fail(Code::unavailable, "the host answered with what is not a frame");
    co_return frame;
}

}  // namespace

Upstreams::Upstreams(const Ports& ports, const Settings& settings)
    : ports_(ports), settings_(settings), tasks_(ports.loop) {}

Task<> Upstreams::close() {
    CO_TRY(co_await tasks_.close());
    links_.clear();
    co_return Result<>{};
}

Task<StreamPtr> Upstreams::dial(RoutePtr route, std::shared_ptr<const uplink::TunnelOpen> session) {
    if (route->host.empty() || route->access.empty())
        co_return fail(Code::unavailable, "The host of the instance is not connected to any access point.",
                       "host_not_connected");
    Error error;
    const Instant now = ports_.timers.now();
    const auto doubtful = [&](const std::string& address) {
        const auto entry = links_.find(address);
        return entry != links_.end() && entry->second.doubtful_until > now;
    };
    std::vector<std::string> ways;
    for (const bool last : {false, true})
        for (const std::string& address : route->access)
            if (doubtful(address) == last) ways.push_back(address);
    if (ways.size() > access_tries_max) ways.resize(access_tries_max);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const bool last = i + 1 == ways.size();
        const Instant begun = ports_.timers.now();
        auto stream = last ? co_await through(ways[i], route, session)
                           : co_await within(hedge_time, through(ways[i], route, session));
        const bool left = !stream && stream.error().code == Code::cancelled;
        if (left && ports_.timers.now() - begun >= too_long) doubt(ways[i]);
        if (stream || left) co_return stream;
        log_debug("gateway: instance {} through {}: {}", route->instance, ways[i], stream.error().message);
        if (stream.error().reason.empty() || stream.error().reason == "host_not_connected") doubt(ways[i]);
        // "Not connected here" says less than any other failure.
        if (error.message.empty() || error.reason == "host_not_connected") error = std::move(stream.error());
        if (error.reason == "port_silent" || error.reason == "port_loopback" ||
            error.reason == "port_not_declared" ||
            (session && !error.reason.empty() && error.reason != "host_not_connected"))
            break;  // It was reached: no other way helps.
    }
    co_return std::unexpected(std::move(error));
}

void Upstreams::doubt(const std::string& address) {
    if (const auto entry = links_.find(address); entry != links_.end())
        entry->second.doubtful_until = ports_.timers.now() + doubtful_time;
}

// Not the whole of a hop's time: it ends early where there is another way to try.
Task<StreamPtr> Upstreams::within(Duration time, Task<StreamPtr> task) {
    std::optional<Result<StreamPtr>> answer;
    Signal ended;
    TaskGroup group{ports_.loop};
    group.start("way",
                [](std::optional<Result<StreamPtr>>& into, Signal& done, Task<StreamPtr> inner) -> Task<> {
                    into.emplace(co_await std::move(inner));
                    done.notify_all();
                    co_return Result<>{};
                }(answer, ended, std::move(task)));
    bool late = false;
    const Deadline deadline{ports_.timers, time, [&] {
                                late = true;
                                group.cancel();
                            }};
    Result<> waited{};
    if (!answer) waited = co_await ended.wait();
    (void)co_await group.close();
    if (!waited) co_return std::unexpected(waited.error());
    if (late && !*answer) co_return fail(Code::timeout, "The access point of the host does not answer.");
    co_return std::move(*answer);
}

Task<StreamPtr> Upstreams::through(std::string address, RoutePtr route,
                                   std::shared_ptr<const uplink::TunnelOpen> session) {
    auto given = CO_TRY(co_await ticket(std::move(address), route->host));
    auto stream = CO_TRY(co_await meet(std::move(given)));
    Secure secure{.own = ports_.own.credentials(), .peer_required = true, .expect = "host/" + route->host};
    auto secured = co_await ports_.net.secure(std::move(stream), std::move(secure), Side::client,
                                              seconds{settings_.hop_s});
    if (!secured && secured.error().code == Code::unauthenticated) {
        log_warn("gateway: the peer at the address of host {} has another identity: {}", route->host,
                 secured.error().message);
        co_return broke(secured.error(),
                        "The answering machine is not the host of the instance; it was refused.");
    }
    if (!secured)
        co_return broke(secured.error(), "The host of the instance broke off while the tunnel was secured.");
    CO_TRY(co_await open_port(**secured, *route, session.get()));
    co_return std::move(*secured);
}

Task<Upstreams::Ticket> Upstreams::ticket(std::string address, std::string host) {
    const auto link = co_await link_to(std::move(address));
    if (!link) co_return broke(link.error(), "The access point of the host does not answer.");
    uplink::Frame frame;
    frame.mutable_tunnel_request()->set_host(std::move(host));
    auto answer = co_await (*link)->ask(std::move(frame), seconds{settings_.hop_s});
    if (!answer && answer.error().code == Code::not_found)
        co_return fail(Code::unavailable, "The host of the instance is not connected.", "host_not_connected");
    if (!answer && answer.error().code == Code::exhausted)
        co_return fail(Code::exhausted, "The access point has no room for another tunnel to the host.");
    if (!answer) co_return broke(answer.error(), "The access point of the host does not answer.");
    auto& given = *answer->mutable_tunnel_ticket();
    if (given.ticket().empty() || given.tunnel_address().empty())
        co_return fail(Code::unavailable, "The access point of the host answered something else.");
    co_return Ticket{std::move(*given.mutable_ticket()), std::move(*given.mutable_tunnel_address())};
}

Task<StreamPtr> Upstreams::meet(Ticket ticket) {
    auto raw = co_await ports_.net.dial(ticket.tunnel_address, seconds{settings_.hop_s});
    if (!raw) co_return broke(raw.error(), "The tunnel port of the access point does not answer.");
    Stream& stream = **raw;
    Deadline deadline{ports_.timers, seconds{settings_.hop_s}, [&] { stream.close(); }};
    auto said = co_await write_all(stream, "HOSTLER-TUNNEL/1 " + ticket.secret + "\n");
    std::array<char, 3> answer{};
    if (said) said = co_await read_exactly(stream, answer);
    if (deadline.expired())
        co_return fail(Code::timeout,
                       "The host of the instance is connected, but did not open a tunnel in time.");
    if (!said)
        co_return broke(said.error(), "The access point closed the tunnel before the host had opened it.");
    if (std::string_view{answer.data(), answer.size()} != "OK\n")
        co_return fail(Code::unavailable, "The tunnel port of the access point answered something else.");
    co_return std::move(*raw);
}

Task<> Upstreams::open_port(Stream& stream, const Route& route, const uplink::TunnelOpen* session) {
    uplink::Frame frame;
    if (session) *frame.mutable_tunnel_open() = *session;
    frame.mutable_tunnel_open()->set_instance(route.instance);
    frame.mutable_tunnel_open()->set_generation(route.generation);
    if (!session) frame.mutable_tunnel_open()->set_port(route.port);
    std::string bytes;
    const std::size_t begin = wire::append_header(bytes);
    frame.AppendToString(&bytes);
    wire::complete_header(bytes, begin);
    Deadline deadline{ports_.timers, seconds{settings_.hop_s} * 2, [&] { stream.close(); }};
    auto said = co_await write_all(stream, bytes);
    if (!said) co_return broke(said.error(), "The host of the instance broke off.");
    const auto answer = co_await read_frame(stream);
    if (deadline.expired())
        co_return fail(Code::timeout,
                       "The host of the instance did not say in time whether the port is open.");
    if (!answer) co_return broke(answer.error(), "The host of the instance broke off.");
    if (answer->has_tunnel_ready()) co_return Result<>{};
    if (!answer->has_failure())
        co_return fail(Code::unavailable, "The host of the instance answered something else.");
    const Error error = wire::error_of(answer->failure());
    if (session) co_return std::unexpected(error);
    if (error.reason == "port_silent" || error.reason == "port_refused")
        co_return fail(Code::unavailable,
                       fmt::format("Nothing listens on port {} in the instance.", route.port), "port_silent");
    if (error.reason == "port_loopback")
        co_return fail(Code::unavailable, fmt::format("On port {} {}.", route.port, error.message),
                       error.reason);
    if (error.code == Code::not_found)
        co_return fail(Code::unavailable,
                       "The host has stopped running this instance; it may just have been started again.",
                       error.reason);
    co_return broke(error, fmt::format("The host of the instance says: {}.", error.message));
}

// One link for each access point, shared by all.
Task<Upstreams::LinkPtr> Upstreams::link_to(std::string address) {
    while (true) {
        if (!links_.contains(address)) make_room();
        Entry& entry = links_[address];
        entry.used = ports_.timers.now();
        if (entry.link && !entry.link->closed()) co_return entry.link;
        if (ports_.timers.now() < entry.refused_until)
            co_return fail(Code::unavailable, "it did not answer a moment ago");
        if (!entry.dialling) break;
        const auto changed = entry.changed;
        CO_TRY(co_await changed->wait());
    }
    links_[address].dialling = true;
    auto link = co_await connect(address);
    Entry& entry = links_[address];
    entry.dialling = false;
    if (link)
        entry.link = *link;
    else if (link.error().code != Code::cancelled)
        entry.refused_until = ports_.timers.now() + refused_time;
    entry.changed->notify_all();
    co_return link;
}

Task<Upstreams::LinkPtr> Upstreams::connect(std::string address) {
    auto raw = CO_TRY(co_await ports_.net.dial(address, seconds{settings_.hop_s}));
    Secure secure{.own = ports_.own.credentials(), .peer_required = true, .expect = "access/"};
    auto stream =
        co_await ports_.net.secure(std::move(raw), std::move(secure), Side::client, seconds{settings_.hop_s});
    if (!stream) {
        log_warn("gateway: access point {}: {}", address, stream.error().message);
        co_return std::unexpected(stream.error());
    }
    auto link = std::make_shared<wire::Link>(ports_.loop, ports_.timers, std::move(*stream), limits);
    tasks_.start("access point's keep-alive", [](LinkPtr of) -> Task<> {
        co_await of->keep_alive(ping_after, silence_max);
        co_return Result<>{};
    }(link));
    co_return link;
}

// The one used longest ago goes.
void Upstreams::make_room() {
    if (links_.size() < settings_.access_links_max) return;
    auto oldest = links_.end();
    for (auto entry = links_.begin(); entry != links_.end(); ++entry)
        if (!entry->second.dialling && (oldest == links_.end() || entry->second.used < oldest->second.used))
            oldest = entry;
    if (oldest == links_.end()) return;
    if (oldest->second.link) oldest->second.link->close();
    links_.erase(oldest);
}

}  // namespace hostler::gateway
