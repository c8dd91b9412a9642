#include "api/problem.h"

namespace hostler::api {

int status_of(const Error& error) {
    if (error.code == Code::exhausted &&
        (error.reason == "insufficient_capacity" || error.reason == "quota_exceeded"))
        return 409;
    if (error.code == Code::exhausted && error.reason == "disk_full") return 507;
    if (error.code == Code::not_found && error.reason == "watch_expired") return 410;
    if (error.code == Code::invalid && error.reason == "too_large") return 413;
    if (error.code == Code::invalid && error.reason == "method_not_allowed") return 405;
    return http_status(error.code);
}

std::string_view title_of(int status) {
    switch (status) {
        case 400: return "Bad request";
        case 401: return "Not authenticated";
        case 403: return "Not allowed";
        case 404: return "Not found";
        case 405: return "Method not allowed";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 413: return "Too large";
        case 429: return "Too many requests";
        case 499: return "Cancelled";
        case 503: return "Unavailable";
        case 504: return "Timed out";
        case 507: return "Disk full";
    }
    return "Internal error";
}

namespace {

// Of these codes an error's fields are reasons by their tokens, with how many hosts each keeps out.
bool has_reasons(std::string_view code) {
    return code == "insufficient_capacity" || code == "placement_impossible";
}

}  // namespace

Problem problem_of(const Error& error) {
    Problem problem;
    problem.status = status_of(error);
    problem.title = title_of(problem.status);
    problem.code = error.reason.empty() ? std::string(name(error.code)) : error.reason;
    problem.type = "urn:hostler:problem:" + problem.code;
    problem.detail = error.message;
    const bool placed_nowhere = has_reasons(problem.code);
    if (placed_nowhere && !error.fields.empty()) problem.reasons.emplace();
    for (const FieldError& field : error.fields)
        if (placed_nowhere)
            problem.reasons->push_back({field.path, std::atoi(field.message.c_str())});
        else
            problem.errors.push_back({field.path, field.message});
    if (!error.help.empty()) problem.help = error.help;
    return problem;
}

Error error_of(const Problem& problem) {
    Error error{.message = problem.detail.empty() ? problem.title : problem.detail, .reason = problem.code};
    switch (problem.status) {
        case 401: error.code = Code::unauthenticated; break;
        case 403: error.code = Code::forbidden; break;
        case 404:
        case 410: error.code = Code::not_found; break;
        case 409:
            error.code = has_reasons(problem.code) || problem.code == "quota_exceeded" ? Code::exhausted
                                                                                       : Code::conflict;
            break;
        case 429:
        case 507: error.code = Code::exhausted; break;
        case 499: error.code = Code::cancelled; break;
        case 502:
        case 503: error.code = Code::unavailable; break;
        case 504: error.code = Code::timeout; break;
        default: error.code = problem.status < 500 ? Code::invalid : Code::internal;
    }
    for (const ProblemField& field : problem.errors) error.fields.push_back({field.field, field.message});
    error.help = problem.help.value_or("");
    return error;
}

}  // namespace hostler::api
