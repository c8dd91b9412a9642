#include "adapters/series/block.h"

#include "adapters/series/bytes.h"

namespace hostler::series {

std::string encode_block(const Rows& rows, std::span<const Form> forms) {
    HOSTLER_ASSERT(!rows.times.empty() && rows.times.size() <= block_rows_max);
    std::string body;
    std::string sizes;
    const auto add = [&](std::span<const Cell> cells, Form form) {
        const auto before = body.size();
        add_column(body, cells, form);
        add_varint(sizes, body.size() - before);
    };
    add(rows.times, Form::integer);
    for (std::size_t i = 0; i < forms.size(); ++i) add(rows.columns[i], forms[i]);
    std::string block;
    add_varint(block, rows.times.size());
    add_varint(block, forms.size());
    block += sizes;
    block += body;
    add_fixed(block, checksum(block));
    return block;
}

Result<Rows> read_block(std::string_view block, std::span<const std::size_t> columns) {
    const auto damaged = [] { return fail(Code::invalid, "a block is damaged"); };
    if (block.size() < 4) return damaged();
    const auto content = block.substr(0, block.size() - 4);
    if (checksum(content) != fixed_at<std::uint32_t>(block.substr(content.size()))) return damaged();
    Reader reader{content};
    const auto count = reader.varint();
    const auto width = reader.count();
    if (count == 0 || count > block_rows_max) return damaged();
    std::vector<std::uint64_t> sizes(width + 1);
    for (auto& size : sizes) size = reader.varint();
    std::vector<std::string_view> bodies;
    for (const auto size : sizes) bodies.push_back(reader.take(size));
    if (!reader.ok()) return damaged();
    Rows rows{.times = TRY(read_column(bodies[0], count)), .columns = {}};
    for (const auto column : columns) {
        if (column >= width) return damaged();
        rows.columns.push_back(TRY(read_column(bodies[column + 1], count)));
    }
    return rows;
}

}  // namespace hostler::series
