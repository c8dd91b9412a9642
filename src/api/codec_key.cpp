#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_key.h"

namespace hostler::api {

void Rules<CreateApiKey>::check(const CreateApiKey& request, Wrong& wrong) {
    if (request.is_operator && request.tenant_id)
        wrong.push_back({"tenantID", "must be left out for an operator's key"});
    if (!request.is_operator && !request.tenant_id)
        wrong.push_back({"tenantID", "is required, unless isOperator is true"});
}

}  // namespace hostler::api

HOSTLER_JSON(hostler::api::ApiKey)
HOSTLER_JSON(hostler::api::CreateApiKey)
HOSTLER_JSON(hostler::api::CreatedApiKey)
HOSTLER_JSON(hostler::api::ListApiKeys)
HOSTLER_JSON(hostler::api::NameApiKey)
HOSTLER_JSON(hostler::api::List<hostler::api::ApiKey>)

namespace hostler::api {

ApiArea key_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_api_key,
        &list_api_keys,
        &delete_api_key,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"key", "API keys."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
