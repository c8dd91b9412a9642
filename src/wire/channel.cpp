#include "wire/channel.h"

#include <fmt/format.h>

#include <list>

#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::wire {

struct Channel::State : std::enable_shared_from_this<State> {
    State(Loop& loop, std::string of, Carry by, ChannelLimits with)
        : address(std::move(of)), carry(std::move(by)), limits(with), tasks(loop) {}

    void end(Error why) {
        if (ended) return;
        ended = std::move(why);
        sending.clear();
        sending.shrink_to_fit();
        carry = nullptr;  // What it refers to may go now.
        arrived.notify_all();
        read.notify_all();
        room.notify_all();
        tasks.cancel();
    }

    static Task<> pump(std::shared_ptr<State> self) {
        const Carry hand_on = self->carry;  // It may be asleep when the channel ends.
        while (!self->ended && !self->sending.empty()) {
            std::string piece;
            if (self->sending.size() <= self->limits.piece_max) {
                piece = std::exchange(self->sending, {});
            } else {
                piece = self->sending.substr(0, self->limits.piece_max);
                self->sending.erase(0, self->limits.piece_max);
            }
            self->room.notify_all();
            const auto carried = co_await hand_on(std::move(piece));
            if (!carried) self->end(carried.error());
        }
        self->pumping = false;
        co_return Result<>{};
    }

    const std::string address;
    Carry carry;
    const ChannelLimits limits;
    std::optional<Error> ended;

    std::string sending;
    bool pumping = false;
    Signal room;

    std::list<std::string> received;  // Unlike a deque, nothing while nothing waits.
    std::size_t first = 0;            // Of the first piece: bytes that were read.
    std::size_t received_bytes = 0;
    Signal arrived;
    Signal read;
    TaskGroup tasks;
};

class Channel::End final : public Stream {
public:
    explicit End(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~End() override { close(); }

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        State& now = *state_;
        std::size_t size = 0;
        while (!now.received.empty() && size < into.size()) {
            std::string& piece = now.received.front();
            const std::size_t part = std::min(into.size() - size, piece.size() - now.first);
            piece.copy(into.data() + size, part, now.first);
            size += part;
            now.first += part;
            if (now.first < piece.size()) continue;
            now.received.pop_front();
            now.first = 0;
        }
        now.received_bytes -= size;
        if (size > 0) now.read.notify_all();
        if (size > 0 || into.empty()) return size;
        if (now.ended) return std::unexpected(*now.ended);
        return std::nullopt;
    }

    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        State& now = *state_;
        if (now.ended) return std::unexpected(*now.ended);
        std::size_t taken = 0;
        bool any = false;
        for (const auto& buffer : from) {
            any |= buffer.size() > 0;
            const std::size_t part =
                std::min(buffer.size(), now.limits.sending_bytes_max - now.sending.size());
            now.sending.append(static_cast<const char*>(buffer.data()), part);
            taken += part;
            if (part < buffer.size()) break;
        }
        if (taken > 0 && !std::exchange(now.pumping, true)) now.tasks.start("channel", State::pump(state_));
        if (taken == 0 && any) return std::nullopt;
        return taken;
    }

    Task<> readable() override { return readable_of(state_); }
    Task<> writable() override { return writable_of(state_); }

    Task<> finish() override { co_return Result<>{}; }  // Whoever speaks in it says goodbye itself.
    void close() override { state_->end({Code::unavailable, "the channel was closed"}); }
    std::string_view address() const override { return state_->address; }

private:
    static Task<> readable_of(std::shared_ptr<State> state) {
        while (!state->ended && state->received.empty()) CO_TRY(co_await state->arrived.wait());
        co_return Result<>{};
    }
    static Task<> writable_of(std::shared_ptr<State> state) {
        while (!state->ended && state->sending.size() >= state->limits.sending_bytes_max)
            CO_TRY(co_await state->room.wait());
        co_return Result<>{};
    }
    std::shared_ptr<State> state_;
};

Channel::Channel(Loop& loop, std::string address, Carry carry, ChannelLimits limits)
    : state_(std::make_shared<State>(loop, std::move(address), std::move(carry), limits)) {}

Channel::~Channel() { end({Code::unavailable, "the channel has gone"}); }

StreamPtr Channel::stream() { return std::make_unique<End>(state_); }

Result<> Channel::feed(std::string piece) {
    State& now = *state_;
    if (now.ended) return std::unexpected(*now.ended);
    if (piece.empty()) return {};
    if (now.received_bytes + piece.size() > now.limits.received_bytes_max) {
        end({Code::exhausted,
             fmt::format("{} bytes of {} wait to be read", now.received_bytes, now.address)});
        return std::unexpected(*now.ended);
    }
    now.received_bytes += piece.size();
    now.received.push_back(std::move(piece));
    now.arrived.notify_all();
    return {};
}

Task<> Channel::calm() {
    return [](std::shared_ptr<State> state) -> Task<> {
        while (!state->ended && state->received_bytes > state->limits.received_bytes_calm)
            CO_TRY(co_await state->read.wait());
        co_return Result<>{};
    }(state_);
}

void Channel::end(Error why) { state_->end(std::move(why)); }

bool Channel::ended() const { return state_->ended.has_value(); }

}  // namespace hostler::wire
