#include "roles/gateway/stays.h"

#include <algorithm>
#include <utility>

namespace hostler::gateway {

Stays::Stay::Stay(Stays& stays, Question by) : stays_(stays), at_(stays.open_.emplace(std::move(by), this)) {}

Stays::Stay::~Stay() { stays_.open_.erase(at_); }

void Stays::Stay::on_end(std::function<void()> cut) {
    if (ended_ && cut) return cut();
    cut_ = std::move(cut);
}

void Stays::end(const Question& question) {
    end_if([&](const Question& one) { return one == question; });
}

void Stays::end(const std::string& credential) {
    end_if([&](const Question& one) { return one.credential == credential; });
}

// Whoever is cut may go at once, and others with it: nothing is held over the call.
void Stays::end_if(const std::function<bool(const Question&)>& meant) {
    while (true) {
        const auto next = std::ranges::find_if(
            open_, [&](const auto& row) { return !row.second->ended_ && meant(row.first); });
        if (next == open_.end()) return;
        next->second->ended_ = true;
        if (const auto cut = std::exchange(next->second->cut_, nullptr)) cut();
    }
}

std::vector<Question> Stays::questions() const {
    std::vector<Question> all;
    for (const auto& [question, stay] : open_)
        if (!stay->ended_ && (all.empty() || all.back() != question)) all.push_back(question);
    return all;
}

}  // namespace hostler::gateway
