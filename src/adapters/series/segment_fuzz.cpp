// A segment's index, a block and a column from whatever lies on the disk. Nothing may crash, or take memory
// without end.
#include "adapters/series/bytes.h"
#include "adapters/series/segment.h"

namespace {

using namespace hostler::series;

void whole_segment(std::string_view bytes) {
    class Bytes final : public ReadFile {
    public:
        explicit Bytes(std::string_view of) : of_(of) {}
        std::uint64_t size() const override { return of_.size(); }
        hostler::Result<std::string> read(std::uint64_t at, std::size_t size) const override {
            if (at > of_.size() || size > of_.size() - at)
                return hostler::fail(hostler::Code::unavailable, "short");
            return std::string(of_.substr(at, size));
        }

    private:
        std::string_view of_;
    };
    const Segment segment{.number = 1, .facts = {}, .file = std::make_shared<const Bytes>(bytes)};
    (void)segment.index();
}

void index(std::string_view bytes) {
    const auto index = read_index(bytes, 1 << 20);
    if (!index) return;
    // What is read is written the same, and read again.
    HOSTLER_ASSERT(read_index(encode_index(*index), 1 << 20));
    const IndexFilter filter{{.metric = "m", .where = {{.label = "zone", .values = {"z"}}}}, *index};
    for (const auto& device : index->devices) {
        (void)filter.takes(device);
        (void)index->eras_of(device);
    }
}

// With the right checksum, so that what is behind it is tried.
void block(std::string_view bytes) {
    std::string whole{bytes};
    add_fixed(whole, checksum(bytes));
    const std::size_t columns[] = {0, 1};
    (void)read_block(whole, columns);
}

void column(std::string_view bytes) {
    const auto cells = read_column(bytes, 200);
    if (!cells) return;
    for (const auto form : {Form::integer, Form::real}) {
        std::string again;
        add_column(again, *cells, form);
        HOSTLER_ASSERT(read_column(again, 200) == cells);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(bytes), size};
    if (input.empty()) return 0;
    const auto rest = input.substr(1);
    const int target = static_cast<unsigned char>(input[0]) % 4;
    if (target == 0) whole_segment(rest);
    if (target == 1) index(rest);
    if (target == 2) block(rest);
    if (target == 3) column(rest);
    return 0;
}
