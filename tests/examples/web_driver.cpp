#include "examples/web_driver.hpp"

#include <httplib.h>
#include <sys/types.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "idem/base/uuid.hpp"

namespace idem::examples_test {
namespace {

using nlohmann::json;

// Ample, so that only a browser that hangs meets it.
constexpr std::chrono::seconds patience{60};

std::optional<std::string> find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string folders = std::string{path != nullptr ? path : ""} + ":/usr/bin:/usr/lib/chromium:";
  for (std::size_t end = 0; (end = folders.find(':')) != std::string::npos; folders.erase(0, end + 1)) {
    std::string candidate = folders.substr(0, end) + '/' + name;
    if (end > 0 && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

std::string need_program(const std::string& name, const std::string& package) {
  auto found = find_program(name);
  if (!found) {
    throw std::runtime_error{name + " is not found: install it (scripts/setup " + package + ")"};
  }
  return *std::move(found);
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// Processes whose command line has that text.
std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    const char* const end = name.data() + name.size();
    const auto [stopped, failed] = std::from_chars(name.data(), end, process);
    if (failed != std::errc{} || stopped != end || process == getpid()) continue;
    if (content_of(entry.path() / "cmdline").find(text) != std::string::npos) found.push_back(process);
  }
  return found;
}

std::string from_base64(std::string_view text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = alphabet.find(c);
    if (value == std::string_view::npos) break;  // the padding
    bits = bits << 6U | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
    }
  }
  return bytes;
}

// chromedriver says `ChromeDriver was started successfully on port N.`
std::string url_of(Running& driver) {
  constexpr std::string_view before = "started successfully on port ";
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const std::string told = driver.out();
    const auto at = told.find(before);
    if (at != std::string::npos && told.find('\n', at) != std::string::npos) {
      int port = 0;
      std::from_chars(told.data() + at + before.size(), told.data() + told.size(), port);
      return "http://127.0.0.1:" + std::to_string(port);
    }
    if (driver.ended()) throw std::runtime_error{"chromedriver ended: " + told + driver.wait().err};
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"chromedriver does not start"};
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

}  // namespace

WebDriver::Profile::Profile()
    : path_{(std::filesystem::temp_directory_path() / ("idem-browser-" + random_uuid_v4().to_string()))
                .string()} {
  std::filesystem::create_directory(path_);
}

