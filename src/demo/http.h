// Just enough of an HTTP/1.1 server for the demo: one thread a connection, bodies streamed.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace demo {

struct Request {
    std::string method;
    std::string path;                                          // Without the query, percent-decoded.
    std::string query;                                         // Raw.
    std::vector<std::pair<std::string, std::string>> headers;  // As received, in order.
    bool keep_alive = true;

    std::string_view header(std::string_view name) const;  // Empty: absent. Names match in any case.
    std::string parameter(std::string_view name) const;    // Of the query, decoded; empty: absent.
};

// One client. Reads and writes fail with false once the peer is gone; whoever sees false gives up.
class Connection {
public:
    explicit Connection(int fd) : fd_(fd) {}
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    bool read_request(Request& into);
    // The next piece of the request's body; empty when it has ended.
    bool read_body(std::string& piece);
    bool body_is_chunked() const { return chunked_; }
    std::size_t body_length() const { return left_; }
    bool skip_body();

    bool respond(int status, std::string_view type, std::string_view body,
                 std::string_view more_headers = {});
    bool write(std::string_view bytes);
    bool write_chunk(std::string_view bytes);         // An empty one ends the body.
    bool read_exactly(char* into, std::size_t size);  // Past the request: for WebSockets.

private:
    bool fill();
    bool read_line(std::string& line);

    int fd_;
    std::string buffer_;
    std::size_t left_ = 0;  // Of a body of known length, or of the present chunk.
    bool chunked_ = false;
    bool first_chunk_ = true;
    bool body_done_ = true;
    bool expects_continue_ = false;
    bool head_only_ = false;
    bool keep_alive_ = true;
};

std::string json_string(std::string_view text);
std::string html_text(std::string_view text);

}  // namespace demo
