#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace drift {

/// How a request ended.
struct HttpReply {
  long status = 0;         ///< of the last answer after redirects; 0: none came
  std::string problem;     ///< empty: the whole answer came
  bool transient = false;  ///< the same request may well succeed later

  bool ok() const { return problem.empty() && status >= 200 && status < 300; }
  /// "HTTP 404", or the problem.
  std::string describe() const;
};

/// Asks for a resource's existence, within `seconds`. Proxies and certificates as curl's variables
/// (`https_proxy`, `CURL_CA_BUNDLE`, `SSL_CERT_FILE`, …) say.
HttpReply http_head(const std::string& url, long seconds);

/// Appends a resource to `part`, from where that file ends; a server that can't resume makes it
/// start anew. Stops when more than `most_bytes` come or nothing comes for long. `on_bytes` is told
/// the file's size so far. Errors (trouble): the file can't be written; interruptions.
HttpReply http_download(const std::string& url, const std::filesystem::path& part,
                        std::uint64_t most_bytes,
                        const std::function<void(std::uint64_t)>& on_bytes);

}  // namespace drift
