#include "http/head.h"

#include <llhttp.h>

#include <bit>
#include <cstring>

namespace hostler::http {

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The first control character at or after `at`, eight bytes at a time; bytes.size() when there is none.
std::size_t find_control(std::string_view bytes, std::size_t at) {
    constexpr std::uint64_t each = 0x0101010101010101, high = 0x8080808080808080;
    while (std::endian::native == std::endian::little && at + sizeof each <= bytes.size()) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        // The high bit of each byte below 0x20, and of each 0x7f; borrows reach only bytes above the first.
        const std::uint64_t del = word ^ (each * 0x7f);
        const std::uint64_t found = ((word - each * 0x20) & ~word & high) | ((del - each) & ~del & high);
        if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
        at += sizeof word;
    }
    while (at < bytes.size() && !is_control(bytes[at])) ++at;
    return at;
}

}  // namespace

HeadScanner::Found HeadScanner::scan(std::string_view bytes, const HeadLimits& limits) {
    std::size_t at = at_;
    while (at < bytes.size()) {
        const char c = bytes[at];
        if (after_return_ != (c == '\n')) return Found::bad;
        if (at == line_ && (c == ' ' || c == '\t'))
            return Found::bad;  // Folded, or a blank before the first.
        if (!is_control(c) || c == '\t') {
            at = find_control(bytes, at + 1);
        } else if (c == '\r') {
            after_return_ = true;
            ++at;
        } else if (c == '\n') {
            after_return_ = false;
            if (at == line_ + 1) {
                at_ = at + 1;
                return at_ > limits.bytes_max ? Found::too_large : Found::head;
            }
            if (++lines_ == 1 && at > limits.start_line_max) return Found::too_long_line;
            if (lines_ > limits.headers_max + 1) return Found::too_large;
            line_ = ++at;
        } else {
            return Found::bad;
        }
    }
    at_ = at;
    if (lines_ == 0 && at > limits.start_line_max) return Found::too_long_line;
    return at > limits.bytes_max ? Found::too_large : Found::more;
}

BadHead bad_head(HeadScanner::Found found) {
    switch (found) {
        case HeadScanner::Found::too_long_line: return {414, "the first line is too long"};
        case HeadScanner::Found::too_large: return {431, "the headers are too many or too long"};
        case HeadScanner::Found::more:
        case HeadScanner::Found::head:
        case HeadScanner::Found::bad: break;
    }
    return {400, "a line of the head does not end in CRLF, is folded, or holds a control character"};
}

std::string_view Head::find(std::string_view name) const {
    for (const auto& field : fields)
        if (same_name(field.name, name)) return field.value;
    return {};
}

