#include "api/router.h"

#include <fmt/format.h>

#include "api/operation_list.h"

namespace hostler::api {

namespace {

constexpr std::size_t target_max = 8192;
constexpr std::size_t query_max = 64;  // Parameters.

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool is_parameter(std::string_view step) { return step.starts_with('{'); }

// The path's parameters when `steps` (raw and decoded) fit the operation's path.
std::optional<Params> fit(const Operation& operation, const std::vector<std::string_view>& raw,
                          const std::vector<std::string>& decoded) {
    const auto wanted = split(operation.path.substr(1), '/');
    if (wanted.size() != raw.size()) return std::nullopt;
    Params params;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (is_parameter(wanted[i]))
            params.emplace_back(wanted[i].substr(1, wanted[i].size() - 2), decoded[i]);
        else if (wanted[i] != raw[i])
            return std::nullopt;
    }
    return params;
}

Result<Params> parse_query(std::string_view query) {
    Params params;
    if (query.empty()) return params;
    for (const auto part : split(query, '&')) {
        if (part.empty()) continue;
        if (params.size() == query_max)
            return fail(Code::invalid, fmt::format("the query has more than {} parameters", query_max));
        const auto equals = part.find('=');
        auto key = TRY(percent_decode(part.substr(0, equals), true));
        auto value = TRY(percent_decode(equals == part.npos ? "" : part.substr(equals + 1), true));
        params.emplace_back(std::move(key), std::move(value));
    }
    return params;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < text.size() ? hex(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex(text[i + 2]) : -1;
            if (high < 0 || low < 0) return fail(Code::invalid, fmt::format("'{}' has a bad % escape", text));
            c = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0') return fail(Code::invalid, "the URL contains a NUL character");
        out += c;
    }
    return out;
}

Result<Match> match(std::string_view method, std::string_view target) {
    if (target.size() > target_max) return fail(Code::invalid, "the URL is too long", "too_large");
    target = target.substr(0, target.find('#'));
    const auto question = target.find('?');
    const std::string_view path = target.substr(0, question);
    const std::string_view query = question == target.npos ? "" : target.substr(question + 1);
    if (!path.starts_with('/')) return fail(Code::invalid, "the path must begin with '/'");

    const auto raw = split(path.substr(1), '/');
    std::vector<std::string> decoded;
    for (const auto step : raw) {
        auto text = TRY(percent_decode(step, false));
        if (text == "." || text == "..") return fail(Code::invalid, "the path must not contain '.' or '..'");
        decoded.push_back(std::move(text));
    }
    const std::string_view asked = method == "HEAD" ? "GET" : method;
    std::string allow;
    for (const Operation* operation : operations()) {
        auto params = fit(*operation, raw, decoded);
        if (!params) continue;
        if (std::any_of(params->begin(), params->end(),
                        [](const auto& param) { return param.second.empty(); }))
            continue;
        if (name(operation->method) != asked) {
            allow += fmt::format("{}{}", allow.empty() ? "" : ", ", name(operation->method));
            continue;
        }
        return Match{operation, std::move(*params), TRY(parse_query(query))};
    }
    if (allow.empty())
        return fail(Code::not_found,
                    fmt::format("there is nothing at {}; /openapi.json tells what there is", path),
                    "no_such_path");
    Error error{.code = Code::invalid,
                .message = fmt::format("{} takes {}, not {}", path, allow, method),
                .reason = "method_not_allowed"};
    error.help = std::move(allow);
    return std::unexpected(std::move(error));
}

}  // namespace hostler::api
