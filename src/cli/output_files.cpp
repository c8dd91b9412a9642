#include "cli/output_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace hostler::cli {

Result<> OutputFiles::write(OutputNames names, bool error, std::string_view bytes) {
    const std::string& wanted = pattern(error);
    if (wanted.empty() || wanted == "/dev/null") return {};
    names.name = wanted_.name;
    names.user = wanted_.user;
    std::string path = TRY(expand_output(wanted, names, "/", error ? "--error" : "--output"));
    if (wanted.starts_with('/')) path.insert(0, "/");
    auto& file = files_[path];
    if (!file) file.reset(std::fopen(path.c_str(), wanted_.append ? "ae" : "we"));
    const bool well = file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
                      std::fflush(file.get()) == 0;
    if (well) return {};
    auto refusal = fail(Code::invalid, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    refusal.error().help = "Make its folder, or name another file by --output and --error.";
    return refusal;
}

}  // namespace hostler::cli
