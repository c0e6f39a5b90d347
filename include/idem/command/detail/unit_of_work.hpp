// What the functions that begin and commit transactions themselves take from a caller's `begin()`.
#pragma once

namespace idem {
inline namespace v0 {
namespace detail {

template <class Unit>
concept Dereferenceable = requires(Unit& unit) {
  *unit;
};
template <class Unit>
concept HasTransaction = requires(Unit& unit) {
  unit.transaction();
};

// A unit of work is a transaction, a (smart) pointer to one, or an object with transaction() and commit().
template <class Unit>
auto& transaction_of(Unit& unit) {
  if constexpr (HasTransaction<Unit>) {
    return unit.transaction();
  } else if constexpr (Dereferenceable<Unit>) {
    return transaction_of(*unit);
  } else {
    return unit;
  }
}

// By its own commit() where it has one: that may do more than the transaction's.
template <class Unit>
void commit(Unit& unit) {
  if constexpr (requires { unit.commit(); }) {
    unit.commit();
  } else {
    commit(*unit);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
