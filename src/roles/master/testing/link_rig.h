// For tests: a term with access points and gateways that are played here, over streams in memory.
#pragma once

#include <list>

#include "core/testing/memory_stream.h"
#include "proto/uplink.pb.h"
#include "roles/master/testing/term_rig.h"
#include "roles/master/uplink/links.h"
#include "wire/channel.h"
#include "wire/frame_cutter.h"
#include "wire/link.h"

namespace hostler::master::testing {

// What plays a host in its session at an access point that is played, too.
struct PlayedHost {
    std::string identity{};  // That it shows; "expired host/h-a" has been so for too long.
    std::uint64_t invited = 0, opened = 0;
    int invitations = 0, endings = 0;
    std::string authority{};  // As its invitation named it.
    std::unique_ptr<wire::Channel> channel{};
    StreamPtr stream{};
    wire::FrameCutter cutter{4 << 20};
};

struct LinkRig : TermRig {
    LinkRig() {
        desk().estate.zones.add({.name = "nj"});
        for (const char* host : {"a", "b"})
            desk().estate.hosts.add({.id = std::string{"h-"} + host,
                                     .zone = "nj",
                                     .phase = HostPhase::ready,
                                     .facts = DeskRig::facts_of(host, 8)});
        (void)commit();
    }
    ~LinkRig() {
        (void)hostler::testing::try_run(loop, running.close());
        finish();
        played.clear();
        peers.clear();
        timers.settle();
    }
    void run_term() {
        running.start("term", lead.term->run());
        timers.settle();
    }
    wire::Link& connect(const std::string& identity) {
        auto [ours, theirs] = hostler::testing::memory_pair();
        ours->set_identity(identity);
        term().tasks().start("link", serve_link(lead.term, std::move(ours)));
        auto& peer = peers.emplace_back(loop, timers, std::move(theirs));
        timers.settle();
        return peer;
    }
    // An access point that is welcome.
    wire::Link& access(const std::string& name = "nj-1") {
        wire::Link& link = connect("access/" + name);
        uplink::Frame hello;
        hello.mutable_access_hello()->set_zone("nj");
        hello.mutable_access_hello()->set_control_address("control of " + name);
        send(link, hello);
        HOSTLER_ASSERT(next(link).has_access_welcome());
        return link;
    }
    // A gateway that has been told all routes.
    wire::Link& gateway(const std::string& domain = "localhost") {
        wire::Link& link = connect("gateway/gw-1");
        uplink::Frame hello;
        hello.mutable_gateway_hello()->set_address("http://localhost:8443");
        hello.mutable_gateway_hello()->set_domain(domain);
        send(link, hello);
        return link;
    }
    void send(wire::Link& link, const uplink::Frame& frame) {
        HOSTLER_ASSERT(link.try_send(frame));
        timers.settle();
    }
    void up(wire::Link& link, std::uint64_t session, const std::string& host) {
        played[{&link, session}] = {.identity = host.empty() ? "" : "host/" + host};
        uplink::Frame frame;
        frame.mutable_session_up()->set_session(session);
        frame.mutable_session_up()->set_host(host);
        send(link, frame);
        pump(link);
    }
    void down(wire::Link& link, std::uint64_t session) {
        played.erase({&link, session});
        uplink::Frame frame;
        frame.mutable_session_down()->set_session(session);
        send(link, frame);
    }
    // As the access point passes it on.
    void relay(wire::Link& link, std::uint64_t session, const uplink::Frame& said) {
        uplink::Frame frame;
        frame.mutable_relayed()->set_session(session);
        frame.mutable_relayed()->set_frame(said.SerializeAsString());
        send(link, frame);
    }
    // As a host says it, sealed; it uses its invitation when it has said nothing yet.
    void say(wire::Link& link, std::uint64_t session, const uplink::Frame& said) {
        pump(link);
        PlayedHost& host = played[{&link, session}];
        if (!host.stream && host.invited != 0) open(link, session, host);
        if (host.stream) write(*host.stream, said);
        timers.settle();
        pump(link);
    }
    void open(wire::Link& link, std::uint64_t session, PlayedHost& host) {
        const auto number = host.opened = std::exchange(host.invited, 0);
        host.channel = std::make_unique<wire::Channel>(
            loop, "the master", [to = &link, session, number](std::string piece) {
                uplink::Frame sealed, frame;
                sealed.mutable_sealed()->set_channel(number);
                sealed.mutable_sealed()->set_bytes(std::move(piece));
                frame.mutable_relayed()->set_session(session);
                frame.mutable_relayed()->set_frame(sealed.SerializeAsString());
                return to->send(std::move(frame));
            });
        host.stream = host.channel->stream();
        host.cutter = wire::FrameCutter{4 << 20};
        HOSTLER_ASSERT(hostler::testing::try_run(loop, write_all(*host.stream, host.identity + "\n")));
    }
    void write(Stream& stream, const uplink::Frame& frame) {
        std::string bytes;
        const auto begin = wire::append_header(bytes);
        frame.AppendToString(&bytes);
        wire::complete_header(bytes, begin);
        (void)hostler::testing::try_run(loop, write_all(stream, bytes));
    }
    // Answers, too, whoever asked: a link would keep them for those who wait.
    void read(PlayedHost& host, std::deque<uplink::Frame>& into) {
        std::array<char, 4096> bytes{};
        while (host.stream) {
            const auto size = host.stream->try_read(bytes);
            if (!size || !*size || **size == 0) break;
            HOSTLER_ASSERT(host.cutter.feed({bytes.data(), **size}, [&](std::string_view body) -> Result<> {
                HOSTLER_ASSERT(
                    into.emplace_back().ParseFromArray(body.data(), static_cast<int>(body.size())));
                return {};
            }));
        }
    }
    std::optional<Result<uplink::Frame>> received(wire::Link& link) {
        timers.settle();
        return hostler::testing::try_run(loop, link.receive());
    }
    // Sorts what came: for the access point, and for the hosts there.
    void pump(wire::Link& link) {
        while (auto frame = received(link)) {
            if (!*frame) break;
            uplink::Frame inner;
            const auto session = (*frame)->relayed().session();
            if (!(*frame)->has_relayed() || !inner.ParseFromString((*frame)->relayed().frame())) {
                to_access[&link].push_back(std::move(**frame));
                continue;
            }
            PlayedHost& host = played[{&link, session}];
            if (inner.has_invite()) {
                host.invited = inner.invite().channel();
                host.authority = inner.invite().authority();
                ++host.invitations;
                host.stream = nullptr;
            } else if (inner.sealed().channel() != host.opened) {
            } else if (inner.sealed().end()) {
                host.stream = nullptr;
                ++host.endings;
            } else if (host.stream) {
                (void)host.channel->feed(inner.sealed().bytes());
            }
            timers.settle();
            read(host, to_hosts[&link]);
        }
    }
    static uplink::Frame first(std::deque<uplink::Frame>& of) {
        if (of.empty()) return {};
        uplink::Frame frame = std::move(of.front());
        of.pop_front();
        return frame;
    }
    // The next frame for the access point or gateway itself; an empty one when there is none.
    uplink::Frame next(wire::Link& link) {
        pump(link);
        return first(to_access[&link]);
    }
    // The next frame for a host; an empty one when there is none.
    uplink::Frame told(wire::Link& link) {
        pump(link);
        return first(to_hosts[&link]);
    }
    uplink::Frame ask(wire::Link& link, const uplink::Frame& question) {
        auto answer = hostler::testing::try_run(loop, link.ask(question, std::chrono::seconds{5}));
        if (answer && *answer) return std::move(**answer);
        return answer ? wire::failure_frame(answer->error()) : uplink::Frame{};
    }
    // Places an instance with one port and gives its id; what that means for its host is not durable yet.
    std::string started(const std::string& name, std::uint32_t port = 8080) {
        auto request = DeskRig::request(name);
        request.spec_name = "small";
        auto& now = desk();
        if (!now.estate.specs.find("small")) HOSTLER_ASSERT(make_stock(now, 4));
        HOSTLER_ASSERT(create_instance(now, request, "digest"));
        const std::string id = find_instance(now, "acme", name)->id;
        now.estate.instances.edit(id).spec.ports = {{.port = static_cast<int>(port)}};
        return id;
    }

    std::list<wire::Link> peers;
    std::map<std::pair<wire::Link*, std::uint64_t>, PlayedHost> played;
    std::map<wire::Link*, std::deque<uplink::Frame>> to_access, to_hosts;
    TaskGroup running{loop};
};

}  // namespace hostler::master::testing
