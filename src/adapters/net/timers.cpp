// All wake-ups of a loop behind one Asio timer. Requests set and cancel them all the time and few ever fire,
// so the heap keeps its places without allocating and the Asio timer is touched only when an earlier wake-up
// comes.
#include <boost/asio/steady_timer.hpp>

#include "adapters/net/net.h"

namespace hostler::net {

namespace {

using AsioTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>,
                               Loop::executor_type>;

// A binary heap by time whose entries can be taken out from the middle.
class WakeUps {
public:
    TimerId add(Instant at, std::move_only_function<void()> wake) {
        std::uint32_t slot = 0;
        if (free_.empty()) {
            slot = static_cast<std::uint32_t>(slots_.size());
            slots_.emplace_back();
        } else {
            slot = free_.back();
            free_.pop_back();
        }
        slots_[slot].wake = std::move(wake);
        heap_.push_back({at, ++order_, slot});
        rise(heap_.size() - 1);
        return static_cast<TimerId>(slots_[slot].use) << 32 | (slot + 1);
    }

    void remove(TimerId id) {
        const auto slot = static_cast<std::uint32_t>(id) - 1;
        if (id == 0 || slot >= slots_.size() || slots_[slot].use != id >> 32) return;
        take(slots_[slot].place);
    }

    bool empty() const { return heap_.empty(); }
    Instant first() const { return heap_.front().at; }
    bool first_is_newer_than(std::uint64_t order) const { return heap_.front().order > order; }
    std::uint64_t order() const { return order_; }
    std::move_only_function<void()> take_first() { return take(0); }

private:
    struct Entry {
        Instant at;
        std::uint64_t order;  // First come, first served among equals.
        std::uint32_t slot;
        bool operator<(const Entry& other) const {
            return at != other.at ? at < other.at : order < other.order;
        }
    };
    struct Slot {
        std::move_only_function<void()> wake;
        std::size_t place = 0;
        std::uint32_t use = 0;  // Counts up when the slot is freed, so that an old id does not fit.
    };

    std::move_only_function<void()> take(std::size_t place) {
        Slot& slot = slots_[heap_[place].slot];
        ++slot.use;
        free_.push_back(heap_[place].slot);
        auto wake = std::exchange(slot.wake, nullptr);
        const Entry last = heap_.back();
        heap_.pop_back();
        if (place < heap_.size()) {
            heap_[place] = last;
            rise(place);
            sink(slots_[last.slot].place);
        }
        return wake;
    }

    void put(std::size_t place, Entry entry) {
        heap_[place] = entry;
        slots_[entry.slot].place = place;
    }

    void rise(std::size_t place) {
        const Entry entry = heap_[place];
        while (place > 0 && entry < heap_[(place - 1) / 2]) {
            put(place, heap_[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        put(place, entry);
    }

    void sink(std::size_t place) {
        const Entry entry = heap_[place];
        for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
            if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
            if (!(heap_[child] < entry)) break;
            put(place, heap_[child]);
            place = child;
        }
        put(place, entry);
    }

    std::vector<Entry> heap_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::uint64_t order_ = 0;
};

class LoopTimers final : public Timers {
public:
    explicit LoopTimers(Loop& loop) : state_(std::make_shared<State>(loop)) {}

    Instant now() const override { return std::chrono::steady_clock::now(); }
    Instant now_with_sleep() const override {
        timespec time{};
        ::clock_gettime(CLOCK_BOOTTIME, &time);
        return Instant{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
    }
    WallTime wall() const override {
        return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    }

    TimerId schedule(Instant at, std::move_only_function<void()> wake) override {
        const TimerId id = state_->wakes.add(at, std::move(wake));
        arm(state_);
        return id;
    }

    void cancel(TimerId id) override {
        state_->wakes.remove(id);
        // An early wake-up costs less than setting the timer anew, but a loop with nothing to do must be able
        // to end.
        if (state_->wakes.empty() && std::exchange(state_->armed, std::nullopt)) state_->timer.cancel();
    }

private:
    struct State {
        explicit State(Loop& loop) : timer(loop) {}
        AsioTimer timer;
        WakeUps wakes;
        std::optional<Instant> armed;
    };

    static void arm(const std::shared_ptr<State>& state) {
        if (state->wakes.empty() || (state->armed && *state->armed <= state->wakes.first())) return;
        state->armed = state->wakes.first();
        state->timer.expires_at(*state->armed);
        state->timer.async_wait([weak = std::weak_ptr(state)](boost::system::error_code error) {
            const auto strong = weak.lock();
            if (error || !strong) return;
            strong->armed.reset();
            run_due(*strong);
            arm(strong);
        });
    }

    // What a wake-up schedules for "now" waits for the next turn.
    static void run_due(State& state) {
        const Instant now = std::chrono::steady_clock::now();
        const std::uint64_t order = state.wakes.order();
        while (!state.wakes.empty() && state.wakes.first() <= now && !state.wakes.first_is_newer_than(order))
            state.wakes.take_first()();
    }

    std::shared_ptr<State> state_;
};

}  // namespace

std::unique_ptr<Timers> make_timers(Loop& loop) { return std::make_unique<LoopTimers>(loop); }

}  // namespace hostler::net
