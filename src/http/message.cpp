#include "http/message.h"

#include <algorithm>
#include <array>

namespace hostler::http {

namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

constexpr auto token_chars = [] {
    std::array<bool, 256> table{};
    for (int c = '0'; c <= '9'; ++c) table[c] = true;
    for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = true;
    for (const char c : std::string_view{"!#$%&'*+-.^_`|~"}) table[static_cast<unsigned char>(c)] = true;
    return table;
}();

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                              [](char x, char y) { return x == y || lower(x) == lower(y); });
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char c) { return token_chars[static_cast<unsigned char>(c)]; });
}

bool is_field_value(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t') || byte == 0x7f;
    });
}

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
    for (const auto& header : list_)
        if (same_name(header.name, name)) return header.value;
    return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
    std::vector<std::string_view> values;
    for (const auto& header : list_)
        if (same_name(header.name, name)) values.emplace_back(header.value);
    return values;
}

bool Headers::lists(std::string_view name, std::string_view token) const {
    bool found = false;
    for (const auto& header : list_)
        if (same_name(header.name, name))
            each_item(header.value, [&](auto item) { found |= same_name(item, token); });
    return found;
}

std::vector<std::string_view> Headers::cookies(std::string_view name) const {
    std::vector<std::string_view> found;
    const auto look = [&](std::string_view pair) {
        if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
            found.push_back(pair.substr(name.size() + 1));
    };
    for (const std::string_view list : all("Cookie")) each_item(list, look, ';');
    return found;
}

std::string_view Headers::cookie(std::string_view name) const {
    const auto found = cookies(name);
    return found.empty() ? std::string_view{} : found.front();
}

void Headers::add(std::string name, std::string value) {
    list_.push_back({std::move(name), std::move(value)});
}

void Headers::set(std::string name, std::string value) {
    remove(name);
    add(std::move(name), std::move(value));
}

void Headers::remove(std::string_view name) {
    std::erase_if(list_, [&](const Header& header) { return same_name(header.name, name); });
}

std::string_view Request::path() const { return std::string_view{target}.substr(0, target.find('?')); }

std::string_view Request::query() const {
    const auto mark = target.find('?');
    return mark == std::string::npos ? std::string_view{} : std::string_view{target}.substr(mark + 1);
}

Response text_response(int status, std::string_view sentence) {
    return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::string{sentence} + "\n"};
}

int status_of(const Error& error) { return error.reason == body_too_large ? 413 : http_status(error.code); }

std::string_view reason_phrase(int status) {
    switch (status) {
        case 100: return "Continue";
        case 101: return "Switching Protocols";
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 206: return "Partial Content";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 303: return "See Other";
        case 304: return "Not Modified";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 411: return "Length Required";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 416: return "Range Not Satisfiable";
        case 417: return "Expectation Failed";
        case 421: return "Misdirected Request";
        case 422: return "Unprocessable Content";
        case 426: return "Upgrade Required";
        case 428: return "Precondition Required";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 499: return "Client Closed Request";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        default: return "";
    }
}

}  // namespace hostler::http
