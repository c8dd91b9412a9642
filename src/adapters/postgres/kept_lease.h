// A lease that is renewed also while the loop that decides stands still.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "sql/store.h"

namespace hostler::postgres {

// The loop renews the lease at each third of its length. When it is late, a thread of its own does: from half
// of the length on, until resign() or stop_keeping(), until another has led, or until the loop has not called for
// `stall_max`: one that never comes back loses the lease.
class KeptLease final : public sql::BlockingLease {
public:
    KeptLease(std::shared_ptr<sql::BlockingLease> rows, Duration stall_max);
    Result<> renew(std::uint64_t epoch, Duration length) override;
    Result<> resign(std::uint64_t epoch) override;
    Result<std::optional<Leader>> leader() override;
    void held(std::uint64_t epoch, Duration length) override;
    void stop_keeping() override;
    std::optional<Instant> renewed() const override;

private:
    struct Holding {
        std::uint64_t epoch = 0;  // 0: nothing is held.
        Duration length{};
        Instant next{};   // When the thread renews it, if nobody did by then.
        Instant alive{};  // The loop's last call.
    };
    void run(const std::stop_token& stop);
    void renew_beside(const Holding& holding);
    void set(std::uint64_t epoch, Duration length, Instant at);

    const std::shared_ptr<sql::BlockingLease> rows_;
    const Duration stall_max_;
    std::mutex asking_;           // Guards rows_: one question at a time, and it may take long.
    mutable std::mutex knowing_;  // Guards what follows, for moments.
    std::condition_variable_any changed_;
    Holding holding_;
    std::optional<Instant> renewed_;
    std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace hostler::postgres
