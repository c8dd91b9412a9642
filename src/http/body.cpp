#include "http/body.h"

namespace hostler::http {

namespace {

constexpr unsigned char size_digits_max = 15;  // Hexadecimal: no overflow of 64 bits.
constexpr std::uint16_t extras_max = 16 * 1024;
constexpr BadHead bad_chunk{400, "the chunked body is malformed"};

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

void BodyWalker::reset(Framing framing) {
    left_ = framing.length;
    digits_ = 0;
    extras_ = 0;
    content_size_ = 0;
    switch (framing.kind) {
        case Framing::Kind::none: state_ = State::done; break;
        case Framing::Kind::length: state_ = left_ == 0 ? State::done : State::length; break;
        case Framing::Kind::chunked: state_ = State::size_first; break;
        case Framing::Kind::until_close: state_ = State::until_close; break;
    }
}

// One byte of a chunk's lines or of the trailer; false: malformed.
bool BodyWalker::line_byte(char c) {
    switch (state_) {
        case State::size_first:
        case State::size: {
            if (const int digit = hex_value(c); digit >= 0) {
                if (++digits_ > size_digits_max) return false;
                left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
                state_ = State::size;
                return true;
            }
            if (state_ == State::size_first || (c != '\r' && c != ';')) return false;
            state_ = c == '\r' ? State::size_lf : State::extension;
            return true;
        }
        case State::extension:
            if (c == '\r') return state_ = State::size_lf, true;
            if (c == '"') state_ = State::quoted;
            return ++extras_ <= extras_max && is_field_value({&c, 1});
        case State::quoted:  // Another parser may take a line's end in quotes for a part of the value.
            if (c == '"') state_ = State::extension;
            if (c == '\\') state_ = State::quoted_escape;
            return ++extras_ <= extras_max && is_field_value({&c, 1});
        case State::quoted_escape:
            state_ = State::quoted;
            return ++extras_ <= extras_max && is_field_value({&c, 1});
        case State::size_lf:
            digits_ = 0;
            state_ = left_ == 0 ? State::line_first : State::chunk;
            return c == '\n';
        case State::chunk_cr: state_ = State::chunk_lf; return c == '\r';
        case State::chunk_lf: state_ = State::size_first; return c == '\n';
        case State::line_first:
            if (c == '\r') return state_ = State::end_lf, true;
            state_ = State::name;
            return ++extras_ <= extras_max && is_token({&c, 1});
        case State::name:
            if (c == ':') state_ = State::value;
            return ++extras_ <= extras_max && (c == ':' || is_token({&c, 1}));
        case State::value:
            if (c == '\r') return state_ = State::line_lf, true;
            return ++extras_ <= extras_max && is_field_value({&c, 1});
        case State::line_lf: state_ = State::line_first; return c == '\n';
        case State::end_lf: state_ = State::done; return c == '\n';
        case State::done:
        case State::until_close:
        case State::length:
        case State::chunk: break;
    }
    return false;
}

std::expected<BodyWalker::Step, BadHead> BodyWalker::step(std::string_view bytes, std::size_t content_max) {
    Step step;
    while (step.taken < bytes.size() && state_ != State::done) {
        const auto rest = bytes.substr(step.taken);
        if (state_ == State::until_close || state_ == State::length || state_ == State::chunk) {
            auto size = std::min(rest.size(), content_max);
            if (state_ != State::until_close)
                size = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
            step.content = rest.substr(0, size);
            step.taken += size;
            content_size_ += size;
            if (state_ == State::until_close) return step;
            left_ -= size;
            if (left_ == 0) state_ = state_ == State::length ? State::done : State::chunk_cr;
            return step;
        }
        // The trailer begins with the first byte of a name and ends with its last line: the empty line that
        // ends the body is not of it.
        const bool in_trailer = state_ == State::name || state_ == State::value || state_ == State::line_lf ||
                                (state_ == State::line_first && rest.front() != '\r');
        if (step.taken == 0) step.trailer = in_trailer;
        if (in_trailer != step.trailer) return step;
        if (!line_byte(rest.front())) return std::unexpected(bad_chunk);
        ++step.taken;
    }
    return step;
}

std::expected<BodyWalker::Step, BadHead> BodyWalker::walk(std::string_view bytes) {
    Step all;
    while (all.taken < bytes.size() && !done()) {
        const BodyWalker before = *this;
        const auto next = step(bytes.substr(all.taken));
        if (!next) return next;
        if (all.taken > 0 && next->trailer != all.trailer) {
            *this = before;  // Of the other kind: the next call's.
            return all;
        }
        all.trailer = next->trailer;
        all.taken += next->taken;
    }
    return all;
}

}  // namespace hostler::http
