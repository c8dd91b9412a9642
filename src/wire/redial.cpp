#include "wire/redial.h"

#include <fmt/format.h>

#include "core/log.h"
#include "core/task_group.h"

namespace hostler::wire {

Task<> keep_linked(Timers& timers, Random& random, Redial how, DialOnce once,
                   std::function<Dialled()> ended) {
    constexpr int pointed_max = 2;  // Masters that point to one another are not followed for ever.
    if (how.addresses.empty())
        co_return fail(Code::invalid, "no master is set; give `masters` at least one address");
    Duration pause = how.pause_min;
    std::string told;
    std::string master = how.addresses[0];
    std::size_t turn = 0;
    int pointed = 0;
    while (true) {
        const auto outcome = co_await once(master);
        const Dialled dialled = ended();
        CO_TRY(co_await check_cancelled());
        if (!dialled.linked && !dialled.leader.empty() && dialled.leader != master &&
            pointed++ < pointed_max) {
            master = dialled.leader;
            continue;
        }
        pointed = 0;
        if (dialled.linked) {
            pause = how.pause_min;
            told.clear();
        }
        const std::string why = outcome ? "it said goodbye" : outcome.error().message;
        if (std::exchange(told, why) != why) log_warn("{}: no link to master {}: {}", how.who, master, why);
        const std::string before = std::move(master);
        master = how.addresses[++turn % how.addresses.size()];
        if (dialled.linked && master == before) master = how.addresses[++turn % how.addresses.size()];
        // Between half and the whole of the pause: many that dial do not come back as one.
        const double part = 0.5 + 0.5 * static_cast<double>(random_number(random) % 1024) / 1024;
        CO_TRY(co_await sleep(
            timers, Duration{static_cast<Duration::rep>(static_cast<double>(pause.count()) * part)}));
        pause = std::min<Duration>(pause * 2, how.pause_max);
    }
}

}  // namespace hostler::wire
