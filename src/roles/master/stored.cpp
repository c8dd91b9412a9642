// The one place that knows how bodies are written: JSON of the described members.
#include "api/stored.h"
#include "roles/master/kinds.h"

namespace hostler::master {

template <class T>
std::string encode_body(const T& object) {
    return api::encode_stored(object);
}

template <class T>
Result<T> decode_body(std::string_view body) {
    return api::decode_stored<T>(body);
}

#define HOSTLER_STORED(type)                        \
    template std::string encode_body(const type&);  \
    template Result<type> decode_body(std::string_view);

HOSTLER_STORED(Zone)
HOSTLER_STORED(AccessPoint)
HOSTLER_STORED(Gateway)
HOSTLER_STORED(HostToken)
HOSTLER_STORED(Host)
HOSTLER_STORED(Spec)
HOSTLER_STORED(Slot)
HOSTLER_STORED(Claim)
HOSTLER_STORED(Instance)
HOSTLER_STORED(Volume)
HOSTLER_STORED(Network)
HOSTLER_STORED(Subnet)
HOSTLER_STORED(HostCommand)
HOSTLER_STORED(ApiKey)
HOSTLER_STORED(SignIn)
HOSTLER_STORED(Answer)
HOSTLER_STORED(LongOperation)

}  // namespace hostler::master
