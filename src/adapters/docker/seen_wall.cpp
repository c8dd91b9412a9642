#include "adapters/docker/seen_wall.h"

#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

namespace hostler::docker {

namespace {

constexpr std::size_t answer_bytes_max = 64 * 1024;  // Of one packet; a listing has many.
constexpr int table_attribute = 1;                   // Its name, in whatever belongs to a table.

// What is listed, and its attributes that tell of the listing's moment and not of the rules.
struct Kind {
    std::uint8_t message;
    std::set<int> passing;
};
const Kind tables{NFT_MSG_GETTABLE, {NFTA_TABLE_USE, NFTA_TABLE_HANDLE}};
const Kind chains{NFT_MSG_GETCHAIN, {NFTA_CHAIN_HANDLE, NFTA_CHAIN_USE, NFTA_CHAIN_COUNTERS}};
const Kind rules{NFT_MSG_GETRULE, {NFTA_RULE_HANDLE, NFTA_RULE_POSITION}};

template <class Header>
Header head_of(std::string_view bytes) {
    Header head;
    std::memcpy(&head, bytes.data(), sizeof head);
    return head;
}

template <class Header>
std::string bytes_of(const Header& head) {
    return {reinterpret_cast<const char*>(&head), sizeof head};
}

void each_attribute(std::string_view bytes, const std::function<void(int, std::string_view)>& visit) {
    while (bytes.size() >= sizeof(nlattr)) {
        const auto head = head_of<nlattr>(bytes);
        if (head.nla_len < sizeof head || head.nla_len > bytes.size()) return;
        visit(head.nla_type & NLA_TYPE_MASK, bytes.substr(sizeof head, head.nla_len - sizeof head));
        bytes.remove_prefix(std::min<std::size_t>(NLA_ALIGN(head.nla_len), bytes.size()));
    }
}

std::string_view attribute(std::string_view bytes, int type) {
    std::string_view found;
    each_attribute(bytes, [&](int of, std::string_view value) {
        if (of == type) found = value;
    });
    return found;
}

std::string text_attribute(int type, std::string_view text) {
    std::string made = bytes_of(nlattr{static_cast<std::uint16_t>(sizeof(nlattr) + text.size() + 1),
                                       static_cast<std::uint16_t>(type)});
    made.append(text).append(1, '\0');
    made.resize(NLA_ALIGN(made.size()));
    return made;
}

std::unexpected<Error> not_seen(std::string_view why) {
    return fail(Code::unavailable, fmt::format("the host's firewall cannot be read: {}", why));
}

// One socket, one listing after the other.
class Netfilter {
public:
    Netfilter() : socket_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER)) {
        constexpr timeval patience{.tv_sec = 0, .tv_usec = 200'000};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    ~Netfilter() {
        if (socket_ >= 0) ::close(socket_);
    }
    Netfilter(const Netfilter&) = delete;
    Netfilter& operator=(const Netfilter&) = delete;

    // `each` is given the attributes of every object that the kernel has.
    Result<> list(std::uint8_t message, const std::string& asked,
                  const std::function<void(std::string_view)>& each) {
        const nfgenmsg family{NFPROTO_INET, NFNETLINK_V0, 0};
        nlmsghdr head{};
        head.nlmsg_len = static_cast<std::uint32_t>(sizeof head + sizeof family + asked.size());
        head.nlmsg_type = static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message);
        head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        head.nlmsg_seq = ++sequence_;
        const std::string request = bytes_of(head) + bytes_of(family) + asked;
        if (::send(socket_, request.data(), request.size(), 0) < 0) return not_seen(std::strerror(errno));
        while (true) {
            const auto size = ::recv(socket_, answer_.get(), answer_bytes_max, MSG_TRUNC);
            if (size < 0) return not_seen(std::strerror(errno));
            if (static_cast<std::size_t>(size) > answer_bytes_max) return not_seen("too much in one answer");
            if (TRY(take({answer_.get(), static_cast<std::size_t>(size)}, each))) return {};
        }
    }

private:
    // true: that was the last.
    Result<bool> take(std::string_view bytes, const std::function<void(std::string_view)>& each) const {
        while (bytes.size() >= sizeof(nlmsghdr)) {
            const auto head = head_of<nlmsghdr>(bytes);
            if (head.nlmsg_len < sizeof head || head.nlmsg_len > bytes.size()) break;
            const auto body = bytes.substr(sizeof head, head.nlmsg_len - sizeof head);
            bytes.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), bytes.size()));
            if (head.nlmsg_seq != sequence_) continue;
            if ((head.nlmsg_flags & NLM_F_DUMP_INTR) != 0) return not_seen("it changes just now");
            if (head.nlmsg_type == NLMSG_DONE) return true;
            if (head.nlmsg_type == NLMSG_ERROR) {
                const int error = body.size() < sizeof(int) ? EPROTO : -head_of<int>(body);
                if (error == ENOENT) return fail(Code::not_found, "the host's firewall has no such table");
                return not_seen(std::strerror(error));
            }
            if (body.size() > sizeof(nfgenmsg)) each(body.substr(sizeof(nfgenmsg)));
        }
        return false;
    }

    int socket_;
    std::uint32_t sequence_ = 0;
    std::unique_ptr<char[]> answer_ = std::make_unique<char[]>(answer_bytes_max);
};

