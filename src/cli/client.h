// Calls of the API over HTTP.
#pragma once

#include <boost/json.hpp>

#include "api/operations.h"
#include "api/router.h"
#include "cli/config.h"

namespace hostler::cli {

namespace json = boost::json;

// A request on its way: an operation with its fields put where they belong.
struct ApiCall {
    const api::Operation* operation = nullptr;
    api::Params params{};  // Of the path.
    api::Params query{};
    json::object body{};
    std::string idempotency_key{};
};

// One server-sent event.
struct ServerEvent {
    std::string id;
    std::string name;
    std::string data;
};

// Bytes in, events out. Errors: exhausted (an event beyond 16 MiB).
class EventReader {
public:
    Result<std::vector<ServerEvent>> take(std::string_view bytes);

private:
    std::string rest_;
};

class ApiClient {
public:
    // `total`: the longest that call() may take.
    ApiClient(Net& net, Timers& timers, Base base, std::string key, std::string version,
              Duration total = Duration::max());

    // The answer's JSON. Errors: what the API answered (api::error_of); transport's are `unavailable` with
    // reason "unreachable", answers that are none of ours `internal`.
    Task<json::value> call(ApiCall call);

    // Calls `each` for every event until it answers false, or the stream ends. `last_id` is where to go on
    // behind, and is kept up to date. Errors: as call(), and each's.
    Task<> watch(ApiCall call, std::string& last_id, std::function<Result<bool>(ServerEvent)> each);

private:
    http::Request request(const ApiCall& call) const;
    std::unexpected<Error> unreachable(Error error) const;
    Result<json::value> answer(int status, std::string_view body) const;

    Base base_;
    std::string key_;
    std::string version_;
    Duration total_;
    http::Client http_;
};

// A field of an object, when it is there and a text; else "".
std::string text_of(const json::object& object, std::string_view name);
std::string text_of(const json::value& object, std::string_view name);

// The target of a call: its path with the parameters in it, and the query.
std::string target_of(const ApiCall& call);

}  // namespace hostler::cli
