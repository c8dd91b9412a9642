#include "http/conn.h"

namespace hostler::http {

void Alarm::set(Duration time) {
    until_ = timers_.now() + time;
    on_ = true;
    if (armed_ && armed_at_ <= until_) return;
    if (armed_) timers_.cancel(timer_);
    arm(until_);
}

void Alarm::arm(Instant at) {
    armed_ = true;
    armed_at_ = at;
    timer_ = timers_.schedule(at, [this] {
        armed_ = false;
        if (!on_) return;
        if (timers_.now() < until_) return arm(until_);
        on_ = false;
        ring_();
    });
}

std::span<char> scratch() {
    constexpr std::size_t size = 64 * 1024;
    thread_local std::unique_ptr<char[]> bytes{new char[size]};
    return {bytes.get(), size};
}

Conn::Conn(StreamPtr stream, Timers& timers)
    : stream_(std::move(stream)),
      timers_(timers),
      read_alarm_(timers,
                  [this] {
                      late_ = "the peer sent nothing in time";
                      if (!last_words_.empty()) {
                          const asio::const_buffer words{last_words_.data(), last_words_.size()};
                          (void)stream_->try_write({&words, 1});
                      }
                      close();
                  }),
      write_alarm_(timers, [this] {
          late_ = "the peer took nothing in time";
          close();
      }) {}

Error Conn::blame(Error error) const {
    if (late_ != nullptr) return {Code::timeout, late_};
    return error;
}

void Conn::consume(std::size_t size) {
    constexpr std::size_t kept_capacity_max = 4 * 1024;  // An idle connection holds no more than this.
    begin_ += size;
    if (begin_ < buffer_.size()) return;
    begin_ = 0;
    if (buffer_.capacity() > kept_capacity_max)
        buffer_ = {};
    else
        buffer_.clear();
}

Result<std::optional<std::size_t>> Conn::try_read(std::span<char> into) {
    auto result = stream_->try_read(into);
    if (!result) return std::unexpected(blame(std::move(result).error()));
    return result;
}

Task<> Conn::readable(Duration within) {
    read_alarm_.set(within);
    reading_ = true;
    auto result = co_await stream_->readable();
    reading_ = false;
    read_alarm_.off();
    if (!result) co_return std::unexpected(blame(std::move(result).error()));
    co_return Result<>{};
}

Task<bool> Conn::fill(Duration within, First first) {
    while (true) {
        if (std::exchange(first, First::look) == First::look) {
            const auto into = scratch();
            const auto size = stream_->try_read(into);
            if (!size) co_return std::unexpected(blame(size.error()));
            if (*size) {
                if (begin_ > 0) buffer_.erase(0, std::exchange(begin_, 0));
                buffer_.append(into.data(), **size);
                co_return **size > 0;
            }
        }
        // As readable() does, without its coroutine: this is where a gateway spends its time.
        read_alarm_.set(within);
        reading_ = true;
        const auto woken = co_await stream_->readable();
        reading_ = false;
        read_alarm_.off();
        if (!woken) co_return std::unexpected(blame(woken.error()));
    }
}

Result<std::size_t> Conn::try_send(std::string_view bytes) {
    if (bytes.empty()) return std::size_t{0};
    const asio::const_buffer buffer{bytes.data(), bytes.size()};
    return try_send({&buffer, 1});
}

Result<std::size_t> Conn::try_send(std::span<const asio::const_buffer> buffers) {
    const auto taken = stream_->try_write(buffers);
    if (!taken) return std::unexpected(blame(taken.error()));
    return taken->value_or(0);
}

Task<> Conn::send(std::span<const asio::const_buffer> buffers, Duration within) {
    constexpr std::size_t buffers_max = 8;
    HOSTLER_ASSERT(buffers.size() <= buffers_max);
    std::array<asio::const_buffer, buffers_max> rest{};
    std::copy(buffers.begin(), buffers.end(), rest.begin());
    std::span<asio::const_buffer> left{rest.data(), buffers.size()};
    while (true) {
        while (!left.empty() && left.front().size() == 0) left = left.subspan(1);
        if (left.empty()) co_return Result<>{};
        const auto taken = stream_->try_write(left);
        if (!taken) co_return std::unexpected(blame(taken.error()));
        if (!*taken) {
            write_alarm_.set(within);
            auto result = co_await stream_->writable();
            write_alarm_.off();
            if (!result) co_return std::unexpected(blame(std::move(result).error()));
            continue;
        }
        for (std::size_t gone = **taken; gone > 0;) {
            const std::size_t part = std::min(gone, left.front().size());
            left.front() += part;
            gone -= part;
            if (left.front().size() == 0) left = left.subspan(1);
        }
    }
}

Task<> Conn::send(std::string_view bytes, Duration within) {
    const asio::const_buffer buffer{bytes.data(), bytes.size()};
    co_return co_await send({&buffer, 1}, within);
}

void Conn::watch(Duration every, std::move_only_function<void()> gone) {
    if (released()) return;  // Whoever took the stream looks after it.
    if (!watch_alarm_) watch_alarm_ = std::make_unique<Alarm>(timers_, [this] { look(); });
    watch_every_ = every;
    gone_ = std::move(gone);
    watch_alarm_->set(every);
}

void Conn::unwatch() {
    if (!gone_) return;
    gone_ = nullptr;
    watch_alarm_->off();
}

void Conn::look() {
    constexpr std::size_t ahead_max = 64 * 1024;  // A peer may send its next requests early, within reason.
    if (!reading_ && ahead().size() < ahead_max) {
        const auto into = scratch();
        const auto size = stream_->try_read(into.first(ahead_max / 4));
        if (!size || *size == 0U) {
            if (auto gone = std::exchange(gone_, nullptr)) gone();
            return;
        }
        if (*size) buffer_.append(into.data(), **size);
    }
    watch_alarm_->set(watch_every_);
}

namespace {

class Prefixed : public Stream {
public:
    Prefixed(std::string bytes, StreamPtr stream, std::string address)
        : bytes_(std::move(bytes)), stream_(std::move(stream)), address_(std::move(address)) {}

    Result<std::optional<std::size_t>> try_read(std::span<char> into) override {
        if (bytes_.empty()) return stream_->try_read(into);
        const std::size_t size =
            bytes_.copy(into.data(), std::min(into.size(), bytes_.size() - begin_), begin_);
        begin_ += size;
        if (begin_ == bytes_.size()) bytes_ = {};
        return size;
    }
    Result<std::optional<std::size_t>> try_write(std::span<const asio::const_buffer> from) override {
        return stream_->try_write(from);
    }
    Task<> readable() override { return bytes_.empty() ? stream_->readable() : ready(); }
    Task<> writable() override { return stream_->writable(); }
    Task<> finish() override { return stream_->finish(); }
    void close() override {
        bytes_ = {};
        stream_->close();
    }
    std::string_view identity() const override { return stream_->identity(); }
    bool expired() const override { return stream_->expired(); }
    std::string_view address() const override { return address_.empty() ? stream_->address() : address_; }

private:
    static Task<> ready() { co_return Result<>{}; }
    std::string bytes_;
    std::size_t begin_ = 0;
    StreamPtr stream_;
    const std::string address_;
};

}  // namespace

StreamPtr with_bytes_ahead(std::string bytes, StreamPtr stream, std::string address) {
    if (bytes.empty() && address.empty()) return stream;
    return std::make_unique<Prefixed>(std::move(bytes), std::move(stream), std::move(address));
}

StreamPtr Conn::release() {
    unwatch();
    return with_bytes_ahead(std::string{ahead()}, std::move(stream_));
}

}  // namespace hostler::http
