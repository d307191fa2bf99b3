#include "model/http.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <new>
#include <string_view>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>
#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/process.hpp"

namespace drift {
namespace {

constexpr long kConnectSeconds = 3;
constexpr long kStalledSeconds = 60;
constexpr long kMostRedirects = 10;

struct FreeCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};
using Curl = std::unique_ptr<CURL, FreeCurl>;

/// The file that a download grows, and what its callbacks leave behind.
struct Transfer {
  CURL* curl = nullptr;
  fs::path part;
  int fd = -1;
  std::uint64_t size = 0;  // of the file
  std::uint64_t most_bytes = 0;
  std::uint64_t answer_from = 0;  // first byte that the server says it sends
  bool begun = false;
  const char* refusal = nullptr;  // why the answer was broken off
  const std::function<void(std::uint64_t)>* on_bytes = nullptr;
  std::exception_ptr error;  // exceptions mustn't pass through C

  Transfer() = default;
  ~Transfer() {
    if (fd >= 0) {
      ::close(fd);
    }
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  [[noreturn]] void fail() const {
    throw trouble(fmt::format("{}: can't be written: {}", part.string(), std::strerror(errno)),
                  "free some space, or set DRIFTAUDIT_CACHE to a folder that has it");
  }

  void open() {
    fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
      fail();
    }
    size = static_cast<std::uint64_t>(info.st_size);
  }

  /// Where the answer's bytes belong: after those that are there, or at the start when the server
  /// sends everything.
  void begin() {
    begun = true;
    if (answer_from != size) {
      size = 0;
      if (::ftruncate(fd, 0) != 0) {
        fail();
      }
    }
  }

  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(size));
      if (n < 0 && errno != EINTR) {
        fail();
      }
      if (n > 0) {
        size += static_cast<std::uint64_t>(n);
        bytes.remove_prefix(static_cast<std::size_t>(n));
      }
    }
  }
};

long status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

std::size_t take_header(char* data, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, count);
  constexpr std::string_view kRange = "content-range: bytes ";
  if (line.starts_with("HTTP/")) {  // another answer begins, after a redirect
    transfer.answer_from = 0;
  } else if (line.size() > kRange.size() &&
             ::strncasecmp(data, kRange.data(), kRange.size()) == 0) {
    std::from_chars(data + kRange.size(), data + count, transfer.answer_from);
  }
  return count;
}

std::size_t take_body(char* data, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const long status = status_of(transfer.curl);
  if (status != 200 && status != 206) {
    return count;  // a page that says why not
  }
  try {
    if (!transfer.begun) {
      transfer.begin();
    }
    if (transfer.answer_from > transfer.size) {
      transfer.refusal = "the server sent another range than it was asked for";
    } else if (transfer.size + count > transfer.most_bytes) {
      transfer.refusal = "the answer is longer than the file should be";
    }
    if (transfer.refusal != nullptr) {
      return 0;
    }
    transfer.append({data, count});
    (*transfer.on_bytes)(transfer.size);
  } catch (...) {
    transfer.error = std::current_exception();
    return 0;
  }
  return count;
}

int check_interrupt(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  try {
    throw_if_interrupted();
  } catch (...) {
    static_cast<Transfer*>(user)->error = std::current_exception();
    return 1;
  }
  return 0;
}

Curl new_request(const std::string& url, Transfer& transfer) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  Curl curl(initialised == CURLE_OK ? curl_easy_init() : nullptr);
  if (curl == nullptr) {
    throw std::bad_alloc();
  }
  transfer.curl = curl.get();
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "driftaudit");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, kMostRedirects);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  // The library itself, unlike the curl program, reads none of these.
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"}) {
    if (const std::string bundle = environment_value(name); !bundle.empty()) {
      curl_easy_setopt(curl.get(), CURLOPT_CAINFO, bundle.c_str());
      break;
    }
  }
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, check_interrupt);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &transfer);
  return curl;
}

bool was_connected(CURL* curl) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &microseconds);
  return microseconds > 0;
}

/// Whether a request that was under way may succeed when repeated; one that reached nobody won't.
bool may_pass(CURLcode code, CURL* curl, long status) {
  switch (code) {
    case CURLE_OK:
      return status == 408 || status == 429 || status >= 500;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    case CURLE_OPERATION_TIMEDOUT:
      return was_connected(curl);
    default:
      return false;
  }
}

HttpReply perform(const Curl& curl, Transfer& transfer) {
  const CURLcode code = curl_easy_perform(curl.get());
  if (transfer.error) {
    std::rethrow_exception(transfer.error);
  }
  HttpReply reply;
  reply.status = status_of(curl.get());
  reply.transient = may_pass(code, curl.get(), reply.status);
  if (transfer.refusal != nullptr) {
    reply.problem = transfer.refusal;
  } else if (code != CURLE_OK) {
    reply.problem = curl_easy_strerror(code);
  }
  return reply;
}

}  // namespace

std::string HttpReply::describe() const {
  return problem.empty() ? fmt::format("HTTP {}", status) : problem;
}

HttpReply http_head(const std::string& url, long seconds) {
  Transfer transfer;
  const Curl curl = new_request(url, transfer);
  curl_easy_setopt(curl.get(), CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, seconds);
  return perform(curl, transfer);
}

HttpReply http_download(const std::string& url, const fs::path& part, std::uint64_t most_bytes,
                        const std::function<void(std::uint64_t)>& on_bytes) {
  Transfer transfer;
  transfer.part = part;
  transfer.most_bytes = most_bytes;
  transfer.on_bytes = &on_bytes;
  transfer.open();
  const Curl curl = new_request(url, transfer);
  const std::string range = fmt::format("{}-", transfer.size);
  if (transfer.size > 0) {
    curl_easy_setopt(curl.get(), CURLOPT_RANGE, range.c_str());
  }
  curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, kStalledSeconds);
  return perform(curl, transfer);
}

}  // namespace drift
