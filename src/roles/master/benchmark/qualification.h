// Who may sell: hosts are measured, judged by it, and challenged now and then.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/inventory/challenge.h"
#include "roles/master/command/commands.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// By what is known of it now.
void judge_host(Desk& desk, const std::string& id);

// It is no more: whoever else says that they have its GPUs may be right.
void forget_gpus(Desk& desk, const std::string& id);

// Once its GPUs are unused; an operator's word that lets it in is forgotten. Errors: conflict
// (cannot_measure).
Result<> ask_measuring(Desk& desk, const std::string& id);
// With the GPUs that it has, whatever was measured.
void admit_host(Desk& desk, const std::string& id);

// Each second: measures who is due. Challenges need one who walks them again.
void watch_measuring(Desk& desk, bool challenges);
void note_measured(Desk& desk, const HostCommand& command, const CommandAnswer& answer);

// ── Challenges. The host fills its GPUs' memory, is told where the paths begin, and answers; somebody walks
// some of them again, which takes long; then it is judged.

// Of this command; where the paths begin is left out.
GpuChallenge challenge_of(const Desk& desk, const std::string& command);
// All memory is filled. Where the paths begin; nullopt: it was told before, or nobody asked.
std::optional<std::uint32_t> path_for(Desk& desk, const std::string& host, const std::string& command,
                                      Instant now);
// What has to be walked again.
struct ProofCheck {
    std::vector<GpuFacts> gpus;
    GpuChallenge challenge;
    std::vector<GpuProof> proofs;
    std::vector<std::uint32_t> asked;  // Walkers.
    Duration took{};                   // From our word to the answers.
};
std::optional<ProofCheck> note_walked(Desk& desk, const std::string& host, const std::string& command,
                                      std::vector<GpuProof> proofs, Instant now);
// What speaks against the answers themselves: doubts().
void note_checked(Desk& desk, const std::string& host, Duration took, std::vector<std::string> doubts);
void note_proving_ended(Desk& desk, const HostCommand& command, const CommandAnswer& answer);

}  // namespace hostler::master
