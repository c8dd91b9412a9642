// Hosts: how they join, what they say, when their silence counts.
#pragma once

#include <optional>

#include "roles/master/state/host_report.h"

namespace hostler::api {
struct UpdateHost;
}

namespace hostler::master {

struct Joined {
    std::string host;
    std::string zone;
    std::string
        certificate;  // Not empty: the token was used with this very request before; the answer is the same.
};

// Spends a token. The certificate is signed by the caller and kept by keep_certificate(). Errors:
// unauthenticated (no such token, used, expired).
Result<Joined> join_host(Desk& desk, const std::string& token_hash, const std::string& csr_digest,
                         const std::string& hostname);
// Whether a host may have the key of this fingerprint certified anew. Errors: forbidden (key_differs): it is
// not the one that it joined with.
Result<> check_renewal(const Desk& desk, const std::string& id, const std::string& key);
void keep_certificate(Desk& desk, const std::string& token_hash, const std::string& certificate);

// Whether it is a host of ours. Errors: forbidden (host_removed).
Result<> check_host(const Desk& desk, const std::string& host);

// A session of this host has begun or ended, as an access point says: a way for tunnels, which prove by
// themselves who is at their end. Nothing is believed of the host before it has said hello, sealed. Errors:
// as check_host().
Result<> host_connected(Desk& desk, const std::string& host, const std::string& access,
                        std::uint64_t session);
void host_disconnected(Desk& desk, const std::string& host, const std::string& access, std::uint64_t session);

// It says nothing more there.
void host_silent(Desk& desk, const std::string& host, const std::string& access, std::uint64_t session);

// A machine that says hello after its boot `boot_id`, on an invitation that was the `invited`th of the term;
// `invitations` were given so far. A boot that nobody knew is the newest from now on. One identity with two
// boots alive at once is two machines: nobody knows which is the host, and it is quarantined. An empty boot
// says nothing. Errors: forbidden (host_quarantined); conflict (stale_boot: it was invited before the newer
// boot was heard, so it may be gone since).
Result<> check_boot(Desk& desk, const std::string& host, const std::string& boot_id, std::uint64_t invited,
                    std::uint64_t invitations);
// Lifts a quarantine: the next machine that says hello is the host. Errors: not_found.
Result<> release_host(Desk& desk, const std::string& host);

// It says hello there: from now on that session counts, whatever order its connections came in. `settled`:
// reports up to this number will not come. Errors: conflict (an older turn of the same life: a newer hello
// was heard).
Result<> host_greets(Desk& desk, const std::string& host, const std::string& access, std::uint64_t session,
                     const std::string& life, std::uint64_t turn, std::uint64_t settled);

// What to do with a report, by its number. `astray`: what came before it is not known, so the host has to say
// hello and to begin again from what it has no answer for.
enum class ReportIs { next, known, astray };
// Counts what is missing right after a hello: that is lost. An agent that counts nothing is always `next`.
ReportIs count_report(Desk& desk, const std::string& host, std::uint64_t sequence, std::uint64_t missing);

void note_report(Desk& desk, const std::string& host, HostReport report, Instant now);
// Between two of its reports: the shortest that is set for a class of its GPUs, else that of all.
std::chrono::milliseconds report_interval(const Settings& settings, const Host& host);
// Replaces what was known. What is of no GPU of this host, or of no instance on it, is not believed.
void note_telemetry(Desk& desk, const std::string& host, HostTelemetryTold told);

// Silence: unreachable, lost. Once for all hosts.
void watch_silence(Desk& desk, Instant now);

// For good: its certificate is worth nothing from here on, what it held is free. Errors: not_found, conflict
// (host_in_use: instances live there; `force` takes them down with it).
Result<> remove_host(Desk& desk, const std::string& host, bool force);
Result<> cordon_host(Desk& desk, const std::string& host, bool cordoned);

// Where it stands, what it is like, whether it is trusted. What is not given stays. Errors: invalid (too many
// labels).
Result<> update_host(Desk& desk, const std::string& id, const api::UpdateHost& request);

}  // namespace hostler::master
