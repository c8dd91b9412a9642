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
    {.member = "state", .help = "next: believed, does not sign yet; issuing: signs; outgoing: believed, signs no more; "
                                "withdrawn: not believed."},
    {.member = "subject", .help = "Whom its certificate names; empty: its keys are gone.",
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
    {.member = "name", .help = "Which host, access point or gateway.", .example = "host/h-4f2a9c"},
    {.member = "authority", .help = "Who signed its certificate; empty: it has not said so.", .example = "9f86d081884c7d65"},
    {.member = "message", .help = "What is missing, in words."},
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
    {.member = "authorities", .help = "Those that are known, the oldest first."},
    {.member = "holders", .help = "Hosts, access points and gateways; 0 before the first rotation.", .example = "7"},
    {.member = "renewed", .help = "Of them, those whose certificate is of who signs now.", .example = "6"},
    {.member = "current", .help = "Of these, those who believe whom they should.", .example = "6"},
    {.member = "behind", .help = "The others, and those in whose name an unknown key was shown.", .max = 1000},
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
    {.member = "step", .help = "begin: make another and believe it, too; issue: have it sign; withdraw: believe the former "
                               "no more.", .example = "begin"},
    {.member = "force", .help = "Withdraw it also from those who have no other certificate: they must join again.",
     .absent = Absent::fills},
});

struct AdmitKey {
    std::string name;
    std::string key_fingerprint;
};
BOOST_DESCRIBE_STRUCT(AdmitKey, (), (name, key_fingerprint))
template <>
inline constexpr auto fields<AdmitKey> = std::to_array<Field>({
    {.member = "name", .help = "Whose it is: access/NAME or gateway/NAME.", .example = "gateway/gw-1", .max = 128},
    {.member = "key_fingerprint", .help = "SHA-256 of its public key (DER), as 64 lower-case hex digits.",
     .example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", .min = 64, .max = 64},
});
template <>
struct Rules<AdmitKey> {
    static void check(const AdmitKey& request, Wrong& wrong);
};

// clang-format on

}  // namespace hostler::api
