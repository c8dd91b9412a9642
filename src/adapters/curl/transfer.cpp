#include "adapters/curl/transfer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "adapters/curl/mime.h"
#include "core/version.h"

namespace hostler::curl {

namespace {

constexpr std::size_t header_bytes_max = 64 * 1024;

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
    HOSTLER_ASSERT(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

long milliseconds(Duration time) {
    return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

}  // namespace

Transfer::Transfer(HttpCall call, const ReachPolicy& policy)
    : policy_(policy),
      reach_(call.reach),
      is_mail_(false),
      answer_bytes_max_(call.answer_bytes_max),
      upload_(std::move(call.body)),
      easy_(curl_easy_init()) {
    begin(call.url, "http,https", call.deadline, call.authorities);
    CURL* easy = handle();
    // Expect waits for servers that do not know it; a body's type is the caller's to say.
    add(headers_, "Expect:");
    add(headers_, "Content-Type:");
    for (const auto& [name, value] : call.headers)
        add(headers_, value.empty() ? name + ";" : name + ": " + value);
    set(easy, CURLOPT_HTTPHEADER, headers_.get());
    set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(easy, CURLOPT_HEADERFUNCTION, take_header);
    set(easy, CURLOPT_HEADERDATA, this);
    set_body(call);
}

Transfer::Transfer(Mail mail, const ReachPolicy& policy)
    : policy_(policy),
      reach_(mail.reach),
      is_mail_(true),
      answer_bytes_max_(0),
      upload_(mime_message(mail)),
      easy_(curl_easy_init()) {
    begin(mail.server, "smtp,smtps", mail.deadline, mail.authorities);
    CURL* easy = handle();
    set(easy, CURLOPT_USE_SSL,
        static_cast<long>(mail.safety == MailSafety::plain ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    if (!mail.user.empty()) {
        set(easy, CURLOPT_USERNAME, mail.user.c_str());
        set(easy, CURLOPT_PASSWORD, mail.password.c_str());
    }
    set(easy, CURLOPT_MAIL_FROM, ("<" + mail.from + ">").c_str());
    for (const std::string& to : mail.to) add(receivers_, "<" + to + ">");
    set(easy, CURLOPT_MAIL_RCPT, receivers_.get());
    set(easy, CURLOPT_UPLOAD, 1L);
    set(easy, CURLOPT_READFUNCTION, give_body);
    set(easy, CURLOPT_READDATA, this);
    set(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(upload_.size()));
    // After the letter libcurl waits for the answer to QUIT, and its thread with it.
    set(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, 20L);
}

void Transfer::begin(const std::string& url, const char* protocols, Duration deadline,
                     const std::string& authorities) {
    CURL* easy = handle();
    HOSTLER_ASSERT(easy != nullptr);
    set(easy, CURLOPT_URL, url.c_str());
    set(easy, CURLOPT_PROTOCOLS_STR, protocols);
    set(easy, CURLOPT_PROXY, "");  // Of the environment none: it would connect in our place.
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_QUICK_EXIT, 1L);
    set(easy, CURLOPT_FOLLOWLOCATION, 0L);
    set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    // Who waits has the deadline; this one is for what nobody waits for any more.
    set(easy, CURLOPT_TIMEOUT_MS, std::max(1L, milliseconds(deadline)));
    set(easy, CURLOPT_USERAGENT, (std::string{"hostler/"} + std::string{version}).c_str());
    set(easy, CURLOPT_ERRORBUFFER, words_.data());
    set(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    set(easy, CURLOPT_OPENSOCKETDATA, this);
    set(easy, CURLOPT_WRITEFUNCTION, take_body);
    set(easy, CURLOPT_WRITEDATA, this);
    set(easy, CURLOPT_PRIVATE, this);
    if (reach_ == Reach::outside || is_mail_) {
        // A kept connection may lead where a socket would not be opened for this one.
        set(easy, CURLOPT_FRESH_CONNECT, 1L);
        set(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    if (!authorities.empty()) {
        curl_blob blob{const_cast<char*>(authorities.data()), authorities.size(), CURL_BLOB_COPY};
        set(easy, CURLOPT_CAINFO_BLOB, &blob);
        set(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));
    }
}

void Transfer::set_body(const HttpCall& call) {
    CURL* easy = handle();
    const bool get =
        call.method == "GET" || call.method == "HEAD" || (call.method == "DELETE" && upload_.empty());
    if (call.method == "HEAD") {
        set(easy, CURLOPT_NOBODY, 1L);
    } else if (get) {
        set(easy, CURLOPT_HTTPGET, 1L);
    } else {
        set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(upload_.size()));
        set(easy, CURLOPT_POSTFIELDS, upload_.data());
    }
    if (call.method != "HEAD") set(easy, CURLOPT_CUSTOMREQUEST, call.method.c_str());
}

void Transfer::add(List& list, const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    HOSTLER_ASSERT(longer != nullptr);
    static_cast<void>(list.release());
    list.reset(longer);
}

curl_socket_t Transfer::open_socket(void* transfer, curlsocktype, curl_sockaddr* address) {
    auto& self = *static_cast<Transfer*>(transfer);
    if (!admits(self.policy_, self.reach_, address->addr)) {
        self.out_of_reach_ = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t Transfer::take_header(char* line, std::size_t, std::size_t size, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    std::string_view text{line, size};
    if (text.starts_with("HTTP/")) self.answer_.headers.clear();  // What came was an interim answer.
    if ((self.header_bytes_ += size) > header_bytes_max) {
        self.too_large_ = true;
        return 0;
    }
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return size;
    std::string_view value = text.substr(colon + 1);
    const auto begin = value.find_first_not_of(" \t");
    const auto end = value.find_last_not_of(" \t\r\n");
    value = begin == std::string_view::npos || end == std::string_view::npos || end < begin
                ? std::string_view{}
                : value.substr(begin, end - begin + 1);
    self.answer_.headers.emplace_back(text.substr(0, colon), value);
    return size;
}

std::size_t Transfer::take_body(char* bytes, std::size_t, std::size_t size, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    if (self.is_mail_) return size;
    if (self.answer_.body.size() + size > self.answer_bytes_max_) {
        self.too_large_ = true;
        return 0;
    }
    self.answer_.body.append(bytes, size);
    return size;
}

std::size_t Transfer::give_body(char* into, std::size_t, std::size_t size, void* transfer) {
    auto& self = *static_cast<Transfer*>(transfer);
    const std::size_t count = std::min(size, self.upload_.size() - self.uploaded_);
    std::memcpy(into, self.upload_.data() + self.uploaded_, count);
    self.uploaded_ += count;
    return count;
}

Result<HttpAnswer> Transfer::outcome(CURLcode code) {
    if (code != CURLE_OK) return std::unexpected(error_of(code));
    long status = 0;
    curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
    answer_.status = static_cast<int>(status);
    return std::move(answer_);
}

Error Transfer::error_of(CURLcode code) {
    const char* own = words_[0] ? words_.data() : curl_easy_strerror(code);
    if (too_large_) return {Code::exhausted, "the server's answer is too large", "answer_too_large"};
    long status = 0;
    curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
    switch (code) {
        case CURLE_OPERATION_TIMEDOUT: return {Code::timeout, "the server has not answered in time"};
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
            return {Code::invalid, fmt::format("the URL cannot be used: {}", own)};
        case CURLE_LOGIN_DENIED:
            return {Code::unauthenticated, fmt::format("the server refuses to let us in: {}", own)};
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_USE_SSL_FAILED: return {Code::unauthenticated, fmt::format("TLS: {}", own)};
        case CURLE_COULDNT_CONNECT:
            if (out_of_reach_)
                return {Code::forbidden,
                        "the URL leads to an address inside, which is an operator's to allow",
                        "out_of_reach"};
            break;
        default: break;
    }
    if (is_mail_ && status >= 500)
        return {Code::invalid, fmt::format("the mail server refuses the letter ({}): {}", status, own),
                "mail_refused"};
    return {Code::unavailable, fmt::format("the server cannot be reached: {}", own)};
}

}  // namespace hostler::curl
