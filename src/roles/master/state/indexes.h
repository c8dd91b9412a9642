// By what the master finds rows of its tables besides their ids.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "roles/master/state/index.h"
#include "roles/master/state/kinds.h"

namespace hostler::master {

// A tenant, and a name, a host or an owner of it.
using OfTenant = std::pair<std::string, std::string>;

// What the sweep is to do about an instance, as far as its row says so.
enum class InstanceWork {
    reconcile,  // It is on its way somewhere, or its host still has to let it go.
    go_on,      // It rests since its host was drained, and goes on elsewhere as soon as it may.
    move,       // Its host is lost, and it may move.
    archive,    // It is over and holds nothing.
};
enum class SubnetWork { remove, see_if_still_foreign };
enum class VolumeWork { act };      // Its host is to make it, let it grow or delete it.
enum class HostWork { measure };    // It is to be measured.
enum class OperationWork { wait };  // It is under way.

template <>
struct Indexes<Instance> {
    Index<Instance> host, left_host, layer_host;  // Where it is or was last; what it left; what it wrote.
    Index<Instance> subnet;                       // Also those that it left.
    Index<Instance, OfTenant> resting;            // On its host.
    Index<Instance, OfTenant> name;               // Unless another has it by now.
    Index<Instance> shown_name;                   // Of any tenant; its id where another has its name.
    Index<Instance> tenant, spec, volume;
    Index<Instance, OfTenant> owner;  // Its kind, and its path; of its tenant, and of all ("").
    Index<Instance, std::uint32_t> port, ended_port;  // Of the gateway, those of its own.
    Index<Instance, std::int64_t> stops_at;  // The latest moment at which a rule without a host stops it;
    Index<Instance, bool> may_be_unused;     // or one with: it has an inactivity timeout.
    Index<Instance, InstanceWork> work;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.host), visit(self.left_host), visit(self.layer_host), visit(self.subnet);
        visit(self.resting), visit(self.name), visit(self.shown_name), visit(self.tenant);
        visit(self.spec), visit(self.volume), visit(self.owner), visit(self.port);
        visit(self.ended_port), visit(self.stops_at), visit(self.may_be_unused), visit(self.work);
    }
};

template <>
struct Indexes<Claim> {
    Index<Claim> host, holder;
    Index<Claim, ClaimUse> use;   // But for those of instances and of stock, which are most.
    Index<Claim> foreign_subnet;  // In which what nobody placed there stands.
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.host), visit(self.holder), visit(self.use), visit(self.foreign_subnet);
    }
};

template <>
struct Indexes<HostCommand> {
    Index<HostCommand> subject, host;
    Index<HostCommand, Verb> verb;
    Index<HostCommand, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.subject), visit(self.host), visit(self.verb), visit(self.expires_at);
    }
};

template <>
struct Indexes<Subnet> {
    Index<Subnet, OfTenant> place;  // The tenant and the host.
    Index<Subnet> host, network;
    Index<Subnet, std::uint32_t> number;
    Index<Subnet, SubnetWork> work;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.place), visit(self.host), visit(self.network), visit(self.number), visit(self.work);
    }
};

template <>
struct Indexes<Network> {
    Index<Network> tenant, name;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.name); }
};

template <>
struct Indexes<Volume> {
    Index<Volume> host, tenant, name;
    Index<Volume, OfTenant> tenant_name;
    Index<Volume, VolumeWork> work;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.host), visit(self.tenant), visit(self.name), visit(self.tenant_name), visit(self.work);
    }
};

template <>
struct Indexes<Slot> {
    Index<Slot> spec;
    Index<Slot> idle_spec;  // Of those that are idle.
    Index<Slot, SlotPhase> phase;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.spec), visit(self.idle_spec), visit(self.phase); }
};

// Bytes that volumes could have on this host if its disk were empty; 0: not known, or it keeps no volumes.
std::int64_t whole_disk(const Host& host);

// But for those that were removed.
template <>
struct Indexes<Host> {
    Index<Host> name, gpu, zone;
    // Of all: by zone and in all of them (""), what whole_disk() says.
    Index<Host, std::pair<std::string, std::int64_t>> disk;
    Index<Host, std::int64_t> prove_at;  // If something of it can be proved.
    Index<Host, HostWork> work;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.name), visit(self.gpu), visit(self.zone), visit(self.disk), visit(self.prove_at),
            visit(self.work);
    }
};

template <>
struct Indexes<HostToken> {
    Index<HostToken> hash;
    Index<HostToken, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.hash), visit(self.expires_at); }
};

template <>
struct Indexes<ApiKey> {
    Index<ApiKey> hash;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.hash); }
};

template <>
struct Indexes<SignIn> {
    Index<SignIn, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.expires_at); }
};

template <>
struct Indexes<Share> {
    Index<Share> instance, hash;
    Index<Share, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.instance), visit(self.hash), visit(self.expires_at);
    }
};

template <>
struct Indexes<Secret> {
    Index<Secret> tenant, name;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.tenant), visit(self.name); }
};

template <>
struct Indexes<Answer> {
    Index<Answer, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.expires_at); }
};

template <>
struct Indexes<LongOperation> {
    Index<LongOperation> running_on;  // Its subject.
    Index<LongOperation, OperationWork> work;
    Index<LongOperation, std::int64_t> ended_at;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.running_on), visit(self.work), visit(self.ended_at);
    }
};

}  // namespace hostler::master
