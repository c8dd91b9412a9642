#include "domain/tenancy/recovery.h"

namespace hostler {

std::string shown_recovery_code(std::string_view letters) {
    constexpr std::size_t group = 4;
    std::string shown;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        if (i > 0 && i % group == 0) shown += '-';
        shown += letters[i];
    }
    return shown;
}

std::optional<std::string> recovery_code_letters(std::string_view typed) {
    std::string letters;
    for (const char c : typed) {
        if (c == '-' || c == ' ') continue;
        const bool upper = c >= 'A' && c <= 'Z';
        const bool known = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!known || letters.size() == recovery_letters) return std::nullopt;
        letters += upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (letters.size() != recovery_letters) return std::nullopt;
    return letters;
}

}  // namespace hostler
