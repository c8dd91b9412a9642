// Indexes of commands.
#pragma once

#include <cstdint>

#include "domain/command/command.h"
#include "roles/master/state/index.h"

namespace hostler::master {

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

}  // namespace hostler::master
