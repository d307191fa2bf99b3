#!/usr/bin/env python3
"""Cuts 200 sentence openings from source/alice.txt and prints them, one a line.

    python3 prompts/alice-200.py > prompts/alice-200.txt

How it cuts:
- Paragraphs are what blank lines divide. Those with an indented line (verse, letters, ornaments)
  and those that begin with CHAPTER or "[" are left out; the lines of the others are joined.
- A sentence ends at . ! or ? and the quotes and brackets that close after it, before white space.
- Its opening is what comes before its first punctuation mark, at most its first eight words.
  Apostrophes and hyphens inside a word are no punctuation.
- Openings that don't begin with a capital letter, or have fewer than four words, are left out, and
  so is a second one of the same words. The first 200 of the book stay, in its order.
"""

import pathlib
import re

COUNT = 200
FEWEST_WORDS = 4
MOST_WORDS = 8

SENTENCE_END = re.compile(r"""(?<=[.!?])['")\]]*\s+""")
WORD = r"[A-Za-z]+(?:['-][A-Za-z]+)*"
OPENING = re.compile(rf"(?=[A-Z]){WORD}(?: {WORD}){{{FEWEST_WORDS - 1},{MOST_WORDS - 1}}}(?![A-Za-z])")


def paragraphs(text):
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.strip("\n").split("\n")
        if not any(line.startswith((" ", "CHAPTER", "[")) for line in lines):
            yield " ".join(lines)


def openings(text):
    for paragraph in paragraphs(text):
        for sentence in SENTENCE_END.split(paragraph):
            found = OPENING.match(sentence)
            if found:
                yield found.group()


def main():
    source = pathlib.Path(__file__).parent / "source" / "alice.txt"
    distinct = list(dict.fromkeys(openings(source.read_text(encoding="utf-8"))))
    if len(distinct) < COUNT:
        raise SystemExit(f"{source}: only {len(distinct)} openings")
    print("\n".join(distinct[:COUNT]))


main()
