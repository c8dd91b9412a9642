// What an agent needs to know, and what it stands on.
#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"
#include "ports/authority.h"
#include "ports/engine.h"
#include "ports/journal.h"
#include "ports/logs.h"
#include "ports/network.h"
#include "ports/telemetry.h"
#include "ports/volumes.h"

namespace hostler::agent {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Settings {
    std::vector<std::string>
        access;           // Where access points answer, "nj.example.com:7443"; the first is tried first.
    std::string token;    // One-time; used only while no identity is stored.
    std::string version;  // Ours, told to the master.

    Duration dial_deadline = seconds{10};  // Dialling and TLS, each.
    Duration call_deadline = seconds{20};  // Joining, renewing, being welcomed.
    // Between two tries to reach an access point; doubles, jittered.
    Duration backoff_min = milliseconds{200};
    Duration backoff_max = seconds{30};
    Duration watch_interval = seconds{1};      // Between two looks at the containers.
    Duration coalesce = milliseconds{50};      // Changes within it travel in one report.
    Duration discover_interval = seconds{30};  // Between two looks for GPUs; at once after a fault.
    Duration sample_wait = milliseconds{500};  // What has not answered by then is left out of a report.
    Duration answer_interval = seconds{5};     // An answer nobody acknowledged is sent again.
    Duration engine_deadline = seconds{30};  // A look at the engine; longer calls are the adapter's to bound.
    Duration tunnel_handshake = seconds{10};
    Duration renewal_check = minutes{10};

    std::size_t reports_max = 512;           // Kept until acknowledged.
    std::size_t starts_parallel_max = 16;    // Starts and pulls at one time.
    std::size_t tunnels_max = 4096;          // On this host.
    std::size_t tunnels_instance_max = 512;  // To one instance.
};

// All of them outlive the agent, and live on its loop.
struct Ports {
    Loop& loop;
    Timers& timers;
    Net& net;
    Random& random;
    Engine& engine;
    HostNetwork& networks;
    HostVolumes& volumes;
    Journal& journal;
    LogStore& logs;
    std::vector<Telemetry*> telemetry;  // The most telling first: drivers, then the bus.
    HostTelemetry& host;
    Keys& keys;
};

}  // namespace hostler::agent
