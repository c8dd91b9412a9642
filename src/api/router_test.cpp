#include "api/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "api/operation_list.h"
#include "api/operations_zone.h"
#include "core/percent.h"

namespace hostler::api {
namespace {

TEST(Router, FindsEveryOperationAtItsOwnPath) {
    for (const Operation* operation : operations()) {
        std::string path{operation->path};
        for (auto open = path.find('{'); open != path.npos; open = path.find('{'))
            path.replace(open, path.find('}') - open + 1, "x-1");
        const auto matched = match(name(operation->method), path);
        ASSERT_TRUE(matched) << path << ": " << matched.error().message;
        EXPECT_EQ(matched->operation, operation) << path;
    }
}

TEST(Router, TellsNotFoundFromNotAllowed) {
    EXPECT_EQ(match("GET", "/v1/nothing").error().code, Code::not_found);
    EXPECT_EQ(match("GET", "/stocks/").error().code, Code::not_found);
    EXPECT_EQ(match("GET", "/v1//zones").error().code, Code::not_found);
    EXPECT_EQ(match("GET", "/v1/zones/").error().code, Code::not_found);  // No zone has an empty name.
    const auto wrong = match("PUT", "/stocks");
    EXPECT_EQ(wrong.error().reason, "method_not_allowed");
    EXPECT_EQ(wrong.error().help, "POST, DELETE");
    EXPECT_EQ(match("GET", "/v1/hosts/h/cordon").error().help, "POST");
    EXPECT_EQ(match("HEAD", "/v1/zones")->operation, &ops::list_zones);
}

TEST(Router, DecodesParametersOnce) {
    const auto matched = match("GET", "/v1/volumes/a%2Fb%20c%252e?tenantID=x%26y&state=available#part");
    ASSERT_TRUE(matched) << matched.error().message;
    EXPECT_EQ(matched->params, (Params{{"volume", "a/b c%2e"}}));
    EXPECT_EQ(matched->query, (Params{{"tenantID", "x&y"}, {"state", "available"}}));
}

TEST(Router, RefusesTricks) {
    for (const auto* target :
         {"/v1/zones/..", "/v1/zones/%2e%2e", "/v1/../stocks", "/v1/./zones", "/v1/zones/a%00b",
          "/v1/zones/%zz", "/v1/zones/%4", "/v1/zones?zone=%", "v1/zones", "http://x/v1/zones", ""})
        EXPECT_EQ(match("GET", target).error().code, Code::invalid) << target;
    EXPECT_EQ(match("POST", "/%73tocks").error().code, Code::not_found);
    EXPECT_EQ(match("GET", "/v1/zones/" + std::string(9000, 'a')).error().reason, "too_large");
}

std::vector<std::string> complaints(std::string_view method, std::string_view target,
                                    std::string_view body = "") {
    const auto matched = match(method, target);
    EXPECT_TRUE(matched) << matched.error().message;
    const auto in = assemble(*matched, body, "");
    if (!in) return {in.error().message};
    std::vector<std::string> lines;
    if (!in->known)
        for (const auto& field : in->known.error().fields) lines.push_back(field.path + ": " + field.message);
    return lines;
}

TEST(Assemble, ReadsWhatOperationsShare) {
    const auto in =
        assemble(*match("GET", "/v1/instances?limit=7&cursor=a1.0.2f.i-1.x&watch&zone=nj&all=true"), "", "");
    ASSERT_TRUE(in && in->known);
    EXPECT_EQ(in->limit, 7);
    EXPECT_EQ(in->cursor, (Cursor{0xa1, 0, 0x2f, "i-1.x"}));
    EXPECT_TRUE(in->watch);
    EXPECT_EQ(boost::json::serialize(*in->fields), R"({"zone":"nj","all":true})");
    EXPECT_TRUE(assemble(*match("POST", "/v1/hosts/h/cordon?dryRun=1"), "", "")->dry_run);
    EXPECT_EQ(assemble(*match("GET", "/v1/zones"), "", "")->limit, 100);
    EXPECT_FALSE(assemble(*match("GET", "/v1/zones?order=created"), "", "")->newest_first);
    const auto newest = assemble(*match("GET", "/v1/zones?order=-created&total=true"), "", "");
    EXPECT_TRUE(newest->known && newest->newest_first && newest->total);
    const auto asked = assemble(*match("GET", "/v1/zones?query=name%3Dlon,nj"), "", "");
    ASSERT_TRUE(asked->known && asked->query.size() == 1);
    EXPECT_EQ(asked->query[0].texts, (std::vector<std::string>{"lon", "nj"}));
    EXPECT_EQ(asked->query_text, "name=lon,nj");
}

TEST(Assemble, NamesWrongParameters) {
    using testing::ElementsAre;
    EXPECT_THAT(complaints("GET", "/v1/gpus?modle=x&limit=0&zone=a&zone=b&dryRun=true"),
                ElementsAre("modle: unknown query parameter; did you mean 'model'?",
                            "limit: must be between 1 and 1000", "zone: appears twice in the query",
                            "dryRun: unknown query parameter"));
    EXPECT_THAT(complaints("GET", "/v1/zones?order=name&total=7"),
                ElementsAre("order: must be created or -created", "total: must be true or false"));
    EXPECT_THAT(complaints("GET", "/v1/events?total=true"),
                ElementsAre(::testing::StartsWith("total: unknown query parameter")));
    EXPECT_THAT(complaints("GET", "/v1/events?query=kind%3Dhost"),
                ElementsAre(::testing::StartsWith("query: unknown query parameter")));
    EXPECT_THAT(
        complaints("GET", "/v1/zones?query=nmae%3Dlon&limit=0"),
        ElementsAre(::testing::StartsWith("query: at 1: there is no field 'nmae'; did you mean 'name'?"),
                    "limit: must be between 1 and 1000"));
    EXPECT_THAT(complaints("GET", "/v1/zones?limit=1001"), ElementsAre("limit: must be between 1 and 1000"));
    EXPECT_THAT(complaints("GET", "/v1/instances?watch=maybe"), ElementsAre("watch: must be true or false"));
    EXPECT_THAT(complaints("DELETE", "/v1/zones/nj", R"({"zone": "lon"})"),
                ElementsAre("zone: belongs in the path, not in the body"));
    EXPECT_THAT(complaints("POST", "/v1/zones", "[]"), ElementsAre("the body must be a JSON object"));
    EXPECT_THAT(complaints("POST", "/stocks", R"({"operationID": "a\nb", "operationID": "c"})"),
                ElementsAre(testing::HasSubstr("'operationID' appears twice")));
}

TEST(Assemble, IfMatchIsTheFieldIfVersion) {
    const auto read = [](std::string_view header, std::string_view body) {
        const auto in = assemble(*match("PUT", "/v1/prices"), body, "", header);
        HOSTLER_ASSERT(in);
        return in->known ? boost::json::serialize(*in->fields) : in->known.error().fields.front().path;
    };
    EXPECT_EQ(read(R"("7")", R"({"amount":"2"})"), R"({"amount":"2","ifVersion":7})");
    EXPECT_EQ(read(R"("7")", R"({"ifVersion":7})"), R"({"ifVersion":7})");
    EXPECT_EQ(read("", R"({"ifVersion":7})"), R"({"ifVersion":7})");
    EXPECT_EQ(read(R"("7")", R"({"ifVersion":8})"), "ifVersion");
    for (const char* wrong : {"7", "*", R"("seven")", R"(W/"7")", R"("")", R"("-1")"})
        EXPECT_EQ(read(wrong, "{}"), "If-Match") << wrong;
    EXPECT_TRUE(assemble(*match("POST", "/v1/zones"), "{}", "", "*")->known) << "it has no versions";
}

TEST(Percent, EncodesWhatItDecodes) {
    const std::string odd = "a b/c?d=e&f%g+h\xc3\xa9";
    EXPECT_EQ(percent_decode(percent_encode(odd), true), odd);
    EXPECT_EQ(percent_decode("a+b", true), "a b");
    EXPECT_EQ(percent_decode("a+b", false), "a+b");
}

}  // namespace
}  // namespace hostler::api
