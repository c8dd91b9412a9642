// Tasks that find no room go where what nobody uses gives way.
#pragma once

#include "domain/scheduler/fleet.h"

namespace hostler {

// What is claimed in the fleet and not used: a slot of the stock.
struct Lent {
    std::string id;
    std::string kind;  // Its spec.
    Choice held;
};

inline constexpr int gang_tries_max = 2'000;  // Sets looked at for one gang.

struct MadeRoom {
    std::vector<Choice> choices;    // One for each task, in their order; empty: they do not all fit.
    std::vector<std::string> gone;  // Whose room it takes, by their ids.
};

// One task after the other, the large first: where there is room, else on a host where the fewest of `lent`
// have to go, of as few those with the fewest GPUs, then the first; of such hosts the best. Of a kind at most
// so many go, of one that is not named none. For a single task nothing less does; for several something less
// might, and a way may be missed. None is found once gang_tries_max are used up. The fleet is as it was
// afterwards.
MadeRoom make_room(Fleet& fleet, const Gang& gang, const std::vector<Lent>& lent,
                   const std::map<std::string, int>& at_most);

}  // namespace hostler
