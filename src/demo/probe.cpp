// Endpoints by which tests try out limits and walls from inside.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>

#include "demo/pages.h"

namespace demo {

namespace {

constexpr int connect_ms = 1500;

std::optional<in_addr> parse(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) == 1) return address;
    return std::nullopt;
}

std::string name_server() {
    std::ifstream file{"/etc/resolv.conf"};
    std::string word;
    while (file >> word)
        if (word == "nameserver" && file >> word && parse(word)) return word;
    return {};
}

// An A query by hand: the C library's resolver does not work in a static program.
std::optional<in_addr> resolve(const std::string& name) {
    if (const auto address = parse(name)) return address;
    const auto server = parse(name_server());
    if (!server || name.size() > 250) return std::nullopt;
    std::string query{"hd\x01\0\0\x01\0\0\0\0\0\0", 12};
    for (std::size_t at = 0; at <= name.size();) {
        const auto end = std::min(name.find('.', at), name.size());
        if (end == at || end - at > 63) return std::nullopt;
        query += static_cast<char>(end - at);
        query.append(name, at, end - at);
        at = end + 1;
    }
    query.append("\0\0\x01\0\x01", 5);
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(53);
    to.sin_addr = *server;
    std::optional<in_addr> found;
    pollfd ready{fd, POLLIN, 0};
    unsigned char answer[1500];
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
        ::send(fd, query.data(), query.size(), 0) > 0 && ::poll(&ready, 1, connect_ms) == 1) {
        const auto size = ::recv(fd, answer, sizeof answer, 0);
        // The last four bytes of the first A record.
        for (auto at = static_cast<ssize_t>(query.size()); at + 12 <= size;) {
            // Its name: a pointer of two bytes, or written out.
            while (at < size && answer[at] != 0 && answer[at] < 0xc0) at += 1 + answer[at];
            if (at < size && answer[at] == 0) --at;  // One byte, where a pointer has two.
            if (at + 12 > size) break;
            const int length = answer[at + 10] * 256 + answer[at + 11];
            if (answer[at + 3] == 1 && length == 4 && at + 16 <= size) {
                in_addr address{};
                std::memcpy(&address, answer + at + 12, 4);
                found = address;
                break;
            }
            at += 12 + length;
        }
    }
    ::close(fd);
    return found;
}

const char* try_connect(in_addr address, int port, int wait_ms) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return "error";
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr = address;
    int error = 0;
    const char* outcome = "unreachable";
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) error = errno;
    if (error == EINPROGRESS) {
        pollfd ready{fd, POLLOUT, 0};
        socklen_t size = sizeof error;
        if (::poll(&ready, 1, wait_ms) == 0)
            error = ETIMEDOUT;
        else
            ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) outcome = "connected";
    if (error == ECONNREFUSED) outcome = "refused";
    if (error == ETIMEDOUT) outcome = "timeout";
    ::close(fd);
    return outcome;
}

double seconds(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

bool probe_connect(Connection& connection, const Request& request) {
    const auto host = request.parameter("host");
    const auto address = resolve(host);
    if (!address) return connection.respond(200, "text/plain", "unknown host\n");
    const int asked_ms = std::atoi(request.parameter("ms").c_str());
    const std::string outcome = try_connect(*address, std::atoi(request.parameter("port").c_str()),
                                            asked_ms > 0 ? asked_ms : connect_ms);
    return connection.respond(200, "text/plain", outcome + "\n");
}

// Answers with the share of one core that it really got, in thousandths.
bool burn(Connection& connection, const Request& request) {
    const double time = std::atof(request.parameter("ms").c_str()) / 1000;
    const double start = seconds(CLOCK_MONOTONIC);
    const double used = seconds(CLOCK_THREAD_CPUTIME_ID);
    volatile unsigned long sink = 0;
    while (seconds(CLOCK_MONOTONIC) - start < time)
        for (int i = 0; i < 20'000; ++i) sink = sink + static_cast<unsigned long>(i);
    const double share = (seconds(CLOCK_THREAD_CPUTIME_ID) - used) / (seconds(CLOCK_MONOTONIC) - start);
    return connection.respond(200, "text/plain", std::to_string(static_cast<int>(share * 1000)) + "\n");
}

bool allocate(Connection& connection, const Request& request) {
    // In a process of its own, which is called so: the server goes on without it.
    if (const auto child = request.parameter("child"); !child.empty()) {
        const pid_t pid = ::fork();
        if (pid > 0) return connection.respond(200, "text/plain", "begun\n");
        if (pid < 0) return connection.respond(500, "text/plain", "cannot fork\n");
        ::prctl(PR_SET_NAME, child.c_str());
        std::ofstream{"/proc/self/oom_score_adj"} << 1000;  // The kernel takes it first.
    }
    const auto mib = std::strtoull(request.parameter("mib").c_str(), nullptr, 10);
    constexpr std::size_t one = 1 << 20;
    for (std::size_t i = 0; i < mib; ++i) {
        void* piece = ::mmap(nullptr, one, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED) return connection.respond(200, "text/plain", "refused\n");
        std::memset(piece, 1, one);
    }
    if (!request.parameter("child").empty()) ::_exit(0);
    return connection.respond(200, "text/plain", "held\n");
}

// Tries to start `n` processes that live for a second, and says how many there were.
bool spawn(Connection& connection, const Request& request) {
    const int wanted = std::min(std::atoi(request.parameter("n").c_str()), 1000);
    int made = 0;
    for (; made < wanted; ++made) {
        const pid_t child = ::fork();
        if (child < 0) break;
        if (child == 0) {
            ::usleep(1'000'000);
            ::_exit(0);
        }
    }
    return connection.respond(200, "text/plain", std::to_string(made) + "\n");
}

}  // namespace demo