namespace {

// Where llhttp puts what it finds.
struct Parse {
    Head& head;
    std::string_view method;
    std::string_view target;
    std::string_view reason;
    bool complete = false;
    bool unknown_method = false;
};

Parse& of(llhttp_t* parser) { return *static_cast<Parse*>(parser->data); }

const llhttp_settings_t& settings() {
    static const llhttp_settings_t table = [] {
        llhttp_settings_t on;
        llhttp_settings_init(&on);
        on.on_method = [](llhttp_t* parser, const char* at, std::size_t size) {
            of(parser).method = {at, size};
            return 0;
        };
        on.on_url = [](llhttp_t* parser, const char* at, std::size_t size) {
            of(parser).target = {at, size};
            return 0;
        };
        on.on_status = [](llhttp_t* parser, const char* at, std::size_t size) {
            of(parser).reason = {at, size};
            return 0;
        };
        on.on_header_field = [](llhttp_t* parser, const char* at, std::size_t size) {
            of(parser).head.fields.push_back({{at, size}, {}});
            return 0;
        };
        on.on_header_value = [](llhttp_t* parser, const char* at, std::size_t size) {
            of(parser).head.fields.back().value = trimmed({at, size});
            return 0;
        };
        // What follows the head is never shown to llhttp: body.h walks it.
        on.on_headers_complete = [](llhttp_t* parser) {
            of(parser).complete = true;
            return static_cast<int>(HPE_PAUSED);
        };
        return on;
    }();
    return table;
}

std::unexpected<BadHead> bad(std::string_view what, int status = 400) {
    return std::unexpected(BadHead{status, what});
}

std::string_view sentence(llhttp_errno error) {
    switch (error) {
        case HPE_INVALID_METHOD: return "the method is not one of HTTP's";
        case HPE_INVALID_URL: return "the request target holds a character that it may not";
        case HPE_INVALID_VERSION: return "the version is not HTTP/1.1 or HTTP/1.0";
        case HPE_INVALID_HEADER_TOKEN: return "a header has a bad name or value";
        case HPE_INVALID_CONTENT_LENGTH: return "Content-Length is not a number";
        case HPE_UNEXPECTED_CONTENT_LENGTH:
            return "Content-Length comes twice or together with Transfer-Encoding";
        case HPE_INVALID_TRANSFER_ENCODING: return "Transfer-Encoding is not 'chunked'";
        case HPE_INVALID_STATUS: return "the status is not a number of three digits";
        default: return "this is not HTTP/1.1";
    }
}

// `instead_of`: a method that llhttp does not know; it is shown another in its place.
std::expected<void, BadHead> run(llhttp_type type, Parse& parse, std::string_view instead_of = {}) {
    llhttp_t parser;
    llhttp_init(&parser, type, &settings());
    parser.data = &parse;
    parse.head.fields.clear();
    const auto text = std::string_view{parse.head.text}.substr(instead_of.size());
    constexpr std::string_view stand_in = "GET";
    if (!instead_of.empty()) llhttp_execute(&parser, stand_in.data(), stand_in.size());
    const auto error = llhttp_execute(&parser, text.data(), text.size());
    parse.unknown_method = error == HPE_INVALID_METHOD;
    if (!instead_of.empty()) parse.method = instead_of;
    const bool ours = parser.http_major == 1 && parser.http_minor <= 1;
    if (error == HPE_PAUSED && parse.complete && ours) {
        parse.head.minor = parser.http_minor;
        return {};
    }
    // PRI opens HTTP/2: another protocol, not another version of this one.
    const bool version = error == HPE_INVALID_VERSION || error == HPE_PAUSED;
    if (version && !ours && parser.http_major > 0 && parse.method != "PRI")
        return bad(sentence(HPE_INVALID_VERSION), 505);
    return bad(sentence(error));
}

// Content-Length: digits and nothing else, and no more of them than fit.
std::optional<std::uint64_t> parse_length(std::string_view text) {
    constexpr std::size_t digits_max = 18;
    if (text.empty() || text.size() > digits_max) return std::nullopt;
    std::uint64_t length = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        length = length * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return length;
}

void note_connection(Head& head, std::string_view value, bool& upgrade, bool& too_many) {
    each_item(value, [&](std::string_view token) {
        if (same_name(token, "close")) {
            head.keep_alive = false;
        } else if (same_name(token, "keep-alive")) {
            // Only 1.0 needs to be told; `close` wins over it (see check).
        } else if (same_name(token, "upgrade")) {
            upgrade = true;
        } else if (head.connection_tokens_size == std::size(head.connection_tokens)) {
            too_many = true;
        } else {
            head.connection_tokens[head.connection_tokens_size++] = token;
        }
    });
}

// What requests and responses have in common. Leaves framing at `none` when there is neither header.
std::expected<void, BadHead> check(Head& head, bool& framed) {
    head.framing = {};
    head.keep_alive = true;
    head.upgrade = false;
    head.connection_tokens_size = 0;
    bool upgrade_token = false, upgrade_field = false, asks_keep_alive = false, too_many = false;
    bool length = false, coding = false, h2c = false;
    for (const auto& [name, value] : head.fields) {
        if (!is_token(name)) return bad("a header's name holds a character that it may not");
        switch (
            name.size()) {  // Most headers are none of these: one look at the size spares the comparisons.
            case 7:
                if (!same_name(name, "Upgrade") || value.empty()) break;
                upgrade_field = true;
                // What runs in an h2c connection would pass every check of ours: RFC 9113 has done away with
                // it.
                each_item(value, [&](auto protocol) { h2c |= same_name(protocol, "h2c"); });
                break;
            case 10:
                if (!same_name(name, "Connection")) break;
                note_connection(head, value, upgrade_token, too_many);
                each_item(value, [&](auto token) { asks_keep_alive |= same_name(token, "keep-alive"); });
                break;
            case 14: {
                if (!same_name(name, "Content-Length")) break;
                const auto parsed = parse_length(value);
                if (!parsed) return bad("Content-Length is not a number");
                if (std::exchange(length, true)) return bad("Content-Length comes twice");
                head.framing = {Framing::Kind::length, *parsed};
                break;
            }
            case 17:
                if (!same_name(name, "Transfer-Encoding")) break;
                if (std::exchange(coding, true)) return bad("Transfer-Encoding comes twice");
                if (!same_name(value, "chunked")) return bad("Transfer-Encoding is not 'chunked'");
                break;
            default: break;
        }
    }
    if (too_many) return bad("Connection names too many headers");
    if (length && coding) return bad("Content-Length comes together with Transfer-Encoding");
    if (coding && head.minor == 0) return bad("Transfer-Encoding is not in HTTP/1.0");
    if (coding) head.framing = {Framing::Kind::chunked, 0};
    if (head.minor == 0) head.keep_alive = head.keep_alive && asks_keep_alive;
    const bool bodiless = head.framing.kind == Framing::Kind::none || (length && head.framing.length == 0);
    head.upgrade = upgrade_token && upgrade_field && !h2c && bodiless && head.minor == 1;
    framed = length || coding;
    return {};
}

// reg-name, IPv4 or [IPv6], with an optional port: RFC 9110 section 7.2, without percent signs and user
// names.
bool is_host(std::string_view host) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    std::size_t at = 0;
    if (host.starts_with('[')) {
        const auto end = host.find(']');
        if (end == std::string_view::npos || end < 3) return false;
        for (const char c : host.substr(1, end - 1))
            if (!digit(c) && !letter(c) && c != ':' && c != '.') return false;
        at = end + 1;
    } else {
        while (at < host.size() &&
               (digit(host[at]) || letter(host[at]) || host[at] == '-' || host[at] == '.' || host[at] == '_'))
            ++at;
        if (at == 0) return false;
    }
    if (at == host.size()) return true;
    constexpr std::size_t port_digits_max = 5;
    const auto port = host.substr(at + 1);
    if (host[at] != ':' || port.empty() || port.size() > port_digits_max) return false;
    for (const char c : port)
        if (!digit(c)) return false;
    return true;
}

