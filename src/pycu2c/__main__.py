"""``python -m pycu2c``: the command line."""

from pycu2c.cli.main import main

if __name__ == "__main__":
    main(prog_name="python -m pycu2c")
