// `hostler audit export` and `hostler audit verify`, against an API that has some records.
#include "cli/audit.h"

#include <boost/json.hpp>

#include "api/operations_audit.h"
#include "api/operations_whoami.h"
#include "cli/fake_api_test.h"

namespace hostler::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AuditCommands : public CliTest {
protected:
    AuditCommands() {
        api.handlers.on<api::ops::whoami>([](api::Call call, api::Empty) -> Task<api::Whoami> {
            co_return api::Whoami{.is_operator = call.caller.tenant.empty(), .tenant_id = call.caller.tenant};
        });
        api.handlers.on<api::ops::get_audit_chain>([](api::Call, api::Empty) -> Task<api::AuditChain> {
            co_return api::AuditChain{.head_position = 3, .head_hash = "h3"};
        });
        api.handlers.on<api::ops::list_audit_seals>(
            [](api::Call, api::Empty) -> Task<api::List<api::AuditSeal>> {
                api::List<api::AuditSeal> list;
                list.items.push_back({.position = 2, .hash = "h2", .signature = "s"});
                co_return list;
            });
        // Two a page.
        api.handlers.on<api::ops::list_audit>(
            [this](api::Call call, api::ListAudit request) -> Task<api::List<api::AuditEntry>> {
                EXPECT_EQ(request.sort, api::AuditSort::written);
                asked.push_back(
                    fmt::format("{} {}", request.tenant_id.value_or("-"), request.since.value_or(0)));
                if (refused) co_return std::unexpected(*refused);
                api::List<api::AuditEntry> list;
                for (std::uint64_t at = call.after ? call.after->created + 1 : 1; at <= 3; ++at) {
                    if (list.items.size() == 2) {
                        list.next_cursor = api::to_string({call.list, 0, at - 1, "0"});
                        break;
                    }
                    list.items.push_back(
                        {.actor = "key/k-1", .number = at, .position = at, .hash = fmt::format("h{}", at)});
                }
                co_return list;
            });
        api.handlers.on<api::ops::verify_audit>(
            [this](api::Call, api::VerifyAudit request) -> Task<api::AuditVerification> {
                asked.push_back(request.after.value_or("-"));
                if (!request.after)
                    co_return api::AuditVerification{.records = 5,
                                                     .chained = 3,
                                                     .before_chain = 2,
                                                     .seals = 1,
                                                     .first_position = 1,
                                                     .last_position = 3,
                                                     .next = "4.0.3.h3"};
                api::AuditVerification last{
                    .records = 2, .chained = 2, .seals = 1, .first_position = 4, .last_position = 5};
                if (broken) {
                    last.wrong = 2;
                    last.findings = {{.position = 5, .number = 9, .line = 1, .message = "it is\x1b wrong"}};
                }
                co_return last;
            });
    }
    static std::vector<std::string> kinds(const std::string& text) {
        std::vector<std::string> all;
        for (std::size_t at = 0; at < text.size();) {
            const auto end = text.find('\n', at);
            const auto record = boost::json::parse(text.substr(at, end - at)).as_object();
            std::string kind{record.at("kind").as_string()};
            if (const auto* position = record.if_contains("position"))
                kind += fmt::format(" {}", position->to_number<int>());
            all.push_back(std::move(kind));
            at = end + 1;
        }
        return all;
    }
    std::string read(const std::string& name) const {
        std::ifstream stream{home + "/" + name};
        return {std::istreambuf_iterator<char>{stream}, {}};
    }
    std::vector<std::string> asked;
    std::optional<Error> refused;
    bool broken = false;
};

TEST_F(AuditCommands, ExportWritesHeadSealsRecordsAndEnd) {
    EXPECT_EQ(run({"audit", "export"}), 0) << err;
    EXPECT_THAT(kinds(out), ElementsAre("audit-export", "seal 2", "record 1", "record 2", "record 3", "end"));
    const auto head = boost::json::parse(out.substr(0, out.find('\n')));
    EXPECT_EQ(head.at("whole"), true);
    EXPECT_EQ(head.at("chain").at("headHash"), "h3");
    EXPECT_THAT(out, HasSubstr(R"("kind":"end","records":3,"seals":1)"));
    EXPECT_THAT(err, HasSubstr("3 records and 1 seals\n"));
}

TEST_F(AuditCommands, ExportOfATenantOrOfAPartSaysSo) {
    EXPECT_EQ(run({"audit", "export", "--key", "acme-key"}), 0) << err;
    EXPECT_THAT(kinds(out), ElementsAre("audit-export", "record 1", "record 2", "record 3", "end"));
    auto head = boost::json::parse(out.substr(0, out.find('\n')));
    EXPECT_EQ(head.at("whole"), false);
    EXPECT_EQ(head.at("tenantID"), "acme");
    EXPECT_THAT(std::string{head.at("note").as_string()}, HasSubstr("each can be checked by itself"));
    asked.clear();
    EXPECT_EQ(run({"audit", "export", "--tenant-id", "acme", "--since", "2h"}), 0) << err;
    EXPECT_THAT(asked, ElementsAre("acme 7200", "acme 7200"));
    head = boost::json::parse(out.substr(0, out.find('\n')));
    EXPECT_EQ(head.at("whole"), false);
    EXPECT_EQ(run({"audit", "export", "--since", "x"}), 2);
}

TEST_F(AuditCommands, ExportLeavesAWholeFileOrNone) {
    const std::string path = home + "/audit.ndjson";
    EXPECT_EQ(run({"audit", "export", "--out", path}), 0) << err;
    EXPECT_EQ(out, "");
    EXPECT_THAT(err, HasSubstr("are in " + path));
    EXPECT_EQ(kinds(read("audit.ndjson")).size(), 6u);
    EXPECT_EQ(std::filesystem::status(path).permissions() & std::filesystem::perms::mask,
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_EQ(run({"audit", "export", "--out", path}), 5) << "it is there already";
    refused = Error{Code::forbidden, "no", "forbidden"};
    const std::string other = home + "/other.ndjson";
    EXPECT_EQ(run({"audit", "export", "--out", other}), 4);
    EXPECT_FALSE(std::filesystem::exists(other));
    EXPECT_FALSE(std::filesystem::exists(other + ".part"));
}

TEST_F(AuditCommands, VerifyGoesFromPartToPart) {
    EXPECT_EQ(run({"audit", "verify"}), 0) << err;
    EXPECT_THAT(asked, ElementsAre("-", "4.0.3.h3"));
    EXPECT_EQ(out,
              "5 records, positions 1 to 5, and 2 seals were checked\n"
              "2 records of an older release before them have no hash\n");
    EXPECT_EQ(run({"audit", "verify", "-o", "json"}), 0) << err;
    EXPECT_EQ(boost::json::parse(out).at("records"), 7);
    broken = true;
    EXPECT_EQ(run({"audit", "verify"}), 1);
    EXPECT_THAT(out, HasSubstr("position 5, record 1 of commit 9: it is\\x1b wrong\n1 more are left out\n"));
    EXPECT_THAT(err, HasSubstr("2 things are wrong with the audit"));
}

}  // namespace
}  // namespace hostler::cli
