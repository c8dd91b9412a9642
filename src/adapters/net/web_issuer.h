// An authority for browsers and programs, for a cloud on one machine that has no names of the Internet. It is
// apart from the one that certifies roles: people put it among those that their browser believes, so it can
// vouch for its own few names alone.
#pragma once

#include <string>

#include "core/random.h"
#include "core/result.h"
#include "core/server_names.h"
#include "core/timers.h"

namespace hostler::net {

// As PEM.
struct WebPair {
    std::string certificate;
    std::string key;
};

// Good for ten years, for these names and what is below them. Errors: invalid: a name that cannot be one.
Result<WebPair> new_web_authority(const ServerNames& names, Random& random, WallTime now);
// A server's, good for `life`. Errors: invalid.
Result<WebPair> issue_web(const WebPair& authority, const ServerNames& names, Random& random, WallTime now,
                          Duration life);
// Whether the pair can be shown until `until`, signed by this authority for all these names. Errors: none;
// what cannot be read is not good.
bool is_good_web(const WebPair& pair, const std::string& authority, const ServerNames& names, WallTime until);

}  // namespace hostler::net
