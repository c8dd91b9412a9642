// What the container of an instance is given: ports, variables, volumes, secrets.
#pragma once

#include "api/types_common.h"

namespace hostler::api {

// clang-format off

// Names as Kubernetes writes them.
enum class Protocol { TCP, UDP, SCTP };
BOOST_DESCRIBE_ENUM(Protocol, TCP, UDP, SCTP)

struct Port {
    int port = 0;
    Protocol protocol = Protocol::TCP;
    bool is_public = false;
    bool is_probe = false;
    std::string base_url;
    bool operator==(const Port&) const = default;
};
BOOST_DESCRIBE_STRUCT(Port, (), (port, protocol, is_public, is_probe, base_url))
template <>
inline constexpr auto fields<Port> = std::to_array<Field>({
    {.member = "port", .help = "Where the container listens.", .example = "8080", .min = 1, .max = 65535},
    {.member = "protocol", .help = "Only TCP is served.", .example = "TCP",
     .form = &forms::tcp, .absent = Absent::fills},
    {.member = "is_public", .help = "Open to everyone; otherwise callers need a key or to be signed in.",
     .example = "true", .absent = Absent::fills},
    {.member = "is_probe", .help = "The instance is running only once this port answers.", .example = "true",
     .absent = Absent::fills},
    {.member = "base_url",
     .help = "Path under which the program serves; the probe asks for it, URLs end in it.",
     .example = "/lab", .max = 1024, .form = &forms::base_url, .absent = Absent::fills},
});

struct Env {
    std::string name;
    std::string value;
    bool operator==(const Env&) const = default;
};
BOOST_DESCRIBE_STRUCT(Env, (), (name, value))
template <>
inline constexpr auto fields<Env> = std::to_array<Field>({
    {.member = "name", .help = "The variable.", .example = "HF_HOME", .max = 256, .form = &forms::env_name},
    {.member = "value", .help = "Its value.", .example = "/data/hf", .max = 32768, .absent = Absent::fills},
});

struct VolumeMount {
    std::string name;
    std::string mount_path;
    bool read_only = false;
    bool operator==(const VolumeMount&) const = default;
};
BOOST_DESCRIBE_STRUCT(VolumeMount, (), (name, mount_path, read_only))
template <>
inline constexpr auto fields<VolumeMount> = std::to_array<Field>({
    {.member = "name", .help = "A volume's name or id; empty: the one in storageID.", .example = "models",
     .max = 128, .form = &forms::one_line, .absent = Absent::fills},
    {.member = "mount_path", .help = "Where the container sees it.", .example = "/data", .max = 1024,
     .form = &forms::path},
    {.member = "read_only", .help = "The container cannot change it.", .absent = Absent::fills},
});

struct SecretEnv {
    std::string name;
    std::string secret;
    std::string key;
    bool operator==(const SecretEnv&) const = default;
};
BOOST_DESCRIBE_STRUCT(SecretEnv, (), (name, secret, key))
template <>
inline constexpr auto fields<SecretEnv> = std::to_array<Field>({
    {.member = "name", .help = "The variable.", .example = "HF_TOKEN", .max = 256, .form = &forms::env_name},
    {.member = "secret", .help = "Name of a secret of its tenant.", .example = "huggingface", .form = &forms::label},
    {.member = "key", .help = "Which of its values.", .example = "token", .form = &forms::secret_key},
});

struct SecretFile {
    std::string path;
    std::string secret;
    std::string key;
    bool operator==(const SecretFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(SecretFile, (), (path, secret, key))
template <>
inline constexpr auto fields<SecretFile> = std::to_array<Field>({
    {.member = "path", .help = "The file, or the folder where no key is named.", .example = "/run/secrets/token",
     .max = 1024, .form = &forms::path},
    {.member = "secret", .help = "Name of a secret of its tenant.", .example = "huggingface", .form = &forms::label},
    {.member = "key", .help = "Which of its values; empty: a file of each, in a folder.", .example = "token",
     .max = 128, .form = &forms::one_line, .absent = Absent::fills},
});

struct Template {
    std::vector<Port> ports;
    std::vector<Env> envs;
    std::string cmd;
    std::vector<VolumeMount> volumes;
    bool operator==(const Template&) const = default;
};
BOOST_DESCRIBE_STRUCT(Template, (), (ports, envs, cmd, volumes))
template <>
inline constexpr auto fields<Template> = std::to_array<Field>({
    {.member = "ports", .help = "Ports to be reached from outside.", .max = 32, .absent = Absent::fills},
    {.member = "envs", .help = "Environment of the container.", .max = 256, .absent = Absent::fills},
    {.member = "cmd", .help = "Command line, split as a shell would; empty: the image's own.",
     .example = "jupyter lab --port 8080", .max = 32768, .absent = Absent::fills},
    {.member = "volumes", .help = "Volumes to mount.", .max = 32, .absent = Absent::fills},
});

}  // namespace hostler::api
