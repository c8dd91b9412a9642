// What changed, commit by commit, for those who watch. Bounded: who falls too far behind begins anew.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/signal.h"
#include "roles/master/estate.h"

namespace hostler::master {

class Feed {
public:
    explicit Feed(std::size_t size_max, std::uint64_t number)
        : size_max_(size_max), first_(number), last_(number) {}

    void publish(std::uint64_t number, std::vector<Touched> touched);
    void close();
    void beat();  // Those who wait get news of nothing, so that they can tell that they are here.

    // All of `kind` touched after commit `after`; waits while there is nothing and no beat. `last`: up to
    // which commit that is. Errors: exhausted (feed_too_old: `after` is too long ago, or of another history),
    // unavailable (closed), cancelled.
    struct News {
        std::uint64_t last = 0;
        std::vector<std::string> ids;
    };
    Task<News> next(std::string kind, std::uint64_t after);
    std::uint64_t last() const { return last_; }

private:
    struct Entry {
        std::uint64_t number;
        Touched touched;
    };
    std::size_t size_max_;
    std::uint64_t first_;  // Everything after this commit is here.
    std::uint64_t last_;
    std::deque<Entry> entries_;
    Signal changed_;
    std::uint64_t beats_ = 0;
    bool closed_ = false;
};

}  // namespace hostler::master
