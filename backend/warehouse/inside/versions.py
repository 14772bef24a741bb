"""Puts versions into Snowflake's registry: each once, never over another, none taken away."""

from __future__ import annotations

import importlib.util
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import Invalid, Refused, Unavailable
from backend.warehouse import address as addresses
from backend.warehouse.address import Address
from backend.warehouse.dialects import complaints, snowflake_connection

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST = 255
EXTRA = "snowflake-registry"
PLATFORMS = ["SNOWPARK_CONTAINER_SERVICES"]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a model: as Snowflake's library takes it, with the code that runs it.

    `origin` names a file of it, by which one sees whose weights it has.
    """

    name: str
    version: str
    model: Any
    origin: str
    code: Path
    requirements: Sequence[str]
    metrics: Mapping[str, Any]
    comment: str


@dataclass(frozen=True, slots=True)
class _Known:
    """A version that is there: its figures, and what Snowflake's library has noted of it."""

    metrics: Mapping[str, Any]
    spec: str

    def is_broken_off(self, origin: str) -> bool:
        """Whether it is that one, made by who was killed before it was told where it comes from."""
        return "provenance" not in self.metrics and origin in self.spec

    def is_of(self, job: int, origin: str) -> bool:
        """Whether this very job has put it there, whole."""
        told = self.metrics.get("provenance")
        return origin in self.spec and isinstance(told, Mapping) and told.get("job") == job


def check(address: Address | None, name: str, pool: str = "", version: str = "") -> Address:
    """Refuse what cannot be registered, before anything is made; gives where it can be."""
    if address is None or address.dialect != "snowflake":
        raise Refused(
            f"Only Snowflake has a registry of models: name one with {addresses.SETTING}, as the "
            "guide says."
        )
    for told, what, option in ((name, "model", "--name"), (pool, "compute pool", "--service")):
        if told and not PLAIN.fullmatch(told):
            raise Invalid(
                f"{told[:80]!r} is no name for a {what} in Snowflake's registry, which takes "
                f"letters, digits and underscores and begins with no digit: say one with {option}."
            )
        if len(told) > LONGEST:
            raise Invalid(
                f"The name {told[:40]}… has {len(told)} characters; Snowflake takes {LONGEST}."
            )
    service = _service(name, version)
    if pool and len(service) > LONGEST:
        raise Invalid(
            f"The service {service[:40]}… would have a name of {len(service)} characters; "
            f"Snowflake takes {LONGEST}: say a shorter --name."
        )
    check_installed()
    return address


def check_installed() -> None:
    """Refuse where Snowflake's library for models is missing."""
    if importlib.util.find_spec("snowflake.ml") is None:
        raise Refused(
            f"The registry needs snowflake-ml-python, which is not installed: pip install "
            f"loupe[{EXTRA}]"
        )


@contextmanager
def opened(address: Address) -> Iterator[Registry]:
    """The registry of the schema that results are published into."""
    hidden = addresses.hidden(address)
    from snowflake.ml.registry import Registry as Theirs

    with _told(hidden):
        connection = snowflake_connection.opened(address, hidden)
        try:
            yield Registry(Theirs(_session(connection), options={"enable_monitoring": False}))
        finally:
            connection.close()


def packaged(model: Path, origin: Path) -> Any:
    """A package of ours as Snowflake's library takes it."""
    from snowflake.ml.model import custom_model

    from backend.warehouse.inside.model import PackagedModel

    artifacts = {"model": str(model), "origin": str(origin)}
    return PackagedModel(custom_model.ModelContext(artifacts=artifacts))


