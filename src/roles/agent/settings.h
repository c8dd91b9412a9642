// What an agent needs to know, and what it stands on.
#pragma once

#include <string>
#include <vector>

#include "core/random.h"
#include "core/stream.h"
#include "core/timers.h"
#include "ports/authority.h"
#include "ports/bench.h"
#include "ports/drivers.h"
#include "ports/engine.h"
#include "ports/engine_events.h"
#include "ports/exec.h"
#include "ports/images.h"
#include "ports/journal.h"
#include "ports/layers.h"
#include "ports/leases.h"
#include "ports/logs.h"
#include "ports/names.h"
#include "ports/network.h"
#include "ports/node_steps.h"
#include "ports/pod_devices.h"
#include "ports/processes.h"
#include "ports/sealer.h"
#include "ports/telemetry.h"
#include "ports/volumes.h"

namespace hostler::agent {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Settings {
    // Where access points answer, "access.example.com:7441": names stand for all of their addresses. The
    // first is tried first; the master tells of all others.
    std::vector<std::string> access;
    std::string token;    // One-time; used only while no identity is stored.
    std::string version;  // Ours, told to the master.

    Duration dial_deadline = seconds{10};  // Dialling and TLS, each.
    Duration call_deadline = seconds{20};  // Joining, renewing, being welcomed where there is one way only.
    Duration hello_deadline = seconds{4};  // Being welcomed where there is another way.
    // Silence before the access point that we speak through is asked whether it is there, and before it
    // counts as gone: well below the master's patience with us (35 s). Tunnels do not wait for it, the
    // standby has them.
    Duration ping_interval = seconds{3};
    Duration patience = seconds{8};
    Duration standby_ping_interval = seconds{10};
    Duration standby_patience = seconds{25};
    Duration measure_first = seconds{2};  // Between rounds of measurements: the first few,
    Duration measure_then = seconds{60};  // and then; jittered by a quarter.
    Duration resolve_interval = minutes{5};
    std::size_t uplinks = 2;  // Access points to be connected to at once: 2, or 1 for no standby.
    // Between two tries to reach an access point; doubles, jittered.
    Duration backoff_min = milliseconds{200};
    Duration backoff_max = seconds{30};
    Duration watch_interval = seconds{1};       // Between two looks at the containers,
    Duration list_interval = seconds{30};       // and while the engine tells what happens to them.
    Duration engine_ask_interval = seconds{5};  // Between two questions whether it is there, meanwhile.
    Duration news_late_max = seconds{2};        // For what it tells; later it does not tell it.
    // Since it told something: until then a look is at most a watch_interval after the one before.
    Duration news_settle = seconds{5};
    Duration coalesce = milliseconds{50};      // Changes within it travel in one report.
    Duration discover_interval = seconds{30};  // Between two looks for GPUs; at once after a fault.
    Duration gpu_look_interval =
        seconds{4};                  // Between two samples at most, reported or not: faults show in them.
    Duration gpu_test = minutes{5};  // How long a GPU that was reset must show no fault before it returns.
    Duration images_interval = minutes{1};     // Between two looks at which images are here.
    Duration sample_wait = milliseconds{500};  // What has not answered by then is left out of a report.
    Duration answer_interval = seconds{5};     // An answer nobody acknowledged is sent again.
    // An engine that is started again is away for a moment; silent for longer, the host takes nothing new.
    Duration engine_grace = seconds{5};
    Duration engine_deadline = seconds{30};  // A look at the engine; longer calls are the adapter's to bound.
    Duration tunnel_handshake = seconds{10};
    Duration renewal_check = minutes{10};
    Duration jupyter_interval =
        seconds{10};  // Between two questions to a notebook server, whether it is used.
    Duration jupyter_deadline = seconds{3};  // For each of its answers.
    Duration kills_interval = seconds{5};    // Between two looks for processes that were killed for memory.
    Duration path_deadline = seconds{60};    // For the master's word where the paths of a challenge begin.
    Duration speed_deadline = seconds{60};  // For all that an access point wants in order to measure our way.
    Duration busy_look = seconds{1};  // So long its traffic is counted before: a link in use is left alone.
    Duration retest_again = minutes{1};  // After a benchmark that could not begin.

    Duration registry_pause = seconds{2};  // Before one that cannot be reached is asked again; doubles.
    int registry_tries_max = 5;

    std::size_t reports_max = 512;           // Kept until acknowledged.
    std::size_t starts_parallel_max = 16;    // Starts and pulls at one time.
    std::size_t images_max = 1024;           // Names of images that are told.
    std::size_t tunnels_max = 4096;          // On this host.
    std::size_t tunnels_instance_max = 512;  // To one instance.

    std::size_t sessions_max = 1024;           // Terminals, commands, forwarded connections, on this host.
    std::size_t sessions_instance_max = 128;   // Of one instance.
    Duration session_kept = seconds{60};       // Without a connection.
    Duration session_last_words = seconds{3};  // For a command that is asked to end.

    // Its operator lets clusters have this host: as root, the steps of these drivers and nothing else.
    bool clusters = false;
    Drivers drivers{};
    std::string cluster_files;  // Their {{agent.folder}}: absolute.
    std::string cluster_saves;  // Their {{saves.folder}}, which hosts share: absolute. Empty: there is none.
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
    Names* names = nullptr;           // Null: what --access says is dialled as it is.
    Exec* exec = nullptr;             // Without it nobody enters an instance.
    Images* images = nullptr;         // Null: it does not tell which images it has.
    LeaseBook* leases = nullptr;      // Null: it runs nothing that may move.
    GpuBench* gpu_bench = nullptr;    // Null: it measures nothing.
    DiskBench* disk_bench = nullptr;  // With the GPUs' too; null: not the disk.
    KeptLayers* layers = nullptr;     // Null: what containers write goes with them.
    Sealer* sealer = nullptr;         // Of commands in the journal; has a key. Null: they are not sealed.
    EngineEvents* events = nullptr;   // Null: containers are listed each second.
    Processes* processes = nullptr;   // Null: nothing is known of what runs in containers.
    NodeSteps* node_steps = nullptr;  // Null: this host is no node of a cluster, as without `clusters`.
    // Null: pods of a cluster get no GPU.
    PodDevices* pod_devices = nullptr;
};

}  // namespace hostler::agent
