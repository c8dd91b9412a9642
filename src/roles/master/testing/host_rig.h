// Hosts as tests of the master's links play them: what they say inside their sessions.
#pragma once

#include <string>

#include "roles/master/testing/link_rig.h"

namespace hostler::master::testing {

struct HostRig : LinkRig {
    // A host that has said hello with the epoch it obeys, and nothing that runs.
    void hello(wire::Link& link, std::uint64_t session, std::uint64_t epoch = 1) {
        uplink::Frame frame;
        frame.set_call(70 + session);
        frame.mutable_agent_hello()->set_version("test");
        frame.mutable_agent_hello()->set_epoch(epoch);
        say(link, session, frame);
    }
    void finish_command(wire::Link& link, std::uint64_t session, const std::string& id) {
        uplink::Frame frame;
        frame.mutable_command_update()->set_id(id);
        frame.mutable_command_update()->set_state("done");
        say(link, session, frame);
    }
    // The hello of a life that counts its reports.
    void greet(wire::Link& link, std::uint64_t session, std::uint64_t turn, std::uint64_t settled = 0) {
        uplink::Frame frame;
        frame.set_call(70);
        auto& hello = *frame.mutable_agent_hello();
        hello.set_epoch(1);
        hello.set_life("life-1");
        hello.set_turn(turn);
        hello.set_settled(settled);
        say(link, session, frame);
    }
    uplink::Frame report(wire::Link& link, std::uint64_t session, std::uint64_t sequence,
                         std::uint64_t missing = 0) {
        uplink::Frame frame;
        frame.mutable_report()->set_sequence(sequence);
        frame.mutable_report()->set_missing(missing);
        say(link, session, frame);
        return told(link);
    }
    const HostLive& live() { return term().look().live.hosts.at("h-a"); }
};

}  // namespace hostler::master::testing
