// Runs a target over the inputs that were kept, without libFuzzer: what was found once stays found by every compiler.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "fuzz.hpp"

namespace {

std::vector<std::filesystem::path> inputs_in(const std::filesystem::path& corpus) {
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator{corpus}) inputs.push_back(entry.path());
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  file.exceptions(std::ios::badbit);
  if (!file) throw std::runtime_error{"cannot be read"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

void replay(const std::filesystem::path& input) {
  const std::vector<std::uint8_t> bytes = bytes_of(input);
  idem::fuzz::one_input(idem::fuzz::Input{bytes});
  // The nothing that libFuzzer begins with, and what is cut off.
  for (const std::size_t size : {std::size_t{0}, bytes.size() / 2}) {
    idem::fuzz::one_input(idem::fuzz::Input{std::span{bytes}.first(size)});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << *argv << " CORPUS\n";
    return 2;
  }
  try {
    std::size_t replayed = 0;
    for (const std::filesystem::path& input : inputs_in(std::span{argv, 2}[1])) {
      std::cerr << input.string()
                << std::endl;  // a property that does not hold ends the process: the last one is it
      replay(input);
      ++replayed;
    }
    std::cout << replayed << " inputs\n";
    return replayed > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "thrown: " << error.what() << '\n';
    return 1;
  }
}
