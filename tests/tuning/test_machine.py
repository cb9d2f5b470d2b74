"""What goes into every file of results."""

import json
import os
import platform
from datetime import date

from ammi.tuning.machine import machine
from ammi.version import __version__


def test_a_file_of_results_says_on_what_and_when():
    about = machine()
    assert json.loads(json.dumps(about)) == about
    assert about["processor"]
    assert (about["cores"], about["python"]) == (os.cpu_count(), platform.python_version())
    assert (about["ammi"], about["date"]) == (__version__, str(date.today()))
