// Rules for logins and passwords.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

inline constexpr std::size_t login_size_max = 128;
inline constexpr std::size_t password_size_min = 10;  // Bytes.
inline constexpr std::size_t password_size_max = 256;

// As it is kept and compared: "Ann@Example.com" is "ann@example.com".
std::string plain_login(std::string_view typed);
// What is wrong with it; empty: nothing.
std::string wrong_login(std::string_view login);
std::string wrong_email(std::string_view email);
// No message repeats the password.
std::string wrong_password(std::string_view password, std::string_view login);

}  // namespace hostler
