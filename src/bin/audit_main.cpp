// `hostler audit verify FILE`: whether a file of `hostler audit export` is whole, without a master.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <set>

#include "adapters/net/authority.h"
#include "adapters/net/digest.h"
#include "api/codec.h"
#include "api/types_audit.h"
#include "bin/arguments.h"
#include "bin/process.h"
#include "bin/roles.h"
#include "core/safe_text.h"
#include "ports/audit_chain.h"

namespace hostler::bin {

namespace {

namespace json = boost::json;

constexpr std::size_t record_bytes_max = std::size_t{16} << 20;

std::unexpected<Error> no_export(std::uint64_t at, std::string_view why) {
    return fail(Code::invalid, fmt::format("line {} of the file: {}", at, why), "not_an_export");
}

AuditLine line_of(api::AuditEntry entry) {
    return {.time = entry.time,
            .actor = std::move(entry.actor),
            .address = std::move(entry.address),
            .operation = std::move(entry.operation),
            .subject = std::move(entry.subject),
            .tenant = std::move(entry.tenant_id),
            .status = entry.status,
            .before = std::move(entry.before),
            .after = std::move(entry.after),
            .client = std::move(entry.client),
            .project = std::move(entry.project),
            .zone = std::move(entry.zone),
            .service = std::move(entry.service),
            .result = boost::describe::enum_to_string(entry.result, ""),
            .reason = std::move(entry.reason),
            .chain = {entry.position, std::move(entry.hash)},
            .previous = std::move(entry.previous),
            .number = entry.number,
            .line = entry.line};
}

AuditSeal seal_of_export(api::AuditSeal seal) {
    return {.head = {seal.position, std::move(seal.hash)},
            .time = seal.time,
            .epoch = seal.epoch,
            .authority = std::move(seal.authority),
            .certificate = std::move(seal.certificate),
            .signature = std::move(seal.signature)};
}

// At most one byte more than a record may have. False: there is none.
bool next_line(std::istream& file, std::string& line) {
    line.clear();
    char c = 0;
    bool any = false;
    while (line.size() <= record_bytes_max && file.get(c)) {
        any = true;
        if (c == '\n') break;
        line += c;
    }
    return any;
}

// Goes through the records of a file, one at a time.
class ExportCheck {
public:
    // `believed`: fingerprints of authorities; empty: any.
    explicit ExportCheck(std::vector<std::string> believed) : believed_(std::move(believed)) {}

    Result<> read(std::istream& file) {
        std::string text;
        while (next_line(file, text)) {
            ++at_;
            if (text.size() > record_bytes_max) return no_export(at_, "it is too long");
            TRY(take(text));
        }
        if (file.bad()) return fail(Code::unavailable, "the file cannot be read");
        if (!check_) return no_export(1, "it is no file of `hostler audit export`");
        if (!over_) return no_export(at_, "the file has no end: it was cut off");
        check_->end();
        return {};
    }
    const ChainCheck& check() const { return *check_; }
    bool whole() const { return whole_; }
    const std::string& miscounted() const { return miscounted_; }  // Empty: its end counts what it has.
    const std::set<std::string>& authorities() const { return authorities_; }

private:
    Result<> take(const std::string& text) {
        boost::system::error_code wrong;
        const json::value value = json::parse(text, wrong);
        if (wrong || !value.is_object()) return no_export(at_, "it is no JSON object");
        json::object record = value.get_object();
        const json::value* kind = record.if_contains("kind");
        const std::string name = kind && kind->is_string() ? std::string{kind->get_string()} : "";
        record.erase("kind");
        if (over_) return no_export(at_, "it stands behind the end");
        if (!check_) return name == "audit-export" ? begin(record) : no_export(at_, "it is no head");
        if (name == "seal") return take_seal(record);
        if (name == "record") return take_record(record);
        if (name == "end") return end(record);
        return no_export(at_,
                         fmt::format("records of kind '{}' are not known to this release", safe_line(name)));
    }

    Result<> begin(const json::object& head) {
        const json::value* version = head.if_contains("version");
        if (!version || *version != 1)
            return no_export(at_, "a newer release wrote it; use that release's hostler");
        const json::value* whole = head.if_contains("whole");
        whole_ = whole && whole->is_bool() && whole->get_bool();
        api::AuditChain chain;
        if (whole_) {
            const json::value* said = head.if_contains("chain");
            const auto read = api::decode_stored<api::AuditChain>(said ? json::serialize(*said) : "");
            if (!read) return no_export(at_, "its `chain` is missing or wrong");
            chain = *read;
        }
        check_.emplace(digest_, AuditHead{chain.base_position, chain.base_hash});
        if (whole_)
            check_->expect_head({chain.head_position, chain.head_hash});
        else
            check_->allow_gaps();
        return {};
    }

