// Each way to change a chain of audit lines is found.
#include "ports/audit_chain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace hostler {
namespace {

using ::testing::HasSubstr;

class SumDigest final : public Digest {
public:
    std::string sha256(std::string_view text) const override {
        std::uint64_t sum = 0xcbf29ce484222325;
        for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return fmt::format("{:016x}", sum);
    }
};
const SumDigest digest;

Result<> believe(const AuditSeal&) { return {}; }

struct Chained {
    explicit Chained(int count) {
        for (int i = 0; i < count; ++i) {
            std::vector<AuditLine> one{{.time = WallTime{std::chrono::seconds{i}},
                                        .actor = "key/k-1",
                                        .operation = "createVolume",
                                        .subject = fmt::format("volume/v-{}", i),
                                        .status = 202,
                                        .result = "ok"}};
            chain_lines(digest, static_cast<std::uint64_t>(i) + 10, one, head);
            lines.push_back(one.front());
        }
    }
    ChainCheck checked(const std::vector<AuditSeal>& seals = {}, AuditHead base = {}) const {
        ChainCheck check{digest, std::move(base)};
        check.expect_head(head);
        for (const AuditSeal& seal : seals) check.add_seal(seal, believe);
        for (const AuditLine& line : lines) check.add(line);
        check.end();
        return check;
    }
    std::string first_finding(const std::vector<AuditSeal>& seals = {}) const {
        const ChainCheck check = checked(seals);
        return check.findings().empty() ? "" : check.findings().front().text;
    }
    AuditHead head;
    std::vector<AuditLine> lines;
};

AuditSeal seal_at(const Chained& chain, std::size_t position) {
    return {.head = chain.lines.at(position - 1).chain, .authority = "a", .certificate = "", .signature = ""};
}

TEST(AuditChain, OneAsItWasWrittenIsWhole) {
    const Chained chain{5};
    const ChainCheck check = chain.checked({seal_at(chain, 3)});
    EXPECT_EQ(check.found(), 0u);
    EXPECT_EQ(std::tuple(check.lines(), check.chained(), check.seals()), std::tuple(5u, 5u, 1u));
    EXPECT_EQ(check.first()->position, 1u);
    EXPECT_EQ(check.last(), chain.head);
    EXPECT_EQ(Chained{0}.checked().found(), 0u);
}

TEST(AuditChain, TheTextOfALineIsAsItIsDocumented) {
    const AuditLine line{.time = WallTime{std::chrono::microseconds{5}},
                         .actor = "key/é",
                         .status = 202,
                         .chain = {2, "own"},
                         .previous = "abc",
                         .number = 7,
                         .line = 1};
    EXPECT_EQ(chain_text(line), "3:abc,1:2,1:5,1:7,1:1,6:key/é,0:,0:,0:,0:,0:,0:,0:,0:,3:202,0:,0:,0:,0:,");
}

TEST(AuditChain, EachFieldThatChangesIsFound) {
    const Chained whole{3};
    const std::vector<std::function<void(AuditLine&)>> changes = {
        [](AuditLine& line) { line.time += std::chrono::seconds{1}; },
        [](AuditLine& line) { line.actor += "x"; },
        [](AuditLine& line) { line.address += "x"; },
        [](AuditLine& line) { line.operation += "x"; },
        [](AuditLine& line) { line.subject += "x"; },
        [](AuditLine& line) { line.tenant += "x"; },
        [](AuditLine& line) { line.status = 500; },
        [](AuditLine& line) { line.before += "x"; },
        [](AuditLine& line) { line.after += "x"; },
        [](AuditLine& line) { line.client += "x"; },
        [](AuditLine& line) { line.project += "x"; },
        [](AuditLine& line) { line.zone += "x"; },
        [](AuditLine& line) { line.service += "x"; },
        [](AuditLine& line) { line.result += "x"; },
        [](AuditLine& line) { line.reason += "x"; },
        [](AuditLine& line) { line.chain.position += 1; },
        [](AuditLine& line) { line.chain.hash += "x"; },
        [](AuditLine& line) { line.previous += "x"; },
        [](AuditLine& line) { line.number += 1; },
        [](AuditLine& line) { line.line += 1; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        Chained chain = whole;
        changes[i](chain.lines[1]);
        EXPECT_GT(chain.checked().found(), 0u) << i;
    }
    // Also when text moves from one field into the next.
    Chained chain = whole;
    chain.lines[1].actor = "key/k-1createVolume";
    chain.lines[1].operation = "";
    EXPECT_THAT(chain.first_finding(), HasSubstr("its contents are not those"));
}

TEST(AuditChain, LinesThatAreMissingPutInMovedOrWrittenAgainAreFound) {
    const Chained whole{6};
    Chained chain = whole;
    chain.lines.erase(chain.lines.begin() + 2);
    EXPECT_THAT(chain.first_finding(), HasSubstr("the line at position 3 before it is missing"));
    chain.lines.erase(chain.lines.begin() + 2);
    EXPECT_THAT(chain.first_finding(), HasSubstr("the lines at positions 3 to 4 before it are missing"));

    chain = whole;
    std::swap(chain.lines[2], chain.lines[3]);
    EXPECT_GE(chain.checked().found(), 2u);

    chain = whole;
    chain.lines.insert(chain.lines.begin() + 2, chain.lines[1]);
    EXPECT_THAT(chain.first_finding(), HasSubstr("it comes behind the line at position 2"));
    chain = whole;
    chain.lines.insert(chain.lines.begin() + 2, AuditLine{.actor = "key/evil"});
    EXPECT_THAT(chain.first_finding(), HasSubstr("it has no hash"));

    // Somebody writes all that follows again: the seal knows better.
    Chained again{2};
    const AuditHead before = again.head;
    again = whole;
    again.lines.resize(2);
    again.head = before;
    for (int i = 2; i < 6; ++i) {
        std::vector<AuditLine> one{{.actor = "key/evil"}};
        chain_lines(digest, static_cast<std::uint64_t>(i) + 10, one, again.head);
        again.lines.push_back(one.front());
    }
    EXPECT_EQ(again.first_finding(), "");
    EXPECT_THAT(again.first_finding({seal_at(whole, 4)}),
                HasSubstr("its hash is not the one that is sealed"));
}

TEST(AuditChain, AnEndThatWasCutOffIsFound) {
    const Chained whole{6};
    Chained chain = whole;
    chain.lines.resize(4);
    EXPECT_THAT(chain.first_finding(), HasSubstr("the end was cut off"));
    chain.head = chain.lines.back().chain;  // The store's own record of it, too.
    EXPECT_EQ(chain.first_finding({seal_at(whole, 3)}), "");
    EXPECT_THAT(chain.first_finding({seal_at(whole, 6)}), HasSubstr("the end was cut off"));
    chain.lines.clear();
    chain.head = {};
    EXPECT_THAT(chain.first_finding({seal_at(whole, 6)}), HasSubstr("the end was cut off"));
}

TEST(AuditChain, TheBeginningMayBeTakenOutAndNothingElse) {
    const Chained whole{6};
    Chained rest = whole;
    rest.lines.erase(rest.lines.begin(), rest.lines.begin() + 3);
    const AuditHead base = whole.lines[2].chain;
    EXPECT_EQ(rest.checked({seal_at(whole, 2), seal_at(whole, 3), seal_at(whole, 5)}, base).found(), 0u);
    EXPECT_GT(rest.checked({}, {3, "another"}).found(), 0u);
    EXPECT_GT(rest.checked({seal_at(whole, 3)}, {3, "another"}).found(), 1u);
    EXPECT_GT(rest.checked({}, whole.lines[1].chain).found(), 0u);
}

TEST(AuditChain, LinesOfOlderReleasesComeBeforeItAndNotWithin) {
    Chained chain{3};
    chain.lines.insert(chain.lines.begin(), 2, AuditLine{.actor = "key/k-1"});
    const ChainCheck check = chain.checked();
    EXPECT_EQ(check.found(), 0u);
    EXPECT_EQ(check.unchained(), 2u);
    chain.lines.insert(chain.lines.begin() + 4, 3, AuditLine{.actor = "key/k-1"});
    EXPECT_EQ(chain.checked().found(), 1u) << "one gap";
    EXPECT_THAT(chain.first_finding(), HasSubstr("the chain has begun before it at position 2"));
}

TEST(AuditChain, OfAPartEachLineAndItsNeighboursAreLookedAt) {
    const Chained whole{6};
    ChainCheck check{digest, {}};
    check.allow_gaps();
    for (const std::size_t at : {1, 2, 4}) check.add(whole.lines[at]);
    AuditLine withheld = whole.lines[5];
    withheld.address = "";
    withheld.client = "?";
    check.add(withheld, ChainCheck::Content::withheld);
    check.end();
    EXPECT_EQ(check.found(), 0u);
    EXPECT_EQ(check.withheld(), 1u);
    ChainCheck other{digest, {}};
    other.allow_gaps();
    AuditLine changed = whole.lines[3];
    changed.actor = "key/evil";
    other.add(whole.lines[1]);
    other.add(changed);
    EXPECT_EQ(other.found(), 1u);
}

TEST(AuditChain, ASealThatIsNotBelievedIsFoundAndFindingsAreBounded) {
    const Chained chain{3};
    ChainCheck check{digest, {}};
    check.add_seal(seal_at(chain, 2), [](const AuditSeal&) -> Result<> {
        return fail(Code::unauthenticated, "the signature is another's");
    });
    EXPECT_EQ(check.findings().front().text, "its seal cannot be believed: the signature is another's");
    EXPECT_EQ(check.findings().front().position, 2u);
    for (std::size_t i = 0; i < 2 * ChainCheck::findings_max; ++i) check.add(chain.lines[1]);
    EXPECT_EQ(check.findings().size(), ChainCheck::findings_max);
    EXPECT_GT(check.found(), ChainCheck::findings_max);
}

}  // namespace
}  // namespace hostler
