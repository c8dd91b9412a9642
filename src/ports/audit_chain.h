// The audit as a chain: each line has a hash over itself and over the hash of the line before it. Who
// changes, removes, inserts or moves a line breaks it there; seals, which an authority has signed, show where
// its end was.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ports/digest.h"
#include "ports/store.h"

namespace hostler {

// The hash of a line in a chain: SHA-256 of these texts, each as "LENGTH:TEXT," with its length in bytes, in
// this order: previous, position, time (microseconds since 1970), number, line, actor, address, client,
// operation, service, subject, tenant, project, zone, status, result, reason, before, after. Numbers are
// decimal. docs/operate/security.md says the same; it never changes.
std::string chain_text(const AuditLine& line);
std::string chain_hash(const Digest& digest, const AuditLine& line);

// Makes these the next lines of the chain, as the lines of commit `number`; `head` follows.
void chain_lines(const Digest& digest, std::uint64_t number, std::vector<AuditLine>& lines, AuditHead& head);

// What an authority signs.
std::string seal_text(const AuditSeal& seal);

// Whether a seal's signature is that of its certificate, and the certificate one to believe. Errors: what is
// wrong with it.
using SealCheck = std::function<Result<>(const AuditSeal&)>;

struct ChainFinding {
    std::uint64_t position = 0;  // Of the chain; 0: what it is about has none.
    std::uint64_t number = 0;    // Of the line's commit,
    std::uint64_t line = 0;      // and within it.
    std::string text;            // A sentence.
    bool operator==(const ChainFinding&) const = default;
};

// Follows a chain from line to line, and says where it is broken. What it says is bounded.
class ChainCheck {
public:
    static constexpr std::size_t findings_max = 100;

    // `from`: the line behind which it begins; position 0: before the first one.
    ChainCheck(const Digest& digest, AuditHead from);
    // The next line, as it was written. `content_known`: false for one of which a part was withheld.
    enum class Content { known, withheld };
    void add(const AuditLine& line, Content content = Content::known);
    // Lines are left out of what it is given: each is looked at by itself, and so are neighbours.
    void allow_gaps() { gaps_allowed_ = true; }
    // A seal of any position, before the line that it is of is added.
    void add_seal(const AuditSeal& seal, const SealCheck& check);
    // The last line, as the store said before the lines were read: there may be more by now.
    void expect_head(AuditHead head);
    // That was all that this one is given; others look at what comes behind it.
    void end_part();
    // Call after the last line.
    void end();

    const AuditHead& last() const { return last_; }
    std::uint64_t lines() const { return lines_; }          // All that were added,
    std::uint64_t chained() const { return chained_; }      // those in the chain,
    std::uint64_t unchained() const { return unchained_; }  // and those before it, of older releases.
    std::uint64_t withheld() const { return withheld_; }    // Of which a part was withheld.
    std::uint64_t seals() const { return seals_; }
    std::optional<AuditHead> first() const { return first_; }
    const std::vector<ChainFinding>& findings() const { return findings_; }
    std::uint64_t found() const { return found_; }  // With those for which there is no room.

private:
    void report(const AuditLine* line, std::uint64_t position, std::string text);
    void follow(const AuditLine& line);
    void compare(const AuditLine& line);

    const Digest& digest_;
    AuditHead from_;
    AuditHead last_;
    std::optional<AuditHead> head_;  // That is expected.
    bool begun_ = false;             // A line in the chain has been seen.
    bool gaps_allowed_ = false;
    bool in_gap_ = false;
    std::optional<AuditHead> first_;
    std::uint64_t lines_ = 0, chained_ = 0, unchained_ = 0, withheld_ = 0, seals_ = 0, found_ = 0;
    std::map<std::uint64_t, std::string> sealed_;  // Hashes of seals whose line has not been met.
    std::vector<ChainFinding> findings_;
};

}  // namespace hostler
