#include "api/codec_define.h"
#include "api/operation_list.h"
#include "api/operations_search.h"

HOSTLER_JSON(hostler::api::Search)
HOSTLER_JSON(hostler::api::SearchResult)

namespace hostler::api {

ApiArea search_area() {
    using namespace ops;
    static constexpr auto operations = std::to_array<const Operation*>({
        &search,
    });
    static constexpr auto nouns = std::to_array<Noun>({
        {"search", "Objects by id or name."},
    });
    return {operations, nouns};
}

}  // namespace hostler::api
