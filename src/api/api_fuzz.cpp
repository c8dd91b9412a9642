// Whatever a client sends: a path, a query, a body. Nothing may crash, and what was taken must come back the
// same.
#include <boost/json.hpp>

#include "api/handlers.h"
#include "api/operations_instance.h"
#include "api/operations_stock.h"
#include "api/problem.h"

namespace {

using namespace hostler::api;

template <class Request>
void round_trip(std::string_view body) {
    const auto request = decode<Request>(body);
    if (!request) {
        HOSTLER_ASSERT(decode<Problem>(encode(problem_of(request.error()))));
        return;
    }
    const std::string text = encode(*request);
    const auto again = decode<Request>(text);
    HOSTLER_ASSERT(again && encode(*again) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(bytes), size};
    const auto end = input.find('\n');
    const std::string_view target = input.substr(0, end);
    const std::string_view body = end == input.npos ? "" : input.substr(end + 1);
    for (const std::string_view method : {"GET", "POST", "DELETE"}) {
        const auto matched = match(method, target);
        if (!matched) continue;
        const auto in = assemble(*matched, body, "");
        if (in && matched->operation == &ops::create_instance)
            (void)decode_value<CreateInstance>(*in->fields);
        if (in && matched->operation == &ops::delete_stocks) (void)decode_value<DeleteStocks>(*in->fields);
    }
    round_trip<CreateInstance>(input);
    round_trip<CreateStocks>(input);
    (void)decode_stored<Instance>(input);
    return 0;
}
