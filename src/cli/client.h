// Calls of the API over HTTP.
#pragma once

#include <boost/json.hpp>

#include "api/operation.h"
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
    struct Limits {
        Duration total = Duration::max();           // The longest that one exchange may take.
        Duration again = std::chrono::seconds{15};  // So long it asks again, where that may help.
    };
    ApiClient(CliWorld& world, std::vector<Base> bases, std::string key, Limits limits);
    ApiClient(CliWorld& world, std::vector<Base> bases, std::string key);
    void again_for(Duration at_most) { limits_.again = std::min(limits_.again, at_most); }

    // The answer's JSON. Asks the next address, and again, when one of several cannot be reached, and
    // whenever the API says to come back later; each write has an idempotency key, so that it is done once.
    // Errors: what the API answered (api::error_of); transport's are `unavailable` with reason "unreachable",
    // answers that are none of ours `internal`.
    Task<json::value> call(ApiCall call);

    // Calls `each` for every event until it answers false, or the stream ends. `last_id` is where to go on
    // behind, and is kept up to date. Begins as call() does. Errors: as call(), and each's.
    Task<> watch(ApiCall call, std::string& last_id, std::function<Result<bool>(ServerEvent)> each);

private:
    struct Attempts;
    const Base& base() const { return bases_[at_]; }
    void name_write(ApiCall& call) const;
    http::Patience patience() const;
    http::Request request(const ApiCall& call) const;
    Task<http::ReplyPtr> begin(ApiCall call, std::string last_id);
    Task<bool> again(Attempts& attempts, const Error& error, const http::Headers* answered);
    std::unexpected<Error> unreachable(Error error) const;
    Result<json::value> answer(int status, std::string_view body) const;

    CliWorld& world_;
    std::vector<Base> bases_;
    std::size_t at_ = 0;  // The one that is asked.
    std::string key_;
    Limits limits_;
    http::Client http_;
};

// A field of an object; null when it is not there, or this is no object.
const json::value* field_of(const json::value& object, std::string_view name);
// When it is there and a text; else "".
std::string text_of(const json::object& object, std::string_view name);
std::string text_of(const json::value& object, std::string_view name);

// The target of a call: its path with the parameters in it, and the query.
std::string target_of(const ApiCall& call);

}  // namespace hostler::cli
