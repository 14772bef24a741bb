"""Loupe from a program: `from app.client import Loupe`; the operations of the API, typed."""

from __future__ import annotations

import io
import json
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote, urlencode
from uuid import uuid4

from app.operations.jobs import EventPage, Job
from app.operations.labels import Image, Saved
from app.operations.models import Model, Training
from app.operations.operation import Operation
from app.operations.projects import ProjectSummary
from app.operations.review import Chain, Decided, RunFigures
from app.operations.runs import ChangedImage, Run, SeenImage
from app.operations.table import OPERATIONS
from backend.domain import FINAL, Box, Detection, JobEvent, JobState, Project
from backend.errors import Conflict, Denied, Invalid, LoupeError, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    import pyarrow

HERE = "http://127.0.0.1:7860"
PUBLIC = "/api/v1"
TRIES, WAIT = 6, 0.5
KINDS: Mapping[int, type[LoupeError]] = {
    400: Refused,
    401: Denied,
    403: Denied,
    404: NotFound,
    422: Invalid,
}
AGAIN = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
Report = Literal["csv", "parquet", "coco", "html", "pdf"]
T = TypeVar("T")


class Loupe:
    """A site that is asked by a token; what it refuses is raised as the sentence it says."""

    def __init__(self, token: str, address: str = HERE, timeout: float = 120.0) -> None:
        self._token = token
        self._address = address.rstrip("/")
        self._timeout = timeout

    def projects(self) -> Iterator[ProjectSummary]:
        """The projects that the token enters."""
        return self._every("projects")

    def create_project(
        self, name: str, task: str = "detect", classes: Sequence[str] = ()
    ) -> Project:
        """Make a project."""
        made: Project = self.ask("create_project", name=name, task=task, classes=[*classes])
        return made

    def images(self, project: str, **which: Any) -> Iterator[Image]:
        """Images with their labels; by `states`, `splits`, `classes`, `groups`, `text`."""
        return self._every("images", project=project, **which)

    def labels(self, image: int) -> Image:
        """One image with its labels."""
        found: Image = self.ask("labels", image=image)
        return found

    def picture(self, image: int, target: Path | str) -> Path:
        """The picture of an image, as it came."""
        return self._file(Path(target), "picture", image=image)

    def save_labels(self, image: int, version: int, boxes: Iterable[Box], **more: Any) -> Saved:
        """Save all boxes over the version that was read; `state`, `label`, `comment` besides."""
        told = [_box(one) for one in boxes]
        saved: Saved = self.ask("save_labels", image=image, version=version, boxes=told, **more)
        return saved

    def import_(self, project: str, path: Path | str, **how: Any) -> Job:
        """Bring in an archive or a picture; `format`, `masks`, `lot` say how."""
        path = Path(path)
        job: Job = self.ask("import", path, project=project, name=path.name, **how)
        return job

    def export(self, project: str, format: str, **which: Any) -> Job:
        """Write pictures and labels; `download` fetches what the job has written."""
        job: Job = self.ask("export", project=project, format=format, **which)
        return job

    def download(self, job: int, target: Path | str) -> Path:
        """The file of an export that is done."""
        return self._file(Path(target), "file", job=job)

    def propose(self, project: str, **which: Any) -> Job:
        """Let the golden board propose boxes for images."""
        job: Job = self.ask("propose", project=project, **which)
        return job

    def models(self, project: str) -> Sequence[Model]:
        """The models of a project, the newest first."""
        found: Sequence[Model] = self.ask("models", project=project).items
        return found

    def train(self, project: str, family: str, **how: Any) -> Training:
        """Queue a training; `start`, `parameters`, `seed` say how."""
        begun: Training = self.ask("train", project=project, family=family, **how)
        return begun

    def detect(self, project: str, model: str = "champion", **how: Any) -> Job:
        """Queue a detection; its run has the job's number."""
        job: Job = self.ask("detect", project=project, model=model, **how)
        return job

    def detect_file(
        self, project: str, path: Path | str, model: str = "champion"
    ) -> list[Detection]:
        """What a model finds in a picture that is kept nowhere."""
        path = Path(path)
        named = {"project": project, "model": model, "name": path.name}
        done = self.wait(self.ask("detect_file", path, **named).id, every=0.1)
        return [Detection(**one) for one in done.result.get("detections", ())]

    def job(self, job: int) -> Job:
        """How far a job is."""
        found: Job = self.ask("job", job=job)
        return found

    def wait(self, job: int, every: float = 1.0, most: float | None = None) -> Job:
        """A job once it is done; one that fails raises its reason, and none is ended by leaving."""
        until = None if most is None else time.monotonic() + most
        while (found := self.job(job)).state not in FINAL:
            if until is not None and time.monotonic() > until:
                raise Unavailable(f"Job {job} goes on after {most:g} s: {found.message}")
            time.sleep(every)
        if found.state is not JobState.DONE:
            raise LoupeError(f"Job {job} {found.state.value}: {found.error or found.message}")
        return found

    def events(self, job: int) -> Iterator[JobEvent]:
        """What a job has told so far."""
        page: EventPage = self.ask("events", job=job)
        while page.items:
            yield from page.items
            page = self.ask("events", job=job, after=int(page.next))

    def cancel(self, job: int) -> Job:
        """Stop a job for good."""
        found: Job = self.ask("cancel", job=job)
        return found

    def runs(self, project: str) -> Iterator[Run]:
        """The runs of a project, the newest first."""
        return self._every("runs", project=project)

    def detections(self, run: int) -> Iterator[SeenImage]:
        """What a run found, image by image."""
        return self._every("detections", run=run)

    def compare(self, run: int, before: int, score: float = 0.5) -> Iterator[ChangedImage]:
        """Where a run sees images differently from an earlier one."""
        return self._every("compare", "changes", run=run, before=before, score=score)

    def decide(self, run: int, images: Sequence[Mapping[str, Any]]) -> Decided:
        """Say what is right of a run: `{image, detections: [{idx, verdict}], missed, board}`."""
        done: Decided = self.ask("decide", run=run, images=[*images])
        return done

    def figures(self, run: int) -> RunFigures:
        """How a run stands against the labels."""
        found: RunFigures = self.ask("figures", run=run)
        return found

    def report(self, run: int, target: Path | str, format: Report = "csv") -> Path:
        """A run and its decisions as a file."""
        return self._file(Path(target), "report", run=run, format=format)

    def table(self, run: int) -> pyarrow.Table:
        """A run and its decisions as an Arrow table; `.to_pandas()` makes a frame of it."""
        from pyarrow import parquet

        whole = self._asked("report", {"run": run, "format": "parquet"}, lambda told: told.read())
        return parquet.read_table(io.BytesIO(whole))

    def why(self, subject: str) -> Chain:
        """Where a detection RUN:IMAGE:NUMBER or a label IMAGE:BOX comes from."""
        found: Chain = self.ask("why", subject=subject)
        return found

    def ask(self, name: str, file: Path | None = None, /, **given: Any) -> Any:
        """Any operation by its name, with its own answer."""
        whole = self._asked(name, given, lambda told: told.read(), file)
        return OPERATIONS[name].answer.validate_json(whole)

    def _every(self, name: str, part: str = "items", /, **given: Any) -> Iterator[Any]:
        """All parts of a list, one after the other."""
        after = ""
        while True:
            page = self.ask(name, **given, after=after)
            yield from getattr(page, part)
            after = page.next
            if not after:
                return

    def _file(self, target: Path, name: str, /, **given: Any) -> Path:
        """All of it, or what stood there before."""
        part = target.with_name(f"{target.name}.part")
        try:
            # Opened before anything is asked: what stands in its way is not the site's.
            with part.open("wb") as out:

                def keep(told: IO[bytes]) -> None:
                    out.seek(out.truncate(0))
                    shutil.copyfileobj(told, out)

                self._asked(name, given, keep)
            return part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _asked(
        self,
        name: str,
        given: Mapping[str, Any],
        read: Callable[[IO[bytes]], T],
        file: Path | None = None,
    ) -> T:
        """What is read of the answer; what was lost on the way is sent again, and counts once."""
        send = self._request(OPERATIONS[name], dict(given), file)
        for left in reversed(range(TRIES)):
            try:
                return send(read)
            except urllib.error.HTTPError as error:
                with error:
                    if not left or error.code not in AGAIN:
                        raise _refusal(error) from None
                    told = error.headers.get("retry-after", "")
                    time.sleep(float(told) if told.isdecimal() else WAIT)
            except (OSError, HTTPException) as error:
                if not left:
                    raise Unavailable(f"{self._address} does not answer: {error}.") from error
                time.sleep(WAIT)
        raise AssertionError("The last try answers or raises.")

    def _request(
        self, one: Operation, given: dict[str, Any], file: Path | None
    ) -> Callable[[Callable[[IO[bytes]], T]], T]:
        """Sends the request, the same one each time."""
        path = one.path
        for name in one.parameters:
            path = path.replace(f"{{{name}}}", quote(str(given.pop(name)), safe=""))
        headers = dict[str, str]()
        body = None
        if one.method == "GET" or one.takes_file:
            path += f"?{urlencode({n: v for n, v in given.items() if v != ''}, doseq=True)}"
        else:
            body, headers["Content-Type"] = json.dumps(given).encode(), "application/json"
        if file is not None:
            headers["Content-Type"] = "application/octet-stream"
            headers["Content-Length"] = str(file.stat().st_size)
        if one.changes:
            headers["Idempotency-Key"] = uuid4().hex
        url = f"{self._address}{PUBLIC}{path}"

        def send(read: Callable[[IO[bytes]], T]) -> T:
            with ExitStack() as opened:
                sent: Any = opened.enter_context(file.open("rb")) if file else body
                asked = urllib.request.Request(url, sent, headers, method=one.method)
                # Whoever a redirect leads to is not told who asks.
                asked.add_unredirected_header("Authorization", f"Bearer {self._token}")
                answer = urllib.request.urlopen(asked, timeout=self._timeout)
                return read(opened.enter_context(answer))

        return send


def _box(one: Box) -> dict[str, Any]:
    """A box as it is saved; from whom it is, the site knows."""
    ref = one.detection
    place = {name: getattr(one, name) for name in ("x1", "y1", "x2", "y2", "label", "id")}
    named = ref and {"run": ref.run, "image": ref.image, "idx": ref.idx}
    return {**place, "detection": named or None}


def _refusal(error: urllib.error.HTTPError) -> LoupeError:
    try:
        told = json.loads(error.read())
    except ValueError:
        return Unavailable(f"The site answered {error.code}, and not as Loupe does.")
    said = str(told.get("detail", ""))
    if "theirs" in told:
        return Conflict(said, told["theirs"])
    return KINDS.get(error.code, Unavailable if error.code >= 500 else Refused)(said)
