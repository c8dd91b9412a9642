#include "adapters/remote_write/backlog.h"

#include "core/log.h"

namespace hostler::remote_write {

template <class T>
Task<T> Backlog::on_disk(std::move_only_function<Result<T>(Outbox&)> job) {
    struct Seen {
        Result<T> answer;
        OutboxCount count;
    };
    auto seen = CO_TRY(
        co_await run_on<Seen>(worker_, [outbox = outbox_, job = std::move(job)]() mutable -> Result<Seen> {
            auto answer = job(*outbox);
            return Seen{std::move(answer), outbox->count()};
        }));
    count_ = seen.count;
    co_return std::move(seen.answer);
}

Task<> Backlog::put(Make make) {
    const auto samples = std::make_shared<std::uint64_t>();
    auto kept = co_await on_disk<void>([make = std::move(make), samples](Outbox& outbox) mutable {
        const std::vector<Message> messages = make();
        for (const Message& message : messages) *samples += message.samples;
        return outbox.append(messages);
    });
    if (!kept && kept.error().code == Code::cancelled) co_return kept;
    if (!kept) {
        lost_ += *samples;
        if (!std::exchange(in_trouble_, true))
            log_error("remote-write: samples are not kept to be sent: {}", kept.error().message);
        co_return kept;
    }
    in_trouble_ = false;
    ++puts_;
    filled_.notify_all();
    co_return kept;
}

Task<Message> Backlog::first() {
    while (true) {
        const std::uint64_t before = puts_;
        auto first =
            CO_TRY(co_await on_disk<std::optional<Message>>([](Outbox& outbox) { return outbox.first(); }));
        if (first) {
            oldest_ = first->newest;
            co_return std::move(*first);
        }
        if (puts_ == before) CO_TRY(co_await filled_.wait());
    }
}

Task<> Backlog::done() {
    CO_TRY(co_await on_disk<void>([](Outbox& outbox) { return outbox.done(); }));
    oldest_.reset();
    co_return Result<>{};
}

}  // namespace hostler::remote_write
