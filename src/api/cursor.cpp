#include "api/cursor.h"

#include <fmt/format.h>

#include <charconv>

#include "api/operation.h"

namespace hostler::api {

namespace {

constexpr std::size_t cursor_max = 1024;

}  // namespace

std::uint64_t list_mark(const Operation& operation, std::string_view tenant, std::string_view request) {
    std::uint64_t mark = 0xcbf29ce484222325;  // FNV-1a: it guards against mistakes, not against forgers.
    for (const std::string_view part : {operation.name, tenant, request}) {
        for (const char c : part) mark = (mark ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        mark = (mark ^ 0xff) * 0x100000001b3;  // Ends a part: no text of ours holds this byte.
    }
    return mark;
}

std::string to_string(const Cursor& cursor) {
    return fmt::format("{:x}.{:x}.{:x}.{}", cursor.list, cursor.at, cursor.created, cursor.id);
}

Result<Cursor> parse_cursor(std::string_view text) {
    const auto wrong = [] { return fail(Code::invalid, "is no cursor of ours"); };
    if (text.size() > cursor_max) return wrong();
    Cursor cursor;
    for (std::uint64_t* number : {&cursor.list, &cursor.at, &cursor.created}) {
        const auto dot = text.find('.');
        if (dot == text.npos) return wrong();
        const char* const end = text.data() + dot;
        const auto [at, error] = std::from_chars(text.data(), end, *number, 16);
        if (error != std::errc{} || at != end) return wrong();
        text.remove_prefix(dot + 1);
    }
    if (text.empty()) return wrong();
    cursor.id = text;
    return cursor;
}

}  // namespace hostler::api
