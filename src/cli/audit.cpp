#include "cli/audit.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "api/codec.h"
#include "api/operations_audit.h"
#include "api/operations_whoami.h"
#include "cli/values.h"
#include "core/safe_text.h"

namespace hostler::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view page_limit = "1000";

// Standard output, or a file that has its name once it is whole.
class ExportTarget {
public:
    ExportTarget(CliWorld& world, std::string path)
        : world_(world), path_(std::move(path)), part_(path_ + ".part") {}
    ~ExportTarget() {
        if (!file_.is_open()) return;
        file_.close();
        std::error_code ignored;
        fs::remove(part_, ignored);
    }
    ExportTarget(const ExportTarget&) = delete;
    ExportTarget& operator=(const ExportTarget&) = delete;

    Result<> begin() {
        if (path_.empty()) return {};
        std::error_code wrong;
        if (fs::exists(path_, wrong))
            return fail(Code::conflict, fmt::format("{} exists already; name another file", path_));
        file_.open(part_, std::ios::binary | std::ios::trunc);
        if (!file_) return cannot_write();
        fs::permissions(part_, fs::perms::owner_read | fs::perms::owner_write, wrong);
        return wrong ? cannot_write() : Result<>{};
    }
    Result<> put(const json::object& record) {
        const std::string line = json::serialize(record) + "\n";
        if (path_.empty()) {
            world_.out(line);
            return {};
        }
        file_ << line;
        return file_ ? Result<>{} : cannot_write();
    }
    Result<> finish() {
        if (path_.empty()) return {};
        file_.flush();
        if (!file_) return cannot_write();
        std::error_code wrong;
        fs::rename(part_, path_, wrong);
        if (wrong) return cannot_write();
        file_.close();
        return {};
    }

private:
    std::unexpected<Error> cannot_write() const {
        return fail(Code::unavailable, fmt::format("{} cannot be written", part_));
    }
    CliWorld& world_;
    std::string path_, part_;
    std::ofstream file_;
};

class Exporting {
public:
    Exporting(CliWorld& world, ApiClient& client, const AuditExportCommand& command)
        : world_(world), client_(client), command_(command), target_(world, command.out) {}

    Task<> run() {
        CO_TRY(target_.begin());
        const json::value who = CO_TRY(co_await client_.call({.operation = &api::ops::whoami}));
        const auto whoami = CO_TRY(api::decode_stored<api::Whoami>(json::serialize(who)));
        const bool whole = whoami.is_operator && !command_.has_filters();
        api::Params query = CO_TRY(filters());
        CO_TRY(co_await put_head(whoami, whole));
        std::uint64_t seals = 0;
        if (whole) seals = CO_TRY(co_await put_all(api::ops::list_audit_seals, {}, "seal"));
        query.emplace_back("sort", "written");
        const std::uint64_t records = CO_TRY(co_await put_all(api::ops::list_audit, query, "record"));
        CO_TRY(target_.put({{"kind", "end"}, {"records", records}, {"seals", seals}}));
        CO_TRY(target_.finish());
        world_.err(fmt::format("{} records and {} seals{}\n", records, seals,
                               command_.out.empty() ? "" : " are in " + command_.out));
        co_return Result<>{};
    }

private:
    Result<api::Params> filters() const {
        api::Params query;
        if (!command_.tenant.empty()) query.emplace_back("tenantID", command_.tenant);
        if (!command_.project.empty()) query.emplace_back("project", command_.project);
        for (const auto& [name, text] : {std::pair{"since", &command_.since}, {"until", &command_.until}})
            if (!text->empty()) query.emplace_back(name, std::to_string(TRY(parse_time(*text)).count()));
        return query;
    }

    Task<> put_head(const api::Whoami& whoami, bool whole) {
        json::object head{{"kind", "audit-export"},
                          {"version", 1},
                          {"client", "hostler/" + world_.version},
                          {"takenAt", rfc3339(world_.timers.wall())},
                          {"whole", whole}};
        if (whole) {
            const json::value chain =
                CO_TRY(co_await client_.call({.operation = &api::ops::get_audit_chain}));
            head["chain"] = chain;
        } else {
            if (!whoami.is_operator) head["tenantID"] = whoami.tenant_id;
            head["note"] =
                "Records of others, or those that were not asked for, are left out. Each record has its own "
                "hash and that of the record before it in the chain, so each can be checked by itself; this "
                "file does not show that none is missing.";
        }
        co_return target_.put(head);
    }

