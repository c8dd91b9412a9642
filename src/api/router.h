// From a request line to an operation and its fields.
#pragma once

#include <boost/json/fwd.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/cursor.h"
#include "api/query.h"
#include "api/schema.h"
#include "core/result.h"

namespace hostler::api {

using Params = std::vector<std::pair<std::string, std::string>>;

struct Match {
    const Operation* operation = nullptr;
    Params params{};  // Of the path, decoded: {"host", "h-4f2a"}.
    Params query{};   // Decoded, in order.
};

// `target` is a path with an optional query, as in a request line. HEAD matches where GET does.
// Errors: not_found; invalid with reason method_not_allowed, whose help is the Allow header's value; invalid
// for a path or query that is no proper one ('..', empty steps, bad escapes, NUL).
Result<Match> match(std::string_view method, std::string_view target);

enum class Place { path, query, body, body_or_query };
Place place_of(const Operation& operation, const Property& property);

// Whether it may be decided without being done.
bool can_dry_run(const Operation& operation);
// Whether its answer is kept for an idempotency key: not where the request has a secret, which would be kept
// with it, nor of strangers.
bool keeps_answer(const Operation& operation);

// Parameters that operations of a kind share, beside their own: dryRun, limit, cursor, query, watch.
struct CommonParameter {
    std::string_view name;
    std::string_view help;
    bool (*applies)(const Operation&);
    Kind kind;
    std::int64_t min = 0;  // Of an integer.
    std::int64_t max = 0;
    std::string_view initial{};
};
std::span<const CommonParameter> common_parameters();

// The fields of a request from path, query and body, not yet typed; and what is common to all operations.
struct Assembled {
    std::shared_ptr<const boost::json::value> fields;
    Result<> known;  // Complaints about query parameters, to be told together with those about fields.
    bool dry_run = false;
    bool watch = false;
    int limit = 100;
    bool newest_first = false;
    bool total = false;
    Query query;                   // Of the fields that list_fields() tells of the list,
    std::string query_text;        // and as it came.
    std::optional<Cursor> cursor;  // Its form is right; whether it is of this list is not known yet.
    std::string idempotency_key;   // From the header, or the field operationID.
};

// Errors: invalid (malformed JSON; a key in header and body that differ).
// `if_match`: the header If-Match, which is the field ifVersion where there is one.
Result<Assembled> assemble(const Match& match, std::string_view body, std::string_view idempotency_key,
                           std::string_view if_match = {});

// "a%20b%2Fc" → "a b/c": undoes percent_encode (core/percent.h). Errors: invalid.
Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

}  // namespace hostler::api
