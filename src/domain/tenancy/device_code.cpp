#include "domain/tenancy/device_code.h"

namespace hostler {

std::string device_code_of(std::uint64_t random) {
    std::string letters;
    for (std::size_t i = 0; i < device_code_letters; ++i) {
        letters += device_letters[random % device_letters.size()];
        random /= device_letters.size();
    }
    return letters;
}

std::string shown_device_code(std::string_view letters) {
    constexpr std::size_t half = device_code_letters / 2;
    return std::string{letters.substr(0, half)} + "-" + std::string{letters.substr(half)};
}

std::optional<std::string> device_code_typed(std::string_view typed) {
    std::string letters;
    for (const char c : typed) {
        if (c == '-' || c == ' ') continue;
        const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (!device_letters.contains(upper) || letters.size() == device_code_letters) return std::nullopt;
        letters += upper;
    }
    if (letters.size() != device_code_letters) return std::nullopt;
    return letters;
}

}  // namespace hostler
