"""What each route is told of things that are there: in its address, its query and its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.app.routes import asking

# A line a route: what it refers to, of which kind, and after the bar what refers to nothing.
# A field of a body begins with a dot. Of the first the person speaks; the others must belong to
# it. "=" is refused where nothing is there; "~" has no effect there.
TABLE = """
DELETE /api/logins of=person
DELETE /api/logins/{number} number=login
DELETE /api/people/{person} person=person
GET /api/changes
GET /api/images/{image}/history image=image | before
GET /api/jobs project=project | kind author state before limit
GET /api/jobs/cluster
GET /api/jobs/use
GET /api/jobs/counts
GET /api/jobs/{job} job=job
GET /api/jobs/{job}/events job=job | since
GET /api/jobs/{job}/file job=export
GET /api/jobs/{job}/log job=job
GET /api/logins of=person
GET /api/me
GET /api/models/{model} model=model
GET /api/people
GET /api/projects
GET /api/projects/{project} project=project
GET /api/projects/{project}/classes/{class_}/uses project=project class_=class
GET /api/projects/{project}/detect project=project
GET /api/projects/{project}/detect/expect/{name} project=project name=version
GET /api/projects/{project}/detect/now project=project
GET /api/projects/{project}/detect/mistakes/{name} project=project name=version
GET /api/projects/{project}/detect/runs/{run}/failures project=project run=run
GET /api/projects/{project}/detect/try/{number} project=project number=try
GET /api/projects/{project}/doubts project=project | after
GET /api/projects/{project}/images project=project class~called group~group | offset limit
GET /api/projects/{project}/images/counts project=project class~called group~group
GET /api/projects/{project}/images/ids project=project class~called group~group
GET /api/projects/{project}/images/{image}/around project=project image=image class~called
 group~group | before after
GET /api/projects/{project}/images/{image}/unlabelled project=project image=image class~called
 group~group
GET /api/projects/{project}/members project=project
GET /api/projects/{project}/benchmarks project=project job~job
GET /api/projects/{project}/models project=project
GET /api/projects/{project}/overview project=project run=run group~group class~called | since
 until data
GET /api/projects/{project}/remains project=project
GET /api/projects/{project}/runs project=project
GET /api/projects/{project}/searches project=project
GET /api/projects/{project}/training project=project job~training
GET /api/projects/{project}/training/glimpse/{number} project=project number=glimpse
GET /api/runs/{run}/against/{before} run=run before=run | score start
GET /api/runs/{run}/boards run=run class~called group~group defect~called | after
GET /api/runs/{run}/export/{name} run=run | name
GET /api/runs/{run}/figures run=run
GET /api/runs/{run}/groups run=run
GET /api/runs/{run}/images/{image} run=run image=image
GET /api/runs/{run}/undo run=run image=image
GET /api/runs/{run}/wall run=run label~called | offset limit
GET /api/searches/{search} search=search
GET /api/searches/{search}/curves search=search | trials
GET /api/searches/{search}/insight search=search
GET /api/searches/{search}/trials search=search | after
GET /api/warehouse
GET /api/why/{subject} subject=subject
GET /assets/{version}/{name} | version name
GET /favicon.ico
GET /files/{file}/full file=file
GET /files/{file}/preview file=file
GET /files/{file}/thumb file=file
GET /files/{file}/tile/{level}/{x}/{y} file=file | level x y
GET /guide
GET /guide/{page} | page
GET /health
GET /login | next
GET /manifest.json
PATCH /api/people/{person} person=person | .role .password
PATCH /api/projects/{project}/classes/{class_} project=project class_=class | .name .color .hotkey
 .severity
POST /api/images/{image}/restore image=image .revision=idx | .version
POST /api/jobs/{job}/{action} job=job | action
POST /api/models/{model}/benchmark model=model
POST /api/models/{model}/evaluate model=model .against=version | .split .iou
POST /api/models/{model}/promote model=model
POST /api/models/{model}/publish model=model | .runtime
POST /api/people | .name .role .password
POST /api/projects | .name .task .classes
POST /api/projects/{project}/bring-back project=project
POST /api/projects/{project}/classes project=project | .name
POST /api/projects/{project}/classes/{class_}/merge project=project class_=class .into=class
POST /api/projects/{project}/classes/{class_}/retire project=project class_=class
POST /api/projects/{project}/detect project=project .model=version .source.images=image .key~key
 .after=job | .source.states .source.splits .source.groups .options.confidence .options.runtime
 .options.precision .options.again .options.device .options.workers .options.memory_gb
POST /api/projects/{project}/detect/propose project=project .source.images=image .key~key |
 .source.groups .source.states .source.splits
POST /api/projects/{project}/detect/recall project=project .model=version .source.images=image
 .key~key | .source.groups .source.states .source.splits .options.confidence .options.runtime
 .options.precision .options.again .options.device .options.workers .options.memory_gb
POST /api/projects/{project}/detect/try project=project .model=version | .picture
POST /api/projects/{project}/doubts project=project .key~key
POST /api/projects/{project}/export project=project .images=image .filter~filter | .format .states
 .splits .shares .seed
