// For tests: a term with access points and gateways that are played here, over streams in memory.
#pragma once

#include <list>

#include "core/testing/memory_stream.h"
#include "proto/uplink.pb.h"
#include "roles/master/links.h"
#include "roles/master/testing/term_rig.h"
#include "wire/link.h"

namespace hostler::master::testing {

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
        peers.clear();
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
        uplink::Frame frame;
        frame.mutable_session_up()->set_session(session);
        frame.mutable_session_up()->set_host(host);
        send(link, frame);
    }
    // As a host says it, through its access point.
    void say(wire::Link& link, std::uint64_t session, const uplink::Frame& said) {
        uplink::Frame frame;
        frame.mutable_relayed()->set_session(session);
        frame.mutable_relayed()->set_frame(said.SerializeAsString());
        send(link, frame);
    }
    std::optional<Result<uplink::Frame>> received(wire::Link& link) {
        timers.settle();
        return hostler::testing::try_run(loop, link.receive());
    }
    // The next frame; an empty one when there is none.
    uplink::Frame next(wire::Link& link) {
        auto frame = received(link);
        return frame && *frame ? std::move(**frame) : uplink::Frame{};
    }
    // The next frame for a host; an empty one when there is none.
    uplink::Frame told(wire::Link& link) {
        uplink::Frame inner;
        (void)inner.ParseFromString(next(link).relayed().frame());
        return inner;
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
        if (!now.estate.specs.find("small"))
            HOSTLER_ASSERT(create_stock(now, {.number = 4,
                                              .spec_name = "small",
                                              .cpu = "1",
                                              .memory = "1Gi",
                                              .gpu_type = "H100",
                                              .gpu_num = 1}));
        HOSTLER_ASSERT(create_instance(now, request, "digest"));
        const std::string id = find_instance(now, "acme", name)->id;
        now.estate.instances.edit(id).spec.ports = {{.port = static_cast<int>(port)}};
        return id;
    }

    std::list<wire::Link> peers;
    TaskGroup running{loop};
};

}  // namespace hostler::master::testing
