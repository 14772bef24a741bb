"""Twelve questions for a warehouse, by name; the same words on every database, values bound."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from backend.errors import Invalid, NotFound

BOUND = re.compile(r":([a-z]+)")
LARGEST = 2**63 - 1


def _number(said: str) -> int:
    number = int(said)
    if abs(number) > LARGEST:
        raise ValueError(f"{said[:40]} is too large")
    return number


def _share(said: str) -> float:
    number = float(said)
    if not math.isfinite(number):
        raise ValueError(f"{said[:40]} is not finite")
    return number


TYPES: Mapping[str, Callable[[str], Any]] = {
    "run": _number,
    "score": _share,
    "project": str,
    "board": str,
    "since": str,
}


@dataclass(frozen=True, slots=True)
class Query:
    """A question with what it needs to know."""

    name: str
    says: str
    sql: str

    @property
    def needs(self) -> list[str]:
        """The names of its values, as they come."""
        return list(dict.fromkeys(BOUND.findall(self.sql)))

    def values(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Its values from words that somebody wrote; each must be there, and no other."""
        if set(given) != set(self.needs):
            example = " ".join(f"{name}=…" for name in self.needs)
            raise Invalid(f"{self.name} is asked by: loupe warehouse ask {self.name} {example}")
        try:
            return {name: TYPES[name](value) for name, value in given.items()}
        except ValueError as error:
            raise Invalid(f"A value of {self.name} is no number: {str(error)[:200]}.") from error


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows that came back."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def find(name: str) -> Query:
    """The query of that name."""
    found = QUERIES.get(name)
    if found is None:
        raise NotFound(f"There is no query {name}; there are {', '.join(QUERIES)}.")
    return found


