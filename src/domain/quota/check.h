// Whether an ask fits into quotas.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/quota/quota.h"

namespace hostler {

// By resource: "gpus", "cpu", "memory", "volumes", "instances", "jobs", and "gpus:MODEL" for the models among the
// GPUs, as resource_key() writes them. 0 and what is left out are the same.
using Amounts = std::map<std::string, std::int64_t>;

void add(Amounts& into, const Amounts& more);
// Leaves no zero behind.
void subtract(Amounts& from, const Amounts& less);

// How much of this an amount has. A class of GPUs is that of all models with its words: "gpus:H100" counts
// "gpus:h100 sxm5 80gb".
std::int64_t amount_of(const Amounts& amounts, const std::string& resource);

// A quota, and what is used where it counts.
struct QuotaUse {
    const Quota* quota = nullptr;
    Amounts used;
};

struct QuotaAsk {
    std::string project;  // In which it would be used.
    Amounts amounts;
};

enum class QuotaRule {
    limit,       // It would exceed the limit.
    guarantees,  // It would take what is guaranteed to other projects.
};

struct QuotaRefusal {
    const Quota* quota = nullptr;
    std::string resource;  // As the quota writes it.
    QuotaRule rule = QuotaRule::limit;
    std::int64_t used = 0;
    std::int64_t asked = 0;
    std::int64_t limit = 0;
    std::int64_t guaranteed = 0;  // What is kept for other projects and not used by them.
    bool operator==(const QuotaRefusal&) const = default;
};

// nullopt: it fits. `counted`: the quotas that count for the ask: of its tenant, its project, its subject.
// `projects`: those of the tenant's projects that have guarantees. What is not asked for is not looked at, so
// less than is used may be a limit. A project gets what is guaranteed to it as long as the tenant has it.
std::optional<QuotaRefusal> check_quota(const std::vector<QuotaUse>& counted,
                                        const std::vector<QuotaUse>& projects, const QuotaAsk& ask);

// The sum of what is guaranteed to these projects, each by its limit with this key.
std::int64_t guaranteed_of(const std::vector<const Quota*>& projects, const std::string& resource);

}  // namespace hostler
