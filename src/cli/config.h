// Where the API is and with which key: flags, then environment, then a file.
#pragma once

#include "cli/world.h"
#include "http/client.h"

namespace hostler::cli {

struct Connection {
    // "https://api.example.com", "http://127.0.0.1:8080", "unix:/run/hostler/api.sock"; of several masters,
    // with commas between them.
    std::string api;
    std::string key;
    std::string ca;  // File with the authorities to believe of https://; empty: those of this machine.
};

// The file: HOSTLER_CONFIG, else $XDG_CONFIG_HOME or ~/.config, and hostler/config.toml below it. Empty: no
// home.
std::string config_path(const CliWorld& world);

// Lines `api = "…"`, `key = "…"` and `ca = "…"`, or HOSTLER_API=… and so on as in a shell; others pass.
Connection parse_config(std::string_view text);

// Errors: invalid (no address is known, or it is no proper one; HOSTLER_CONFIG names a file that cannot be
// read).
Result<Connection> connection(const CliWorld& world, Connection flags);

// Replaces the file, readable by its owner only. Errors: invalid.
Result<> save_config(const std::string& path, const Connection& connection);

// A file, or its beginning where it is larger; nullopt: it cannot be read.
std::optional<std::string> read_file(const std::string& path, std::size_t size_max);
// Replaces a file whole, and makes its folder; readable by its owner only. Errors: invalid (it cannot be
// written).
Result<> write_private(const std::string& path, std::string_view text);

struct Base {
    http::Endpoint endpoint;
    std::string host;    // For the Host header.
    std::string prefix;  // Of every path; without '/' at its end.
};
// Errors: invalid.
Result<Base> parse_api_url(std::string_view url);
// Of all the addresses, at least one, with the authorities read. Errors: invalid.
Result<std::vector<Base>> bases_of(const Connection& connection);

}  // namespace hostler::cli
