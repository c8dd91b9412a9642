#include "adapters/series/store.h"

#include <fmt/format.h>

#include <atomic>

#include "adapters/series/mirror.h"
#include "adapters/series/read.h"
#include "core/log.h"

namespace hostler::series {

namespace {

constexpr std::size_t waiting_cells_max = 16 << 20;  // 128 MiB of reports that are not on the disk yet.
constexpr std::size_t round_cells_max = 1 << 20;     // As many share one sync: a log record is bounded.

// What both threads use: each its own half, the count between them.
struct Halves {
    std::unique_ptr<Keeper> keeper;  // The writer's.
    QueryReader reader;              // The reader's.
    std::atomic<std::uint64_t> damaged = 0;
};

class FileStore final : public FollowedStore {
public:
    FileStore(Worker& writer, Worker& reader, std::unique_ptr<Keeper> keeper)
        : state_(std::make_shared<State>(writer, reader)) {
        state_->halves = std::make_shared<Halves>();
        state_->halves->keeper = std::move(keeper);
    }
    // What is under way on a thread ends; nothing more begins, and whoever comes next may open it.
    ~FileStore() override { state_->halves.reset(); }

    Task<DeviceNumber> describe(Device device, Millis from) override {
        const auto state = state_;
        co_return co_await run_on<DeviceNumber>(state->writer,
                                                [halves = state->halves, device = std::move(device), from] {
                                                    return halves->keeper->describe(device, from);
                                                });
    }

    Task<> append(SampleBatch batch) override {
        const auto state = state_;
        if (state->waiting_cells + batch.cells.size() > waiting_cells_max && state->waiting_cells > 0)
            co_return fail(Code::unavailable, "the series store is slow: too much waits to be written");
        co_return co_await suspend<void>([&state, &batch](WakerPtr<void> waker) {
            state->waiting_cells += batch.cells.size();
            state->waiting.push_back(std::move(batch));
            state->wakers.push_back(std::move(waker));
            if (!state->writing) state->write();
        });
    }

    Task<std::vector<Line>> query(Query query) override {
        CO_TRY(check(query));
        const auto state = state_;
        auto view =
            CO_TRY(co_await run_on<View>(state->writer, [halves = state->halves, query]() -> Result<View> {
                return halves->keeper->view(query);
            }));
        co_return co_await run_on<std::vector<Line>>(
            state->reader, [halves = state->halves, query = std::move(query), view = std::move(view)] {
                auto lines = halves->reader.answer(query, view);
                halves->damaged = halves->reader.damaged();
                return lines;
            });
    }

    Task<> keep(SeriesPolicy policy, WallTime now) override {
        const auto state = state_;
        const auto millis =
            std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
        while (CO_TRY(co_await run_on<bool>(state->writer, [halves = state->halves, policy, millis] {
            return halves->keeper->keep_slice(policy, millis);
        }))) {
        }
        co_return Result<>{};
    }

    Task<> flush() override {
        const auto state = state_;
        CO_TRY(co_await seal_all());  // What is being sealed already; then all that came since.
        CO_TRY(co_await run_on<void>(state->writer, [halves = state->halves]() -> Result<> {
            while (TRY(halves->keeper->seal_slice())) {
            }
            return halves->keeper->freeze();
        }));
        CO_TRY(co_await seal_all());
        co_return Result<>{};
    }

    Task<SeriesStats> stats() override {
        const auto state = state_;
        auto stats = CO_TRY(co_await run_on<SeriesStats>(
            state->writer,
            [halves = state->halves]() -> Result<SeriesStats> { return halves->keeper->stats(); }));
        stats.blocks_damaged += state->halves->damaged;
        co_return stats;
    }

    Task<std::string> ask(std::string master) override {
        const auto state = state_;
        co_return co_await run_on<std::string>(
            state->writer,
            [halves = state->halves, master = std::move(master)] { return halves->keeper->ask(master); });
    }

    // Made beside queries: who takes rows does not wait for it.
    Task<std::string> answer(std::string question) override {
        const auto state = state_;
        auto asked = CO_TRY(read_question(question));
        auto offer = CO_TRY(co_await run_on<Offer>(
            state->writer, [halves = state->halves] { return halves->keeper->offer(); }));
        co_return co_await run_on<std::string>(
            state->reader,
            [halves = state->halves, asked = std::move(asked), offer = std::move(offer)]()
                -> Result<std::string> { return encode(TRY(series::answer(asked, offer, halves->reader))); });
    }

