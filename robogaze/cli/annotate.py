"""`robogaze annotate`: people annotate clips in a browser, or review the events of a run."""

from __future__ import annotations

import json
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli import interrupt
from robogaze.cli.shared.clips import check_exist
from robogaze.cli.shared.types import GivenPath

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robogaze.web.access import AccessRules
    from robogaze.web.adjudicator import Adjudicator
    from robogaze.web.annotator import Annotator

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EVERY_ADDRESS = ("0.0.0.0", "::")
_STORE = "annotations.sqlite"


@click.command()
@click.argument("paths", nargs=-1, type=GivenPath(), metavar="[PATH...]")
@click.option("--as", "name", metavar="NAME", help="Name of the person who annotates.")
@click.option("--store", type=GivenPath(dir_okay=False), default=_STORE, show_default=True,
              help="File that keeps the annotations; several people may share it.")  # fmt: skip
@click.option(
    "--domain", help="Domain (name or folder) that defines what to look for.  [default: the default built-in domain]"
)
@click.option(
    "--annotators",
    metavar="NAME,NAME,...",
    help="Names of all annotators who share the clips. Without --as, each annotator gets a separate address.",
)
@click.option("--annotators-per-clip", type=click.IntRange(min=1), metavar="K", help="Give each clip to K annotators.")
@click.option("--calibration", type=GivenPath(), metavar="REFERENCES",
              help="Reference annotations for calibration. Each annotator first annotates the clips that have a "
              "reference, and the page then shows the differences from the reference.")  # fmt: skip
@click.option("--from", "start", type=GivenPath(), metavar="ANNOTATIONS",
              help="Start each clip with the events of these annotations (any recognised format).")  # fmt: skip
