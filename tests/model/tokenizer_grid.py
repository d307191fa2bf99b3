"""transformers' own answers over a grid of tokenizer folders, for tokenizer_grid_test.cpp.

usage: tokenizer_grid.py FOLDER      makes FOLDER/NAME/ for each case of the grid, and
                                     FOLDER/grid.json: of each its name and the ids of each text
                                     by AutoTokenizer (null where transformers can't load it)
"""

import json
import os
import sys
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["USE_TORCH"] = os.environ["USE_TF"] = os.environ["USE_FLAX"] = "0"
warnings.filterwarnings("ignore")

from transformers import AutoTokenizer  # noqa: E402

END = "<|endoftext|>"

TEXTS = [
    "",
    " ",
    "  ",
    "\n",
    "the thin hat",
    " the  thin\nhat",
    "The Thin Hat, isn't 'the' in THE tin?",
    "<s>the hat</s>",
    " <s> the hat </s> ",
    "a<|pad|>b",
    "a <|pad|> b<mask>in <mask>\tin<mask> \n in",
    "in<word>in <word> in_<word> <word>é ⓐ<word> !<word>!",
    f"{END}",
    f"the {END} hat{END}{END}\n",
    "<|endoftext|<|endoftext|>|> <|ENDOFTEXT|>",
    "<s><s>the<pad><unk>",
    "  indented\n\ttab\r\nreturn   end   ",
    "1234 in 2024, 3.14; x2y",
    "naïve café ÀÉÎ ß ÿ",
    "new the hat THE HAT <New> <NEW> <new>",
    "\u00a0nbsp\u2003em\u3000full",
    "a_b__c  d",
    "x<x><xy>z<xy>",
    "don't DON'T we'll",
]

# Beyond what a normaliser is known for.
FAR_TEXTS = [
    "e\u0301 n\u0303 \u0301",
    "日本語 한국어 ไทย",
    "👍🏽 👩‍👩‍👧 🇫🇷",
    "ﬁ Ⅷ ½ ² ｆｕｌｌ",
    "ΣΑΣ Ё İ ẞ Ǆ",
    "\u0000\u0001\u007f\u0085 \u200b\ufeff",
]


def letters():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) for byte in printable] + [chr(0x100 + i) for i in range(len(others))]


MERGES = [
    "t h", "th e", "i n", "Ġ t", "Ġt h", "Ġth e", "Ġ in", "Ġ Ġ", "h a", "ha t", "Ġ hat", "< s",
    "Ġ <", "T h", "Th e", "o n", "1 2", "3 4", "12 34", "e n", "en d", "Ã ©",
]


def vocabulary(first=(END,), last=()):
    tokens = [*first, *letters(), *(merge.replace(" ", "") for merge in MERGES), *last]
    return {token: number for number, token in enumerate(tokens)}


def two_files(first=(END,), last=(), merges=None, **others):
    files = {
        "vocab.json": vocabulary(first, last),
        "merges.txt": "#version: 0.2\n" + "\n".join(merges or MERGES) + "\n",
    }
    files.update({name.replace("__", "."): content for name, content in others.items()})
    return files


def token(content, id=None, **flags):
    made = {"content": content, "single_word": False, "lstrip": False, "rstrip": False}
    made.update({"normalized": False, "special": False})
    made.update(flags)
    if id is not None:
        made["id"] = id
    return made


def byte_level(prefix=False, **others):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, **others}


def one_file(first=(END,), added=None, model=None, config=None, special_map=None, **parts):
    tokens = vocabulary(first)
    whole = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added if added is not None else [token(END, 0, special=True)],
        "normalizer": None,
        "pre_tokenizer": byte_level(use_regex=True),
        "post_processor": byte_level(True),
        "decoder": byte_level(True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": tokens,
            "merges": MERGES,
        },
    }
    whole.update(parts)
    whole["model"].update(model or {})
    files = {"tokenizer.json": whole}
    if config is not None:
        files["tokenizer_config.json"] = config
    if special_map is not None:
        files["special_tokens_map.json"] = special_map
    return files


GPT2 = {"tokenizer_class": "GPT2Tokenizer"}
FAST = {"tokenizer_class": "PreTrainedTokenizerFast"}
N = len(vocabulary())


