// What an operator can set about a master.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "core/rate.h"
#include "domain/cluster/driver.h"
#include "domain/inventory/admission.h"
#include "domain/template/template.h"
#include "ports/series.h"

namespace hostler::master {

// How much of the API is asked at once; see admission.h.
struct AdmissionLimits {
    std::size_t requests_max = 256;                           // Of tenants, under way at once,
    std::size_t requests_tenant_max = 64;                     // and of one of them.
    std::size_t operators_max = 64;                           // Of operators, apart from those.
    std::size_t waiting_max = 1024;                           // Of tenants, waiting for their turn,
    std::size_t waiting_tenant_max = 128;                     // and of one of them, or of operators.
    std::chrono::seconds wait_max{10};                        // Then a request is told to come back.
    std::chrono::seconds body_max{60};                        // Whose body takes longer is cut.
    RateLimit key_rate{.per_second = 200, .burst = 400};      // Of one tenant's key.
    RateLimit stranger_rate{.per_second = 20, .burst = 200};  // Of one address, without a good key.
    std::size_t keys_max = 50'000;                            // Keys, and addresses, whose rates are kept.
};

// How fast passwords may be tried; see sign_in/throttle.h.
struct SignInLimits {
    RateLimit account_rate{.per_second = 0.5,
                           .burst = 10};  // Of one login, from addresses that it did not use,
    RateLimit known_rate{.per_second = 0.5, .burst = 10};  // and from each that it uses.
    RateLimit address_rate{.per_second = 1, .burst = 20};  // Of one address.
    std::chrono::seconds wait_max{5};                      // A longer wait is refused.
    std::size_t waiting_max = 256;                         // At once.
    std::size_t peers_max = 10'000;                        // Logins, and addresses, whose rates are kept.
};

// Of challenges to hosts (domain/inventory/challenge.h). A GPU that has its memory walks 200,000 words in
// some 0.13 s; one that makes each of them anew takes more than 2 s, and one that does so with every other
// more than 1 s.
struct ChallengeLimits {
    std::uint32_t rounds = 512;
    std::uint32_t steps = 200'000;
    std::uint32_t walkers = 1024;
    std::chrono::milliseconds walk_max{
        1000};                            // From our word to the answers, by our clock, the way included.
    std::chrono::minutes every{24 * 60};  // Of each host, about; 0: never.
    int failures_max = 3;                 // In a row, late or without an answer; then it is refused.
};

// Of the operator, for letters to people.
struct MailServer {
    std::string server;  // smtp://HOST:PORT or smtps://HOST:PORT; empty: there is none.
    bool plain = false;  // Without TLS, and so without a password.
    std::string user, password;
    std::string from;  // Address of the sender.
};

struct ZoneSetting {
    std::string name;
    std::string place;
};

enum class TenantsSetting {
    open,      // A tenant is made when it is first used.
    declared,  // A tenant that nobody created is refused.
};
BOOST_DESCRIBE_ENUM(TenantsSetting, open, declared)

struct Settings {
    std::string name = "master";  // Of this one among the masters.
    std::string advertise;        // wire_address as others reach it; empty: as it listens.
    // Leadership's: so long at most nobody leads when a leader dies, and so long, less a third and a tenth, a
    // leader may stand still and go on. It is asked to last on at each third of it.
    std::chrono::milliseconds lease{750};
    std::chrono::milliseconds leader_wait{
        5'000};                                // So long requests wait for one of several masters to lead.
    std::chrono::hours backup_max{2};          // So long at most a client takes a backup; then it is cut off.
    std::string api_address = "127.0.0.1:0";   // HTTP: the API and the sign-in page.
    std::string wire_address = "127.0.0.1:0";  // Access points and gateways.
    std::string public_url;                    // How people reach the API; empty: as it listens.
    bool public_url_guessed = false;           // It was empty, and is the address at which this one listens.
    std::chrono::seconds hsts{180 * 24 * 3600};  // Browsers keep to https:// for this time (HSTS); 0: off.
    std::string operator_key_hash;   // A key that always opens; empty: none but those in the store.
    std::vector<ZoneSetting> zones;  // Made at the first start.
    TenantsSetting tenants = TenantsSetting::open;
    std::vector<InstanceTemplate> templates;  // In the order in which they are shown.
    // Instances' addresses; each pair of a host and a project takes a /24.
    std::string network_pool = "10.208.0.0/12,100.64.0.0/10";
    int own_port_min = 20000;  // Gateway ports for instances where no wildcard domain is,
    int own_port_max = 20999;  // one for each of their ports.

    std::chrono::milliseconds report_interval{10'000};
    // In place of that for hosts with GPUs of a class, as H100; not longer than that.
    std::map<std::string, std::chrono::milliseconds, std::less<>> report_interval_of{};
    std::chrono::milliseconds telemetry_interval{0};  // Between two samples of a host; 0: with reports alone.
    std::chrono::milliseconds watched_interval{1000};  // The same while somebody looks.
    std::chrono::seconds unreachable_after{35};        // Silence.
    std::chrono::seconds lost_after{300};              // Silence.
    // Of loss policy `move`: so long it runs without a word of ours, and so long more we wait before it is
    // begun elsewhere, for hosts that are slow to stop it. All masters of a cloud agree on the first.
    std::chrono::milliseconds move_lease{600'000};
    std::chrono::milliseconds move_margin{120'000};
    std::chrono::seconds start_deadline{900};  // From the command to a ready instance, the pull included.
    std::chrono::seconds ready_deadline{300};  // From its container's start to its probes' answers.
    // Between SIGTERM and SIGKILL, of instances that ask for no time of their own; and the most they may.
    std::chrono::seconds stop_grace{30};
    std::chrono::seconds stop_grace_max{300};
    std::chrono::seconds cluster_deadline{3600};        // From its creation to its first ready node.
    std::vector<Driver> drivers;                        // That clusters may have,
    std::map<std::string, std::string> driver_digests;  // and their digests by name, as agents compare them.
    std::chrono::seconds job_min_run{60};               // A task that runs for less is not preempted.
    std::chrono::seconds stop_notice{900};  // So long before a rule stops an instance its people are told.
    std::chrono::seconds idle_grace{
        900};                           // After an outage of ours nothing is stopped for inactivity so soon.
    std::chrono::hours ended_kept{24};  // An ended instance answers for this time, from the store.
    std::chrono::seconds ended_in_memory{60};  // An ended instance stays in memory for this time,
    std::size_t ended_in_memory_max = 1024;    // and at most this many do.
    // Of one tenant; those that failed and were not deleted stay in memory for `ended_kept`, to be repaired.
    std::size_t repairable_tenant_max = 16;
    std::size_t answers_tenant_max = 10'000;   // To idempotency keys, of one tenant; the oldest make room.
    std::chrono::hours history_kept{90 * 24};  // In the store: events, and what has ended.
    std::chrono::hours audit_kept{365 * 24};   // In the store: lines of the audit.
    // Lines about refused calls of one caller, or failed sign-ins of one account from one address, in a
    // minute; what is more is counted, and told in one line at the minute's end.
    int denial_lines_max = 10;
    SeriesPolicy series_kept;           // How long samples are kept, and how finely.
    std::uint64_t series_disk_max = 0;  // Bytes; beyond it the oldest are given up sooner. 0: no bound.
    std::chrono::hours certificate_life{30 * 24};
    std::chrono::seconds key_cache{15};  // How long a gateway may keep an answer about a credential.
    std::chrono::hours sign_in_life{12};
    std::chrono::seconds session_life{7 * 24 * 3600};  // Longest life of a session of a person.
    std::chrono::seconds session_idle{12 * 3600};      // A session ends after about this time without use.
    bool require_totp = false;                         // People of the whole cloud need a second factor.
    SignInLimits sign_in;

    std::chrono::seconds alert_interval{15};  // Between two looks at what alert rules ask for.

    std::size_t pulls_ahead_max = 32;      // Images that come in advance at once, on all hosts,
    std::size_t pulls_ahead_host_max = 2;  // and on one of them.

    AdmissionRule host_admission = AdmissionRule::standard;
    ChallengeLimits challenge;
    std::size_t measured_at_once_max = 32;  // Hosts,
    std::size_t proving_at_once_max = 2;    // and those that are challenged.

    std::chrono::minutes network_every{12 * 60};  // Each host's ways are measured, about; 0: never.

    std::int64_t pids_max = 4096;  // Processes and threads of an instance.
    // What an instance may write beside its volumes: bytes, of which a quarter may be inodes of 512; 0: no
    // limit.
    std::int64_t instance_disk_bytes = std::int64_t{10} << 30;
    // Layers that a host makes ahead, one for each idle slot; 0: none.
    std::size_t layers_ahead_host_max = 4;
    bool require_disk_limit = false;  // Hosts that cannot enforce it get nothing new.
    AdmissionLimits admission;
    std::size_t connections_max = 4096;          // Of the API; then strangers make room for newcomers.
    std::size_t connections_address_max = 1024;  // Of one address, or of one /64 of IPv6.
    std::chrono::seconds first_time{10};         // From a connection to the first byte of its first request.
    std::size_t watches_max = 256;               // Of tenants, at once,
    std::size_t watches_tenant_max = 64;         // and of one of them, or of operators, apart from those.
    std::size_t watches_actor_max = 32;          // And of one caller.
    std::chrono::seconds watch_write_max{30};    // A watcher that takes so long for one event is cut.
    std::size_t feed_max = 8192;                 // Changes of a kind, kept for watches that come back;
    std::size_t changes_max = 20'000;            // and of all kinds, for those over all.
    MailServer mail;
};

}  // namespace hostler::master
