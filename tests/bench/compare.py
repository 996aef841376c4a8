"""Reads what compare.sh measured and prints the ratio table (Markdown) with the goals that are met."""
import json
import os
import statistics
import sys

BARS = ("bar2k", "bar12k", "bar60k")
# Highest ratio that counts as must and as goal (shared with tests/bench/README.md).
YARDSTICK_MUST = {"bar2k": 0.9, "bar12k": 0.7, "bar60k": 0.6}
YARDSTICK_GOAL = {"bar2k": 0.45, "bar12k": 0.35, "bar60k": 0.3}
THREADS_MUST = {"bar2k": 0.65, "bar12k": 0.6, "bar60k": 0.6}
PANES = ("pane", "pane_stiff", "pane_plate", "pane_stiff_plate")
PANE_MUST, PANE_GOAL, SLEEPERS_MUST = 0.8, 0.4, 0.2  # ms
PILE_MUST, PILE_GOAL, PILE_THREADS_MUST, PILE_COLLISION_MUST = 0.10, 0.04, 0.65, 0.5
PILE_HEIGHT_SHARE = 0.05  # of a run solved to 1e-6
RUBBLE_MUST = 0.2  # ms a step when it has settled


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def read_engine(folder, scene, threads):
    path = os.path.join(folder, "%s.%d.json" % (scene, threads))
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def read_peer(folder, scene, peer, field="ms_median"):
    """ms of each round, or nothing when the peer did not run."""
    path = os.path.join(folder, "%s.%s.peer" % (scene, peer))
    if not os.path.exists(path):
        return []
    with open(path) as file:
        words = [line.split() for line in file if line.strip()]
    return [float(line[line.index(field) + 1]) for line in words]


def bullet_steps(folder):
    """How many steps Bullet came to: fewer than 120 are another part of the scene."""
    path = os.path.join(folder, "pile27.bullet.peer")
    if not os.path.exists(path):
        return "-"
    with open(path) as file:
        words = file.readline().split()
    steps = int(words[words.index("steps") + 1])
    return "%d" % steps if steps == 120 else "%d: NOT ALL 120, the ratio does not count" % steps


def ratio_of_rounds(above, below):
    """Median of the ratios within each round: both ran one after the other, so noise of the machine hits both."""
    return median([a / b for a, b in zip(above, below)])


def ratio_of_least(above, below):
    """Of the least times of all rounds. Two threads need two cores at once, and a host that gives a virtual machine two
    halves of one core in some rounds makes them as slow as one: only rounds without that say anything of the engine."""
    return min(above) / min(below)


def number(value, form="%.2f"):
    return "-" if value is None else form % value


def verdict(value, must, goal=None):
    if value is None:
        return "not measured"
    if goal is not None and value <= goal:
        return "goal met"
    if value <= must:
        return "must met" + ("" if goal is None else " (goal %g)" % goal)
    return "MISSED (must be <= %g)" % must


def check_run(runs, expected_swing):
    """The sentence that says why a time does not count, or nothing."""
    faults = []
    capped = max(run["cg_capped"] for run in runs)
    if capped > 0.05:
        faults.append("%.0f %% of the solves at their cap" % (100 * capped))
    swing = runs[0]["tip_first_swing"]
    if expected_swing and abs(swing / expected_swing - 1) > 0.01:
        faults.append("first swing %.4f m, expected %.3f" % (swing, expected_swing))
    if max(run["allocations_per_step"] for run in runs) > 0:
        faults.append("allocates in steps")
    if len({run["hash"] for run in runs}) > 1:
        faults.append("hashes differ between runs")
    return "; ".join(faults)


def print_bars(folder, swings):
    print("| | bar2k | bar12k | bar60k |\n|---|---|---|---|")
    one = {bar: read_engine(folder, bar, 1) for bar in BARS}
    two = {bar: read_engine(folder, bar, 2) for bar in BARS}
    one_ms = {bar: [run["ms_median"] for run in one[bar]] for bar in BARS}
    two_ms = {bar: [run["ms_median"] for run in two[bar]] for bar in BARS}
    yardstick = {bar: read_peer(folder, bar, "yardstick") for bar in BARS}
    bullet = {bar: read_peer(folder, bar, "bullet") for bar in BARS}

    def row(title, cells):
        print("| %s | %s |" % (title, " | ".join(cells)))

    row("engine, 1 thread, ms", [number(median(one_ms[bar]), "%.3f") for bar in BARS])
    row("engine, 2 threads, ms", [number(median(two_ms[bar]), "%.3f") for bar in BARS])
    row("yardstick, ms", [number(median(yardstick[bar]), "%.3f") for bar in BARS])
    row("Bullet, ms", [number(median(bullet[bar]), "%.1f") for bar in BARS])
    ratio = {bar: ratio_of_rounds(one_ms[bar], yardstick[bar]) for bar in BARS}
    row("engine 1 thread / yardstick", [
        "%s, %s" % (number(ratio[bar]), verdict(ratio[bar], YARDSTICK_MUST[bar], YARDSTICK_GOAL[bar])) for bar in BARS])
    ratio = {bar: ratio_of_least(two_ms[bar], one_ms[bar]) for bar in BARS}
    row("2 threads / 1 thread, least of all rounds", [
        "%s, %s" % (number(ratio[bar]), verdict(ratio[bar], THREADS_MUST[bar])) for bar in BARS])
    row("2 threads / 1 thread, median of rounds", [number(ratio_of_rounds(two_ms[bar], one_ms[bar])) for bar in BARS])
    row("Bullet / engine 1 thread", [
        number(median(bullet[bar]) / median(one_ms[bar]) if bullet[bar] else None, "%.0f") for bar in BARS])
    row("iterations a solve", [number(one[bar][0]["cg_iterations_mean"], "%.1f") for bar in BARS])
    row("first swing, m", [number(one[bar][0]["tip_first_swing"], "%.4f") for bar in BARS])
    row("time counts", [check_run(one[bar] + two[bar], swings[i]) or "yes" for i, bar in enumerate(BARS)])