def template(*items, tokens=None):
    def piece(item):
        if item == "A":
            return {"Sequence": {"id": "A", "type_id": 0}}
        return {"SpecialToken": {"id": item, "type_id": 0}}

    names = tokens or {item: 0 for item in items if item != "A"}
    return {
        "type": "TemplateProcessing",
        "single": [piece(item) for item in items],
        "pair": [piece("A"), {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            name: {"id": name, "ids": [id], "tokens": [name]} for name, id in names.items()
        },
    }


def marked(content, **flags):
    return {"__type": "AddedToken", **token(content), **flags}


def two_file_cases():
    specials = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    flagged = {"lstrip": True, "rstrip": False, "single_word": False, "normalized": False}
    yield "plain", two_files()
    yield "no end of text", two_files(first=("<s>",))
    yield "prefix space", two_files(tokenizer_config__json={**GPT2, "add_prefix_space": True})
    yield "begin token", two_files(
        tokenizer_config__json={**GPT2, "add_bos_token": True, "bos_token": END}
    )
    yield "begin token and prefix space", two_files(
        tokenizer_config__json={**GPT2, "add_bos_token": True, "add_prefix_space": True}
    )
    yield "begin token outside", two_files(
        tokenizer_config__json={**GPT2, "add_bos_token": True, "bos_token": "<begin>"}
    )
    yield "specials in config", two_files(specials, tokenizer_config__json={**GPT2, **names})
    yield "specials in map", two_files(specials, special_tokens_map__json=names)
    yield "specials in both", two_files(
        specials,
        special_tokens_map__json={**names, "mask_token": {"content": "<mask>", **flagged}},
        tokenizer_config__json={**GPT2, "bos_token": "</s>"},
    )
    yield "specials marked", two_files(
        specials,
        tokenizer_config__json={
            **GPT2, **names, "mask_token": marked("<mask>", lstrip=True, rstrip=True)
        },
    )
    yield "additional", two_files(
        special_tokens_map__json={"additional_special_tokens": ["<|pad|>", "<word>"]}
    )
    yield "additional flagged", two_files(
        special_tokens_map__json={
            "additional_special_tokens": [
                {**flagged, "content": "<mask>", "rstrip": True},
                {**flagged, "content": "<word>", "lstrip": False, "single_word": True},
            ]
        }
    )
    yield "unresized", two_files(
        added_tokens__json={"<|pad|>": N}, special_tokens_map__json={"pad_token": "<|pad|>"}
    )
    yield "added", two_files(added_tokens__json={"<x>": N, "<xy>z": N + 1, "<x": N + 2})
    yield "added with gap", two_files(added_tokens__json={"<x>": N + 3})
    yield "added in vocabulary", two_files(added_tokens__json={"the": 258})
    yield "added and prefix", two_files(
        added_tokens__json={"<x>": N}, tokenizer_config__json={**GPT2, "add_prefix_space": True}
    )
    yield "decoder", two_files(
        tokenizer_config__json={
            **GPT2,
            "added_tokens_decoder": {
                "0": token(END, special=True),
                str(N): token("<mask>", lstrip=True, rstrip=True, special=True),
                str(N + 1): token("<word>", single_word=True, normalized=True),
            },
            "pad_token": "<|pad|>",
        }
    )
    yield "split specials", two_files(
        tokenizer_config__json={**GPT2, "split_special_tokens": True},
        added_tokens__json={"<x>": N},
    )
    holes = {name: id + 2 for name, id in vocabulary(first=()).items()}
    yield "ids missing", {**two_files(), "vocab.json": holes}
    yield "fast class", two_files(tokenizer_config__json={"tokenizer_class": "GPT2TokenizerFast"})
    yield "no version line", {**two_files(), "merges.txt": "\n".join(MERGES) + "\n"}
    yield "no last newline", {**two_files(), "merges.txt": "#version: 0.2\n" + "\n".join(MERGES)}
    yield "merge twice", two_files(merges=["i n", *MERGES[:2], "i n", *MERGES[3:], "t h"])
    yield "crlf merges", {**two_files(), "merges.txt": "#version: 0.2\r\n" + "\r\n".join(MERGES) + "\r\n"}
    yield "begin token null", two_files(
        tokenizer_config__json={**GPT2, "bos_token": None, "eos_token": END}
    )
    yield "specials null", two_files(
        tokenizer_config__json={**GPT2, "bos_token": None, "eos_token": None, "unk_token": None}
    )


def one_file_cases():
    yield "one plain", one_file()
    yield "one prefix in config", one_file(config={**GPT2, "add_prefix_space": True})
    yield "one prefix in file", one_file(pre_tokenizer=byte_level(True))
    yield "one prefix in file, class fast", one_file(pre_tokenizer=byte_level(True), config=FAST)
    yield "one prefix everywhere", one_file(
        pre_tokenizer=byte_level(True), config={**GPT2, "add_prefix_space": True}
    )
    yield "one begin in config", one_file(config={**GPT2, "add_bos_token": True})
    yield "one begin false in config", one_file(
        config={**GPT2, "add_bos_token": False}, post_processor=template(END, "A")
    )
    yield "one end in config", one_file(config={**GPT2, "add_eos_token": True})
    yield "one template", one_file(post_processor=template(END, "A"))
    yield "one template both", one_file(post_processor=template(END, "A", END))
    yield "one template after", one_file(post_processor=template("A", END), config=FAST)
    yield "one roberta", one_file(
        post_processor={
            "type": "RobertaProcessing",
            "sep": [END, 0],
            "cls": ["!", 1],
            "trim_offsets": True,
            "add_prefix_space": False,
        }
    )
    yield "one bert processing", one_file(
        post_processor={"type": "BertProcessing", "sep": [END, 0], "cls": ["!", 1]}
    )
    yield "one processors", one_file(
        post_processor={"type": "Sequence", "processors": [byte_level(), template(END, "A")]}
    )
    yield "one no processor", one_file(post_processor=None)
    yield "one truncation", one_file(
        truncation={"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    )
    yield "one padding", one_file(
        padding={
            "strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 0, "pad_type_id": 0, "pad_token": END,
        }
    )
    for name, regex in [("one no regex", False), ("one regex", True)]:
        yield name, one_file(pre_tokenizer=byte_level(use_regex=regex))
    yield "one no regex prefix", one_file(
        pre_tokenizer=byte_level(True, use_regex=False), config={**GPT2, "add_prefix_space": True}
    )
    added = [
        token(END, 0, special=True),
        token("<mask>", N, lstrip=True, special=True),
        token("<word>", N + 1, single_word=True, normalized=True),
        token("<|pad|>", N + 2, rstrip=True),
        token("new the", N + 3, normalized=True),
        token("the", 258 if False else vocabulary()["the"], normalized=True),
    ]
    yield "one flags", one_file(added=added)
    yield "one flags class fast", one_file(added=added, config=FAST)
    yield "one flags prefix", one_file(added=added, config={**GPT2, "add_prefix_space": True})
    yield "one flags split", one_file(added=added, config={**GPT2, "split_special_tokens": True})
    yield "normalizer Lowercase and added", one_file(added=added[:1] + [token("<New>", N, normalized=True)],
                                      normalizer={"type": "Lowercase"})
    yield "one specials in map", one_file(
        first=("<s>", "</s>"), added=[], special_map={"bos_token": "<s>", "eos_token": "</s>",
                                                      "unk_token": "</s>"}
    )
    yield "one no added", one_file(added=[])
    yield "one no added class fast", one_file(added=[], config=FAST)
    yield "one specials new", one_file(config={**GPT2, "pad_token": "<|pad|>", "mask_token": "<mask>"})
    yield "one specials new class fast", one_file(
        config={**FAST, "pad_token": "<|pad|>", "additional_special_tokens": ["<mask>"]}
    )
    yield "one decoder", one_file(
        config={
            **GPT2,
            "added_tokens_decoder": {
                "0": token(END, special=True),
                str(N): token("<mask>", lstrip=True, special=True),
            },
        }
    )
    yield "one decoder differs", one_file(
        added=added[:2],
        config={
            **GPT2,
            "added_tokens_decoder": {
                "0": token(END, special=True),
                str(N): token("<mask>", rstrip=True, special=True),
            },
        },
    )
    yield "one marked end", one_file(
        config={**GPT2, "eos_token": marked(END, normalized=True), "bos_token": marked(END, rstrip=True)}
    )
    yield "one added json", {**one_file(), "added_tokens.json": {"<x>": N}}
    yield "one and two", {**two_files(last=("zz",)), **one_file()}
    for name, change in [
        ("dropout", {"dropout": 0.5}), ("dropout zero", {"dropout": 0.0}),
        ("unk token", {"unk_token": END}), ("fuse unk", {"unk_token": END, "fuse_unk": True}),
        ("byte fallback", {"byte_fallback": True}), ("ignore merges", {"ignore_merges": True}),
        ("subword prefix", {"continuing_subword_prefix": "##"}),
        ("word suffix", {"end_of_word_suffix": "</w>"}),
        ("prefix empty", {"continuing_subword_prefix": "", "end_of_word_suffix": ""}),
    ]:
        yield "one " + name, one_file(model=change)
    yield "one pairs", one_file(model={"merges": [merge.split(" ") for merge in MERGES]})
    few = MERGES[:3]
    yield "one ignore merges, few", one_file(model={"merges": few, "ignore_merges": True})


def normalizer_cases():
    for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"):
        yield "normalizer " + kind, one_file(normalizer={"type": kind})
    replace = {"type": "Replace", "pattern": {"String": "hat"}, "content": "the"}
    yield "normalizer Replace", one_file(normalizer=replace)
    yield "normalizer Replace regex", one_file(
        normalizer={"type": "Replace", "pattern": {"Regex": " +"}, "content": " "}
    )
    yield "normalizer Prepend", one_file(normalizer={"type": "Prepend", "prepend": "in"})
    yield "normalizer Strip", one_file(
        normalizer={"type": "Strip", "strip_left": True, "strip_right": False}
    )
    yield "normalizer Sequence", one_file(
        normalizer={"type": "Sequence", "normalizers": [
            {"type": "NFC"}, {"type": "Lowercase"}, replace, {"type": "Prepend", "prepend": " "}]}
    )
    yield "normalizer Bert", one_file(
        normalizer={"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                    "strip_accents": None, "lowercase": True}
    )
    yield "normalizer NFC class fast", one_file(normalizer={"type": "NFC"}, config=FAST)


def pre_tokenizer_cases():
    gpt2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
    split = {"type": "Split", "pattern": {"Regex": gpt2}, "behavior": "Isolated", "invert": False}
    bytes_only = byte_level(use_regex=False)

    def sequence(*parts):
        return {"type": "Sequence", "pretokenizers": list(parts)}

    yield "pre Split", one_file(pre_tokenizer=sequence(split, bytes_only))
    yield "pre Split other", one_file(
        pre_tokenizer=sequence({**split, "pattern": {"Regex": r"\w+"}}, bytes_only)
    )
    yield "pre Split string", one_file(
        pre_tokenizer=sequence({**split, "pattern": {"String": " "}}, bytes_only)
    )
    yield "pre Digits", one_file(
        pre_tokenizer=sequence({"type": "Digits", "individual_digits": True}, byte_level())
    )
    yield "pre Sequence", one_file(pre_tokenizer=sequence(byte_level()))
    yield "pre Sequence prefix", one_file(
        pre_tokenizer=sequence(byte_level(True)), config={**GPT2, "add_prefix_space": True}
    )
    yield "pre Whitespace", one_file(pre_tokenizer={"type": "Whitespace"})
    yield "pre Metaspace", one_file(
        pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
                       "split": True}
    )
    yield "pre none", one_file(pre_tokenizer=None)


def other_cases():
    yield "class Roberta", {**two_files(), "tokenizer_config.json": {
        "tokenizer_class": "RobertaTokenizer"}}
    yield "class unknown", one_file(config={"tokenizer_class": "OurTokenizer"})
    yield "class from config", {**two_files(), "config.json": {
        "model_type": "gpt2", "tokenizer_class": "GPT2TokenizerFast"}}


def cases():
    for make in (two_file_cases, one_file_cases, normalizer_cases, pre_tokenizer_cases,
                 other_cases):
        for name, files in make():
            yield name, {"config.json": {"model_type": "gpt2"}, **files}


def answers(folder):
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        return [tokenizer(text)["input_ids"] for text in TEXTS + FAR_TEXTS]
    except BaseException as error:  # Rust's panics aren't Exceptions
        print(folder, type(error).__name__, str(error)[:100], file=sys.stderr)
        return None


def main():
    out = sys.argv[1]
    grid = []
    for name, files in cases():
        folder = os.path.join(out, name)
        os.makedirs(folder)
        for file, content in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8", newline="") as stream:
                stream.write(content if isinstance(content, str) else json.dumps(content))
        grid.append({"name": name, "ids": answers(folder)})
    with open(os.path.join(out, "grid.json"), "w", encoding="utf-8") as stream:
        json.dump({"texts": TEXTS + FAR_TEXTS, "known": len(TEXTS), "cases": grid}, stream)


main()