// Of a request's text: a method as all that are registered look, capital letters and dashes. "" otherwise.
std::string_view unknown_method_of(std::string_view text) {
    constexpr std::size_t method_max = 32;
    const auto method = text.substr(0, text.find(' '));
    const auto may_be = [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; };
    if (method.size() > method_max || !std::ranges::all_of(method, may_be) || method == "PRI") return {};
    return method;
}

std::expected<void, BadHead> check_target(RequestHead& head) {
    for (const char c : head.target)
        if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '#')
            return bad("the request target holds a character that it may not");
    // Some take it for a slash. In a query browsers send it as it is.
    if (head.target.substr(0, head.target.find('?')).contains('\\'))
        return bad("the request target's path holds a backslash");
    if (head.target.starts_with('/')) return {};
    if (head.target == "*" && head.method == "OPTIONS") return {};
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!same_name(head.target.substr(0, scheme.size()), scheme)) continue;
        const auto rest = head.target.substr(scheme.size());
        const auto path = rest.find_first_of("/?");
        if (!same_name(rest.substr(0, path), head.host))
            return bad("the request target names another host than Host");
        head.target = path == std::string_view::npos ? std::string_view{"/"} : rest.substr(path);
        if (!head.target.starts_with('/')) return bad("the request target has no path");
        return {};
    }
    return bad("the request target does not begin with '/'");
}

