#include "core/timers.h"

#include <fmt/format.h>

#include "core/suspend.h"

namespace hostler {

namespace {

// Takes its wake-up with it, whichever way the sleep ends.
struct Scheduled {
    Timers& timers;
    std::weak_ptr<const void> life = timers.life();
    TimerId id = 0;
    ~Scheduled() {
        if (!life.expired()) timers.cancel(id);
    }
};

// "Z", "+01:00": ahead of UTC.
std::optional<std::chrono::minutes> offset_of(std::string_view text) {
    if (text == "Z" || text == "z") return std::chrono::minutes{0};
    constexpr std::string_view shape = "+00:00";
    if (text.size() != shape.size() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    for (std::size_t i = 1; i < shape.size(); ++i)
        if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i]) return std::nullopt;
    const int hours = (text[1] - '0') * 10 + (text[2] - '0'),
              minutes = (text[4] - '0') * 10 + (text[5] - '0');
    if (hours > 23 || minutes > 59) return std::nullopt;
    return (text[0] == '-' ? -1 : 1) * (std::chrono::hours{hours} + std::chrono::minutes{minutes});
}

}  // namespace

Task<> sleep(Timers& timers, Duration time) {
    Scheduled scheduled{timers};
    co_return co_await suspend<void>([&](WakerPtr<void> waker) {
        scheduled.id = timers.schedule(timers.now() + time, [waker = std::move(waker)] { waker->wake({}); });
    });
}

Deadline::Deadline(Timers& timers, Duration time, std::move_only_function<void()> expire)
    : timers_(timers), life_(timers.life()), expire_(std::move(expire)), at_(timers.now() + time) {
    arm(at_);
}

Deadline::~Deadline() {
    if (!life_.expired()) timers_.cancel(timer_);
}

// Only notes the new time: the wake-up that is already set looks at it. Renewing costs no timer.
void Deadline::renew(Duration time) {
    const Instant at = timers_.now() + time;
    const bool sooner = at < at_;
    at_ = at;
    if (sooner || expired_) {
        timers_.cancel(timer_);
        expired_ = false;
        arm(at_);
    }
}

void Deadline::arm(Instant at) {
    timer_ = timers_.schedule(at, [this] {
        if (timers_.now() < at_) return arm(at_);
        expired_ = true;
        expire_();
    });
}

std::string rfc3339(WallTime time) {
    const auto days = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{days};
    const std::chrono::hh_mm_ss clock{time - days};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
}

Result<WallTime> parse_rfc3339(std::string_view text) {
    const auto wrong = [&] {
        return fail(Code::invalid, fmt::format("'{}' is not a time; write it as 2026-11-21T11:40:29Z", text));
    };
    constexpr std::string_view shape = "0000-00-00T00:00:00";
    if (text.size() <= shape.size()) return wrong();
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i]) return wrong();
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        for (const char c : text.substr(at, digits)) value = value * 10 + (c - '0');
        return value;
    };
    const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
    const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
    std::string_view rest = text.substr(shape.size());
    std::int64_t micros = 0;
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        std::int64_t unit = 100'000;
        const auto digits = rest.find_first_not_of("0123456789");
        if (digits == 0 || digits == std::string_view::npos) return wrong();
        for (const char c : rest.substr(0, digits)) micros += (c - '0') * std::exchange(unit, unit / 10);
        rest.remove_prefix(digits);
    }
    const auto offset = offset_of(rest);
    if (!offset) return wrong();
    const std::chrono::year_month_day date{std::chrono::year{year},
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return wrong();
    return WallTime{std::chrono::sys_days{date}} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
           std::chrono::seconds{second} + std::chrono::microseconds{micros} - *offset;
}

}  // namespace hostler
