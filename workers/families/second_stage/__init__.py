"""The second stage: judges what a detector finds against the golden; may ask families, no room.

`begin` is no start but the detector, which the model carries; `parameters.extra["partner"]` holds
its name and family. Labels say what each place is, and people's decisions are labels: what was
accepted or corrected is one, and where somebody saw a false call there is none.
"""

from __future__ import annotations

from pathlib import Path

from backend.errors import Refused
from workers.families.base import Parameters, Reporter, Trained, TrainingSet
from workers.families.golden import options
from workers.families.golden import partner as partners
from workers.families.second_stage import school, stage_file
from workers.families.second_stage.model import TwoStages


def load(weights: Path | None, device: str = "cpu") -> TwoStages:
    """Both stages from one file."""
    if weights is None:
        raise Refused("A second stage needs weights: train one behind a detector first.")
    return stage_file.read(weights, device)


def train(
    data: TrainingSet,
    begin: Path | None,
    parameters: Parameters,
    reporter: Reporter,
    folder: Path,
) -> Trained:
    """Look with the detector, compare with the goldens, and learn which places are defects."""
    if begin is None:
        raise Refused("A second stage needs the detector that it stands behind: name a model.")
    told, chosen = parameters.extra.get("partner", {}), options.read(parameters.extra)
    partner = partners.read(told.get("name", begin.name), told.get("family", "yolo"), begin, "")
    looking = school.StageSchool(data, chosen, reporter, partner, parameters.seed)
    read, glosses = looking.read()
    reporter.progress(0.9, f"Learning from what {partner.name} finds.")
    grown, figures = school.learn(read, len(data.classes), partner, parameters.seed, reporter)
    file = folder / "second_stage.npz"
    stage_file.write(TwoStages(data.classes, chosen, grown, partner, glosses), file)
    reporter.epoch(1, 1, figures)
    return Trained(file, figures)
