"""Independent values for the statistics of coordinator/core, by SciPy. Prints oracle.json.

    python3 oracle.py > oracle.json        (SciPy 1.17.1, NumPy of its choice; nothing of fleet is used)
"""
import itertools
import json
import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20261130)
exact = np.inf


def sign_flip(gains):
    def p(side):
        return stats.permutation_test((gains,), np.sum, permutation_type="samples", n_resamples=exact, alternative=side).pvalue

    return {"gains": gains, "greater": p("greater"), "twoSided": p("two-sided")}


def hodges_lehmann(gains):
    """The interval by inverting scipy.stats.wilcoxon(method="exact") at the middle of every gap between Walsh averages."""
    walsh = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(gains, 2))
    p = lambda shift: stats.wilcoxon(np.array(gains) - shift, method="exact").pvalue
    gaps = [(low, high) for low, high in itertools.pairwise(walsh) if high > low]
    kept = [gap for gap in gaps if p(sum(gap) / 2) > 0.05]
    reachable = p(walsh[0] - 1) <= 0.05
    interval = {"low": kept[0][0], "high": kept[-1][1]} if reachable else None
    return {"gains": gains, "estimate": float(np.median(walsh)), "interval": interval}


def fisher(a, na, b, nb):
    table = [[a, na - a], [b, nb - b]]
    p = lambda side: float(stats.fisher_exact(table, alternative=side).pvalue)
    return {"a": [a, na], "b": [b, nb], "greater": p("greater"), "less": p("less"), "twoSided": p("two-sided")}


def rate(hits, of):
    found = stats.binomtest(hits, of).proportion_ci(0.95, method="exact")
    return {"hits": hits, "of": of, "low": float(found.low), "high": float(found.high)}


def ranks(a, b):
    """Exact two-sided p of the rank sum, ties by mid-ranks: the statistic's distance from its mean."""
    pooled = stats.rankdata(a + b)
    mean = len(a) * (len(a) + len(b) + 1) / 2
    distance = lambda x, y, axis: np.abs(np.sum(x, axis=axis) - mean)
    found = stats.permutation_test(
        (pooled[: len(a)], pooled[len(a) :]), distance, permutation_type="independent", n_resamples=exact, alternative="greater", vectorized=True
    )
    return {"candidateFirst": a, "baselineFirst": b, "p": float(found.pvalue), "shift": float(np.median([x - y for x in a for y in b]))}


def draw(n, mean=3.0, sd=2.0, digits=3):
    return [round(float(x), digits) for x in rng.normal(mean, sd, n)]


def many(a, b):
    return {"candidateFirst": a, "baselineFirst": b, "p": float(stats.mannwhitneyu(a, b, method="exact").pvalue)}


tables = {
    "library": f"SciPy {scipy.__version__}",
    "signFlip": [sign_flip(draw(n, mean)) for n, mean in [(3, 3), (4, 0.5), (5, 1), (7, -1), (9, 0.3), (12, 1), (15, 0.2)]]
    + [sign_flip([3.0, 3.0, -3.0, 3.0, 0.0, 3.0])],
    "signedRank": [
        {"gains": gains, "greater": float(stats.wilcoxon(gains, method="exact", alternative="greater").pvalue), "twoSided": float(stats.wilcoxon(gains, method="exact").pvalue)}
        for gains in [draw(31, 0.5, digits=6), draw(40, -0.4, digits=6), draw(36, 0.0, digits=6)]
    ],
    "hodgesLehmann": [hodges_lehmann(draw(n)) for n in (5, 6, 7, 8, 10, 13, 20, 25)],
    "fisher": [fisher(3, 23, 0, 31), fisher(1, 16, 0, 16), fisher(5, 20, 1, 40), fisher(2, 9, 7, 9), fisher(0, 8, 0, 8), fisher(12, 60, 3, 64)],
    "rate": [rate(0, 20), rate(1, 16), rate(50, 2000), rate(7, 9), rate(20, 20)],
    "orderEffect": [ranks(draw(5), draw(5, 1)), ranks(draw(4, 2), draw(6)), ranks([1.0, 2.0, 2.0], [2.0, 3.0, 0.0, 1.0]), ranks([5.0, 4.0], [1.0, 2.0])],
    "manyPairs": [many(draw(60, 3.5, digits=6), draw(60, digits=6)), many(draw(51, digits=6), draw(70, digits=6))],
}
library = json.dumps(tables.pop("library"))
cases = [f' "{name}": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n ]" for name, rows in tables.items()]
print("{\n" + ",\n".join([f' "library": {library}', *cases]) + "\n}")
