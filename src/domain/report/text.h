// A report as others read it: tables for programs and spreadsheets, a page for people and paper.
#pragma once

#include <string>
#include <string_view>

#include "domain/report/report.h"

namespace hostler::report {

enum class Section { usage, waste, bottlenecks };
BOOST_DESCRIBE_ENUM(Section, usage, waste, bottlenecks)

// A line for each of the section's, the labels first (RFC 4180). A text that a spreadsheet would take for a
// formula has a ' before it.
std::string csv(const Report& report, Section section);

// One HTML document with its style and pictures in it: no script, nothing from elsewhere. Sections without a
// line are left out.
std::string page(const Report& report, std::string_view title);

// A few sentences, for a letter.
std::string summary(const Report& report);

// "GPU busy 12 %, host's CPUs busy 93 %"
std::string text_of(const std::vector<Evidence>& evidence);

// "12.50 USD"; several with commas; empty: no price held.
std::string text_of(const std::vector<Cost>& costs);

// "acme / notebook-1"; "nobody" where nothing is named.
std::string name_of(const Labels& labels);

}  // namespace hostler::report
