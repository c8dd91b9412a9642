// Answers of `hostler report`, for people, as CSV and as a page.
#pragma once

#include "api/operation.h"
#include "api/schema.h"
#include "api/types_report.h"
#include "cli/text.h"

namespace hostler::cli {

// Whether its answer is a report.
bool is_report(const api::Operation& operation);

std::string report_table(const report::Report& report);

// Errors: internal (it is no such answer).
Result<std::string> render_report(const api::Operation& operation, const json::value& answer,
                                  const Style& style);

}  // namespace hostler::cli
