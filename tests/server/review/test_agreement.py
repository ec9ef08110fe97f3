"""Agreement: percent and Cohen's kappa, by worked examples."""

from itertools import product

import pytest

from toolvet.server.review.labels import cohens_kappa, measure_agreement
from toolvet.store.queue_records import ReviewLabel


def labels(table: dict[str, dict[str, str]]) -> list[ReviewLabel]:
    return [
        ReviewLabel(item=item, reviewer=reviewer, value=value)
        for item, said in table.items()
        for reviewer, value in said.items()
    ]


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        # Wikipedia, "Cohen's kappa": the grant proposals, and the two tables with equal agreement.
        ({"yy": 20, "yn": 5, "ny": 10, "nn": 15}, 0.4),
        ({"yy": 45, "yn": 15, "ny": 25, "nn": 15}, 0.1304),
        ({"yy": 25, "yn": 35, "ny": 5, "nn": 35}, 0.2593),
        ({"yn": 10, "ny": 10}, -1.0),
        ({"yy": 10, "nn": 10}, 1.0),
        ({"yy": 10}, None),
        ({}, None),
    ],
)
def test_kappa_is_that_of_the_books(counts: dict[str, int], kappa: float | None) -> None:
    said = [(pair[0], pair[1]) for pair, number in counts.items() for _ in range(number)]
    found = cohens_kappa(said)
    assert found == (None if kappa is None else pytest.approx(kappa, abs=5e-5))


def test_kappa_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn: an extra of the benchmarks")
    words = ("right", "wrong", "unsure")
    for seed in range(50):
        said = [
            (words[(seed * number + number // 3) % 3], words[(number * number + seed) % 3]) for number in range(5, 40)
        ]
        wanted = metrics.cohen_kappa_score([first for first, _ in said], [second for _, second in said])
        assert cohens_kappa(said) == pytest.approx(wanted)


def test_only_items_with_two_labels_count_and_disputed_ones_are_named() -> None:
    found = measure_agreement(
        labels(
            {
                "1": {"ada": "right", "bob": "right"},
                "2": {"ada": "wrong", "bob": "right"},
                "3": {"ada": "wrong", "bob": "wrong"},
                "4": {"ada": "right"},
            }
        )
    )
    assert (found.items, found.disputed) == (3, ("2",))
    assert found.agreed == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx(0.4)


def test_of_more_than_two_reviewers_it_is_the_mean_over_the_pairs() -> None:
    table = {
        f"{first}{second}{third}": {"ada": first, "bob": second, "eve": third}
        for first, second, third in product("rw", repeat=3)
    }
    found = measure_agreement(labels(table))
    assert [(pair.first, pair.second, pair.items) for pair in found.pairs] == [
        ("ada", "bob", 8),
        ("ada", "eve", 8),
        ("bob", "eve", 8),
    ]
    assert (found.agreed, found.kappa) == (0.5, 0.0)
    assert measure_agreement([]).kappa is None
