#include "bin/drivers.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "bin/toml_reader.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t driver_bytes_max = 1 << 20;

DriverStep step_of(Reader& from) {
    DriverStep made{.name = from.text("name"),
                    .help = from.text("help"),
                    .phase = from.choice("phase", StepPhase::prepare),
                    .place = from.choice("place", StepPlace::node),
                    .run = from.texts("run"),
                    .start = from.texts("start"),
                    .done = from.texts("done"),
                    .undo = from.texts("undo"),
                    .outputs = from.texts("outputs")};
    if (from.text("phase").empty()) from.fault("phase", "is missing");
    made.deadline_s = from.get<std::int64_t>("deadlineS").value_or(made.deadline_s);
    made.tries = from.get<std::int64_t>("tries").value_or(made.tries);
    for (const std::string& name : from.texts("roles")) {
        NodeRole role{};
        if (boost::describe::enum_from_string(name.c_str(), role))
            made.roles.push_back(role);
        else
            from.fault("roles", fmt::format("cannot have '{}'", name));
    }
    from.tables("files", [&](Reader& file) {
        StepFile one{.path = file.text("path"), .text = file.text("text")};
        one.mode = file.get<std::int64_t>("mode").value_or(one.mode);
        made.files.push_back(std::move(one));
    });
    return made;
}

Driver driver_of(const toml::table& table, std::vector<std::string>& faults) {
    Reader from{table, "", faults};
    Driver made{.name = from.text("name"),
                .title = from.text("title"),
                .versions = from.texts("versions"),
                .images = from.texts("images"),
                .ports = from.texts("ports"),
                .values = from.named_texts("values")};
    from.tables("steps", [&](Reader& step) { made.steps.push_back(step_of(step)); });
    from.table("leftovers", [&](Reader& left) {
        made.leftovers = {.processes = left.texts("processes"),
                          .mounts = left.texts("mounts"),
                          .interfaces = left.texts("interfaces"),
                          .tables = left.texts("tables"),
                          .files = left.texts("files"),
                          .cgroups = left.texts("cgroups"),
                          .images = left.texts("images")};
    });
    return made;
}

Result<std::string> read_driver(const fs::path& file) {
    std::error_code error;
    if (const auto size = fs::file_size(file, error); error || size > driver_bytes_max)
        return fail(Code::invalid, fmt::format("{}: {}", file.string(),
                                               error ? error.message()
                                                     : fmt::format("more than {} bytes", driver_bytes_max)));
    std::ifstream from{file};
    std::ostringstream text;
    text << from.rdbuf();
    if (!from) return fail(Code::invalid, fmt::format("{} cannot be read", file.string()));
    return text.str();
}

}  // namespace

Result<Driver> parse_driver(std::string_view text, const std::string& name, const std::string& where) {
    std::vector<std::string> faults;
    Driver made;
    try {
        made = driver_of(toml::parse(text), faults);
        if (made.name != name)
            faults.push_back(fmt::format("name is '{}', its folder '{}'", made.name, name));
        if (const auto fit = check(made); !fit)
            for (const FieldError& field : fit.error().fields)
                faults.push_back(fmt::format("{}: {}", field.path, field.message));
    } catch (const toml::parse_error& bad) {
        faults.push_back(fmt::format("line {}: {}", bad.source().begin.line, std::string{bad.description()}));
    }
    if (faults.empty()) return made;
    std::string wrong;
    for (const std::string& fault : faults)
        wrong += fmt::format("{}{}: {}", wrong.empty() ? "" : "\n", where, fault);
    return fail(Code::invalid, std::move(wrong));
}

Result<Drivers> load_drivers(std::span<const EmbeddedDriver> embedded, const fs::path& folder,
                             const Digest& digest) {
    Drivers found;
    const auto take = [&](Driver driver) {
        std::string name = driver.name, sum = driver_digest(driver, digest);
        found.insert_or_assign(std::move(name), KnownDriver{std::move(driver), std::move(sum)});
    };
    for (const auto& [name, text] : embedded)
        take(TRY(parse_driver(text, std::string{name}, fmt::format("the driver {} of this program", name))));
    if (folder.empty()) return found;
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator{folder, error})
        if (const fs::path file = entry.path() / "driver.toml"; fs::exists(file)) files.push_back(file);
    if (error)
        return fail(Code::invalid, fmt::format("the folder of drivers {} cannot be read: {}", folder.string(),
                                               error.message()));
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        const std::string text = TRY(read_driver(file));
        take(TRY(parse_driver(text, file.parent_path().filename().string(), file.string())));
    }
    return found;
}

}  // namespace hostler::bin
