#include "adapters/kubernetes/codec.h"

#include <algorithm>
#include <charconv>

#include "adapters/kubernetes/codec_define.h"
#include "core/base64.h"
#include "core/safe_text.h"

namespace hostler::kubernetes {

namespace {

constexpr std::size_t depth_max = 128;  // Schemas of custom resources nest deep.
constexpr std::size_t errors_max = 16;

// Go's names keep these in capitals.
constexpr std::string_view initialisms[] = {"ip", "id", "cidr", "uuid"};

}  // namespace

Result<json::object> parse_object(std::string_view text) {
    boost::system::error_code error;
    auto value = json::parse({text.data(), text.size()}, error, {}, {.max_depth = depth_max});
    if (error) return fail(Code::invalid, fmt::format("it is not JSON: {}", error.message()));
    if (!value.is_object()) return fail(Code::invalid, "it is not a JSON object");
    return std::move(value.get_object());
}

std::string_view text_at(const json::object& object, std::initializer_list<std::string_view> path) {
    const json::object* at = &object;
    for (auto step = path.begin(); step != path.end(); ++step) {
        const auto* found = at->if_contains(*step);
        if (!found) return {};
        if (step + 1 == path.end()) {
            const auto* text = found->if_string();
            return text ? std::string_view{*text} : std::string_view{};
        }
        at = found->if_object();
        if (!at) return {};
    }
    return {};
}

namespace detail {

std::string json_name(std::string_view member) {
    while (member.ends_with('_')) member.remove_suffix(1);
    std::string name;
    while (!member.empty()) {
        const auto end = std::min(member.find('_'), member.size());
        std::string part{member.substr(0, end)};
        member.remove_prefix(std::min(end + 1, member.size()));
        if (!name.empty()) {
            const auto upper = [](char c) { return static_cast<char>(c - 'a' + 'A'); };
            if (part == "urls")
                part = "URLs";
            else if (std::ranges::find(initialisms, part) != std::end(initialisms))
                std::ranges::transform(part, part.begin(), upper);
            else
                part[0] = upper(part[0]);
        }
        name += part;
    }
    return name;
}

void Reader::complain(std::string message) {
    if (wrong.size() < errors_max) wrong.push_back({path, std::move(message)});
}

Reader::Step::Step(Reader& of, std::string_view name) : reader(of), length(of.path.size()) {
    if (length > 0) reader.path += '.';
    reader.path += name;
}

Reader::Step::Step(Reader& of, std::size_t index) : reader(of), length(of.path.size()) {
    reader.path += fmt::format("[{}]", index);
}

bool read_integer(Reader& reader, const json::value& value, std::int64_t min, std::int64_t max,
                  std::int64_t& into) {
    if (!value.is_int64() || value.get_int64() < min || value.get_int64() > max) {
        reader.complain(fmt::format("must be an integer from {} to {}", min, max));
        return false;
    }
    into = value.get_int64();
    return true;
}

void read_leaf(Reader& reader, const json::value& value, bool& into) {
    if (!value.is_bool()) return reader.complain("must be true or false");
    into = value.get_bool();
}

void read_leaf(Reader& reader, const json::value& value, std::string& into) {
    if (!value.is_string()) return reader.complain("must be a string");
    into = value.get_string();
}

void read_leaf(Reader& reader, const json::value& value, WallTime& into) {
    std::string text;
    read_leaf(reader, value, text);
    if (!value.is_string()) return;
    if (const auto time = parse_rfc3339(text))
        into = *time;
    else
        reader.complain("must be a time as 2026-11-21T11:40:29Z");
}

void read_leaf(Reader& reader, const json::value& value, Bytes& into) {
    std::string text;
    read_leaf(reader, value, text);
    into.bytes = base64_decoded(text);
}

void read_leaf(Reader& reader, const json::value& value, IntOrText& into) {
    if (value.is_int64())
        into.text = fmt::format("{}", value.get_int64());
    else if (value.is_string())
        into.text = value.get_string();
    else
        reader.complain("must be an integer or a string");
}

json::value leaf(bool value) { return value; }
json::value leaf(std::int64_t value) { return value; }
json::value leaf(const std::string& value) { return json::value(value); }
json::value leaf(WallTime value) { return json::value(rfc3339(value)); }
json::value leaf(const Bytes& value) { return json::value(base64(value.bytes)); }

json::value leaf(const IntOrText& value) {
    std::int64_t number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [at, error] = std::from_chars(value.text.data(), end, number);
    if (error == std::errc{} && at == end) return number;
    return json::value(value.text);
}

Result<> verdict(Reader reader, std::string_view what) {
    if (reader.wrong.empty()) return {};
    const auto& first = reader.wrong.front();
    Error error{
        Code::invalid,
        fmt::format("the {} is not as the API has it: {} {}", what, safe_line(first.path), first.message),
        {},
        std::move(reader.wrong),
        {}};
    return std::unexpected(std::move(error));
}

}  // namespace detail

}  // namespace hostler::kubernetes
