"""The display that shows nothing."""

from ammi.tuning.display import Display


def test_nothing_is_shown(capfd):
    display = Display()
    with display.bar("work", 3) as advance, display.bar("more work") as other:
        advance(1)
        other(0.5)
    with display.search("a search", trials=3, finished=1) as view:
        view.epoch(1, 1, 50.0)
        view.trial(2, 50.0)
    assert capfd.readouterr() == ("", "")
