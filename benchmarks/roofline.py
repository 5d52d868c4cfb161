"""Roofline: what each algorithm's sample needs at least on this machine, and how close it comes."""

from __future__ import annotations

import atoms
import peaks
import workloads
from common import Section, markdown

SIZES = [(200, 10, 1), (1000, 10, 1), (1000, 100, 10)]


def machine(found):
    rows = [["matrix product", f"{found.flops / 1e9:.1f} Gflop/s"]]
    rows += [["exponentials", f"{found.exponentials / 1e9:.2f} G/s ({found.exponentials_by})"]]
    for size in found.bandwidth:
        label = f"{size >> 10} KiB" if size < 2**20 else f"{size >> 20} MiB"
        rates = f"{found.reading[size] / 1e9:.0f}, {found.bandwidth[size] / 1e9:.0f} GB/s"
        rows.append([f"reading, and triad, over {label}", rates])
    return markdown(["", "measured"], rows)


def section(context):
    context.say("the machine's peaks")
    found, reason = peaks.measure(context.folder, context.quick)
    title = "Roofline: how close to what the machine allows"
    if found is None:
        return Section(title, f"Not measured: {reason}.\n")
    rows, rounds = [], context.rounds(7)

    def add(name, m, d, C, need, times):
        least, by_memory = need.seconds(found)
        size = [name, f"{m}", f"{d}", f"{C}"]
        model = [
            f"{need.flops / 1e3:.1f}",
            f"{(need.read + need.moved) / 1e3:.1f}",
            f"{need.exps / 1e3:.1f}",
        ]
        seen = [f"{1e6 * times.best:.2f}", f"{100 * times.spread:.0f} %"]
        limit = [f"{1e6 * least:.2f}", "memory" if by_memory else "computing"]
        rows.append([*size, *model, *limit, *seen, f"{100 * least / times.best:.0f} %"])

    for m, d, C in [(200, 10, 1)] if context.quick else SIZES:
        for workload in workloads.WORKLOADS:
            context.say(f"{workload.name}, m = {m}, d = {d}, C = {C}")
            times = workloads.measure(workload, m, d, C, rounds)
            add(workload.name, m, d, C, workload.need(m, d, C), times)
    for m, d in [(100, 10)] if context.quick else [(100, 256), (500, 256)]:
        for update in atoms.UPDATES:
            context.say(f"dictionary learning, {update} space, m = {m}, d = {d}")
            times, active = atoms.measure(update, m, d, rounds)
            name, need = (
                f"dictionary learning, {update} space",
                atoms.need(update, m, d, atoms.ATOMS, active),
            )
            add(name, m, d, atoms.ATOMS, need, times)
    header = [
        "algorithm",
        "m",
        "d",
        "C",
        "kflop",
        "kB",
        "kexp",
        "least, us",
        "bound by",
        "seen, us",
        "spread",
        "reached",
    ]
    text = f"""The table has the operations, exponentials and bytes that a sample needs at least
(`workloads.py` says how they are counted). The kernel row takes 2 m d operations, as in a matrix
product. A triangle of m^2 / 2 numbers is read and written as rarely as the algorithm allows. The
least time is the larger of two: computing at the rate of a matrix product, and moving the bytes at
the rate of the cache or memory that holds the working set. Steps that depend on each other are not
counted, so 100 % cannot be reached. A removal counts as two thirds of the triangle, which is the
average, and can be less. For dictionary learning C is the number of atoms, and the code counts as
one product with the atoms in it, which is less than finding it takes (`atoms.py`). Rounds:
{rounds}.

{machine(found)}

{markdown(header, rows)}
"""
    return Section(title, text)
