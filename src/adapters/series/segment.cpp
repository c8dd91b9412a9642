#include "adapters/series/segment.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/series/bytes.h"
#include "domain/series/ranges.h"

namespace hostler::series {

namespace {

constexpr std::string_view magic = "hostler series 1\n";
// The last bytes of a segment: size and checksum of the index before them, and the magic's first word.
constexpr std::string_view closing = "hostler\n";
constexpr std::size_t trailer_bytes = 8 + 4 + closing.size();
constexpr std::size_t write_bytes = 1 << 20;

std::uint64_t span_of(Millis from, Millis to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}
Millis later(Millis from, std::uint64_t by) {
    return static_cast<Millis>(static_cast<std::uint64_t>(from) + by);
}

}  // namespace

std::string segment_name(std::uint64_t number) { return fmt::format("segment-{:010}", number); }

std::vector<Era> SegmentIndex::eras_of(const IndexDevice& device) const {
    std::vector<Era> eras;
    for (const auto& from : device.eras) {
        Era era{.from = from.from, .labels = {}};
        for (const auto& [label, value] : from.labels) era.labels[texts[label]] = texts[value];
        eras.push_back(std::move(era));
    }
    return eras;
}

std::string encode_index(const SegmentIndex& index) {
    std::string to;
    const auto& facts = index.facts;
    add_varint(to, static_cast<std::uint64_t>(facts.level));
    add_varint(to, facts.covers_log);
    add_varint(to, facts.replaces.size());
    for (const auto number : facts.replaces) add_varint(to, number);
    add_signed(to, facts.first);
    add_varint(to, span_of(facts.first, facts.last));
    add_varint(to, index.texts.size());
    for (const auto& text : index.texts) add_text(to, text);
    add_varint(to, index.schemas.size());
    for (const auto& columns : index.schemas) {
        add_varint(to, columns.size());
        for (const auto& column : columns) {
            add_text(to, column.name);
            add_varint(to, static_cast<unsigned>(column.kind) | static_cast<unsigned>(column.form) << 1);
        }
    }
    add_varint(to, index.devices.size());
    std::uint64_t end = 0;
    for (const auto& device : index.devices) {
        add_varint(to, device.id);
        add_varint(to, device.schema);
        add_varint(to, device.eras.size());
        for (const auto& era : device.eras) {
            add_signed(to, later(era.from, -static_cast<std::uint64_t>(facts.first)));
            add_varint(to, era.labels.size());
            for (const auto& [label, value] : era.labels) {
                add_varint(to, label);
                add_varint(to, value);
            }
        }
        add_varint(to, device.blocks.size());
        for (const auto& block : device.blocks) {
            add_varint(to, block.at - end);
            add_varint(to, block.size);
            add_varint(to, span_of(facts.first, block.first));
            add_varint(to, span_of(block.first, block.last));
            end = block.at + block.size;
        }
    }
    return to;
}

Result<SegmentIndex> read_index(std::string_view bytes, std::uint64_t blocks_end) {
    SegmentIndex index;
    Reader reader{bytes};
    auto& facts = index.facts;
    const auto level = reader.varint();
    facts.level = static_cast<Level>(level);
    facts.covers_log = reader.varint();
    facts.replaces.resize(reader.count());
    for (auto& number : facts.replaces) number = reader.varint();
    facts.first = reader.signed_varint();
    facts.last = later(facts.first, reader.varint());
    index.texts.resize(reader.count());
    for (auto& text : index.texts) text = reader.text();
    index.schemas.resize(reader.count());
    for (auto& columns : index.schemas) {
        columns.resize(reader.count(2));
        for (auto& column : columns) {
            column.name = reader.text();
            const auto kinds = reader.varint();
            column.kind = kinds & 1 ? Kind::counter : Kind::gauge;
            column.form = kinds & 2 ? Form::real : Form::integer;
        }
    }
    const auto text = [&]() -> SegmentIndex::Text {
        const auto number = reader.varint();
        if (number < index.texts.size()) return static_cast<SegmentIndex::Text>(number);
        reader.fail();
        return 0;
    };
    index.devices.resize(reader.count(4));
    std::uint64_t end = 0;
    for (auto& device : index.devices) {
        device.id = text();
        const auto schema = reader.varint();
        if (schema >= index.schemas.size()) reader.fail();
        device.schema = static_cast<std::uint32_t>(schema);
        device.eras.resize(reader.count(2));
        for (auto& era : device.eras) {
            era.from = later(facts.first, static_cast<std::uint64_t>(reader.signed_varint()));
            era.labels.resize(reader.count(2));
            for (auto& [label, value] : era.labels) {
                label = text();
                value = text();
            }
        }
        device.blocks.resize(reader.count(4));
        for (auto& block : device.blocks) {
            block.at = end + reader.varint();
            block.size = reader.varint();
            block.first = later(facts.first, reader.varint());
            block.last = later(block.first, reader.varint());
            if (block.at < end || block.at > blocks_end || block.size > blocks_end - block.at) reader.fail();
            end = block.at + block.size;
        }
        if (!reader.ok()) break;
    }
    if (!reader.ok() || !reader.done() || level > static_cast<unsigned>(Level::hour))
        return fail(Code::invalid, "the index of a segment is damaged");
    return index;
}

IndexFilter::IndexFilter(const Query& query, const SegmentIndex& index) {
    for (const auto& match : query.where) {
        Test test{.label = std::nullopt,
                  .values = {},
                  .without = contains(match.values, ""),
                  .differs = match.differs};
        for (std::size_t i = 0; i < index.texts.size(); ++i) {
            if (index.texts[i] == match.label) test.label = static_cast<SegmentIndex::Text>(i);
            if (contains(match.values, index.texts[i]))
                test.values.push_back(static_cast<SegmentIndex::Text>(i));
        }
        tests_.push_back(std::move(test));
    }
    for (const auto& columns : index.schemas) {
        const auto found = std::ranges::find(columns, query.metric, &Column::name);
        columns_.push_back(found == columns.end() ? std::nullopt
                                                  : std::optional<std::size_t>(found - columns.begin()));
    }
}

bool IndexFilter::takes(const SegmentIndex::IndexEra& era) const {
    return std::ranges::all_of(tests_, [&era](const Test& test) {
        const auto found = test.label
                               ? std::ranges::find(era.labels, *test.label,
                                                   &std::pair<SegmentIndex::Text, SegmentIndex::Text>::first)
                               : era.labels.end();
        const bool in = found == era.labels.end() ? test.without : contains(test.values, found->second);
        return in != test.differs;
    });
}

bool IndexFilter::takes(const SegmentIndex::IndexDevice& device) const {
    return columns_[device.schema] &&
           std::ranges::any_of(device.eras, [this](const auto& era) { return takes(era); });
}

Result<SegmentIndex> Segment::index() const {
    const auto damaged = [this] {
        return fail(Code::invalid, fmt::format("{} is not a whole segment", segment_name(number)));
    };
    const auto size = file->size();
    if (size < magic.size() + trailer_bytes) return damaged();
    const auto trailer = TRY(file->read(size - trailer_bytes, trailer_bytes));
    const auto index_bytes = fixed_at<std::uint64_t>(trailer);
    const auto room = size - trailer_bytes - magic.size();
    if (std::string_view(trailer).substr(12) != closing || index_bytes > room) return damaged();
    const auto blocks_end = size - trailer_bytes - index_bytes;
    const auto bytes = TRY(file->read(blocks_end, index_bytes));
    if (checksum(bytes) != fixed_at<std::uint32_t>(std::string_view(trailer).substr(8))) return damaged();
    return read_index(bytes, blocks_end);
}

Result<SegmentPtr> open_segment(Folder& folder, std::uint64_t number) {
    auto segment = std::make_shared<Segment>();
    segment->number = number;
    segment->file = TRY(folder.open(segment_name(number)));
    segment->facts = TRY(segment->index()).facts;
    return segment;
}

Result<> SegmentWriter::begin() {
    TRY(folder_.create(segment_name(number_) + ".new"));
    waiting_ = magic;
    return {};
}

SegmentIndex::Text SegmentWriter::text(const std::string& text) {
    const auto [at, fresh] = texts_.try_emplace(text, static_cast<SegmentIndex::Text>(index_.texts.size()));
    if (fresh) index_.texts.push_back(text);
    return at->second;
}

Result<> SegmentWriter::add(const std::string& id, const std::vector<Column>& columns,
                            std::span<const Form> forms, std::span<const Era> eras, const Rows& rows) {
    if (rows.times.empty()) return {};
    const auto [schema, fresh] =
        schemas_.try_emplace(columns, static_cast<std::uint32_t>(index_.schemas.size()));
    if (fresh) index_.schemas.push_back(columns);
    SegmentIndex::IndexDevice device{.id = text(id), .schema = schema->second, .eras = {}, .blocks = {}};
    for (std::size_t i = 0; i < eras.size(); ++i) {
        const bool over = i + 1 < eras.size() && eras[i + 1].from <= rows.times.front();
        if (over || (i > 0 && eras[i].from > rows.times.back())) continue;
        SegmentIndex::IndexEra era{.from = eras[i].from, .labels = {}};
        for (const auto& [label, value] : eras[i].labels) era.labels.emplace_back(text(label), text(value));
        device.eras.push_back(std::move(era));
    }
    // Blocks of about the same size.
    const auto count = rows.times.size();
    const auto pieces = (count + block_rows_max - 1) / block_rows_max;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const auto from = static_cast<std::ptrdiff_t>(count * piece / pieces);
        const auto to = static_cast<std::ptrdiff_t>(count * (piece + 1) / pieces);
        const auto part_of = [from, to](const auto& all) {
            return std::vector(all.begin() + from, all.begin() + to);
        };
        Rows part{.times = part_of(rows.times), .columns = {}};
        for (const auto& column : rows.columns) part.columns.push_back(part_of(column));
        const auto block = encode_block(part, forms);
        device.blocks.push_back(
            {written_ + waiting_.size(), block.size(), part.times.front(), part.times.back()});
        waiting_ += block;
    }
    index_.devices.push_back(std::move(device));
    return write(false);
}