    // All pages of a list, each item as a record of this kind.
    Task<std::uint64_t> put_all(const api::Operation& operation, api::Params base, std::string kind) {
        std::uint64_t count = 0;
        std::string cursor;
        do {
            ApiCall call{.operation = &operation, .query = base};
            call.query.emplace_back("limit", page_limit);
            if (!cursor.empty()) call.query.emplace_back("cursor", cursor);
            const json::value page = CO_TRY(co_await client_.call(std::move(call)));
            const json::value* items = page.is_object() ? page.get_object().if_contains("items") : nullptr;
            if (!items || !items->is_array())
                co_return fail(Code::internal, "the API's list has no items", "not_our_api");
            for (const json::value& item : items->get_array()) {
                if (!item.is_object())
                    co_return fail(Code::internal, "the API's list has no objects", "not_our_api");
                json::object record{{"kind", kind}};
                for (const auto& [name, value] : item.get_object()) record[name] = value;
                CO_TRY(target_.put(record));
                ++count;
            }
            cursor = text_of(page, "nextCursor");
        } while (!cursor.empty());
        co_return count;
    }

    CliWorld& world_;
    ApiClient& client_;
    const AuditExportCommand& command_;
    ExportTarget target_;
};

std::string sentence(const api::AuditVerification& all) {
    std::string text;
    if (all.first_position)
        text = fmt::format("{} records, positions {} to {}, and {} seals were checked\n", all.chained,
                           *all.first_position, all.last_position, all.seals);
    else
        text = "there is no record with a hash\n";
    if (all.before_chain > 0)
        text += fmt::format("{} records of an older release before them have no hash\n", all.before_chain);
    for (const api::AuditFinding& one : all.findings) {
        std::string place = one.position == 0 ? "" : fmt::format("position {}", one.position);
        if (one.number != 0)
            place += fmt::format("{}record {} of commit {}", place.empty() ? "" : ", ", one.line, one.number);
        text += fmt::format("{}: {}\n", place, safe_line(one.message));
    }
    if (all.wrong > all.findings.size())
        text += fmt::format("{} more are left out\n", all.wrong - all.findings.size());
    return text;
}

}  // namespace

void AuditExportCommand::add(CLI::App& noun) {
    app = noun.add_subcommand("export", "Write audit records with their hashes and seals, as lines of JSON.");
    app->add_option("--out", out, "A new file. Default: standard output.")->type_name("FILE");
    app->add_option("--tenant-id", tenant, "Only records of this tenant.")->type_name("TENANT");
    app->add_option("--project", project, "Only records of this project.")->type_name("PROJECT");
    app->add_option("--since", since, "Only records of this time until now, as 24h or 30d.")
        ->type_name("TIME");
    app->add_option("--until", until, "Only records older than this time, as 24h or 30d.")->type_name("TIME");
    app->footer("Example:\n  hostler audit export --out audit.ndjson");
    app->fallthrough()->allow_extras();
}

Task<> run_audit_export(CliWorld& world, ApiClient& client, const AuditExportCommand& command) {
    Exporting exporting{world, client, command};
    co_return co_await exporting.run();
}

Task<> run_audit_verify(CliWorld& world, ApiClient& client, ApiCall call, const Style& style) {
    api::AuditVerification all;
    const api::Params base = call.query;
    while (true) {
        const json::value answer = CO_TRY(co_await client.call(call));
        auto part = api::decode_stored<api::AuditVerification>(json::serialize(answer));
        if (!part) co_return fail(Code::internal, "the API's answer is no verification", "not_our_api");
        all.records += part->records;
        all.chained += part->chained;
        all.before_chain += part->before_chain;
        all.seals += part->seals;
        all.wrong += part->wrong;
        all.last_position = part->last_position;
        if (!all.first_position) all.first_position = part->first_position;
        for (api::AuditFinding& one : part->findings)
            if (all.findings.size() < api::findings_shown_max) all.findings.push_back(std::move(one));
        if (!part->next) break;
        call.query = {{"after", *part->next}};
    }
    if (style.format == Format::table)
        world.out(sentence(all));
    else
        world.out(render_object(api::ops::verify_audit, json::parse(api::encode(all)), style));
    if (all.wrong == 0) co_return Result<>{};
    co_return fail(Code::internal, fmt::format("{} things are wrong with the audit", all.wrong),
                   "audit_broken");
}

}  // namespace hostler::cli