def answer(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Answer:
    """What a driver gave, with numbers as Python has them."""
    return Answer(columns, [tuple(map(_plain, row)) for row in rows])


def bound(sql: str) -> str:
    """The query as drivers take it that write %(name)s."""
    return BOUND.sub(r"%(\1)s", sql)


def _plain(value: Any) -> Any:
    if not isinstance(value, Decimal):
        return value
    return int(value) if value.as_tuple().exponent == 0 else float(value)


QUERIES = {
    query.name: query
    for query in (
        Query(
            "found",
            "What a run found, class by class.",
            """
SELECT label, count(*) AS found, avg(score) AS score
FROM loupe_found
WHERE run_id = :run
GROUP BY label ORDER BY found DESC, label
""",
        ),
        Query(
            "false_calls",
            "False calls among what was judged, class by class.",
            """
WITH said AS (
  SELECT image_id, idx, verdict, undoes,
         row_number() OVER (PARTITION BY image_id, idx ORDER BY id DESC) AS place
  FROM loupe_decision_now WHERE run_id = :run AND idx IS NOT NULL
)
SELECT f.label, count(*) AS judged,
       sum(CASE WHEN s.verdict = 'false_call' THEN 1 ELSE 0 END) AS false_calls
FROM said s
JOIN loupe_found f ON f.run_id = :run AND f.image_id = s.image_id AND f.idx = s.idx
WHERE s.place = 1 AND s.undoes IS NULL
GROUP BY f.label ORDER BY f.label
""",
        ),
        Query(
            "lots",
            "Boards that failed, lot by lot.",
            """
WITH said AS (
  SELECT image_id, verdict, undoes,
         row_number() OVER (PARTITION BY image_id ORDER BY id DESC) AS place
  FROM loupe_decision_now
  WHERE run_id = :run AND idx IS NULL AND verdict IN ('pass', 'fail')
)
SELECT COALESCE(i.lot, '') AS lot, count(*) AS boards,
       sum(CASE WHEN s.verdict = 'fail' THEN 1 ELSE 0 END) AS failed
FROM said s JOIN loupe_image_now i ON i.id = s.image_id
WHERE s.place = 1 AND s.undoes IS NULL
GROUP BY COALESCE(i.lot, '') ORDER BY lot
""",
        ),
        Query(
            "missed",
            "Defects that a run missed, and who found them.",
            """
SELECT s.author, count(*) AS missed
FROM loupe_decision_now s LEFT JOIN loupe_decision_now u ON u.undoes = s.id
WHERE s.run_id = :run AND s.verdict = 'missed' AND s.undoes IS NULL AND u.id IS NULL
GROUP BY s.author ORDER BY missed DESC, s.author
""",
        ),
        Query(
            "surest",
            "How surely each model finds each class, as it was measured last.",
            """
WITH last AS (
  SELECT model_id, max(job_id) AS job_id FROM loupe_metric_now
  WHERE name = 'ap50' GROUP BY model_id
)
SELECT m.model_number AS model, c.name AS label, f.value AS ap50
FROM last n
JOIN loupe_metric_now f ON f.job_id = n.job_id AND f.model_id = n.model_id AND f.name = 'ap50'
JOIN loupe_model_now m ON m.id = f.model_id
JOIN loupe_project_now p ON p.id = m.project_id
JOIN loupe_class_now c ON c.id = f.class_id
WHERE p.name = :project
ORDER BY m.model_number, c.name
""",
        ),
        Query(
            "yield",
            "The share of boards without a defect, from 0 to 1 however many defects a board has.",
            """
WITH bad AS (
  SELECT DISTINCT image_id FROM loupe_found WHERE run_id = :run AND score >= :score
)
SELECT count(*) AS boards, count(*) - count(b.image_id) AS good,
       1.0 * (count(*) - count(b.image_id)) / NULLIF(count(*), 0) AS yield_rate
FROM loupe_seen s LEFT JOIN bad b ON b.image_id = s.image_id
WHERE s.run_id = :run
""",
        ),
        Query(
            "pareto",
            "Which classes make up most of what was found, with their shares added up.",
            """
WITH counted AS (
  SELECT label, count(*) AS found FROM loupe_found
  WHERE run_id = :run AND score >= :score GROUP BY label
)
SELECT label, found, 1.0 * found / sum(found) OVER () AS share,
       1.0 * sum(found) OVER (ORDER BY found DESC, label ROWS UNBOUNDED PRECEDING)
         / sum(found) OVER () AS cumulated
FROM counted ORDER BY found DESC, label
""",
        ),
        Query(
            "lines",
            "Lots by classes: where which defect comes from.",
            """
SELECT lot, label, count(*) AS found, count(DISTINCT image_id) AS boards
FROM loupe_found
WHERE run_id = :run AND score >= :score
GROUP BY lot, label ORDER BY lot, found DESC, label
""",
        ),
        Query(
            "daily",
            "Boards, bad boards and defects of a project, day by day, as its last run saw each.",
            """
WITH hit AS (
  SELECT run_id, image_id, count(*) AS defects FROM loupe_found
  WHERE score >= :score GROUP BY run_id, image_id
), last AS (
  SELECT s.day, s.run_id, s.image_id,
         row_number() OVER (PARTITION BY s.day, s.file_name ORDER BY s.run_id DESC) AS place
  FROM loupe_seen s JOIN loupe_project_now p ON p.id = s.project_id
  WHERE p.name = :project AND s.purpose = 'detect' AND s.day >= :since
)
SELECT s.day, count(*) AS boards, count(h.image_id) AS bad,
       COALESCE(sum(h.defects), 0) AS defects
FROM last s LEFT JOIN hit h ON h.run_id = s.run_id AND h.image_id = s.image_id
WHERE s.place = 1
GROUP BY s.day ORDER BY s.day
""",
        ),
        Query(
            "best",
            "The surest example of each class.",
            """
WITH ranked AS (
  SELECT label, file_name, score, x1, y1, x2, y2,
         row_number() OVER (PARTITION BY label ORDER BY score DESC, image_id, idx) AS place
  FROM loupe_found WHERE run_id = :run
)
SELECT label, file_name, score, x1, y1, x2, y2
FROM ranked WHERE place = 1 ORDER BY label
""",
        ),
        Query(
            "clean",
            "Pictures in which nothing was found.",
            """
WITH bad AS (
  SELECT DISTINCT image_id FROM loupe_found WHERE run_id = :run AND score >= :score
)
SELECT s.file_name, s.lot
FROM loupe_seen s LEFT JOIN bad b ON b.image_id = s.image_id
WHERE s.run_id = :run AND b.image_id IS NULL
ORDER BY s.file_name
""",
        ),
        Query(
            "beside",
            "What was found on a board beside what people have labelled there.",
            """
SELECT 'found' AS source, label, score, x1, y1, x2, y2
FROM loupe_found WHERE run_id = :run AND board = :board
UNION ALL
SELECT 'labelled' AS source, c.name AS label, NULL AS score, l.x1, l.y1, l.x2, l.y2
FROM loupe_seen s
JOIN loupe_label_now l ON l.image_id = s.image_id
JOIN loupe_class_now c ON c.id = l.class_id
WHERE s.run_id = :run AND s.board = :board
ORDER BY 1, 4, 5
""",
        ),
    )
}
