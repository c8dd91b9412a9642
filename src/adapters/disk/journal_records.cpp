#include "adapters/disk/journal_records.h"

#include <algorithm>
#include <boost/crc.hpp>

namespace hostler::disk {

namespace {

constexpr std::size_t head_bytes = 8;  // Length and checksum.
constexpr std::size_t body_min = 5;    // Kind and the key's length.

template <class Number>
void add_number(std::string& to, Number number) {
    for (std::size_t i = 0; i < sizeof number; ++i) to += static_cast<char>(number >> (8 * i));
}

template <class Number = std::uint32_t>
Number number_at(std::string_view bytes) {
    Number number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i)
        number |= Number{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    return number;
}

std::uint32_t checksum(std::string_view bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

void add_body(std::string& to, std::string_view body) {
    add_number(to, static_cast<std::uint32_t>(body.size()));
    add_number(to, checksum(body));
    to.append(body);
}

struct Record {
    char kind = 0;
    std::string_view key, value;
    std::size_t bytes = 0;
};

// nullopt: what begins there is not whole, or not right.
std::optional<Record> record_at(std::string_view bytes) {
    if (bytes.size() < head_bytes) return std::nullopt;
    const auto size = number_at(bytes);
    if (size < body_min || bytes.size() - head_bytes < size) return std::nullopt;
    const auto body = bytes.substr(head_bytes, size);
    if (checksum(body) != number_at(bytes.substr(4))) return std::nullopt;
    const auto key_size = number_at(body.substr(1));
    if (key_size > body.size() - body_min) return std::nullopt;
    return Record{.kind = body[0],
                  .key = body.substr(body_min, key_size),
                  .value = body.substr(body_min + key_size),
                  .bytes = head_bytes + size};
}

// Reads forward, and finds its way again behind what is damaged.
class Reader {
public:
    explicit Reader(std::string_view file) : file_(file), at_(journal_magic.size()) {}

    JournalContent read() {
        while (at_ < file_.size()) {
            if (const auto record = record_at(file_.substr(at_)); record && take(*record)) continue;
            const std::size_t next = next_mark();
            parts_.push_back({.begin = at_, .end = next, .damaged = true});
            at_ = next;
        }
        return result();
    }

private:
    struct Part {
        std::size_t begin = 0, end = 0;
        bool damaged = false;
        Record record{};
    };

    std::optional<JournalMark> mark_of(const Record& record, std::size_t at) const {
        if (record.kind != 's' || record.key.size() != 24) return std::nullopt;
        const JournalMark mark{.place = number_at<std::uint64_t>(record.key),
                               .durable = number_at<std::uint64_t>(record.key.substr(8)),
                               .salt = number_at<std::uint64_t>(record.key.substr(16))};
        const bool ours = mark.place == at && mark.durable <= at && (!salt_ || mark.salt == *salt_);
        return ours ? std::optional{mark} : std::nullopt;
    }

    bool take(const Record& record) {
        if (record.kind == 's') {
            const auto mark = mark_of(record, at_);
            if (!mark) return false;
            salt_ = mark->salt;
            durable_ = std::max<std::size_t>(durable_, mark->durable);
        }
        parts_.push_back({.begin = at_, .end = at_ + record.bytes, .record = record});
        at_ += record.bytes;
        return true;
    }

    std::size_t next_mark() const {
        for (std::size_t at = at_ + 1; at + journal_mark_bytes <= file_.size(); ++at) {
            if (file_[at + head_bytes] != 's') continue;
            const auto record = record_at(file_.substr(at, journal_mark_bytes));
            if (record && mark_of(*record, at)) return at;
        }
        return file_.size();
    }

    JournalContent result() const {
        JournalContent content{.size = journal_magic.size(), .salt = salt_};
        for (const Part& part : parts_) {
            if (part.damaged && part.begin >= durable_) break;  // It was being written.
            content.size = part.end;
            content.marked = !part.damaged && part.record.kind == 's';
            content.damaged_places += part.damaged ? 1 : 0;
            content.damaged_bytes += part.damaged ? part.end - part.begin : 0;
            if (part.damaged || content.marked) continue;
            if (part.record.kind == 'p')
                content.entries.insert_or_assign(std::string(part.record.key),
                                                 std::string(part.record.value));
            else
                content.entries.erase(std::string(part.record.key));
        }
        return content;
    }

    std::string_view file_;
    std::size_t at_;
    std::size_t durable_ = 0;
    std::optional<std::uint64_t> salt_;
    std::vector<Part> parts_;
};

}  // namespace

void add_record(std::string& to, std::string_view key, const std::string* value) {
    std::string body{value ? 'p' : 'e'};
    add_number(body, static_cast<std::uint32_t>(key.size()));
    body.append(key);
    if (value) body.append(*value);
    add_body(to, body);
}

void add_mark(std::string& to, const JournalMark& mark) {
    std::string body{'s'};
    add_number(body, std::uint32_t{24});
    add_number(body, mark.place);
    add_number(body, mark.durable);
    add_number(body, mark.salt);
    add_body(to, body);
}

JournalContent read_journal(std::string_view file) { return Reader{file}.read(); }

}  // namespace hostler::disk
