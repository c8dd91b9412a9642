// Answers as gzip, for clients that take it.
#pragma once

#include "core/task.h"
#include "http/message.h"

namespace hostler::http {

inline constexpr std::size_t compressed_min = 1024;                          // Shorter bodies gain nothing.
inline constexpr std::size_t compressed_max = std::size_t{4} * 1024 * 1024;  // Longer ones go as they are.

// Whether a client with these headers takes gzip and does not like the plain form better (RFC 9110 section
// 12.5.3). A weight that is none counts as 0.
bool takes_gzip(const Headers& headers);

// `text` as gzip, at once: for what is compressed once and sent many times.
std::string gzip(std::string_view text);

// The answer to `request`, compressed where all of this is so: the method is GET or HEAD, the body is text or
// JSON of more than compressed_min bytes and not encoded yet, and the client takes gzip. Answers of other
// methods stay plain, because those have secrets that are told once (BREACH). Others have
// their turn after each piece of the body. Errors: cancelled.
Task<Response> compressed(const Request& request, Response response);

}  // namespace hostler::http
