// Every operation of the API, once, without the types of its request and answer. The server routes, checks
// and decodes from them; openapi.json and the command line are made from them. Each area (areas.def) lists
// its own, in its codec_X.cpp; who calls or answers one takes it from operations_X.h.
#pragma once

#include <array>
#include <span>

#include "api/operation.h"

namespace hostler::api {

// The subject of operations, as the command line and the tags of openapi.json name it.
struct Noun {
    std::string_view name;
    std::string_view help;
};

// What belongs together and is written together.
struct ApiArea {
    std::span<const Operation* const> operations;  // In the order of openapi.json.
    std::span<const Noun> nouns;                   // Those that no area before it has.
};

// All of them, by area.
std::span<const Operation* const> operations();
std::span<const Noun> nouns();

}  // namespace hostler::api
