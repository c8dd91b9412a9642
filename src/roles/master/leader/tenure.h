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
    // `election` may have it renewed beside the loop; null: it does not.
    Tenure(Duration lease, Instant asked, const Election* election = nullptr)
        : lease_(lease), election_(election) {
        renewed(asked);
    }

    void renewed(Instant asked) { ends_ = asked + lease_ - lease_ / 10; }  // Clocks do not run alike.
    bool lasts(Instant now) const { return now < ends_ || now < ends(); }
    void end() {  // Somebody else leads.
        ends_ = Instant::min();
        election_ = nullptr;
    }
    bool without_end() const { return ends_ == Instant::max(); }
    Duration left(Instant now) const { return ends() - now; }
    Duration lease() const { return lease_; }

private:
    Instant ends() const {
        const auto beside = election_ ? election_->renewed() : std::nullopt;
        return beside ? std::max(ends_, *beside + lease_ - lease_ / 10) : ends_;
    }

    Duration lease_{};
    const Election* election_ = nullptr;
    Instant ends_ = Instant::max();
};

// Has the lease renewed at each third of it. That is asked for on the loop that decides: one that stands
// still lets its lease run out. Returns when it is lost: another leads, or it was not renewed in time.
// Errors: cancelled; why it is lost.
Task<> hold_lease(Timers& timers, Election& election, std::shared_ptr<Tenure> tenure);

// The tenure is over.
Error lease_lost();

}  // namespace hostler::master
