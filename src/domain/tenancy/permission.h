// Permissions: what an operation needs, and what a role is made of.
#pragma once

#include <array>
#include <bitset>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace hostler {

enum class Permission {
#define PERMISSION(enumerator, ...) enumerator,
#include "domain/tenancy/permissions.def"
#undef PERMISSION
};

// Where a grant must lie for a permission to count.
enum class PermissionLevel {
    anyone,     // Every known caller has it.
    catalogue,  // A grant at any scope: what the cloud offers is the same for all.
    project,    // A grant at the object's project, its tenant or the cloud.
    tenant,     // At the object's tenant or the cloud.
    provider,   // At the host's provider or the cloud.
    cloud,      // At the cloud.
};

struct PermissionRow {
    Permission permission;
    std::string_view name;  // "instance.read"
    PermissionLevel level;
    std::string_view help;
};

inline constexpr auto permissions = std::to_array<PermissionRow>({
#define PERMISSION(enumerator, name, level, help) \
    {Permission::enumerator, name, PermissionLevel::level, help},
#include "domain/tenancy/permissions.def"
#undef PERMISSION
});

constexpr const PermissionRow& row_of(Permission permission) {
    return permissions[static_cast<std::size_t>(permission)];
}
constexpr std::string_view name_of(Permission permission) { return row_of(permission).name; }
constexpr std::string_view name_of(PermissionLevel level) {
    switch (level) {
        case PermissionLevel::anyone: return "anyone";
        case PermissionLevel::catalogue: return "catalogue";
        case PermissionLevel::project: return "project";
        case PermissionLevel::tenant: return "tenant";
        case PermissionLevel::provider: return "provider";
        case PermissionLevel::cloud: return "cloud";
    }
    return "";
}
constexpr std::optional<Permission> permission_named(std::string_view name) {
    for (const PermissionRow& row : permissions)
        if (row.name == name) return row.permission;
    return std::nullopt;
}
// It changes nothing.
constexpr bool only_reads(Permission permission) {
    const std::string_view name = name_of(permission);
    return name.ends_with(".read") || name == "gpu.usage" || name == "instance.logs";
}
// Whoever has it sees the objects that `permission` acts on: "instance.read" for "instance.write".
constexpr Permission sight_of(Permission permission) {
    const std::string_view name = name_of(permission);
    const std::string_view object = name.substr(0, name.find('.') + 1);
    for (const PermissionRow& row : permissions)
        if (row.name.starts_with(object) && row.name.substr(object.size()) == "read") return row.permission;
    return permission;
}

// A set of permissions.
class Permissions {
public:
    constexpr Permissions() = default;
    Permissions(std::initializer_list<Permission> of) {
        for (const Permission one : of) add(one);
    }
    void add(Permission permission) { bits_.set(static_cast<std::size_t>(permission)); }
    bool has(Permission permission) const { return bits_.test(static_cast<std::size_t>(permission)); }
    bool has_all(const Permissions& other) const { return (other.bits_ & ~bits_).none(); }
    bool empty() const { return bits_.none(); }
    Permissions without(const Permissions& other) const { return Permissions{bits_ & ~other.bits_}; }
    friend Permissions operator|(const Permissions& a, const Permissions& b) {
        return Permissions{a.bits_ | b.bits_};
    }
    friend Permissions operator&(const Permissions& a, const Permissions& b) {
        return Permissions{a.bits_ & b.bits_};
    }
    bool operator==(const Permissions&) const = default;

private:
    using Bits = std::bitset<permissions.size()>;
    explicit Permissions(Bits bits) : bits_(bits) {}
    Bits bits_;
};

}  // namespace hostler
