"""Writes chien2024.json: the published numbers of chien2024 with the cases that compute them.

    python make_chien2024.py > chien2024.json

Tables 2 and 3 are as the paper prints them. Figures 3b, 3c and 4 show lists that the paper does not
print; they are those that its authors keep with their program (Graph-COM/Langevin_unlearning,
result/LMC).
"""

import json
from typing import Any

Fields = dict[str, Any]
EPSILONS = ["0.05", "0.1", "0.5", "1", "2", "5"]
# n, m, M, d, L/m that the published numbers used, L/m from public knowledge.
DATA = {
    "MNIST": (11982, "0.011982", 1, 784, 16.24942, 0.261982 / 0.011982),
    "CIFAR-10-binary": (10000, "0.01", 1, 512, 18.31094, 26.0),
    "CIFAR-10-multi-class": (50000, "0.05", 2, 5120, 21.0, 21.0),
}
TABLE_2 = {
    "CIFAR-10-binary": {
        1: "59.5184 29.7994 6.0233 3.0504 1.5626 0.6663",
        2: "28.1340 14.0859 2.8472 1.4419 0.7386 0.3149",
        5: "9.4523 4.7325 0.9565 0.4844 0.2481 0.1058",
    },
    "CIFAR-10-multi-class": {
        1: "5.9612 2.9840 0.6022 0.3044 0.1554 0.0657",
        2: "2.8386 1.4209 0.2867 0.1449 0.0740 0.0313",
        5: "0.9764 0.4887 0.0986 0.0498 0.0254 0.0107",
    },
    "MNIST": {
        1: "36.8573 18.4620 3.7310 1.8890 0.9673 0.4120",
        2: "17.3030 8.6229 1.7507 0.8864 0.4538 0.1933",
        5: "5.6774 2.8424 0.5744 0.2908 0.1489 0.0634",
    },
}
TABLE_3 = {
    "CIFAR-10-binary": "0.2431 0.1220 0.0250 0.0125 0.0064 0.0028",
    "CIFAR-10-multi-class": "0.0473 0.0238 0.0049 0.0025 0.0012 0.0005",
    "MNIST": "0.1872 0.094 0.0190 0.0096 0.0049 0.0021",
}
FIGURE_3B = {
    "MNIST": {
        5: "263 531 586 630 674 721 773 829 888 948 1009 1071 1132 1195 1256 1319 1380 1442 1504 "
        "1566",
        10: "579 776 806 830 855 887 926 973 1025 1082",
        20: "864 1030 1044 1054 1066",
    },
    "CIFAR-10-binary": {
        5: "430 689 739 778 819 865 918 977 1040 1105 1172 1239 1307 1376 1444 1512 1581 1649 "
        "1717 1785",
        10: "762 965 990 1010 1031 1059 1095 1142 1195 1255",
        20: "1072 1248 1260 1267 1276",
    },
    "CIFAR-10-multi-class": {
        5: "1 1 225 421 524 623 720 816 912 1006 1102 1195 1290 1383 1476 1569 1662 1754 1845 1937",
        10: "1 401 569 665 752 838 927 1017 1108 1200",
        20: "391 782 863 927 991",
    },
}
# sigma: K, and the L/m it was computed with ("used" or "public").
FIGURE_3C = {
    "MNIST": ("public", {"0.05": 1741, "0.1": 1381, "0.2": 1011, "0.5": 481, "1": 1}),
    "CIFAR-10-binary": ("used", {"0.05": 1541, "0.1": 1251, "0.2": 951, "0.5": 521, "1": 151}),
    "CIFAR-10-multi-class": ("used", {"0.05": 1111, "0.1": 671, "0.2": 171, "0.5": 1, "1": 1}),
}
# S: K for epsilon 0.5, 1, 2, 5.
FIGURE_4 = {1: "1 1 1 1", 50: "2831 1231 531 171", 100: "3321 1491 671 251"}
cases: list[Fields] = []
inputs: Fields


def constants(data: str, *, used: bool = True) -> Fields:
    n, m, lipschitz, _, ratio, public = DATA[data]
    smoothness = (ratio if used else public) * float(m)
    return {
        "n": n,
        "strong_convexity": m,
        "lipschitz": str(lipschitz),
        "eta": repr(1 / smoothness),
        "delta": repr(1 / n),
    }


def case(where: str, data: str, kind: str, inputs: Fields, paper: Fields, **labels: Any) -> None:
    cases.append(
        {"where": where, "data": data, **labels, "kind": kind, "inputs": inputs, "paper": paper}
    )


def langevin(inputs: Fields, sigma: str, group: int, epsilon: str, **more: Any) -> Fields:
    return {**inputs, "sigma": sigma, "group": group, "target_epsilon": epsilon, **more}


for data, rows in TABLE_2.items():
    n, m, lipschitz, d, ratio, _ = DATA[data]
    for iterations, row in rows.items():
        for epsilon, printed in zip(EPSILONS, row.split(), strict=True):
            inputs = {
                "lipschitz": str(lipschitz),
                "strong_convexity": m,
                "smoothness": repr(ratio * float(m)),
                "n": n,
                "d": d,
                "epsilon": epsilon,
                "delta": repr(1 / n),
                "iterations": iterations,
                "diameter": "100",
            }
            case("Table 2", data, "descent-to-delete", inputs, {"thm31_sigma": printed})

for data, printed_row in TABLE_3.items():
    for epsilon, printed in zip(EPSILONS, printed_row.split(), strict=True):
        inputs = {**constants(data), "group": 1, "steps": 1, "target_epsilon": epsilon}
        case("Table 3", data, "langevin-least-sigma", inputs, {"sigma": printed})

for data, lists in FIGURE_3B.items():
    for group, printed in lists.items():
        inputs = langevin(
            constants(data), "0.03", group, "1", requests=100 // group, most_order="100000"
        )
        published = [int(k) for k in printed.split()]
        case("Figure 3b", data, "langevin-sequence", inputs, {"steps": published})

for data, (smoothness, steps_of) in FIGURE_3C.items():
    for sigma, steps in steps_of.items():
        inputs = langevin(
            constants(data, used=smoothness == "used"),
            sigma,
            100,
            "1",
            steps=steps,
            step_stride=10,
            most_order="10000",
        )
        case("Figure 3c", data, "langevin", inputs, {"least_steps_for_target": steps})

for group, row in FIGURE_4.items():
    for epsilon, printed in zip(EPSILONS[2:], row.split(), strict=True):
        inputs = langevin(
            constants("MNIST"),
            "0.03",
            group,
            epsilon,
            steps=int(printed),
            step_stride=10,
            most_order="10000",
        )
        case("Figure 4", "MNIST", "langevin", inputs, {"least_steps_for_target": int(printed)})

note = "paper: as published; where: table or figure of chien2024; see laboratory/published.md"
print(json.dumps({"note": note, "cases": cases}, indent=0))
