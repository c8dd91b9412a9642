#include "roles/gateway/trust.h"

#include <charconv>

#include "core/log.h"
#include "core/task_group.h"

namespace hostler::gateway {

namespace {

constexpr std::string_view prefix = "trust/";
constexpr std::string_view address_part = "/from/";
constexpr char group_sign = '=';  // Before a group; no mark begins with it.
constexpr Duration write_again = std::chrono::seconds{5};

std::int64_t micros(Duration time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

Trust::Trust(Journal& journal, const Digest& digest, std::size_t size_max, Duration outage, WallTime now)
    : journal_(journal), digest_(digest), size_max_(size_max), outage_(outage) {
    const auto& kept = journal.all();
    for (auto at = kept.lower_bound(std::string{prefix}); at != kept.end() && at->first.starts_with(prefix);
         ++at) {
        std::string_view text = at->second;
        Entry entry;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), entry.until_us);
        // The clock may have been put back: nothing is believed for longer than it could have been.
        entry.until_us = std::min(
            entry.until_us, (now + std::chrono::microseconds{micros(outage)}).time_since_epoch().count());
        text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
        while (text.starts_with('\n')) {
            text.remove_prefix(1);
            const std::string_view line = text.substr(0, text.find('\n'));
            if (line.starts_with(group_sign))
                entry.groups.emplace_back(line.substr(1));
            else
                entry.marks.emplace_back(line);
            text.remove_prefix(line.size());
        }
        if (read.ec != std::errc{} || entry.until_us <= now.time_since_epoch().count() ||
            entries_.size() >= size_max) {
            unwritten_[at->first] = std::nullopt;
            continue;
        }
        entry.written_until_us = entry.until_us;
        by_end_.emplace(entry.until_us, at->first);
        entries_.emplace(at->first, std::move(entry));
    }
}

// The credential by its hash: whoever reads this disk has no key of anybody.
std::string Trust::key_of(const Question& question) const {
    // Releases without projects have kept those of the project `default`.
    const std::string project = question.project == "default" ? "" : question.project;
    return fmt::format("{}{}/{}/{}{}{}{}{}", prefix, digest_.sha256(question.credential), question.tenant,
                       question.route, project.empty() ? "" : "/", project,
                       question.address.empty() ? "" : address_part, question.address);
}

void Trust::keep(const Question& question, Standing standing, WallTime now) {
    std::string key = key_of(question);
    standing.marks.insert(standing.marks.begin(), std::move(standing.principal));
    const Duration lasts = standing.ends ? std::min(*standing.ends, outage_) : outage_;
    const std::int64_t until = now.time_since_epoch().count() + micros(lasts);
    Entry& entry = entries_[key];
    if (entry.until_us != 0) by_end_.erase({entry.until_us, key});
    by_end_.emplace(until, key);
    const bool same = entry.marks == standing.marks && entry.groups == standing.groups;
    entry.until_us = until;
    entry.marks = std::move(standing.marks);
    entry.groups = std::move(standing.groups);
    entry.question = question;
    // Not each quarter of a minute anew; but never for longer than it is true.
    if (!same || until < entry.written_until_us || until - entry.written_until_us > micros(outage_) / 64)
        write_later(key, entry);
    if (!question.address.empty()) make_room(question);
    while (entries_.size() > size_max_) erase(std::string{by_end_.begin()->second});
}

// A client with a whole network of addresses takes no place of others: one that it had before goes.
void Trust::make_room(const Question& question) {
    const std::string key = key_of(question);
    const std::string all = key_of(question.from_anywhere()) + std::string{address_part};
    std::size_t others = 0;
    auto first = entries_.end();
    for (auto at = entries_.lower_bound(all); at != entries_.end() && at->first.starts_with(all); ++at) {
        if (at->first == key) continue;
        ++others;
        if (first == entries_.end() || at->second.until_us < first->second.until_us) first = at;
    }
    if (others >= addresses_max) erase(std::string{first->first});
}

void Trust::write_later(const std::string& key, const Entry& entry) {
    std::string text = std::to_string(entry.until_us);
    for (const std::string& mark : entry.marks) text += '\n' + mark;
    for (const std::string& group : entry.groups) text.append({'\n', group_sign}).append(group);
    unwritten_[key] = std::move(text);
    entries_.at(key).written_until_us = entry.until_us;
    changed_.notify_all();
}

void Trust::erase(const std::string& key) {
    const auto at = entries_.find(key);
    if (at == entries_.end()) return;
    by_end_.erase({at->second.until_us, key});
    entries_.erase(at);
    unwritten_[key] = std::nullopt;
    changed_.notify_all();
}

void Trust::forget(const Question& question) { erase(key_of(question)); }

void Trust::forget_credential(const std::string& credential) {
    const std::string mine = fmt::format("{}{}/", prefix, digest_.sha256(credential));
    for (auto at = entries_.lower_bound(mine); at != entries_.end() && at->first.starts_with(mine);)
        erase(std::string{(at++)->first});
}

void Trust::end(const std::vector<std::string>& marks, const std::function<void(const Question&)>& each) {
    const std::set<std::string_view> ended{marks.begin(), marks.end()};
    for (auto at = entries_.begin(); at != entries_.end();) {
        const auto& [key, entry] = *at++;
        if (std::ranges::none_of(entry.marks, [&](const std::string& mark) { return ended.contains(mark); }))
            continue;
        if (entry.question) each(Question{*entry.question});
        erase(std::string{key});
    }
}

Trust::Belief Trust::believes(const Question& question, WallTime now) const {
    const auto at = entries_.find(key_of(question));
    if (at == entries_.end()) return Belief::unknown;
    return now.time_since_epoch().count() < at->second.until_us ? Belief::yes : Belief::ended;
}

std::optional<Granted> Trust::granted(const Question& question, WallTime now) const {
    if (believes(question, now) != Belief::yes) return std::nullopt;
    const Entry& entry = entries_.at(key_of(question));
    constexpr std::size_t principal = 0, mark = 1;
    if (entry.marks.size() <= mark) return std::nullopt;
    return Granted{entry.marks[principal], entry.groups, entry.marks[mark]};
}

std::vector<std::string> Trust::marks() const {
    std::set<std::string> all;
    for (const auto& [key, entry] : entries_) all.insert(entry.marks.begin(), entry.marks.end());
    return {all.begin(), all.end()};
}

Task<> Trust::run(Timers& timers) {
    while (true) {
        if (unwritten_.empty()) {
            CO_TRY(co_await changed_.wait());
            continue;
        }
        auto batch = std::exchange(unwritten_, {});
        std::vector<Journal::Entry> entries;
        Result<> kept{};
        for (const auto& [key, text] : batch) {
            if (text)
                entries.push_back({key, *text});
            else if (const auto erased = co_await journal_.erase(key); !erased)
                kept = erased;
        }
        if (const auto put = entries.empty() ? Result<>{} : co_await journal_.put_all(std::move(entries));
            !put)
            kept = put;
        CO_TRY(co_await check_cancelled());
        if (kept) continue;
        log_warn("gateway: whom to believe in an outage is not written down yet: {}", kept.error().message);
        unwritten_.merge(batch);  // What is newer stays as it is.
        CO_TRY(co_await sleep(timers, write_again));
    }
}

}  // namespace hostler::gateway
