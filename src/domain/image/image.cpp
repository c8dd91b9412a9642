#include "domain/image/image.h"

namespace hostler {

namespace {

bool is_registry(std::string_view part) {
    return part.find_first_of(".:") != part.npos || part == "localhost";
}

}  // namespace

std::string full_image_name(std::string_view name) {
    const auto digest_at = name.find('@');
    const auto digest = digest_at == name.npos ? std::string_view{} : name.substr(digest_at);
    auto path = name.substr(0, digest_at);
    std::string_view tag;
    if (const auto colon = path.rfind(':'); colon != path.npos && path.find('/', colon) == path.npos) {
        tag = path.substr(colon);
        path = path.substr(0, colon);
    }
    std::string full;
    const auto slash = path.find('/');
    if (slash == path.npos)
        full = "docker.io/library/";
    else if (!is_registry(path.substr(0, slash)))
        full = "docker.io/";
    full += path;
    if (!digest.empty()) return full.append(digest);
    return full.append(tag.empty() ? ":latest" : tag);
}

}  // namespace hostler
