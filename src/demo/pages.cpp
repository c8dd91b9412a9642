#include "demo/pages.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

extern char** environ;

namespace demo {

namespace {

std::string variable(const char* name, const char* otherwise = "") {
    const char* value = std::getenv(name);
    return value ? value : otherwise;
}

std::string host_name() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

std::vector<std::string> listing(const std::string& folder, std::string_view prefix) {
    std::vector<std::string> found;
    if (DIR* dir = ::opendir(folder.c_str())) {
        while (const dirent* entry = ::readdir(dir))
            if (std::string_view(entry->d_name).starts_with(prefix) && entry->d_name[0] != '.')
                found.push_back(folder + "/" + entry->d_name);
        ::closedir(dir);
    }
    std::ranges::sort(found);
    return found;
}

std::vector<std::string> devices() {
    auto found = listing("/dev", "nvidia");
    for (const auto& more : {listing("/dev/dri", ""), listing("/dev", "kfd"), listing("/dev", "davinci")})
        found.insert(found.end(), more.begin(), more.end());
    return found;
}

// Nodes as "/dev/nvidia0", without nvidiactl and its kin.
int gpu_count() {
    int count = 0;
    for (const auto& path : listing("/dev", "nvidia")) count += path.back() >= '0' && path.back() <= '9';
    for (const auto& path : listing("/dev/dri", "renderD")) count += !path.empty();
    return count;
}

std::vector<std::string> environment(bool of_platform_only) {
    std::vector<std::string> found;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        if (!of_platform_only || text.starts_with("HOSTLER_") || text.starts_with("NVIDIA_") ||
            text.starts_with("CUDA_"))
            found.emplace_back(text);
    }
    std::ranges::sort(found);
    return found;
}

// Mounts that hold files of ours: those of real file systems, below the root.
std::vector<std::string> volumes() {
    std::vector<std::string> found;
    std::ifstream mounts{"/proc/mounts"};
    std::string line;
    while (std::getline(mounts, line)) {
        std::istringstream words{line};
        std::string source, target, kind;
        words >> source >> target >> kind;
        const bool of_engine = target.starts_with("/etc/") || target.starts_with("/run/") ||
                               target.starts_with("/dev") || target.starts_with("/proc") ||
                               target.starts_with("/sys") || target == "/";
        if (!of_engine && kind != "tmpfs") found.push_back(target + " (" + kind + ")");
    }
    return found;
}

std::string json_list(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const auto& item : items) out += (out.size() > 1 ? "," : "") + json_string(item);
    return out + "]";
}

std::string env_json() {
    std::string out = "{";
    for (const auto& entry : environment(false)) {
        const auto equals = entry.find('=');
        if (equals == std::string::npos) continue;
        out += (out.size() > 1 ? "," : "") + json_string(entry.substr(0, equals)) + ":" +
               json_string(entry.substr(equals + 1));
    }
    return out + "}\n";
}

std::string headers_json(const Request& request) {
    std::string out = "[";
    for (const auto& [name, value] : request.headers)
        out += (out.size() > 1 ? ",[" : "[") + json_string(name) + "," + json_string(value) + "]";
    return out + "]\n";
}

std::string rows(const std::vector<std::string>& items, std::string_view none) {
    std::string out;
    for (const auto& item : items) out += "<li><code>" + html_text(item) + "</code></li>";
    return out.empty() ? "<li class=none>" + std::string(none) + "</li>" : out;
}

std::string page() {
    const auto instance = variable("HOSTLER_INSTANCE", host_name().c_str());
    return "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><title>" +
           html_text(instance) +
           "</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem "
           "auto;padding:0 1rem;"
           "color:#1c2430;background:#f7f8fa}h1{font-size:1.6rem;margin-bottom:0}h2{font-size:1rem;margin:1."
           "6rem 0 .3rem;"
           "color:#52607a}ul{margin:0;padding:.7rem 1.6rem;background:#fff;border:1px solid "
           "#dfe4ec;border-radius:8px;"
           "list-style:none}code{font-size:.9rem;overflow-wrap:anywhere}.none,p{color:#7a869c}b{color:#"
           "0a7a4b}</style>"
           "<h1>" +
           html_text(instance) + "</h1><p>on " + html_text(host_name()) + " &middot; <b>" +
           std::to_string(gpu_count()) + " GPU" + (gpu_count() == 1 ? "" : "s") +
           "</b></p><h2>Devices</h2><ul>" + rows(devices(), "none") + "</ul><h2>Volumes</h2><ul>" +
           rows(volumes(), "none mounted") + "</ul><h2>Environment</h2><ul>" +
           rows(environment(true), "nothing from the platform") +
           "</ul><h2>Try</h2><ul><li><a href=env>env</a> &middot; <a href=gpus>gpus</a> &middot; <a "
           "href=headers>headers"
           "</a> &middot; <a href=sse>sse</a> &middot; <a href='burn?ms=500'>burn</a></li></ul>\n";
}

