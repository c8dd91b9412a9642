// The demo workload: an HTTP server on PORT (or the first argument), 8080 by default, at the address LISTEN,
// 0.0.0.0 by default.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "demo/pages.h"

namespace {

constexpr int connections_max = 1024;
constexpr std::size_t stack_bytes = 256 * 1024;
std::atomic<int> connections = 0;

void on_terminate(int) {
    static constexpr char line[] = "demo: got SIGTERM, leaving\n";
    (void)!::write(1, line, sizeof line - 1);
    ::_exit(0);
}

union Address {
    sockaddr_in v4;
    sockaddr_in6 v6;
};

void* serve(void* argument) {
    demo::Connection connection{static_cast<int>(reinterpret_cast<std::intptr_t>(argument))};
    demo::Request request;
    while (connection.read_request(request))
        if (!demo::answer(connection, request) || !request.keep_alive) break;
    --connections;
    return nullptr;
}

// `host`: an address, IPv4 or IPv6.
int listen_on(const char* host, int port) {
    Address address{};
    const bool is_v4 = ::inet_pton(AF_INET, host, &address.v4.sin_addr) == 1;
    if (!is_v4) ::inet_pton(AF_INET6, host, &address.v6.sin6_addr);
    address.v4.sin_family = is_v4 ? AF_INET : AF_INET6;
    address.v4.sin_port = htons(static_cast<std::uint16_t>(port));  // In both at the same place.
    const int fd = ::socket(address.v4.sin_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const socklen_t size = is_v4 ? sizeof address.v4 : sizeof address.v6;
    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 512) != 0) {
        std::fprintf(stderr, "demo: cannot listen on port %d: %s\n", port, std::strerror(errno));
        ::_exit(1);
    }
    return fd;
}

int setting(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text && *text ? std::atoi(text) : otherwise;
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "whoami") == 0) {
        std::printf("%d %d\n", static_cast<int>(::getuid()), static_cast<int>(::geteuid()));
        return 0;
    }
    ::signal(SIGTERM, setting("IGNORE_SIGTERM", 0) != 0 ? SIG_IGN : on_terminate);
    ::signal(SIGINT, on_terminate);
    ::signal(SIGCHLD, SIG_IGN);
    if (const int delay_ms = setting("START_DELAY_MS", 0); delay_ms > 0) ::usleep(delay_ms * 1000);
    if (const int code = setting("EXIT_CODE", -1); code >= 0) {
        std::printf("demo: leaving with EXIT_CODE %d\n", code);
        return code;
    }
    if (setting("NEVER_READY", 0) != 0) {
        std::printf("demo: NEVER_READY is set, not listening\n");
        std::fflush(stdout);
        while (true) ::pause();
    }
    const int port = count > 1 ? std::atoi(arguments[1]) : setting("PORT", 8080);
    const char* host = std::getenv("LISTEN");
    const int listener = listen_on(host && *host ? host : "0.0.0.0", port);
    std::printf("demo: listening on port %d\n", port);
    std::fflush(stdout);
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, stack_bytes);
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (true) {
        const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) {
            ::usleep(10'000);  // Out of descriptors: let some connections end.
            continue;
        }
        const int yes = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        pthread_t thread;
        if (++connections > connections_max ||
            ::pthread_create(&thread, &attributes, serve,
                             reinterpret_cast<void*>(static_cast<std::intptr_t>(fd))) != 0) {
            --connections;
            demo::Connection{fd}.respond(503, "text/plain", "too many connections\n");
        }
    }
}
