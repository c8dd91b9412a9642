#include "api/field.h"
#include "core/quantity.h"
#include "core/timers.h"
#include "domain/billing/money.h"
#include "domain/tenancy/credentials.h"

namespace hostler::api {

namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alnum(char c) { return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool all_of(std::string_view text, bool (*test)(char)) { return std::all_of(text.begin(), text.end(), test); }

std::string check_label(std::string_view text) {
    const bool ok = !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
                    all_of(text, [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
    return ok ? "" : "must be 1 to 63 lower-case letters, digits or '-', with no '-' at either end";
}

std::string check_id(std::string_view text) {
    const bool ok = !text.empty() && text.size() <= 128 && is_alnum(text.front()) &&
                    all_of(text, [](char c) { return is_alnum(c) || c == '.' || c == '_' || c == '-'; });
    return ok ? "" : "must be 1 to 128 letters, digits, '.', '_' or '-', with a letter or digit first";
}

std::string check_quantity(std::string_view text) {
    const auto quantity = parse_quantity(text);
    if (!quantity) return quantity.error().message;
    return quantity->milli > 0 ? "" : "must be above zero";
}

std::string check_amount(std::string_view text) {
    const auto quantity = parse_quantity(text);
    if (!quantity) return quantity.error().message;
    return quantity->milli >= 0 ? "" : "must not be below zero";
}

std::string check_image(std::string_view text) {
    const bool ok =
        !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) && !text.contains("//") &&
        all_of(text, [](char c) { return is_alnum(c) || std::string_view("._:/@-").contains(c); });
    if (!ok) return "must be an image reference, as docker.io/library/nginx:1.27";
    // Whoever knows the id of an image that another tenant pulled has not pulled it.
    constexpr std::size_t id_least = 12, id_most = 64;
    const bool is_hex = all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
    if (text.starts_with("sha256:") || (is_hex && text.size() >= id_least && text.size() <= id_most))
        return "must be an image's name, as docker.io/library/nginx:1.27, and not its id";
    return "";
}

std::string check_env_name(std::string_view text) {
    const bool ok = !text.empty() && !is_digit(text.front()) &&
                    all_of(text, [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '-'; });
    return ok ? "" : "must be letters, digits, '_', '.' or '-', with no digit first";
}

bool climbs(std::string_view path) {
    return path == ".." || path.starts_with("../") || path.ends_with("/..") || path.contains("/../");
}

std::string check_path(std::string_view text) {
    if (!text.starts_with('/')) return "must be an absolute path, as /data";
    if (text == "/") return "must not be the root of the container";
    if (climbs(text)) return "must not contain '..'";
    if (text.contains(':') || text.contains(',') || !all_of(text, [](char c) { return !is_control(c); }))
        return "must not contain ':', ',' or control characters";
    return "";
}

std::string check_base_url(std::string_view text) {
    if (text.empty()) return "";
    if (!text.starts_with('/') || text.starts_with("//")) return "must begin with one '/', as /lab";
    if (climbs(text)) return "must not contain '..'";
    const bool ok = all_of(text, [](char c) {
        return !is_control(c) && c > 0 && !std::string_view(" \"#<>?\\^`{|}").contains(c);
    });
    return ok ? "" : "must be the path of a URL, without '?', '#' or spaces";
}

std::string check_one_line(std::string_view text) {
    return all_of(text, [](char c) { return !is_control(c); }) ? "" : "must not contain control characters";
}

std::string check_tcp(std::string_view text) {
    return text == "TCP" ? "" : "must be TCP: nothing else is served";
}

std::string check_money(std::string_view text) {
    const auto sum = parse_money(text);
    return sum ? "" : sum.error().message;
}

std::string check_currency(std::string_view text) {
    return is_currency(text) ? "" : "must be three capital letters, as USD";
}

std::string check_secret_key(std::string_view text) {
    const bool ok = !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
                    all_of(text, [](char c) { return is_alnum(c) || c == '.' || c == '_' || c == '-'; });
    return ok ? "" : "must be 1 to 128 letters, digits, '.', '_' or '-', and begin with neither '.' nor '-'";
}

std::string check_registry(std::string_view text) {
    const auto colon = text.find(':');
    const auto host = text.substr(0, colon);
    const auto port = colon == text.npos ? std::string_view{"0"} : text.substr(colon + 1);
    constexpr std::size_t host_max = 253, port_max = 5;
    const bool ok = !host.empty() && host.size() <= host_max && is_alnum(host.front()) &&
                    is_alnum(host.back()) && !port.empty() && port.size() <= port_max &&
                    all_of(host, [](char c) { return is_alnum(c) || c == '.' || c == '-'; }) &&
                    all_of(port, is_digit);
    if (!ok) return "must be HOST or HOST:PORT, as registry.lan:5000";
    // Else names of images take it for a part of Docker Hub's.
    if (!host.contains('.') && colon == text.npos)
        return "must have a '.' or a port, as names of its images have: registry.lan, registry:5000";
    return "";
}

std::string check_email(std::string_view text) { return text.empty() ? "" : wrong_email(text); }

std::string check_time_or_off(std::string_view text) {
    if (text == "off") return "";
    const auto time = parse_rfc3339(text);
    return time ? "" : time.error().message + ", or off";
}

}  // namespace

namespace forms {
constinit const Form label{"label", "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", &check_label};
constinit const Form id{"id", "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", &check_id};
constinit const Form quantity{
    "quantity", R"(^\+?[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3}|n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$)",
    &check_quantity};
constinit const Form amount{
    "amount", R"(^\+?[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3}|n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$)",
    &check_amount};
constinit const Form image{"image", "^[A-Za-z0-9]([A-Za-z0-9._:/@-]*[A-Za-z0-9])?$", &check_image};
constinit const Form env_name{"env-name", "^[A-Za-z_.-][A-Za-z0-9_.-]*$", &check_env_name};
constinit const Form path{"path", "^/[^:,]+$", &check_path};
constinit const Form base_url{"base-url", "^(/[^ \"#<>?\\\\^`{|}]*)?$", &check_base_url};
constinit const Form one_line{"one-line", "", &check_one_line};
constinit const Form tcp{"tcp", "", &check_tcp};
constinit const Form money{"money", R"(^[0-9]{1,10}(\.[0-9]{1,6})?$)", &check_money};
constinit const Form currency{"currency", "^[A-Z]{3}$", &check_currency};
constinit const Form secret_key{"secret-key", "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$", &check_secret_key};
constinit const Form registry{"registry", "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$",
                              &check_registry};
constinit const Form login{"login", "^[A-Za-z0-9]([A-Za-z0-9._+@-]{0,126}[A-Za-z0-9])?$", &wrong_login};
constinit const Form email{"email-or-nothing", "^([^@\\s]+@[^@\\s]+)?$", &check_email};
constinit const Form time_or_off{"time-or-off", "", &check_time_or_off};
}  // namespace forms

}  // namespace hostler::api
