"""Commands of the command line, run in this process."""

from parsimon.cli import main


def ran(capsys, *arguments, code=0):
    """Run a command; return what it printed, and its notes or error."""
    capsys.readouterr()
    found = main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    assert found == code, err
    return out, err


def said(capsys, *arguments, code=0):
    """Run a command; return what it printed, or its error if it fails."""
    out, err = ran(capsys, *arguments, code=code)
    return out if code == 0 else err
