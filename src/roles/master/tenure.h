// How long a leader may act on its lease, by its own clock: always a little less than the store grants.
#pragma once

#include <memory>

#include "core/timers.h"
#include "ports/store.h"

namespace hostler::master {

// Instants are of Timers::now_with_sleep(): the store's clock goes on while this machine sleeps.
class Tenure {
public:
    Tenure() = default;  // Without end.
    // `asked`: when the store was asked for the lease, which it counts from some later moment.
    Tenure(Duration lease, Instant asked) : lease_(lease) { renewed(asked); }

    void renewed(Instant asked) { ends_ = asked + lease_ - lease_ / 10; }  // Clocks do not run alike.
    bool lasts(Instant now) const { return now < ends_; }
    void end() { ends_ = Instant::min(); }  // Somebody else leads.
    bool without_end() const { return ends_ == Instant::max(); }
    Duration left(Instant now) const { return ends_ - now; }
    Duration lease() const { return lease_; }

private:
    Duration lease_{};
    Instant ends_ = Instant::max();
};

// Has the lease renewed at each third of it. That is asked for on the loop that decides: one that stands
// still lets its lease run out. Returns when it is lost: another leads, or it was not renewed in time.
// Errors: cancelled; why it is lost.
Task<> hold_lease(Timers& timers, Election& election, std::shared_ptr<Tenure> tenure);

// The tenure is over.
Error lease_lost();

}  // namespace hostler::master
