#include "api/operation_list.h"

#include <vector>

namespace hostler::api {

#define AREA(area) ApiArea area##_area();
#include "api/areas.def"
#undef AREA

namespace {

constexpr ApiArea (*areas[])() = {
#define AREA(area) &area##_area,
#include "api/areas.def"
#undef AREA
};

template <class T>
std::vector<T> collected(std::span<const T> ApiArea::* part) {
    std::vector<T> all;
    for (const auto area : areas) {
        const std::span<const T> own = area().*part;
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

}  // namespace

std::string_view name(Method method) {
    switch (method) {
        case Method::get: return "GET";
        case Method::post: return "POST";
        case Method::put: return "PUT";
        case Method::patch: return "PATCH";
        case Method::delete_: return "DELETE";
    }
    broken("a method outside its enum", __FILE__, __LINE__);
}

std::span<const Operation* const> operations() {
    static const auto all = collected(&ApiArea::operations);
    return all;
}

std::span<const Noun> nouns() {
    static const auto all = collected(&ApiArea::nouns);
    return all;
}

}  // namespace hostler::api
