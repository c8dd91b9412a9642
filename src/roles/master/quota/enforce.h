// Asks quotas before something is taken. To be called right before it is taken, with nothing awaited between
// the two: so calls at the same time never exceed a quota together.
#pragma once

#include <optional>
#include <string>

#include "domain/quota/check.h"
#include "domain/scheduler/place.h"
#include "roles/master/state/desk.h"

namespace hostler::master {

// For whom.
struct QuotaAsker {
    std::string tenant;
    std::string project;
    std::string created_by;  // As Instance::created_by.
};
template <class Row>
QuotaAsker asker_of(const Row& row) {
    return {row.tenant, row.project, row.created_by};
}

struct QuotaDenial {
    std::string resource;  // As the quota writes it.
    Error error;           // exhausted (quota_exceeded).
};
// nullopt: it fits.
std::optional<QuotaDenial> quota_denial(const Desk& desk, const QuotaAsker& asker, const Amounts& asked);
// The same, and refusals are counted. Errors: exhausted (quota_exceeded).
Result<> check_quotas(const Desk& desk, const QuotaAsker& asker, const Amounts& asked);
void note_refused(const Desk& desk, const QuotaAsker& asker);

// What one more instance of this demand would use, as far as that is known without a place.
Amounts amounts_of(const Demand& demand);
// The same of an instance, without what is counted for it already.
Amounts still_asked(const Desk& desk, const std::string& instance, Amounts amounts);

// Whether the host has GPUs that this resource counts. When the quota of a GPU class is used up, an instance
// may still go to hosts without GPUs of that class.
bool has_gpus_of(const Desk& desk, const std::string& host, const std::string& resource);

}  // namespace hostler::master
