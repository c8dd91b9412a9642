// Files that are part of the program, as a browser loads them.
#pragma once

#include <span>
#include <string>

#include "http/message.h"

namespace hostler::http {

struct StaticFile {
    std::string_view path;  // Below the folder: "index.html", "assets/main-4f2a.js".
    std::string_view plain;
    std::string_view gzip;  // The same, compressed.
    std::string_view etag;  // With its quotes; another one when the bytes are others.
};

// A file that the program makes when it is first asked for, and keeps. Its etag is from its bytes.
class MadeFile {
public:
    MadeFile(std::string path, std::string text);
    StaticFile file() const { return {path_, plain_, gzip_, etag_}; }

private:
    const std::string path_, plain_, gzip_, etag_;
};

// Media type by the name's ending, "application/octet-stream" for those that it does not know.
std::string_view media_type(std::string_view path);

// To a GET or HEAD: 200, compressed where the client reads that, or 304 when it has these bytes. `keep`: the
// name changes with the bytes, so that it is loaded once; else it is asked for each time.
Response file_response(const StaticFile& file, const Headers& asked, bool keep);

}  // namespace hostler::http
