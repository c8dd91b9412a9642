// Whose API request works now, whose waits and whose is turned away: bounded, and fair between tenants. Those
// who wait are called in turn, one of each tenant's, so that who asks much waits behind himself alone.
// Operators have places of their own: the cloud can be looked after however busy tenants keep it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "core/rate.h"
#include "core/suspend.h"
#include "roles/master/state/settings.h"

namespace hostler::master {

class Admission {
    struct Waiter {
        WakerPtr<void> waker;
        bool called = false;
        bool pushed_out = false;
    };
    struct Lane {
        std::size_t under_way = 0;
        std::deque<std::shared_ptr<Waiter>> waiting;
    };
    // What outlives an Admission as long as somebody has a turn.
    struct Floor {
        const AdmissionLimits limits;
        std::map<std::string, Lane> tenants{};  // Those that have something here.
        std::deque<std::string> turns{};        // Tenants of whom somebody waits; the first is called next.
        std::size_t under_way = 0;              // Of all tenants.
        std::size_t waiting = 0;
        Lane operators{};

        Lane& lane(const std::string& tenant) { return tenant.empty() ? operators : tenants[tenant]; }
        bool has_room(const std::string& tenant, const Lane& lane) const;
        void begin(const std::string& tenant, Lane& lane);
        void leave(const std::string& tenant);
        void call_next();
        void call(const std::string& tenant, Lane& lane);
        void tidy(const std::string& tenant);
        Result<> make_room(const std::string& tenant);
        void drop(const std::string& tenant, const std::shared_ptr<Waiter>& waiter);
    };

public:
    Admission(const AdmissionLimits& limits, Timers& timers);

    // One request's place among those under way, until leave() or its end.
    class Turn {
    public:
        Turn() = default;
        Turn(Turn&& other) noexcept { *this = std::move(other); }
        Turn& operator=(Turn&& other) noexcept;
        ~Turn() { leave(); }
        void leave();
        bool waited() const { return waited_; }

    private:
        friend class Admission;
        Turn(std::shared_ptr<Floor> floor, std::string tenant, bool waited)
            : floor_(std::move(floor)), tenant_(std::move(tenant)), waited_(waited) {}
        std::shared_ptr<Floor> floor_;
        std::string tenant_;
        bool waited_ = false;
    };

    // `tenant`: empty for an operator, whose key is not held to a rate. Errors, all of them good for another
    // try a second later: exhausted (rate_limited: this key asks too fast; too_many_requests: so much of this
    // tenant waits already), unavailable (overloaded: all places are taken, for longer than one may wait).
    // And cancelled.
    Task<Turn> enter(std::string tenant, std::string key);
    // Of somebody whom nobody knows, by address. Errors: exhausted (rate_limited).
    Result<> enter_stranger(std::string_view address);

    struct Count {
        std::size_t under_way = 0, waiting = 0;  // Of tenants.
        std::size_t operators_under_way = 0, operators_waiting = 0;
        std::size_t tenants = 0;              // That have something under way or waiting.
        std::size_t keys = 0, strangers = 0;  // Whose rates are kept.
        std::uint64_t unknown = 0;            // Calls without a known credential.
        std::uint64_t admitted = 0, refused_rate = 0, refused_tenant = 0, refused_busy = 0;
    };
    Count count() const;

private:
    Timers& timers_;
    std::shared_ptr<Floor> floor_;
    Rates keys_;
    Rates strangers_;
    Count count_;
};

}  // namespace hostler::master
