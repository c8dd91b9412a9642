#include "domain/tenancy/credentials.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostler {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string plain_login(std::string_view typed) {
    std::string login{typed};
    std::ranges::transform(login, login.begin(), lower);
    return login;
}

std::string wrong_login(std::string_view login) {
    const std::string plain = plain_login(login);
    const bool ok = !plain.empty() && plain.size() <= login_size_max && is_plain(plain.front()) &&
                    is_plain(plain.back()) && std::ranges::count(plain, '@') <= 1 &&
                    std::ranges::all_of(
                        plain, [](char c) { return is_plain(c) || std::string_view{"._+-@"}.contains(c); });
    return ok ? ""
              : fmt::format(
                    "must be a name or an e-mail address: 1 to {} letters, digits, '.', '_', '+', "
                    "'-' and one '@' at most, with a letter or digit at either end",
                    login_size_max);
}

std::string wrong_email(std::string_view email) {
    const auto at = email.find('@');
    const bool ok =
        at != email.npos && at > 0 && at + 1 < email.size() && email.size() <= 254 &&
        email.rfind('@') == at &&
        std::ranges::all_of(email, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
    return ok ? "" : "must be an e-mail address, as ann@example.com";
}

std::string wrong_password(std::string_view password, std::string_view login) {
    if (password.size() < password_size_min || password.size() > password_size_max)
        return fmt::format("must have {} to {} bytes", password_size_min, password_size_max);
    if (plain_login(password) == plain_login(login)) return "must not be the login";
    return "";
}

}  // namespace hostler
