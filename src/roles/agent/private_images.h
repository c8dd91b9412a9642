// Which images of this host came by a login: that they lie here lets nobody else start them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ports/engine.h"
#include "ports/journal.h"

namespace hostler::agent {

// By repository, as registries let people in: a tag or a digest is no other door. What came without a login,
// or was here before, is everybody's.
class PrivateImages {
public:
    explicit PrivateImages(Journal& journal) : journal_(journal) {}

    // Repositories that one host remembers, and projects of one of them; of those the first by name is asked
    // about again.
    static constexpr std::size_t repositories_max = 4096, tenants_max = 256;

    // Whether its registry is to be asked although the image may be here.
    bool is_closed_to(std::string_view image, const std::string& project);
    // Before a pull by a login begins, so that no moment is open. Errors: exhausted (private_images_max);
    // those of Journal::put().
    Task<> close(std::string image);
    // Its registry gave it to this project; without a login: to everybody.
    Task<> given(std::string image, std::string project, bool by_login);

private:
    using Tenants = std::set<std::string>;
    void load();
    Task<> write(std::string repository);

    Journal& journal_;
    bool loaded_ = false;
    std::map<std::string, Tenants> repositories_;
};

// "registry.lan:5000/a/b:1" → "registry.lan:5000/a/b".
std::string repository_of(std::string_view image);

}  // namespace hostler::agent
