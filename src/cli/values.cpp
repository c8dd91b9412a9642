#include "cli/values.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/documents.h"

namespace hostler::cli {

namespace json = boost::json;

Result<json::value> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || at != text.data() + text.size())
        return fail(Code::invalid, fmt::format("'{}' is no whole number", text));
    return json::value(number);
}

Result<std::chrono::seconds> parse_time(std::string_view text) {
    const std::string_view whole = text;
    std::int64_t unit = 1;
    if (text.ends_with('s')) unit = 1;
    if (text.ends_with('m')) unit = 60;
    if (text.ends_with('h')) unit = 3600;
    if (text.ends_with('d')) unit = 86400;
    if (!text.empty() && std::string_view("smhd").contains(text.back())) text.remove_suffix(1);
    const auto number = whole_number(text);
    if (!number || number->as_int64() < 0 || number->as_int64() > std::int64_t{100} * 366 * 86400 / unit)
        return fail(Code::invalid, fmt::format("'{}' is no time; write it as 90s, 10m, 1h or 30d", whole));
    return std::chrono::seconds{number->as_int64() * unit};
}

Result<std::string> hidden_text(std::string_view from, const std::string& prompt, std::string_view flag,
                                const CliWorld& world) {
    if (from.empty()) {
        auto typed = world.ask ? world.ask(prompt, true) : std::nullopt;
        if (typed) return std::move(*typed);
        return fail(Code::invalid,
                    fmt::format("no terminal to ask on: {0} @FILE reads it from a file, {0} - from standard "
                                "input",
                                flag));
    }
    if (from != "-" && !from.starts_with('@'))
        return fail(
            Code::invalid,
            fmt::format("a secret is not written here, where others see it: {0} @FILE reads it from a "
                        "file, {0} - from standard input, and without a value it is asked for",
                        flag));
    std::string text = TRY(read_text(std::string{from == "-" ? from : from.substr(1)}, world));
    if (text.ends_with('\n')) text.pop_back();  // As editors and `echo` end a file.
    return text;
}

}  // namespace hostler::cli
