// How a role keeps its certificate young over its link to the master.
#pragma once

#include <string>

#include "core/log.h"
#include "core/task_group.h"
#include "wire/link.h"

namespace hostler::wire {

inline constexpr Duration renewal_check = std::chrono::minutes{10};  // Between two looks whether it is due.

// The new certificate, PEM. `present`: the one that it follows, of the same key. Errors: those of
// Link::ask(); unavailable: it was no answer.
Task<std::string> ask_certificate(Link& link, std::string request, std::string present);

// Once. `own` is what ports/certified.h says. Errors: as ask_certificate() and own.renewed().
template <class Certified>
Task<> renew(Link& link, Certified& own) {
    std::string request = CO_TRY(own.request());
    std::string made =
        CO_TRY(co_await ask_certificate(link, std::move(request), own.credentials()->certificate));
    CO_TRY(co_await own.renewed(std::move(made)));
    log_info("the certificate of {} is renewed", own.identity().text());
    co_return Result<>{};
}

// Whenever it is due, until cancelled. The link goes on as it is.
template <class Certified>
Task<> keep_renewed(Timers& timers, Link& link, Certified& own) {
    while (true) {
        if (own.due(timers.wall())) {
            const auto done = co_await renew(link, own);
            CO_TRY(co_await check_cancelled());
            if (!done)
                log_warn("the certificate of {} is not renewed yet: {}", own.identity().text(),
                         done.error().message);
        }
        CO_TRY(co_await sleep(timers, renewal_check));
    }
}

}  // namespace hostler::wire
