#include <idem/zlib/zlib_codec.hpp>
#include <iostream>

int main() {
  const idem::ZlibCodec codec;
  std::cout << codec.name() << '\n';
}
