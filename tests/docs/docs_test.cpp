// Keeps the pages true where a program can tell.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace idem {
namespace {

namespace fs = std::filesystem;

const fs::path root{IDEM_SOURCE_DIR};

std::string read(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) throw std::runtime_error{"cannot read " + path.string()};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found{root / "README.md", root / "CHANGELOG.md", root / "UPGRADING.md",
                              root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator{root / "docs"}) found.push_back(entry.path());
  return found;
}

// What stands between the first `begin` after `from` and the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end,
                    std::size_t from = 0) {
  const std::size_t at = text.find(begin, from);
  if (at == std::string::npos) throw std::runtime_error{"there is no \"" + begin + '"'};
  const std::size_t first = at + begin.size();
  const std::size_t last = text.find(end, first);
  if (last == std::string::npos) throw std::runtime_error{"there is no \"" + end + '"'};
  return text.substr(first, last - first);
}

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator at{text.begin(), text.end(), pattern}; at != std::sregex_iterator{}; ++at) {
    found.push_back(at->str(1));
  }
  return found;
}

TEST(Docs, TheReadmesCodeIsTheExample) {
  const std::string readme = read(root / "README.md");
  const std::string example = read(root / "examples/readme.cpp");
  std::size_t from = 0;
  for (const std::string ruler :
       {"// ---- README ----------------------------------------------------------------------------------\n",
        "// ---- README: transact ------------------------------------------------------------\n",
        "// ---- README: inbox ----------------------------------------------------------------\n"}) {
    EXPECT_EQ(between(readme, "```cpp\n", "```", from), between(example, ruler, ruler));
    from = readme.find("```cpp\n", from) + 1;
  }
  EXPECT_EQ(readme.find("```cpp\n", from), std::string::npos);
}

// What stands between the n-th and the next ruler, for n = 0, 2, 4, …
std::string ruled(const std::string& example, const std::string& ruler) {
  std::string code;
  std::size_t from = 0;
  while ((from = example.find(ruler, from)) != std::string::npos) {
    const std::size_t first = from + ruler.size();
    const std::size_t last = example.find(ruler, first);
    if (last == std::string::npos) throw std::runtime_error{"there is no second \"" + ruler + '"'};
    code += example.substr(first, last - first);
    from = last + ruler.size();
  }
  return code;
}

TEST(Docs, TheCodeForPoolsAndEventLoopsIsTheExample) {
  const std::string example = read(root / "examples/event_loop.cpp");
  for (const auto& [page, ruler] :
       {std::pair{"docs/http.md",
                  "// ---- docs/http.md: event loop ----------------------------------------------------\n"},
        std::pair{
            "docs/external-calls.md",
            "// ---- docs/external-calls.md: pool ------------------------------------------------\n"}}) {
    const std::string code = ruled(example, ruler);
    EXPECT_GT(code.size(), 100U);
    EXPECT_NE(read(root / page).find("```cpp\n" + code + "```"), std::string::npos) << page;
  }
}

// The header's comment is that code, line by line.
TEST(Docs, TheExampleOfAStoreOfOnesOwnIsTheConsumersCode) {
  const std::string ruler =
      "// ---- idem/testing/store_conformance.hpp "
      "----------------------------------------------------------\n";
  const std::string code =
      between(read(root / "tests/consumer/find_package/store_of_its_own.cpp"), ruler, ruler);
  std::string comment;
  std::istringstream lines{code};
  for (std::string line; std::getline(lines, line);)
    comment += line.empty() ? "//\n" : "//     " + line + '\n';
  EXPECT_GT(code.size(), 1000U);
  EXPECT_NE(read(root / "include/idem/testing/store_conformance.hpp").find(comment), std::string::npos);
}

// The names of a suite's tests, as sources declare them: TEST(Suite, Name), also over two lines.
std::set<std::string> declared_tests() {
  std::set<std::string> names;
  const std::regex declaration{R"(TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))"};
  for (const fs::path& folder : {root / "tests", root / "src/testing"}) {
    for (const auto& entry : fs::recursive_directory_iterator{folder}) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      const std::string source = read(entry.path());
      for (std::sregex_iterator at{source.begin(), source.end(), declaration}; at != std::sregex_iterator{};
           ++at) {
        names.insert(at->str(1) + "." + at->str(2));
      }
    }
  }
  return names;
}

TEST(Docs, TheTestsThatTheFaultsNameExist) {
  const std::set<std::string> declared = declared_tests();
  const std::vector<std::string> named =
      all_matches(read(root / "docs/faults.md"), std::regex{R"(`([A-Z]\w+\.[A-Z]\w+)`)"});
  EXPECT_GT(named.size(), 50U);
  for (const std::string& name : named) EXPECT_TRUE(declared.contains(name)) << name;
}

TEST(Docs, EachFaultHasATestOrAReason) {
  std::ifstream page{root / "docs/faults.md"};
  int rows = 0;
  const std::regex row{R"(\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|)"};
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| ", 0) != 0 || line.rfind("| #", 0) == 0) continue;
    EXPECT_TRUE(std::regex_match(line, row)) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 57);
}

// scripts/mutate takes an hour, so that one which no longer fits would be noticed late.
TEST(Docs, EachSeededMistakeStillFitsTheCode) {
  int mistakes = 0;
  for (const auto& entry : fs::directory_iterator{root / "tests/mutations"}) {
    SCOPED_TRACE(entry.path().filename());
    const std::string mistake = read(entry.path());
    const std::string path = between(mistake, "\nfile ", "\n");
    const std::string before = between(mistake, "\n=== before\n", "\n=== after\n");
    const std::string source = read(root / path);
    const std::size_t found = source.find(before);
    EXPECT_NE(found, std::string::npos) << path;
    EXPECT_EQ(source.find(before, found + 1), std::string::npos) << path;
    ++mistakes;
  }
  EXPECT_GT(mistakes, 20);
}

std::string without_code(std::string text) {
  for (std::size_t at = text.find("```"); at != std::string::npos; at = text.find("```")) {
    text.erase(at, text.find("```", at + 3) + 3 - at);
  }
  return text;
}

TEST(Docs, LinksPointAtWhatIsThere) {
  for (const fs::path& page : pages()) {
    for (const std::string& link :
         all_matches(without_code(read(page)), std::regex{R"(\]\(([^)#]+)[^)]*\))"})) {
      if (link.find("://") != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(page.parent_path() / link)) << page << " links to " << link;
    }
  }
}

TEST(Docs, IncludedHeadersExist) {
  for (const fs::path& page : pages()) {
    for (const std::string& header : all_matches(read(page), std::regex{R"(#include <(idem/[^>]+)>)"})) {
      EXPECT_TRUE(fs::exists(root / "include" / header)) << page << " includes " << header;
    }
  }
}

}  // namespace
}  // namespace idem
