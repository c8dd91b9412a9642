// What changed, commit by commit, for those who watch. Bounded: who falls too far behind begins anew. Each
// kind has its own list, so that nobody is woken by, or looks through, what he does not watch.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/signal.h"
#include "roles/master/state/estate.h"

namespace hostler::master {

class Feed {
public:
    static constexpr std::size_t news_max = 128;  // Told at once.

    // `size_max`: changes kept of each kind. `number`: of the last commit before it began.
    Feed(std::size_t size_max, std::uint64_t number) : size_max_(size_max), began_(number), last_(number) {}

    void publish(std::uint64_t number, std::vector<Touched> touched);
    void close();
    void beat();  // Those who wait get news of nothing, so that they can tell that they are here.

    // How far a watch has come.
    struct Place {
        std::uint64_t change = 0;  // The next of its kind.
        std::uint64_t commit = 0;  // All of this one and of those before was told.
    };
    Place end(const std::string& kind) const;
    // Behind a commit. Errors: not_found (watch_expired: too long ago, or of another history).
    Result<Place> behind(const std::string& kind, std::uint64_t commit) const;

    // Those of `kind` touched since, each once; waits while there are none and no beat. Errors: not_found
    // (watch_expired), unavailable (closed), cancelled.
    struct News {
        Place place;  // Behind them. When its commit is the same as before, more of the next is to come.
        std::vector<std::string> ids;
    };
    Task<News> next(std::string kind, Place from);
    std::uint64_t last() const { return last_; }
    std::size_t size() const;  // Changes kept, of all kinds.

private:
    struct Change {
        std::uint64_t commit;
        std::string id;
    };
    struct Lane {
        std::deque<Change> changes;
        std::uint64_t forgotten = 0;         // So many came before the first that is here,
        std::uint64_t forgotten_commit = 0;  // the last of them with this commit.
        Signal changed;
    };
    Lane& lane(const std::string& kind);

    std::size_t size_max_;
    std::uint64_t began_;
    std::uint64_t last_;
    std::map<std::string, Lane> lanes_;
    std::uint64_t beats_ = 0;
    bool closed_ = false;
};

}  // namespace hostler::master
