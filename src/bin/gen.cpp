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

// The document with its parts written anew.
Result<> rewrite(const std::string& path, Result<std::string> (*written)(std::string_view document)) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return fail(Code::unavailable, "cannot read " + path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return write(path, TRY(written(text)));
}

Result<> generate(const std::string& root) {
    TRY(write(root + "/openapi.json", hostler::api::openapi()));
    TRY(write(root + "/docs/operate/http-corpus.md", hostler::http::testing::corpus_page()));
    TRY(rewrite(root + "/docs/operate/alerts.md", hostler::alert::with_tables));
    TRY(rewrite(root + "/docs/operate/gpu-health.md", hostler::health::with_tables));
    return rewrite(root + "/ARCHITECTURE.md", hostler::with_lives);
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
