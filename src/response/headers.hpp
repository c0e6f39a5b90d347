// What names and values of stored headers may hold.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

/// Returns how many bytes the headers take. Throws InvalidArgument, naming `whose`, for one that no header line can hold.
std::size_t check_headers(std::string_view whose, const std::vector<Header>& headers);

}  // namespace detail
}  // namespace v0
}  // namespace idem
