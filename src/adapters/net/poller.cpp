#include "adapters/net/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>

#include "core/task_group.h"

namespace hostler::net {

namespace {

constexpr int events_max = 256;  // Of one turn; more are told at the next.

Error closed() { return {Code::cancelled, "the connection was closed"}; }

}  // namespace

asio::execution_context::id Poller::id;

Poller::Poller(asio::execution_context& loop)
    : service(loop), epoll_(static_cast<Loop&>(loop), ::epoll_create1(EPOLL_CLOEXEC)) {}

Poller::~Poller() = default;

void Poller::shutdown() {
    boost::system::error_code ignored;
    epoll_.close(ignored);
}

void Poller::add(Watch& watch) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &watch;
    // It fails for want of memory alone; whatever is tried next says so.
    if (::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, watch.fd_, &event) != 0) watch.told(EPOLLERR);
}

void Poller::remove(Watch& watch) {
    if (epoll_.is_open()) ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, watch.fd_, nullptr);
}

void Poller::begin_wait() {
    ++waiting_;
    arm();
}

void Poller::end_wait() {
    if (--waiting_ == 0 && armed_) epoll_.cancel();
}

void Poller::arm() {
    if (armed_ || waiting_ == 0 || !epoll_.is_open()) return;
    armed_ = true;
    epoll_.async_wait(Descriptor::wait_read, [this](const boost::system::error_code& error) {
        armed_ = false;
        if (!error) dispatch();
        arm();
    });
}

// Who is woken goes on at the loop's next turn: no watch goes while events are told.
void Poller::dispatch() {
    std::array<epoll_event, events_max> events;
    const int count = ::epoll_wait(epoll_.native_handle(), events.data(), events_max, 0);
    for (const auto& event : std::span{events}.first(static_cast<std::size_t>(std::max(count, 0))))
        static_cast<Watch*>(event.data.ptr)->told(event.events);
}

Watch::Watch(Loop& loop, int fd) : poller_(asio::use_service<Poller>(loop)), fd_(fd) {}

void Watch::close() {
    if (fd_ < 0) return;
    if (watched_) poller_.remove(*this);
    ::close(std::exchange(fd_, -1));
    watched_ = false;
    wake(read_, closed());
    wake(write_, closed());
}

// Told to the kernel at the first wait: a socket that is not connected yet would be told of at once.
Task<> Watch::wait(Direction& direction) {
    CO_TRY(unless_cancelled(co_await asio::this_coro::cancellation_state));
    if (fd_ < 0) co_return std::unexpected(closed());
    if (direction.ready) co_return Result<>{};
    Poller& poller = poller_;
    poller.begin_wait();
    if (!watched_) {
        watched_ = true;
        poller.add(*this);
    }
    std::optional<Error> trouble;
    if (!direction.ready)
        co_await asio::async_initiate<const asio::deferred_t&, void()>(
            [&](auto handler) {
                direction.trouble = &trouble;
                direction.cancellation = asio::get_associated_cancellation_slot(handler);
                direction.sleeper = std::move(handler);
                if (direction.cancellation.is_connected())
                    direction.cancellation.assign([this, &direction](asio::cancellation_type) {
                        wake(direction, Error{Code::cancelled, "cancelled"});
                    });
            },
            asio::deferred);
    poller.end_wait();
    if (trouble) co_return std::unexpected(std::move(*trouble));
    co_return Result<>{};
}

// Whoever waits goes on at the loop's next turn. A second call finds nobody.
void Watch::wake(Direction& direction, std::optional<Error> trouble) {
    if (!direction.sleeper) return;
    if (direction.cancellation.is_connected()) direction.cancellation.clear();
    *direction.trouble = std::move(trouble);
    asio::post(poller_.executor(), std::exchange(direction.sleeper, nullptr));
}

void Watch::told(std::uint32_t events) {
    const bool broken = (events & (EPOLLHUP | EPOLLERR)) != 0;
    note(read_, (events & EPOLLIN) != 0, broken || (events & EPOLLRDHUP) != 0);
    note(write_, (events & EPOLLOUT) != 0, broken);
}

void Watch::note(Direction& direction, bool ready, bool ended) {
    if (!ready && !ended) return;
    direction.ready = true;
    direction.ended = direction.ended || ended;
    wake(direction);
}

}  // namespace hostler::net
