"""Metrics: what is gathered over batches and told at the end, by kinds."""

from .accuracy import Accuracy, ExactMatch, Hamming, TopK
from .confusions import Confusion, Kappa, MatthewsCorrelation
from .counts import Dice, FBeta, IoU, Precision, Recall, Specificity
from .detection import Boxes, MeanAveragePrecision
from .gpu import GpuMemory, GpuTemperature, GpuUse
from .images import MSSSIM, PSNR, SSIM, ms_ssim, psnr, ssim
from .means import Loss, Mean, Perplexity
from .metric import Metric
from .progress import IterationSpeed, LearningRate
from .ranking import AUCPR, AUROC
from .regression import R2, MeanAbsoluteError, MeanSquaredError, RootMeanSquaredError
from .system import CpuTemperature, CpuUse, MemoryUse, ProcessMemory
from .text import BLEU, CharacterErrorRate, RougeL, WordErrorRate, edit_distance
