#include "lease_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler::simulation {

namespace {

std::string words(const Leading& one) { return fmt::format("{} in epoch {}", one.who, one.epoch); }

std::int64_t ms(Duration time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); }

}  // namespace

void LeaseWatch::led(const Leading& by, Duration length, Instant now) {
    if (by.epoch <= epoch_)
        found_.report(Invariant::order, fmt::format("the database lets {} lead, and was at epoch {} before",
                                                    words(by), epoch_));
    epoch_ = std::max(epoch_, by.epoch);
    length_ = std::max(length_, length);
    grants_[by] = {now, now + length};
}

void LeaseWatch::renewed(const Leading& by, Duration length, Instant now) {
    if (by.epoch != epoch_)
        found_.report(Invariant::order,
                      fmt::format("the database renews {}, and is at epoch {}", words(by), epoch_));
    grants_[by] = {now, now + length};
}

// Two never both commit.
void LeaseWatch::committed(std::uint64_t epoch, std::uint64_t number) {
    if (epoch != epoch_ || number <= number_)
        found_.report(Invariant::order,
                      fmt::format("the database takes commit {} of epoch {}, and is at commit {} of epoch {}",
                                  number, epoch, number_, epoch_));
    number_ = std::max(number_, number);
}

void LeaseWatch::rewound(std::uint64_t epoch, std::uint64_t number, bool promised) {
    if (promised && epoch < served_)
        found_.report(Invariant::order,
                      fmt::format("the database came back at epoch {}, and {} has led", epoch, served_));
    if (!promised) served_ = epoch;
    epoch_ = epoch;
    number_ = number;
}

void LeaseWatch::look(const std::vector<Leading>& leaders, Instant now) {
    for (const Leading& one : leaders) {
        served_ = std::max(served_, one.epoch);
        const auto grant = grants_.find(one);
        if (grant != grants_.end() && now < grant->second.until) continue;
        if (!outlived_.insert(one).second) continue;
        found_.report(Invariant::lease, grant == grants_.end()
                                            ? fmt::format("{} leads, and has no lease", words(one))
                                            : fmt::format("{} leads {} ms after its lease", words(one),
                                                          ms(now - grant->second.until)));
    }
    for (std::size_t i = 1; i < leaders.size(); ++i) check_alone(leaders[i - 1], leaders[i]);
}

// A clock that is put forward ends a lease before its holder can know: for what was left of it two may lead.
void LeaseWatch::check_alone(const Leading& one, const Leading& other) {
    const auto older = grants_.find(one.epoch < other.epoch ? one : other);
    if (older != grants_.end() && put_forward_ > older->second.since) return;
    found_.report(Invariant::one_leader, fmt::format("{} and {} lead at one time", words(one), words(other)));
}

bool LeaseWatch::may_be_old(Instant asked, Instant now) const {
    return put_forward_ != Instant::min() && asked <= put_forward_ + length_ && now >= put_forward_;
}

}  // namespace hostler::simulation
