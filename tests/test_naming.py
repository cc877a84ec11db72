"""Which words can name a process."""

from __future__ import annotations

import pytest

from postmortem.naming import is_name, without_words

NAMES = ("prover", "kworker/u64:2", "CPU 0/KVM", "node", "init", "php-fpm8.1", "VLLM::Worker_TP", "ld", "as", "R")


@pytest.mark.parametrize("text", NAMES)
def test_a_name(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize("text", ["was", "Exited", "got", "want", "with", "has", "00:00", "-", "127"])
def test_a_word_of_a_sentence_is_no_name_whoever_tells_it(text: str) -> None:
    assert not is_name(text)
    assert not is_name(text, prose=True)


@pytest.mark.parametrize("text", ["process", "Worker", "Task", "a$x", "${BIN}", "eval", "step"])
def test_a_noun_is_no_name_in_prose_but_the_kernel_knows_it_better(text: str) -> None:
    assert not is_name(text, prose=True)
    assert is_name(text)


def test_the_other_fields_of_a_record_are_left() -> None:
    fields = {"comm": "was", "pid": "7", "victim": "java"}
    assert without_words(fields) == {"pid": "7", "victim": "java"}
    assert fields["comm"] == "was"
