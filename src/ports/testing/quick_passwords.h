// For tests: passwords that are hashed at once, and badly. It counts what was asked.
#pragma once

#include <string>

#include "ports/passwords.h"

namespace hostler::testing {

class QuickPasswords final : public Passwords {
public:
    Task<std::string> hash(std::string password) override {
        ++asked;
        if (full) co_return busy();
        co_return mark + std::to_string(++salt) + "$" + scrambled(password);
    }
    Task<bool> verify(std::string password, std::string hash) override {
        ++asked;
        if (full) co_return busy();
        const auto behind = hash.rfind('$');
        co_return hash.starts_with(mark) && hash.substr(behind + 1) == scrambled(password);
    }
    // The text does not contain the password.
    static std::string scrambled(std::string password) {
        std::string text;
        for (const char c : password) text += std::to_string(static_cast<unsigned char>(c) ^ 0x5a) + ".";
        return text;
    }

    int asked = 0;
    int salt = 0;
    bool full = false;  // As many wait as may.

private:
    static std::unexpected<Error> busy() {
        return fail(Code::exhausted, "too many people sign in at once; try again in a moment",
                    "too_many_sign_ins");
    }
    const std::string mark = "$quick$";
};

}  // namespace hostler::testing
