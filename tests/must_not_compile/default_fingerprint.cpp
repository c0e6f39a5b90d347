// A fingerprint that every request shares would answer one request with another's response.
// expect: Fingerprint
#include <idem/outcome.hpp>

idem::Request request_for(const idem::Key& key, const idem::RequestContent& content) {
#ifdef MUST_NOT_COMPILE
  static_cast<void>(content);
  return {key, {}};
#else
  return {key, idem::Fingerprinter{}(content)};
#endif
}
