// Which sockets are ready. Each is told to the kernel once, edge-triggered, so that waiting and waking cost
// no system call; Asio's own waits cost one each time.
#pragma once

#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "core/suspend.h"

namespace hostler::net {

class Watch;

// One for each loop: asio::use_service<Poller>(loop). Its epoll stands in the loop's own, which hears of it
// only while somebody waits, so that a loop with nothing to do can end.
class Poller final : public asio::execution_context::service {
public:
    using key_type = Poller;
    static asio::execution_context::id id;

    explicit Poller(asio::execution_context& loop);
    ~Poller() override;

    bool armed() const { return armed_; }
    Loop::executor_type executor() { return epoll_.get_executor(); }

private:
    friend class Watch;
    using Descriptor = asio::posix::basic_stream_descriptor<Loop::executor_type>;

    void shutdown() override;
    void add(Watch& watch);
    void remove(Watch& watch);
    void begin_wait();
    void end_wait();
    void arm();
    void dispatch();

    Descriptor epoll_;
    std::size_t waiting_ = 0;
    bool armed_ = false;
};

// What is known of one descriptor, which it owns.
class Watch {
public:
    Watch(Loop& loop, int fd);  // `fd` does not block.
    ~Watch() { close(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    int fd() const { return fd_; }
    bool open() const { return fd_ >= 0; }
    void close();                                     // Who waits is woken: cancelled.
    int release() { return std::exchange(fd_, -1); }  // Of one that was never waited for.

    // One waiter each. Errors: cancelled, also when it is closed meanwhile; unavailable. Touch nothing of it
    // once they wake.
    Task<> readable() { return wait(read_); }
    Task<> writable() { return wait(write_); }

    // Nothing can have come since the last drained(): the next readable() will tell.
    bool silent() const { return watched_ && !read_.ready && poller_.armed(); }
    void drained() { read_.ready = read_.ended; }
    void full() { write_.ready = write_.ended; }

private:
    friend class Poller;
    struct Direction {
        bool ready = false;
        bool ended = false;  // By the peer or by an error: no edge may follow.
        // Who waits, if anybody: how to go on, and where to say why. What a Waker does, without its memory.
        std::move_only_function<void()> sleeper;
        std::optional<Error>* trouble = nullptr;
        asio::cancellation_slot cancellation;
    };
    Task<> wait(Direction& direction);
    void told(std::uint32_t events);
    void note(Direction& direction, bool ready, bool ended);
    void wake(Direction& direction, std::optional<Error> trouble = {});

    Poller& poller_;
    int fd_;
    bool watched_ = false;
    Direction read_;
    Direction write_;
};

}  // namespace hostler::net
