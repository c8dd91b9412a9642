// The one place that knows how bodies are written: JSON of the described members.
#include "api/codec_define.h"
#include "roles/master/state/kinds.h"

// The structs of the trade have no help: they are not part of the API.
#define PART(type) HOSTLER_JSON(type)
#define KIND(type, ...) HOSTLER_JSON(type)
#include "roles/master/kinds.def"
#undef KIND
#undef PART

namespace hostler::master {

template <class T>
std::string encode_body(const T& object) {
    return api::encode(object);
}

template <class T>
std::string encode_body_onto(const T& object, std::string_view before) {
    return api::encode_onto(object, before);
}

template <class T>
Result<T> decode_body(std::string_view body, bool* beyond) {
    return api::decode_stored<T>(body, beyond);
}

#define PART(type)
#define KIND(type, ...)                                                   \
    template std::string encode_body(const type&);                        \
    template std::string encode_body_onto(const type&, std::string_view); \
    template Result<type> decode_body(std::string_view, bool*);
#include "roles/master/kinds.def"
#undef KIND
#undef PART

}  // namespace hostler::master
