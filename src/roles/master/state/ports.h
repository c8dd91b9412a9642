// What a master stands on. All of it outlives the master, and lives on its loop.
#pragma once

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"
#include "core/worker.h"
#include "http/arrival.h"
#include "http/static_files.h"
#include "ports/authority.h"
#include "ports/certified.h"
#include "ports/digest.h"
#include "ports/issued_keys.h"
#include "ports/outgoing.h"
#include "ports/passwords.h"
#include "ports/sealer.h"
#include "ports/series.h"
#include "ports/series_mirror.h"
#include "ports/store.h"
#include "ports/token_verifier.h"

namespace hostler::master {

struct Ports {
    Loop& loop;
    Timers& timers;
    Net& net;
    Random& random;
    Store& store;
    Authority& authority;
    Digest& digest;
    Certified& own;                         // Of identity master/….
    SeriesStore& series;                    // This master's own.
    Outgoing& outgoing;                     // To whoever is told of alerts.
    Sealer& sealer;                         // Of what is secret in the store.
    Passwords& passwords;                   // Of people.
    const IssuedKeys* issued = nullptr;     // Null: nobody wrote any down.
    Worker* checker = nullptr;              // Walks challenges again; null: no host is challenged.
    SeriesMirror* mirror = nullptr;         // Of `series`. Null: it follows nobody's, and passes none on.
    http::Arrival arrival{};                // Of those who come to the API.
    const TokenVerifier* tokens = nullptr;  // Null: no identity provider is believed.
    std::span<const http::StaticFile> console{};  // Empty: there is none.
};

}  // namespace hostler::master
