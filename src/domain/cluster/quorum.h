// Members of a control plane's store: which may go, and when one may come.
#pragma once

namespace hostler {

// How many of `members` have to answer so that the store takes changes.
constexpr int majority(int members) { return members / 2 + 1; }

struct Quorum {
    int members = 0;  // That the store counts.
    int healthy = 0;  // Of these, that answer.
    constexpr bool holds() const { return members > 0 && healthy >= majority(members); }

    // Whether a member may go: the store can agree on it now, and the others still have a majority
    // afterwards.
    constexpr bool may_lose(bool is_healthy) const {
        const int left = members - 1, answer = healthy - (is_healthy ? 1 : 0);
        return holds() && left > 0 && answer >= majority(left);
    }
    // Whether one may come: it learns before it counts, so one that does not answer would be the only danger.
    constexpr bool may_gain() const { return members > 0 && healthy == members; }
};

static_assert(Quorum{3, 3}.may_lose(true) && Quorum{3, 2}.may_lose(false));
static_assert(!Quorum{3, 2}.may_lose(true) && !Quorum{3, 1}.may_lose(false) && !Quorum{1, 1}.may_lose(true));
static_assert(Quorum{2, 2}.may_lose(true) && !Quorum{2, 1}.may_lose(false));

}  // namespace hostler
