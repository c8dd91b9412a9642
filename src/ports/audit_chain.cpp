#include "ports/audit_chain.h"

#include <fmt/format.h>

#include <utility>

namespace hostler {

namespace {

void put(std::string& to, std::string_view text) { to += fmt::format("{}:{},", text.size(), text); }
template <std::integral T>
void put(std::string& to, T number) {
    put(to, std::string_view{fmt::format("{}", number)});
}

}  // namespace

std::string chain_text(const AuditLine& line) {
    std::string text;
    put(text, line.previous);
    put(text, line.chain.position);
    put(text, static_cast<std::int64_t>(line.time.time_since_epoch().count()));
    put(text, line.number);
    put(text, line.line);
    put(text, line.actor);
    put(text, line.address);
    put(text, line.client);
    put(text, line.operation);
    put(text, line.service);
    put(text, line.subject);
    put(text, line.tenant);
    put(text, line.project);
    put(text, line.zone);
    put(text, line.status);
    put(text, line.result);
    put(text, line.reason);
    put(text, line.before);
    put(text, line.after);
    return text;
}

std::string chain_hash(const Digest& digest, const AuditLine& line) {
    return digest.sha256(chain_text(line));
}

void chain_lines(const Digest& digest, std::uint64_t number, std::vector<AuditLine>& lines, AuditHead& head) {
    for (std::uint64_t at = 0; AuditLine & line : lines) {
        line.number = number;
        line.line = at++;
        line.previous = head.hash;
        line.chain.position = head.position + 1;
        line.chain.hash = chain_hash(digest, line);
        head = line.chain;
    }
}

std::string seal_text(const AuditSeal& seal) {
    return fmt::format("hostler audit seal 1\nposition {}\nhash {}\ntime {}\nepoch {}\nauthority {}\n",
                       seal.head.position, seal.head.hash, seal.time.time_since_epoch().count(), seal.epoch,
                       seal.authority);
}

ChainCheck::ChainCheck(const Digest& digest, AuditHead from)
    : digest_(digest), from_(std::move(from)), last_(from_), begun_(from_.position != 0) {}

void ChainCheck::report(const AuditLine* line, std::uint64_t position, std::string text) {
    ++found_;
    if (findings_.size() < findings_max)
        findings_.push_back({position, line ? line->number : 0, line ? line->line : 0, std::move(text)});
}

void ChainCheck::add(const AuditLine& line, Content content) {
    ++lines_;
    if (line.chain.position == 0 && line.chain.hash.empty()) {
        if (!begun_) {
            ++unchained_;
        } else if (!std::exchange(in_gap_, true)) {
            report(&line, 0,
                   fmt::format("it has no hash, and the chain has begun before it at position {}: an older "
                               "release wrote it, or it was inserted",
                               last_.position));
        }
        return;
    }
    in_gap_ = false;
    ++chained_;
    if (!first_) first_ = line.chain;
    follow(line);
    if (content == Content::withheld)
        ++withheld_;
    else if (chain_hash(digest_, line) != line.chain.hash)
        report(&line, line.chain.position, "its contents are not those that its hash is of");
    compare(line);
    begun_ = true;
    last_ = line.chain;
}

// Whether it comes behind the last one.
void ChainCheck::follow(const AuditLine& line) {
    const std::uint64_t position = line.chain.position;
    if (position == last_.position + 1) {
        if (line.previous != last_.hash)
            report(&line, position,
                   fmt::format("it does not follow the line at position {}", last_.position));
        return;
    }
    if (position > last_.position) {
        if (gaps_allowed_) return;
        report(&line, position,
               last_.position + 2 == position
                   ? fmt::format("the line at position {} before it is missing", position - 1)
                   : fmt::format("the lines at positions {} to {} before it are missing", last_.position + 1,
                                 position - 1));
        return;
    }
    report(&line, position,
           fmt::format("it comes behind the line at position {}: lines were moved, inserted or written again",
                       last_.position));
}

void ChainCheck::compare(const AuditLine& line) {
    if (head_ && head_->position == line.chain.position && head_->hash != line.chain.hash)
        report(&line, line.chain.position, "the store has another hash for it, as that of its last line");
    const auto seal = sealed_.find(line.chain.position);
    if (seal == sealed_.end()) return;
    if (seal->second != line.chain.hash)
        report(&line, line.chain.position, "its hash is not the one that is sealed");
    sealed_.erase(seal);
}

void ChainCheck::add_seal(const AuditSeal& seal, const SealCheck& check) {
    ++seals_;
    if (const auto good = check(seal); !good)
        return report(nullptr, seal.head.position,
                      fmt::format("its seal cannot be believed: {}", good.error().message));
    if (seal.head.position == from_.position && seal.head.hash != from_.hash)
        report(nullptr, seal.head.position,
               "the hash of the last line that was taken out is not the one that is sealed");
    if (seal.head.position > from_.position) sealed_[seal.head.position] = seal.head.hash;
}

void ChainCheck::expect_head(AuditHead head) {
    if (head.position == from_.position && head.hash != from_.hash)
        report(nullptr, head.position, "the store has another hash for it, as that of its last line");
    head_ = std::move(head);
}

void ChainCheck::end_part() {
    while (!sealed_.empty() && sealed_.begin()->first <= last_.position) {
        if (!gaps_allowed_)
            report(nullptr, sealed_.begin()->first, "it is sealed, and there is no such line");
        sealed_.erase(sealed_.begin());
    }
}

void ChainCheck::end() {
    end_part();
    if (gaps_allowed_) return;
    for (const auto& [position, hash] : sealed_)
        report(nullptr, position,
               fmt::format("it is sealed, and the last line is at position {}: the end was cut off",
                           last_.position));
    if (head_ && head_->position > last_.position)
        report(nullptr, head_->position,
               fmt::format("it was the last line, and the last one that is there is at position {}: the end "
                           "was cut off",
                           last_.position));
}

}  // namespace hostler
