#include "roles/gateway/verdicts.h"

namespace hostler::gateway {

std::optional<Verdicts::Found> Verdicts::find(const std::string& credential, const std::string& tenant,
                                              Instant now) {
    const auto found = by_key_.find({credential, tenant});
    if (found == by_key_.end()) return std::nullopt;
    const auto entry = found->second;
    if (now >= entry->stale_until) {
        entries_.erase(entry);
        by_key_.erase(found);
        return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, entry);
    return Found{entry->verdict, now < entry->fresh_until ? Age::fresh : Age::stale};
}

void Verdicts::keep(const std::string& credential, const std::string& tenant, Verdict verdict, Instant now,
                    Duration valid, Duration grace) {
    std::pair key{credential, tenant};
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        entries_.erase(found->second);
        by_key_.erase(found);
    }
    entries_.push_front({key, std::move(verdict), now + valid, now + valid + grace});
    by_key_.emplace(std::move(key), entries_.begin());
    if (entries_.size() > size_max_) {
        by_key_.erase(entries_.back().key);
        entries_.pop_back();
    }
}

void Verdicts::forget(const std::string& credential) {
    for (auto entry = by_key_.lower_bound({credential, ""});
         entry != by_key_.end() && entry->first.first == credential;) {
        entries_.erase(entry->second);
        entry = by_key_.erase(entry);
    }
}

}  // namespace hostler::gateway
