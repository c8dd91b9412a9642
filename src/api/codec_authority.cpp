#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_authority.h"

HOSTLER_JSON(hostler::api::Authority)
HOSTLER_JSON(hostler::api::CertificateHolder)
HOSTLER_JSON(hostler::api::Authorities)
HOSTLER_JSON(hostler::api::RotateAuthority)
HOSTLER_JSON(hostler::api::AdmitKey)

namespace hostler::api {

void Rules<AdmitKey>::check(const AdmitKey& request, Wrong& wrong) {
    const std::string_view name = request.name;
    const auto slash = std::min(name.find('/'), name.size());
    const std::string_view role = name.substr(0, slash);
    if ((role != "access" && role != "gateway") || slash == name.size() ||
        !forms::id.check(name.substr(slash + 1)).empty())
        wrong.push_back({"name", "must be access/NAME or gateway/NAME"});
    if (request.key_fingerprint.find_first_not_of("0123456789abcdef") != std::string::npos)
        wrong.push_back({"keyFingerprint", "must be lower-case hex digits"});
}

}  // namespace hostler::api

namespace hostler::api {

ApiArea authority_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &get_authorities,
        &rotate_authority,
        &admit_key,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"ca", "Who signs certificates."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
