#include "jobs.h"

#include <fmt/format.h>

namespace hostler::cloud {

void make_image(Cloud& cloud, const std::string& name, const std::string& busybox_names,
                const std::string& script, const std::string& change) {
    const std::string root = cloud.folder + "/image-" + name;
    const Ran packed = run_program(
        {"/bin/bash", "-ec",
         fmt::format("root={0}\nmkdir -p $root/bin $root/tmp\ncp $(command -v busybox) $root/bin/busybox\n"
                     "for name in {1}; do ln -s busybox $root/bin/$name; done\n{2}\n"
                     "tar -C $root -cf $root.tar .\nrm -r $root\n",
                     root, busybox_names, script)});
    ASSERT_EQ(packed.code, 0) << packed.err;
    const Page made = cloud.web.unix_socket(
        "POST", cloud.engine_socket,
        fmt::format("/v1.41/images/create?fromSrc=-&repo=localhost/{}&tag=latest&changes=ENV%20PATH%3D/bin{}",
                    name, change.empty() ? "" : "&changes=" + change),
        read_file(root + ".tar"));
    ASSERT_EQ(made.status, 200) << made.body;
    std::filesystem::remove(root + ".tar");
}

json::object Jobs::wanted(const std::string& name, const std::string& script, json::object more) const {
    json::object body{{"name", name},        {"tenantID", "acme"},    {"image", image_},
                      {"specName", "small"}, {"entrypoint", "sh -c"}, {"cmd", fmt::format("'{}'", script)}};
    for (auto& [key, value] : more) body[key] = value;
    return body;
}

void Jobs::submit(const std::string& name, const std::string& script, json::object more) {
    const Page made = cloud_.api("POST", "/v1/jobs", wanted(name, script, std::move(more)));
    ASSERT_EQ(made.status, 201) << made.body;
}

Page Jobs::job(const std::string& name) {
    return cloud_.api("GET", fmt::format("/v1/jobs/{}?tenantID=acme", name));
}

Page Jobs::wait_for(const std::string& name, const std::string& state, Duration within) {
    Page page;
    EXPECT_TRUE(cloud_.until(
        [&] {
            page = job(name);
            return page.at("/state") == state;
        },
        within))
        << page.body;
    return page;
}

std::string Jobs::logs(const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words{"job", "logs", name, "--tenant", "acme"};
    words.insert(words.end(), more.begin(), more.end());
    return cloud_.cli(std::move(words)).out;
}

void Jobs::expect_gone(const Page& job) {
    for (const json::value& end : json::parse(job.body).at("ends").as_array())
        for (const json::value& instance : end.at("instances").as_array())
            EXPECT_TRUE(cloud_.until([&] {
                return cloud_.containers(std::string{instance.as_string()}).empty();
            })) << instance;
}

}  // namespace hostler::cloud
