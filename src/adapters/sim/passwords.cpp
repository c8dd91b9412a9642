#include "adapters/sim/passwords.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/sim/authority.h"

namespace hostler::sim {

namespace {

constexpr std::string_view mark = "$sim$";
constexpr std::size_t at_once = 2;
constexpr std::chrono::milliseconds work{100};

std::string text_of(std::string_view salt, std::string_view password) {
    return fmt::format("{}{}${}", mark, salt, hash_hex(fmt::format("{}\n{}", salt, password)));
}

// One less when it goes, also when the caller is cancelled.
struct Counted {
    explicit Counted(std::size_t& count) : count_(count) { ++count_; }
    ~Counted() { --count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

private:
    std::size_t& count_;
};

}  // namespace

Task<> SimPasswords::take_time() {
    if (under_way_ >= waiting_max + at_once)
        co_return fail(Code::exhausted, "too many people sign in at once; try again in a moment",
                       "too_many_sign_ins");
    const Counted counted{under_way_};
    const Instant now = timers_.now();
    busy_until_ = std::max(busy_until_, now) + work / at_once;
    co_return co_await sleep(timers_, busy_until_ - now + work / at_once);
}

Task<std::string> SimPasswords::hash(std::string password) {
    CO_TRY(co_await take_time());
    co_return text_of(fmt::format("{:016x}", dice_.next()), password);
}

Task<bool> SimPasswords::verify(std::string password, std::string hash) {
    CO_TRY(co_await take_time());
    const auto behind = hash.rfind('$');
    co_return hash.starts_with(mark) && behind > mark.size() &&
        text_of(hash.substr(mark.size(), behind - mark.size()), password) == hash;
}

}  // namespace hostler::sim
