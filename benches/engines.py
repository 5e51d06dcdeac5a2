#!/usr/bin/env python3
"""Matches of UCI engines here and in fastchess: `benches/engines.py REFEREE FASTCHESS [speed] [crowd] [same]`.

REFEREE and FASTCHESS are optimised builds. `speed`: plies a second of two engines that answer at once, one game at a time and eight at
once, on one core, and the processor time of a ply; the two programs alternate. `crowd`: 255 games at once on two cores, with losses on time and memory. `same`: the games
of two Stockfish at fixed nodes from the same openings, move for move. Without one of them all three. Needs `cc`, and `same` needs
`stockfish`. Nothing is written but in a temporary directory.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
PLIES = 60
ROUNDS = 7


def start(command, cores, folder):
    """Starts a command on these cores; returns the process."""
    pin = lambda: os.sched_setaffinity(0, cores)
    return subprocess.Popen(command, cwd=folder, text=True, preexec_fn=pin, stdout=subprocess.PIPE)


def timed(command, cores, folder):
    """Runs a command; returns its output and the seconds that it took."""
    began = time.monotonic()
    process = start(command, cores, folder)
    output = process.communicate()[0]
    assert process.returncode == 0, f"{command}: {output}"
    return output, time.monotonic() - began


def processor_time():
    """The seconds of processors that processes took which have ended: unlike the time on the wall, others take none of it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_referee(referee, engine, games, jobs, clock="tc=600+1"):
    limits = ["--clock", clock, "--max-moves", str(PLIES // 2)]
    return [referee, "play", "chess", f"uci:{engine}", f"uci:{engine}", "-n", str(games), "--jobs", str(jobs), *limits, "--json"]


def by_fastchess(fastchess, engine, games, jobs):
    engines = [word for name in "ab" for word in ("-engine", f"cmd={engine}", f"name={name}")]
    limits = ["-each", "tc=600+1", "-maxmoves", str(PLIES // 2), "-concurrency", str(jobs), "-force-concurrency"]
    return [fastchess, *engines, *limits, "-rounds", str(games), "-games", "1", "-pgnout", "file=games.pgn"]


def played(output, folder):
    """The games that a program has played to their last ply."""
    pgn = pathlib.Path(folder, "games.pgn")
    if pgn.exists():
        return pgn.read_text().count(f'[PlyCount "{PLIES}"]')
    matches = [line for line in map(json.loads, output.splitlines()) if line["type"] == "match"]
    return sum(line["reason"] == "max_moves" for line in matches)


def speed(args, engine):
    core = {min(os.sched_getaffinity(0))}
    for jobs in (1, 8):
        ratios, rates = [], {"referee": [], "fastchess": []}
        work, took = [], {"referee": [], "fastchess": []}
        for _ in range(ROUNDS):
            for name, make in (("referee", by_referee), ("fastchess", by_fastchess)):
                with tempfile.TemporaryDirectory() as folder:
                    command = make(getattr(args, name), engine, args.games, jobs)
                    before = processor_time()
                    output, seconds = timed(command, core, folder)
                    took[name].append((processor_time() - before) * 1e6 / (args.games * PLIES))
                    assert played(output, folder) == args.games, output
                    rates[name].append(args.games * PLIES / seconds)
            ratios.append(rates["referee"][-1] / rates["fastchess"][-1])
            work.append(took["fastchess"][-1] / took["referee"][-1])
        for what, unit, of, values in (("wall", "plies/s", rates, ratios), ("processor", "us a ply", took, work)):
            each = ", ".join(f"{name} {statistics.median(numbers):,.0f} {unit}" for name, numbers in of.items())
            print(f"{jobs} at once, {what}: {each}, ratio {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})", flush=True)


def memory(pid, seen):
    """Keeps the largest memory (PSS) of a process and of all its descendants together, in MiB, while it runs."""
    try:
        while pathlib.Path(f"/proc/{pid}").exists():
            tree, own = [str(pid)], 0
            parents = {}
            for entry in pathlib.Path("/proc").iterdir():
                if entry.name.isdigit():
                    try:
                        parents.setdefault((entry / "stat").read_text().rsplit(")", 1)[1].split()[1], []).append(entry.name)
                    except OSError:
                        pass
            total = 0
            for process in tree:
                tree += parents.get(process, [])
                try:
                    pss = int(re.search(r"Pss:\s+(\d+)", pathlib.Path(f"/proc/{process}/smaps_rollup").read_text())[1]) / 1024
                except (OSError, TypeError):
                    continue
                total += pss
                own = pss if process == str(pid) else own
            seen["own"], seen["all"] = max(seen.get("own", 0), own), max(seen.get("all", 0), total)
            seen["processes"] = max(seen.get("processes", 0), len(tree))
            time.sleep(0.5)
    except OSError:
        pass


def crowd(args, engine):
    cores = set(sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as folder:
        command = by_referee(args.referee, engine, 1020, 255, "tc=10+0.1")
        began, seen = time.monotonic(), {}
        process = start([*command, "--record", f"{folder}/records", "--no-fsync"], cores, folder)
        watcher = threading.Thread(target=memory, args=(process.pid, seen))
        watcher.start()
        output = process.communicate()[0]
        seconds = time.monotonic() - began
        watcher.join()
        summary = json.loads(output.splitlines()[-1])
        faults = {bot["bot"]: bot["faults"] for bot in summary["bots"]}
        print(
            f"255 at once on {len(cores)} cores: {played(output, folder)} of 1020 games to the end in {seconds:.0f} s, faults {faults}, "
            f"{seen['own']:.0f} MiB the referee, {seen['all']:.0f} MiB with its {seen['processes'] - 1} processes",
            flush=True,
        )


def moves_of_pgn(text):
    """The moves of each game, without comments, numbers and results, by white and opening."""
    games = {}
    for game in re.split(r"(?=\[Event )", text):
        tags = dict(re.findall(r'\[(\w+) "([^"]*)"\]', game))
        if tags:
            body = re.sub(r"\{[^}]*\}|\[[^]]*\]", " ", game)
            moves = [word for word in body.split() if not re.fullmatch(r"\d+\.+|1-0|0-1|1/2-1/2|\*", word)]
            games[tags["White"], " ".join(tags["FEN"].split()[:4])] = moves
    return games


OPENINGS = """rnbqkb1r/pp1p1ppp/4pn2/2p5/2PP4/5N2/PP2PPPP/RNBQKB1R w KQkq - 0 4
r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3
rnbqkbnr/pp2pppp/3p4/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3
rnbqkb1r/pppppp1p/5np1/8/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - 0 3
rnbqkbnr/ppp2ppp/4p3/3p4/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 3
"""


def same(args, _):
    stockfish, nodes = args.stockfish, 5000
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "book.epd").write_text(OPENINGS)
        engines = [word for name in ("a", "b") for word in ("-engine", f"cmd={stockfish}", f"name={name}")]
        book = ["-openings", "file=book.epd", "format=epd", "order=sequential"]
        limits = ["-each", "tc=inf", f"nodes={nodes}", "option.Hash=16", "option.Threads=1"]
        rounds = ["-rounds", str(OPENINGS.count("\n")), "-games", "2", "-repeat", "-pgnout", "file=games.pgn"]
        cores = os.sched_getaffinity(0)
        timed([args.fastchess, *engines, *book, *limits, *rounds], cores, folder)
        theirs = moves_of_pgn(pathlib.Path(folder, "games.pgn").read_text())
        bot = f"{args.referee} engine uci --budget nodes={nodes} --option Hash=16 --option Threads=1 -- {stockfish}"
        options = ["--name", "a", "--name", "b", "-n", str(len(theirs)), "--mirror", "--clock", "none"]
        options += ["--openings", "book.epd", "--record", "records"]
        timed([args.referee, "play", "chess", bot, bot, *options], cores, folder)
        pgn, _ = timed([args.referee, "export", "records", "--format", "pgn"], cores, folder)
        ours = moves_of_pgn(pgn)
        alike = sum(ours.get(game) == moves for game, moves in theirs.items())
        plies = sum(map(len, theirs.values()))
        print(f"fixed nodes: {alike} of {len(theirs)} games have the same moves, {plies} plies in all", flush=True)
        for game, moves in theirs.items():
            if ours.get(game) != moves:
                differing = [at for at, pair in enumerate(zip(moves, ours.get(game, []))) if pair[0] != pair[1]]
                print(f"  {game}: from ply {differing[0] if differing else 'the end'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("referee", type=os.path.abspath)
    parser.add_argument("fastchess", type=os.path.abspath)
    parser.add_argument("what", nargs="*", default=["speed", "crowd", "same"])
    parser.add_argument("--games", type=int, default=100, help="games a round of `speed`")
    parser.add_argument("--stockfish", default="/usr/games/stockfish")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine = f"{folder}/instant"
        subprocess.run(["cc", "-O2", "-o", engine, HERE / "instant_uci.c"], check=True)
        for what in args.what:
            {"speed": speed, "crowd": crowd, "same": same}[what](args, engine)


if __name__ == "__main__":
    main()