bool of_table(std::string_view attributes, std::string_view table) {
    const auto name = attribute(attributes, table_attribute);
    return name.substr(0, name.find('\0')) == table;
}

Result<> add_rules(Netfilter& kernel, const Kind& kind, std::string_view table, SeenWall& wall) {
    return kernel.list(kind.message, text_attribute(table_attribute, table),
                       [&](std::string_view attributes) {
                           if (!of_table(attributes, table)) return;
                           if (&kind == &rules) ++wall.rules_count;
                           wall.rules += static_cast<char>(kind.message);
                           each_attribute(attributes, [&](int type, std::string_view value) {
                               if (kind.passing.contains(type)) return;
                               wall.rules += fmt::format("{}:{}:", type, value.size());
                               wall.rules += value;
                           });
                       });
}

Result<> each_element(Netfilter& kernel, std::string_view table, std::string_view set,
                      const std::function<void(std::string_view)>& visit) {
    const std::string asked =
        text_attribute(NFTA_SET_ELEM_LIST_TABLE, table) + text_attribute(NFTA_SET_ELEM_LIST_SET, set);
    return kernel.list(NFT_MSG_GETSETELEM, asked, [&](std::string_view attributes) {
        if (!of_table(attributes, table)) return;
        each_attribute(attribute(attributes, NFTA_SET_ELEM_LIST_ELEMENTS),
                       [&](int, std::string_view element) { visit(element); });
    });
}

Result<> add_names(Netfilter& kernel, std::string_view table, std::string_view set,
                   std::set<std::string>& keys) {
    return each_element(kernel, table, set, [&](std::string_view element) {
        keys.emplace(attribute(attribute(element, NFTA_SET_ELEM_KEY), NFTA_DATA_VALUE));
    });
}

// An element is one end of a range, and its flags say which.
Result<> add_ranges(Netfilter& kernel, std::string_view table, std::string_view set, SeenWall& wall) {
    std::set<std::string> ends;  // The kernel lists them in no promised order.
    TRY(each_element(kernel, table, set, [&](std::string_view element) {
        std::string end{attribute(attribute(element, NFTA_SET_ELEM_KEY), NFTA_DATA_VALUE)};
        end += attribute(element, NFTA_SET_ELEM_FLAGS);
        ends.insert(std::move(end));
    }));
    wall.rules += fmt::format("{}:{}:", set, ends.size());
    for (const auto& end : ends) wall.rules += end;
    return {};
}

// As the kernel keeps an interface's name in a set.
std::string name_key(std::string_view interface) {
    std::string key{interface.substr(0, IFNAMSIZ)};
    key.resize(IFNAMSIZ);
    return key;
}

}  // namespace

bool SeenWall::guards(std::string_view bridge) const {
    const auto key = name_key(bridge);
    return bridges.contains(key) && inside.contains(key + key);
}

Result<SeenWall> see_wall(std::string_view table) {
    Netfilter kernel;
    SeenWall wall;
    for (const auto* kind : {&tables, &chains, &rules}) TRY(add_rules(kernel, *kind, table, wall));
    for (const std::string_view set : {"reach", "private", "connected"})
        TRY(add_ranges(kernel, table, set, wall));
    TRY(add_names(kernel, table, "bridges", wall.bridges));
    TRY(add_names(kernel, table, "inside", wall.inside));
    return wall;
}

}  // namespace hostler::docker
