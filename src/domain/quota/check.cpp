#include "domain/quota/check.h"

#include <algorithm>
#include <string_view>

namespace hostler {

namespace {

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (end > 0) found.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return found;
}

const QuotaLimit* limit_with(const Quota& quota, const std::string& key) {
    for (const QuotaLimit& limit : quota.limits)
        if (resource_key(limit.resource) == key) return &limit;
    return nullptr;
}

bool is_of_tenant(const Quota& quota) { return quota.project.empty() && quota.subject.empty(); }

// What is guaranteed to projects and not used by them, with `more` in the asking one.
std::int64_t kept(const std::vector<QuotaUse>& projects, const std::string& key, const std::string& asking,
                  std::int64_t more) {
    std::int64_t sum = 0;
    for (const QuotaUse& project : projects) {
        const QuotaLimit* limit = limit_with(*project.quota, key);
        if (!limit) continue;
        const std::int64_t used =
            amount_of(project.used, key) + (project.quota->project == asking ? more : 0);
        sum += std::max<std::int64_t>(limit->guaranteed - used, 0);
    }
    return sum;
}

}  // namespace

void add(Amounts& into, const Amounts& more) {
    for (const auto& [resource, amount] : more)
        if ((into[resource] += amount) == 0) into.erase(resource);
}

void subtract(Amounts& from, const Amounts& less) {
    for (const auto& [resource, amount] : less)
        if ((from[resource] -= amount) == 0) from.erase(resource);
}

std::int64_t amount_of(const Amounts& amounts, const std::string& resource) {
    const std::string key = resource_key(resource);
    if (!key.starts_with(gpu_class_prefix)) {
        const auto at = amounts.find(key);
        return at == amounts.end() ? 0 : at->second;
    }
    const auto wanted = words(std::string_view{key}.substr(gpu_class_prefix.size()));
    std::int64_t sum = 0;
    for (auto at = amounts.lower_bound(std::string{gpu_class_prefix});
         at != amounts.end() && at->first.starts_with(gpu_class_prefix); ++at) {
        const auto has = words(std::string_view{at->first}.substr(gpu_class_prefix.size()));
        if (std::ranges::all_of(wanted, [&](auto word) { return std::ranges::count(has, word) > 0; }))
            sum += at->second;
    }
    return sum;
}

std::optional<QuotaRefusal> check_quota(const std::vector<QuotaUse>& counted,
                                        const std::vector<QuotaUse>& projects, const QuotaAsk& ask) {
    for (const QuotaUse& one : counted)
        for (const QuotaLimit& limit : one.quota->limits) {
            const std::int64_t asked = amount_of(ask.amounts, limit.resource);
            if (asked <= 0) continue;
            QuotaRefusal no{.quota = one.quota, .resource = limit.resource, .limit = limit.limit};
            no.used = amount_of(one.used, limit.resource);
            no.asked = asked;
            if (no.used + asked > limit.limit) return no;
            if (!is_of_tenant(*one.quota)) continue;
            // Within its guarantee an ask only takes the place of what is kept for it.
            const std::string key = resource_key(limit.resource);
            const std::int64_t before = kept(projects, key, ask.project, 0);
            const std::int64_t after = kept(projects, key, ask.project, asked);
            const bool borrows = asked > before - after;
            if (!borrows || no.used + asked + after <= limit.limit) continue;
            no.rule = QuotaRule::guarantees;
            no.guaranteed = after;
            return no;
        }
    return std::nullopt;
}

std::int64_t guaranteed_of(const std::vector<const Quota*>& projects, const std::string& resource) {
    std::int64_t sum = 0;
    for (const Quota* project : projects)
        if (const QuotaLimit* limit = limit_with(*project, resource_key(resource))) sum += limit->guaranteed;
    return sum;
}

}  // namespace hostler
