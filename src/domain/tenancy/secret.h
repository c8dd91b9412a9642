// What a project gives its instances to know and shows nobody: texts under keys, and the login of a registry.
#pragma once

#include <boost/describe.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "domain/object.h"

namespace hostler {

enum class SecretKind {
    opaque,    // Whatever programs need.
    registry,  // The password of `username` at the registry `server`, for pulls of images.
};
BOOST_DESCRIBE_ENUM(SecretKind, opaque, registry)

struct SecretValue {
    std::string key;
    std::string value;
    bool operator==(const SecretValue&) const = default;
};
BOOST_DESCRIBE_STRUCT(SecretValue, (), (key, value))

struct Secret {
    static constexpr std::string_view password = "password";  // The only key of a registry's.
    std::string id;                                           // "sec-…"
    std::string name;                                         // Unique in its tenant.
    std::string tenant;
    std::string project = "default";
    SecretKind kind = SecretKind::opaque;
    std::string server;               // Of a registry, as names of images begin: "registry.lan:5000".
    std::string username;             // There.
    std::vector<SecretValue> values;  // By key.
    std::uint64_t version = 1;        // Rises when a value or the user changes.
    std::int64_t created_at = 0;
    std::int64_t updated_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Secret, (),
                      (id, name, tenant, kind, server, username, values, version, created_at, updated_at,
                       project))

inline const SecretValue* find_value(const Secret& secret, std::string_view key) {
    for (const SecretValue& one : secret.values)
        if (one.key == key) return &one;
    return nullptr;
}

inline std::size_t bytes_of(const Secret& secret) {
    std::size_t bytes = 0;
    for (const SecretValue& one : secret.values) bytes += one.value.size();
    return bytes;
}

}  // namespace hostler
