"""Datasets, and loaders that make batches of them.

Comes in: arrays, files, folders, streams. Goes out: items at places, and batches on a device.
Never: a download; a file whose promises are believed.
"""

from .ag_news import AgNews
from .cifar import Cifar10, Cifar100
from .coco import CocoDetection, Detected
from .collate import Padded, stack
from .composed import Composed
from .csv_file import Csv
from .dataset import Dataset, Example
from .errors import DataError
from .folders import TextFolder
from .frame import Frame
from .idx import read_idx
from .image_folder import ImageFolder
from .images import read_image
from .in_memory import InMemory
from .json_lines import JsonLines
from .loader import Loader
from .mapped import Mapped
from .mnist import Mnist
from .parquet import Parquet
from .samplers import InOrder, LengthBuckets, Permuted, Sampler, Sharded, Weighted
from .segmentation import SegmentationFolder, Segmented
from .selected import Partial, Sampled, Selected, Shuffled, split
from .sqlite import Sqlite
from .streams import Stream
from .windows import Windows