Result<> SegmentWriter::write(bool all) {
    if (waiting_.size() < write_bytes && !all) return {};
    TRY(folder_.append(segment_name(number_) + ".new", waiting_));
    written_ += waiting_.size();
    waiting_.clear();
    return {};
}

Result<SegmentPtr> SegmentWriter::finish(SegmentFacts facts) {
    bool any = false;
    for (const auto& device : index_.devices) {
        facts.first = any ? std::min(facts.first, device.blocks.front().first) : device.blocks.front().first;
        facts.last = any ? std::max(facts.last, device.blocks.back().last) : device.blocks.back().last;
        any = true;
    }
    index_.facts = std::move(facts);
    const auto index = encode_index(index_);
    waiting_ += index;
    add_fixed(waiting_, std::uint64_t{index.size()});
    add_fixed(waiting_, checksum(index));
    waiting_ += closing;
    const auto name = segment_name(number_);
    TRY(write(true));
    TRY(folder_.sync(name + ".new"));
    TRY(folder_.rename(name + ".new", name));
    return open_segment(folder_, number_);
}

void SegmentWriter::give_up() {
    // It may have its name by now, and nobody knows whether it is there to stay.
    for (const auto* end : {".new", ""}) (void)folder_.remove(segment_name(number_) + end);
}

}  // namespace hostler::series
