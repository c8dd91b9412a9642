#include "adapters/docker/routes.h"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "adapters/docker/bodies.h"
#include "domain/network/outside.h"

namespace hostler::docker {

namespace {

constexpr std::size_t answer_bytes = std::size_t{64} * 1024;  // The kernel sends 32 KiB at most at a time.
constexpr int bits_least = 8;

std::unexpected<Error> not_read(std::string_view why) {
    return fail(Code::unavailable, fmt::format("the host's routes cannot be read: {}", why));
}

class Socket {
public:
    Socket() : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
        constexpr timeval patience{.tv_sec = 0, .tv_usec = 200'000};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    ~Socket() {
        if (fd_ >= 0) ::close(fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int fd() const { return fd_; }

private:
    int fd_;
};

std::string device_name(std::uint32_t index) {
    char name[IF_NAMESIZE] = {};
    return ::if_indextoname(index, name) ? name : std::string{};
}

void add_route(std::string_view message, std::vector<Route>& routes) {
    rtmsg head{};
    if (message.size() < sizeof head) return;
    std::memcpy(&head, message.data(), sizeof head);
    if (head.rtm_family != AF_INET || head.rtm_type != RTN_UNICAST) return;
    Route route{.to = {0, head.rtm_dst_len}, .on_link = true};
    message.remove_prefix(NLMSG_ALIGN(sizeof head));
    while (message.size() >= sizeof(rtattr)) {
        rtattr attribute{};
        std::memcpy(&attribute, message.data(), sizeof attribute);
        if (attribute.rta_len < sizeof attribute || attribute.rta_len > message.size()) return;
        std::uint32_t number = 0;
        if (attribute.rta_len >= RTA_LENGTH(sizeof number))
            std::memcpy(&number, message.data() + RTA_LENGTH(0), sizeof number);
        if (attribute.rta_type == RTA_DST) route.to.base = ntohl(number);
        if (attribute.rta_type == RTA_OIF) route.device = device_name(number);
        if (attribute.rta_type == RTA_GATEWAY || attribute.rta_type == RTA_VIA ||
            attribute.rta_type == RTA_MULTIPATH)
            route.on_link = false;
        message.remove_prefix(std::min<std::size_t>(RTA_ALIGN(attribute.rta_len), message.size()));
    }
    routes.push_back(std::move(route));
}

// true: that was the last.
Result<bool> take(std::string_view bytes, std::vector<Route>& routes) {
    while (bytes.size() >= sizeof(nlmsghdr)) {
        nlmsghdr head{};
        std::memcpy(&head, bytes.data(), sizeof head);
        if (head.nlmsg_len < sizeof head || head.nlmsg_len > bytes.size()) return not_read("a cut answer");
        if ((head.nlmsg_flags & NLM_F_DUMP_INTR) != 0) return not_read("they change just now");
        if (head.nlmsg_type == NLMSG_DONE) return true;
        if (head.nlmsg_type == NLMSG_ERROR) return not_read("the kernel refuses");
        if (head.nlmsg_type == RTM_NEWROUTE)
            add_route(bytes.substr(sizeof head, head.nlmsg_len - sizeof head), routes);
        bytes.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), bytes.size()));
    }
    return false;
}

Result<std::vector<Route>> read_once() {
    const Socket socket;
    struct {
        nlmsghdr head{};
        rtmsg body{};
    } request;
    request.head.nlmsg_len = sizeof request;
    request.head.nlmsg_type = RTM_GETROUTE;
    request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.body.rtm_family = AF_INET;
    if (::send(socket.fd(), &request, sizeof request, 0) < 0) return not_read(std::strerror(errno));
    std::vector<Route> routes;
    std::string answer(answer_bytes, '\0');
    while (true) {
        const auto size = ::recv(socket.fd(), answer.data(), answer.size(), MSG_TRUNC);
        if (size < 0) return not_read(std::strerror(errno));
        if (static_cast<std::size_t>(size) > answer.size()) return not_read("too much in one answer");
        if (TRY(take({answer.data(), static_cast<std::size_t>(size)}, routes))) return routes;
    }
}

bool is_private(const Ipv4Subnet& network) {
    return std::ranges::any_of(ranges_inside(), [&](std::string_view text) {
        const auto range = parse_ipv4_subnet(text);
        return range && range->bits <= network.bits && range->contains(network.base);
    });
}

}  // namespace

Result<std::vector<Route>> ipv4_routes() {
    constexpr int tries_max = 5;  // Another's container may come or go between two parts of an answer.
    for (int tries = 1;; ++tries)
        if (auto routes = read_once(); routes || tries == tries_max) return routes;
}

std::vector<Ipv4Subnet> connected_networks(const std::vector<Route>& routes) {
    std::vector<Ipv4Subnet> found;
    for (const Route& route : routes)
        if (route.on_link && route.to.bits >= bits_least && !route.device.starts_with(bridge_prefix) &&
            !is_private(route.to))
            found.push_back(route.to);
    const auto key = [](const Ipv4Subnet& one) { return std::pair{one.base, one.bits}; };
    std::ranges::sort(found, {}, key);
    const auto again = std::ranges::unique(found);
    found.erase(again.begin(), again.end());
    return found;
}

}  // namespace hostler::docker
