#include "core/safe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "core/utf8.h"

namespace hostler {

namespace {

struct Span {
    char32_t first, last;
};

// Unicode's categories Cc and Cf, line and paragraph separators, and the planes of tags and variations.
constexpr auto unseen = std::to_array<Span>({
    {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff},
});

char32_t decode(std::string_view one) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(one[at]); };
    if (one.size() == 1) return byte(0);
    char32_t character = byte(0) & (0x7fU >> one.size());
    for (std::size_t at = 1; at < one.size(); ++at) character = character << 6 | (byte(at) & 0x3fU);
    return character;
}

std::string escape(char32_t character) {
    const auto number = static_cast<std::uint32_t>(character);
    if (number < 0x80) return fmt::format("\\x{:02x}", number);
    return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

// `stays`: characters that are kept though they are unseen.
std::string safe(std::string_view text, std::string_view stays, std::string_view blanks = {}) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
            text.remove_prefix(1);
            continue;
        }
        const std::string_view one = text.substr(0, length);
        text.remove_prefix(length);
        if (length == 1 && blanks.contains(one.front()))
            out += ' ';
        else if ((length == 1 && stays.contains(one.front())) || !is_unseen(decode(one)))
            out += one;
        else
            out += escape(decode(one));
    }
    return out;
}

constexpr std::size_t colour_max = 32;

// "\x1b[1;31m"; 0: another sequence.
std::size_t colour_length(std::string_view text) {
    if (!text.starts_with("\x1b[")) return 0;
    const auto end = text.substr(0, colour_max).find_first_not_of("0123456789;:", 2);
    return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

bool is_unseen(char32_t character) {
    return std::ranges::any_of(
        unseen, [&](const Span& span) { return character >= span.first && character <= span.last; });
}

std::string safe_line(std::string_view text) { return safe(text, "", "\t\r\n"); }

std::string safe_lines(std::string_view text) { return safe(text, "\t\n"); }

std::string safe_log(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t colour = colour_length(text);
        const auto end = colour > 0 ? colour : std::min(text.find('\x1b', 1), text.size());
        out += colour > 0 ? std::string{text.substr(0, colour)} : safe(text.substr(0, end), "\t\r\n");
        text.remove_prefix(end);
    }
    return out;
}

std::size_t unfinished_bytes(std::string_view text) {
    const std::string_view end = text.substr(text.size() - std::min(text.size(), colour_max));
    if (const auto at = end.rfind('\x1b'); at != end.npos) {
        const auto colour = end.substr(at);
        if (colour.size() == 1 ||
            (colour[1] == '[' && colour.find_first_not_of("0123456789;:", 2) == colour.npos))
            return colour.size();
    }
    for (std::size_t size = 1; size <= std::min<std::size_t>(end.size(), 3); ++size) {
        const auto first = static_cast<unsigned char>(end[end.size() - size]);
        if ((first & 0xc0) == 0x80) continue;
        const std::size_t whole = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
        return whole > size ? size : 0;
    }
    return 0;
}

std::string safe_json(std::string_view json) {
    std::string out;
    while (!json.empty()) {
        const std::size_t length = std::max<std::size_t>(utf8_length(json), 1);
        const std::string_view one = json.substr(0, length);
        json.remove_prefix(length);
        const char32_t character = decode(one);
        const auto unit = [&](std::uint32_t number) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", number);
        };
        // Below U+0020 there are only the line breaks of its layout.
        if (character < 0x20 || !is_unseen(character)) {
            out += one;
        } else if (character < 0x10000) {
            unit(static_cast<std::uint32_t>(character));
        } else {
            const auto rest = static_cast<std::uint32_t>(character) - 0x10000;
            unit(0xd800 + (rest >> 10));
            unit(0xdc00 + (rest & 0x3ff));
        }
    }
    return out;
}

std::string csv_field(std::string_view text) {
    std::string field = safe_lines(text);
    if (!field.empty() && std::string_view{"=+-@\t"}.contains(field.front())) field.insert(0, 1, '\'');
    if (field.find_first_of(",\"\n") == field.npos) return field;
    std::string out = "\"";
    for (const char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
}

}  // namespace hostler