class Registry:
    """The registry of one schema, by Snowflake's own library."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def refuse_known(self, name: str, version: str, origin: str, job: int) -> None:
        """Refuse a version that is there, unless this job or a killed one has put it there."""
        found = self._versions(name).get(version.upper())
        if found and not (found.is_broken_off(origin) or found.is_of(job, origin)):
            raise Refused(
                f"{name.upper()} {version.upper()} is in {self._theirs.location} already, and a "
                "version is never replaced: train a new one, or say another --name."
            )

    def log(self, version: Version, job: int) -> str:
        """Put it there, or say of one that was broken off what it lacks; gives its full name."""
        from snowflake.snowpark.exceptions import SnowparkClientException

        name = version.name
        before = self._versions(name)
        self.refuse_known(name, version.version, version.origin, job)
        try:
            if version.version.upper() in before:
                self._complete(version)
            else:
                self._put(version)
        except (SnowparkClientException, ValueError):
            # Another one may have been quicker: with this version, or with the model's first.
            self.refuse_known(name, version.version, version.origin, job)
            there = self._versions(name)
            if version.version.upper() in there:
                self._complete(version)
            elif before or not there:
                raise
            else:
                self._put(version)
        return f"{self._theirs.location}.{name.upper()}"

    def _complete(self, version: Version) -> None:
        found = self._theirs.get_model(version.name).version(version.version)
        found.comment = harmless(version.comment)
        # The provenance comes last: with it the version is whole.
        for name, value in harmless(version.metrics).items():
            found.set_metric(name, value)

    def _put(self, version: Version) -> None:
        from snowflake.ml.model import model_signature

        spec, data = model_signature.FeatureSpec, model_signature.DataType
        signature = model_signature.ModelSignature(
            inputs=[spec("IMAGE", data.BYTES)], outputs=[spec("RESULT", data.STRING)]
        )
        self._theirs.log_model(
            version.model,
            model_name=version.name,
            version_name=version.version,
            comment=harmless(version.comment),
            metrics=harmless(version.metrics),
            pip_requirements=list(version.requirements),
            target_platforms=PLATFORMS,
            signatures={"predict": signature},
            code_paths=[str(one) for one in sorted(version.code.iterdir())],
        )

    def serve(self, name: str, version: str, pool: str, rows: Any) -> Any:
        """What a service of a version says of some rows; it goes again, whatever comes of it."""
        found, service = self._theirs.get_model(name).version(version), _service(name, version)
        try:
            found.create_service(
                service_name=service, service_compute_pool=pool, ingress_enabled=False
            )
            answer = found.run(rows, function_name="predict", service_name=service)
        except BaseException:
            with suppress(ValueError):  # of one that was not even made: why not is what counts
                found.delete_service(service)
            raise
        found.delete_service(service)
        return answer

    def service(self, name: str, version: str, pool: str) -> str:
        """The deployment of a version on a compute pool as Snowflake's library writes it."""
        from snowflake.ml._internal.utils.sql_identifier import SqlIdentifier as Name
        from snowflake.ml.model._client.service.model_deployment_spec import ModelDeploymentSpec

        database, schema = self._theirs._database_name, self._theirs._schema_name
        spec = ModelDeploymentSpec()
        spec.add_model_spec(database, schema, Name(name), Name(version))
        spec.add_image_build_spec(image_build_compute_pool_name=Name(pool))
        service = Name(_service(name, version))
        spec.add_service_spec(service, Name(pool), ingress_enabled=False)
        return str(spec.save())

    def _versions(self, name: str) -> dict[str, _Known]:
        names = {str(row["name"]) for row in self._theirs.show_models().to_dict("records")}
        if name.upper() not in names:
            return {}
        rows = self._theirs.get_model(name).show_versions().to_dict("records")
        return {str(row["name"]): _known(row) for row in rows}


def _known(row: Mapping[str, Any]) -> _Known:
    said = row.get("metadata")
    told = json.loads(said) if isinstance(said, str) and said else {}
    metrics = told.get("metrics") if isinstance(told, Mapping) else None
    return _Known(metrics if isinstance(metrics, Mapping) else {}, str(row.get("model_spec") or ""))


def _service(name: str, version: str) -> str:
    return f"{name}_{version}"


def harmless(told: Any) -> Any:
    """Values without dollar signs: the library writes them between two of them, as they are."""
    if isinstance(told, str):
        return told.replace("$", "＄")
    if isinstance(told, Mapping):
        return {harmless(str(key)): harmless(value) for key, value in told.items()}
    if isinstance(told, Sequence):
        return [harmless(one) for one in told]
    return told


def _session(connection: Any) -> Any:
    from snowflake.snowpark import Session

    for name in ("snowflake.snowpark", "snowflake.ml"):
        logging.getLogger(name).setLevel(logging.ERROR)
    session = Session.builder.configs({"connection": connection}).create()
    session.telemetry_enabled = False
    return session


@contextmanager
def _told(hidden: Sequence[str]) -> Iterator[None]:
    from snowflake.connector.errors import DatabaseError, OperationalError
    from snowflake.snowpark.exceptions import SnowparkClientException

    try:
        yield
    except (
        SnowparkClientException,
        DatabaseError,
        OperationalError,
        ValueError,  # with these two the library says all else
        RuntimeError,
    ) as error:  # its own words may hold what is hidden, so no trace leads to them
        raise Unavailable(complaints.sentence(error, hidden)) from None
