#include "sql/store.h"

#include <deque>

#include "core/version.h"
#include "sql/changes_text.h"
#include "sql/dump.h"
#include "sql/migrations.h"

namespace hostler::sql {

namespace {

// A commit in the queue, and whoever waits for it.
struct Waiting {
    Changes changes;
    std::optional<Result<>> answer{};
    WakerPtr<void> waker{};

    void finish(Result<> with) {
        answer = std::move(with);
        if (waker) std::exchange(waker, nullptr)->wake({});
    }
};
using WaitingPtr = std::shared_ptr<Waiting>;

// Group commit: what has gathered while one batch was written is the next.
struct Committer : std::enable_shared_from_this<Committer> {
    Worker& worker;
    std::shared_ptr<BlockingStore> blocking;  // Touched only by jobs of the worker.
    BatchLimits limits;
    std::deque<WaitingPtr> queue{};
    std::vector<WaitingPtr> writing{};

    Committer(Worker& on, std::shared_ptr<BlockingStore> what, BatchLimits within)
        : worker(on), blocking(std::move(what)), limits(within) {}

    void add(WaitingPtr waiting) {
        queue.push_back(std::move(waiting));
        pump();
    }

    void pump() {
        if (!writing.empty() || queue.empty()) return;
        struct Batch {
            std::vector<Changes> changes;
            std::vector<Result<>> answers;
        };
        auto batch = std::make_shared<Batch>();
        std::size_t bytes = 0;
        while (!queue.empty() && batch->changes.size() < limits.changes_max) {
            const std::size_t size = size_of(queue.front()->changes);
            if (!batch->changes.empty() && bytes + size > limits.bytes_max) break;
            bytes += size;
            batch->changes.push_back(std::move(queue.front()->changes));
            writing.push_back(std::move(queue.front()));
            queue.pop_front();
        }
        // The job owns nothing of the loop's: it may be dropped on the worker's thread.
        worker.post([blocking = blocking, batch] { batch->answers = blocking->commit(batch->changes); },
                    [weak = weak_from_this(), batch] {
                        if (const auto self = weak.lock()) self->deliver(batch->answers);
                    });
    }

    void deliver(const std::vector<Result<>>& answers) {
        const auto written = std::exchange(writing, {});
        for (std::size_t i = 0; i < written.size(); ++i) written[i]->finish(answers[i]);
        const auto& last = answers.back();
        if (!last && (last.error().code == Code::exhausted || last.error().code == Code::unavailable))
            for (const auto& waiting : std::exchange(queue, {})) waiting->finish(last);
        pump();
    }

    ~Committer() {
        const auto gone = fail(Code::cancelled, "the store was closed");
        for (const auto& waiting : writing) waiting->finish(gone);
        for (const auto& waiting : queue) waiting->finish(gone);
    }
};

// Everything of it happens on the store's worker, its end too.
class WorkerBackup final : public Backup {
public:
    struct Work {
        std::shared_ptr<BlockingStore> blocking;
        std::shared_ptr<Reading> reading{};
        std::optional<BackupWriter> writer{};
    };
    WorkerBackup(Worker& worker, std::shared_ptr<BlockingStore> blocking)
        : worker_(worker), work_(std::make_shared<Work>(std::move(blocking))) {}
    ~WorkerBackup() override {
        worker_.post([work = std::move(work_)]() mutable { work.reset(); }, [] {});
    }
    Task<> begin(WallTime taken, const Digest& digest) {
        CO_TRY(co_await run_on<void>(worker_, [work = work_]() -> Result<> {
            work->reading = TRY(work->blocking->begin_reading());
            return {};
        }));
        while (CO_TRY(co_await run_on<bool>(worker_, [work = work_] { return work->reading->prepare(); }))) {
        }
        work_->writer.emplace(work_->reading->connection(), digest, taken.time_since_epoch().count(),
                              std::string{version});
        co_return Result<>{};
    }
    Task<std::string> next() override {
        co_return co_await run_on<std::string>(worker_, [work = work_] { return work->writer->next(); });
    }

private:
    Worker& worker_;
    std::shared_ptr<Work> work_;  // The loop has no other: the last is the worker's.
};

class WorkerStore final : public Store {
public:
    WorkerStore(StoreFacts facts, Worker& worker, std::shared_ptr<BlockingStore> blocking, BatchLimits limits,
                LeaseKeeping keeping)
        : facts_(std::move(facts)),
          worker_(worker),
          blocking_(blocking),
          keeping_(std::move(keeping)),
          committer_(std::make_shared<Committer>(worker, std::move(blocking), limits)) {}

    Task<Lease> lead(Contender who, Duration length, std::uint64_t above) override {
        const Lease taken = CO_TRY(co_await run_on<Lease>(
            worker_, [blocking = blocking_, kept = keeping_.lease, who, length, above] {
                auto lease = blocking->lead(who, length, above);
                if (lease && kept) kept->held(lease->epoch, length);
                return lease;
            }));
        held_ = {.who = std::move(who), .epoch = taken.epoch, .left = length};
        co_return taken;
    }

