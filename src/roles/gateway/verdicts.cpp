#include "roles/gateway/verdicts.h"

namespace hostler::gateway {

std::optional<Verdict> Verdicts::find(const Question& question, Instant now) {
    const auto found = by_question_.find(question);
    if (found == by_question_.end()) return std::nullopt;
    const auto entry = found->second;
    if (now >= entry->until) {
        entries_.erase(entry);
        by_question_.erase(found);
        return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->verdict;
}

void Verdicts::keep(const Question& question, Verdict verdict, Instant now, Duration valid) {
    forget(question);
    entries_.push_front({question, std::move(verdict), now + valid});
    by_question_.emplace(question, entries_.begin());
    if (entries_.size() > size_max_) {
        by_question_.erase(entries_.back().question);
        entries_.pop_back();
    }
}

void Verdicts::forget(const Question& question) {
    const auto found = by_question_.find(question);
    if (found == by_question_.end()) return;
    entries_.erase(found->second);
    by_question_.erase(found);
}

void Verdicts::forget(const std::string& credential) {
    for (auto entry = by_question_.lower_bound({credential, "", ""});
         entry != by_question_.end() && entry->first.credential == credential;) {
        entries_.erase(entry->second);
        entry = by_question_.erase(entry);
    }
}

}  // namespace hostler::gateway
