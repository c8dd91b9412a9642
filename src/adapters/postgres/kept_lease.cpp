#include "adapters/postgres/kept_lease.h"

#include <time.h>

#include "core/log.h"

namespace hostler::postgres {

namespace {

// As Timers::now_with_sleep().
Instant now_with_sleep() {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return Instant{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
}

}  // namespace

KeptLease::KeptLease(std::shared_ptr<sql::BlockingLease> rows, Duration stall_max)
    : rows_(std::move(rows)),
      stall_max_(stall_max),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void KeptLease::set(std::uint64_t epoch, Duration length, Instant at) {
    {
        const std::lock_guard lock{knowing_};
        holding_ = {.epoch = epoch, .length = length, .next = at + length / 2, .alive = at};
        renewed_.reset();
    }
    changed_.notify_all();
}

void KeptLease::held(std::uint64_t epoch, Duration length) { set(epoch, length, now_with_sleep()); }

void KeptLease::stop_keeping() { set(0, {}, {}); }

std::optional<Instant> KeptLease::renewed() const {
    const std::lock_guard lock{knowing_};
    return renewed_;
}

Result<> KeptLease::renew(std::uint64_t epoch, Duration length) {
    const Instant asked = now_with_sleep();
    {
        const std::lock_guard lock{knowing_};
        if (holding_.epoch == epoch) holding_.alive = asked;
    }
    const std::lock_guard lock{asking_};
    const auto answer = rows_->renew(epoch, length);
    if (answer) set(epoch, length, asked);
    return answer;
}

Result<> KeptLease::resign(std::uint64_t epoch) {
    stop_keeping();
    const std::lock_guard lock{asking_};
    return rows_->resign(epoch);
}

Result<std::optional<Leader>> KeptLease::leader() {
    const std::lock_guard lock{asking_};
    return rows_->leader();
}

void KeptLease::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        Holding due;
        {
            std::unique_lock lock{knowing_};
            if (holding_.epoch == 0) {
                changed_.wait(lock, stop, [this] { return holding_.epoch != 0; });
                continue;
            }
            const Instant now = now_with_sleep();
            if (now < holding_.next) {
                changed_.wait_for(lock, stop, holding_.next - now, [this, next = holding_.next] {
                    return holding_.epoch == 0 || holding_.next != next;
                });
                continue;
            }
            if (now - holding_.alive > stall_max_) {
                log_error(
                    "master: nothing was decided for {} ms: its lease is left to run out",
                    std::chrono::duration_cast<std::chrono::milliseconds>(now - holding_.alive).count());
                holding_.epoch = 0;
                continue;
            }
            holding_.next = now + holding_.length / 3;
            due = holding_;
        }
        renew_beside(due);
    }
}

void KeptLease::renew_beside(const Holding& due) {
    const std::lock_guard asking{asking_};
    const Instant asked = now_with_sleep();
    {
        // The loop has renewed or resigned it meanwhile.
        const std::lock_guard lock{knowing_};
        if (holding_.epoch != due.epoch || holding_.next != due.next) return;
    }
    const auto answer = rows_->renew(due.epoch, due.length);
    const std::lock_guard lock{knowing_};
    if (holding_.epoch != due.epoch) return;
    if (answer) renewed_ = asked;
    // The loop asks too, and is told why.
    if (!answer && answer.error().code == Code::conflict) holding_.epoch = 0;
}

}  // namespace hostler::postgres
