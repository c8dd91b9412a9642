// One exchange with a server: what libcurl is told of it, and what it makes of the end. Not for the loop's
// thread once it has begun.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>

#include "adapters/curl/reach.h"

namespace hostler::curl {

class Transfer {
public:
    Transfer(HttpCall call, const ReachPolicy& policy);
    Transfer(Mail mail, const ReachPolicy& policy);
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    CURL* handle() const { return easy_.get(); }
    Result<HttpAnswer> outcome(CURLcode code);  // Once; of a letter an empty answer.

private:
    struct Cleanup {
        void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
        void operator()(curl_slist* list) const { curl_slist_free_all(list); }
    };
    using List = std::unique_ptr<curl_slist, Cleanup>;

    void begin(const std::string& url, const char* protocols, Duration deadline,
               const std::string& authorities);
    void set_body(const HttpCall& call);
    static void add(List& list, const std::string& line);
    Error error_of(CURLcode code);

    static curl_socket_t open_socket(void* transfer, curlsocktype, curl_sockaddr* address);
    static std::size_t take_header(char* line, std::size_t, std::size_t size, void* transfer);
    static std::size_t take_body(char* bytes, std::size_t, std::size_t size, void* transfer);
    static std::size_t give_body(char* into, std::size_t, std::size_t size, void* transfer);

    const ReachPolicy& policy_;
    const Reach reach_;
    const bool is_mail_;
    const std::size_t answer_bytes_max_;
    std::string upload_;  // A request's body, or a letter; libcurl reads it here.
    std::size_t uploaded_ = 0;
    HttpAnswer answer_;
    std::size_t header_bytes_ = 0;
    bool too_large_ = false;
    bool out_of_reach_ = false;
    std::array<char, CURL_ERROR_SIZE> words_{};
    List headers_;
    List receivers_;
    std::unique_ptr<CURL, Cleanup> easy_;  // Goes first.
};

}  // namespace hostler::curl
