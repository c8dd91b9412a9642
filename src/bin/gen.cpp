// Writes what is made from the tables in the code: hostler-gen ROOT. `./dev gen` runs it; tests fail when its
// output is stale.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "api/openapi.h"
#include "domain/alert/defaults.h"
#include "domain/health/page.h"
#include "domain/lives.h"
#include "http/testing/corpus.h"

namespace {

using hostler::Code;
using hostler::fail;
using hostler::Result;

Result<> write(const std::string& path, std::string_view text) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << text;
    file.close();
    if (!file) return fail(Code::unavailable, "cannot write " + path);
    return {};
}

Result<> draw_lives(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return fail(Code::unavailable, "cannot read " + path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return write(path, TRY(hostler::with_lives(text)));
}

Result<> write_alerts(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return fail(Code::unavailable, "cannot read " + path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return write(path, TRY(hostler::alert::with_tables(text)));
}

Result<> write_faults(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return fail(Code::unavailable, "cannot read " + path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return write(path, TRY(hostler::health::with_tables(text)));
}

Result<> generate(const std::string& root) {
    TRY(write(root + "/openapi.json", hostler::api::openapi()));
    TRY(write(root + "/docs/operate/http-corpus.md", hostler::http::testing::corpus_page()));
    TRY(write_alerts(root + "/docs/operate/alerts.md"));
    TRY(write_faults(root + "/docs/operate/gpu-health.md"));
    return draw_lives(root + "/ARCHITECTURE.md");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: hostler-gen ROOT\n", stderr);
        return 2;
    }
    if (const auto done = generate(argv[1]); !done) {
        fmt::print(stderr, "hostler-gen: {}\n", done.error().message);
        return 1;
    }
    return 0;
}
