#include "adapters/cuda/lines.h"

#include <fmt/format.h>

#include <charconv>

namespace hostler::cuda {

namespace {

constexpr Duration look_interval = std::chrono::milliseconds{20};
constexpr std::size_t sentences_max = 64;

}  // namespace

std::string_view cut(std::string_view& text) {
    const auto size = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    return word;
}

Metric number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

void add_sentence(std::vector<std::string>& to, std::string_view sentence) {
    if (to.size() < sentences_max) to.emplace_back(sentence);
}

Task<std::string> listen(Timers& timers, Child& child, Listening how,
                         std::function<bool(std::string_view)> take) {
    Instant deadline = timers.now() + how.silence_max;
    for (std::size_t lines = 0;;) {
        if (const auto line = child.line()) {
            if (!take(*line)) co_return std::string{};
            deadline = timers.now() + how.silence_max;
            if (++lines > how.lines_max) co_return std::string{"it talks without end, and was stopped"};
            continue;
        }
        if (child.finished()) {
            const std::string end = child.end();
            co_return fmt::format("it ended early{}{}", end.empty() ? "" : ": ", end);
        }
        if (timers.now() >= deadline)
            co_return fmt::format("it said nothing for {:.3g} s, and was stopped: the driver hangs",
                                  std::chrono::duration<double>(how.silence_max).count());
        CO_TRY(co_await sleep(timers, look_interval));
    }
}

}  // namespace hostler::cuda
