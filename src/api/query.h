// The language in which things are looked for, by API and command line alike: "gpu_memory>=48 zone=lon,nj".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "core/timers.h"

namespace hostler::api {

// query = [term {["and"] term}]        in any order; all of them must hold
// term  = field op value {"," value}   blanks around op and commas do not matter
// op    = "=" | "!=" | ">=" | "<=" | ">" | "<"
// value = bare | '"' any '"' | "'" any "'"
// Of several values one must match with "=", none with "!="; the other comparisons take one.
enum class Comparison { equal, differs, at_least, at_most, more, less };

enum class QueryKind {
    text,    // Compared as it is.
    words,   // Each word of the value stands in it, whatever its case: "h100" in "H100 SXM5 80GB".
    number,  // A whole number.
    cpus,    // A Kubernetes quantity; thousandths.
    money,   // A sum such as 2.49; millionths.
    bytes,   // A Kubernetes quantity; a number without a unit is GiB.
    time,    // 2026-11-28T10:00:00Z; microseconds.
};

struct QueryField {
    std::string_view name;
    QueryKind kind = QueryKind::text;
    std::string_view help;
    std::string_view choices{};  // With blanks between them: it has one of these, or none. Empty: anything.
};

struct QueryTerm {
    std::size_t field = 0;  // Its place among the fields.
    Comparison comparison = Comparison::equal;
    std::vector<std::string> texts;
    std::vector<std::int64_t> numbers;  // As many, of fields that are numbers.
    std::size_t at = 1;                 // Where it begins, from 1.
};
using Query = std::vector<QueryTerm>;

inline constexpr std::size_t query_terms_max = 32;
inline constexpr std::size_t query_values_max = 16;  // Of a term.
inline constexpr std::size_t query_length_max = 512;

// Errors: invalid, with each wrong term under `name`: "at 12: there is no field 'tpu'; …".
Result<Query> parse_query(std::string_view text, std::span<const QueryField> fields,
                          std::string_view name = "query");

// A text as a number of this kind; nullopt: it is none. Times are those of query_time().
std::optional<std::int64_t> query_number(QueryKind kind, const std::string& text);
std::int64_t query_time(WallTime time);

// Thousandths of CPUs, bytes, millionths of money, microseconds, or the number itself.
using QueryValue = std::variant<std::string, std::int64_t>;
bool matches(const QueryTerm& term, QueryKind kind, const QueryValue& value);

// "zone,-available": by the first, then by the next; '-': the highest first. Each field stands once.
struct OrderBy {
    std::size_t field = 0;
    bool highest_first = false;
};
Result<std::vector<OrderBy>> parse_order(std::string_view text, std::span<const QueryField> fields,
                                         std::string_view name = "order");

}  // namespace hostler::api
