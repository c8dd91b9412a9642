// Writes what is made from the tables in the code: hostler-gen ROOT. `./dev gen` runs it; tests fail when its
// output is stale.
#include <cstdio>
#include <fstream>
#include <string>

#include "api/openapi.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: hostler-gen ROOT\n", stderr);
        return 2;
    }
    const std::string path = std::string(argv[1]) + "/openapi.json";
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << hostler::api::openapi();
    file.close();
    if (!file) {
        std::fprintf(stderr, "hostler-gen: cannot write %s\n", path.c_str());
        return 1;
    }
    return 0;
}
