#include "adapters/sysfs/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace hostler {

namespace {

// A number at the front of `text`, which is cut off from it.
std::optional<std::int64_t> number(std::string_view& text, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || value > 0x7fffffffffffffff) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return static_cast<std::int64_t>(value);
}

// "PCI:0000:9a:00", "0000:9A:00.0" → "0000:9a:00.0"; empty: not one.
std::string address(std::string_view text) {
    constexpr std::string_view prefix = "PCI:";
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
    std::string made;
    for (const char c : text) made += static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    if (made.find_first_not_of("0123456789abcdef:.") != made.npos || std::ranges::count(made, ':') != 2)
        return {};
    if (made.find('.') == made.npos) made += ".0";
    return made;
}

// What stands behind `words`, with which the line begins: where, and the rest behind ": ".
struct Said {
    std::string where;
    std::string_view rest;
};
std::optional<Said> said(std::string_view line, std::string_view words) {
    if (!line.starts_with(words)) return std::nullopt;
    line.remove_prefix(words.size());
    const auto close = line.find(')');
    if (close == line.npos) return std::nullopt;
    Said found{address(line.substr(0, close)), line.substr(close)};
    const auto colon = found.rest.find(": ");
    if (found.where.empty() || colon == found.rest.npos) return std::nullopt;
    found.rest.remove_prefix(colon + 2);
    return found;
}

// "(0x004505c6 0x00000001 …": the two numbers that tell what an NVLink error was.
void read_numbers(std::string_view rest, GpuFault& into) {
    const auto at = rest.find("(0x");
    if (at == rest.npos) return;
    rest.remove_prefix(at + 3);
    const auto first = number(rest, 16);
    if (!first || !rest.starts_with(" 0x")) return;
    rest.remove_prefix(3);
    const auto second = number(rest, 16);
    if (!second) return;
    into.info = *first;
    into.status = *second;
}

// The text of "6,1234,98765,-;text" if the kernel itself wrote it: what others write there has a facility.
// Lines that begin with a space belong to the record before; they have no text of their own.
std::string_view text_of_kernel(std::string_view line) {
    const auto priority = number(line, 10);
    const auto head = line.find(';');
    if (!priority || *priority >> 3 != 0 || head == line.npos) return {};
    return line.substr(head + 1);
}

}  // namespace

std::optional<GpuFault> fault_of_line(std::string_view line) {
    // Nothing but how a line begins is believed: further on it may say the names of programs and files. A
    // program may be called "nvidia-nvswitch", but then its number follows, in brackets.
    constexpr std::string_view by_switch = "nvidia-nvswitch";
    if (line.starts_with(by_switch)) {
        line.remove_prefix(by_switch.size());
        if (!number(line, 10)) return std::nullopt;
        auto switched = said(line, ": SXid (");
        if (!switched) return std::nullopt;
        const auto code = number(switched->rest, 10);
        if (!code) return std::nullopt;
        GpuFault fault{.kind = "sxid", .code = *code};
        fault.status = switched->rest.starts_with(", Fatal") ? 1 : 0;
        return fault;
    }
    if (auto xid = said(line, "NVRM: Xid (")) {
        const auto code = number(xid->rest, 10);
        if (!code) return std::nullopt;
        GpuFault fault{.kind = "xid", .code = *code};
        fault.pci_address = xid->where;
        if (fault.code >= 144 && fault.code <= 150) read_numbers(xid->rest, fault);
        return fault;
    }
    // This may come without an XID: "NVRM: GPU 0000:9a:00.0: GPU has fallen off the bus."
    constexpr std::string_view lost = "GPU has fallen off the bus";
    constexpr std::string_view before = "NVRM: GPU ";
    if (!line.starts_with(before) || line.find(lost) == line.npos) return std::nullopt;
    const auto place = line.substr(before.size());
    GpuFault fault{.kind = "lost"};
    fault.pci_address = address(place.substr(0, place.find(": ")));
    if (fault.pci_address.empty()) return std::nullopt;
    return fault;
}

KernelLog::~KernelLog() {
    if (file_ >= 0) close(file_);
}

bool KernelLog::open() {
    if (file_ >= 0) return true;
    file_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file_ < 0) return false;
    (void)lseek(file_, 0, SEEK_END);
    return true;
}

Task<GpuInventory> KernelLog::discover() {
    (void)open();
    GpuInventory nothing;
    nothing.source = name();
    co_return nothing;
}

Task<std::vector<GpuSample>> KernelLog::sample() { co_return std::vector<GpuSample>{}; }

// One record is read at a time, without waiting: "6,1234,98765,-;text". A reader that was too slow is told so
// (EPIPE) and goes on with what is there.
std::vector<GpuFault> KernelLog::take_faults() {
    constexpr int records_max = 4096;  // In one turn: a log that is flooded has its next.
    std::vector<GpuFault> faults;
    if (!open()) return faults;
    std::array<char, 8192> record;
    for (int i = 0; i < records_max; ++i) {
        const auto size = read(file_, record.data(), record.size());
        if (size < 0 && (errno == EPIPE || errno == EINTR)) continue;
        if (size <= 0) break;
        std::string_view text{record.data(), static_cast<std::size_t>(size)};
        while (!text.empty()) {
            const auto line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line.size() + 1));
            if (auto fault = fault_of_line(text_of_kernel(line))) faults.push_back(std::move(*fault));
        }
    }
    if (faults.size() > faults_max) faults.erase(faults.begin(), faults.end() - faults_max);
    return faults;
}

}  // namespace hostler
