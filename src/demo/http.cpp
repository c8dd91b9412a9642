#include "demo/http.h"

#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace demo {

namespace {

constexpr std::size_t line_bytes_max = 16 * 1024;
constexpr std::size_t headers_max = 128;
constexpr std::size_t piece_bytes = 16 * 1024;
constexpr int idle_ms = 120'000;

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
            out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

const char* phrase(int status) {
    switch (status) {
        case 200: return "OK";
        case 201: return "Created";
        case 204: return "No Content";
        case 400: return "Bad Request";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 503: return "Service Unavailable";
        default: return "Error";
    }
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
    for (const auto& [key, value] : headers)
        if (same(key, name)) return value;
    return {};
}

std::string Request::parameter(std::string_view name) const {
    std::string_view rest = query;
    while (!rest.empty()) {
        const auto end = std::min(rest.find('&'), rest.size());
        const auto pair = rest.substr(0, end);
        const auto equals = pair.find('=');
        if (pair.substr(0, equals) == name && equals != std::string_view::npos)
            return decode(pair.substr(equals + 1));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

Connection::~Connection() { ::close(fd_); }

bool Connection::fill() {
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, idle_ms) <= 0) return false;
    char piece[piece_bytes];
    const auto size = ::recv(fd_, piece, sizeof piece, 0);
    if (size <= 0) return false;
    buffer_.append(piece, static_cast<std::size_t>(size));
    return true;
}

bool Connection::read_line(std::string& line) {
    std::size_t end = 0;
    while ((end = buffer_.find('\n')) == std::string::npos) {
        if (buffer_.size() > line_bytes_max || !fill()) return false;
    }
    line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
}

bool Connection::read_request(Request& into) {
    into = {};
    std::string line;
    if (!read_line(line)) return false;
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    if (first == std::string::npos || last <= first) return false;
    into.method = line.substr(0, first);
    const std::string target = line.substr(first + 1, last - first - 1);
    const bool old = line.ends_with("HTTP/1.0");
    const auto question = target.find('?');
    into.path = decode(std::string_view(target).substr(0, question));
    if (question != std::string::npos) into.query = target.substr(question + 1);
    while (read_line(line)) {
        if (line.empty()) {
            into.keep_alive = !old && !same(into.header("Connection"), "close");
            left_ = std::strtoull(std::string(into.header("Content-Length")).c_str(), nullptr, 10);
            chunked_ = same(into.header("Transfer-Encoding"), "chunked");
            first_chunk_ = true;
            body_done_ = !chunked_ && left_ == 0;
            expects_continue_ = same(into.header("Expect"), "100-continue") && !body_done_;
            head_only_ = into.method == "HEAD";
            keep_alive_ = into.keep_alive;
            return true;
        }
        const auto colon = line.find(':');
        if (colon == std::string::npos || into.headers.size() >= headers_max) return false;
        auto value = line.substr(colon + 1);
        value.erase(0, value.find_first_not_of(" \t"));
        into.headers.emplace_back(line.substr(0, colon), std::move(value));
    }
    return false;
}

bool Connection::read_body(std::string& piece) {
    piece.clear();
    if (body_done_) return true;
    if (std::exchange(expects_continue_, false) && !write("HTTP/1.1 100 Continue\r\n\r\n")) return false;
    if (chunked_ && left_ == 0) {
        std::string line;
        if (!std::exchange(first_chunk_, false) && !read_line(line))
            return false;  // The end of the chunk before.
        if (!read_line(line)) return false;
        left_ = std::strtoull(line.c_str(), nullptr, 16);
        if (left_ == 0) {
            while (read_line(line))
                if (line.empty()) return body_done_ = true;
            return false;
        }
    }
    if (buffer_.empty() && !fill()) return false;
    const auto size = std::min(left_, buffer_.size());
    piece = buffer_.substr(0, size);
    buffer_.erase(0, size);
    left_ -= size;
    if (!chunked_ && left_ == 0) body_done_ = true;
    return true;
}

bool Connection::skip_body() {
    std::string piece;
    while (!body_done_)
        if (!read_body(piece)) return false;
    return true;
}

bool Connection::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (size <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
}

bool Connection::write_chunk(std::string_view bytes) {
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return write(std::string(size) + std::string(bytes) + "\r\n");
}

bool Connection::read_exactly(char* into, std::size_t size) {
    while (buffer_.size() < size)
        if (!fill()) return false;
    buffer_.copy(into, size);
    buffer_.erase(0, size);
    return true;
}

bool Connection::respond(int status, std::string_view type, std::string_view body,
                         std::string_view more_headers) {
    if (!skip_body()) return false;
    std::string head = "HTTP/1.1 " + std::to_string(status) + " " + phrase(status) + "\r\nContent-Type: ";
    head.append(type).append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n");
    head.append(more_headers);
    if (!keep_alive_) head.append("Connection: close\r\n");
    head.append("\r\n");
    if (!head_only_) head.append(body);
    return write(head);
}

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", c);
            out += escape;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string html_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

}  // namespace demo
