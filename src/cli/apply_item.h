// A document of `hostler apply` on its way, and the operations on its kind.
#pragma once

#include "api/operation.h"
#include "cli/documents.h"

namespace hostler::cli {

// The operations on one kind of object.
struct AppliedKind {
    const api::Operation* create = nullptr;
    const api::Operation* get = nullptr;
    const api::Operation* list = nullptr;
    const api::Operation* remove = nullptr;
    const api::Operation* replace = nullptr;
};

// Of the noun; without `create` when nothing of it can be applied.
AppliedKind kind_of(std::string_view noun);
std::vector<std::string_view> kinds();
// Why nothing of this kind can be applied.
std::string no_kind(std::string_view noun);

enum class Outcome { created, updated, unchanged, refused, not_tried };
std::string_view name(Outcome outcome);

// One document on its way.
struct Item {
    Document document;
    std::string noun;
    std::string name;
    AppliedKind kind;
    json::object fields;  // Without `kind`.
    // Of stock, what calls of their own take:
    std::optional<json::object> images{};  // what its hosts are to have in advance,
    std::optional<json::object> policy{};  // whether its idle slots give way.
    Outcome outcome = Outcome::not_tried;
    std::string message{};  // What was changed, or why not.
    json::value answer{};   // Of the call that created it.
};

}  // namespace hostler::cli
