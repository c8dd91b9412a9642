// A file of blocks and an index of them; written once, read in place.
#pragma once

#include <map>
#include <optional>

#include "adapters/series/block.h"
#include "adapters/series/folder.h"
#include "domain/series/query.h"

namespace hostler::series {

enum class Level : std::uint8_t { raw, minute, hour };

struct BlockPlace {
    std::uint64_t at = 0;
    std::uint64_t size = 0;
    Millis first = 0;
    Millis last = 0;
};

struct SegmentFacts {
    Level level = Level::raw;
    std::uint64_t covers_log = 0;         // All of the logs up to this one is in segments.
    std::vector<std::uint64_t> replaces;  // Segments of which this is all that is left.
    Millis first = 0;
    Millis last = 0;
};

// The index, with each text kept once.
struct SegmentIndex {
    using Text = std::uint32_t;  // Place in `texts`.
    struct IndexEra {
        Millis from = 0;
        std::vector<std::pair<Text, Text>> labels;
    };
    struct IndexDevice {
        Text id = 0;
        std::uint32_t schema = 0;
        std::vector<IndexEra> eras;
        std::vector<BlockPlace> blocks;
    };
    SegmentFacts facts;
    std::vector<std::string> texts;
    std::vector<std::vector<Column>> schemas;
    std::vector<IndexDevice> devices;

    std::vector<Era> eras_of(const IndexDevice& device) const;
};

std::string encode_index(const SegmentIndex& index);
// Whatever the bytes are. Errors: invalid.
Result<SegmentIndex> read_index(std::string_view bytes, std::uint64_t blocks_end);

// Which devices of one index a query is about.
class IndexFilter {
public:
    IndexFilter(const Query& query, const SegmentIndex& index);
    bool takes(const SegmentIndex::IndexDevice& device) const;  // At some time.
    const std::vector<std::optional<std::size_t>>& columns() const { return columns_; }

private:
    bool takes(const SegmentIndex::IndexEra& era) const;
    struct Test {
        std::optional<SegmentIndex::Text> label;
        std::vector<SegmentIndex::Text> values;  // Sorted.
        bool without = false;                    // Takes an era that lacks the label.
        bool differs = false;
    };
    std::vector<Test> tests_;
    std::vector<std::optional<std::size_t>> columns_;  // Of each schema: where the metric is.
};

struct Segment {
    std::uint64_t number = 0;
    SegmentFacts facts;
    std::shared_ptr<const ReadFile> file;

    Result<SegmentIndex> index() const;
    Result<std::string> block(const BlockPlace& place) const { return file->read(place.at, place.size); }
};
using SegmentPtr = std::shared_ptr<const Segment>;

std::string segment_name(std::uint64_t number);
// Reads its index. Errors: invalid (not whole), unavailable.
Result<SegmentPtr> open_segment(Folder& folder, std::uint64_t number);

// Writes one: a file of another name that gets its own when all of it is on the disk.
class SegmentWriter {
public:
    SegmentWriter(Folder& folder, std::uint64_t number) : folder_(folder), number_(number) {}
    Result<> begin();
    // Of rows in order, each time once; `forms` of the columns that the rows have. An empty device is left
    // out.
    Result<> add(const std::string& id, const std::vector<Column>& columns, std::span<const Form> forms,
                 std::span<const Era> eras, const Rows& rows);
    Result<SegmentPtr> finish(SegmentFacts facts);
    void give_up();
    bool empty() const { return index_.devices.empty(); }
    std::uint64_t written() const { return written_; }

private:
    SegmentIndex::Text text(const std::string& text);
    Result<> write(bool all);
    Folder& folder_;
    std::uint64_t number_;
    std::uint64_t written_ = 0;
    std::string waiting_;
    SegmentIndex index_;
    std::map<std::string, SegmentIndex::Text> texts_;
    std::map<std::vector<Column>, std::uint32_t> schemas_;
};

}  // namespace hostler::series
