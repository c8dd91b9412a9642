#include "adapters/series/mirror.h"

#include <algorithm>

#include "adapters/series/record.h"

namespace hostler::series {

namespace {

constexpr std::uint64_t version = 1;
constexpr std::size_t piece_cells =
    1 << 20;  // Blocks of what never changes are small, and what they hold is not.

void add_place(std::string& to, const Place& place) {
    add_varint(to, place.log);
    add_varint(to, place.at);
    add_varint(to, place.device);
}
Place take_place(Reader& from) {
    Place place;
    place.log = from.varint();
    place.at = from.varint();
    place.device = from.varint();
    return place;
}

// Whole records from `at` on: at least one, if there is one.
Result<std::string> records(const Offer::Log& log, std::uint64_t at, std::size_t bytes) {
    std::string read;
    const auto fill = [&](std::uint64_t size) -> Result<> {
        if (size > read.size()) read += TRY(log.file->read(at + read.size(), size - read.size()));
        return {};
    };
    const std::uint64_t left = log.size - at;
    TRY(fill(std::min<std::uint64_t>(bytes, left)));
    std::uint64_t end = 0;
    while (end < bytes && left - end >= record_head) {
        if (end > 0 && read.size() < end + record_head) break;
        TRY(fill(end + record_head));
        const std::uint64_t size =
            record_head + fixed_at<std::uint32_t>(std::string_view(read).substr(end, record_head));
        if (size > left - end || (end > 0 && end + size > bytes)) break;
        TRY(fill(end + size));
        if (!whole_record(std::string_view(read).substr(end, size))) break;
        end += size;
    }
    read.resize(end);
    return read;
}

// Devices from `made.from.device` on.
Result<> add_devices(Answer& made, const Segment& segment, QueryReader& indexes, std::size_t bytes) {
    const auto index = TRY(indexes.index_of(segment));
    auto next = made.from.device;
    std::size_t cells = 0;
    for (; next < index->devices.size() && made.body.size() < bytes && cells < piece_cells; ++next) {
        const auto& device = index->devices[next];
        const auto& columns = index->schemas[device.schema];
        add_told(made.body, index->texts[device.id], columns, index->eras_of(device));
        add_signed(made.body, device.blocks.empty() ? segment.facts.last : device.blocks.back().last);
        add_varint(made.body, device.blocks.size());
        for (const auto& place : device.blocks) add_text(made.body, TRY(segment.block(place)));
        cells += device.blocks.size() * block_rows_max * columns.size();
    }
    made.next = made.from;
    made.next.device = next;
    if (next < index->devices.size()) return {};
    made.next = {.log = segment.facts.covers_log + 1};
    made.reached = segment.facts.last;
    return {};
}

// The first segment that has rows of log `log` or of later ones.
SegmentPtr segment_from(const Offer& offer, std::uint64_t log) {
    SegmentPtr found;
    for (const auto& segment : offer.segments)
        if (segment->facts.covers_log >= log &&
            (!found || segment->facts.covers_log < found->facts.covers_log))
            found = segment;
    return found;
}

}  // namespace

std::string encode(const Question& question) {
    std::string to;
    add_varint(to, version);
    add_text(to, question.store);
    add_place(to, question.place);
    add_varint(to, question.log_anew ? 1 : 0);
    add_signed(to, question.since);
    add_signed(to, question.until);
    return to;
}

Result<Question> read_question(std::string_view bytes) {
    Reader reader{bytes};
    if (reader.varint() != version) return fail(Code::invalid, "a question about series of another version");
    Question question;
    question.store = reader.text();
    question.place = take_place(reader);
    question.log_anew = reader.varint() != 0;
    question.since = reader.signed_varint();
    question.until = reader.signed_varint();
    if (!reader.ok() || !reader.done()) return fail(Code::invalid, "this is no question about series");
    return question;
}

std::string encode(const Answer& answer) {
    std::string to;
    add_varint(to, version);
    add_text(to, answer.store);
    add_place(to, answer.from);
    add_place(to, answer.next);
    add_varint(to, static_cast<std::uint64_t>(answer.of));
    add_varint(to, answer.all ? 1 : 0);
    add_varint(to, answer.skipped);
    add_signed(to, answer.reached);
    add_text(to, answer.body);
    return to;
}

Result<Answer> read_answer(std::string_view bytes) {
    Reader reader{bytes};
    if (reader.varint() != version) return fail(Code::invalid, "an answer about series of another version");
    Answer answer;
    answer.store = reader.text();
    answer.from = take_place(reader);
    answer.next = take_place(reader);
    const auto of = reader.varint();
    answer.of = static_cast<Answer::Of>(of);
    answer.all = reader.varint() != 0;
    answer.skipped = reader.varint();
    answer.reached = reader.signed_varint();
    answer.body = reader.text();
    if (!reader.ok() || !reader.done() || answer.store.empty() ||
        of > static_cast<unsigned>(Answer::Of::segment))
        return fail(Code::invalid, "this is no answer about series");
    return answer;
}

Result<Answer> answer(const Question& question, const Offer& offer, QueryReader& indexes, std::size_t bytes) {
    Answer made;
    made.store = offer.store;
    const bool known = question.store == offer.store && question.place.log <= offer.next_log;
    Place at = known ? question.place : Place{};
    while (true) {
        const auto log = std::ranges::find(offer.logs, at.log, &Offer::Log::number);
        if (log != offer.logs.end()) {
            const bool anew = question.log_anew || at.at > log->size;
            made.from = {.log = at.log, .at = anew ? 0 : at.at};
            made.body = TRY(records(*log, made.from.at, bytes));
            made.next = {.log = at.log, .at = made.from.at + made.body.size()};
            const bool last = log + 1 == offer.logs.end();
            if (made.body.empty() && !last) {
                at = {.log = at.log + 1};
                continue;
            }
            made.of = made.body.empty() ? Answer::Of::nothing : Answer::Of::log;
            made.all = last && (made.body.empty() || made.next.at >= log->size);
            return made;
        }
        if (const auto segment = segment_from(offer, at.log)) {
            const bool begun = at.at > 0 || at.device > 0;
            const bool wanted = begun || segment->facts.last >= question.since ||
                                (known && segment->facts.first <= question.until);
            if (!wanted || segment->facts.level != Level::raw) {
                if (wanted) ++made.skipped;
                at = {.log = segment->facts.covers_log + 1};
                continue;
            }
            made.of = Answer::Of::segment;
            made.from = {.log = at.log, .at = 0, .device = at.device};
            TRY(add_devices(made, *segment, indexes, bytes));
            return made;
        }
        const auto later =
            std::ranges::find_if(offer.logs, [&at](const Offer::Log& l) { return l.number > at.log; });
        if (later != offer.logs.end()) {
            at = {.log = later->number};
            continue;
        }
        made.from = made.next = at;
        made.all = true;
        return made;
    }
}

}  // namespace hostler::series
