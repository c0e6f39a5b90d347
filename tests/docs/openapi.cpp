#include "docs/openapi.hpp"

#include <cstddef>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace idem::docs_test {
namespace {

// A mapping, a list (its items are called `-`) or a scalar as it is written.
struct Node {
  std::string scalar{};
  std::vector<std::pair<std::string, Node>> members{};

  [[nodiscard]] const Node* find(std::string_view name) const {
    for (const auto& [given, node] : members) {
      if (given == name) return &node;
    }
    return nullptr;
  }
  [[nodiscard]] const Node& at(std::string_view name) const {
    if (const Node* const found = find(name)) return *found;
    throw std::runtime_error{"there is no " + std::string{name}};
  }
};

std::string unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

struct Line {
  std::size_t indent = 0;
  std::string text;
};

std::vector<Line> lines_of(const std::string& yaml) {
  std::vector<Line> lines;
  std::istringstream in{yaml};
  for (std::string line; std::getline(in, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent != std::string::npos && line[indent] != '#') lines.push_back({indent, line.substr(indent)});
  }
  return lines;
}

class Reader {
 public:
  explicit Reader(std::vector<Line> lines) : lines_{std::move(lines)} {}

  Node read() { return block(0); }

 private:
  // From here, all that is indented by at least so much.
  Node block(std::size_t indent) {
    Node node;
    while (at_ < lines_.size() && lines_[at_].indent >= indent) {
      Line& line = lines_[at_];
      if (line.text.starts_with("- ")) {
        // What follows the dash is the item's first line.
        line = {line.indent + 2, line.text.substr(2)};
        node.members.emplace_back("-", block(line.indent));
        continue;
      }
      const std::size_t colon = line.text.find(line.text.ends_with(':') ? ":" : ": ");
      if (colon == std::string::npos) {
        node.scalar = line.text;
        ++at_;
        continue;
      }
      const std::string name = unquoted(line.text.substr(0, colon));
      const std::string value = line.text.size() > colon + 2 ? line.text.substr(colon + 2) : "";
      ++at_;
      if (value == "|" || value == ">-") {
        node.members.emplace_back(name, text(line.indent));
      } else if (value.empty()) {
        node.members.emplace_back(name, block(line.indent + 1));
      } else {
        node.members.emplace_back(name, Node{unquoted(value)});
      }
    }
    return node;
  }

  Node text(std::size_t indent) {
    Node node;
    for (; at_ < lines_.size() && lines_[at_].indent > indent; ++at_) node.scalar += lines_[at_].text + '\n';
    return node;
  }

  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

class Document {
 public:
  explicit Document(const std::string& yaml) : root_{Reader{lines_of(yaml)}.read()} { check_refs(root_); }

  [[nodiscard]] DocumentedAnswers answers() const {
    DocumentedAnswers answers;
    for (const auto& [path, item] : root_.at("paths").members) {
      for (const std::string method : {"get", "post", "put", "patch", "delete"}) {
        const Node* const operation = item.find(method);
        if (operation == nullptr) continue;
        std::string name;
        for (const char c : method) name += static_cast<char>(c - 'a' + 'A');
        name += ' ' + path;
        for (const auto& [status, response] : operation->at("responses").members) {
          answers[name][std::stoi(status)] = answer(resolved(response));
        }
      }
    }
    return answers;
  }

 private:
  [[nodiscard]] const Node& target(std::string_view ref) const {
    if (!ref.starts_with("#/")) throw std::runtime_error{"another document: " + std::string{ref}};
    const Node* node = &root_;
    for (ref.remove_prefix(1); !ref.empty();) {
      ref.remove_prefix(1);
      node = &node->at(ref.substr(0, ref.find('/')));
      ref = ref.find('/') == std::string_view::npos ? std::string_view{} : ref.substr(ref.find('/'));
    }
    return *node;
  }
  [[nodiscard]] const Node& resolved(const Node& node) const {
    const Node* const ref = node.find("$ref");
    return ref == nullptr ? node : target(ref->scalar);
  }
  void check_refs(const Node& node) const {
    for (const auto& [name, member] : node.members) {
      if (name == "$ref") (void)target(member.scalar);
      check_refs(member);
    }
  }

  [[nodiscard]] DocumentedAnswer answer(const Node& response) const {
    DocumentedAnswer answer;
    if (const Node* const headers = response.find("headers")) {
      for (const auto& [name, header] : headers->members) {
        const Node* const required = resolved(header).find("required");
        (required != nullptr && required->scalar == "true" ? answer.headers : answer.optional_headers)
            .insert(name);
      }
    }
    const auto& content = response.at("content").members;
    if (content.size() != 1) throw std::runtime_error{"an answer has not one content type"};
    answer.content_type = content[0].first;
    add_problems(content[0].second, answer.problems);
    return answer;
  }

  // Each value that a schema gives to a `type` by `const` or `enum`.
  void add_problems(const Node& schema, std::set<std::string>& problems) const {
    for (const auto& [name, member] : schema.members) {
      if (name == "$ref") {
        add_problems(target(member.scalar), problems);
      } else if (name != "type") {
        add_problems(member, problems);
      } else if (const Node* const only = member.find("const")) {
        problems.insert(only->scalar);
      } else if (const Node* const any = member.find("enum")) {
        for (const auto& [dash, value] : any->members) problems.insert(value.scalar);
      }
    }
  }

  Node root_;
};

}  // namespace

DocumentedAnswers documented_answers(const std::string& yaml) {
  return Document{yaml}.answers();
}

}  // namespace idem::docs_test
