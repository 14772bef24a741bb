"""What Snowflake's emulator does not know of models, answered before it is asked.

Snowflake's own `Registry.log_model` runs to its end against these kinds of answer. Each stands
on a sentence of Snowflake's documentation, which stands beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

NAME = r'((?:"(?:[^"]|"")+"|[\w$]+)(?:\.(?:"(?:[^"]|"")+"|[\w$]+))*)'
LIKE = r"(?:\s+LIKE\s+'([^']*)')?"
# A table's rows with the names of its columns, or what is refused.
Answer = tuple[list[list[str]], tuple[str, ...]] | str
Find = Callable[[str], Path]


@dataclass
class Made:
    """A version: its files, and what was said of it since."""

    files: list[str]
    spec: str
    comment: str = ""
    metadata: str = "{}"


@dataclass
class Models:
    """The models of all schemas, each with its versions, the oldest first."""

    models: dict[str, dict[str, Made]] = field(default_factory=dict)

    def answer(self, sql: str, find: Find) -> Answer | None:
        """What the statement gives, if it is one of these; `find` tells a stage's folder."""
        for pattern, way in KINDS:
            if found := re.fullmatch(pattern, sql.strip().rstrip(";"), re.I | re.S):
                return way(self, found, find)
        return None


def _capabilities(at: Models, found: re.Match[str], find: Find) -> Answer:
    # Not documented. The library says of an older server that does not know it: "That is fine."
    del at, found, find
    return [["{}"]], ("FEATURES",)


def _show_models(at: Models, found: re.Match[str], find: Find) -> Answer:
    del find
    # "Lists the machine learning models that you have privileges to access": sql/show-models.
    schema = _parts(found[2])
    names = [one for one in at.models if _parts(one)[:2] == schema and _like(one, found[1])]
    rows = [[_parts(one)[2], "", next(iter(at.models[one])), "LOUPE"] for one in names]
    return rows, ("name", "comment", "default_version_name", "owner")


def _show_versions(at: Models, found: re.Match[str], find: Find) -> Answer:
    del find
    # "Lists the versions in a machine learning model": sql/show-versions-in-model.
    model = ".".join(map(_written, _parts(found[2])))
    if model not in at.models:
        return f"Model '{found[2]}' does not exist or not authorized."
    # "The filter uses case-insensitive pattern matching, with support for SQL wildcard characters
    # (% and _)": the same page.
    rows = [
        [name, one.comment, one.metadata, "[]", one.spec, str(name == next(iter(at.models[model])))]
        for name, one in at.models[model].items()
        if _like(name, found[1])
    ]
    return rows, ("name", "comment", "metadata", "aliases", "model_spec", "is_default_version")


def _stage(at: Models, found: re.Match[str], find: Find) -> Answer:
    del at
    # "Creates a new named internal or external stage … TEMPORARY: it is dropped at the end of the
    # session in which it was created": sql/create-stage.
    find(f"@{found[1]}").mkdir(parents=True, exist_ok=True)
    return _done("Stage area successfully created.")


def _create(at: Models, found: re.Match[str], find: Find) -> Answer:
    # "the identifier (i.e. name) for the new model; must be unique for the schema in which the
    # model is created": sql/create-model.
    model = ".".join(map(_written, _parts(found[1])))
    if model in at.models:
        return f"Object '{found[1]}' already exists."
    made = _made(found[3], find)
    if isinstance(made, str):
        return made
    at.models[model] = {_parts(found[2])[0]: made}
    return _done("Model successfully created.")


def _add(at: Models, found: re.Match[str], find: Find) -> Answer:
    # "Specifies the identifier of the version, which must be unique within the model":
    # sql/alter-model-add-version.
    versions = at.models.get(".".join(map(_written, _parts(found[1]))))
    if versions is None:
        return f"Model '{found[1]}' does not exist or not authorized."
    (name,) = _parts(found[2])
    if name in versions:
        return f"Version '{name}' already exists in model '{found[1]}'."
    made = _made(found[3], find)
    if isinstance(made, str):
        return made
    versions[name] = made
    return _done("Model successfully altered.")


