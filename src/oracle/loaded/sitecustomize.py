"""Tells bisect-ppl which modules an interpreter loads, then does what a sitecustomize of the
user's would have done."""


def _tell():
    import os
    import sys

    told = os.environ.get("BISECT_PPL_MODULES")
    if not told:
        return
    seen = set()

    def hook(event, args):
        if event == "open":
            name = args[0]
        elif event == "import":
            name = args[1]
        elif event == "cpython.run_file":
            name = args[0]
        else:
            return
        if type(name) is not str or name in seen:
            return
        if not name.endswith((".py", ".pyc", ".so")):
            return
        seen.add(name)
        try:
            # Opened anew each time: programs close descriptors that are not theirs.
            file = os.open(told, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.write(file, os.fsencode(os.path.abspath(name)) + b"\n")
            finally:
                os.close(file)
        except OSError:
            pass

    sys.addaudithook(hook)


def _go_on():
    import os
    import sys
    from importlib.machinery import PathFinder

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec

        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_tell()
_go_on()
