// Secrets of tenants. Calls accept values and never return them.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class SecretKind { opaque, registry };
BOOST_DESCRIBE_ENUM(SecretKind, opaque, registry)

struct SecretValue {
    std::string key;
    std::string value;
    bool operator==(const SecretValue&) const = default;
};
BOOST_DESCRIBE_STRUCT(SecretValue, (), (key, value))
template <>
inline constexpr auto fields<SecretValue> = std::to_array<Field>({
    {.member = "key", .help = "Key of the value; also its file name.", .example = "token",
     .form = &forms::secret_key},
    {.member = "value", .help = "The value. No call returns it.", .example = "hf_example", .min = 1, .max = 65536},
});

struct SecretKey {
    std::string key;
    std::int64_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(SecretKey, (), (key, bytes))
template <>
inline constexpr auto fields<SecretKey> = std::to_array<Field>({
    {.member = "key", .help = "The key.", .example = "token"},
    {.member = "bytes", .help = "Size of the value.", .example = "37", .unit = Unit::bytes},
});

struct Secret {
    std::string id;
    std::string name;
    std::string tenant_id;
    std::string project;
    SecretKind kind = SecretKind::opaque;
    std::string server;
    std::string username;
    std::vector<SecretKey> keys;
    std::uint64_t version = 0;
    std::vector<std::string> used_by;
    WallTime created_at;
    WallTime updated_at;
};
BOOST_DESCRIBE_STRUCT(Secret, (),
                      (id, name, tenant_id, project, kind, server, username, keys, version, used_by, created_at,
                       updated_at))
template <>
inline constexpr auto fields<Secret> = std::to_array<Field>({
    {.member = "id", .help = "Id of the secret.", .example = "sec-3hq8wz"},
    {.member = "name", .help = "Name of the secret, unique in the tenant.", .example = "huggingface"},
    {.member = "tenant_id", .help = "Tenant that owns it.", .example = "acme"},
    {.member = "project", .help = "Project of the tenant.", .example = "default"},
    {.member = "kind", .help = "`opaque`, or `registry` for a registry login.", .example = "opaque"},
    {.member = "server", .help = "Registry host, as its image names begin.", .example = "registry.lan:5000"},
    {.member = "username", .help = "User name at the registry.", .example = "puller"},
    {.member = "keys", .help = "Keys and value sizes, without the values."},
    {.member = "version", .help = "Increases when a value changes.", .example = "1"},
    {.member = "used_by", .help = "Ids of the instances that use it and have not ended."},
    {.member = "created_at", .help = "Creation time."},
    {.member = "updated_at", .help = "Time of the last change."},
});

struct CreateSecret {
    std::string name;
    SecretKind kind = SecretKind::opaque;
    std::optional<std::string> server{};
    std::optional<std::string> username{};
    std::vector<SecretValue> values;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
};
BOOST_DESCRIBE_STRUCT(CreateSecret, (), (name, kind, server, username, values, tenant_id, project))
template <>
inline constexpr auto fields<CreateSecret> = std::to_array<Field>({
    {.member = "name", .help = "Name of the secret, unique in the tenant.", .example = "huggingface", .form = &forms::label},
    {.member = "kind", .help = "`opaque`, or `registry` for a login that pulls images.", .example = "registry",
     .absent = Absent::fills},
    {.member = "server", .help = "Registry host, as its image names begin.", .example = "registry.lan:5000",
     .min = 1, .max = 259, .form = &forms::registry},
    {.member = "username", .help = "User name at the registry; for kind registry.", .example = "puller", .min = 1, .max = 256,
     .form = &forms::one_line},
    {.member = "values", .help = "Values by key. Kind registry has one key, password.", .min = 1,
     .max = 64},
    {.member = "tenant_id", .help = "Owning tenant; required with an operator's key.", .example = "acme",
     .form = &forms::id},
    {.member = "project", .help = "Project of the tenant. Default: `default`.", .example = "lab", .form = &forms::label},
});

// PATCH /v1/secrets/{secret}. What is not given stays.
struct UpdateSecret {
    std::string secret;
    std::optional<std::string> tenant_id{};
    std::optional<std::string> username{};
    std::optional<std::vector<SecretValue>> values{};
    std::optional<std::vector<std::string>> remove_keys{};
};
BOOST_DESCRIBE_STRUCT(UpdateSecret, (), (secret, tenant_id, username, values, remove_keys))
template <>
inline constexpr auto fields<UpdateSecret> = std::to_array<Field>({
    {.member = "secret", .help = "The secret's id or name.", .example = "huggingface"},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
    {.member = "username", .help = "User name at the registry; for kind registry.", .example = "puller", .min = 1, .max = 256,
     .form = &forms::one_line},
    {.member = "values", .help = "Values to add or replace by key; other keys stay.", .max = 64},
    {.member = "remove_keys", .help = "Keys to remove.", .max = 64},
});

struct ListSecrets {
    std::optional<std::string> tenant_id{};
    std::optional<std::string> project{};
    std::optional<SecretKind> kind{};
};
BOOST_DESCRIBE_STRUCT(ListSecrets, (), (tenant_id, project, kind))
template <>
inline constexpr auto fields<ListSecrets> = std::to_array<Field>({
    {.member = "tenant_id", .help = "Only this tenant's.", .example = "acme", .form = &forms::id},
    {.member = "project", .help = "Only those in this project.", .example = "lab", .form = &forms::label},
    {.member = "kind", .help = "Only those of this kind."},
});

struct NameSecret {
    std::string secret;
    std::optional<std::string> tenant_id{};
};
BOOST_DESCRIBE_STRUCT(NameSecret, (), (secret, tenant_id))
template <>
inline constexpr auto fields<NameSecret> = std::to_array<Field>({
    {.member = "secret", .help = "The secret's id or name.", .example = "huggingface"},
    {.member = "tenant_id", .help = "Owning tenant; for an operator's key, when two tenants use the same name.",
     .example = "acme", .form = &forms::id},
});

}  // namespace hostler::api
