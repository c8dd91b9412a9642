// The keys that seal what is secret in the store, and the steps in which another takes their place.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

enum class SealingState { next, current, former, forgotten };
BOOST_DESCRIBE_ENUM(SealingState, next, current, former, forgotten)

struct SealingKey {
    std::string id;
    SealingState state = SealingState::next;
    WallTime since{};
    std::int64_t values = 0;
    bool here = false;
};
BOOST_DESCRIBE_STRUCT(SealingKey, (), (id, state, since, values, here))
template <>
inline constexpr auto fields<SealingKey> = std::to_array<Field>({
    {.member = "id", .help = "Its id. It reveals nothing about the key.", .example = "9f86d081884c7d65"},
    {.member = "state", .help = "next: seals nothing yet; current: seals new secrets; former: opens the secrets that "
                                "it has sealed; forgotten: unused."},
    {.member = "since", .help = "Since when it is in this state."},
    {.member = "values", .help = "Number of secrets in the store sealed by it, at the last count.", .example = "120"},
    {.member = "here", .help = "The leading master has it."},
});

struct SealingKeys {
    std::vector<SealingKey> keys;
    std::optional<WallTime> counted_at{};
    bool whole = false;
    std::optional<std::string> message{};
};
BOOST_DESCRIBE_STRUCT(SealingKeys, (), (keys, counted_at, whole, message))
template <>
inline constexpr auto fields<SealingKeys> = std::to_array<Field>({
    {.member = "keys", .help = "Known keys, by id."},
    {.member = "counted_at", .help = "When the secrets were counted; absent: not since this master leads."},
    {.member = "whole", .help = "At that count, all secrets were sealed by the current key."},
    {.member = "message", .help = "Why they cannot be counted; absent: they can."},
});

enum class SealingStep { begin, finish };
BOOST_DESCRIBE_ENUM(SealingStep, begin, finish)

struct RotateSealingKey {
    SealingStep step = SealingStep::begin;
};
BOOST_DESCRIBE_STRUCT(RotateSealingKey, (), (step))
template <>
inline constexpr auto fields<RotateSealingKey> = std::to_array<Field>({
    {.member = "step", .help = "begin: create another key; finish: let it seal, once all masters have it.", .example = "begin"},
});

struct NameSealingKey {
    std::string sealing_key;
};
BOOST_DESCRIBE_STRUCT(NameSealingKey, (), (sealing_key))
template <>
inline constexpr auto fields<NameSealingKey> = std::to_array<Field>({
    {.member = "sealing_key", .help = "Its id.", .example = "9f86d081884c7d65"},
});

// clang-format on

}  // namespace hostler::api
