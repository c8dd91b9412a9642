#include "roles/master/state/feed.h"

#include <algorithm>
#include <set>

namespace hostler::master {

namespace {

std::unexpected<Error> expired() {
    Error error{Code::not_found, "the events after that one are no longer kept", "watch_expired"};
    error.help = "Start again: watch without Last-Event-ID. All present objects come first.";
    return std::unexpected(std::move(error));
}

}  // namespace

Feed::Lane& Feed::lane(const std::string& kind) {
    const auto [at, made] = lanes_.try_emplace(kind);
    if (made) at->second.forgotten_commit = began_;
    return at->second;
}

void Feed::publish(std::uint64_t number, std::vector<Touched> touched) {
    last_ = number;
    std::set<Lane*> told;
    for (Touched& one : touched) {
        Lane& of = lane(one.kind);
        of.changes.push_back({number, std::move(one.id)});
        told.insert(&of);
    }
    for (Lane* of : told) {
        while (of->changes.size() > size_max_) {
            of->forgotten_commit = of->changes.front().commit;
            of->changes.pop_front();
            ++of->forgotten;
        }
        of->changed.notify_all();
    }
}

void Feed::close() {
    closed_ = true;
    for (auto& [kind, of] : lanes_) of.changed.notify_all();
}

void Feed::beat() {
    ++beats_;
    for (auto& [kind, of] : lanes_) of.changed.notify_all();
}

std::size_t Feed::size() const {
    std::size_t size = 0;
    for (const auto& [kind, of] : lanes_) size += of.changes.size();
    return size;
}

Feed::Place Feed::end(const std::string& kind) const {
    const auto of = lanes_.find(kind);
    return {of == lanes_.end() ? 0 : of->second.forgotten + of->second.changes.size(), last_};
}

Result<Feed::Place> Feed::behind(const std::string& kind, std::uint64_t commit) const {
    const auto at = lanes_.find(kind);
    if (commit > last_ || commit < (at == lanes_.end() ? began_ : at->second.forgotten_commit))
        return expired();
    if (at == lanes_.end()) return Place{0, commit};
    const Lane& of = at->second;
    const auto next = std::ranges::upper_bound(of.changes, commit, {}, &Change::commit);
    return Place{of.forgotten + static_cast<std::uint64_t>(next - of.changes.begin()), commit};
}

Task<Feed::News> Feed::next(std::string kind, Place from) {
    const std::uint64_t beats = beats_;
    while (true) {
        if (closed_) co_return fail(Code::unavailable, "this master is no longer the leader");
        Lane& of = lane(kind);
        if (from.change < of.forgotten) co_return expired();
        News news{from, {}};
        std::set<std::string_view> seen;
        auto change = of.changes.begin() + static_cast<std::ptrdiff_t>(from.change - of.forgotten);
        for (; change != of.changes.end() && news.ids.size() < news_max; ++change, ++news.place.change)
            if (seen.insert(change->id).second) news.ids.push_back(change->id);
        news.place.commit = change == of.changes.end() ? last_ : std::max(from.commit, change->commit - 1);
        if (!news.ids.empty() || beats_ != beats) co_return news;
        from = news.place;
        CO_TRY(co_await of.changed.wait());
    }
}

}  // namespace hostler::master
