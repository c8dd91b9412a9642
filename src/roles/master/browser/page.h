// Answers to browsers, and what they send.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "http/server.h"

namespace hostler::master {

inline constexpr std::size_t form_bytes_max = 16 << 10;

// A page without scripts. `opens`: the origin that its form leads to; browsers hold the form's redirect
// against the policy, too.
http::Response page_response(int status, std::string html, std::string_view opens = "");

// Whether a page of another site made a browser send this. Programs send neither header.
bool is_from_elsewhere(const http::Exchange& exchange, std::string_view public_url);

// Of a form or a query, as browsers send it; "" when it is absent.
std::string form_field(std::string_view body, std::string_view name);

// Parts of pages: "" for no complaint; a field that a form carries.
std::string alert_of(std::string_view complaint);
std::string hidden_field(std::string_view name, std::string_view value);
// One input of a form, with what is wrong with it below.
struct FormInput {
    std::string_view name, label, type, complete;
    std::string_view value{}, more{};  // `more`: attributes.
    std::string_view title;            // Of the field, in a complaint.
};
std::string form_input(const FormInput& input, std::span<const FieldError> wrong);

}  // namespace hostler::master
