#include "roles/agent/tunnels.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/pump.h"
#include "wire/frame_cutter.h"
#include "wire/link.h"

namespace hostler::agent {

namespace {

constexpr std::string_view cluster_kind = "cluster";  // As in TunnelOpen.
constexpr std::size_t opening_max = 64 * 1024;  // Bytes of the frame in which a gateway says what it wants.

Task<> read_ok(Stream& stream) {
    // Byte by byte: what comes after the line is TLS, and not for us to swallow.
    std::string line;
    while (!line.ends_with('\n')) {
        char c = 0;
        if (co_await read_some(stream, {&c, 1}) != Result<std::size_t>{1} || line.size() > 128)
            co_return fail(Code::unavailable, "the access point did not join the tunnel");
        line += c;
    }
    if (line != "OK\n") co_return fail(Code::unavailable, "the access point did not join the tunnel");
    co_return Result<>{};
}

Task<uplink::TunnelOpen> read_opening(Stream& stream) {
    std::array<char, wire::frame_header_size> header{};
    CO_TRY(co_await read_exactly(stream, header));
    std::size_t size = 0;
    for (const char c : header) size = size << 8 | static_cast<unsigned char>(c);
    uplink::Frame frame;
    if (size == 0 || size > opening_max)
        co_return fail(Code::invalid, "a tunnel begins with a frame that says where it leads");
    std::string body(size, '\0');
    CO_TRY(co_await read_exactly(stream, body));
    if (!frame.ParseFromString(body) || !frame.has_tunnel_open())
        co_return fail(Code::invalid, "a tunnel begins with a frame that says where it leads");
    co_return std::move(*frame.mutable_tunnel_open());
}

Task<> say(Stream& stream, const uplink::Frame& frame) {
    std::string bytes;
    const std::size_t begin = wire::append_header(bytes);
    frame.AppendToString(&bytes);
    wire::complete_header(bytes, begin);
    co_return co_await write_all(stream, bytes);
}

}  // namespace

Tunnels::Tunnels(const Settings& settings, const Ports& ports, const MemberBook& member,
                 const Workloads& workloads, Activity& activity, Sessions& sessions)
    : settings_(settings),
      ports_(ports),
      member_(member),
      workloads_(workloads),
      activity_(activity),
      sessions_(sessions),
      silent_(ports),
      tasks_(ports.loop) {}

Tunnels::~Tunnels() = default;

void Tunnels::Open::close() const {
    if (outer) outer->close();
    if (inner) inner->close();
}

void Tunnels::open(uplink::TunnelOrder order) {
    if (open_.size() >= settings_.tunnels_max) {
        log_warn("a tunnel is refused: {} are open on this host, which is the limit", open_.size());
        return;
    }
    tasks_.start("tunnel", carry(std::move(order)));
}

void Tunnels::close_all(const std::string& instance) {
    for (const auto& [number, tunnel] : open_)
        if (tunnel.instance == instance) tunnel.close();
}

Task<> Tunnels::close() { return tasks_.close(); }

Task<> Tunnels::carry(uplink::TunnelOrder order) {
    struct Entry {
        std::map<std::uint64_t, Open>& all;
        std::uint64_t number;
        ~Entry() { all.erase(number); }
    } const entry{open_, ++last_};
    Open& mine = open_[entry.number];
    StreamPtr outer, inner;
    std::uint16_t port = 0;
    Sessions::SessionPtr session;
    {
        // Until both ends are joined, a peer that dawdles is a peer that is gone.
        const Deadline deadline{ports_.timers, settings_.tunnel_handshake, [&] { mine.close(); }};
        outer = CO_TRY(co_await meet(order, mine));
        const uplink::TunnelOpen wanted = CO_TRY(co_await read_opening(*outer));
        Result<> reached;
        if (wanted.kind().empty() || wanted.kind() == cluster_kind) {
            auto reaching = co_await reach(wanted, mine);
            port = static_cast<std::uint16_t>(wanted.port());
            if (reaching)
                inner = std::move(*reaching);
            else
                reached = std::unexpected(reaching.error());
        } else {
            auto entered = co_await sessions_.enter(wanted);
            if (entered)
                session = std::move(*entered);
            else
                reached = std::unexpected(entered.error());
        }
        uplink::Frame answer;
        if (reached)
            answer.mutable_tunnel_ready();
        else
            answer = wire::failure_frame(reached.error());
        if (auto said = co_await say(*outer, answer); !said || !reached) {
            mine.outer = nullptr;
            if (said) (void)co_await outer->finish();
            co_return said;
        }
        mine.inner = inner.get();
        if (session) mine.outer = nullptr;  // It is the session's from here on.
    }
    if (session) co_return co_await sessions_.carry(std::move(session), std::move(outer));
    std::optional<Activity::User> user;  // Of an instance: it may stop when nobody uses it.
    if (port != 0) user.emplace(activity_, mine.instance, "connection", Activity::Counts::bytes, port);
    (void)co_await pump(ports_.loop, *outer, *inner,
                        {.forth =
                             [&] {
                                 if (user) user->moved(Activity::Bytes::in);
                             },
                         .back =
                             [&] {
                                 if (user) user->moved(Activity::Bytes::out);
                             }});
    mine.outer = mine.inner = nullptr;
    co_return Result<>{};
}

Task<StreamPtr> Tunnels::meet(const uplink::TunnelOrder& order, Open& mine) {
    const auto bad = [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f;
    };
    if (order.ticket().empty() || order.ticket().size() > 256 || std::ranges::any_of(order.ticket(), bad))
        co_return fail(Code::invalid, "a tunnel's ticket is malformed");
    StreamPtr raw = CO_TRY(co_await ports_.net.dial(order.tunnel_address(), settings_.tunnel_handshake));
    mine.outer = raw.get();
    CO_TRY(co_await write_all(*raw, fmt::format("HOSTLER-TUNNEL/1 {}\n", order.ticket())));
    CO_TRY(co_await read_ok(*raw));
    mine.outer = nullptr;
    Secure how;
    how.own = member_.member().credentials;
    how.expect = "gateway/";
    StreamPtr outer = CO_TRY(
        co_await ports_.net.secure(std::move(raw), std::move(how), Side::server, settings_.tunnel_handshake));
    mine.outer = outer.get();
    co_return outer;
}

Task<StreamPtr> Tunnels::reach(const uplink::TunnelOpen& wanted, Open& mine) {
    co_return co_await (wanted.kind() == cluster_kind ? reach_cluster(wanted, mine)
                                                      : reach_instance(wanted, mine));
}

Result<> Tunnels::count_one_more(const std::string& what, const std::string& id, Open& mine) const {
    const auto count =
        std::ranges::count_if(open_, [&](const auto& tunnel) { return tunnel.second.instance == id; });
    if (static_cast<std::size_t>(count) >= settings_.tunnels_instance_max)
        return fail(Code::exhausted,
                    fmt::format("{} connections to {} {} are open, which is the limit", count, what, id),
                    "too_many_tunnels");
    mine.instance = id;
    return {};
}

// TLS ends here: the client's requests come with their words on who asks, which only this host's certificate
// lets the API server believe. Gateways alone open tunnels.
Task<StreamPtr> Tunnels::reach_cluster(const uplink::TunnelOpen& wanted, Open& mine) {
    if (!ports_.node_steps || !settings_.clusters)
        co_return fail(Code::not_found, "this host is not for clusters", "no_cluster_api");
    CO_TRY(count_one_more("cluster", wanted.instance(), mine));
    NodeApi api = CO_TRY(co_await ports_.node_steps->api(wanted.instance()));
    const Duration at_most = settings_.tunnel_handshake / 2;
    auto raw = co_await ports_.net.dial(api.address, at_most);
    if (!raw) {
        CO_TRY(co_await check_cancelled());
        co_return fail(Code::unavailable, "the API server of the cluster does not answer on this host",
                       "cluster_api_silent");
    }
    Secure how{.own = std::make_shared<const Credentials>(std::move(api.credentials)),
               .expect = "https://" + api.server_name};
    auto secured = co_await ports_.net.secure(std::move(*raw), std::move(how), Side::client, at_most);
    if (!secured && secured.error().code != Code::cancelled) {
        log_warn("the API server of cluster {} at {}: {}", wanted.instance(), api.address,
                 secured.error().message);
        co_return fail(Code::unavailable, "the API server of the cluster cannot be trusted or broke off",
                       "cluster_api_silent");
    }
    co_return secured;
}

// Only to a running container of exactly that generation, and only to a port that its owner has declared.
Task<StreamPtr> Tunnels::reach_instance(const uplink::TunnelOpen& wanted, Open& mine) {
    const std::string& instance = wanted.instance();
    const Workload* found = workloads_.find(instance);
    if (!found || found->generation != wanted.generation())
        co_return fail(Code::not_found,
                       fmt::format("instance {} does not run on this host in generation {}", instance,
                                   wanted.generation()),
                       "not_here");
    if (found->state != WorkloadState::running || workloads_.stopping(instance))
        co_return fail(Code::unavailable, fmt::format("instance {} is not running", instance), "not_running");
    if (std::ranges::find(found->ports, wanted.port()) == found->ports.end())
        co_return fail(Code::forbidden,
                       fmt::format("instance {} has not declared port {}", instance, wanted.port()),
                       "port_not_declared");
    CO_TRY(count_one_more("instance", instance, mine));  // From here on it is closed when the instance stops.
    const std::string address = fmt::format("{}:{}", found->address, wanted.port());
    const std::string container = found->container;
    auto inner = co_await ports_.net.dial(address, settings_.tunnel_handshake / 2);
    if (!inner) {
        const auto why = co_await silent_.why(container, static_cast<std::uint16_t>(wanted.port()));
        CO_TRY(co_await check_cancelled());
        if (why && !why->empty()) co_return fail(Code::unavailable, *why, "port_loopback");
        co_return fail(Code::unavailable,
                       fmt::format("nothing answers on port {} of instance {}", wanted.port(), instance),
                       "port_silent");
    }
    const Workload* now = workloads_.find(instance);
    if (!now || now->generation != wanted.generation() || workloads_.stopping(instance))
        co_return fail(Code::unavailable, fmt::format("instance {} is not running", instance), "not_running");
    co_return std::move(*inner);
}

}  // namespace hostler::agent
