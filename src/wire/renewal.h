// How a role keeps its certificate young over its link to the master.
#pragma once

#include <string>

#include "core/log.h"
#include "core/signal.h"
#include "core/task_group.h"
#include "wire/link.h"

namespace hostler::wire {

inline constexpr Duration renewal_check = std::chrono::minutes{10};  // Between two looks whether it is due.

struct Renewed {
    std::string certificate;  // PEM.
    std::string authority;    // Whom to believe from here on; empty: as before.
};

// `present`: the certificate that it follows, of the same key. Errors: those of Link::ask(); unavailable: it
// was no answer.
Task<Renewed> ask_certificate(Link& link, std::string request, std::string present);

// Tells the master, which wants it renewed, what is in use now.
Task<> tell_holding(Link& link, std::string certificate, std::string authority);

// That the master wants it renewed before it is due: who signs changes.
struct RenewalWish {
    bool open = false;
    Signal made;
    void make() {
        open = true;
        made.notify_all();
    }
};

// Once. `own` is what ports/certified.h says. Errors: as ask_certificate() and own.renewed().
template <class Certified>
Task<> renew(Link& link, Certified& own) {
    std::string request = CO_TRY(own.request());
    Renewed made = CO_TRY(co_await ask_certificate(link, std::move(request), own.credentials()->certificate));
    CO_TRY(co_await own.renewed(std::move(made.certificate), std::move(made.authority)));
    log_info("the certificate of {} is renewed", own.identity().text());
    co_return Result<>{};
}

// Whenever it is due or wished, until cancelled. The link goes on as it is.
template <class Certified>
Task<> keep_renewed(Timers& timers, Link& link, Certified& own, RenewalWish& wish) {
    while (true) {
        const bool wished = std::exchange(wish.open, false);
        if (wished || own.due(timers.wall())) {
            auto done = co_await renew(link, own);
            if (done && wished)
                done =
                    co_await tell_holding(link, own.credentials()->certificate, own.credentials()->authority);
            CO_TRY(co_await check_cancelled());
            if (!done)
                log_warn("the certificate of {} is not renewed yet: {}", own.identity().text(),
                         done.error().message);
        }
        const Deadline look{timers, renewal_check, [&wish] { wish.made.notify_all(); }};
        if (!wish.open) CO_TRY(co_await wish.made.wait());
    }
}

}  // namespace hostler::wire
