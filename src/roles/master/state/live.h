// What is known only while it is so: who is connected, what hosts said last. Never stored, begins empty in
// each term.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/rate.h"
#include "core/timers.h"
#include "domain/instance/instance.h"
#include "domain/instance/plan.h"
#include "domain/inventory/challenge.h"
#include "domain/inventory/metrics.h"
#include "domain/inventory/sample.h"
#include "roles/master/state/parts.h"
#include "roles/master/state/trial_map.h"

namespace hostler::master {

struct SeenWorkload {
    std::string state;  // created running exited
    std::uint64_t generation = 0;
    bool ready = false;
    int exit_code = 0;
    bool oom_killed = false;
    std::string detail;
    std::string tenant;
    std::vector<std::string> gpus;
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::optional<std::int64_t>
        unused_ms{};  // At `heard_at`; 0: it was in use; nullopt: its host does not say.
    std::string used_by{};
    std::int64_t heard_at = 0;  // When the report came.
    // What its container says of itself.
    std::string project{};
    std::string name{};
    std::string image{};
    std::string network{};
    std::string address{};
    std::vector<InstancePort> ports{};
    std::vector<InstanceVolume> mounts{};
    int jupyter_port = 0;
    std::string jupyter_path{};
    bool lease_ended = false;  // It was stopped because its lease had run out.
    struct MemoryKills {
        std::int64_t count = 0;
        std::string process;
    };
    std::optional<MemoryKills> memory_kills{};  // Of its processes; nullopt: its host does not say.
    int processes = 0;                          // And threads,
    int processes_max = 0;                      // that it may have; 0: not known.
};

// What an instance wrote beside its volumes, kept on a host.
struct SeenLayer {
    std::int64_t bytes = 0;        // Of its disk.
    std::int64_t kept_at = 0;      // By its clock.
    std::uint64_t generation = 0;  // The highest of the instance that it has obeyed; 0: it does not know.
};

// How full the volumes and the layers of running instances are on a host, by their ids.
struct DiskUses {
    std::map<std::string, DiskUse> volumes{};
    std::map<std::string, DiskUse> layers{};
    bool operator==(const DiskUses&) const = default;
};

// Of a host's rows of such in the series: whose it is now, and since when.
struct SeriesDevice;
struct DiskRow {
    int number = 0;
    std::int64_t from = 0;  // Milliseconds.
    std::shared_ptr<const SeriesDevice> device{};
};

// The same of what an instance uses: its counters stand in the series from `base` on.
struct InstanceRow {
    DiskRow row{};
    InstanceSample base{};
    InstanceSample last{};  // As its host last told.
};

// The GPUs of a node that its pods may have.
struct PodDevicesTold {
    std::uint32_t offered = 0;
    std::optional<std::uint32_t> allocated{};  // nullopt: its kubelet did not tell.
    std::uint64_t allocations = 0;             // Since its agent began,
    std::uint64_t refused = 0;                 // and those that failed.
};

// One that is under way.
struct HostChallenge {
    std::string command;
    GpuChallenge challenge;
    Instant told{};  // When its host was told where the paths begin.
    bool walked = false;
};

struct HostLive {
    bool connected = false;
    std::string access;         // The access point it speaks through,
    std::uint64_t session = 0;  // and its number there.
    std::map<std::string, std::uint64_t>
        ways;              // Its newest session at each access point: tunnels go through any.
    bool fresh = false;    // Nothing came since its last hello.
    bool greeted = false;  // It said hello on the session that counts.
    std::string life;      // Of its process, as its hello said; empty: an older agent, which counts nothing.
    std::uint64_t boot_heard =
        0;                   // Invitations of this term that came before the first hello of its last boot.
    std::uint64_t turn = 0;  // Of its last hello: what an older session still says is past.
    std::uint64_t asked_on = 0;         // The channel on which it was asked to say hello again.
    std::uint64_t last_sequence = 0;    // Its reports up to here are noted,
    std::uint64_t acknowledged = 0;     // and up to here durable, with their samples.
    std::uint64_t reports_dropped = 0;  // That it had no room for, as it says;
    std::uint64_t reports_lost = 0;  // that are missing though it says nothing of it: never, if all is well.
    std::uint64_t access_told = 0;   // Which list of access points it has.
    std::uint32_t rtt_us = 0;        // To its access point; 0: not measured.
    Instant heard{};                 // Its last word,
    std::int64_t heard_at = 0;       // the same for people.
    std::int64_t reachable_since = 0;  // It has reported without a gap that counts as silence.
    // Of the values in its samples, as its hello said.
    MetricOrder gpu_order, host_order, slice_order, instance_order;
    std::map<std::string, GpuSample> samples;          // The last of each GPU.
    std::optional<HostSample> sample;                  // Its own last one.
    std::vector<WorkloadUse> uses;                     // As of then.
    std::int64_t sampled_at = 0;                       // When that came.
    std::uint64_t telemetry_dropped = 0;               // That it had no room for, as it says.
    Instant watched_until{};                           // It was asked to tell more often until then.
    std::optional<std::set<std::string>> images;       // That it has, by full names; nullopt: it did not say.
    bool keeps_leases = false;                         // Its agent does, as its hello said.
    bool takes_secrets = false;                        // The same: its agent keeps secrets out of its files.
    std::string boot_id;                               // As its hello said,
    std::uint64_t stamp_us = 0;                        // and its time since then when it last spoke.
    bool complete = false;                             // It has said all that it has since it connected.
    std::map<std::string, SeenWorkload> workloads;     // By instance.
    std::map<std::string, SeenLayer> layers;           // By instance, that it keeps.
    std::optional<DiskUses> disks;                     // As last told; nullopt: not measured.
    std::map<std::string, DiskRow> disk_rows;          // By "volume/v-…" and "layer/i-…".
    std::map<std::string, InstanceRow> instance_rows;  // By instance.
    std::uint32_t layers_ahead = 0;                    // Empty ones that it has made ahead.
    std::optional<PodDevicesTold> pod_devices;         // nullopt: it is no node.
    std::map<std::string, Rate> pod_changes;  // Of each GPU: how often its series may name another pod.
    std::optional<Rate> foreign;              // Of claims for workloads that the store does not know.
    bool foreign_refused = false;             // It was told of.
    std::map<std::string, int> missed;        // Complete reports in a row in which it was not started.
    bool judged = false;                      // Whether it may sell was decided on what is known of it.
    std::int64_t measure_rest_until = 0;      // It could not be measured a moment ago,
    int measure_failures = 0;                 // so often in a row.
    std::set<std::string> gpu_marks{};        // Ids and serial numbers of its GPUs.
    std::optional<HostChallenge> challenge{};
    bool measures_speed = false;  // Its agent does, as its hello said.
    // By access point: the way to it could not be measured a moment ago.
    std::map<std::string, std::int64_t> speed_rest_until{};
    // Of each GPU and code: when who holds it was told.
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> fault_told;
};

// Of a host, that it is believed to have: more than a host can run.
inline constexpr std::size_t workloads_host_max = 1024;

// Kept layers of a host that it is believed to have: more than it could be told of in a report.
inline constexpr std::size_t layers_host_max = 16'384;

// Volumes and layers of a host whose use it is believed to tell, and of each of the two whose series are
// kept.
inline constexpr std::size_t disks_host_max = 4096;
inline constexpr int disk_series_host_max = 64;

// How often the series of a GPU may name another pod: beyond it they name none. Each name stays in memory for
// a day or two, and is another series to whatever receives samples by remote write.
inline constexpr RateLimit pod_changes_max{.per_second = 1.0 / 60, .burst = 60};

// Instances of a host whose use has series.
inline constexpr int instance_series_host_max = 256;

// A single report may be older than the container it lacks, or than its start.
inline constexpr int reports_to_believe = 2;

// Its end is wanted, by a command newer than its start. A report without it may be older than a start that is
// still on its way; only a host that has obeyed the newer command will refuse that one.
inline bool only_its_answer_counts(const Instance& instance) {
    return instance.meta.generation > instance.run_generation;
}

// An image that could not be had on a host.
struct PullFailure {
    int times = 0;  // In a row.
    std::string reason;
    std::string message;
    std::int64_t rest_until = 0;
};

struct AccessLive {
    bool connected = false;
    std::string version;
    std::int64_t seen_at = 0;
    std::uint32_t sessions_max = 0;  // Agents that it takes; 0: it did not say.
    std::uint32_t tunnels = 0;
    std::uint32_t banned = 0;
    std::optional<bool> drain_told{};  // What it knows of its draining.
};

struct GatewayLive {
    std::string version;
    int links = 0;           // A new one may come before the old one is noticed to be gone.
    std::int64_t since = 0;  // When it was linked, or went.
};

// Another master, which has asked this one for something while this one leads.
struct MasterLive {
    std::string address;  // Of its connections.
    std::string version;
    std::int64_t since = 0;  // It was first heard of.
    std::int64_t heard_at = 0;
};

struct Live {
    std::int64_t began_at = 0;  // This term.
    TrialMap<std::string, HostLive> hosts;
    std::map<std::string, AccessLive> access_points;
    std::map<std::string, GatewayLive> gateway_links;  // Of this term.
    std::map<std::string, MasterLive> masters;         // By name; see note_master().
    int gateways = 0;                                  // That are connected,
    std::int64_t gateways_since = 0;                   // and since when there was always one.
    TrialMap<std::string, std::int64_t> rest_until;    // Subjects of commands that failed a moment ago.