@click.option("--review", type=GivenPath(), metavar="RUN",
              help="Review the events of this run. Without PATH, the clips of the run are used.")  # fmt: skip
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Review a sample of about N clips.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of --sample.")
@click.option(
    "--adjudicate",
    is_flag=True,
    help="Settle disagreements between the annotators in the store. Use --as for the name of the person who decides.",
)
@click.option("--host", default=_LOOPBACK[0], show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on.  [default: the port used last, or a free port]",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
def annotate(
    paths: tuple[Path, ...],
    name: str | None,
    store: Path,
    domain: str | None,
    annotators: str | None,
    annotators_per_clip: int | None,
    calibration: Path | None,
    start: Path | None,
    review: Path | None,
    sample: int | None,
    seed: int,
    adjudicate: bool,
    host: str,
    port: int,
    no_browser: bool,
) -> int:
    """Annotate clips in a browser: what failed, when, and how severely.

    PATH is a video, a folder, a manifest or anything else that `robogaze score` reads. Annotations are saved
    immediately. To continue later, run the same command again. `robogaze annotations` lists the annotations and writes
    them as reports.
    """
    if adjudicate:
        _check_alone(annotators, annotators_per_clip, calibration, start, review, sample)
    names = _names(name, annotators)
    shown = (name,) if name else names
    if not paths and review is None:
        raise click.UsageError("give the clips to annotate: videos, folders or manifests (.jsonl)")
    for given in (paths, *((path,) for path in (calibration, start, review) if path is not None)):
        if given:
            check_exist(*given)

    from datetime import UTC, datetime

    from robogaze.domains import default_domain
    from robogaze.domains.load import find_domain
    from robogaze.web.annotation_store import open_store
    from robogaze.web.opening import AnnotationOptions, clips_of_run, open_annotator

    options = AnnotationOptions(
        names, domain or default_domain(), annotators_per_clip, start, calibration, review, sample, seed
    )
    find_domain(options.domain)
    _check_extra()
    interrupt.keeps(f"annotations are kept in {store}; run the same command again to continue")
    if adjudicate:
        _share(_open_adjudicator(paths, store, options.domain), store, host, port, shown, no_browser=no_browser)
        return 0

    from robogaze.run.clips import list_clips

    entries = list_clips(paths).entries if paths or review is None else clips_of_run(review)
    opened = open_annotator(entries, open_store(store), options, lambda: datetime.now(UTC))
    for entry in opened.unreadable:
        click.echo(f"left out: {entry.address} cannot be read", err=True)
    _share(opened.annotator, store, host, port, shown, no_browser=no_browser)
    return 0


def _check_alone(*others: object) -> None:
    if any(value is not None for value in others):
        raise click.UsageError(
            "--adjudicate can be used only with PATH, --as, --store, --domain, --host, --port and --no-browser"
        )


def _open_adjudicator(paths: tuple[Path, ...], store: Path, domain: str) -> Adjudicator:
    """The disagreements of a store. Everything on which the annotators agree is accepted."""
    from datetime import UTC, datetime

    from robogaze.annotations import ReadOptions
    from robogaze.judges import open_judge
    from robogaze.reporting.wording import count
    from robogaze.run.clips import list_clips
    from robogaze.web.adjudicator import open_adjudicator
    from robogaze.web.annotation_store import open_store

    judge = open_judge("offline", ReadOptions(domain=domain).rubric())
    opened = open_store(store, must_exist=True)
    adjudicator = open_adjudicator(list_clips(paths).entries, opened, domain, judge, lambda: datetime.now(UTC))
    accepted = adjudicator.accept_agreed()
    settled = count(sum(len(compared.settled) for compared in adjudicator.compared.values()), "agreed event")
    disputed = count(sum(len(compared.disagreements) for compared in adjudicator.compared.values()), "disagreement")
    click.echo(f"{settled} and {disputed}; submitted {count(accepted, 'clip')} without disagreements", err=True)
    return adjudicator


def _share(
    annotator: Annotator, store: Path, host: str, port: int, shown: tuple[str, ...], *, no_browser: bool
) -> None:
    """Serve clips to some people until Ctrl-C."""
    kept = _KeptAddress.read(store)
    with _listening(host, port, kept.ports.get(",".join(shown), 0)) as listener:
        address = kept.at(shown, listener.getsockname()[1])
        address.write(store)
        tokens = {address.tokens[person]: person for person in shown}
        _announce(annotator, store, host, listener.getsockname()[1], tokens, no_browser=no_browser)
        _serve(annotator, listener, _rules(host, listener.getsockname()[1], tokens))


def _names(name: str | None, annotators: str | None) -> tuple[str, ...]:
    """The names of all people who share the clips."""
    names = tuple(part.strip() for part in (annotators or name or "").split(",") if part.strip())
    if not names:
        raise click.UsageError("say who annotates: --as NAME")
    if name is not None and name not in names:
        raise click.UsageError(f"--as {name} is not in --annotators {annotators}")
    return names


def _check_extra() -> None:
    """Raise MissingExtra before anything is opened."""
    from importlib.util import find_spec

    from robogaze.errors import MissingExtra

    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra(package, "annotate")


@dataclass(frozen=True)
class _KeptAddress:
    """The token of each annotator, and the last port of each server, by the names of its annotators.

    Tokens and ports are kept next to the store, in a file that only its owner can read. Therefore an open page can find
    a restarted server and save the changes that it could not save before.
    """

    tokens: dict[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, store: Path) -> _KeptAddress:
        """The tokens and ports that are kept for a store; none if the store is new or the file is damaged."""
        try:
            return cls(**json.loads(_kept_file(store).read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return cls()

    def at(self, people: tuple[str, ...], port: int) -> _KeptAddress:
        """A copy with this port, and with a token for each of these people."""
        tokens = {person: self.tokens.get(person) or secrets.token_urlsafe(24) for person in people}
        return _KeptAddress({**self.tokens, **tokens}, {**self.ports, ",".join(people): port})

    def write(self, store: Path) -> None:
        """Keep it."""
        path = _kept_file(store)
        path.touch(mode=0o600)
        path.write_text(json.dumps({"tokens": self.tokens, "ports": self.ports}), encoding="utf-8")


def _kept_file(store: Path) -> Path:
    return store.with_name(f"{store.name}.address")


def _listening(host: str, port: int, last: int) -> socket.socket:
    """A listening socket. If no port is given, the last port is used, or a free port if the last one is in use.

    Raises InputError if the address cannot be used.
    """
    from robogaze.errors import InputError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if not port and last:
        with suppress(OSError):
            return socket.create_server((host, last), family=family)
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(f"--host {host} --port {port} cannot be used: {error.strerror or error}") from error


def _rules(host: str, port: int, tokens: Mapping[str, str]) -> AccessRules:
    from robogaze.web.access import AccessRules

    known = frozenset({*_LOOPBACK, host, socket.gethostname()} if host not in _LOOPBACK else _LOOPBACK)
    return AccessRules(names=tokens, hosts=known, port=port, any_address=host in _EVERY_ADDRESS)


def _announce(
    annotator: Annotator,
    store: Path,
    host: str,
    port: int,
    tokens: Mapping[str, str],
    *,
    no_browser: bool,
) -> None:
    """Print the addresses, one per annotator; if there is only one address, open its page."""
    from robogaze.reporting.wording import count

    at = "127.0.0.1" if host in _EVERY_ADDRESS else host
    at = f"[{at}]" if ":" in at else at
    if host not in _LOOPBACK:
        click.echo(
            f"--host {host}: everyone who can reach this machine and has the address can see the clips and annotate; "
            "the connection is not encrypted",
            err=True,
        )
        if host in _EVERY_ADDRESS:
            click.echo(f"on other machines, write {socket.gethostname()} instead of {at} in the address", err=True)
    click.echo(f"{annotator.title} in {store}; Ctrl-C ends the server, and saved annotations are kept", err=True)
    addresses = {person: f"http://{at}:{port}/?token={token}" for token, person in tokens.items()}
    for person, address in addresses.items():
        click.echo(f"{count(len(annotator.clip_ids(person)), 'clip')} for {person}: ", nl=False, err=True)
        click.echo(address)
    if len(addresses) == 1 and not no_browser:
        import webbrowser

        webbrowser.open(next(iter(addresses.values())))


def _serve(annotator: Annotator, listener: socket.socket, rules: AccessRules) -> None:
    import uvicorn

    from robogaze.web.app import make_app

    config = uvicorn.Config(make_app(annotator, rules), log_level="warning", access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])
