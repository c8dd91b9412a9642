// Errors are values. A function that can fail returns Result<T>; TRY passes an error on as it came.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostler {

// Each code maps to one HTTP status and to one answer to "may I try again?" (see http_status, may_retry).
enum class Code {
    invalid,          // The request is wrong, whatever the state. 400
    unauthenticated,  // Nobody knows who asks. 401
    forbidden,        // Known, and not allowed. 403
    not_found,        // 404
    conflict,         // Right by itself, wrong in the present state. 409
    exhausted,        // A limit or the capacity is used up. 429 (409 where the source API says so)
    unavailable,      // Try again later: a peer is away. 503
    timeout,          // No answer within the deadline. 504
    cancelled,        // Whoever asked has gone. 499
    internal,         // Our own mistake. 500
};

std::string_view name(Code);
int http_status(Code);
bool may_retry(Code);

// One wrong field of a request: `path` as in "template.ports[0].port".
struct FieldError {
    std::string path;
    std::string message;
    bool operator==(const FieldError&) const = default;
};

struct Error {
    Code code = Code::internal;
    std::string message;   // A sentence: what, which one, what to do.
    std::string reason{};  // A stable token for programs, as "spec_differs"; empty: the code's name.
    std::vector<FieldError> fields{};  // Every wrong field, when code is `invalid`.
    std::string help{};                // What would help, when the message does not say it already.
    bool operator==(const Error&) const = default;
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string message, std::string reason = {}) {
    return std::unexpected(Error{code, std::move(message), std::move(reason), {}, {}});
}

// Our own mistakes end the process, in release builds too.
[[noreturn]] void broken(const char* what, const char* file, int line);

}  // namespace hostler

#define HOSTLER_ASSERT(condition) \
    (static_cast<bool>(condition) ? void() : ::hostler::broken(#condition, __FILE__, __LINE__))

// The value of a Result, or return its error. In coroutines: CO_TRY (task.h).
#define TRY(...)                                                                  \
    ({                                                                            \
        auto hostler_try = (__VA_ARGS__);                                         \
        if (!hostler_try) return std::unexpected(std::move(hostler_try).error()); \
        ::hostler::detail::value_of(std::move(hostler_try));                      \
    })

namespace hostler::detail {
template <class T>
T value_of(std::expected<T, Error>&& result) {
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace hostler::detail
