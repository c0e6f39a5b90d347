// A headless Chromium that a test drives, by the W3C WebDriver protocol.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "examples/program.hpp"

namespace idem::examples_test {

/// A browser with an empty profile in a folder of its own. With the object all of that is gone: chromedriver, each of
/// Chromium's processes, the folder. Every function throws std::runtime_error where the browser does not do what it is told.
/// Not thread-safe.
class WebDriver {
 public:
  /// Throws where chromedriver or Chromium is not found, or does not start: a test of a page fails then, it does not skip.
  WebDriver();
  WebDriver(const WebDriver&) = delete;
  WebDriver& operator=(const WebDriver&) = delete;
  ~WebDriver();

  /// Returns when the page is loaded.
  void open(const std::string& url) const;
  void reload() const;

  /// What the script returns, called with these arguments.
  nlohmann::json run(const std::string& script,
                     const nlohmann::json& arguments = nlohmann::json::array()) const;
  /// Asks until the script returns true. Throws after a minute.
  void wait_until(const std::string& script, const nlohmann::json& arguments = nlohmann::json::array()) const;

  /// As a person does it: with the mouse, on the middle of the element that the CSS selector finds.
  void click(const std::string& selector) const;
  void double_click(const std::string& selector) const;
  /// With the keyboard, in the place of what was there.
  void type(const std::string& selector, const std::string& text) const;

  /// What the element shows.
  [[nodiscard]] std::string text(const std::string& selector) const;
  /// What each cell of each row of the table's body holds.
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::string& table) const;

  void resize(int width, int height) const;
  /// "dark" or "light".
  void prefer(const std::string& scheme) const;
  /// All of the page as a PNG, in that file.
  void screenshot(const std::string& path) const;
  /// What the browser's console tells as errors of the page, its policy's refusals too.
  [[nodiscard]] std::vector<std::string> console_errors() const;

 private:
  // A folder that is gone with the object, as are all processes whose command line names it.
  class Profile {
   public:
    Profile();
    Profile(const Profile&) = delete;
    Profile& operator=(const Profile&) = delete;
    ~Profile();
    [[nodiscard]] const std::string& path() const { return path_; }

   private:
    std::string path_;
  };

  nlohmann::json ask(std::string_view method, const std::string& path, const nlohmann::json& body) const;
  nlohmann::json command(const std::string& path, const nlohmann::json& body) const;
  nlohmann::json devtools(const std::string& name, const nlohmann::json& parameters) const;
  [[nodiscard]] nlohmann::json element(const std::string& selector) const;
  void press(const std::string& selector, int times) const;

  Profile profile_;
  std::unique_ptr<Running> driver_;  // Ends before the profile does.
  std::string url_;
  std::string session_;
};

}  // namespace idem::examples_test
