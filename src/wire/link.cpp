#include "wire/link.h"

#include <list>
#include <map>

#include "core/signal.h"
#include "core/suspend.h"
#include "core/task_group.h"
#include "proto/uplink.pb.h"
#include "wire/frame_cutter.h"

namespace hostler::wire {

using uplink::Frame;

struct Link::State : std::enable_shared_from_this<State> {
    State(Loop& loop, Timers& by, StreamPtr over, LinkLimits with)
        : timers(by),
          stream(std::move(over)),
          limits(with),
          cutter(with.frame_size_max),
          heard(by.now()),
          tasks(loop) {}

    Result<> enqueue(const Frame& frame);
    Result<> dispatch(std::string_view body);
    Result<bool> read_once();
    void close_with(Error why);
    bool room() const {
        return sending_frames < limits.sending_frames_max && sending.size() < limits.sending_bytes_max;
    }
    bool crowded() const {
        return received.size() >= limits.received_frames_max || received_bytes >= limits.received_bytes_max;
    }

    static Task<> read(std::shared_ptr<State> self);
    static Task<> write(std::shared_ptr<State> self);
    static Task<> send(std::shared_ptr<State> self, Frame frame);
    static Task<Frame> ask(std::shared_ptr<State> self, Frame frame, Duration deadline);
    static Task<Frame> receive(std::shared_ptr<State> self);
    static Task<> keep_alive(std::shared_ptr<State> self, Duration interval, Duration patience);
    static Task<> flush(std::shared_ptr<State> self, Duration deadline);

    Timers& timers;
    StreamPtr stream;
    const LinkLimits limits;
    std::optional<Error> ended;  // Why the link is closed.

    std::string sending;  // Whole frames that wait for the writer.
    std::size_t sending_frames = 0;
    bool writing = false;  // The writer runs, so that more may be on its way than `sending` holds.
    Signal sent;

    struct Received {
        Frame frame;
        std::size_t size;
    };
    FrameCutter cutter;
    std::list<Received> received;
    std::size_t received_bytes = 0;
    Instant heard;
    Signal arrived;
    Signal fetched;
    Signal pulse;  // Wakes keep_alive().

