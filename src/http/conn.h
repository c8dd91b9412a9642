// A stream with what was read ahead of it and the clocks of those who wait on it: what server, client and
// proxy share.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/stream.h"

namespace hostler::http {

// A deadline that costs nothing to set again and again: its timer is moved only when it would come too late.
class Alarm {
public:
    Alarm(Timers& timers, std::move_only_function<void()> ring) : timers_(timers), ring_(std::move(ring)) {}
    ~Alarm() { timers_.cancel(timer_); }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    void set(Duration time);  // Rings once, `time` from now.
    void off() { on_ = false; }

private:
    void arm(Instant at);
    Timers& timers_;
    std::move_only_function<void()> ring_;
    Instant until_{};
    Instant armed_at_{};
    TimerId timer_ = 0;
    bool armed_ = false;
    bool on_ = false;
};

// What may pass through a function's hands between two waits. Its content lasts until the next wait.
std::span<char> scratch();

class Conn {
public:
    Conn(StreamPtr stream, Timers& timers);
    Conn(const Conn&) = delete;
    Conn& operator=(const Conn&) = delete;

    Stream& stream() { return *stream_; }
    const Stream& stream() const { return *stream_; }
    Timers& timers() { return timers_; }

    // Read ahead and not consumed.
    std::string_view ahead() const { return std::string_view{buffer_}.substr(begin_); }
    void consume(std::size_t size);
    void keep(std::string_view bytes) { buffer_.append(bytes); }  // Bytes read elsewhere, for later.

    // Waits at most `within` for more bytes, and adds them to ahead(); false: the peer has finished. Where
    // nothing can be there yet, `First::wait` spares a look. Errors: timeout; those of the stream. After a
    // timeout the stream is closed.
    enum class First { look, wait };
    Task<bool> fill(Duration within, First first = First::look);
    // Waits at most `within` until the stream may have bytes.
    Task<> readable(Duration within);
    // While somebody waits in fill(): the time counts anew.
    void prolong(Duration within) {
        if (reading_) read_alarm_.set(within);
    }
    // What the stream has now; its error as ours.
    Result<std::optional<std::size_t>> try_read(std::span<char> into);
    // Bytes taken at once, maybe none.
    Result<std::size_t> try_send(std::string_view bytes);
    Result<std::size_t> try_send(std::span<const asio::const_buffer> buffers);
    // Writes all; `within`: without any progress.
    Task<> send(std::span<const asio::const_buffer> buffers, Duration within);
    Task<> send(std::string_view bytes, Duration within);

    // Said to the peer, if it takes it at once, when a time-out of reading closes the stream.
    void set_last_words(std::string_view words) { last_words_ = words; }

    // Until unwatch(), looks every `every` whether the peer is still there, by reading ahead; `gone` is
    // called once when it is not.
    void watch(Duration every, std::move_only_function<void()> gone);
    void unwatch();

    void close() {
        closed_ = true;
        if (stream_) stream_->close();
    }
    bool closed() const { return closed_; }  // By us.
    // Takes the stream out, with the bytes read ahead in front of it. The Conn is then of no further use.
    StreamPtr release();
    bool released() const { return stream_ == nullptr; }

private:
    Error blame(Error error) const;
    void look();

    StreamPtr stream_;
    Timers& timers_;
    std::string buffer_;
    std::size_t begin_ = 0;
    Alarm read_alarm_;
    Alarm write_alarm_;
    std::unique_ptr<Alarm> watch_alarm_;
    Duration watch_every_{};
    std::move_only_function<void()> gone_;
    std::string_view last_words_;
    const char* late_ = nullptr;  // What did not come in time.
    bool reading_ = false;
    bool closed_ = false;
};

// A stream behind bytes that were read from it already; `address`: its address from here on, empty: as it is.
StreamPtr with_bytes_ahead(std::string bytes, StreamPtr stream, std::string address = {});

}  // namespace hostler::http
