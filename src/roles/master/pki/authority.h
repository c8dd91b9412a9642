// One certificate authority follows another, in steps of which none cuts anybody off.
#pragma once

#include "ports/authority.h"
#include "ports/digest.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// Each may be repeated: what is so already stays so. Errors: conflict: rotation_under_way,
// rotation_not_begun. The keys of a new one are there when begin_rotation() returns: those of nobody are no
// harm.
Result<> begin_rotation(Desk& desk, Authority& authority, WallTime now);
// Errors also: conflict: authority_old: the next one's keys are not here.
Result<> issue_by_next(Desk& desk, Authority& authority);
enum class Holders { must_have_changed, may_be_cut_off };
// Errors also: conflict: authority_in_use, naming who would be cut off.
Result<> withdraw_former(Desk& desk, Holders holders);

// When a term begins: what the store says of the keys that are here. Keys that are ahead of the store are
// believed if it calls the newest `next`, or was restored since. Errors: conflict: authority_old: there are
// newer keys than these, or these are nobody's.
Result<> agree_on_authority(Desk& desk, Authority& authority);
// By level, of what is durable: has the keys follow. Errors: those of Authority::keep().
Result<> follow_authority(const Estate& estate, Authority& authority);

// What it says to hold. Before the first rotation nobody is asked, and nothing noted.
void note_holding(Desk& desk, const Authority& authority, const Digest& digest, const std::string& name,
                  const std::string& certificate, const std::string& believed);

struct Holding {
    std::string name;       // "host/h-4f2a"
    std::string authority;  // Who signed its certificate; empty: it has not said so.
    bool renewed = false;   // By who issues now.
    bool current = false;   // And it believes whom it should.
};
// Everybody who stands on the authority; nobody before the first rotation.
std::vector<Holding> holdings(const Estate& estate, const Authority& authority, const Digest& digest);

}  // namespace hostler::master
