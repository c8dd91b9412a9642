// The Exec port over the Docker Engine API: dockerd or podman.
#pragma once

#include "adapters/docker/api.h"
#include "core/task_group.h"
#include "ports/exec.h"

namespace hostler::docker {

class DockerExec final : public Exec {
public:
    DockerExec(Loop& loop, Net& net, Timers& timers, std::string socket);

    Task<ProcessPtr> start(ExecSpec spec) override;
    Task<PathFacts> look(std::string container, std::string path) override;
    Task<ProcessPtr> read_files(std::string container, std::string path) override;
    Task<ProcessPtr> write_files(std::string container, std::string folder) override;

private:
    Task<http::ReplyPtr> ask(std::string method, std::string path, std::string body, Duration head_time);
    Task<Error> missing(std::string container, std::string path);
    Error refused(int status, std::string_view body, const std::string& container) const;

    Loop& loop_;
    Timers& timers_;
    Api api_;
    http::Client client_;
};

// The body of POST /containers/NAME/exec, and of the start that follows.
std::string exec_body(const ExecSpec& spec);
std::string exec_start_body(const ExecSpec& spec);
// The header X-Docker-Container-Path-Stat. Errors: internal.
Result<PathFacts> parse_path_facts(std::string_view header);
// Of both streams: eight bytes tell which, and how much comes. Gives pieces as they come.
class StreamFrames {
public:
    struct Piece {
        std::string_view bytes;
        bool error = false;
    };
    // Takes the next piece off the front of `bytes`. nullopt: more is needed.
    std::optional<Piece> next(std::string_view& bytes);
    void give_back(std::size_t size, std::string_view& bytes);  // The last bytes of that piece.

private:
    std::string header_;
    std::uint64_t left_ = 0;
    bool error_ = false;
};

}  // namespace hostler::docker
