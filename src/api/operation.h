// One operation of the API: where it is, who may call it, what goes in and comes out.
#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

#include "core/result.h"
#include "domain/tenancy/permission.h"

namespace hostler::api {

struct Schema;
// Made in one source per resource (codec.h).
template <class T>
const Schema& schema_of();
template <class T>
Result<> check_value(const boost::json::value& value);

enum class Method { get, post, put, patch, delete_ };
std::string_view name(Method);  // "GET"

enum class Body { automatic, or_query };  // or_query: the fields may come in a body or as query parameters.

// What a list can be asked for. of_memory: a query (list_query.h), the order of its page, and how many there
// are in all; newest: the order alone, and its page is of the newest ones; own: none, it has an order of
// another kind.
enum class Pages { of_memory, newest, own };

struct Operation {
    std::string_view name;  // operationId: "createStocks"
    Method method = Method::get;
    std::string_view path;  // "/v1/hosts/{host}": a {name} is a field of the request.
    Permission permission =
        Permission::self_read;       // Needed at the scope of the object; see domain/tenancy/principal.h.
    std::string_view help;           // One sentence.
    int status = 200;                // Of success; 202: the answer is a LongOperation to wait for.
    bool list = false;               // Takes limit and cursor, answers List<T>.
    Pages pages = Pages::of_memory;  // Of a list.
    bool query = false;              // Of such with own pages: it takes ?query= all the same.
    bool watch = false;              // ?watch=true answers server-sent events (watch.h).
    // Answers server-sent events alone; the response is the data of those that have some.
    bool stream = false;
    Body body = Body::automatic;
    bool open = false;  // Strangers may call it: what it takes shows that they may.
    // Command line: `hostler noun verb [argument]`.
    std::string_view noun;
    std::string_view verb;
    std::string_view
        argument{};  // JSON name of a field that is given by position; those of the path come before it.
    // Of its table, the important ones first: those at the end are left out where a terminal is too narrow.
    // Without it the answer is shown as name and value.
    std::string_view columns{};
    std::string_view confirm{};            // What to ask a person before it is done; empty: it is just done.
    std::string_view example{};            // What to type after "hostler ".
    const Schema& (*request)() = nullptr;  // Filled in by Typed.
    const Schema& (*response)() = nullptr;
    // Whether it is a proper request, with every wrong field. Errors: invalid.
    Result<> (*check)(const boost::json::value&) = nullptr;

    constexpr bool writes() const { return method != Method::get; }
    constexpr bool takes_query() const { return list && (pages == Pages::of_memory || query); }
};

template <class RequestType, class ResponseType>
struct Typed : Operation {
    using Request = RequestType;
    using Response = ResponseType;
    constexpr Typed(Operation operation) : Operation(operation) {
        request = &schema_of<Request>;
        response = &schema_of<Response>;
        check = &check_value<Request>;
    }
};

}  // namespace hostler::api
