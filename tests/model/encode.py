"""The `tokenizers` package's own answers, for tokenizer_reference_test.cpp.

usage: encode.py assigned OUT              ranges [first, last] of code points that it knows
       encode.py FOLDER TEXTS.json OUT     ids of each text, with the tokenizer of a folder
"""

import json
import os
import sys

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers


def assigned():
    every = [*range(0xD800), *range(0xE000, 0x110000)]
    text = "".join(map(chr, every))
    unassigned = pre_tokenizers.Split(Regex(r"\p{Cn}+"), "removed")
    ranges = []
    for _, (begin, end) in unassigned.pre_tokenize_str(text):
        for number in every[begin:end]:
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
    return ranges


def tokenizer_of(folder):
    whole = os.path.join(folder, "tokenizer.json")
    if os.path.exists(whole):
        return Tokenizer.from_file(whole)
    tokenizer = Tokenizer(
        models.BPE.from_file(os.path.join(folder, "vocab.json"), os.path.join(folder, "merges.txt"))
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", normalized=False, special=True)])
    return tokenizer


def main():
    if sys.argv[1] == "assigned":
        result = assigned()
    else:
        with open(sys.argv[2], encoding="utf-8") as file:
            texts = json.load(file)
        result = [encoding.ids for encoding in tokenizer_of(sys.argv[1]).encode_batch(texts)]
    with open(sys.argv[-1], "w", encoding="utf-8") as file:
        json.dump(result, file)


main()