    Result<> take_seal(const json::object& record) {
        auto read = api::decode_stored<api::AuditSeal>(json::serialize(record));
        if (!read) return no_export(at_, "it is no seal");
        ++seals_;
        check_->add_seal(seal_of_export(*std::move(read)),
                         [this](const AuditSeal& seal) { return believe(seal); });
        return {};
    }

    Result<> believe(const AuditSeal& seal) {
        if (!believed_.empty() && !std::ranges::count(believed_, seal.authority))
            return fail(Code::unauthenticated,
                        fmt::format("its authority {} is not in the file of --authority", seal.authority));
        TRY(net::check_signed_text(hostler::seal_text(seal), seal.signature, seal.certificate,
                                   seal.authority));
        authorities_.insert(seal.authority);
        return {};
    }

    Result<> take_record(const json::object& record) {
        auto read = api::decode_stored<api::AuditEntry>(json::serialize(record));
        if (!read) return no_export(at_, fmt::format("it is no audit record: {}", read.error().message));
        ++records_;
        const bool withheld = read->withheld;
        check_->add(line_of(*std::move(read)),
                    withheld ? ChainCheck::Content::withheld : ChainCheck::Content::known);
        return {};
    }

    Result<> end(const json::object& record) {
        over_ = true;
        const auto is = [&record](std::string_view name, std::uint64_t count) {
            const json::value* said = record.if_contains(name);
            return said && said->is_number() && said->to_number<std::uint64_t>() == count;
        };
        if (!is("records", records_) || !is("seals", seals_))
            miscounted_ = fmt::format(
                "the file has {} records and {} seals, and its end says otherwise: "
                "records were inserted or removed",
                records_, seals_);
        return {};
    }

    const net::OpenSslDigest digest_;
    std::vector<std::string> believed_;
    std::optional<ChainCheck> check_;
    std::set<std::string> authorities_;
    std::string miscounted_;
    bool whole_ = false, over_ = false;
    std::uint64_t at_ = 0, records_ = 0, seals_ = 0;
};

void tell(const ExportCheck& file, bool authority_given) {
    const ChainCheck& check = file.check();
    fmt::print("{} records and {} seals were checked", check.chained(), check.seals());
    if (check.first()) fmt::print(", positions {} to {}", check.first()->position, check.last().position);
    fmt::print("\n");
    if (check.unchained() > 0) fmt::print("{} records of an older release have no hash\n", check.unchained());
    if (check.withheld() > 0)
        fmt::print("{} records have a hash that cannot be checked, since their address is withheld\n",
                   check.withheld());
    if (!file.whole())
        fmt::print("the file has a part of the audit: it does not show that no record is missing\n");
    for (const std::string& one : file.authorities())
        fmt::print("sealed by the authority {}{}\n", one,
                   authority_given ? "" : "; compare it with `hostler ca show`, or use --authority");
    if (!file.miscounted().empty()) fmt::print("{}\n", file.miscounted());
    for (const ChainFinding& one : check.findings()) {
        std::string place = one.position == 0 ? "" : fmt::format("position {}", one.position);
        if (one.number != 0)
            place += fmt::format("{}record {} of commit {}", place.empty() ? "" : ", ", one.line, one.number);
        fmt::print("{}: {}\n", place, safe_line(one.text));
    }
    if (check.found() > check.findings().size())
        fmt::print("{} more are left out\n", check.found() - check.findings().size());
}

Result<bool> verify_file(const std::string& path, const std::string& authority) {
    std::vector<std::string> believed;
    if (!authority.empty()) {
        const std::string pem = read_file(authority);
        if (pem.empty()) return fail(Code::not_found, fmt::format("{} cannot be read", authority));
        believed = TRY(net::make_keys()->fingerprints(pem));
    }
    std::ifstream file{path, std::ios::binary};
    if (!file) return fail(Code::not_found, fmt::format("{} cannot be read", path));
    ExportCheck check{std::move(believed)};
    TRY(check.read(file));
    tell(check, !authority.empty());
    return check.check().found() == 0 && check.miscounted().empty();
}

}  // namespace

bool is_audit_file(int argc, const char* const* argv) {
    if (argc < 4 || std::string_view{argv[1]} != "audit" || std::string_view{argv[2]} != "verify")
        return false;
    return !std::string_view{argv[3]}.starts_with('-') ||
           std::string_view{argv[3]}.starts_with("--authority");
}

int audit_verify_main(int argc, const char* const* argv) {
    CLI::App app{
        "Check a file of `hostler audit export`: the hashes of its records and the signatures of its seals. "
        "1 "
        "if something is wrong.",
        "hostler audit verify"};
    std::string file, authority;
    app.add_option("file", file, "The file")->required();
    app.add_option("--authority", authority,
                   "File with the certificates of the authorities to believe; else any that the file names");
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    const auto good = verify_file(file, authority);
    if (good) return *good ? 0 : 1;
    fmt::print(stderr, "hostler: {}\n", good.error().message);
    return good.error().code == Code::not_found ? 3 : 1;
}

}  // namespace hostler::bin