std::expected<void, BadHead> check_request(RequestHead& head) {
    bool framed = false;
    if (auto good = check(head, framed); !good) return good;
    std::size_t hosts = 0;
    head.expects_continue = false;
    head.host = {};
    for (const auto& [name, value] : head.fields) {
        if (name.size() == 4 && same_name(name, "Host")) {
            ++hosts;
            head.host = value;
        } else if (name.size() == 6 && same_name(name, "Expect")) {
            if (!same_name(value, "100-continue")) return bad("Expect is not '100-continue'", 417);
            head.expects_continue = head.minor == 1;
        }
    }
    if (head.method == "CONNECT") return bad("CONNECT is not served here", 501);
    if (hosts > 1) return bad("Host comes twice");
    if (hosts == 0 && head.minor == 1) return bad("Host is missing");
    if (hosts == 1 && !is_host(head.host)) return bad("Host is not a host name with an optional port");
    return check_target(head);
}

}  // namespace

std::expected<void, BadHead> parse(std::string_view text, const HeadLimits& limits, RequestHead& into) {
    into.text.assign(text);
    Parse found{into};
    auto good = run(HTTP_REQUEST, found);
    into.method_known = !found.unknown_method;
    if (const auto method = unknown_method_of(into.text); found.unknown_method && !method.empty())
        good = run(HTTP_REQUEST, found, method);
    if (!good) return good;
    if (into.fields.size() > limits.headers_max) return bad("the headers are too many", 431);
    into.method = found.method;
    into.target = found.target;
    // llhttp takes any number of blanks between the parts of the line; another parser may not.
    const auto line = std::string_view{into.text}.substr(0, into.text.find('\r'));
    constexpr std::size_t version_size = 8;
    if (line.size() != into.method.size() + 1 + into.target.size() + 1 + version_size)
        return bad("the request line is not 'METHOD TARGET HTTP/1.1'");
    return check_request(into);
}

std::expected<void, BadHead> parse(std::string_view text, const HeadLimits& limits, std::string_view method,
                                   ResponseHead& into) {
    into.text.assign(text);
    Parse found{into};
    if (auto good = run(HTTP_RESPONSE, found); !good) return good;
    if (into.fields.size() > limits.headers_max) return bad("the headers are too many", 431);
    into.reason = found.reason;
    constexpr std::string_view start = "HTTP/1.1 200";
    const auto line = std::string_view{into.text}.substr(0, into.text.find('\r'));
    if (line.size() < start.size() || (line.size() > start.size() && line[start.size()] != ' '))
        return bad("the status line is not 'HTTP/1.1 200 OK'");
    into.status = 0;
    for (const char c : line.substr(start.size() - 3, 3)) {
        if (c < '0' || c > '9') return bad("the status is not a number of three digits");
        into.status = into.status * 10 + (c - '0');
    }
    if (into.status < 100 || into.status > 599) return bad("the status is not between 100 and 599");
    bool framed = false;
    if (auto good = check(into, framed); !good) return good;
    if (into.status < 200 || into.status == 204 || into.status == 304 || method == "HEAD")
        into.framing = {};
    else if (!framed)
        into.framing = {Framing::Kind::until_close, 0};
    if (into.framing.kind == Framing::Kind::until_close) into.keep_alive = false;
    return {};
}

namespace {

void write_fields(std::string& into, const Headers& headers) {
    for (const auto& [name, value] : headers) {
        if (!is_token(name)) continue;
        into.append(name).append(": ");
        // A value may have come from a stranger: it cannot end its line.
        for (const char c : value) into += is_field_value({&c, 1}) ? c : ' ';
        into += "\r\n";
    }
    into += "\r\n";
}

}  // namespace

void write_head(std::string& into, const Request& request) {
    into.append(request.method).append(" ").append(request.target);
    into += request.minor == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
    write_fields(into, request.headers);
}

void write_head(std::string& into, const Response& response) {
    fmt::format_to(std::back_inserter(into), "HTTP/1.1 {} {}\r\n", response.status,
                   reason_phrase(response.status));
    write_fields(into, response.headers);
}

Headers owned(const Head& head) {
    Headers headers;
    for (const auto& [name, value] : head.fields) headers.add(std::string{name}, std::string{value});
    return headers;
}

}  // namespace hostler::http
