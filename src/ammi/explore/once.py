"""once: a property that is computed at its first use, and once, however many threads use it."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  # used as `property` is
    """A property that keeps its value. Other threads wait while it is computed; other properties do not."""

    def __init__(self, compute: Callable[[Any], T]):
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._lock_name = name, f"_lock of {name}"

    @overload
    def __get__(self, instance: None, owner: type) -> "once[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> "once[T] | T":
        if instance is None:
            return self
        kept = vars(instance)
        with kept.setdefault(self._lock_name, Lock()):
            if self._name not in kept:
                kept[self._name] = self._compute(instance)
        return kept[self._name]
