#include "docs/openapi.hpp"

#include <yaml-cpp/yaml.h>

#include <cctype>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace idem::docs_test {
namespace {

class Document {
 public:
  explicit Document(const std::string& yaml) : root_{YAML::Load(yaml)} { check_refs(root_); }

  [[nodiscard]] DocumentedAnswers answers() const {
    DocumentedAnswers answers;
    for (const auto& path : at(root_, "paths")) {
      for (const auto& operation : path.second) {
        if (!operation.second["responses"]) continue;  // parameters and the like
        std::string name;
        for (const char c : operation.first.as<std::string>()) name += static_cast<char>(std::toupper(c));
        name += ' ' + path.first.as<std::string>();
        for (const auto& response : operation.second["responses"]) {
          answers[name][response.first.as<int>()] = answer(resolved(response.second));
        }
      }
    }
    return answers;
  }

 private:
  [[nodiscard]] static YAML::Node at(const YAML::Node& node, const std::string& name) {
    const YAML::Node found = node[name];
    if (!found) throw std::runtime_error{"there is no " + name};
    return found;
  }
  [[nodiscard]] YAML::Node target(std::string_view ref) const {
    if (!ref.starts_with("#/")) throw std::runtime_error{"another document: " + std::string{ref}};
    // A node that is assigned to would change the document.
    std::vector<YAML::Node> way{root_};
    for (ref.remove_prefix(1); !ref.empty();) {
      ref.remove_prefix(1);
      way.push_back(at(way.back(), std::string{ref.substr(0, ref.find('/'))}));
      ref = ref.find('/') == std::string_view::npos ? std::string_view{} : ref.substr(ref.find('/'));
    }
    return way.back();
  }
  [[nodiscard]] YAML::Node resolved(const YAML::Node& node) const {
    const YAML::Node ref = node["$ref"];
    return ref ? target(ref.as<std::string>()) : node;
  }
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the document is
  void check_refs(const YAML::Node& node) const {
    for (const auto& member : node) {
      if (!node.IsMap()) {
        check_refs(member);
      } else if (member.first.as<std::string>() == "$ref") {
        (void)target(member.second.as<std::string>());
      } else {
        check_refs(member.second);
      }
    }
  }

  [[nodiscard]] DocumentedAnswer answer(const YAML::Node& response) const {
    DocumentedAnswer answer;
    for (const auto& header : response["headers"]) {
      const bool always = resolved(header.second)["required"].as<bool>(false);
      (always ? answer.headers : answer.optional_headers).insert(header.first.as<std::string>());
    }
    const YAML::Node content = at(response, "content");
    if (content.size() != 1) throw std::runtime_error{"an answer has not one content type"};
    answer.content_type = content.begin()->first.as<std::string>();
    add_problems(content.begin()->second, answer.problems);
    return answer;
  }

  // Each value that a schema gives to a `type` by `const` or `enum`.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the document is
  void add_problems(const YAML::Node& schema, std::set<std::string>& problems) const {
    if (schema.IsSequence()) {
      for (const auto& item : schema) add_problems(item, problems);
    }
    if (!schema.IsMap()) return;
    for (const auto& member : schema) {
      const auto name = member.first.as<std::string>();
      if (name == "$ref") {
        add_problems(target(member.second.as<std::string>()), problems);
      } else if (name != "type" || !member.second.IsMap()) {
        add_problems(member.second, problems);
      } else if (member.second["const"]) {
        problems.insert(member.second["const"].as<std::string>());
      } else {
        for (const auto& value : member.second["enum"]) problems.insert(value.as<std::string>());
      }
    }
  }

  YAML::Node root_;
};

}  // namespace

DocumentedAnswers documented_answers(const std::string& yaml) {
  return Document{yaml}.answers();
}

}  // namespace idem::docs_test
