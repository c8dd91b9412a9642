// The one look of all pages that a role itself shows to people: self-contained HTML, light and dark.
#pragma once

#include <string>
#include <string_view>

namespace hostler {

std::string html_text(std::string_view text);  // Escaped for text and for quoted attributes.

struct HtmlPage {
    std::string_view title;
    std::string_view body;           // HTML; what comes from elsewhere went through html_text().
    std::string_view nonce = {};     // Of the policy that allows its style; empty: none is needed.
    std::string_view tone = "calm";  // calm, busy, bad
    int again_s = 0;                 // It looks again after so long; 0: never.
    std::string_view footer = "Hostler";
};
std::string html_of(const HtmlPage& page);

// The front door: what this is, and the first commands with the address at which the API is reached.
struct FrontDoor {
    std::string_view what;  // This is …: "its API", "its gateway".
    std::string api;        // "http://127.0.0.1:7400"; empty: not known.
    std::string_view nonce = {};
};
std::string front_door(const FrontDoor& door);

}  // namespace hostler
