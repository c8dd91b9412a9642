#include "adapters/kubernetes/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/safe_text.h"

namespace hostler::kubernetes {

namespace {

constexpr std::size_t message_bytes_max = 1000;

Code code_of(int status) {
    switch (status) {
        case 401: return Code::unauthenticated;
        case 403: return Code::forbidden;
        case 404: return Code::not_found;
        case 409:
        case 410: return Code::conflict;
        case 408:
        case 504: return Code::timeout;
        case 413:
        case 429: return Code::exhausted;
        default: return status >= 400 && status < 500 ? Code::invalid : Code::unavailable;
    }
}

bool names_a_budget(const Status& status) {
    return std::ranges::any_of(status.details.causes,
                               [](const StatusCause& cause) { return cause.reason == "DisruptionBudget"; });
}

}  // namespace

Status status_of(int http_status, std::string_view body) {
    Status status;
    if (const auto object = parse_object(body); object && text_at(*object, {"kind"}) == "Status")
        if (auto read = read_object<Status>(*object)) status = std::move(*read);
    if (status.code == 0) status.code = http_status;
    if (status.reason.empty()) status.reason = http::reason_phrase(status.code);
    if (status.message.empty()) status.message = body.substr(0, message_bytes_max);
    return status;
}

Error error_of(const Status& status, std::string_view call) {
    Error error{
        code_of(status.code),
        fmt::format("{}: the API server answers {} {}: {}", call, status.code, safe_line(status.reason),
                    safe_line(std::string_view{status.message}.substr(0, message_bytes_max))),
        status.reason,
        {},
        {}};
    if (status.code == 410) error.reason = expired;
    if (status.code == 429) error.reason = throttled;
    if (status.code == 429 && names_a_budget(status)) {
        error.code = Code::conflict;
        error.reason = disruption_budget;
        error.message = fmt::format("{}: a PodDisruptionBudget refuses the eviction for now: {}", call,
                                    safe_line(std::string_view{status.message}.substr(0, message_bytes_max)));
    }
    for (const StatusCause& cause : status.details.causes)
        if (!cause.field.empty()) error.fields.push_back({safe_line(cause.field), safe_line(cause.message)});
    return error;
}

Duration retry_after(const http::Headers& headers, const Status& status) {
    const std::string_view text = headers.find("Retry-After").value_or("");
    constexpr int seconds_max = 24 * 3600;  // Whoever asks bounds it further.
    int seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size() || seconds < 0)
        seconds =
            static_cast<int>(std::clamp<std::int64_t>(status.details.retry_after_seconds, 0, seconds_max));
    return std::chrono::seconds{std::min(seconds, seconds_max)};
}

}  // namespace hostler::kubernetes
