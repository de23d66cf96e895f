"""Logs of training runs: CSV, JSON lines, TensorBoard's event files; and reading them back."""

from .csv_log import CsvLog
from .json_lines import JsonLinesLog
from .read import read_log
from .row import Row
from .tensorboard import TensorBoardLog