    TrialMap<std::pair<std::string, std::string>, PullFailure> pull_failures;  // By host and image.
    TrialMap<std::string, std::set<std::string>> gpu_marks;  // Hosts, by what they say of their GPUs.
    bool gpu_marks_known = false;                            // Of all that are in the estate.

    // Names (UsedName::id_of) of instances that left memory and are not in the store as ended yet.
    std::set<std::string> archiving;

    std::uint64_t audit_pruned = 0;       // Lines of the audit that this term has taken out.
    std::uint64_t workloads_refused = 0;  // That hosts named beyond what they are believed.
    std::uint64_t pod_allocations = 0;    // Of GPUs to containers of pods that hosts told of in this term,
    std::uint64_t pod_refusals = 0;       // and those that they refused.

    // What a feature keeps here, see Parts.
    template <class T>
    T& part() {
        return parts_.of<T>();
    }
    template <class T>
    const T& part() const {
        return parts_.of<T>();
    }
    Parts& parts() { return parts_; }

    // Undoes at its end what was changed while it was there. One may be within another.
    class Trial {
    public:
        explicit Trial(Live& live)
            : live_(live),
              access_points_(live.access_points),
              archiving_(live.archiving),
              gpu_marks_known_(live.gpu_marks_known),
              workloads_refused_(live.workloads_refused),
              pod_allocations_(live.pod_allocations),
              pod_refusals_(live.pod_refusals),
              parts_(live.parts_) {
            each_map([](auto& map) { map.begin_trial(); });
        }
        ~Trial() {
            each_map([](auto& map) { map.end_trial(); });
            live_.access_points = std::move(access_points_);
            live_.archiving = std::move(archiving_);
            live_.gpu_marks_known = gpu_marks_known_;
            live_.workloads_refused = workloads_refused_;
            live_.pod_allocations = pod_allocations_;
            live_.pod_refusals = pod_refusals_;
            live_.parts_.restore(std::move(parts_));
        }
        Trial(const Trial&) = delete;
        Trial& operator=(const Trial&) = delete;