bool echo(Connection& connection, const Request& request) {
    const auto type = request.header("Content-Type");
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: ";
    head.append(type.empty() ? "application/octet-stream" : type);
    const bool chunked = connection.body_is_chunked();
    head += chunked ? "\r\nTransfer-Encoding: chunked\r\n\r\n"
                    : "\r\nContent-Length: " + std::to_string(connection.body_length()) + "\r\n\r\n";
    std::string piece;
    bool begun = false;
    while (connection.read_body(piece)) {  // Read first: a client may wait for "100 Continue".
        if (!std::exchange(begun, true) && !connection.write(head)) return false;
        if (piece.empty()) return !chunked || connection.write_chunk({});
        if (!(chunked ? connection.write_chunk(piece) : connection.write(piece))) return false;
    }
    return false;
}

bool events(Connection& connection, const Request& request) {
    const auto asked = request.parameter("n");
    const int count = asked.empty() ? 5 : std::min(std::atoi(asked.c_str()), 1000);
    if (!connection.skip_body() ||
        !connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n"))
        return false;
    for (int i = 1; i <= count; ++i) {
        if (i > 1) ::usleep(200'000);
        const auto number = std::to_string(i);
        if (!connection.write_chunk("id: " + number + "\ndata: {\"tick\":" + number + "}\n\n")) return false;
    }
    return connection.write_chunk({});
}

bool put_file(Connection& connection, const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return connection.respond(503, "text/plain", std::string(std::strerror(errno)) + "\n");
    std::string piece;
    bool whole = true;
    while (connection.read_body(piece) && !piece.empty())
        whole = whole && ::write(fd, piece.data(), piece.size()) == static_cast<ssize_t>(piece.size());
    whole = ::fsync(fd) == 0 && whole;
    ::close(fd);
    return whole ? connection.respond(201, "text/plain", "kept\n")
                 : connection.respond(503, "text/plain", "could not be written whole\n");
}

bool file(Connection& connection, const Request& request) {
    const auto name = request.path.substr(std::strlen("/files/"));
    if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos)
        return connection.respond(400, "text/plain", "no such name\n");
    const auto path = variable("DATA_DIR", "/data") + "/" + name;
    if (request.method == "PUT" || request.method == "POST") return put_file(connection, path);
    if (request.method == "DELETE")
        return ::unlink(path.c_str()) == 0 ? connection.respond(200, "text/plain", "gone\n")
                                           : connection.respond(404, "text/plain", "no such file\n");
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (fd < 0 || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        if (fd >= 0) ::close(fd);
        return connection.respond(404, "text/plain", "no such file\n");
    }
    bool going =
        connection.skip_body() &&
        connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
                         std::to_string(status.st_size) + "\r\n\r\n");
    char piece[16 * 1024];
    for (auto left = status.st_size; going && left > 0 && request.method != "HEAD";) {
        const auto size =
            ::read(fd, piece, std::min<std::size_t>(sizeof piece, static_cast<std::size_t>(left)));
        going = size > 0 && connection.write({piece, static_cast<std::size_t>(size)});
        left -= size;
    }
    ::close(fd);
    return going;
}

bool leave(Connection& connection, const Request& request) {
    const int code = std::atoi(request.parameter("code").c_str());
    connection.respond(200, "text/plain", "bye\n");
    ::_exit(code);
}

}  // namespace

bool answer(Connection& connection, const Request& request) {
    const auto& path = request.path;
    if (path == "/") return connection.respond(200, "text/html; charset=utf-8", page());
    if (path == "/healthz") return connection.respond(200, "text/plain", "ok\n");
    if (path == "/env") return connection.respond(200, "application/json", env_json());
    if (path == "/gpus") {
        return connection.respond(200, "application/json",
                                  "{\"count\":" + std::to_string(gpu_count()) +
                                      ",\"devices\":" + json_list(devices()) +
                                      ",\"environment\":" + json_list(environment(true)) + "}\n");
    }
    if (path == "/headers") return connection.respond(200, "application/json", headers_json(request));
    if (path == "/echo") return echo(connection, request);
    if (path == "/ws") return websocket(connection, request);
    if (path == "/sse") return events(connection, request);
    if (path.starts_with("/files/")) return file(connection, request);
    if (path == "/exit") return leave(connection, request);
    if (path == "/connect") return probe_connect(connection, request);
    if (path == "/burn") return burn(connection, request);
    if (path == "/alloc") return allocate(connection, request);
    if (path == "/spawn") return spawn(connection, request);
    if (path == "/attack") return attack(connection, request);
    return connection.respond(404, "text/plain", "no such page\n");
}

}  // namespace demo
