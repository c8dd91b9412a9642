// The last changes of a term, of all kinds, in the order in which they became durable. Bounded: who falls too
// far behind reads everything again.
#pragma once

#include <deque>
#include <vector>

#include "core/signal.h"
#include "core/task.h"
#include "roles/master/changes/notice.h"

namespace hostler::master {

class ChangeLog {
public:
    explicit ChangeLog(std::size_t size_max) : size_max_(size_max) {}

    void publish(std::vector<Notice> notices);
    void close();
    void beat();  // Those who wait look whether they may still be told.

    // The number of the newest; the first has 1.
    std::uint64_t last() const { return forgotten_ + notices_.size(); }
    // Whether all behind this number are here.
    bool reaches_back_to(std::uint64_t number) const { return number >= forgotten_ && number <= last(); }
    // forgotten < number <= last().
    const Notice& at(std::uint64_t number) const {
        return notices_[static_cast<std::size_t>(number - forgotten_ - 1)];
    }
    std::size_t size() const { return notices_.size(); }

    // Until there is one behind this number, or a beat. Errors: unavailable (closed), cancelled.
    Task<> behind(std::uint64_t number);

private:
    std::size_t size_max_;
    std::deque<Notice> notices_;
    std::uint64_t forgotten_ = 0;  // So many came before the first that is here.
    std::uint64_t beats_ = 0;
    bool closed_ = false;
    Signal changed_;
};

}  // namespace hostler::master