    std::map<std::uint64_t, WakerPtr<Frame>> calls;
    std::uint64_t last_call = 0;
    TaskGroup tasks;
};

Result<> Link::State::enqueue(const Frame& frame) {
    if (ended) return std::unexpected(*ended);
    const std::size_t size = frame.ByteSizeLong();
    if (size == 0 || size > limits.frame_size_max)
        return fail(Code::invalid,
                    fmt::format("a frame of {} bytes cannot be sent to {}; it may have 1 to {}", size,
                                stream->address(), limits.frame_size_max));
    const std::size_t begin = append_header(sending);
    sending.resize(sending.size() + size);
    frame.SerializeWithCachedSizesToArray(
        reinterpret_cast<std::uint8_t*>(sending.data() + begin + frame_header_size));
    complete_header(sending, begin);
    ++sending_frames;
    if (!std::exchange(writing, true)) tasks.start("uplink writer", write(shared_from_this()));
    return {};
}

void Link::State::close_with(Error why) {
    if (ended) return;
    ended = std::move(why);
    stream->close();
    sending.clear();
    for (auto& call : std::exchange(calls, {})) call.second->wake(std::unexpected(*ended));
    arrived.notify_all();
    sent.notify_all();
    fetched.notify_all();
    pulse.notify_all();
    tasks.cancel();
}

// Takes all of the queue at once; what is queued meanwhile goes next.
Task<> Link::State::write(std::shared_ptr<State> self) {
    while (!self->ended && !self->sending.empty()) {
        const std::string bytes = std::exchange(self->sending, {});
        self->sending_frames = 0;
        self->sent.notify_all();
        const auto written = co_await write_all(*self->stream, bytes);
        if (!written) self->close_with(written.error());
    }
    self->writing = false;
    self->sent.notify_all();
    co_return Result<>{};
}

Result<> Link::State::dispatch(std::string_view body) {
    Frame frame;
    if (!frame.ParseFromArray(body.data(), static_cast<int>(body.size())))
        return fail(Code::invalid, fmt::format("{} sent what is not a frame", stream->address()));
    if (frame.has_ping()) {
        Frame pong;
        pong.set_answer_to(frame.call());
        pong.mutable_pong();
        // A peer that pings and does not read gets no answers piled up for it.
        if (room()) return enqueue(pong);
    } else if (frame.has_pong()) {
        // That it came is all that it says.
    } else if (frame.answer_to() != 0) {
        const auto call = calls.find(frame.answer_to());
        if (call == calls.end()) return {};  // Too late.
        const auto waker = std::move(call->second);
        calls.erase(call);
        if (frame.has_failure())
            waker->wake(std::unexpected(error_of(frame.failure())));
        else
            waker->wake(std::move(frame));
    } else {
        received_bytes += body.size();
        received.push_back({std::move(frame), body.size()});
        arrived.notify_one();
    }
    return {};
}

// Reads what is there, up to the scratch's size; false: nothing there.
Result<bool> Link::State::read_once() {
    thread_local std::array<char, 32 * 1024> scratch;
    const auto size = TRY(stream->try_read(scratch));
    if (!size) return false;
    if (*size == 0)
        return fail(Code::unavailable,
                    fmt::format("{} closed the link{}", stream->address(),
                                cutter.between_frames() ? "" : " in the middle of a frame"));
    heard = timers.now();
    TRY(cutter.feed({scratch.data(), *size}, [this](std::string_view body) { return dispatch(body); }));
    return true;
}

Task<> Link::State::read(std::shared_ptr<State> self) {
    constexpr int reads_in_a_row_max = 16;
    for (int reads = 0; !self->ended; ++reads) {
        // A peer that never stops must not keep the loop from the others.
        if (reads % reads_in_a_row_max == reads_in_a_row_max - 1)
            CO_TRY(co_await suspend<void>([](WakerPtr<void> waker) { waker->wake({}); }));
        while (!self->ended && self->crowded()) {
            CO_TRY(co_await self->fetched.wait());
            self->heard = self->timers.now();  // It was us who did not listen.
        }
        if (self->ended) break;
        auto more = self->read_once();
        Result<> ready{};
        if (more && !*more) ready = co_await self->stream->readable();
        if (!more)
            self->close_with(more.error());
        else if (!ready)
            self->close_with(ready.error());
    }
    co_return Result<>{};
}

Task<> Link::State::send(std::shared_ptr<State> self, Frame frame) {
    while (!self->ended && !self->room()) CO_TRY(co_await self->sent.wait());
    co_return self->enqueue(frame);
}

Task<Frame> Link::State::ask(std::shared_ptr<State> self, Frame frame, Duration deadline) {
    WakerPtr<Frame> sleeper;
    bool late = false;
    const auto timed_out = [&] {
        return fail(Code::timeout, fmt::format("{} did not answer in time", self->stream->address()));
    };
    Deadline limit{self->timers, deadline, [&] {
                       late = true;
                       self->sent.notify_all();
                       if (sleeper) sleeper->wake(timed_out());
                   }};
    while (!self->ended && !self->room() && !late) CO_TRY(co_await self->sent.wait());
    if (late) co_return timed_out();
    if (self->ended) co_return std::unexpected(*self->ended);
    if (self->calls.size() >= self->limits.calls_max)
        co_return fail(Code::exhausted, fmt::format("{} calls wait for {} already", self->calls.size(),
                                                    self->stream->address()));
    const std::uint64_t call = ++self->last_call;
    frame.set_call(call);
    struct Forget {
        State& state;
        std::uint64_t call;
        ~Forget() { state.calls.erase(call); }
    } forget{*self, call};
    co_return co_await suspend<Frame>([&](WakerPtr<Frame> waker) {
        sleeper = waker;
        if (const auto queued = self->enqueue(frame); !queued)
            return waker->wake(std::unexpected(queued.error()));
        self->calls.emplace(call, std::move(waker));
    });
}

Task<Frame> Link::State::receive(std::shared_ptr<State> self) {
    while (self->received.empty()) {
        if (self->ended) co_return std::unexpected(*self->ended);
        CO_TRY(co_await self->arrived.wait());
    }
    Received next = std::move(self->received.front());
    self->received.pop_front();
    self->received_bytes -= next.size;
    self->fetched.notify_all();
    co_return std::move(next.frame);
}

Task<> Link::State::keep_alive(std::shared_ptr<State> self, Duration interval, Duration patience) {
    while (!self->ended) {
        const Duration silent = self->crowded() ? Duration{0} : self->timers.now() - self->heard;
        if (silent >= patience) {
            self->close_with({Code::timeout,
                              fmt::format("{} has been silent for {} s", self->stream->address(),
                                          std::chrono::duration_cast<std::chrono::seconds>(silent).count())});
            break;
        }
        if (silent >= interval && self->room()) {
            Frame ping;
            ping.mutable_ping();
            if (const auto queued = self->enqueue(ping); !queued) break;
        }
        const Duration rest = silent >= interval ? interval : interval - silent;
        const Deadline next{self->timers, std::min(rest, patience - silent),
                            [&] { self->pulse.notify_all(); }};
        CO_TRY(co_await self->pulse.wait());
    }
    co_return std::unexpected(*self->ended);
}

Task<> Link::State::flush(std::shared_ptr<State> self, Duration deadline) {
    bool late = false;
    Deadline limit{self->timers, deadline, [&] {
                       late = true;
                       self->sent.notify_all();
                   }};
    while (!self->ended && self->writing && !late) CO_TRY(co_await self->sent.wait());
    if (self->ended) co_return std::unexpected(*self->ended);
    if (late)
        co_return fail(Code::timeout,
                       fmt::format("{} does not take what was sent to it", self->stream->address()));
    co_return Result<>{};
}

Link::Link(Loop& loop, Timers& timers, StreamPtr stream, LinkLimits limits)
    : state_(std::make_shared<State>(loop, timers, std::move(stream), limits)) {
    state_->tasks.start("uplink reader", State::read(state_));
}

Link::Link(Link&&) noexcept = default;

Link::~Link() {
    if (state_) close();
}

Task<> Link::send(Frame frame) { return State::send(state_, std::move(frame)); }

Result<> Link::try_send(const Frame& frame) {
    if (!state_->ended && !state_->room())
        return fail(Code::exhausted, fmt::format("too much waits to be sent to {}", address()));
    return state_->enqueue(frame);
}

Task<> Link::answer(std::uint64_t call, Frame frame) {
    frame.set_answer_to(call);
    return State::send(state_, std::move(frame));
}

Task<Frame> Link::ask(Frame frame, Duration deadline) {
    return State::ask(state_, std::move(frame), deadline);
}

Task<Frame> Link::receive() { return State::receive(state_); }

Task<> Link::keep_alive(Duration interval, Duration patience) {
    return State::keep_alive(state_, interval, patience);
}

Task<> Link::flush(Duration deadline) { return State::flush(state_, deadline); }

void Link::close() { state_->close_with({Code::cancelled, "the link was closed"}); }

bool Link::closed() const { return state_->ended.has_value(); }

std::string_view Link::identity() const { return state_->stream->identity(); }

std::string_view Link::address() const { return state_->stream->address(); }

Frame failure_frame(const Error& error) {
    Frame frame;
    auto& failure = *frame.mutable_failure();
    failure.set_code(std::string{name(error.code)});
    failure.set_message(error.message);
    failure.set_reason(error.reason);
    return frame;
}

Error error_of(const uplink::Failure& failure) {
    constexpr std::array codes = {Code::invalid,     Code::unauthenticated, Code::forbidden,
                                  Code::not_found,   Code::conflict,        Code::exhausted,
                                  Code::unavailable, Code::timeout,         Code::cancelled};
    const auto code = std::ranges::find(codes, failure.code(), [](Code c) { return name(c); });
    return {code == codes.end() ? Code::internal : *code, failure.message(), failure.reason()};
}

}  // namespace hostler::wire
