#include "domain/job/output_pattern.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler {

namespace {

constexpr std::string_view nowhere = "/dev/null";
constexpr std::size_t width_max = 10;  // As in Slurm.

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a part of it is "..".
bool climbs(std::string_view path) {
    while (!path.empty()) {
        const auto slash = path.find('/');
        if (path.substr(0, slash) == "..") return true;
        path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
    }
    return false;
}

std::string plain(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '/', '_');
    return text;
}

// Zeros before a number; text stays as it is.
std::string padded(std::string text, std::size_t width) {
    if (std::ranges::all_of(text, is_digit) && text.size() < width) text.insert(0, width - text.size(), '0');
    return text;
}

std::string value_of(char sign, const OutputNames& names) {
    constexpr std::string_view no_index = "4294967294";
    switch (sign) {
        case 'j': return plain(names.job);
        case 'A': return plain(names.array_job.empty() ? names.job : names.array_job);
        case 'a': return names.array_index ? std::to_string(*names.array_index) : std::string(no_index);
        case 'x': return plain(names.name);
        case 'N': return plain(names.host);
        case 'u': return plain(names.user);
        case 't': return std::to_string(names.rank);
        case 'n': return "0";
        case '%': break;
    }
    return "%";
}

// The pattern below the folder: without '/' at its front. nullopt: it is not below it.
std::optional<std::string_view> below(std::string_view pattern, std::string_view workdir) {
    if (!pattern.starts_with('/')) return pattern;
    while (workdir.ends_with('/')) workdir.remove_suffix(1);
    if (!pattern.starts_with(workdir) || !pattern.substr(workdir.size()).starts_with('/'))
        return std::nullopt;
    pattern.remove_prefix(workdir.size());
    while (pattern.starts_with('/')) pattern.remove_prefix(1);
    return pattern;
}

// Calls text(part) and sign(letter, width) in turn; false: a sign is unknown.
template <class Text, class Sign>
bool walk(std::string_view pattern, Text text, Sign sign) {
    while (!pattern.empty()) {
        const auto percent = std::min(pattern.find('%'), pattern.size());
        text(pattern.substr(0, percent));
        pattern.remove_prefix(percent);
        if (pattern.empty()) break;
        std::size_t at = 1, width = 0;
        while (at < pattern.size() && is_digit(pattern[at]) && width <= width_max)
            width = width * 10 + static_cast<std::size_t>(pattern[at++] - '0');
        constexpr std::string_view signs = "jAaxNutn%";
        if (at == pattern.size() || signs.find(pattern[at]) == signs.npos || width > width_max) return false;
        sign(pattern[at], width);
        pattern.remove_prefix(at + 1);
    }
    return true;
}

}  // namespace

Result<> check_output(std::string_view pattern) {
    const auto wrong = [&](std::string_view why) {
        return fail(Code::invalid, fmt::format("'{}' {}", pattern, why));
    };
    if (pattern.empty()) return wrong("is empty; write a file's name, as logs/%j.out");
    if (pattern.size() > output_pattern_max)
        return fail(Code::invalid,
                    fmt::format("a file's name has at most {} characters", output_pattern_max));
    if (std::ranges::any_of(pattern, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\\'; }))
        return wrong("has a backslash or a control character, which is not read; leave it out");
    if (climbs(pattern)) return wrong("has '..' in it; output stays in the working directory");
    if (pattern.ends_with('/')) return wrong("is a folder; add a file's name");
    if (!walk(pattern, [](auto) {}, [](auto, auto) {}))
        return wrong(
            "has a sign that is not read; write %j, %A, %a, %x, %N, %u, %t, %n or %%, with at most "
            "%10 before the letter");
    return {};
}

Result<> check_output_in(std::string_view pattern, std::string_view workdir) {
    TRY(check_output(pattern));
    if (pattern != nowhere && !below(pattern, workdir))
        return fail(Code::invalid, fmt::format("'{}' is outside the working directory {}; write a path in it",
                                               pattern, workdir));
    return {};
}

Result<std::string> expand_output(std::string_view pattern, const OutputNames& names,
                                  std::string_view workdir, std::string_view field) {
    const auto refuse = [&](std::string message) {
        return std::unexpected(Error{.code = Code::invalid,
                                     .message = fmt::format("{}: {}", field, message),
                                     .fields = {{std::string(field), message}}});
    };
    if (const auto checked = check_output_in(pattern, workdir); !checked)
        return refuse(checked.error().message);
    if (pattern == nowhere) return std::string(nowhere);
    std::string path;
    walk(
        *below(pattern, workdir), [&](std::string_view text) { path += text; },
        [&](char sign, std::size_t width) { path += padded(value_of(sign, names), width); });
    // A name may be "..", or make one with what stands around it.
    if (climbs(path)) return refuse(fmt::format("'{}' would be '{}', which has '..' in it", pattern, path));
    if (path.size() > output_path_max)
        return refuse(fmt::format("'{}' would have more than {} characters", pattern, output_path_max));
    if (path.empty() || path.starts_with('/') || path.ends_with('/'))
        return refuse(fmt::format("'{}' would be '{}', which is no file's name", pattern, path));
    return path;
}

}  // namespace hostler