def print_others(folder):
    print("\n| scene | 1 thread, ms | 2 threads, ms | iterations | |\n|---|---|---|---|---|")
    for scene in PANES + ("many1000", "sleepers10k", "spin"):
        one, two = read_engine(folder, scene, 1), read_engine(folder, scene, 2)
        ms = median([run["ms_median"] for run in one])
        note = ""
        if scene in PANES:
            note = verdict(ms, PANE_MUST, PANE_GOAL)
        elif scene == "sleepers10k":
            note = verdict(ms, SLEEPERS_MUST)
        fault = check_run(one + two, None)
        print("| %s | %.4f | %.4f | %.1f | %s |" % (scene, ms, median([run["ms_median"] for run in two]),
                                                 one[0]["cg_iterations_mean"], "; ".join(filter(None, (note, fault)))))


def print_pile(folder):
    one, two = read_engine(folder, "pile27", 1), read_engine(folder, "pile27", 2)
    with open(os.path.join(folder, "pile27.exact.json")) as file:
        exact = json.load(file)
    one_ms, two_ms = [run["ms_median"] for run in one], [run["ms_median"] for run in two]
    bullet = median(read_peer(folder, "pile27", "bullet"))
    # Bullet's run is long and runs once: what else the machine does must not count.
    bullet_cpu = median(read_peer(folder, "pile27", "bullet", "cpu_ms_mean"))
    cpu = median([run["cpu_ms_mean"] for run in one])
    ratio = cpu / bullet_cpu if bullet_cpu else None
    threads = ratio_of_least(two_ms, one_ms)
    collision = median([run["phases"]["collision"] / sum(run["phases"].values()) for run in one])
    height = abs(one[0]["height"] / exact["height"] - 1)
    fault = check_run(one + two, None)
    if height > PILE_HEIGHT_SHARE:
        fault = "; ".join(filter(None, (fault, "height off by %.1f %%" % (100 * height))))
    print("\n| pile27 | | |\n|---|---|---|")
    print("| engine, 1 and 2 threads, ms | %.2f | %.2f |" % (median(one_ms), median(two_ms)))
    print("| Bullet, ms, steps | %s | %s |" % (number(bullet, "%.0f"), bullet_steps(folder)))
    print("| processor time of a step, engine and Bullet, ms | %.1f | %s |" % (cpu, number(bullet_cpu, "%.0f")))
    print("| engine 1 thread / Bullet, processor time | %s | %s |" % (number(ratio, "%.3f"), verdict(ratio, PILE_MUST, PILE_GOAL)))
    print("| 2 threads / 1 thread, least of all rounds | %s | %s |" % (number(threads), verdict(threads, PILE_THREADS_MUST)))
    print("| 2 threads / 1 thread, median of rounds | %s | |" % number(ratio_of_rounds(two_ms, one_ms)))
    print("| collision's share of the step | %.2f | %s |" % (collision, verdict(collision, PILE_COLLISION_MUST)))
    print("| contacts, mean and most | %.0f | %d |" % (one[0]["contacts_mean"], one[0]["contacts_max"]))
    print("| iterations a solve, solves a step | %.1f | %.1f |" % (one[0]["cg_iterations_mean"], one[0]["solves_mean"]))
    print("| height after 2 s, solved to 1e-3 and 1e-6, m | %.3f | %.3f |" % (one[0]["height"], exact["height"]))
    print("| time counts | %s | |" % (fault or "yes"))


def print_contact_scenes(folder):
    print("\n| scene | ms | ms of the last tenth | contacts at most | |\n|---|---|---|---|---|")
    for scene in ("stack", "rope", "rubble500"):
        run = read_engine(folder, scene, 1)[0]
        note = verdict(run["ms_last"], RUBBLE_MUST) if scene == "rubble500" else ""
        print("| %s | %.3f | %.4f | %d | %s |" % (scene, run["ms_median"], run["ms_last"], run["contacts_max"],
                                               "; ".join(filter(None, (note, check_run([run], None))))))


def main():
    if len(sys.argv) != 3:
        sys.exit("compare.py: run tests/bench/compare.sh instead.")
    print_bars(sys.argv[1], [float(word) for word in sys.argv[2].split()])
    print_others(sys.argv[1])
    print_pile(sys.argv[1])
    print_contact_scenes(sys.argv[1])


main()
