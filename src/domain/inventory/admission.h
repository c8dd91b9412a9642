// Whether a host may sell: what was measured of it, what it says of itself, and who else says the same.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/inventory/challenge.h"
#include "domain/inventory/measured.h"
#include "domain/inventory/rating.h"

namespace hostler {

enum class Admission { admitted, unmeasured, refused };
BOOST_DESCRIBE_ENUM(Admission, admitted, unmeasured, refused)

// What becomes of hosts that fail, and of those of which nothing can be measured.
enum class AdmissionRule {
    off,       // All are let in.
    standard,  // Who fails is refused. Who cannot be measured is let in if trusted, else refused.
    required,  // Who does not pass is refused.
};
BOOST_DESCRIBE_ENUM(AdmissionRule, off, standard, required)

struct RatedGpu {
    GpuFigures figures;
    GpuRating rating;
    bool operator==(const RatedGpu&) const = default;
};
BOOST_DESCRIBE_STRUCT(RatedGpu, (), (figures, rating))

// What the cloud knows of a host by having measured it. Times are microseconds since 1970, 0: never.
struct HostAdmission {
    Admission state = Admission::admitted;
    std::vector<std::string> reasons;  // Sentences: why it is so, or what was not measured.
    std::vector<std::string> let_in;   // GPUs that an operator has let in by their word.
    std::vector<RatedGpu> gpus;        // As they were last measured,
    DiskFigures disk;
    std::string driver_version;         // with this GPU driver,
    std::int64_t measured_at = 0;       // at this time.
    bool wanted = false;                // It is to be measured anew, by an operator's word.
    std::uint64_t asked = 0;            // Commands so far.
    std::string failure;                // Why it could not be measured the last time; empty: it could.
    std::int64_t proved_at = 0;         // When it last answered a challenge right and in time.
    std::int64_t prove_next = 0;        // It is challenged after this.
    int proofs_failed = 0;              // In a row.
    std::vector<std::string> unproven;  // Sentences: what speaks against its answers; empty: nothing.
    bool operator==(const HostAdmission&) const = default;
};
BOOST_DESCRIBE_STRUCT(HostAdmission, (),
                      (state, reasons, let_in, gpus, disk, driver_version, measured_at, wanted, asked,
                       failure, proved_at, prove_next, proofs_failed, unproven))

// How it was last measured; nullptr: it was not.
const RatedGpu* rated(const HostAdmission& admission, const std::string& gpu);

// Its GPUs as measured. One that can be lent and has no figures is unrated, with the reason.
std::vector<RatedGpu> rate_host(const HostFacts& facts, const HostFigures& figures);

struct Admitted {
    Admission state = Admission::admitted;
    std::vector<std::string> reasons;
};
// `twin`: a sentence that says which other host has one of its GPUs; empty: none.
Admitted judge_admission(const HostFacts& facts, const HostAdmission& known, AdmissionRule rule, bool trusted,
                         const std::string& twin);

// It has to be measured (again): never was, or its GPUs or their driver are not those that were.
bool measuring_due(const HostFacts& facts, const HostAdmission& known);

// The lowest tier of those that can be lent; unrated if one of them is, or is not what it says it is.
GpuTier tier_of(const HostFacts& facts, const HostAdmission& known);

// Of a GPU that can be lent: whether a challenge to it says anything.
bool can_prove(const HostAdmission& known, const GpuFacts& gpu);

// What speaks against these answers, as sentences; empty: nothing. Walks the ways of `asked` walkers of each
// GPU again: takes long.
std::vector<std::string> doubts(const std::vector<GpuFacts>& gpus, const GpuChallenge& challenge,
                                const std::vector<GpuProof>& proofs, std::span<const std::uint32_t> asked);

}  // namespace hostler
