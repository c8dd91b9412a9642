#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_account.h"

HOSTLER_JSON(hostler::api::ServiceAccount)
HOSTLER_JSON(hostler::api::CreateServiceAccount)
HOSTLER_JSON(hostler::api::ListServiceAccounts)
HOSTLER_JSON(hostler::api::NameServiceAccount)
HOSTLER_JSON(hostler::api::UpdateServiceAccount)
HOSTLER_JSON(hostler::api::AccountKey)
HOSTLER_JSON(hostler::api::CreateAccountKey)
HOSTLER_JSON(hostler::api::CreatedAccountKey)
HOSTLER_JSON(hostler::api::NameKey)
HOSTLER_JSON(hostler::api::RotateKey)
HOSTLER_JSON(hostler::api::RotatedKey)
HOSTLER_JSON(hostler::api::List<hostler::api::ServiceAccount>)
HOSTLER_JSON(hostler::api::List<hostler::api::AccountKey>)

namespace hostler::api {

ApiArea account_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &create_service_account,
        &list_service_accounts,
        &get_service_account,
        &update_service_account,
        &disable_service_account,
        &enable_service_account,
        &delete_service_account,
        &create_account_key,
        &list_account_keys,
        &rotate_key,
        &disable_key,
        &enable_key,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"account", "Service accounts of programs, and their keys."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
