// Where a body ends, and which of its bytes are content.
#pragma once

#include "http/head.h"

namespace hostler::http {

// Follows a body through bytes that come in any pieces. Strict where llhttp is not: a chunk's size is
// hexadecimal digits and nothing else, lines end in CRLF, extensions and trailers are bounded and free of
// control characters.
class BodyWalker {
public:
    explicit BodyWalker(Framing framing = {}) { reset(framing); }
    void reset(Framing framing);

    struct Step {
        std::size_t taken = 0;     // Of the bytes given; 0 only when there were none or the body is over.
        std::string_view content;  // Among those, at most one run of content.
        bool trailer = false;      // They are trailer lines: a proxy leaves them out.
    };
    // The next run of one kind, of at most `content_max` bytes of content.
    std::expected<Step, BadHead> step(std::string_view bytes, std::size_t content_max = SIZE_MAX);

    // As step(), but goes on through content and chunk lines: `taken` bytes are to be forwarded as they are,
    // or (trailer) left out.
    std::expected<Step, BadHead> walk(std::string_view bytes);

    bool done() const { return state_ == State::done; }
    // The stream has ended. Only a body that ends so, or one that is over, is whole.
    bool end() {
        if (state_ == State::until_close) state_ = State::done;
        return done();
    }
    std::uint64_t content_size() const { return content_size_; }  // So far.

private:
    enum class State : unsigned char {
        done,
        until_close,
        length,
        size_first,
        size,
        extension,
        quoted,         // In an extension's value.
        quoted_escape,  // After a backslash there.
        size_lf,
        chunk,
        chunk_cr,
        chunk_lf,
        line_first,
        name,
        value,
        line_lf,
        end_lf
    };
    bool line_byte(char c);

    State state_ = State::done;
    unsigned char digits_ = 0;
    std::uint16_t extras_ = 0;  // Bytes of extensions and trailers, bounded together.
    std::uint64_t left_ = 0;    // Content bytes left of this body or chunk.
    std::uint64_t content_size_ = 0;
};

}  // namespace hostler::http
