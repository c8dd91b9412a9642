#include "api/codec_define.h"
#include "api/types_key.h"

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
HOSTLER_JSON(hostler::api::Whoami)
HOSTLER_JSON(hostler::api::Event)
HOSTLER_JSON(hostler::api::ListEvents)
HOSTLER_JSON(hostler::api::List<hostler::api::ApiKey>)
HOSTLER_JSON(hostler::api::List<hostler::api::Event>)
