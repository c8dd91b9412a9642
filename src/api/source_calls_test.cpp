// The five calls of the source with its own JSON: exactly its fields go in, exactly its fields come out.
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "api/codec.h"
#include "api/handlers.h"
#include "api/operations_instance.h"
#include "api/operations_stock.h"
#include "core/testing/run.h"

namespace hostler::api {
namespace {

class SourceCalls : public ::testing::Test {
protected:
    Reply ask(std::string method, std::string target, std::string body = "", std::string key = "") {
        return *hostler::testing::run(
            loop, handlers.answer({.method = method, .target = target, .body = body, .idempotency_key = key},
                                  Caller::of_operator("key/k-1"), nullptr));
    }
    // Remembers what a handler got, and answers.
    template <const auto& operation, class Request, class Response>
    void answer(Request& got, Response response) {
        handlers.on<operation>([this, &got, response](Call c, Request request) -> Task<Response> {
            got = std::move(request);
            call = std::move(c);
            co_return response;
        });
    }
    // The JSON names of a request's fields, without those that are ours.
    static std::vector<std::string> names(const Schema& schema, const std::set<std::string>& ours = {}) {
        std::vector<std::string> names;
        for (const Property& property : schema.properties)
            if (!ours.contains(property.name)) names.push_back(property.name);
        return names;
    }

    Loop loop;
    Handlers handlers;
    Call call;
};

using Names = std::vector<std::string>;

TEST_F(SourceCalls, CreateStocks) {
    CreateStocks got;
    answer<ops::create_stocks>(got, Empty{});
    const Reply reply = ask("POST", "/stocks", R"({"number": 4, "operationID": "op-1", "specName": "h100-1",
        "cpu": "8", "memory": "32Gi", "gpuType": "H100 SXM5 80GB", "gpuNum": 1})");
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.body, "{}");
    EXPECT_EQ(got, (CreateStocks{.number = 4,
                                 .operation_id = "op-1",
                                 .spec_name = "h100-1",
                                 .cpu = "8",
                                 .memory = "32Gi",
                                 .gpu_type = "H100 SXM5 80GB",
                                 .gpu_num = 1}));
    EXPECT_EQ(call.idempotency_key, "op-1");
    EXPECT_EQ(names(schema_of<CreateStocks>(), {"zone", "ifWanted"}),
              (Names{"number", "operationID", "specName", "cpu", "memory", "gpuType", "gpuNum"}));
}

TEST_F(SourceCalls, CreateStocksInAZone) {
    CreateStocks got;
    answer<ops::create_stocks>(got, Empty{});
    EXPECT_EQ(ask("POST", "/stocks?zone=lon&dryRun=true", R"({"number": 1, "specName": "s"})", "k").status,
              200);
    EXPECT_EQ(got.zone, "lon");
    EXPECT_TRUE(call.dry_run);
    EXPECT_EQ(call.idempotency_key, "k");
    EXPECT_EQ(call.request, R"({"number":1,"operationID":"","specName":"s","zone":"lon"})");
    const Reply wrong = ask("POST", "/stocks", R"({"number": 1, "specName": "s", "zone": "lon"})");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_NE(wrong.body.find("belongs in the query, as ?zone="), std::string::npos) << wrong.body;
}

TEST_F(SourceCalls, DeleteStocksByBodyOrByQuery) {
    DeleteStocks got;
    answer<ops::delete_stocks>(got, Empty{});
    const DeleteStocks wanted{.number = 2, .operation_id = "op-2", .spec_name = "h100-1"};
    EXPECT_EQ(ask("DELETE", "/stocks", R"({"number": 2, "operationID": "op-2", "specName": "h100-1"})").body,
              "{}");
    EXPECT_EQ(std::exchange(got, {}), wanted);
    EXPECT_EQ(ask("DELETE", "/stocks?number=2&operationID=op-2&specName=h100-1").body, "{}");
    EXPECT_EQ(std::exchange(got, {}), wanted);
    EXPECT_EQ(call.idempotency_key, "op-2");
    EXPECT_EQ(ask("DELETE", "/stocks?number=2", R"({"number": 3, "specName": "s"})").status, 400);
    EXPECT_EQ(names(schema_of<DeleteStocks>(), {"zone", "ifWanted"}),
              (Names{"number", "operationID", "specName"}));
}

TEST_F(SourceCalls, CreateInstance) {
    CreateInstance got;
    answer<ops::create_instance>(got, CreatedInstance{});
    const Reply reply = ask("POST", "/gpu-instances", R"({
        "instanceID": "notebook-1", "tenantID": "acme", "tenantName": "Acme Ltd", "image": "demo:1",
        "storageID": "models", "specName": "h100-1",
        "template": {
            "ports": [{"port": 8080, "protocol": "TCP", "isPublic": true, "isProbe": true,
                       "baseUrl": "/lab"}],
            "envs": [{"name": "A", "value": "1"}],
            "cmd": "serve --port 8080",
            "volumes": [{"name": "models", "mountPath": "/data", "readOnly": true}]}})");
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.body, "{}");
    EXPECT_EQ(got, (CreateInstance{.instance_id = "notebook-1",
                                   .tenant_id = "acme",
                                   .tenant_name = "Acme Ltd",
                                   .image = "demo:1",
                                   .storage_id = "models",
                                   .spec_name = "h100-1",
                                   .template_ = {.ports = {{8080, Protocol::TCP, true, true, "/lab"}},
                                                 .envs = {{"A", "1"}},
                                                 .cmd = "serve --port 8080",
                                                 .volumes = {{"models", "/data", true}}}}));
    EXPECT_EQ(names(schema_of<CreateInstance>(),
                    {"zone", "templateName", "parameters", "inactivityTimeoutSeconds", "maxRunSeconds",
                     "stopAt", "lossPolicy", "placement", "secretEnvs", "secretFiles", "labels", "entrypoint",
                     "shmSize", "stopGraceSeconds", "noInit", "project"}),
              (Names{"instanceID", "tenantID", "tenantName", "image", "storageID", "specName", "template"}));
    EXPECT_EQ(names(schema_of<Template>()), (Names{"ports", "envs", "cmd", "volumes"}));
    EXPECT_EQ(names(schema_of<Port>()), (Names{"port", "protocol", "isPublic", "isProbe", "baseUrl"}));
    EXPECT_EQ(names(schema_of<Env>()), (Names{"name", "value"}));
    EXPECT_EQ(names(schema_of<VolumeMount>()), (Names{"name", "mountPath", "readOnly"}));
}

TEST_F(SourceCalls, StopInstance) {
    NameInstance got;
    answer<ops::delete_instance>(got, Empty{});
    EXPECT_EQ(ask("DELETE", "/gpu-instances/notebook-1").body, "{}");
    EXPECT_EQ(got.instance_id, "notebook-1");
    EXPECT_EQ(ask("DELETE", "/gpu-instances/notebook-1", "{}").status,
              200);  // Some clients always send a body.
}

TEST_F(SourceCalls, InstanceState) {
    NameInstance got;
    answer<ops::get_instance_state>(got, InstanceStateAnswer{InstanceState::running});
    const Reply reply = ask("GET", "/gpu-instances/notebook-1?tenantID=acme");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.content_type, "application/json");
    EXPECT_EQ(reply.body, R"({"state":"running"})");
    EXPECT_EQ(got.tenant_id, "acme");
    for (const std::string_view state : {"init", "ready", "running"})  // The source's words.
        EXPECT_TRUE(
            std::ranges::count(schema_of<InstanceStateAnswer>().find("state")->schema->values, state));
}

}  // namespace
}  // namespace hostler::api
