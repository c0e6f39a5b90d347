// What the fuzz targets share: how an input is read, and how a property is stated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

namespace idem::fuzz {

/// The bytes of an input, taken from the front: what chooses comes first, the text last, so that a kept input can be read.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes)
      : rest_{reinterpret_cast<const char*>(bytes.data()), bytes.size()} {}

  /// 0 where there is none left.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const char first = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<std::uint8_t>(first);
  }

  /// What stands before the next line feed, which is taken too; all of it where there is none.
  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    return line;
  }

  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// One target: states its properties of one input. What it throws has failed, as has a process that ends.
void one_input(Input input);

/// States a property.
inline void expect(bool holds, const char* property) {
  if (holds) return;
  std::cerr << "does not hold: " << property << std::endl;
  std::abort();
}

/// Whether a message holds a piece of a text: one of its words, or a part of one, as long as none of the library's own.
inline bool quotes(std::string_view message, std::string_view text) {
  constexpr std::size_t long_word = 14;
  std::string_view rest = message;
  for (; rest.size() >= long_word; rest.remove_prefix(1)) {
    const std::string_view piece = rest.substr(0, long_word);
    if (piece.find(' ') == std::string_view::npos && text.find(piece) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace idem::fuzz
