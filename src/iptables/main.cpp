// Answers what iptables is asked again and again, as long as no rule has changed. See README.md beside it.
#include <fcntl.h>
#include <limits.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace {

constexpr const char* folder_variable = "HOSTLER_FIREWALL_ANSWERS";  // Where answers lie; unset: nowhere.
constexpr std::size_t answer_bytes_max = 256 * 1024;
constexpr std::uint64_t files_max = 4096;  // Of answers. Two questions that meet in one take turns.
constexpr int cannot_run = 127;

// One file: this, the question, the answer.
struct Head {
    std::uint32_t generation;
    std::uint32_t question_bytes;
};

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; }

private:
    int fd_;
};

// How often the rules of nftables in this network namespace have changed; nullopt: the kernel does not say.
std::optional<std::uint32_t> generation() {
    const Descriptor socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER)};
    if (!socket) return std::nullopt;
    constexpr timeval patience{.tv_sec = 0, .tv_usec = 100'000};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    struct {
        nlmsghdr head;
        nfgenmsg family;
    } question{};
    question.head.nlmsg_len = sizeof question;
    question.head.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    if (::send(socket.get(), &question, sizeof question, 0) < 0) return std::nullopt;
    char answer[512];
    const auto size = ::recv(socket.get(), answer, sizeof answer, 0);
    nlmsghdr head{};
    nlattr attribute{};
    std::uint32_t value = 0;
    constexpr std::size_t at_attribute = sizeof head + sizeof(nfgenmsg);
    if (size < static_cast<ssize_t>(at_attribute + sizeof attribute + sizeof value)) return std::nullopt;
    std::memcpy(&head, answer, sizeof head);
    std::memcpy(&attribute, answer + at_attribute, sizeof attribute);
    std::memcpy(&value, answer + at_attribute + sizeof attribute, sizeof value);
    if (head.nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN) || attribute.nla_type != NFTA_GEN_ID)
        return std::nullopt;
    return value;  // In the network's byte order, which does not matter here.
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Where a path leads, over all links; empty: nowhere.
std::string real_path(const std::string& path) {
    char buffer[PATH_MAX];
    return ::realpath(path.c_str(), buffer) ? buffer : "";
}

struct Program {
    std::string path;
    std::string real;
};

// The program of this name that comes after ours.
Program find_program(std::string_view name) {
    const char* set = std::getenv("PATH");
    const std::string places = std::string{set ? set : ""} + ":/usr/sbin:/sbin";
    const std::string own = real_path("/proc/self/exe");
    for (std::size_t from = 0; from <= places.size();) {
        const auto end = std::min(places.find(':', from), places.size());
        std::string path = places.substr(from, end - from) + "/" + std::string{name};
        from = end + 1;
        if (path.front() != '/' || ::access(path.c_str(), X_OK) != 0) continue;
        if (std::string real = real_path(path); !real.empty() && real != own) return {path, real};
    }
    return {};
}

// Whether it asks and changes nothing.
bool is_question(int count, char** words) {
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "-C" || word == "--check" || word == "-S" || word == "--list-rules" ||
            word == "--version")
            return true;
    }
    return false;
}

std::string question_of(std::string_view name, int count, char** words) {
    std::string question{name};
    for (int i = 1; i < count; ++i) (question += '\0') += words[i];
    return question;
}

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211ULL;
    return hash;
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto size = ::write(fd, text.data(), text.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
}

// false: it has not ended at `bytes_max`.
bool read_all(int fd, std::string& into, std::size_t bytes_max) {
    char buffer[16 * 1024];
    while (into.size() <= bytes_max) {
        const auto size = ::read(fd, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return size == 0;
        into.append(buffer, static_cast<std::size_t>(size));
    }
    return false;
}

std::optional<std::string> kept_answer(const std::string& path, std::string_view question,
                                       std::uint32_t now) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    std::string text;
    Head head{};
    if (!file || !read_all(file.get(), text, sizeof head + question.size() + answer_bytes_max))
        return std::nullopt;
    if (text.size() < sizeof head + question.size()) return std::nullopt;
    std::memcpy(&head, text.data(), sizeof head);
    if (head.generation != now || head.question_bytes != question.size() ||
        text.compare(sizeof head, question.size(), question) != 0)
        return std::nullopt;
    return text.substr(sizeof head + question.size());
}

void keep_answer(const std::string& path, std::string_view question, std::string_view answer,
                 std::uint32_t when) {
    const Head head{when, static_cast<std::uint32_t>(question.size())};
    const std::string made = path + "." + std::to_string(::getpid());
    const Descriptor file{::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file) return;
    const bool whole = write_all(file.get(), {reinterpret_cast<const char*>(&head), sizeof head}) &&
                       write_all(file.get(), question) && write_all(file.get(), answer);
    if (!whole || ::rename(made.c_str(), path.c_str()) != 0) ::unlink(made.c_str());
}

struct Outcome {
    int code = cannot_run;
    bool whole = false;  // Else the answer is longer than what is kept of one.
    std::string answer;
};

// What the real program says, passed on as it comes. Its errors go where ours do.
Outcome ask(const Program& program, char** words) {
    Outcome outcome;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return outcome;
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::execv(program.path.c_str(), words);
        ::_exit(cannot_run);
    }
    ::close(ends[1]);
    const Descriptor hear{ends[0]};
    outcome.whole = read_all(hear.get(), outcome.answer, answer_bytes_max);
    write_all(STDOUT_FILENO, outcome.answer);
    for (std::string more; !outcome.whole; more.clear()) {
        const bool last = read_all(hear.get(), more, answer_bytes_max);
        if (!write_all(STDOUT_FILENO, more) || last || more.empty()) break;
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
    return outcome;
}

}  // namespace

int main(int count, char** words) {
    const std::string name{file_name(words[0])};
    const Program program = find_program(name);
    if (program.path.empty()) {
        std::fprintf(stderr, "%s: not installed\n", name.c_str());
        return cannot_run;
    }
    const char* folder = std::getenv(folder_variable);
    // The rules of an iptables of the old kind have no generation.
    const bool follows = file_name(program.real) == "xtables-nft-multi";
    const auto before = folder && follows && is_question(count, words) ? generation() : std::nullopt;
    if (!before) {
        ::execv(program.path.c_str(), words);
        std::perror(program.path.c_str());
        return cannot_run;
    }
    const std::string question = question_of(name, count, words);
    const std::string path = std::string{folder} + "/" + std::to_string(hash_of(question) % files_max);
    if (const auto answer = kept_answer(path, question, *before))
        return write_all(STDOUT_FILENO, *answer) ? 0 : cannot_run;
    const Outcome outcome = ask(program, words);
    // After a change in between, the answer may be older than the change.
    if (outcome.code == 0 && outcome.whole && generation() == before) {
        ::mkdir(folder, 0700);
        keep_answer(path, question, outcome.answer, *before);
    }
    return outcome.code;
}
