// The audit by the program as it is shipped: records and refusals of a master, exported and verified.
#include <fmt/format.h>

#include <fstream>

#include "cloud.h"
#include "core/testing/temp_folder.h"

namespace hostler::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AuditFile : public ::testing::Test {
protected:
    static constexpr const char* operator_key = "hk_0123456789012345678901234567890123456789";

    AuditFile() {
        std::filesystem::create_directories(at("m"));
        put("m/operator.key", std::string{operator_key} + "\n");
        std::filesystem::permissions(
            at("m/operator.key"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    ~AuditFile() override { stop(); }
    std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
    void put(const std::string& name, const std::string& text) const { std::ofstream{at(name)} << text; }

    void start() {
        std::filesystem::remove(at("ready"));
        pid_ = shell(
            fmt::format("{} master --data {} --api 127.0.0.1:0 --wire 127.0.0.1:0 --ready-file {} --zone "
                        "nj:here >{} 2>&1 & m=$!; i=0; while [ ! -e {} ] && [ $i -lt 600 ]; do sleep "
                        "0.05; i=$((i+1)); done; printf %s $m",
                        HOSTLER, at("m"), at("ready"), at("log"), at("ready")));
        ASSERT_TRUE(std::filesystem::exists(at("ready"))) << read_file(at("log"));
        boost::system::error_code error;
        api_ = "http://" + cloud::at(json::parse(read_file(at("ready")), error), "/api");
    }
    void stop() {
        if (!pid_.empty())
            shell(fmt::format("kill {0}; while kill -0 {0} 2>/dev/null; do sleep 0.05; done", pid_));
        pid_.clear();
    }
    Ran cli(std::vector<std::string> words, const std::string& key = operator_key) const {
        words.insert(words.begin(), HOSTLER);
        words.insert(words.end(), {"--api", api_, "--key", key});
        return run_program(words);
    }
    Ran verify(const std::string& file, const std::string& authority = "") const {
        std::vector<std::string> words{HOSTLER, "audit", "verify", at(file)};
        if (!authority.empty()) words.insert(words.end(), {"--authority", at(authority)});
        return run_program(words);
    }

    std::string pid_, api_;
    hostler::testing::TempFolder folder_;
};

TEST_F(AuditFile, IsWholeWithoutAMasterAndTellsWhereItWasChanged) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (const char* zone : {"z-a", "z-b", "z-c"}) ASSERT_EQ(cli({"zone", "create", zone}).code, 0);
    boost::system::error_code error;
    const std::string acme = cloud::at(
        json::parse(cli({"key", "create", "ci", "--tenant-id", "acme", "-o", "json"}).out, error), "/secret");
    EXPECT_EQ(cli({"zone", "delete", "z-a", "--yes"}, acme).code, 4);
    stop();
    ASSERT_NO_FATAL_FAILURE(start());  // Whoever begins to lead seals what is there.
    for (int tries = 0; tries < 100 && !cli({"audit", "seals"}).out.contains("POSITION"); ++tries)
        shell("sleep 0.1");
    EXPECT_THAT(cli({"audit", "list", "--result", "denied"}).out, HasSubstr("permission_missing"));
    EXPECT_EQ(cli({"audit", "verify"}).out, "5 records, positions 1 to 5, and 1 seals were checked\n");
    ASSERT_EQ(cli({"audit", "export", "--out", at("all")}).code, 0);
    ASSERT_EQ(cli({"audit", "export", "--out", at("own")}, acme).code, 0);
    stop();

    Ran ran = verify("all", "m/authority.pem");
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out,
                HasSubstr("5 records and 1 seals were checked, positions 1 to 5\nsealed by the authority"));
    ran = verify("own");
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("1 records have a hash that cannot be checked"));
    EXPECT_THAT(ran.out, HasSubstr("a part of the audit"));

    const std::string whole = read_file(at("all"));
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = whole;
        text.replace(text.find(from), from.size(), to);
        put("changed", text);
        const Ran found = verify("changed");
        EXPECT_EQ(found.code, 1) << found.out << found.err;
        return found.out + found.err;
    };
    EXPECT_THAT(changed("\"subject\":\"zone/z-b\"", "\"subject\":\"zone/z-x\""),
                HasSubstr("position 2, record 0 of commit"));
    EXPECT_THAT(changed("\"signature\":\"", "\"signature\":\"AAAA"),
                HasSubstr("its seal cannot be believed"));
    EXPECT_THAT(changed("\"kind\":\"end\"", "\"kind\":\"other\""), HasSubstr("not known to this release"));
    EXPECT_THAT(changed("\"kind\":\"audit-export\"", "\"kind\":\"seal\""), HasSubstr("it is no head"));
    const std::size_t third = whole.find("{\"kind\":\"record\"", whole.find("zone/z-a"));
    const std::string removed = changed(whole.substr(third, whole.find('\n', third) + 1 - third), "");
    EXPECT_THAT(removed, HasSubstr("records were inserted or removed"));
    EXPECT_THAT(removed, HasSubstr("before it is missing"));
    put("changed", whole.substr(0, whole.size() / 2));
    EXPECT_EQ(verify("changed").code, 1);
    put("changed", whole.substr(0, whole.find("{\"kind\":\"end\"")));
    EXPECT_THAT(verify("changed").err, HasSubstr("the file has no end"));
    EXPECT_EQ(verify("none").code, 3);
    EXPECT_THAT(verify("all", "m/certificate.pem").out, HasSubstr("is not in the file of --authority"));
}

}  // namespace
}  // namespace hostler::cloud
