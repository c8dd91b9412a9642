// What is known of one field of a request or response beyond its C++ type: help, bounds, an example.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hostler::api {

// How a text must look. `check` answers what is wrong with it, or nothing; `pattern` says it to programs.
struct Form {
    std::string_view name;
    std::string_view pattern;
    std::string (*check)(std::string_view);
};

namespace forms {
extern const Form label;       // A DNS label: lower-case letters, digits, '-'; at most 63.
extern const Form id;          // What a caller may use as an id: letters, digits, '.', '_', '-'; at most 128.
extern const Form quantity;    // A Kubernetes quantity above zero. A JSON number is taken for its text.
extern const Form amount;      // The same, or zero.
extern const Form image;       // A container image reference.
extern const Form env_name;    // The name of an environment variable.
extern const Form path;        // An absolute path without "..".
extern const Form base_url;    // The path part of a URL: empty, or from '/'.
extern const Form one_line;    // No control characters.
extern const Form tcp;         // Of the protocols, the one that is served.
extern const Form money;       // A sum, not negative. A JSON number is taken for its text.
extern const Form currency;    // Three capital letters.
extern const Form secret_key;  // A key of a secret: it is the name of a file, too.
extern const Form registry;    // HOST or HOST:PORT of a registry of images.
extern const Form login;       // A name to sign in with.
extern const Form email;       // An e-mail address, or nothing.
extern const Form time_or_off;  // A time as RFC 3339 writes it, in UTC; or off.
}  // namespace forms

enum class Unit { none, bytes, seconds, percent, per_mille, celsius, watts };
// automatic: path if the path names it; else query of a GET or DELETE; else body.
enum class In { automatic, query };
enum class Absent { refused, fills };  // fills: the member's initialiser stands for a missing field.

// A field that is neither std::optional nor `Absent::fills` must be there.
struct Field {
    std::string_view member;  // Its name in C++.
    std::string_view help;
    std::string_view example{};
    std::optional<std::int64_t> min{};  // Of a number; of the length of a text or list.
    std::optional<std::int64_t> max{};
    const Form* form = nullptr;
    Absent absent = Absent::refused;
    In in = In::automatic;
    Unit unit = Unit::none;
    bool hidden = false;  // A secret: no message, log or example has it, and people type it unseen.
};

// Specialised for every struct of the API, as std::to_array<Field>({…}).
template <class T>
inline constexpr std::array<Field, 0> fields{};

// Rules between fields. A struct that has some specialises this beside its table of fields.
using Wrong = std::vector<FieldError>;
template <class T>
struct Rules {
    static void check(const T&, Wrong&) {}
};

// A text without a bound of its own is at most so long, a list so many.
inline constexpr std::int64_t text_max = 4096;
inline constexpr std::int64_t list_max = 1024;

}  // namespace hostler::api
