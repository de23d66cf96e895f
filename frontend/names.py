"""Which name of `brimstone` comes from which module of the frontend.

Comes in: nothing. Goes out: a table, which `frontend/__init__.py` reads when a name is first used,
so that `import brimstone` stays quick.
Never: a name that stands in two modules. `there:here` gives a name another one.
"""

EXPORTS = {
    "backward": "Gradients",
    "control": "cond fori_loop scan while_loop",
    "custom": "checkpoint custom_vjp",
    "devices": "device devices memory_use",
    "dtypes": """
        bfloat16 bool complex128 complex64 DType float16 float32 float64 float8_e4m3 float8_e5m2
        int16 int32 int64 int8 uint16 uint32 uint64 uint8
    """,
    "dynamic": "symbol:dim",
    "errors": """
        ArgumentError AxisError BrimstoneError DeadTensorError DeviceError DifferentiationError
        DTypeError OperationFailed OutOfMemory PlaceError ShapeError TracedValueError
    """,
    "exchange": "from_dlpack",
    "force": "sync",
    "functions.activations": """
        elu gelu leaky_relu log_sigmoid log_softmax relu sigmoid silu softmax softplus
    """,
    "functions.attention": "attention",
    "functions.collective": "all_gather all_reduce axis_index",
    "functions.convolution": "convolve convolve_transposed",
    "functions.creation": """
        arange asarray empty empty_like from_numpy full full_like linspace meshgrid ones ones_like
        tensor zeros zeros_like
    """,
    "functions.drawing": """
        bernoulli multinomial normal rand rand_like randint randn randn_like randperm
    """,
    "functions.einsum": "einsum einsum_path",
    "functions.elementwise": """
        abs acos acosh add asin asinh atan atan2 atanh cbrt clip conj copysign cos cosh divide erf
        exp exp2 expm1 floor_divide hypot imag log log10 log1p log2 logaddexp maximum minimum
        multiply negative nextafter positive real reciprocal remainder rsqrt sign sin sinh sqrt
        square subtract tan tanh
    """,
    "functions.grid": "affine_grid grid_sample",
    "functions.indexing": "one_hot take take_along_axis",
    "functions.keys": "manual_seed",
    "functions.logic": """
        allclose array_equal bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_or
        bitwise_right_shift bitwise_xor equal greater greater_equal isclose isfinite isinf isnan
        less less_equal logical_and logical_not logical_or logical_xor not_equal signbit where
    """,
    "functions.manipulation": """
        broadcast_arrays broadcast_to concat expand expand_dims flatten flip matrix_transpose
        moveaxis permute_dims reshape roll squeeze stack swapaxes tile transpose
    """,
    "functions.masks": "argwhere nonzero",
    "functions.padding": "pad unfold",
    "functions.pieces": "chunk split unstack",
    "functions.pooling": "adaptive_mean_pool max_pool mean_pool",
    "functions.powers": "pow",
    "functions.products": "cross diag diagonal kron matmul outer tensordot trace vecdot",
    "functions.reductions": """
        all any argmax argmin count_nonzero cumulative_max cumulative_min cumulative_prod
        cumulative_sum diff logsumexp max mean min prod std sum var
    """,
    "functions.repeating": "repeat",
    "functions.rounding": "ceil floor round trunc",
    "functions.sorting": """
        argsort isin searchsorted sort topk unique_all unique_counts unique_inverse unique_values
    """,
    "functions.special": """
        degrees digamma entropy erfc erfinv heaviside lerp lgamma logit radians sinc xlogy
    """,
    "functions.spectrogram": "istft stft",
    "functions.statistics": "corrcoef cov median nanmedian percentile quantile",
    "functions.triangles": "eye tril triu",
    "functions.types": "astype broadcast_shapes can_cast finfo iinfo isdtype result_type to_device",
    "functions.windows": """
        bartlett_window blackman_window hamming_window hann_window kaiser_window
    """,
    "generator": "Generator",
    "grad": "grad jvp linearize stop_gradient value_and_grad vjp",
    "host_call": "ShapeDtype host_call",
    "jacobian": "hessian jacfwd jacrev",
    "jit": "explain jit",
    "kernel.call": "kernel",
    "namespace": """
        E_:e INF:inf NAN:nan PI:pi NEW_AXIS:newaxis VERSION:__array_api_version__
        info:__array_namespace_info__
    """,
    "nonfinite": "nonfinite_origin",
    "paths": "tree_paths",
    "profile": "Profile:profile",
    "tensor": "Tensor",
    "tree": "flatten:tree_flatten leaves_of:tree_leaves register:register_tree tree_map",
    "vmap": "vmap",
}


def public_name(module: str, name: str) -> str:
    """What users call a function, which has another name in its module perhaps, or what they got
    from `jit`; nothing for one that is not theirs."""
    entries = " ".join([EXPORTS[each] for each in EXPORTS if each.endswith(module)]).split()
    if name.startswith("_"):
        return module if name == "__call__" and module in entries else ""
    found = [entry for entry in entries if entry.startswith(f"{name}:")]
    return found[0].partition(":")[2] if found else name
