// A PostgreSQL server of a test's own, on a socket in a folder of its own; it goes with the test, however
// that ends.
#pragma once

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "core/result.h"

namespace hostler::postgres::testing {

class Server {
public:
    Server() {
        std::string pattern = std::filesystem::temp_directory_path() / "hostler-postgres-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
        // The server refuses to be root's.
        if (::getuid() == 0) {
            const passwd* user = ::getpwnam("postgres");  // NOLINT(concurrency-mt-unsafe)
            HOSTLER_ASSERT(user && "the package postgresql is not installed");
            uid_ = user->pw_uid;
            gid_ = user->pw_gid;
            HOSTLER_ASSERT(::chown(folder_.c_str(), uid_, gid_) == 0);
        }
        finish(spawn({"initdb", "-D", folder_ + "/data", "-A", "trust", "-U", "postgres", "--no-sync",
                      "--no-instructions", "-E", "UTF8", "--locale=C"}));
        // Each test waits for its own server's disk otherwise; that commits survive is PostgreSQL's business.
        std::ofstream{folder_ + "/data/postgresql.conf", std::ios::app}
            << "listen_addresses = ''\nfsync = off\nfull_page_writes = off\nshared_buffers = 32MB\n"
            << "unix_socket_directories = '" << folder_ << "'\n";
        start();
    }
    ~Server() {
        stop(SIGQUIT);
        std::filesystem::remove_all(folder_);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void start() {
        server_ = spawn({"postgres", "-D", folder_ + "/data"});
        for (int left = 3000; left > 0; --left) {
            if (finished(spawn({"pg_isready", "-q", "-h", folder_, "-U", "postgres"}))) return;
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        HOSTLER_ASSERT(false && "the server does not answer within 30 s");
    }
    // SIGINT ends it in order, SIGQUIT at once, as a crash does for those who are connected.
    void stop(int signal) {
        if (server_ <= 0) return;
        ::kill(server_, signal);
        ::waitpid(std::exchange(server_, 0), nullptr, 0);
    }

    // A new database, sorted as people of that language sort unless our schema says otherwise.
    std::string new_database() {
        const std::string name = fmt::format("d{}", ++databases_);
        sql("postgres",
            fmt::format("CREATE DATABASE {} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'",
                        name));
        return name;
    }
    std::string url(const std::string& database) const {
        return fmt::format("postgresql:///{}?host={}&user=postgres", database, folder_);
    }
    void sql(const std::string& database, const std::string& text) {
        finish(spawn(
            {"psql", "-q", "-h", folder_, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-c", text, database}));
    }

private:
    pid_t spawn(std::vector<std::string> words) {
        words[0] = "/usr/lib/postgresql/15/bin/" + words[0];
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const std::string log = folder_ + "/log";
        const pid_t child = ::fork();
        HOSTLER_ASSERT(child >= 0);
        if (child > 0) return child;
        if (uid_ != 0 && (::setgroups(0, nullptr) != 0 || ::setgid(gid_) != 0 || ::setuid(uid_) != 0))
            ::_exit(126);
        ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
        if (!std::freopen(log.c_str(), "a", stdout) || ::dup2(1, 2) < 0) ::_exit(126);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    static bool finished(pid_t child) {
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    void finish(pid_t child) {
        if (finished(child)) return;
        std::ifstream log{folder_ + "/log"};
        fmt::print(stderr, "{}\n", std::string{std::istreambuf_iterator<char>{log}, {}});
        HOSTLER_ASSERT(false && "a program of PostgreSQL failed");
    }

    std::string folder_;
    uid_t uid_ = 0;
    gid_t gid_ = 0;
    pid_t server_ = 0;
    int databases_ = 0;
};

// One for all tests of a program, a database each.
inline Server& shared() {
    static Server one;
    return one;
}

}  // namespace hostler::postgres::testing