    Task<Mirrored> take(std::string master, std::string answer) override {
        struct Taken {
            Result<Mirrored> mirrored;
            bool due = false;
        };
        const auto state = state_;
        auto taken =
            CO_TRY(co_await run_on<Taken>(state->writer,
                                          [halves = state->halves, master = std::move(master),
                                           answer = std::move(answer)]() -> Result<Taken> {
                                              Taken made{.mirrored = halves->keeper->take(master, answer)};
                                              made.due = halves->keeper->due();
                                              return made;
                                          }));
        if (taken.due && !state->sealing && state->halves) state->seal();
        co_return taken.mirrored;
    }

private:
    Task<> seal_all() {
        const auto state = state_;
        while (CO_TRY(co_await run_on<bool>(
            state->writer, [halves = state->halves] { return halves->keeper->seal_slice(); }))) {
        }
        co_return Result<>{};
    }

    // Reports gather while others are on their way, and share the next sync.
    struct State : std::enable_shared_from_this<State> {
        State(Worker& to, Worker& from) : writer(to), reader(from) {}
        Worker& writer;
        Worker& reader;
        std::shared_ptr<Halves> halves;
        std::vector<SampleBatch> waiting;
        std::vector<WakerPtr<void>> wakers;
        std::size_t waiting_cells = 0;
        bool writing = false;
        bool sealing = false;

        void write();
        void seal();
    };
    std::shared_ptr<State> state_;
};

void FileStore::State::write() {
    struct Round {
        std::vector<SampleBatch> batches;
        std::vector<WakerPtr<void>> wakers;
        std::vector<Result<>> answers;
        std::size_t cells = 0;
        bool due = false;
    };
    auto round = std::make_shared<Round>();
    std::size_t taken = 0;
    while (taken < waiting.size() &&
           (taken == 0 || round->cells + waiting[taken].cells.size() <= round_cells_max))
        round->cells += waiting[taken++].cells.size();
    const auto end = static_cast<std::ptrdiff_t>(taken);
    round->batches.assign(std::move_iterator(waiting.begin()), std::move_iterator(waiting.begin() + end));
    round->wakers.assign(std::move_iterator(wakers.begin()), std::move_iterator(wakers.begin() + end));
    waiting.erase(waiting.begin(), waiting.begin() + end);
    wakers.erase(wakers.begin(), wakers.begin() + end);
    writing = true;
    writer.post(
        [to = halves, round]() mutable {
            round->answers = to->keeper->append(round->batches);
            round->due = to->keeper->due();
            round->batches.clear();
            to.reset();  // Whoever opens the store next does not wait for this thread to let go.
        },
        [self = shared_from_this(), round] {
            self->writing = false;
            self->waiting_cells -= round->cells;
            if (!self->waiting.empty() && self->halves) self->write();
            if (round->due && !self->sealing && self->halves) self->seal();
            for (std::size_t i = 0; i < round->wakers.size(); ++i) round->wakers[i]->wake(round->answers[i]);
        });
}

// A slice, then whatever else waits for the thread, then the next one. After an error the next report tries
// again.
void FileStore::State::seal() {
    auto more = std::make_shared<Result<bool>>(false);
    sealing = true;
    writer.post(
        [to = halves, more]() mutable {
            *more = to->keeper->seal_slice();
            to.reset();
        },
        [self = shared_from_this(), more] {
            self->sealing = false;
            if (!*more) log_warn("series: {}", more->error().message);
            if (more->value_or(false) && self->halves) self->seal();
        });
}

}  // namespace

Result<std::unique_ptr<FollowedStore>> open_store(Worker& writer, Worker& reader,
                                                  std::unique_ptr<Folder> folder, Limits limits,
                                                  std::string identity) {
    auto keeper = TRY(Keeper::open(std::move(folder), limits, std::move(identity)));
    return std::make_unique<FileStore>(writer, reader, std::move(keeper));
}

Result<std::unique_ptr<FollowedStore>> open_store(Worker& writer, Worker& reader, std::string path,
                                                  Limits limits, std::string identity) {
    return open_store(writer, reader, TRY(open_folder(path)), limits, std::move(identity));
}

}  // namespace hostler::series
