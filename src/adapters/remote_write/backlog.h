// The outbox as the loop sees it: its disk is waited for on a thread.
#pragma once

#include "adapters/remote_write/outbox.h"
#include "core/signal.h"
#include "core/worker.h"

namespace hostler::remote_write {

class Backlog {
public:
    Backlog(Worker& worker, std::unique_ptr<Outbox> outbox)
        : worker_(worker), outbox_(std::move(outbox)), limits_(outbox_->limits()), count_(outbox_->count()) {}

    // Makes messages and keeps them: durable when it returns. After an error all are counted as lost. Errors:
    // as Outbox's.
    using Make = std::move_only_function<std::vector<Message>()>;
    Task<> put(Make make);
    // Waits until there is one. Errors: as Outbox's; cancelled.
    Task<Message> first();
    Task<> done();

    const OutboxCount& count() const { return count_; }
    const OutboxLimits& limits() const { return limits_; }
    std::uint64_t lost() const { return lost_; }  // Samples that could not be kept.
    // Time of what first() gave and is not done; nullopt: nothing waits.
    std::optional<series::Millis> oldest() const { return oldest_; }

private:
    // A copy of the outbox goes with each job, which may outlive whoever asked.
    template <class T>
    Task<T> on_disk(std::move_only_function<Result<T>(Outbox&)> job);

    Worker& worker_;
    std::shared_ptr<Outbox> outbox_;
    const OutboxLimits limits_;
    OutboxCount count_;
    std::uint64_t lost_ = 0;
    bool in_trouble_ = false;
    std::uint64_t puts_ = 0;
    std::optional<series::Millis> oldest_;
    Signal filled_;
};

}  // namespace hostler::remote_write
