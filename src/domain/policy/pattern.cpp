#include "domain/policy/pattern.h"

#include <string>

#include "domain/image/image.h"

namespace hostler {

namespace {

// Where tag or digest of a name begin; its size: it has none.
std::size_t version_at(std::string_view name) {
    if (const auto digest = name.find('@'); digest != name.npos) return digest;
    const auto colon = name.rfind(':');
    return colon == name.npos || name.find('/', colon) != name.npos ? name.size() : colon;
}

}  // namespace

// Goes back to the last '*' alone: an earlier one would take nothing that this one cannot.
bool pattern_matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = pattern.npos, taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p, ++t;
        } else if (star != pattern.npos) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == pattern.npos;
}

bool image_matches(std::string_view pattern, std::string_view image) {
    const std::string full = full_image_name(image);
    const bool any_version = version_at(pattern) == pattern.size() && !pattern.ends_with('*');
    std::string wanted{pattern};
    if (!pattern.starts_with('*')) {
        wanted = full_image_name(pattern);
        if (version_at(pattern) == pattern.size()) wanted.resize(version_at(wanted));
    }
    const std::string_view name{full};
    return pattern_matches(wanted, any_version ? name.substr(0, version_at(name)) : name);
}

}  // namespace hostler
