// Records of logs, and devices as logs and answers tell them.
#pragma once

#include "adapters/series/bytes.h"
#include "domain/series/sample.h"

namespace hostler::series {

// Size (4 bytes), checksum (4), payload. A payload is devices (0, their number, as told) and rows (number +
// 1, row), in any order.
constexpr std::size_t record_head = 8;
bool whole_record(std::string_view record);

struct Told {
    std::string id;
    std::vector<Column> columns;
    std::vector<Era> eras;
};

void add_told(std::string& to, const std::string& id, const std::vector<Column>& columns,
              const std::vector<Era>& eras);
Told take_told(Reader& from);  // What is not there is empty, and `from` not ok.

}  // namespace hostler::series
