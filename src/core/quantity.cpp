#include "core/quantity.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace hostler {

namespace {

struct Suffix {
    std::string_view text;
    int binary;   // Power of 1024,
    int decimal;  // or power of ten.
};

constexpr std::array suffixes = std::to_array<Suffix>({
    {"Ki", 1, 0},
    {"Mi", 2, 0},
    {"Gi", 3, 0},
    {"Ti", 4, 0},
    {"Pi", 5, 0},
    {"Ei", 6, 0},
    {"n", 0, -9},
    {"u", 0, -6},
    {"m", 0, -3},
    {"", 0, 0},
    {"k", 0, 3},
    {"M", 0, 6},
    {"G", 0, 9},
    {"T", 0, 12},
    {"P", 0, 15},
    {"E", 0, 18},
});

using Wide = __int128;
constexpr Wide wide_max = static_cast<Wide>(1) << 120;

// value * factor, or nullopt past any range that we could ever give back.
std::optional<Wide> times(Wide value, Wide factor) {
    if (value > wide_max / factor) return std::nullopt;
    return value * factor;
}

}  // namespace

Result<Quantity> parse_quantity(std::string_view text) {
    const auto wrong = [&](std::string_view why) {
        return fail(Code::invalid,
                    fmt::format("'{}' {}; write a quantity as 500m, 2, 1.5Gi, 100k or 3e3", text, why));
    };
    std::string_view rest = text;
    bool negative = false;
    if (rest.starts_with('+') || rest.starts_with('-')) {
        negative = rest.front() == '-';
        rest.remove_prefix(1);
    }
    Wide digits = 0;
    int fraction = 0, seen = 0;
    bool point = false;
    for (; !rest.empty(); rest.remove_prefix(1)) {
        const char c = rest.front();
        if (c == '.' && !point) {
            point = true;
        } else if (c >= '0' && c <= '9') {
            if (digits > wide_max / 100) return wrong("has too many digits");
            digits = digits * 10 + (c - '0');
            fraction += point ? 1 : 0;
            ++seen;
        } else {
            break;
        }
    }
    if (seen == 0) return wrong("has no number");

    int power = 3 - fraction;  // Towards thousandths.
    if (rest.size() > 1 && (rest.front() == 'e' || rest.front() == 'E') &&
        (rest[1] == '-' || rest[1] == '+' || (rest[1] >= '0' && rest[1] <= '9'))) {
        rest.remove_prefix(1);
        const bool down = rest.front() == '-';
        if (rest.front() == '-' || rest.front() == '+') rest.remove_prefix(1);
        int exponent = 0;
        if (rest.empty() || rest.size() > 3) return wrong("has a bad exponent");
        for (const char c : rest) {
            if (c < '0' || c > '9') return wrong("has a bad exponent");
            exponent = exponent * 10 + (c - '0');
        }
        power += down ? -exponent : exponent;
    } else {
        const auto suffix =
            std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& s) { return s.text == rest; });
        if (suffix == suffixes.end()) return wrong("has an unknown suffix");
        power += suffix->decimal;
        for (int i = 0; i < suffix->binary; ++i) {
            const auto larger = times(digits, 1024);
            if (!larger) return wrong("is too large");
            digits = *larger;
        }
    }
    for (; power > 0 && digits != 0; --power) {
        const auto larger = times(digits, 10);
        if (!larger) return wrong("is too large");
        digits = *larger;
    }
    for (; power < 0 && digits != 0; ++power)
        digits = digits == 1 ? 1 : (digits + 9) / 10;  // Rounds up, and 1 stays.
    if (digits > std::numeric_limits<std::int64_t>::max()) return wrong("is too large");
    const auto milli = static_cast<std::int64_t>(digits);
    return Quantity{negative ? -milli : milli};
}

std::string to_string(Quantity quantity) {
    if (quantity.milli % 1000 != 0) return fmt::format("{}m", quantity.milli);
    std::int64_t units = quantity.milli / 1000;
    if (units == 0) return "0";
    int binary = 0;
    while (binary < 6 && units % 1024 == 0) {
        units /= 1024;
        ++binary;
    }
    constexpr std::array<std::string_view, 7> names = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    return fmt::format("{}{}", units, names[static_cast<std::size_t>(binary)]);
}

}  // namespace hostler
