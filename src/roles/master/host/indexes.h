// Indexes of hosts and their tokens.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "domain/inventory/host_record.h"
#include "roles/master/state/index.h"

namespace hostler::master {

enum class HostWork { measure };    // It is to be measured.
enum class HostMade { simulated };  // Some of its GPUs are simulated.

// Bytes that volumes could have on this host if its disk were empty; 0: not known, or it keeps no volumes.
std::int64_t whole_disk(const Host& host);

// But for those that were removed.
template <>
struct Indexes<Host> {
    Index<Host> name, gpu, zone, owner;  // The owner "" is the cloud.
    // Of all: by zone and in all of them (""), what whole_disk() says.
    Index<Host, std::pair<std::string, std::int64_t>> disk;
    Index<Host, std::int64_t> prove_at;  // If something of it can be proved.
    Index<Host, HostWork> work;
    Index<Host, HostMade> made;
    Indexes();
    static void each(auto& self, auto visit) {
        visit(self.name), visit(self.gpu), visit(self.zone), visit(self.owner), visit(self.disk),
            visit(self.prove_at), visit(self.work), visit(self.made);
    }
};

template <>
struct Indexes<HostToken> {
    Index<HostToken> hash;
    Index<HostToken, std::int64_t> expires_at;
    Indexes();
    static void each(auto& self, auto visit) { visit(self.hash), visit(self.expires_at); }
};

}  // namespace hostler::master
