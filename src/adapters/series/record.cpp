#include "adapters/series/record.h"

namespace hostler::series {

bool whole_record(std::string_view record) {
    return record.size() >= record_head && record.size() - record_head == fixed_at<std::uint32_t>(record) &&
           checksum(record.substr(record_head)) == fixed_at<std::uint32_t>(record.substr(4));
}

void add_told(std::string& to, const std::string& id, const std::vector<Column>& columns,
              const std::vector<Era>& eras) {
    add_text(to, id);
    add_varint(to, columns.size());
    for (const auto& column : columns) {
        add_text(to, column.name);
        add_varint(to, static_cast<unsigned>(column.kind) | static_cast<unsigned>(column.form) << 1);
    }
    add_varint(to, eras.size());
    for (const auto& era : eras) {
        add_signed(to, era.from);
        add_varint(to, era.labels.size());
        for (const auto& [label, value] : era.labels) {
            add_text(to, label);
            add_text(to, value);
        }
    }
}

Told take_told(Reader& from) {
    Told told{.id = std::string{from.text()}, .columns = {}, .eras = {}};
    told.columns.resize(from.count(2));
    for (auto& column : told.columns) {
        column.name = from.text();
        const auto kinds = from.varint();
        column.kind = kinds & 1 ? Kind::counter : Kind::gauge;
        column.form = kinds & 2 ? Form::real : Form::integer;
    }
    told.eras.resize(from.count(2));
    for (auto& era : told.eras) {
        era.from = from.signed_varint();
        const auto count = from.count(2);
        for (std::size_t i = 0; i < count; ++i) {
            const auto label = from.text();
            era.labels[std::string(label)] = from.text();
        }
    }
    return told;
}

}  // namespace hostler::series
