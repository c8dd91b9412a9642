// Jobs of a cloud, and images for them that are made of files of this machine.
#pragma once

#include "cloud.h"

namespace hostler::cloud {

// "localhost/NAME:latest", of what `script` (bash) puts into the folder $root. busybox is in it as
// /bin/busybox with these names; PATH is /bin. `change`: of the image, as in a Dockerfile, with %20 for a
// space.
void make_image(Cloud& cloud, const std::string& name, const std::string& busybox_names,
                const std::string& script = "", const std::string& change = "");

// Of the tenant acme, of the spec "small" unless a job says otherwise.
class Jobs {
public:
    Jobs(Cloud& cloud, std::string image) : cloud_{cloud}, image_{std::move(image)} {}

    // `script` without single quotes, for sh. `more`: further fields of the request, or others.
    json::object wanted(const std::string& name, const std::string& script, json::object more = {}) const;
    void submit(const std::string& name, const std::string& script, json::object more = {});
    Page job(const std::string& name);
    Page wait_for(const std::string& name, const std::string& state, Duration within = 60s);
    // As `hostler job logs NAME`, with more words.
    std::string logs(const std::string& name, std::vector<std::string> more = {});
    // Waits until the containers of all its attempts that are over are gone.
    void expect_gone(const Page& job);

private:
    Cloud& cloud_;
    std::string image_;
};

}  // namespace hostler::cloud
