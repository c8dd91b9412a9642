// Errors as RFC 9457 problem details, and back.
#pragma once

#include "api/types_common.h"
#include "core/result.h"

namespace hostler::api {

inline constexpr std::string_view problem_type = "application/problem+json";

// The HTTP status of an error. Used-up capacity and quota are 409 (the source's calls say conflict); rates
// are 429; a full disk of ours is 507.
int status_of(const Error& error);
Problem problem_of(const Error& error);
// What a client makes of a problem it got.
Error error_of(const Problem& problem);

// "Not found" of 404.
std::string_view title_of(int status);

}  // namespace hostler::api
