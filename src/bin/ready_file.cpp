#include "bin/ready_file.h"

#include <boost/json.hpp>

namespace hostler::bin {

namespace json = boost::json;

Result<> write_ready_file(const std::string& path, const Addresses& addresses) {
    if (path.empty()) return {};
    json::object object;
    for (const auto& [name, address] : addresses) object[name] = address;
    return write_file(path, json::serialize(object));
}

Result<Addresses> read_ready_file(const std::string& path) {
    boost::system::error_code error;
    const json::value value = json::parse(read_file(path), error);
    if (error || !value.is_object()) return fail(Code::unavailable, path + " does not exist yet");
    Addresses addresses;
    for (const auto& [name, address] : value.get_object())
        if (address.is_string()) addresses[std::string{name}] = address.get_string().c_str();
    return addresses;
}

}  // namespace hostler::bin
