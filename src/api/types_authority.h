// Who signs certificates, and the steps in which another takes its place.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class AuthorityState { next, issuing, outgoing, withdrawn };
BOOST_DESCRIBE_ENUM(AuthorityState, next, issuing, outgoing, withdrawn)

struct Authority {
    std::string fingerprint;
    AuthorityState state = AuthorityState::issuing;
    std::string subject;
    std::optional<WallTime> not_before{};
    std::optional<WallTime> not_after{};
    std::optional<WallTime> since{};
};
BOOST_DESCRIBE_STRUCT(Authority, (), (fingerprint, state, subject, not_before, not_after, since))
template <>
inline constexpr auto fields<Authority> = std::to_array<Field>({
    {.member = "fingerprint", .help = "SHA-256 of its certificate.", .example = "9f86d081884c7d65"},
    {.member = "state", .help = "next: trusted, does not sign yet; issuing: signs; outgoing: trusted, has stopped "
                                "signing; withdrawn: not trusted."},
    {.member = "subject", .help = "Subject of its certificate; empty: its keys are gone.",
     .example = "CN=Hostler authority"},
    {.member = "not_before", .help = "From when it is valid."},
    {.member = "not_after", .help = "Until when it is valid."},
    {.member = "since", .help = "Since when it is in this state; absent before the first rotation."},
});

struct CertificateHolder {
    std::string name;
    std::string authority;
    std::string message;
};
BOOST_DESCRIBE_STRUCT(CertificateHolder, (), (name, authority, message))
template <>
inline constexpr auto fields<CertificateHolder> = std::to_array<Field>({
    {.member = "name", .help = "Host, access point or gateway.", .example = "host/h-4f2a9c"},
    {.member = "authority", .help = "Authority that signed its certificate; empty: not reported.", .example = "9f86d081884c7d65"},
    {.member = "message", .help = "The missing step, in words."},
});

struct Authorities {
    std::vector<Authority> authorities;
    int holders = 0;
    int renewed = 0;
    int current = 0;
    std::vector<CertificateHolder> behind;
};
BOOST_DESCRIBE_STRUCT(Authorities, (), (authorities, holders, renewed, current, behind))
template <>
inline constexpr auto fields<Authorities> = std::to_array<Field>({
    {.member = "authorities", .help = "Known authorities, oldest first."},
    {.member = "holders", .help = "Hosts, access points and gateways; 0 before the first rotation.", .example = "7"},
    {.member = "renewed", .help = "Holders with a certificate of the issuing authority.", .example = "6"},
    {.member = "current", .help = "Renewed holders that trust the right authorities.", .example = "6"},
    {.member = "behind", .help = "All other holders, and names for which an unknown key was presented.", .max = 1000},
});

enum class RotationStep { begin, issue, withdraw };
BOOST_DESCRIBE_ENUM(RotationStep, begin, issue, withdraw)

struct RotateAuthority {
    RotationStep step = RotationStep::begin;
    bool force = false;
};
BOOST_DESCRIBE_STRUCT(RotateAuthority, (), (step, force))
template <>
inline constexpr auto fields<RotateAuthority> = std::to_array<Field>({
    {.member = "step", .help = "begin: create another authority and trust it, too; issue: let it sign; withdraw: "
                               "stop trusting the former one.", .example = "begin"},
    {.member = "force", .help = "Withdraw it even from holders without another certificate: they must join again.",
     .absent = Absent::fills},
});

struct AdmitKey {
    std::string name;
    std::string key_fingerprint;
};
BOOST_DESCRIBE_STRUCT(AdmitKey, (), (name, key_fingerprint))
template <>
inline constexpr auto fields<AdmitKey> = std::to_array<Field>({
    {.member = "name", .help = "Holder of the key: access/NAME or gateway/NAME.", .example = "gateway/gw-1", .max = 128},
    {.member = "key_fingerprint", .help = "SHA-256 of its public key (DER), as 64 lower-case hex digits.",
     .example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", .min = 64, .max = 64},
});
template <>
struct Rules<AdmitKey> {
    static void check(const AdmitKey& request, Wrong& wrong);
};

// clang-format on

}  // namespace hostler::api
