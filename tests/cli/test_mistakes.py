"""``attncalc mistakes`` as users run it."""

import pytest

from attncalc.mistakes import CATALOGUE

FILES = ("q.json", "k.json", "v.json")


def test_without_anything_it_lists_the_catalogue(attncalc):
    done = attncalc("mistakes")
    assert done.code == 0
    for mistake in CATALOGUE:
        assert mistake.id in done.out
        assert mistake.title in done.out


def test_an_id_tells_one_on_the_textbook_example(attncalc):
    out = attncalc("mistakes", "mask-multiplied", "--causal").out
    assert "mask-multiplied: scores are multiplied by the mask" in out
    assert "hyunwoongko/transformer#10" in out
    assert "0.5035  !0.2483  !0.2483" in out  # 0.2483 + 0.2483 = 0.4965 on the future
    assert out.index("weights · right") < out.index("weights · wrong") < out.index("output · right")


def test_an_id_tells_one_on_the_users_files(attncalc):
    attncalc.write(v=[[1, 2], [3, 4], [5, 6]])
    out = attncalc("mistakes", "scale-missing", *FILES).out
    assert "scale-missing" in out
    assert "output · wrong" in out


def test_a_mistake_that_does_not_apply_says_so(attncalc):
    assert "It does not apply to these inputs." in attncalc("mistakes", "gqa-tiled").out
    assert "It makes no difference on these inputs." in attncalc("mistakes", "softmax-unstable").out


def test_files_show_what_each_does(attncalc):
    out = attncalc("mistakes", *FILES, "--causal").out
    assert "What each known mistake does to these numbers" in out
    assert "causal-one-ahead" in out
    row = next(line for line in out.splitlines() if line.startswith("mask-multiplied"))
    assert row.split()[-2:] == ["4.965", "0.4965"]  # what the first row gives to the future
    assert "1 that applies makes no difference here: softmax-unstable." in out


def test_json_has_the_keys_of_the_contract(attncalc):
    record = attncalc("mistakes", *FILES, "--causal", "--format", "json").json
    assert record["schema"] == "attncalc.mistakes/1"
    assert [each["id"] for each in record["mistakes"]] == [mistake.id for mistake in CATALOGUE]
    keys = {"id", "title", "what", "why", "instead", "applies", "weights", "output", "max_abs_error"}
    assert all(keys <= each.keys() for each in record["mistakes"])
    multiplied = next(each for each in record["mistakes"] if each["id"] == "mask-multiplied")
    assert multiplied["weight_on_blocked_keys"] == pytest.approx(0.4965, abs=5e-5)
    assert sum(multiplied["weights"][0][1:]) == pytest.approx(0.4965, abs=5e-5)
    absent = next(each for each in record["mistakes"] if each["id"] == "gqa-tiled")
    assert (absent["applies"], absent["weights"], absent["max_abs_error"]) == (False, None, None)


def test_it_speaks_chinese(attncalc):
    out = attncalc("mistakes", "mask-after-softmax", "--causal", "--lang", "zh").out
    assert "注意力权重在 softmax 之后才置零" in out
    assert "已知错误" in attncalc("mistakes", ATTNCALC_LANG="zh").out


def test_a_misspelt_id_gets_a_suggestion(attncalc):
    assert "did you mean causal-strict?" in attncalc.fails("mistakes", "causal-stict")