    private:
        void each_map(auto visit) {
            visit(live_.hosts), visit(live_.rest_until), visit(live_.pull_failures), visit(live_.gpu_marks);
        }
        Live& live_;
        std::map<std::string, AccessLive> access_points_;
        std::set<std::string> archiving_;
        bool gpu_marks_known_;
        std::uint64_t workloads_refused_;
        std::uint64_t pod_allocations_;
        std::uint64_t pod_refusals_;
        Parts parts_;
    };

    static constexpr std::size_t masters_max = 64;  // The one that is silent for longest makes room.
    void note_master(const std::string& name, std::string_view address, std::string_view version,
                     std::int64_t now) {
        if (!masters.contains(name) && masters.size() >= masters_max)
            masters.erase(
                std::ranges::min_element(masters, {}, [](const auto& one) { return one.second.heard_at; }));
        MasterLive& live = masters[name];
        if (live.since == 0) live.since = now;
        live.heard_at = now;
        live.address = address;
        if (!version.empty()) live.version = version;
    }

    Seen seen(const std::string& host, const std::string& instance) const {
        const auto at = hosts.find(host);
        if (at == hosts.end() || !at->second.connected || !at->second.complete) return Seen::unknown;
        const auto missed = at->second.missed.find(instance);
        const bool believed = missed != at->second.missed.end() && missed->second >= reports_to_believe;
        const auto workload = at->second.workloads.find(instance);
        if (workload == at->second.workloads.end()) return believed ? Seen::absent : Seen::unknown;
        if (workload->second.state == "exited") return Seen::ended;
        return believed && workload->second.state == "created" ? Seen::made : Seen::alive;
    }

private:
    Parts parts_;
};

}  // namespace hostler::master
