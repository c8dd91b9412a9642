#include "sql/dump.h"

#include <fmt/format.h>

#include "sql/rows.h"

namespace hostler::sql {

namespace {

// The first line; then frames: a letter, 4 bytes of length, so many bytes, and the SHA-256 (64 hex digits) of
// the digest before it, the letter and the bytes. H: the head. For each table T (its form), R (rows), S (how
// many, and their digest). E: how many tables.
constexpr std::string_view magic = "HOSTLER BACKUP 1\n";
constexpr std::size_t length_bytes = 4;
constexpr std::size_t digest_bytes = 64;
constexpr std::size_t frame_max = std::size_t{1} << 30;

std::unexpected<Error> damaged(std::string_view why) {
    return fail(Code::invalid, fmt::format("the backup cannot be used: {}", why), "backup_damaged");
}

template <class T>
Result<T> whole(Result<T> part) {
    if (!part && part.error().code == Code::invalid) return damaged(part.error().message);
    return part;
}

std::string text_of(const BackupHead& head) {
    std::string text;
    const auto number = [&](std::string_view name, std::uint64_t value) {
        put_text(text, name);
        put_text(text, fmt::format("{}", value));
    };
    number("taken_at", static_cast<std::uint64_t>(head.taken_at));
    number("schema", head.schema);
    number("epoch", head.epoch);
    number("number", head.number);
    put_text(text, "release");
    put_text(text, head.release);
    return text;
}

// What it does not know of is passed over.
Result<BackupHead> head_of(std::string_view text) {
    BackupHead head;
    while (!text.empty()) {
        const auto name = TRY(take_text(text));
        const std::string value{TRY(take_text(text))};
        const auto number = [&] { return std::strtoull(value.c_str(), nullptr, 10); };
        if (name == "taken_at") head.taken_at = static_cast<std::int64_t>(number());
        if (name == "schema") head.schema = number();
        if (name == "epoch") head.epoch = number();
        if (name == "number") head.number = number();
        if (name == "release") head.release = value;
    }
    return head;
}

std::string text_of(const Form& form) {
    std::string text;
    put_text(text, form.table);
    put_number(text, form.columns.size());
    for (const Form::Column& column : form.columns) {
        put_text(text, column.name);
        put_number(text, column.is_number ? 1 : 0);
    }
    put_number(text, form.key.size());
    for (const std::size_t at : form.key) put_number(text, at);
    return text;
}

Result<Form> form_of(std::string_view text) {
    Form form;
    form.table = TRY(take_text(text));
    for (std::uint64_t left = TRY(take_number(text)); left > 0; --left) {
        Form::Column column;
        column.name = TRY(take_text(text));
        column.is_number = TRY(take_number(text)) != 0;
        form.columns.push_back(std::move(column));
    }
    for (std::uint64_t left = TRY(take_number(text)); left > 0; --left) {
        form.key.push_back(TRY(take_number(text)));
        if (form.key.back() >= form.columns.size()) return fail(Code::invalid, "a key is no column");
    }
    return form;
}

}  // namespace

std::string BackupWriter::frame(char kind, std::string_view payload) {
    std::string text(1, kind);
    put_text(text, payload);
    chain_ = digest_.sha256(chain_ + kind + std::string{payload});
    return text + chain_;
}

Result<std::string> BackupWriter::begin() {
    Rows rows{connection_};
    head_.schema = TRY(rows.meta("schema"));
    head_.epoch = TRY(rows.meta("epoch"));
    head_.number = TRY(rows.meta("number"));
    forms_ = TRY(connection_.forms());
    at_ = At::tables;
    return std::string{magic} + frame('H', text_of(head_));
}

Result<std::string> BackupWriter::next() {
    if (at_ == At::begin) return begin();
    if (at_ == At::over) return std::string{};
    if (table_ == forms_.size()) {
        at_ = At::over;
        std::string payload;
        put_number(payload, forms_.size());
        return frame('E', payload);
    }
    const Form& form = forms_[table_];
    if (!reader_) {
        reader_.emplace(connection_, form);
        sum_ = {.table = form.table};
        return frame('T', text_of(form));
    }
    const Piece piece = TRY(reader_->next());
    std::string payload;
    if (piece.rows > 0) {
        sum_.add(piece, digest_);
        put_number(payload, piece.rows);
        return frame('R', payload + piece.bytes);
    }
    put_number(payload, sum_.rows);
    put_text(payload, sum_.digest);
    reader_.reset();
    ++table_;
    return frame('S', payload);
}

Result<std::string> BackupReader::take(std::size_t size) {
    while (ahead_.size() < size) {
        const std::string more = TRY(bytes_());
        if (more.empty()) return damaged("it ends too early");
        ahead_ += more;
    }
    std::string taken = ahead_.substr(0, size);
    ahead_.erase(0, size);
    return taken;
}

Result<BackupReader::Frame> BackupReader::frame() {
    const std::string head = TRY(take(1 + length_bytes));
    std::size_t size = 0;
    for (std::size_t i = 1; i <= length_bytes; ++i) size = size << 8 | static_cast<unsigned char>(head[i]);
    if (size > frame_max) return damaged("it was changed after it was written");
    Frame made{head[0], TRY(take(size))};
    chain_ = digest_.sha256(chain_ + made.kind + made.payload);
    if (TRY(take(digest_bytes)) != chain_) return damaged("it was changed after it was written");
    return made;
}

Result<BackupHead> BackupReader::head() {
    const auto first = take(magic.size());
    if (!first && first.error().code != Code::invalid) return std::unexpected(first.error());
    if (!first || *first != magic) return damaged("it is none, or of a newer release");
    const Frame made = TRY(frame());
    if (made.kind != 'H') return damaged("it has no head");
    return whole(head_of(made.payload));
}

Result<std::optional<Form>> BackupReader::table() {
    const Frame made = TRY(frame());
    if (made.kind == 'T') {
        Form form = TRY(whole(form_of(made.payload)));
        sum_ = {.table = form.table};
        ++tables_;
        return form;
    }
    std::string_view payload = made.payload;
    if (made.kind != 'E' || TRY(whole(take_number(payload))) != tables_) return damaged("a table is missing");
    if (!ahead_.empty() || !TRY(bytes_()).empty()) return damaged("something follows its end");
    return std::nullopt;
}

Result<Piece> BackupReader::piece() {
    const Frame made = TRY(frame());
    std::string_view payload = made.payload;
    if (made.kind == 'R') {
        const std::uint64_t rows = TRY(whole(take_number(payload)));
        Piece piece{rows, std::string{payload}};
        sum_.add(piece, digest_);
        return piece;
    }
    if (made.kind != 'S' || TRY(whole(take_number(payload))) != sum_.rows ||
        TRY(whole(take_text(payload))) != sum_.digest)
        return damaged(fmt::format("rows of the table {} are missing", sum_.table));
    return Piece{};
}

Result<BackupHead> verify(BackupReader backup) {
    BackupHead head = TRY(backup.head());
    while (TRY(backup.table()))
        while (TRY(backup.piece()).rows > 0) {
        }
    return head;
}

}  // namespace hostler::sql
