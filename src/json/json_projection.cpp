#include <algorithm>

#include "base/utf8.hpp"
#include "idem/json/canonical_json.hpp"

namespace idem {
inline namespace v0 {

namespace {

[[noreturn]] void refuse(std::string_view pointer, const char* why) {
  // A pointer comes from the program, not from a request, so it may be shown.
  throw InvalidArgument{"the JSON Pointer \"" + std::string{pointer} + "\" " + why};
}

/// Cuts the first reference token off what is left of a pointer, which begins with a slash.
std::string next_token(std::string_view& rest, std::string_view pointer) {
  rest.remove_prefix(1);
  const std::string_view escaped = rest.substr(0, rest.find('/'));
  rest.remove_prefix(escaped.size());
  std::string token;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '~') {
      token += escaped[i];
      continue;
    }
    ++i;
    if (i == escaped.size() || (escaped[i] != '0' && escaped[i] != '1')) {
      refuse(pointer, "has a '~' that is not followed by 0 or 1");
    }
    token += escaped[i] == '0' ? '~' : '/';
  }
  return token;
}

}  // namespace

JsonProjection::JsonProjection(std::span<const std::string> include, std::span<const std::string> exclude)
    : nodes_(1) {
  nodes_[0].included = include.empty();
  for (const std::string& pointer : include) nodes_[add(pointer)].included = true;
  for (const std::string& pointer : exclude) {
    if (pointer.empty()) refuse(pointer, "would exclude the whole document");
    nodes_[add(pointer)].excluded = true;
  }
  // A child is always added after its parent, so one walk from the back reaches every ancestor.
  std::for_each(nodes_.rbegin(), nodes_.rend(), [this](Node& node) {
    node.leads_to_included =
        node.included || std::any_of(node.children.begin(), node.children.end(),
                                     [this](const auto& c) { return nodes_[c.second].leads_to_included; });
  });
}

std::size_t JsonProjection::add(std::string_view pointer) {
  if (!is_valid_utf8(pointer)) refuse("", "is not valid UTF-8");
  if (!pointer.empty() && pointer.front() != '/') refuse(pointer, "must be empty or begin with '/'");
  std::size_t node = 0;
  for (std::string_view rest = pointer; !rest.empty();) {
    std::string token = next_token(rest, pointer);
    auto& children = nodes_[node].children;
    const auto place = std::lower_bound(children.begin(), children.end(), token,
                                        [](const auto& c, const std::string& t) { return c.first < t; });
    if (place != children.end() && place->first == token) {
      node = place->second;
    } else {
      node = nodes_.size();
      children.emplace(place, std::move(token), node);
      nodes_.emplace_back();
    }
  }
  return node;
}

JsonProjection::Place JsonProjection::root() const noexcept {
  return {0, nodes_[0].included, true};
}

JsonProjection::Place JsonProjection::child(const Place& parent, std::string_view token) const {
  const Place no_pointer{no_node, parent.included, parent.included};
  if (parent.node == no_node) return no_pointer;
  const auto& children = nodes_[parent.node].children;
  const auto found = std::lower_bound(children.begin(), children.end(), token,
                                      [](const auto& c, std::string_view t) { return c.first < t; });
  if (found == children.end() || found->first != token) return no_pointer;
  const Node& node = nodes_[found->second];
  const bool included = parent.included || node.included;
  return {found->second, included, !node.excluded && (included || node.leads_to_included)};
}

}  // namespace v0
}  // namespace idem