WebDriver::Profile::~Profile() {
  // A killed chromedriver leaves its browser, and a killed browser its helpers.
  const auto end = std::chrono::steady_clock::now() + patience;
  for (bool any = true; any && std::chrono::steady_clock::now() < end;) {
    try {
      const auto left = processes_with(path_);
      for (const pid_t process : left) ::kill(process, SIGKILL);
      any = !left.empty();
    } catch (const std::exception&) {
      // /proc was read while processes ended: there may still be some.
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

WebDriver::WebDriver() {
  // What both write beside the profile goes into its folder too.
  driver_ = std::make_unique<Running>(std::vector<std::string>{
      need_program("env", "coreutils"), "HOME=" + profile_.path(), "TMPDIR=" + profile_.path(),
      need_program("chromedriver", "chromium-driver"), "--port=0"});
  url_ = url_of(*driver_);
  json arguments =
      json::array({"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   "--no-first-run", "--no-proxy-server", "--hide-scrollbars", "--window-size=1200,1000",
                   // Without its driver the browser ends by itself.
                   "--remote-debugging-pipe", "--user-data-dir=" + profile_.path() + "/data"});
  const json capabilities{
      {"goog:chromeOptions",
       {{"binary", need_program("chromium", "chromium")}, {"args", std::move(arguments)}}},
      {"goog:loggingPrefs", {{"browser", "ALL"}}}};
  session_ = ask("POST", "/session", {{"capabilities", {{"alwaysMatch", capabilities}}}}).at("sessionId");
}

WebDriver::~WebDriver() {
  try {
    // The browser ends, and takes its helpers with it.
    ask("DELETE", "/session/" + session_, nullptr);
  } catch (const std::exception&) {
    // The profile's end kills it.
  }
}

json WebDriver::ask(std::string_view method, const std::string& path, const json& body) const {
  httplib::Client client{url_};
  client.set_read_timeout(patience);
  httplib::Result result = method == "DELETE" ? client.Delete(path)
                           : method == "GET"  ? client.Get(path)
                                              : client.Post(path, body.dump(), "application/json");
  if (!result) throw std::runtime_error{"no answer of chromedriver: " + httplib::to_string(result.error())};
  json value = json::parse(result->body).at("value");
  if (result->status != 200) {
    throw std::runtime_error{"chromedriver: " + value.value("error", "") + ": " + value.value("message", "")};
  }
  return value;
}

json WebDriver::command(const std::string& path, const json& body) const {
  return ask("POST", "/session/" + session_ + path, body);
}

json WebDriver::devtools(const std::string& name, const json& parameters) const {
  return command("/goog/cdp/execute", {{"cmd", name}, {"params", parameters}});
}

void WebDriver::open(const std::string& url) const {
  command("/url", {{"url", url}});
}

void WebDriver::reload() const {
  command("/refresh", json::object());
}

json WebDriver::run(const std::string& script, const json& arguments) const {
  return command("/execute/sync", {{"script", script}, {"args", arguments}});
}

void WebDriver::wait_until(const std::string& script, const json& arguments) const {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (run(script, arguments) != true) {
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error{"the page does not come to: " + script + "\nit shows: " + text("body")};
    }
  }
}

json WebDriver::element(const std::string& selector) const {
  return command("/element", {{"using", "css selector"}, {"value", selector}});
}

void WebDriver::press(const std::string& selector, int times) const {
  const json target = element(selector);
  run("arguments[0].scrollIntoView({block: 'center'})", json::array({target}));
  json moves =
      json::array({json{{"type", "pointerMove"}, {"duration", 0}, {"origin", target}, {"x", 0}, {"y", 0}}});
  for (int i = 0; i < times; ++i) {
    moves.push_back({{"type", "pointerDown"}, {"button", 0}});
    moves.push_back({{"type", "pointerUp"}, {"button", 0}});
  }
  const json mouse{{"type", "pointer"}, {"id", "mouse"}, {"actions", std::move(moves)}};
  command("/actions", {{"actions", json::array({mouse})}});
}

void WebDriver::click(const std::string& selector) const {
  press(selector, 1);
}

void WebDriver::double_click(const std::string& selector) const {
  press(selector, 2);
}

void WebDriver::type(const std::string& selector, const std::string& text) const {
  const std::string path = "/element/" + element(selector).begin()->get<std::string>();
  command(path + "/clear", json::object());
  command(path + "/value", {{"text", text}});
}

std::string WebDriver::text(const std::string& selector) const {
  return run("return document.querySelector(arguments[0]).innerText", {selector});
}

std::vector<std::vector<std::string>> WebDriver::rows(const std::string& table) const {
  return run(
      "return [...document.querySelector(arguments[0]).tBodies[0].rows].map("
      "row => [...row.cells].map(cell => cell.textContent))",
      {table});
}

void WebDriver::resize(int width, int height) const {
  // A window is never as narrow as a telephone.
  devtools("Emulation.setDeviceMetricsOverride",
           {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void WebDriver::prefer(const std::string& scheme) const {
  const json feature{{"name", "prefers-color-scheme"}, {"value", scheme}};
  devtools("Emulation.setEmulatedMedia", {{"features", json::array({feature})}});
}

void WebDriver::screenshot(const std::string& path) const {
  const json taken = devtools("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}});
  std::ofstream file{path, std::ios::binary};
  file << from_base64(taken.at("data").get<std::string>());
  if (!file.flush()) throw std::runtime_error{"cannot write " + path};
}

std::vector<std::string> WebDriver::console_errors() const {
  std::vector<std::string> errors;
  for (const json& entry : command("/se/log", {{"type", "browser"}})) {
    // Each status from 400 on is told too.
    if (entry.at("level") == "SEVERE" && entry.at("source") != "network")
      errors.push_back(entry.at("message"));
  }
  return errors;
}

}  // namespace idem::examples_test
