"""What came of an attack."""

from dataclasses import dataclass, field

_EXAMPLES = 5


@dataclass
class Outcome:
    """How often it was tried, how it went by name, and some of what went wrong."""

    tried: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    wrong: int = 0
    examples: list[str] = field(default_factory=list)

    def good(self, name: str) -> None:
        self.tried += 1
        self.seen[name] = self.seen.get(name, 0) + 1

    def bad(self, words: str) -> None:
        self.tried += 1
        self.wrong += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(words[:500])