POST /api/projects/{project}/images/change project=project .images=image | .action .value
POST /api/projects/{project}/import project=project .token=token | .path .format .masks .lot
POST /api/projects/{project}/judge project=project .token=token .model=version | .split .iou
POST /api/projects/{project}/purge project=project
POST /api/projects/{project}/remove project=project .name=project
POST /api/projects/{project}/searches project=project .start=version .key~key | .family .trials
 .method .hours .space .parameters .knobs .seed
POST /api/projects/{project}/training project=project .start=version .key~key | .family
 .parameters .knobs .seed
POST /api/projects/{project}/training/check project=project .start=version .key~key | .family
 .parameters .knobs .seed
POST /api/projects/{project}/training/glimpse project=project | .family .parameters .knobs
POST /api/runs/{run}/decide run=run .items.image=image .items.idx=idx .items.label=called .key~key
 | .items.verdict .items.saw
POST /api/runs/{run}/give-back run=run | .holder
POST /api/runs/{run}/renew run=run | .holder
POST /api/runs/{run}/sweep run=run .label~called .after.image~image | .holder .count .after.score
POST /api/runs/{run}/take run=run .after~image .wanted~image group~group | .holder .count
POST /api/searches/{search}/more search=search | .trials .hours
POST /api/searches/{search}/stop search=search
POST /api/searches/{search}/trials/{trial}/stop search=search trial=trial
POST /api/searches/{search}/trials/{trial}/train search=search trial=trial .key~key | .epochs
POST /api/warehouse
POST /login | .name .password .token .next
POST /logout
PUT /api/doubts/{doubt} doubt=doubt | .answer
PUT /api/images/{image}/boxes image=image .run=run .boxes.detection.run=run
 .boxes.detection.image=image .boxes.detection.idx=idx .boxes.class_id~class .boxes.label~called
 .boxes.id~box .rejected=idx .accepted=idx .label=called .key~key | .version .boxes.x1 .boxes.y1
 .boxes.x2 .boxes.y2 .boxes.origin .boxes.author .state .comment .action .review .verdict
 .seconds
PUT /api/me/password | .old .new
PUT /api/projects/{project}/classes project=project .classes=class
PUT /api/projects/{project}/detect/tiles project=project | .wish
PUT /api/projects/{project}/members project=project .members=person
PUT /api/projects/{project}/review-rule project=project .thresholds~called | .version .threshold
 .severity .repeats
PUT /api/projects/{project}/training/grow project=project | .on
PUT /api/projects/{project}/uploads/{token}/{name} project=project | token name
PUT /api/runs/{run}/repeats/{image} run=run image=image .run~run .boxes.detection.run~run
 .boxes.detection.image~image .boxes.detection.idx=idx .boxes.class_id~class .boxes.label~called
 .boxes.id~box .rejected=idx .accepted=idx .label~called .key~key | .version .boxes.x1 .boxes.y1
 .boxes.x2 .boxes.y2 .boxes.origin .boxes.author .state .comment .action .review .verdict
 .seconds
"""


@dataclass(frozen=True)
class Reference:
    """A place of a request that names a thing of some kind."""

    place: str
    kind: str
    refused: bool


@dataclass(frozen=True)
class Row:
    """A route, what it refers to, and its other fields."""

    route: str
    references: tuple[Reference, ...]
    plain: frozenset[str]

    @property
    def places(self) -> set[str]:
        return {one.place for one in self.references}


def rows() -> dict[str, Row]:
    """The table by route."""
    found = map(_row, TABLE.replace("\n ", " ").strip().splitlines())
    return {row.route: row for row in found}


def fields(route: asking.Asked) -> set[str]:
    """All that a route takes, as FastAPI and the models of its bodies have it."""
    schema: Mapping[str, Any] = route.body.model_json_schema() if route.body else {}
    body = _leaves(schema, schema.get("$defs", {}), "")
    return {*route.parameters, *route.query, *body, *(f".{name}" for name in route.form)}


def put(body: Any, place: str, value: Any) -> Any:
    """A body with another value in one place; of a list, in its last or only entry."""
    head, _, rest = place.lstrip(".").partition(".")
    inner = body.get(head)
    if rest and isinstance(inner, list):
        return {**body, head: [*inner[:-1], put(inner[-1], rest, value)]}
    if rest:
        return {**body, head: put(inner or {}, rest, value)}
    if isinstance(inner, list):
        return {**body, head: [*inner[:-1], value]}
    return {**body, head: {value: 0.5} if isinstance(inner, dict) else value}


def _row(line: str) -> Row:
    told, _, plain = line.partition("|")
    method, path, *words = told.split()
    return Row(f"{method} {path}", tuple(map(_reference, words)), frozenset(plain.split()))


def _reference(word: str) -> Reference:
    sign = "=" if "=" in word else "~"
    place, _, kind = word.partition(sign)
    return Reference(place, kind, sign == "=")


def _leaves(schema: Mapping[str, Any], known: Mapping[str, Any], place: str) -> Iterator[str]:
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    inner = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    if "properties" in schema:
        for name, one in schema["properties"].items():
            yield from _leaves(one, known, f"{place}.{name}")
    elif inner:
        for one in inner:
            yield from _leaves(one, known, place)
    elif place and schema.get("type") != "null":
        yield place
