#include "roles/master/http/admission.h"

#include <fmt/format.h>

namespace hostler::master {

namespace {

std::unexpected<Error> too_many(const std::string& tenant, std::size_t max) {
    return fail(Code::exhausted,
                tenant.empty()
                    ? fmt::format("{} requests of operators wait already; send fewer at once", max)
                    : fmt::format("{} requests of tenant {} wait already; send fewer at once", max, tenant),
                "too_many_requests");
}

std::unexpected<Error> too_fast(std::string_view who, const RateLimit& limit) {
    return fail(Code::exhausted,
                fmt::format("{} may ask {} times a second; ask more slowly", who, limit.per_second),
                "rate_limited");
}

std::unexpected<Error> overloaded() {
    return fail(Code::unavailable, "the master has too much to do at the moment", "overloaded");
}

}  // namespace

Admission::Admission(const AdmissionLimits& limits, Timers& timers)
    : timers_(timers),
      floor_(std::make_shared<Floor>(limits)),
      keys_(limits.key_rate, limits.keys_max),
      strangers_(limits.stranger_rate, limits.keys_max) {}

bool Admission::Floor::has_room(const std::string& tenant, const Lane& lane) const {
    if (tenant.empty()) return lane.under_way < limits.operators_max;
    return under_way < limits.requests_max && lane.under_way < limits.requests_tenant_max;
}

void Admission::Floor::begin(const std::string& tenant, Lane& lane) {
    ++lane.under_way;
    if (!tenant.empty()) ++under_way;
}

void Admission::Floor::leave(const std::string& tenant) {
    --lane(tenant).under_way;
    if (!tenant.empty()) --under_way;
    tidy(tenant);
    call_next();
}

void Admission::Floor::tidy(const std::string& tenant) {
    const auto at = tenants.find(tenant);
    if (at != tenants.end() && at->second.under_way == 0 && at->second.waiting.empty()) tenants.erase(at);
}

void Admission::Floor::call(const std::string& tenant, Lane& lane) {
    const auto waiter = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    begin(tenant, lane);
    waiter->called = true;
    waiter->waker->wake({});
}

// Whoever waits after this could not work: no place is left, or his tenant has all that it may.
void Admission::Floor::call_next() {
    while (!operators.waiting.empty() && has_room("", operators)) call("", operators);
    // So few can be at their own limit at one time that this never looks at many.
    for (std::size_t passed = 0; under_way < limits.requests_max && passed < turns.size();) {
        std::string tenant = std::move(turns.front());
        turns.pop_front();
        Lane& lane = tenants.at(tenant);
        if (has_room(tenant, lane)) {
            call(tenant, lane);
            --waiting;
            passed = 0;
        } else {
            ++passed;
        }
        if (!lane.waiting.empty()) turns.push_back(std::move(tenant));
    }
}

// For one more who waits. When all may wait no more, the newest of whoever has most in the queue goes: a few
// who ask without end keep nobody else out.
Result<> Admission::Floor::make_room(const std::string& tenant) {
    const std::size_t own = lane(tenant).waiting.size();
    if (own >= limits.waiting_tenant_max) return too_many(tenant, limits.waiting_tenant_max);
    if (tenant.empty() || waiting < limits.waiting_max) return {};
    const auto longest =
        std::ranges::max_element(tenants, {}, [](const auto& row) { return row.second.waiting.size(); });
    if (longest->second.waiting.size() <= own + 1) return overloaded();
    const auto last = longest->second.waiting.back();
    last->pushed_out = true;
    drop(longest->first, last);
    last->waker->wake({});
    return {};
}

void Admission::Floor::drop(const std::string& tenant, const std::shared_ptr<Waiter>& waiter) {
    Lane& from = lane(tenant);
    if (std::erase(from.waiting, waiter) == 0) return;
    if (tenant.empty()) return;
    --waiting;
    if (from.waiting.empty()) std::erase(turns, tenant);
    tidy(tenant);
}

Admission::Turn& Admission::Turn::operator=(Turn&& other) noexcept {
    leave();
    floor_ = std::exchange(other.floor_, nullptr);
    tenant_ = std::move(other.tenant_);
    waited_ = other.waited_;
    return *this;
}

void Admission::Turn::leave() {
    if (const auto floor = std::exchange(floor_, nullptr)) floor->leave(tenant_);
}

Task<Admission::Turn> Admission::enter(std::string tenant, std::string key) {
    const auto floor = floor_;
    const AdmissionLimits& limits = floor->limits;
    if (!tenant.empty() && !keys_.take(key, timers_.now())) {
        ++count_.refused_rate;
        co_return too_fast("one API key", limits.key_rate);
    }
    if (Lane& lane = floor->lane(tenant); floor->has_room(tenant, lane)) {
        floor->begin(tenant, lane);
        ++count_.admitted;
        co_return Turn{floor, std::move(tenant), false};
    }
    if (auto room = floor->make_room(tenant); !room) {
        ++(room.error().code == Code::exhausted ? count_.refused_tenant : count_.refused_busy);
        if (!tenant.empty()) floor->tidy(tenant);
        co_return std::unexpected(std::move(room).error());
    }
    const auto waiter = std::make_shared<Waiter>();
    Lane& lane = floor->lane(tenant);
    lane.waiting.push_back(waiter);
    if (!tenant.empty()) {
        ++floor->waiting;
        if (lane.waiting.size() == 1) floor->turns.push_back(tenant);
    }
    const Deadline deadline{timers_, limits.wait_max, [waiter] { waiter->waker->wake({}); }};
    const auto woken =
        co_await suspend<void>([waiter](WakerPtr<void> waker) { waiter->waker = std::move(waker); });
    if (waiter->called) {
        Turn turn{floor, std::move(tenant), true};
        CO_TRY(woken);  // Who is cancelled as he is called gives his turn to the next.
        ++count_.admitted;
        co_return turn;
    }
    floor->drop(tenant, waiter);
    CO_TRY(woken);
    if (waiter->pushed_out) {
        ++count_.refused_tenant;
        co_return fail(Code::exhausted,
                       fmt::format("of tenant {} most requests wait, and others had to have room", tenant),
                       "too_many_requests");
    }
    ++count_.refused_busy;
    co_return overloaded();
}

Result<> Admission::enter_stranger(std::string_view address) {
    ++count_.unknown;
    // Its port is another one each time.
    if (strangers_.take(std::string{address.substr(0, address.rfind(':'))}, timers_.now())) return {};
    ++count_.refused_rate;
    return too_fast("one address without a key", floor_->limits.stranger_rate);
}

Admission::Count Admission::count() const {
    Count now = count_;
    now.under_way = floor_->under_way;
    now.waiting = floor_->waiting;
    now.operators_under_way = floor_->operators.under_way;
    now.operators_waiting = floor_->operators.waiting.size();
    now.tenants = floor_->tenants.size();
    now.keys = keys_.size();
    now.strangers = strangers_.size();
    return now;
}

}  // namespace hostler::master
