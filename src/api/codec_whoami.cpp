#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_whoami.h"

HOSTLER_JSON(hostler::api::Whoami)

namespace hostler::api {

ApiArea whoami_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &whoami,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"whoami", "Whom a key belongs to."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
