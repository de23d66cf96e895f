"""`brimstone new` and `brimstone train`: a project that trains as it is, and what is told else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from brimstone.command import application


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application(), list(arguments))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "moons"
    made = run("new", str(folder))
    assert made.exit_code == 0, made.output
    return folder


def settings(project: Path, **values: object) -> str:
    """A config of the project with these values."""
    path = project / "other.json"
    path.write_text(json.dumps({"folder": str(project / "run"), **values}))
    return str(path)


@pytest.mark.slow
def test_a_new_project_trains_and_goes_on(project: Path) -> None:
    config = settings(project, epochs=2, width=4)
    line = [sys.executable, "-m", "brimstone", "train", config]
    environment = {**os.environ, "BRIMSTONE_DEVICE": "cpu"}
    first = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    assert "moons: 2 epochs" in first.stdout
    assert "all epochs are done" in first.stdout
    rows = (project / "run" / "metrics.jsonl").read_text().splitlines()
    assert any('"accuracy"' in row for row in rows)
    again = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    assert "epoch 2" not in again.stdout
    told = [line for line in first.stdout.splitlines() if "the best model on new points" in line]
    assert "'accuracy': " in told[0]
    assert told[0] in again.stdout


def test_the_projects_own_tests_pass(project: Path, pytester: pytest.Pytester) -> None:
    names = ("PROJECT",)
    for path in project.iterdir():
        assert not [name for name in names if name in path.read_text("utf-8")]
    for name in ("model.py", "test_model.py"):
        (pytester.path / name).write_text((project / name).read_text("utf-8"), "utf-8")
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_nothing_is_written_over(project: Path) -> None:
    again = run("new", str(project))
    assert again.exit_code == 1
    assert "is there already" in again.stderr


@pytest.mark.parametrize("name", ["3d", "a b", "x.y", "-"])
def test_names_that_are_none(name: str, tmp_path: Path) -> None:
    refused = run("new", "--", str(tmp_path / name))
    assert refused.exit_code == 1
    assert "is no name of a project" in refused.stderr
    assert not (tmp_path / name).exists()


def test_a_config_that_does_not_fit_is_told(project: Path) -> None:
    refused = run("train", settings(project, widht=3, epochs="many"))
    assert refused.exit_code == 1
    assert "did you mean 'width'" in refused.stderr
    assert "epochs: expected an int, got 'many'" in refused.stderr


def test_files_that_are_not_there(project: Path, tmp_path: Path) -> None:
    assert "cannot be read" in run("train", str(tmp_path / "none.json")).stderr
    (tmp_path / "some.json").write_text("{}")
    assert "there is no" in run("train", str(tmp_path / "some.json")).stderr
    (tmp_path / "train.py").write_text("Config = 3")
    assert "lacks a dataclass `Config`" in run("train", str(tmp_path / "some.json")).stderr
