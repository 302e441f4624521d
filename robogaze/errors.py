"""Exceptions, and the kinds of failure that a report records.

    RobogazeError                    the base of all errors; the message explains what is wrong and what to do
    ├── InputError                   a file or a value from the user is invalid
    │   ├── OptionError              options contradict each other, or one is missing
    │   ├── VideoError               a video cannot be read to its end
    │   └── DomainError              the files of a domain are inconsistent (names file and line)
    ├── MissingExtra                 an optional package is not installed
    ├── RunError                     a run folder is locked or belongs to another run
    ├── RunStopped                   the run stops on purpose; the same command resumes it
    │   ├── AnswersPending           the answers to a batch of requests are not there yet
    │   ├── BudgetExhausted          the limit of calls or of cost is reached
    │   └── ModelChanged             a server serves another model than at the start of the run
    ├── EnvironmentFault             an environment gave no usable reply; `kind` says why
    ├── BuildFailed                  an environment cannot be built from what the models answered
    └── BackendError                 a request to a model got no answer; `kind` says why
        ├── RateLimited              retryable: too many requests (HTTP 429)
        ├── ServerFault              retryable: the server failed (HTTP 5xx) or sent an unreadable reply
        ├── ServerStalled            retryable: no reply within the time limit
        ├── Unreachable              retryable: no server answers at the address
        └── RequestRefused           permanent: the server or the model refused the request

A message is one sentence. The message names the file, the key or the address and says what to do. A parameter is
written as `out`; the command line shows it as the option --out.
"""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Literal


class FailureKind(StrEnum):
    """Why a part of a clip could not be judged. The kind alone decides whether a retry is possible.

    unreachable         no server answered at the address
    rate_limited        the server accepted no further requests
    server_fault        the server failed, or its reply could not be read
    stalled             the server did not reply within the time limit
    refused             the server or the model refused the request
    invalid_answer      no answer matched its contract (schema), after all attempts
    undecided           the answers did not decide a hypothesis, or did not agree
    too_many_pictures   the request needed more pictures than the model takes and was not sent
    nothing_to_examine  the clip lacks what the pipeline needs, such as an instruction
    not_measured        too many frames could not be measured
    evidence_only       a measurement was too weak to report an event or to rule one out
    looped              the model repeated itself without a new result, and a play ended
    """

    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate_limited"
    SERVER_FAULT = "server_fault"
    STALLED = "stalled"
    REFUSED = "refused"
    INVALID_ANSWER = "invalid_answer"
    UNDECIDED = "undecided"
    TOO_MANY_PICTURES = "too_many_pictures"
    NOTHING_TO_EXAMINE = "nothing_to_examine"
    NOT_MEASURED = "not_measured"
    EVIDENCE_ONLY = "evidence_only"
    LOOPED = "looped"

    @property
    def unanswered(self) -> bool:
        """No answer was received: the request may be sent again, and the next start of the run sends it again."""
        return self in (
            FailureKind.UNREACHABLE,
            FailureKind.RATE_LIMITED,
            FailureKind.SERVER_FAULT,
            FailureKind.STALLED,
        )

    @property
    def retried_on_request(self) -> bool:
        """An answer was received but could not be used: `--retry-failed` requests another answer."""
        return self in (FailureKind.REFUSED, FailureKind.INVALID_ANSWER, FailureKind.UNDECIDED)


class RobogazeError(Exception):
    """The base of all errors. The message is shown to the user without a traceback."""


class InputError(RobogazeError):
    """A file or a value from the user is invalid."""


class OptionError(InputError):
    """Options contradict each other, or a required option is missing."""


class VideoError(InputError):
    """A video cannot be read to its end."""


class DomainError(InputError):
    """The files of a domain are inconsistent.

    `path` and `line` say where the error is. Lines are counted from 1; if `line` is None, the error concerns the whole
    file.
    """

    # All arguments are passed on, so that the error can be pickled: it may come from a worker process.
    def __init__(self, message: str, path: Path, line: int | None = None) -> None:
        super().__init__(message, path, line)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else f"{self.path}"
        return f"{place}: {self.message}"


class MissingExtra(RobogazeError):
    """An optional package is not installed. `extra` is the extra of RoboGaze that installs it."""

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
    """A run folder is locked by another process, or belongs to another run."""


class RunStopped(RobogazeError):
    """The run stops on purpose; the same command resumes it.

    `at_once` says whether the run stops immediately. If it is False, the other clips of the run still send their
    requests first.
    """

    at_once = True


class AnswersPending(RunStopped):
    """The answers to a batch of requests are not there yet.

    The keys in `pending` are counted only when the message is read, so the message includes requests that were written
    after the error was raised.
    """

    at_once = False

    def __init__(self, folder: Path, pending: Collection[str]) -> None:
        super().__init__(folder, pending)
        self.folder = folder
        self.pending = pending

    def __str__(self) -> str:
        count = len(self.pending)
        return (
            f"{'1 request is' if count == 1 else f'{count:,} requests are'} pending in {self.folder}; run them with a "
            "batch service, put the answers into the same folder as JSONL, and run the same command again"
        )


class BudgetExhausted(RunStopped):
    """The limit of calls or of cost is reached."""


class ModelChanged(RunStopped):
    """A server serves another model than at the start of the run."""


FaultKind = Literal["unreachable", "timeout", "refused", "invalid_reply"]


class EnvironmentFault(RobogazeError):
    """An interactive environment gave no usable reply.

    unreachable    nothing answers at its address, or its process ended
    timeout        no reply within the time limit
    refused        the environment does not accept the request
    invalid_reply  the reply cannot be read, or contradicts the protocol
    """

    def __init__(self, message: str, kind: FaultKind) -> None:
        super().__init__(message, kind)
        self.message = message
        self.kind: FaultKind = kind

    def __str__(self) -> str:
        return self.message


class BuildFailed(RobogazeError):
    """An interactive environment cannot be built from the models' answers."""


class BackendError(RobogazeError):
    """A request to a model got no answer. Each subclass has its own `kind`. A plain BackendError, which belongs to no
    subclass, is not retried.
    """

    kind = FailureKind.REFUSED

    @property
    def retryable(self) -> bool:
        """Whether the request may be sent again."""
        return self.kind.unanswered


class RateLimited(BackendError):
    """Too many requests. `retry_after_s` is the server's Retry-After in seconds, None when it sent none."""

    kind = FailureKind.RATE_LIMITED

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ServerFault(BackendError):
    """The server failed (HTTP 5xx) or sent a reply that cannot be read."""

    kind = FailureKind.SERVER_FAULT


class ServerStalled(BackendError):
    """The server did not reply within the time limit."""

    kind = FailureKind.STALLED


class Unreachable(BackendError):
    """No server answers at the address."""

    kind = FailureKind.UNREACHABLE


class RequestRefused(BackendError):
    """The server or the model refused the request; the same request would be refused again."""

    kind = FailureKind.REFUSED
