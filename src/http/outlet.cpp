#include "http/outlet.h"

namespace hostler::http {

std::unexpected<Error> malformed(BadHead bad) {
    return fail(Code::unavailable, fmt::format("the server's answer is not HTTP/1.1: {}", bad.what),
                std::string{bad_response});
}

Task<> Outlet::read_head(std::string_view method, const HeadLimits& limits, Duration within) {
    scanner_.reset();
    const Instant end = conn_.timers().now() + within;
    bool asked = true;  // A moment ago: there is hardly an answer yet.
    while (true) {
        const auto bytes = conn_.ahead();
        const auto found = bytes.empty() ? HeadScanner::Found::more : scanner_.scan(bytes, limits);
        if (found == HeadScanner::Found::head) break;
        if (found != HeadScanner::Found::more) co_return malformed(bad_head(found));
        const Duration left = bytes.empty() ? within : std::max(end - conn_.timers().now(), Duration{1});
        const auto first = std::exchange(asked, false) ? Conn::First::wait : Conn::First::look;
        if (!CO_TRY(co_await conn_.fill(left, first)))
            co_return fail(Code::unavailable, "the server closed the connection");
        silent_ = false;
    }
    const auto good = parse(conn_.ahead().substr(0, scanner_.size()), limits, method, head_);
    conn_.consume(scanner_.size());
    if (!good) co_return malformed(good.error());
    body_.reset(head_.framing);
    co_return Result<>{};
}

Task<std::size_t> Outlet::read_body(std::span<char> into, Duration within) {
    while (!body_.done() && !into.empty()) {
        const auto step = body_.step(conn_.ahead(), into.size());
        if (!step) co_return malformed(step.error());
        const std::size_t size = step->content.copy(into.data(), step->content.size());
        conn_.consume(step->taken);
        if (size > 0) co_return size;
        if (step->taken > 0) continue;
        if (!CO_TRY(co_await conn_.fill(within)) && !body_.end())
            co_return fail(Code::unavailable, "the server ended in the middle of its answer");
    }
    co_return std::size_t{0};
}

bool Outlet::alive() {
    if (!conn_.ahead().empty()) return false;
    const auto seen = conn_.try_read(scratch());
    return seen && !*seen;
}

}  // namespace hostler::http
