// The page on `/`.
#pragma once

#include <span>
#include <string_view>

namespace payments {

struct PageFile {
  const char* path;
  const char* type;
  std::string_view content;
};

/// All that the page is made of.
[[nodiscard]] std::span<const PageFile> page_files();

/// The page's own files and requests, and nothing else: no inline script, no other origin, no frame around it.
inline constexpr const char* page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri "
    "'none'; "
    "form-action 'none'; frame-ancestors 'none'";

}  // namespace payments
