// JSON text to a value: bounded, without doubled keys, and with the place of what is wrong.
#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <set>

#include "api/codec.h"

namespace hostler::api {

namespace {

namespace json = boost::json;
using json::error_code;
using Text = json::string_view;

// Builds the value as Boost's own handler does, and knows the keys of each object that is open.
struct Builder {
    static constexpr std::size_t max_object_size = 100'000;
    static constexpr std::size_t max_array_size = 1'000'000;
    static constexpr std::size_t max_key_size = 4096;
    static constexpr std::size_t max_string_size = std::size_t{64} << 20;

    json::value_stack stack{};
    std::vector<std::set<std::string, std::less<>>> keys{};
    std::string key{};
    std::string doubled{};

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) {
        keys.emplace_back();
        return true;
    }
    bool on_object_end(std::size_t n, error_code&) {
        keys.pop_back();
        stack.push_object(n);
        return true;
    }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t n, error_code&) {
        stack.push_array(n);
        return true;
    }
    bool on_key_part(Text part, std::size_t, error_code&) {
        key.append(part.data(), part.size());
        stack.push_chars(part);
        return true;
    }
    bool on_key(Text part, std::size_t, error_code& ec) {
        key.append(part.data(), part.size());
        stack.push_key(part);
        if (!keys.back().insert(key).second) {
            doubled = key;
            ec = json::error::syntax;
            return false;
        }
        key.clear();
        return true;
    }
    bool on_string_part(Text part, std::size_t, error_code&) {
        stack.push_chars(part);
        return true;
    }
    bool on_string(Text part, std::size_t, error_code&) {
        stack.push_string(part);
        return true;
    }
    bool on_number_part(Text, error_code&) { return true; }
    bool on_int64(std::int64_t number, Text, error_code&) {
        stack.push_int64(number);
        return true;
    }
    bool on_uint64(std::uint64_t number, Text, error_code&) {
        stack.push_uint64(number);
        return true;
    }
    // The parser's own number may be off by its last bits.
    bool on_double(double number, Text text, error_code& ec) {
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (read.ec == std::errc::result_out_of_range && std::abs(number) > 1) {
            ec = json::error::exponent_overflow;
            return false;
        }
        stack.push_double(number);
        return true;
    }
    bool on_bool(bool b, error_code&) {
        stack.push_bool(b);
        return true;
    }
    bool on_null(error_code&) {
        stack.push_null();
        return true;
    }
    bool on_comment_part(Text, error_code&) { return true; }
    bool on_comment(Text, error_code&) { return true; }
};

// `rest`: the text from the place of the error on.
std::string what(const error_code& ec, std::string_view rest) {
    if (ec == json::error::too_deep) return fmt::format("nested more than {} deep", depth_max);
    if (ec == json::error::extra_data) return "something follows the end of it";
    if (ec == json::error::incomplete) return "it ends too early";
    if (ec == json::error::exponent_overflow) return "a number is too large";
    if (ec == json::error::expected_utf16_escape || ec == json::error::illegal_leading_surrogate ||
        ec == json::error::illegal_trailing_surrogate || ec == json::error::expected_hex_digit)
        return "a \\u escape is wrong";
    if (ec == json::error::object_too_large || ec == json::error::array_too_large ||
        ec == json::error::key_too_large || ec == json::error::string_too_large)
        return "a part is too large";
    if (rest.empty()) return "it ends too early";
    if (static_cast<unsigned char>(rest.front()) < 0x20)
        return "a line break or control character does not belong here";
    return fmt::format("'{}' does not belong here",
                       rest.front() > 0 ? rest.substr(0, 1) : "a character beyond ASCII");
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::size_t size_max) {
    if (text.size() > size_max)
        return fail(Code::invalid, fmt::format("the JSON is larger than {} bytes", size_max), "too_large");
    if (text.find_first_not_of(" \t\r\n") == text.npos)
        return fail(Code::invalid, "a JSON object was expected, but there is none", "malformed_json");
    json::parse_options options;
    options.max_depth = depth_max;
    json::basic_parser<Builder> parser{options};
    parser.handler().stack.reset();
    error_code ec;
    std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
    if (!ec && text.substr(used).find_first_not_of(" \t\r\n") != text.npos) ec = json::error::extra_data;
    if (!ec) return parser.handler().stack.release();

    used = std::min(used, text.size());
    const auto before = text.substr(0, used);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = before.rfind('\n') == before.npos ? used + 1 : used - before.rfind('\n');
    const std::string& doubled = parser.handler().doubled;
    return fail(Code::invalid,
                fmt::format("malformed JSON at line {}, column {}: {}", line, column,
                            doubled.empty() ? what(ec, text.substr(used))
                                            : fmt::format("'{}' appears twice", doubled.substr(0, 128))),
                "malformed_json");
}

}  // namespace hostler::api
