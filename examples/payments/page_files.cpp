#include "page_files.hpp"

#include "embedded_page.hpp"

namespace payments {
namespace {

constexpr PageFile files[] = {{"/", "text/html; charset=utf-8", index_html},
                              {"/page.css", "text/css; charset=utf-8", page_css},
                              {"/page.js", "text/javascript; charset=utf-8", page_js}};

}  // namespace

std::span<const PageFile> page_files() {
  return files;
}

}  // namespace payments
