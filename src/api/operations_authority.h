// Who signs certificates.
#pragma once

#include "api/operation.h"
#include "api/types_authority.h"

namespace hostler::api::ops {

// clang-format off

inline constexpr Typed<Empty, Authorities> get_authorities{{
    .name = "getAuthorities", .path = "/v1/authorities",
    .permission = Permission::authority_read,
    .help = "Show the certificate authorities, and the holders of certificates of an "
                                           "older one.",
    .noun = "ca", .verb = "show", .example = "ca show"}};
inline constexpr Typed<RotateAuthority, Authorities> rotate_authority{{
    .name = "rotateAuthority", .method = Method::post, .path = "/v1/authorities/rotate",
    .permission = Permission::authority_write,
    .help = "Take one step in the rotation of the certificate authority.", .noun = "ca", .verb = "rotate",
    .argument = "step", .example = "ca rotate begin"}};
inline constexpr Typed<AdmitKey, Authorities> admit_key{{
    .name = "admitKey", .method = Method::post, .path = "/v1/authorities/admit",
    .permission = Permission::authority_write,
    .help = "Let a new authority certify this key of an access point or gateway, too.", .noun = "ca",
    .verb = "admit", .argument = "name",
    .example = "ca admit gateway/gw-1 --key-fingerprint "
               "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}};

}  // namespace hostler::api::ops
