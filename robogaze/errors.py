"""The tree of errors.

    RobogazeError                    something RoboGaze can explain in one sentence
    ├── InputError                   a file or a value from the user cannot be used
    │   ├── OptionError              ... because options contradict each other, or one is missing
    │   ├── VideoError               ... because it is not a video that can be read to its end
    │   └── DomainError              ... because a domain's files contradict themselves (file, line, key)
    ├── MissingExtra                 an optional package is not installed
    ├── RunError                     a run folder is in use, or holds another run
    ├── RunStopped                   the run ends here on purpose; starting it again goes on from here
    │   ├── AnswersPending           a batch of requests waits for its answers
    │   ├── BudgetExhausted          the limit of calls or of cost is reached
    │   └── ModelChanged             a server answers as another model than before
    └── BackendError                 a model gave no answer; `retryable` says whether asking again may help
        ├── RateLimited              retryable, not before `retry_after_s`
        ├── ServerFault              retryable
        ├── ServerStalled            retryable
        ├── Unreachable              retryable
        └── RequestRefused           permanent

Each message is one sentence that names the file, the key or the address and says what to do.
"""

from pathlib import Path


class RobogazeError(Exception):
    """Something RoboGaze can explain in one sentence."""


class InputError(RobogazeError):
    """A file or a value from the user cannot be used."""


class OptionError(InputError):
    """Options contradict each other, or one that is needed is missing."""


class VideoError(InputError):
    """A file is not a video that can be read."""


class DomainError(InputError):
    """A domain's files contradict themselves.

    `path` and `line` (1-based, None when the fault is the file as a whole) say where.
    """

    # The arguments are kept as they came, for an error must survive the way out of a worker process (pickling).
    def __init__(self, message: str, path: Path, line: int | None = None) -> None:
        super().__init__(message, path, line)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else f"{self.path}"
        return f"{where}: {self.message}"


class MissingExtra(RobogazeError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        extra = f"[{self.extra}]"
        return (
            f"{self.package} is not installed; install it with: pip install 'robogaze{extra}', or in a checkout: "
            f"pip install -e '.{extra}'"
        )


class RunError(RobogazeError):
    """A run folder is in use by another process, or holds another run."""


class RunStopped(RobogazeError):
    """The run ends here on purpose; starting it again goes on from here.

    It ends `at_once`, or when every clip has asked what it can.
    """

    at_once = True


class AnswersPending(RunStopped):
    """A batch of requests waits for its answers."""

    at_once = False


class BudgetExhausted(RunStopped):
    """The limit of calls or of cost is reached."""


class ModelChanged(RunStopped):
    """A server answers as another model than before."""


class BackendError(RobogazeError):
    """A model gave no answer."""

    retryable = False


class RateLimited(BackendError):
    """The server asks for patience; `retry_after_s` is what it asked for, None when it did not say."""

    retryable = True

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ServerFault(BackendError):
    """The server failed on its own account (HTTP 5xx)."""

    retryable = True


class ServerStalled(BackendError):
    """No answer came before the time limit."""

    retryable = True


class Unreachable(BackendError):
    """No server answers at the address."""

    retryable = True


class RequestRefused(BackendError):
    """The server understood the request and will not answer it; asking again changes nothing."""