    Task<> renew() override {
        if (held_.epoch == 0) return never_led();
        return keep<void>([epoch = held_.epoch,
                           length = held_.left](BlockingLease& lease) { return lease.renew(epoch, length); },
                          Result<>{});
    }

    std::optional<Instant> renewed() const override {
        return keeping_.lease ? keeping_.lease->renewed() : std::nullopt;
    }

    void stop_keeping() override {
        if (keeping_.lease) keeping_.lease->stop_keeping();
    }

    Task<> resign() override {
        if (held_.epoch == 0) return never_led();
        return keep<void>([epoch = held_.epoch](BlockingLease& lease) { return lease.resign(epoch); },
                          Result<>{});
    }

    Task<std::optional<Leader>> leader() override {
        return keep<std::optional<Leader>>([](BlockingLease& lease) { return lease.leader(); },
                                           held_.epoch == 0 ? std::optional<Leader>{} : std::optional{held_});
    }

    // Not a coroutine: the place in the order is taken now.
    Task<> commit(Changes changes) override {
        auto waiting = std::make_shared<Waiting>(std::move(changes));
        committer_->add(waiting);
        return answer_of(std::move(waiting));
    }

    Task<Snapshot> load() override {
        return run_on<Snapshot>(worker_, [blocking = blocking_] { return blocking->load(); });
    }

    Task<Snapshot> load_since(StorePoint point) override {
        return run_on<Snapshot>(worker_,
                                [blocking = blocking_, point] { return blocking->load_since(point); });
    }

    Task<Page> list(ListQuery query) override {
        return run_on<Page>(
            worker_, [blocking = blocking_, query = std::move(query)] { return blocking->list(query); });
    }

    Task<Object> find(std::string kind, std::string id) override {
        return run_on<Object>(worker_, [blocking = blocking_, kind = std::move(kind), id = std::move(id)] {
            return blocking->find(kind, id);
        });
    }

    Task<std::vector<EventRecord>> events(EventQuery query) override {
        return run_on<std::vector<EventRecord>>(
            worker_, [blocking = blocking_, query = std::move(query)] { return blocking->events(query); });
    }

    Task<AuditPage> audit(AuditQuery query) override {
        return run_on<AuditPage>(
            worker_, [blocking = blocking_, query = std::move(query)] { return blocking->audit(query); });
    }

    Task<AuditAnchors> audit_anchors(std::uint64_t after, std::size_t limit) override {
        return run_on<AuditAnchors>(
            worker_, [blocking = blocking_, after, limit] { return blocking->audit_anchors(after, limit); });
    }

    Task<std::uint64_t> prune_audit(WallTime before) override {
        Rows::Pruned part{.more = true};
        std::uint64_t lines = 0;
        while (part.more) {
            part = CO_TRY(co_await run_on<Rows::Pruned>(
                worker_, [blocking = blocking_, before] { return blocking->prune_audit(before); }));
            lines += part.lines;
        }
        co_return lines;
    }

    Task<> prune(WallTime before) override {
        while (CO_TRY(co_await run_on<bool>(
            worker_, [blocking = blocking_, before] { return blocking->prune(before); }))) {
        }
        co_return Result<>{};
    }

    Task<std::unique_ptr<Backup>> backup(WallTime taken, const Digest& digest) override {
        auto backup = std::make_unique<WorkerBackup>(worker_, blocking_);
        CO_TRY(co_await backup->begin(taken, digest));
        co_return backup;
    }

    StoreFacts facts() const override { return facts_; }

private:
    static Task<> never_led() { co_return fail(Code::conflict, "this one has never led", "not_leader"); }

    // `alone`: the answer where the lease needs no keeping.
    template <class T>
    Task<T> keep(std::function<Result<T>(BlockingLease&)> ask, Result<T> alone) {
        if (!keeping_.lease) co_return alone;
        co_return co_await run_on<T>(*keeping_.worker,
                                     [lease = keeping_.lease, ask = std::move(ask)] { return ask(*lease); });
    }

    static Task<> answer_of(WaitingPtr waiting) {
        if (!waiting->answer)
            CO_TRY(co_await suspend<void>(
                [waiting](WakerPtr<void> waker) { waiting->waker = std::move(waker); }));
        co_return *waiting->answer;
    }

    StoreFacts facts_;
    Worker& worker_;
    std::shared_ptr<BlockingStore> blocking_;
    LeaseKeeping keeping_;
    Leader held_{};  // As lead() was last answered, and for how long; epoch 0: never.
    std::shared_ptr<Committer> committer_;
};

}  // namespace

std::unique_ptr<Store> make_store(std::string kind, Worker& worker, std::shared_ptr<BlockingStore> blocking,
                                  BatchLimits limits, LeaseKeeping keeping) {
    StoreFacts facts{.kind = std::move(kind), .schema = migrations().back().number};
    return std::make_unique<WorkerStore>(std::move(facts), worker, std::move(blocking), limits,
                                         std::move(keeping));
}

}  // namespace hostler::sql
