// The routes as they were last told, on disk: a gateway that starts while no master is there serves them.
#pragma once

#include <array>
#include <set>

#include "core/signal.h"
#include "core/timers.h"
#include "ports/journal.h"
#include "roles/gateway/route.h"

namespace hostler::gateway {

class RememberedRoutes {
public:
    RememberedRoutes(Journal& journal, Timers& timers, RouteTable& routes);

    // Fills the table with what was kept, if it was kept whole; gives the URL of the sign-in page.
    std::string recall();
    // All of them are others now, or these. They are written down a little later.
    void replaced(std::string sign_in);
    void changed(const std::string& name) { note(bucket_of(name)); }

    Task<> run();  // Writes, until cancelled.
    std::size_t unwritten() const { return dirty_.size(); }

private:
    // Written a part at a time: one change does not write all.
    static constexpr std::size_t buckets = 64;
    static constexpr Duration pause = std::chrono::seconds{1};  // For more changes to come.
    static std::size_t bucket_of(std::string_view name);
    void note(std::size_t bucket);

    Journal& journal_;
    Timers& timers_;
    RouteTable& routes_;
    std::string sign_in_;
    bool complete_ = false;
    std::set<std::size_t> dirty_;
    Signal changed_;
};

}  // namespace hostler::gateway