def _modify(at: Models, found: re.Match[str], find: Find) -> Answer:
    del find
    # "Modifies a version of a model, changing the version's comment or metadata … Metadata is a
    # JSON object that stores key-value pairs of your choosing": sql/alter-model-modify-version.
    version = at.models[".".join(map(_written, _parts(found[1])))][_parts(found[2])[0]]
    if found[3].upper() == "COMMENT":
        version.comment = found[4]
    else:
        version.metadata = json.dumps(json.loads(found[4]))
    return _done("Model successfully altered.")


def _functions(at: Models, found: re.Match[str], find: Find) -> Answer:
    del at, found, find
    # "Lists the functions available in a version of a machine learning model":
    # sql/show-functions-in-model.
    return [["PREDICT", "OBJECT"]], ("name", "return_type")


def _refused(at: Models, found: re.Match[str], find: Find) -> Answer:
    del at, find
    # "Removes a machine learning model": sql/drop-model. Nothing of ours may ever ask for it.
    return f"A model was to be taken away: {found[0]}"


def _service(at: Models, found: re.Match[str], find: Find) -> Answer:
    del at, found, find
    # "When the IF EXISTS clause is specified and the target object doesn't exist, the command
    # completes successfully without returning an error": sql/drop-service.
    return _done("Drop statement executed successfully.")


def _repository(at: Models, found: re.Match[str], find: Find) -> Answer:
    del at, find
    # "…, otherwise models with pip requirements are runnable only in Snowpark Container Services":
    # developer-guide/snowflake-ml/model-registry. No repository is there.
    return f"Artifact repository '{found[1]}' does not exist or not authorized."


STRING = r"\$\$(.*)\$\$"
KINDS: tuple[tuple[str, Callable[[Models, re.Match[str], Find], Answer]], ...] = (
    (r"SELECT SYSTEM\$ML_PLATFORM_CAPABILITIES\(\) AS FEATURES", _capabilities),
    (rf"SHOW MODELS{LIKE} IN SCHEMA {NAME}", _show_models),
    (rf"SHOW VERSIONS{LIKE} IN MODEL {NAME}", _show_versions),
    (rf"CREATE SCOPED TEMPORARY STAGE {NAME}", _stage),
    (rf"CREATE MODEL {NAME} WITH VERSION {NAME} FROM (@\S+)", _create),
    (rf"ALTER MODEL {NAME} ADD VERSION {NAME} FROM (@\S+)", _add),
    (rf"ALTER MODEL {NAME}\s+MODIFY VERSION {NAME} SET (COMMENT|METADATA)\s*=\s*{STRING}", _modify),
    (rf"SHOW FUNCTIONS IN MODEL {NAME}.*", _functions),
    (r"(?:DROP|CREATE OR REPLACE) MODEL .*|ALTER MODEL .* DROP VERSION .*", _refused),
    (rf"DROP SERVICE IF EXISTS {NAME}", _service),
    (rf"DESC ARTIFACT REPOSITORY {NAME}", _repository),
)


def _made(place: str, find: Find) -> Made | str:
    """The files of a version; "Specifies the internal stage that contains files for the model"."""
    folder = find(place)
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    if "MANIFEST.yml" not in files:
        return f"Unable to read file MANIFEST.yml on {place}."
    # The library reads of a version's spec what it has written into its folder.
    return Made(files, (folder / "model" / "model.yaml").read_text("utf-8"))


def _done(said: str) -> Answer:
    return [[said]], ("status",)


def _parts(name: str) -> list[str]:
    """A name as Snowflake keeps it: in capitals, unless it stands in quotes."""
    found = re.findall(r'"((?:[^"]|"")*)"|([^."]+)', name)
    return [quoted.replace('""', '"') if quoted else plain.upper() for quoted, plain in found]


def _written(part: str) -> str:
    return '"' + part.replace('"', '""') + '"'


def _like(name: str, pattern: str | None) -> bool:
    """Whether the last part of a name is like the pattern, in which % and _ stand for others."""
    if pattern is None:
        return True
    told = re.escape(pattern).replace("%", ".*").replace("_", ".")
    return re.fullmatch(told, _parts(name)[-1], re.I | re.S) is not None
