// The head of a message: parsed by llhttp, then checked for all that lets two parsers read one message in two
// ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace hostler::http {

struct HeadLimits {
    std::size_t bytes_max = 32 * 1024;  // All lines together.
    std::size_t start_line_max = 16 * 1024;
    std::size_t headers_max = 100;
};

// Looks for the end of a head in bytes that come piece by piece, and refuses what no head may hold as soon as
// it is seen: a bare CR or LF, a control character, a folded line, a line or a head too long.
class HeadScanner {
public:
    enum class Found { more, head, bad, too_long_line, too_large };
    // `bytes` begins as in the last call and has grown. After `head`, size() bytes of it are the head.
    Found scan(std::string_view bytes, const HeadLimits& limits);
    std::size_t size() const { return at_; }
    void reset() { *this = HeadScanner{}; }

private:
    std::size_t at_ = 0;    // Seen so far.
    std::size_t line_ = 0;  // Where the present line begins.
    std::size_t lines_ = 0;
    bool after_return_ = false;  // The last byte was a CR.
};

struct Field {
    std::string_view name;
    std::string_view value;  // Trimmed.
};

// How the end of a body is known.
struct Framing {
    enum class Kind { none, length, chunked, until_close };
    Kind kind = Kind::none;
    std::uint64_t length = 0;  // For Kind::length.
};

// Views into the head's own copy of its text: it does not move, and serves message after message.
struct Head {
    Head() = default;
    Head(const Head&) = delete;
    Head& operator=(const Head&) = delete;

    std::string text;  // From the first line to the empty one, inclusive.
    std::vector<Field> fields;
    int minor = 1;  // HTTP/1.minor.
    Framing framing;
    bool keep_alive = true;  // What Connection and the version say.
    bool upgrade = false;    // Connection: upgrade, with an Upgrade field; not to h2c, nor with a body.
    std::string_view connection_tokens[8];  // Names in Connection beside close, keep-alive and upgrade.
    std::size_t connection_tokens_size = 0;

    std::string_view find(std::string_view name) const;  // The first of that name; "" when there is none.
};

struct RequestHead : Head {
    std::string_view method;
    std::string_view target;  // As sent, but an absolute-form target is cut to its path.
    std::string_view host;    // With its port, if any; "" only in HTTP/1.0.
    bool expects_continue = false;
    bool method_known = true;  // It is one of HTTP's that our parser knows.
};

struct ResponseHead : Head {
    int status = 0;
    std::string_view reason;
};

// A head that is refused. `status` is what a server answers; a proxy answers 502 to a bad response.
struct BadHead {
    int status = 400;
    std::string_view what;  // A sentence for the peer.
};

// `text`: exactly one head, as HeadScanner found it. The error is never a matter of taste: close the
// connection.
std::expected<void, BadHead> parse(std::string_view text, const HeadLimits& limits, RequestHead& into);
// `method`: of the request that this answers; it decides whether a body follows.
std::expected<void, BadHead> parse(std::string_view text, const HeadLimits& limits, std::string_view method,
                                   ResponseHead& into);
BadHead bad_head(HeadScanner::Found found);

// The head as the wire has it, the empty line included.
void write_head(std::string& into, const Request& request);
void write_head(std::string& into, const Response& response);

Headers owned(const Head& head);

}  // namespace hostler::http
