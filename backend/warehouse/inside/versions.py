"""Puts versions into Snowflake's registry: each once, never over another, none taken away."""

from __future__ import annotations

import importlib.util
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    """A version of a model; `model` has its graph, `code` what runs it."""

    name: str
    version: str
    model: Path
    code: Path
    requirements: Sequence[str]
    metrics: Mapping[str, Any]
    comment: str


def check(address: Address | None, name: str, pool: str = "") -> Address:
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
    with _told(hidden):
        connection = snowflake_connection.opened(address, hidden)
        try:
            yield Registry(_session(connection))
        finally:
            connection.close()


class Registry:
    """The registry of one schema."""

    def __init__(self, session: Any) -> None:
        from snowflake.ml.registry import Registry as Theirs

        self._session = session
        self._theirs = Theirs(session, options={"enable_monitoring": False})

    def refuse_known(self, name: str, version: str) -> None:
        """Refuse a version that is there, whoever has put it there."""
        if version.upper() in self._versions(name):
            raise Refused(
                f"{name.upper()} {version.upper()} is in {self._theirs.location} already, and a "
                "version is never replaced: train a new one, or say another --name."
            )

    def log(self, version: Version) -> str:
        """Put it there; gives its full name."""
        from snowflake.ml.model import custom_model, model_signature

        from backend.warehouse.inside.model import PackagedModel

        spec, data = model_signature.FeatureSpec, model_signature.DataType
        signature = model_signature.ModelSignature(
            inputs=[spec("IMAGE", data.BYTES)], outputs=[spec("RESULT", data.STRING)]
        )
        self._theirs.log_model(
            PackagedModel(custom_model.ModelContext(artifacts={"model": str(version.model)})),
            model_name=version.name,
            version_name=version.version,
            comment=harmless(version.comment),
            metrics=harmless(version.metrics),
            pip_requirements=list(version.requirements),
            target_platforms=PLATFORMS,
            signatures={"predict": signature},
            code_paths=[str(one) for one in sorted(version.code.iterdir())],
        )
        return f"{self._theirs.location}.{version.name.upper()}"

    def service(self, name: str, version: str, pool: str) -> str:
        """The deployment of a version on a compute pool as Snowflake's library writes it."""
        from snowflake.ml._internal.utils.sql_identifier import SqlIdentifier as Name
        from snowflake.ml.model._client.service.model_deployment_spec import ModelDeploymentSpec

        database, schema = self._theirs._database_name, self._theirs._schema_name
        spec = ModelDeploymentSpec()
        spec.add_model_spec(database, schema, Name(name), Name(version))
        spec.add_image_build_spec(image_build_compute_pool_name=Name(pool))
        service = Name(f"{name}_{version}")
        spec.add_service_spec(service, Name(pool), ingress_enabled=False)
        return str(spec.save())

    def _versions(self, name: str) -> set[str]:
        names = {str(row["name"]) for row in self._theirs.show_models().to_dict("records")}
        if name.upper() not in names:
            return set()
        rows = self._theirs.get_model(name).show_versions().to_dict("records")
        return {str(row["name"]) for row in rows}


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
    except SnowparkClientException as error:
        raise Unavailable(complaints.sentence(error, hidden)) from None
    except (DatabaseError, OperationalError) as error:
        raise Unavailable(complaints.sentence(error, hidden)) from None
