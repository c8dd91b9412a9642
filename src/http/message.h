// Requests and responses as values.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::http {

struct Header {
    std::string name;
    std::string value;
    bool operator==(const Header&) const = default;
};

// In the order of the wire. Names compare without regard to case.
class Headers {
public:
    Headers() = default;
    Headers(std::initializer_list<Header> list) : list_(list) {}

    std::optional<std::string_view> find(std::string_view name) const;  // The first of that name.
    std::vector<std::string_view> all(std::string_view name) const;
    bool has(std::string_view name) const { return find(name).has_value(); }
    // True when a comma-separated list of that name holds `token`, as in Connection: keep-alive, Upgrade.
    bool lists(std::string_view name, std::string_view token) const;
    std::vector<std::string_view> cookies(std::string_view name) const;  // All of that name, as they came.
    std::string_view cookie(std::string_view name) const;  // The first of that name; empty: there is none.

    void add(std::string name, std::string value);
    void set(std::string name, std::string value);  // In place of all of that name.
    void remove(std::string_view name);

    auto begin() const { return list_.begin(); }
    auto end() const { return list_.end(); }
    std::size_t size() const { return list_.size(); }
    bool empty() const { return list_.empty(); }
    bool operator==(const Headers&) const = default;

private:
    std::vector<Header> list_;
};

struct Request {
    std::string method = "GET";
    std::string target = "/";  // Path and query as they were sent, "/v1/hosts?limit=5".
    Headers headers{};
    std::string body{};  // A client sends it; a server reads it from the Exchange instead.
    int minor = 1;       // HTTP/1.minor.

    std::string_view path() const;   // Undecoded, without the query.
    std::string_view query() const;  // Without the '?'.
};

struct Response {
    int status = 200;
    Headers headers{};
    std::string body{};
};

// A body of one line of text.
Response text_response(int status, std::string_view sentence);

std::string_view reason_phrase(int status);  // "Not Found"; "" when there is no customary one.

// The status that tells a client about `error`: http_status(), and 413 for a body too large.
int status_of(const Error& error);
// Error::reason of a body over its limit.
inline constexpr std::string_view body_too_large = "body_too_large";

bool same_name(std::string_view a, std::string_view b);  // ASCII, without regard to case.
bool is_token(std::string_view text);        // RFC 9110 section 5.6.2: what methods and names are made of.
bool is_field_value(std::string_view text);  // No control characters but the tab.
std::string_view trimmed(std::string_view text);  // Without spaces and tabs at either end.

// Calls `each(item)` for the items of a list, trimmed, empty ones left out. Commas are between them, between
// cookies semicolons.
template <class Each>
void each_item(std::string_view list, Each&& each, char separator = ',') {
    while (!list.empty()) {
        const auto end = list.find(separator);
        const auto item = trimmed(list.substr(0, end));
        if (!item.empty()) each(item);
        if (end == std::string_view::npos) return;
        list.remove_prefix(end + 1);
    }
}

}  // namespace hostler::http
