#include "adapters/docker/host_files.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

namespace hostler::docker {

namespace fs = std::filesystem;

namespace {

using Options = std::map<std::string, std::string>;

constexpr const char* authorities = "/etc/ssl/certs/ca-certificates.crt";  // Of Debian, in the steps too.
constexpr const char* pip_authorities = "/etc/pip-authorities.crt";
// Debian and its kin, Red Hat's, SUSE's, Alpine's.
constexpr std::array authorities_usual{authorities, "/etc/pki/tls/certs/ca-bundle.crt",
                                       "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
// Others are of no use elsewhere: they name files of the host, or say what pip is to do.
constexpr std::array pip_options{"index-url", "extra-index-url", "trusted-host", "proxy",
                                 "timeout",   "retries",         "cert"};

std::string text_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    std::stringstream text;
    if (file) text << file.rdbuf();
    return std::move(text).str();
}

std::string trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return std::string{text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin)};
}

// As pip reads names: "Default_Timeout" is another name of "timeout".
std::string option_name(std::string name) {
    for (char& c : name) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name == "default-timeout" ? "timeout" : name;
}

// The options of one section. A line that begins with a blank goes on with the one before.
Options section_of(const std::string& file, std::string_view section) {
    Options found;
    std::istringstream lines{file};
    std::string name;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        const std::string text = trimmed(line);
        if (text.empty() || text[0] == '#' || text[0] == ';') continue;
        if (line[0] == ' ' || line[0] == '\t') {
            if (inside && !name.empty()) found[name] += " " + text;
        } else if (text[0] == '[') {
            inside = text == "[" + std::string{section} + "]";
            name.clear();
        } else if (const auto end = text.find_first_of("=:"); inside && end != std::string::npos) {
            name = option_name(trimmed(text.substr(0, end)));
            found[name] = trimmed(text.substr(end + 1));
        }
    }
    return found;
}

std::string variable_of(std::string_view option) {
    std::string name = "PIP_";
    for (const char c : option)
        name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

// A later one counts more: of every command, of `install`, of the environment.
Options pip_settings(const fs::path& root, const Variables& variables) {
    const char* named = variables("PIP_CONFIG_FILE");
    const std::string file = text_of(root / fs::path{named ? named : "/etc/pip.conf"}.relative_path());
    Options settings = section_of(file, "install");
    settings.merge(section_of(file, "global"));
    if (const char* value = variables("PIP_DEFAULT_TIMEOUT")) settings["timeout"] = value;
    for (const char* option : pip_options)
        if (const char* value = variables(variable_of(option).c_str())) settings[option] = value;
    return settings;
}

// In one line, as none of these options has a value with a line break.
std::string on_one_line(std::string value) {
    std::ranges::replace_if(value, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return value;
}

std::string read_authorities(const fs::path& root, const Variables& variables) {
    if (const char* named = variables("SSL_CERT_FILE"))
        return text_of(root / fs::path{named}.relative_path());
    for (const char* usual : authorities_usual)
        if (std::string text = text_of(root / fs::path{usual}.relative_path()); !text.empty()) return text;
    return {};
}

}  // namespace

std::vector<ArchiveFile> host_files(const fs::path& root, const Variables& variables) {
    std::vector<ArchiveFile> files{{"host/", {}, 0755}, {"host/etc/", {}, 0755}};
    const auto add = [&](const char* path, std::string text) {
        files.push_back({"host" + std::string{path}, std::move(text)});
    };
    Options settings = pip_settings(root, variables);
    std::string trusted = read_authorities(root, variables);
    std::string of_pip;
    if (const auto cert = settings.find("cert"); cert != settings.end())
        of_pip = text_of(root / fs::path{cert->second}.relative_path());
    settings.erase("cert");
    if (!of_pip.empty())
        settings["cert"] = pip_authorities;
    else if (!trusted.empty())
        settings["cert"] = authorities;  // Otherwise pip may have some of its own.
    std::string conf = "[global]\n";
    for (const char* option : pip_options)
        if (const auto found = settings.find(option); found != settings.end())
            conf += found->first + " = " + on_one_line(found->second) + "\n";
    add("/etc/pip.conf", std::move(conf));
    if (!of_pip.empty()) add(pip_authorities, std::move(of_pip));
    if (trusted.empty()) return files;
    files.push_back({"host/etc/ssl/", {}, 0755});
    files.push_back({"host/etc/ssl/certs/", {}, 0755});
    add(authorities, std::move(trusted));
    return files;
}

std::string proxy_arguments(const Variables& variables) {
    boost::json::object given;
    for (const char* name : {"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "HTTP_PROXY",
                             "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY"})
        if (const char* value = variables(name); value && *value) given[name] = value;
    return boost::json::serialize(given);
}

}  // namespace hostler::docker
